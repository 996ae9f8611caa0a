"""The only way from the command line to Blender: what a command does is imported when it runs.

So commands that need no Blender start without one, and help texts come at once.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable

from .output import Result


def in_blender(command: str) -> Callable[[argparse.Namespace], Result]:
    """What runs a command: the function `run` of the module of its name in `commands.work`."""

    def run(options: argparse.Namespace) -> Result:
        module = importlib.import_module(f"{__package__}.work.{command}")
        result: Result = module.run(options)
        return result

    return run

"""Steer: procedural crowds for Blender.

`steer_addon.core` simulates and knows nothing of Blender, `steer_addon.blender` connects it to
scenes. Importing this package imports neither, so that a command that needs no Blender starts
without one, and enabling the extension stays quick.
"""

from __future__ import annotations

from .version import __version__ as __version__


def register() -> None:
    """Make the extension known to Blender; Blender calls this when it is enabled."""
    from .blender import registration

    registration.register(run_command)


def run_command(arguments: list[str] | None = None) -> int:
    """Run `blender -c steer …` as `python -m steer_addon …`; returns the exit code.

    Args:
        arguments: Those after `steer`; None takes those of the process, which then ends.
    """
    from . import cli

    return cli.main(arguments)


def unregister() -> None:
    """Take everything back that `register` did; Blender calls this when it is disabled."""
    from .blender import registration

    registration.unregister()

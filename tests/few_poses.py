"""Built-in people and dogs with a tenth of their poses, for tests of all but how they move.

Blender makes a mesh of each pose in each new scene and in each file that it opens: with all poses
of a woman, a man and a child that takes seconds, and most tests look at something else.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from steer_addon.core.characters.figure import Figure


@cache
def _figure(name: str) -> Figure:
    from steer_addon.core.characters.figures import make_figure

    # the default is 5.8 mm
    return make_figure(name, tolerance=0.06)


def take_few_poses(patch: pytest.MonkeyPatch) -> None:
    """Let scenes be made with such characters while a patch holds."""
    from steer_addon.core.characters import figures

    patch.setattr(figures, "built_in", _figure)

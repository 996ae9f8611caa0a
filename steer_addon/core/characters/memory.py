"""What the poses of a character take, before and after they are made."""

from __future__ import annotations

from ..errors import CharacterError
from .recipe import Recipe

MOST_BYTES = 4 * 1024**3
"""Memory that the poses of a character may take."""
_VERTEX, _INSTANCE = 24, 24 * 1024
"""Memory of a vertex in a pose, which has a place and a velocity, and of what Blender keeps beside
for each pose, optional part and level of detail [bytes]; a file has half as much of the first."""
LEVEL_SHARE = 1.0 / 3.0
"""Faces of a level of detail, against those of the one before."""


def expected_poses(recipe: Recipe, height: float, seconds: float) -> int:
    """A guess at the number of poses, before strides are known.

    Args:
        recipe: What is made.
        height: Height of the body [m].
        seconds: Time of standing and of all clips [s].
    """
    plan = recipe.plan
    stride = plan.stride or 0.6 * height
    walks = sum(plan.shares()) * stride
    ways = walks + (12.0 * (plan.run_stride or stride) if recipe.run else 0.0)
    return int(ways / plan.tolerance + seconds / plan.seconds) + 1


def check_memory(poses: int, vertices: int, faces: int, recipe: Recipe) -> str:
    """What the poses of a character take, as a text; refuse what is too much.

    Args:
        poses: Number of poses.
        vertices: Number of vertices of the body, as the recipe has them.
        faces: Number of its faces.
        recipe: What is made. Each of its levels of detail has all of the poses, too.

    Raises:
        CharacterError: They take more than Steer allows.
    """
    levels = recipe.levels
    kinds = (1 + len(recipe.optional)) * (1 + levels)
    # how much more a body takes with its levels of detail than alone
    added = sum(LEVEL_SHARE**level for level in range(levels + 1))
    size = poses * (_VERTEX * vertices * added + _INSTANCE * kinds)
    further = f" with {levels} level{'s' if levels > 1 else ''} of detail" if levels else ""
    text = f"{poses} poses of {faces} faces{further} take {size / 1024**2:.0f} MB"
    if size > MOST_BYTES:
        share = 100.0 * 0.9 * recipe.faces * MOST_BYTES / size
        fewer = "choose fewer levels, " if levels else ""
        raise CharacterError(
            f"{text}, more than {MOST_BYTES / 1024**2:.0f} MB: set Faces to {share:.2g}% or "
            f"less to decimate it, {fewer}or raise Way per Pose"
        )
    return text

"""Actions as heroes play them."""

from __future__ import annotations

import bpy

from ..origins import Origins
from .aligned import aligned
from .blending import blendable
from .carried import carried
from .stepping import stepping_round


def playable(
    origins: Origins, scene: bpy.types.Scene, mark: str, made: list[bpy.types.ID]
) -> Origins:
    """What a character was made of, with actions that strips may blend at an agent.

    Args:
        origins: What it was made of.
        scene: The scene of the hero.
        mark: Custom property of copies of actions, and of further ones.
        made: List to which each of them is added.
    """
    found = blendable(aligned(origins, scene, mark, made), mark, made)
    return carried(stepping_round(found, scene, mark, made), mark, made)

"""Taking a crowd away from an object, with what it plays."""

from __future__ import annotations

import bpy

from ...core.errors import SceneError
from ..crowd import animation_paths, crowds
from ..display import display
from . import linking


def remove_crowd(obj: bpy.types.Object) -> None:
    """Give the object back as it was: no modifier, no state, no settings, no animation of them.

    A keyframe bake stays: it is the user's by now.

    Raises:
        SceneError: The object comes from another file.
    """
    reason = crowds.why_not_editable(obj)
    if reason:
        raise SceneError(reason)
    animation_paths.drop(obj, "steer.")
    crowds.unhide(obj)
    linking.forget(obj)
    modifier = display.find_modifier(obj)
    if modifier is not None:
        obj.modifiers.remove(modifier)
    obj.property_unset("steer")

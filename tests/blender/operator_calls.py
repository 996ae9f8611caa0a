"""Running operators as a user would: undoing them, and reading why a button is grey."""

from __future__ import annotations

import bpy

from steer_addon.blender import registration


def undone(operator, **options):
    """Run an operator, then undo it; objects have to be looked up again afterwards."""
    bpy.ops.ed.undo_push(message="before")
    assert operator(**options) == {"FINISHED"}
    bpy.ops.ed.undo_push(message="after")
    assert bpy.ops.ed.undo() == {"FINISHED"}


def refusal(operator):
    """Why an operator cannot run, as its grey button says."""
    name = operator.idname_py().replace(".", "_", 1).replace("object_", "OBJECT_OT_", 1)
    cls = next(c for c in registration.CLASSES if c.__name__ == name)
    assert not operator.poll()
    return cls.why_not(bpy.context)

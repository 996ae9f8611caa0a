"""Everything that a user may have in front of the panels: no object, a wrong one, half a crowd."""

from __future__ import annotations

from pathlib import Path

import bpy

from steer_addon.blender.crowd import baked_file, state
from tests.blender import live_scenes as scenes
from tests.blender.crowd_makers import make_crowd, make_empty, make_points


def activate(obj):
    """Make an object the active one."""
    bpy.context.view_layer.objects.active = obj


def _new(kind, data):
    obj = bpy.data.objects.new(kind, data)
    bpy.context.scene.collection.objects.link(obj)
    activate(obj)


def nothing(folder):
    """No object at all."""


def empty(folder):
    """An empty."""
    activate(make_empty())


def light(folder):
    """A light."""
    _new("Light", bpy.data.lights.new("Light", "POINT"))


def camera(folder):
    """A camera."""
    _new("Camera", bpy.data.cameras.new("Camera"))


def curve(folder):
    """A curve."""
    _new("Curve", bpy.data.curves.new("Curve", "CURVE"))


def text(folder):
    """A text object."""
    _new("Text", bpy.data.curves.new("Text", "FONT"))


def armature(folder):
    """An armature."""
    _new("Armature", bpy.data.armatures.new("Armature"))


def points(folder):
    """A mesh that is no crowd."""
    make_points()


def no_points(folder):
    """A mesh without vertices."""
    make_points(0)


def crowd(folder):
    """A whole crowd."""
    make_crowd()


def edited(folder):
    """A crowd in Edit Mode."""
    make_crowd()
    bpy.ops.object.mode_set(mode="EDIT")


def modifierless(folder):
    """A crowd whose modifier was removed."""
    make_crowd().modifiers.clear()


def stateless(folder):
    """A crowd whose state object was deleted."""
    bpy.data.objects.remove(state.get_state(make_crowd()))


def meshless(folder):
    """A crowd whose state lost its mesh."""
    bpy.data.meshes.remove(state.get_state(make_crowd()).data)


def groupless(folder):
    """A crowd whose node group was deleted."""
    make_crowd()
    for group in list(bpy.data.node_groups):
        bpy.data.node_groups.remove(group)


def marked_only(folder):
    """A modifier without the mark."""
    make_crowd().steer.is_crowd = False


def changed_group(folder):
    """A node group that lost its inputs."""
    make_crowd()
    for group in bpy.data.node_groups:
        group.interface.clear()


def far_active(folder):
    """An active entry beyond the end of the list."""
    make_crowd().steer.active_behavior = 99


def no_behaviors(folder):
    """A crowd with an empty list."""
    make_crowd().steer.behaviors.clear()


def inputs_deleted(folder):
    """A crowd whose target, colliders and ground were deleted."""
    obj = make_crowd()
    obj.steer.target_object = make_empty()
    obj.steer.ground = make_points(name="Ground")
    obj.steer.colliders = bpy.data.collections.new("Walls")
    activate(obj)
    bpy.data.objects.remove(obj.steer.target_object)
    bpy.context.scene.collection.objects.unlink(obj.steer.ground)
    bpy.data.collections.remove(obj.steer.colliders)


def _played(folder):
    obj = make_crowd()
    obj.steer.frame_end = 3
    obj.steer.target_object = make_empty()
    activate(obj)
    obj.steer.cache_directory = str(folder)
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    return obj


def baked(folder):
    """A crowd that plays its bake."""
    _played(folder)


def bake_lost(folder):
    """A crowd whose bake was deleted from the disk."""
    obj = _played(folder)
    path = baked_file.file_of(obj)
    path.rename(path.with_suffix(".gone"))
    (path.parent / "manifest.json").unlink()


def keyed(folder):
    """A crowd that is baked to keyframes."""
    obj = make_crowd()
    obj.steer.frame_end = 3
    assert bpy.ops.object.steer_bake_keyframes() == {"FINISHED"}


def keys_deleted(folder):
    """A crowd whose baked objects were deleted."""
    keyed(folder)
    collection = bpy.data.objects["Crowd"].steer.bake_collection
    for obj in list(collection.objects):
        bpy.data.objects.remove(obj)
    bpy.data.collections.remove(collection)


def played(folder):
    """A crowd with stored frames, and an agent that is explained."""
    obj = make_crowd()
    obj.steer.target_object = make_empty()
    activate(obj)
    scenes.play(1, 4)
    overlay = bpy.context.scene.steer_overlay
    overlay.show, overlay.agents = True, "1, 99"


def linked(folder):
    """A crowd linked from another file."""
    obj = make_crowd(name="Far")
    obj.steer.target_object = make_empty()
    path = str(Path(folder) / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, there):
        there.objects = ["Far"]
    bpy.context.scene.collection.objects.link(there.objects[0])
    activate(there.objects[0])


def override(folder):
    """A library override of such a crowd."""
    linked(folder)
    activate(bpy.context.view_layer.objects.active.override_create(remap_local_usages=True))


def library_gone(folder):
    """A linked crowd whose file is not there any more."""
    linked(folder)
    path = str(Path(folder) / "here.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    (Path(folder) / "library.blend").unlink()
    bpy.ops.wm.open_mainfile(filepath=path)
    activate(next(iter(bpy.context.scene.objects), None))


SITUATIONS = (
    nothing, empty, light, camera, curve, text, armature, points, no_points, crowd, edited,
    modifierless, stateless, meshless, groupless, marked_only, changed_group, far_active,
    no_behaviors, inputs_deleted, played, baked, bake_lost, keyed, keys_deleted, linked, override,
    library_gone,
)  # fmt: skip

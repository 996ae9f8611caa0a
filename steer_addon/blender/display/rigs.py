"""Bodies on rigs: agents are shown as the meshes that an armature deforms, not as its bones."""

from __future__ import annotations

from itertools import islice
from typing import Any

import bpy

from ...core.errors import SceneError
from . import display

_MOST_ASKED = 300
"""Number of objects of a collection among which a rig is looked for."""


def rig_of(source: bpy.types.Object | bpy.types.Collection | None) -> bpy.types.Object | None:
    """The armature among what agents are shown as; None where there is none.

    Of a large collection the first objects are asked only, as panels ask at every redraw.
    """
    if isinstance(source, bpy.types.Object):
        return source if source.type == "ARMATURE" else None
    members = () if source is None else islice(source.all_objects, _MOST_ASKED)
    return next((obj for obj in members if obj.type == "ARMATURE"), None)


def deformed(rig: bpy.types.Object) -> list[bpy.types.Object]:
    """The meshes that an armature deforms, by name."""
    found = (obj for obj in bpy.data.objects if obj.type == "MESH" and obj.find_armature() == rig)
    return sorted(found, key=lambda obj: obj.name)


def show_meshes(modifier: bpy.types.NodesModifier) -> bpy.types.Object | bpy.types.Collection:
    """Show agents as the meshes that rigs deform, in place of the rigs; returns what is shown.

    All meshes of a rig are one body: a collection in the shown one, which gives its objects as one.

    Raises:
        SceneError: There is no rig, or no mesh that one deforms.
    """
    source: Any = display.shown_body(modifier)
    members = [source] if isinstance(source, bpy.types.Object) else list(source.all_objects)
    rigs = {obj: deformed(obj) for obj in members if obj.type == "ARMATURE"}
    bare = [rig.name for rig, meshes in rigs.items() if not meshes]
    if bare or not rigs:
        what = f"Armature {bare[0]!r}" if bare else f"What {modifier.name!r} shows"
        raise SceneError(
            f"{what} deforms no mesh: give a mesh an Armature modifier with it, or choose another "
            "object under Display"
        )
    if len(members) == 1 and all(len(meshes) == 1 for meshes in rigs.values()):
        ((body,),) = rigs.values()
        display.set_input(modifier, "Object", body)
        display.set_input(modifier, "Display", "Object")
        return body
    shown = bpy.data.collections.new(f"{source.name} Bodies")
    for rig, meshes in rigs.items():
        whole = bpy.data.collections.new(f"{rig.name} Body")
        shown.children.link(whole)
        # a collection is placed by its offset: agents stand where the rig does
        whole.instance_offset = shown.instance_offset = rig.matrix_world.translation
        for mesh in meshes:
            whole.objects.link(mesh)
    taken = {mesh for meshes in rigs.values() for mesh in meshes} | rigs.keys()
    for obj in members:
        if obj not in taken:
            shown.objects.link(obj)
    display.set_input(modifier, "Collection", shown)
    display.set_input(modifier, "Display", "Collection")
    return shown

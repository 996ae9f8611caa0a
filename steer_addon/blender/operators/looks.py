"""Operators for how a crowd is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ...core.errors import CharacterError, SteerError
from ..characters import levels, library, sources
from ..checks import character_checks
from ..crowd import casting
from ..display import display
from ..scene_units import units_per_meter
from .common import SteerOperator, counted, why_no_editable_crowd
from .stepping import SteppedOperator

if TYPE_CHECKING:
    from ...core.diagnoses import Diagnosis
    from .stepping import Work

_NAME, _SHARE = "Crowd Colors", "Full Detail"


def why_own_materials(context: bpy.types.Context) -> str:
    """Why the crowd takes no material: only cones and discs have none of their own."""
    try:
        shown = display.get_input(display.require_modifier(context.object), "Display")
    except SteerError as error:
        return str(error)
    if shown in ("Cones", "Discs"):
        return ""
    return (
        "The bodies have their own materials: read the attribute 'color' there with an "
        "Attribute node of type Instancer"
    )


class STEER_OT_color_material(SteerOperator, bpy.types.Operator):
    """Give cones and discs a material that shows colors in material preview and renders"""

    bl_idname = "object.steer_color_material"
    bl_label = "Show Colors by Material"
    needs = (why_no_editable_crowd, why_own_materials)

    def run(self, context: bpy.types.Context) -> None:
        """Make the material where there is none yet, and give it to the crowd."""
        display.set_input(display.require_modifier(context.object), "Material", color_material())


def color_material() -> bpy.types.Material:
    """The material that shows the attribute `color` of instances, made where there is none."""
    found = bpy.data.materials.get(_NAME)
    if found is not None and found.library is None:
        return found

    material = bpy.data.materials.new(_NAME)
    if bpy.app.version < (5, 0, 0):
        material.use_nodes = True
    tree = material.node_tree
    shader = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    color = tree.nodes.new("ShaderNodeAttribute")
    color.attribute_type, color.attribute_name = "INSTANCER", "color"
    color.location = (shader.location.x - 220.0, shader.location.y)
    tree.links.new(color.outputs["Color"], shader.inputs["Base Color"])
    return material


class OBJECT_OT_steer_show_characters(SteerOperator, bpy.types.Operator):
    """Show one pose of a character at each agent, in place of all of its poses at once"""

    bl_idname = "object.steer_show_characters"
    bl_label = "Use Character"
    needs = (why_no_editable_crowd,)

    def run(self, context: bpy.types.Context) -> None:
        """Choose the characters that are shown, and leave out what else is with them."""
        modifier = display.require_modifier(context.object)
        source = display.shown_body(modifier)
        if isinstance(source, bpy.types.Object):
            display.set_input(modifier, "Display", "Character")
            return
        found = [] if source is None else library.all_among(source)
        if not found:
            raise CharacterError("No character is shown: choose one under Display > Character")
        if library.among(source) == ():
            only = bpy.data.collections.new(f"{source.name} Characters")
            library.ensure_collection(context.scene).children.link(only)
            for obj in found:
                only.objects.link(obj)
            display.set_input(modifier, "Collection", only)
        display.set_input(modifier, "Display", "Characters")


def _diagnoses(context: bpy.types.Context, *codes: str) -> list[Diagnosis]:
    """Those diagnoses of the shown characters that have one of the codes."""
    return [one for one in character_checks.found(context.object) if one.code in codes]


def why_they_fit(context: bpy.types.Context) -> str:
    """Why neither scale nor radius has to be changed; empty when one has."""
    if _diagnoses(context, "CHARACTER_TINY", "CHARACTER_WIDE"):
        return ""
    return "No character is much smaller, or wider, than the bodies of its agents"


class OBJECT_OT_steer_fit_characters(SteerOperator, bpy.types.Operator):
    """Scale characters so that they are seen, or widen bodies so that they keep apart"""

    bl_idname = "object.steer_fit_characters"
    bl_label = "Fit Characters"
    needs = (why_no_editable_crowd, why_they_fit)

    def run(self, context: bpy.types.Context) -> str:
        """Set what the warning names."""
        crowd = context.object
        tiny = _diagnoses(context, "CHARACTER_TINY")
        if tiny:
            scale = max(one.values["scale"] for one in tiny)
            display.set_input(display.require_modifier(crowd), "Scale", scale)
            return f"Scale is {scale:.3g}"
        reach = max(one.values["reach"] for one in _diagnoses(context, "CHARACTER_WIDE"))
        bodies: Any = crowd.steer.agents
        bodies.radius = reach * units_per_meter(context.scene)
        return f"Radius is {reach:.2g} m"


def takes_levels(obj: bpy.types.Object) -> bool:
    """Whether a character has no levels of detail, and no rig that it can be made of with them."""
    return levels.lacks(obj) and sources.KEY not in obj


def why_no_levels(context: bpy.types.Context) -> str:
    """Why no character that the crowd shows can be given levels of detail."""
    try:
        found = casting.characters_of(display.require_modifier(context.object))
    except SteerError as error:
        return str(error)
    if not found:
        return "The crowd shows no characters: choose Character or Characters under Display"
    if any(map(takes_levels, found)):
        return ""
    if any(map(levels.lacks, found)):
        return "Its characters are made from rigs: set Levels of Detail in Make Character"
    return "All characters of the crowd have levels of detail already"


class OBJECT_OT_steer_add_levels(SteppedOperator, bpy.types.Operator):
    """Show agents that are small in the camera's picture with a third, or a ninth, of the faces"""

    bl_idname = "object.steer_add_levels"
    bl_label = "Add Levels of Detail"
    needs = (why_no_editable_crowd, why_no_levels)
    doing = "Adding levels of detail"

    def work(self, context: bpy.types.Context) -> Work:
        """Give levels to each shown character that has none, and no rig."""
        modifier = display.require_modifier(context.object)
        found = [obj for obj in casting.characters_of(modifier) if takes_levels(obj)]
        yield from levels.adding(found)
        told = f"Added levels of detail to {counted(len(found), 'character')}"
        if display.get_input(modifier, _SHARE) == 0.0:
            return f"{told}. Full Detail is 0, so all are still shown in full: raise it"
        if context.scene.camera is None:
            return f"{told}. The scene has no active camera, so all are shown in full: add one"
        return told


classes = (
    STEER_OT_color_material,
    OBJECT_OT_steer_show_characters,
    OBJECT_OT_steer_fit_characters,
    OBJECT_OT_steer_add_levels,
)

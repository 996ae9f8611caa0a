"""The sections of the Crowd panels, the same in the Physics tab and the 3D View's sidebar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.types import Context, Object, UILayout

from ...core.behaviors import REGISTRY, own_parameters
from ...core.crowd.meets import CHOSEN, MeetsSettings
from ...core.diagnoses import diagnose
from ...core.parameters import ParameterInfo, parameters
from ...core.sensing.declare import COLLIDERS, SECOND_TARGETS
from ..bake import places, status
from ..checks import collider_checks
from ..checks.advice import diagnoses, lacks_target
from ..crowd import baked_file, casting, crowds
from ..crowd.bake_settings import SHOWN_BLOCKS
from ..crowd.properties import uses_targets
from ..crowd.property_factory import label_of
from ..crowd.slots import SOURCES, is_chosen, needs_target, source_use, uses_of
from ..crowd.state import plays_back
from ..live import compiling, live
from ..making import resizing
from ..reading.scene_inputs import collider_objects
from . import previews
from .heroes import told_of_heroes
from .messages import NARROWEST_LIST, draw_message, is_narrow
from .remedies import draw_diagnosis, draw_sentence

if TYPE_CHECKING:
    from ..crowd.property_types import SteerBehavior


_NO_CLIPS = "Choose characters with clips under Display"
_MOST_LETTERS = 18
"""Longer names do not fit into a field of a narrow panel."""


def draw_main(layout: UILayout, context: Context, obj: Object | None) -> None:
    """State of the object, and its diagnoses."""
    if obj is None or obj.type != "MESH":
        layout.label(text=diagnose("NOTHING_SELECTED").sentence, icon="INFO")
        layout.menu("STEER_MT_add", text="Add Crowd", icon="COMMUNITY")
        if obj is not None and obj.type == "ARMATURE":
            layout.operator("object.steer_make_character", icon="ARMATURE_DATA")
        return
    if not crowds.is_crowd(obj):
        if crowds.has_remains(obj):
            draw_sentence(layout, context, diagnose("PART_REMOVED"))
            layout.operator("object.steer_remove_modifier", icon="X")
        layout.operator("object.steer_add_modifier", icon="COMMUNITY")
        return
    reason = crowds.why_not_editable(obj)
    if reason:
        draw_message(layout, context, reason, "LIBRARY_DATA_DIRECT")
    draw_count(layout, context, obj)
    found = [*diagnoses(obj), *told_of_heroes(obj, context.scene)]
    for diagnosis in found:
        draw_diagnosis(layout, context, diagnosis)
    draw_compiling(layout)
    bake = status.status(obj, context.scene)
    if bake is not None and bake.out_of_date is not None:
        draw_diagnosis(layout, context, bake.out_of_date)
    told = live.status(obj)
    for diagnosis in told.warnings:
        if diagnosis not in found and not collider_checks.is_mended(obj, diagnosis):
            draw_diagnosis(layout, context, diagnosis)
    if told.diagnosis is not None:
        draw_diagnosis(layout, context, told.diagnosis)


def draw_count(layout: UILayout, context: Context, obj: Object) -> None:
    """The number of agents, or why it cannot be changed."""
    reason = resizing.why_fixed(obj)
    row = layout.row()
    row.enabled = reason is None
    row.prop(obj.steer, "agent_count")
    if reason is not None:
        draw_sentence(layout, context, reason)


def draw_compiling(layout: UILayout) -> None:
    """How far compiling is."""
    state = compiling.state()
    if state is not None:
        layout.progress(factor=state.share, text=compiling.text())


def draw_gallery(layout: UILayout) -> None:
    """Buttons that apply presets, each below its picture."""
    for group, rows in previews.grouped_presets().items():
        layout.label(text=group)
        grid = layout.grid_flow(row_major=True, columns=4, even_columns=True, even_rows=False)
        for name, card in rows:
            cell = grid.column(align=True)
            picture = previews.icon_of(name)
            if picture:
                cell.template_icon(icon_value=picture, scale=3.0)
            cell.operator("object.steer_preset_apply", text=card.label).name = name


def draw_behaviors(layout: UILayout, context: Context, obj: Object) -> None:
    """The list, and the parameters of the active entry."""
    steer = obj.steer
    row = layout.row()
    row.template_list(
        "STEER_UL_behaviors", "", steer, "behaviors", steer, "active_behavior", rows=4, maxrows=10
    )
    narrow = is_narrow(context, NARROWEST_LIST)
    side = layout.row(align=True) if narrow else row.column(align=True)
    side.menu("STEER_MT_behavior_add", text="", icon="ADD")
    side.operator("object.steer_behavior_remove", text="", icon="REMOVE")
    side.separator()
    side.menu("STEER_MT_behavior_specials", text="", icon="DOWNARROW_HLT")
    side.separator()
    side.operator("object.steer_behavior_move", text="", icon="TRIA_UP").direction = "UP"
    side.operator("object.steer_behavior_move", text="", icon="TRIA_DOWN").direction = "DOWN"
    if 0 <= steer.active_behavior < len(steer.behaviors):
        draw_entry(layout, context, steer.behaviors[steer.active_behavior])


def draw_entry(layout: UILayout, context: Context, item: SteerBehavior) -> None:
    """The parameters of one behavior that count for its choices, and what it reads."""
    cls = REGISTRY.get(item.type)
    if cls is None:
        return
    column = layout.column()
    column.active = item.enabled
    own, narrow = column.column(), is_narrow(context)
    own.use_property_split = not narrow
    own.prop(item, "weight", slider=narrow)
    draw_named(own, item, "group", "Group")
    group = getattr(item, item.type)
    for info in own_parameters(cls).values():
        if info.counts(group):
            draw_parameter(own, group, info)
    column.use_property_split = not narrow
    if uses_targets(item):
        column.prop(item, "use_own_target")
        if item.use_own_target:
            draw_choice(column, item, "target", "Target", is_needed=needs_target(item))
    if SECOND_TARGETS in uses_of(item):
        draw_choice(column, item, "second_target", "Second Target")
    use = source_use(item)
    if use:
        draw_choice(column, item, "source", SOURCES[use].label)
    if COLLIDERS in uses_of(item):
        _draw_lack_of_colliders(column, context, item, cls.without_colliders)


def _draw_lack_of_colliders(
    layout: UILayout, context: Context, item: SteerBehavior, instead: str
) -> None:
    """Say that there are no colliders, and what agents do instead, if anything."""
    if item.id_data.steer.colliders is None:
        draw_sentence(layout, context, diagnose("COLLIDERS_NOT_CHOSEN"))
    elif collider_objects(item.id_data) or not instead:
        # a message at the top says that the collection is of no use
        return
    if instead:
        draw_sentence(layout, context, diagnose("WITHOUT_COLLIDERS", instead=instead))


def draw_choice(
    layout: UILayout, owner: Any, role: str, label: str, *, is_needed: bool = True
) -> None:
    """Kind and pointer of a target or source, in red where it is needed and missing."""
    draw_named(layout, owner, f"{role}_kind", label)
    is_many = getattr(owner, f"{role}_kind") == "COLLECTION"
    row = layout.row()
    row.alert = is_needed and not is_chosen(owner, role)
    # an empty name beside the field keeps it below the one above; there is no room for it alone
    empty = " " if layout.use_property_split else ""
    row.prop(owner, f"{role}_collection" if is_many else f"{role}_object", text=empty)


def draw_named(layout: UILayout, owner: Any, name: str, label: str, among: str = "") -> None:
    """A field without a name inside: a narrow layout has the name above it.

    Args:
        layout: Where it is drawn.
        owner: Owner of the property.
        name: Name of the property.
        label: Its name for people.
        among: The data-blocks that it is chosen from, where its own type does not tell.
    """
    if not layout.use_property_split:
        layout.label(text=label)
    text = label if layout.use_property_split else ""
    if among:
        layout.prop_search(owner, name, bpy.data, among, text=text)
    else:
        layout.prop(owner, name, text=text)


def draw_inputs(layout: UILayout, context: Context, obj: Object) -> None:
    """Inputs of the crowd."""
    layout.use_property_split = not is_narrow(context)
    draw_choice(layout, obj.steer, "target", "Target", is_needed=lacks_target(obj.steer))
    draw_named(layout, obj.steer, "colliders", "Colliders")
    draw_named(layout, obj.steer, "ground", "Ground")


def draw_block(layout: UILayout, context: Context, obj: Object, name: str) -> None:
    """The parameters of a block of settings; those without effect are grey."""
    group, column = getattr(obj.steer, name), layout.column()
    column.use_property_split = not is_narrow(context)
    column.use_property_decorate = True
    for info in parameters(SHOWN_BLOCKS[name]).values():
        draw_parameter(column, group, info, counts=info.counts(group, obj.steer))
    if name == "meets" and any(
        getattr(group, each) == CHOSEN for each in parameters(MeetsSettings)
    ):
        draw_named(column, obj.steer, "meets_collection", "Chosen Crowds")
    if name == "clips":
        known = casting.numbered_clips(obj)
        text = f"Clips of these characters: {', '.join(known)}" if known else _NO_CLIPS
        draw_message(layout, context, text, "INFO")


def draw_parameter(
    layout: UILayout, group: Any, info: ParameterInfo, *, counts: bool = True
) -> None:
    """A parameter, grey where it does not count, with what 0 stands for if it is 0."""
    beside = layout.use_property_split
    row = layout.row(align=True) if beside else layout.column(align=True)
    row.active = counts
    name = label_of(info)
    if info.kind in ("choice", "text") or len(name) > _MOST_LETTERS:
        draw_named(row, group, info.name, name)
    else:
        row.prop(group, info.name)
    if info.zero and getattr(group, info.name) == 0:
        note = row.row()
        note.alignment = "LEFT" if beside else "RIGHT"
        note.label(text=info.zero if beside else f"0: {info.zero}")


def draw_bake(layout: UILayout, context: Context, obj: Object) -> None:
    """Frame range and seed of the simulation."""
    steer = obj.steer
    layout.use_property_split = not is_narrow(context)
    column = layout.column(align=True)
    column.prop(steer, "frame_start", text="Start")
    column.prop(steer, "frame_end")
    layout.prop(steer, "seed")
    layout.operator("object.steer_clear_cache", icon="TRASH")


def draw_keyframes(layout: UILayout, context: Context, obj: Object) -> None:
    """The bake to keyed objects."""
    steer, column = obj.steer, layout.column()
    column.use_property_split = not is_narrow(context)
    draw_named(column, steer, "bake_source_object", "Object")
    part = column.column()
    part.active = steer.bake_source_object is None
    draw_named(part, steer, "bake_source_collection", "Collection")
    draw_block(column, context, obj, "bake")
    row = layout.row(align=True)
    row.operator("object.steer_bake_keyframes", icon="KEYINGSET")
    row.operator("object.steer_delete_bake", text="", icon="TRASH")


def draw_export(layout: UILayout, context: Context, obj: Object) -> None:
    """The menu of file formats."""
    layout.menu("STEER_MT_export", icon="EXPORT")


def draw_cache(layout: UILayout, context: Context, obj: Object) -> None:
    """The bake that plays without Steer: its state, and its operators."""
    layout.use_property_split = not is_narrow(context)
    _draw_bake_buttons(layout.column(), context, obj)
    if len(crowds.crowds(context.scene)) > 1:
        layout.operator("object.steer_cache_bake_all", icon="RENDER_ANIMATION")
    draw_playback(layout, context, obj)


def _draw_bake_buttons(column: UILayout, context: Context, obj: Object) -> None:
    found = status.status(obj, context.scene)
    for diagnosis in () if found is None else found.diagnoses():
        # which stands at the top of the panel, with its button
        if diagnosis.code != "BAKE_OUT_OF_DATE":
            draw_sentence(column, context, diagnosis)
    if found is None or found.other_file is not None:
        column.prop(obj.steer, "cache_directory")
        row = column.row(align=True)
        name = "save_and_bake" if places.why_no_folder(obj) else "cache_bake"
        row.operator(f"object.steer_{name}", icon="RENDER_ANIMATION")
        row.operator("object.steer_cache_relink", text="", icon="FILE_FOLDER")
        if plays_back(obj):
            column.operator("object.steer_cache_live", icon="UNLINKED")
        return
    row = column.row(align=True)
    if found.can_continue:
        row.operator("object.steer_cache_continue", icon="PLAY")
    row.operator("object.steer_cache_anew", icon="FILE_REFRESH")
    row = column.row(align=True)
    row.operator("object.steer_cache_check", icon="CHECKMARK")
    row.operator("object.steer_cache_relink", text="", icon="FILE_FOLDER")
    row.operator("object.steer_cache_delete", text="", icon="TRASH")


def draw_playback(layout: UILayout, context: Context, obj: Object) -> None:
    """Limits of a bake, or the advice to make one."""
    if not (plays_back(obj) or live.is_baked(obj)):
        draw_sentence(layout, context, diagnose("BAKE_FIRST"))
    # errors of the bake are shown above, with a remedy, in place of the live crowd's messages
    limits = baked_file.limits(obj)
    if limits is not None and baked_file.problem(obj) is None:
        draw_sentence(layout, context, limits)

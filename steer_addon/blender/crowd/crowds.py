"""Crowd objects: which there are, how a mesh object becomes one, and how it stops being one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TypeGuard

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.crowd import presets
from ...core.crowd.scaling import scaled_crowd
from ...core.crowd.settings import CrowdSettings, make_behavior
from ...core.diagnoses import diagnose
from ...core.errors import PresetError, SceneError, warn
from ..display import display
from ..scene_units import units_per_meter
from . import state
from .properties import apply_settings
from .property_classes import sync_display

_ROAM = {"type": "wander", "weight": 0.15}
"""Second behavior of a new crowd: it moves without a target, and is lively with one."""


def is_crowd(obj: bpy.types.Object | None) -> TypeGuard[bpy.types.Object]:
    """Whether the object is a crowd: marked as one, and with its Crowd modifier."""
    return (
        obj is not None
        and obj.type == "MESH"
        and obj.steer.is_crowd
        and display.find_modifier(obj) is not None
    )


def has_remains(obj: bpy.types.Object) -> bool:
    """Whether the object has the mark or the modifier of a crowd, be it only one of them."""
    return bool(obj.steer.is_crowd or display.find_modifier(obj) is not None)


def crowds(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The crowd objects of a scene."""
    return [obj for obj in scene.objects if is_crowd(obj)]


def require_crowd(obj: bpy.types.Object | None) -> bpy.types.Object:
    """The object itself, when it is a crowd.

    Raises:
        SceneError: It is none.
    """
    if obj is None:
        raise SceneError("No object is active: select a crowd")
    if not is_crowd(obj):
        raise SceneError(f"Object {obj.name!r} is no crowd: use Add Modifier > Crowd on it")
    return obj


def why_not_editable(obj: bpy.types.Object) -> str:
    """Why a crowd cannot be made of, or changed on this object; empty when it can."""
    if obj.library is not None:
        return diagnose("LINKED", obj.name, file=obj.library.filepath).sentence
    if obj.override_library is not None:
        return diagnose("OVERRIDE", obj.name).sentence
    return ""


def default_settings() -> CrowdSettings:
    """Settings of a new crowd: it walks to its target, and roams while it has none."""
    try:
        settings = presets.load_preset(presets.DEFAULT).settings
    except PresetError as error:
        # a broken file in the presets folder must not keep crowds from being made
        warn(__name__, "%s; new crowds start with plain settings", error)
        plain = [make_behavior({"type": name}) for name in ("separation", "arrive")]
        settings = CrowdSettings(behaviors=tuple(plain))
    if any(entry.definition.type == _ROAM["type"] for entry in settings.behaviors):
        return settings
    return replace(settings, behaviors=(*settings.behaviors, make_behavior(_ROAM)))


def make_crowd(
    obj: bpy.types.Object,
    *,
    settings: CrowdSettings | None = None,
    scene: bpy.types.Scene | None = None,
) -> bpy.types.Object:
    """Make a mesh object a crowd: its vertices are agents from now on; its mesh stays as it is.

    Args:
        obj: Mesh object; one that is a crowd already keeps its behaviors.
        settings: Settings of the crowd, in the scene's units; None takes `default_settings`.
        scene: Where frame range and units come from; None keeps those of a new crowd.

    Raises:
        SceneError: The object is no mesh, has nothing that could give vertices, or comes from
            another file.
    """
    reason = why_not_editable(obj)
    if reason:
        raise SceneError(reason)
    emits = settings is not None and settings.births.emits
    # in Edit Mode the vertices are not known here, and may be there
    if (
        not emits
        and obj.type == "MESH"
        and not (obj.data.vertices or obj.modifiers or obj.data.is_editmode)
    ):
        raise SceneError(
            f"{obj.name!r} has no vertices: give its mesh one vertex for every agent, "
            "or use Add > Crowd"
        )
    fresh = not obj.steer.is_crowd
    display.add_modifier(obj)
    if not state.plays_back(obj):
        state.ensure_state(obj)
    if fresh or settings is not None:
        unit = 1.0 if scene is None else units_per_meter(scene)
        apply_settings(obj, settings or scaled_crowd(default_settings(), unit))
    sync_display(obj)
    if fresh and scene is not None:
        obj.steer.frame_start, obj.steer.frame_end = scene.frame_start, scene.frame_end
    obj.steer.is_crowd = True
    return obj


def hide(obj: bpy.types.Object) -> None:
    """Hide a baked crowd, so that agents are not seen twice, and remember what was hidden."""
    shown = {"VIEWPORT": not obj.hide_viewport, "RENDER": not obj.hide_render}
    obj.steer.hidden_by_bake |= {name for name, is_shown in shown.items() if is_shown}
    obj.hide_viewport = obj.hide_render = True


def unhide(obj: bpy.types.Object) -> None:
    """Show a crowd again where `hide` hid it."""
    hidden = obj.steer.hidden_by_bake
    obj.hide_viewport = obj.hide_viewport and "VIEWPORT" not in hidden
    obj.hide_render = obj.hide_render and "RENDER" not in hidden
    obj.steer.hidden_by_bake = set()


def add_crowd_object(
    name: str, points: NDArray[np.float32], collection: bpy.types.Collection
) -> bpy.types.Object:
    """A new mesh object of loose vertices, in a collection.

    Args:
        name: Name of object and mesh.
        points: Positions [m] in the object's space, shape (agent_count, 3).
        collection: Collection of the new object.
    """
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(len(points))
    mesh.attributes["position"].data.foreach_set("vector", np.ascontiguousarray(points).ravel())
    mesh.update()
    obj = bpy.data.objects.new(name, mesh)
    collection.objects.link(obj)
    return obj


def user_preset_folders() -> list[Path]:
    """Folders with presets of the user and of the site, without the built-in one."""
    return [Path(path) for path in bpy.utils.preset_paths("steer")]


def user_preset_folder() -> Path:
    """Folder that presets are saved to; it need not be there yet."""
    return Path(bpy.utils.user_resource("SCRIPTS", path="presets/steer"))


def frame_numbers(obj: bpy.types.Object) -> range:
    """Frames that a crowd is simulated for.

    Raises:
        SceneError: The range is backwards.
    """
    first, last = obj.steer.frame_start, obj.steer.frame_end
    if last < first:
        raise SceneError(
            f"Crowd {obj.name!r} ends at frame {last}, before its start at {first}: "
            f"set the end to {first} or more"
        )
    return range(first, last + 1)

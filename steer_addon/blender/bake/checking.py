"""Comparison of a bake with the current scene: at the same frames, by the same readers."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import bpy

from ...core.cache import Cache
from ...core.cache.changes import all_changes
from ...core.diagnoses import Diagnosis
from ..crowd.links import linked_crowds
from ..crowd.properties import staged_settings
from ..live.simulate import fps_of, stage_for
from ..reading.scene import WorldReader
from ..reading.scene_agents import read_agents
from ..reading.scene_inputs import input_objects, needs_frames, needs_own_scene
from . import inputs


def settings_changes(
    obj: bpy.types.Object, scene: bpy.types.Scene, cache: Cache
) -> list[Diagnosis]:
    """Changes of the settings since a bake: cheap, since no scene evaluation is needed.

    Raises:
        ParameterError: A setting is out of range.
    """
    header = cache.header
    settings = inputs.settings_data(obj, scene, header.name)
    return all_changes(header.about, {"settings": settings}, header.name)


def check(
    obj: bpy.types.Object, scene: bpy.types.Scene, cache: Cache
) -> Generator[None, None, list[Diagnosis]]:
    """Return all changes since a bake, by name; yields once per frame, so that the caller can stop.

    The scene is neither changed nor played, unless physics move an input.

    Raises:
        SteerError: The crowd cannot be read.
    """
    header = cache.header
    known = inputs.known_data(obj, scene, header)
    seen = inputs.Inputs(obj, set(), header.name)
    yield from _read_inputs(obj, scene, seen, _frames(obj, header.about, cache))
    known["inputs"] = seen.data()
    return all_changes(header.about, known, header.name)


def _frames(obj: bpy.types.Object, about: Any, cache: Cache) -> list[int]:
    """The frames to check: those of the bake if anything moved then or moves now."""
    wanted = {crowd.steer.frame_start for crowd in linked_crowds(obj)}
    if needs_frames(obj) or about.get("moving", True):
        wanted |= inputs.sampled(about.get("inputs"), max(wanted | {cache.frames.stop}))
    if _has_memory(obj):
        return list(range(min(wanted), max(wanted) + 1))
    return sorted(wanted)


def _read_inputs(
    obj: bpy.types.Object, scene: bpy.types.Scene, seen: inputs.Inputs, frames: list[int]
) -> Generator[None, None, None]:
    """Read the inputs of a crowd, and of the crowds that it steers by, at some frames."""
    members = linked_crowds(obj)
    readers = {crowd.session_uid: WorldReader() for crowd in members}
    stage = stage_for(members, scene)
    try:
        for number in frames:
            depsgraph = stage.at(number)
            for crowd in members:
                if not crowd.steer.frame_start <= number <= crowd.steer.frame_end:
                    continue
                shown = stage.crowd(crowd, depsgraph)
                settings = staged_settings(shown, crowd)
                if number == crowd.steer.frame_start:
                    evaluated = None if stage.stand_ins is None else shown
                    agents = read_agents(crowd, depsgraph, settings, evaluated=evaluated)
                    seen.begin(crowd, agents)
                    stage.simplify(crowd)
                reader = readers[crowd.session_uid]
                world = reader.read(crowd, depsgraph, fps_of(scene), stage.stand_ins, settings)
                seen.add(crowd, number, world)
            yield
    finally:
        stage.close()


def _has_memory(obj: bpy.types.Object) -> bool:
    """Whether the inputs at a frame depend on earlier frames."""
    return needs_own_scene(obj) or any(
        _simulates(modifier.node_group, set())
        for part in input_objects(obj)
        for modifier in part.modifiers
        if isinstance(modifier, bpy.types.NodesModifier)
    )


def _simulates(group: Any, known: set[str]) -> bool:
    """Whether a node group has a simulation zone, itself or in groups that it uses."""
    if group is None or group.name_full in known:
        return False
    known.add(group.name_full)
    return any(
        node.bl_idname == "GeometryNodeSimulationOutput"
        or _simulates(getattr(node, "node_tree", None), known)
        for node in group.nodes
    )

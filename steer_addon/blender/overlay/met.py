"""The agents of other crowds that a crowd sees at the shown frame, for explaining its turns."""

from __future__ import annotations

import bpy
import numpy as np

from ...core.agents import Agents
from ...core.errors import SteerError
from ...core.inputs.others import Others, merged
from ...core.results.memories import stood_up
from ..crowd.links import linked_crowds, relations_of
from ..crowd.properties import settings_of
from ..reading.scene_agents import read_agents
from . import seen


def others_of(
    obj: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph
) -> Others | None:
    """The living of the crowds that a crowd sees; None where it sees none.

    What they wish for is taken to be what they do: to know it, their behaviors would have to be
    asked, too.
    """
    members = linked_crowds(obj)
    if len(members) == 1:
        return None
    crowds = [c for c, is_seen in zip(members, relations_of(members)[0][0], strict=True) if is_seen]
    found: list[tuple[bpy.types.Object, Agents]] = []
    for crowd in crowds[1:]:
        try:
            agents = _shown(crowd, scene, depsgraph)
        except SteerError:
            # what its own panel tells
            continue
        if agents is not None:
            found.append((crowd, agents.taken(np.flatnonzero(agents.alive))))
    if not found:
        return None
    counts = [agents.count for _, agents in found]
    heights = [settings_of(crowd).body_height for crowd, _ in found]
    everyone = merged([agents for _, agents in found])
    return Others(
        agents=everyone,
        crowd=np.repeat(np.arange(1, len(found) + 1), counts),
        own=0,
        height=np.repeat(np.array(heights, np.float32), counts),
        desired=everyone.velocity.copy(),
        names=(obj.name, *(crowd.name for crowd, _ in found)),
    )


def _shown(
    crowd: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph
) -> Agents | None:
    source = seen.find(crowd, scene)
    if source is None:
        return None
    shown = source.read()
    agents = shown.agents if shown.kept is None else shown.kept.agents
    if agents is None:
        settings = settings_of(crowd)
        start = read_agents(crowd, depsgraph, settings)
        agents = stood_up(shown.frame, start, settings.motion, own_radius=shown.own_radius)
    return agents

"""The walkable surface of a crowd of a file, as it is when the crowd begins."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ...core.crowd.settings import CrowdSettings
from ...core.step.guiding import blocks_of, goes, shape_of, with_footing
from ...core.ways.report import report
from ..crowd.scene_time import scene_moment
from ..live.simulate import fps_of
from ..reading.scene import WorldReader
from ..reading.scene_agents import read_agents
from ..suspension import suspended

Contents = dict[str, Any]
"""Plain data, ready for JSON."""


def surface_of(obj: bpy.types.Object, scene: bpy.types.Scene, settings: CrowdSettings) -> Contents:
    """What the walkable surface of a crowd is; None in its place for one that flies.

    Args:
        obj: The crowd.
        scene: Its scene, which goes to the crowd's first frame.
        settings: The crowd's settings.

    Raises:
        SteerError: Its agents or its inputs cannot be read.
    """
    with suspended():
        number, part = scene_moment(scene, obj.steer.frame_start)
        scene.frame_set(number, subframe=part)
    depsgraph = scene.view_layers[0].depsgraph
    agents = read_agents(obj, depsgraph, settings)
    told: Contents = {
        "crowd": obj.name,
        "agents": agents.count,
        "ways": settings.ways.ways,
        "motion": settings.motion.motion,
        "portals": 0,
        "surface": None,
    }
    if settings.motion.motion != "GROUND":
        return told
    world = WorldReader().read(obj, depsgraph, fps_of(scene), None, settings)
    world = with_footing(world, settings)
    told["portals"] = 0 if world.areas is None else len(world.areas.portals)
    goals = [world.targets_of(each.target).position for each in settings.stack if goes(each)]
    goal = next((places for places in goals if len(places)), np.zeros((0, 3), np.float32))
    radius = agents.radius if agents.count else np.array([settings.agents.radius], np.float32)
    found = report(shape_of(settings, agents), blocks_of(world, agents, settings), goal, radius)
    surface = found._asdict() | {"classes": [each._asdict() for each in found.classes]}
    return told | {"asked_cell_size": settings.ways.cell_size, "surface": surface}

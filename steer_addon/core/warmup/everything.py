"""Calls of all kernels that Steer calls from Python, with tiny inputs: what a package brings along.

The types of a kernel's arguments never depend on a scene, so one call of each is enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..behaviors import REGISTRY
from ..characters.leaving import with_leaving
from ..characters.pose_space import PoseSpace, Row
from ..crowd import presets
from ..crowd.settings import BLOCKS, CrowdSettings
from ..explain import explanation
from ..geometry import bvh
from ..geometry.meshes import Mesh
from ..inputs.paths import Path
from ..parameters import Settings, parameters
from ..results import metrics, reduce
from ..step.guiding import blocks_of, shape_of
from ..step.simulation import Simulation
from ..views import RoomView
from ..ways.areas.declared import make_area, make_areas
from ..ways.areas.kinds import COST, FORBIDDEN, ONE_WAY
from ..ways.classes import MOST_BESIDE
from ..ways.corners.graph import find_corners
from ..ways.corners.single import by_corners
from ..ways.finder import islands_kernel
from ..ways.islands import label_islands, nearest_reached, reached_from
from ..ways.lattice import stand_of
from ..ways.outs import Flight, best_out, look_for_outs, near_ways
from ..ways.own import WIDTH as OWN_WIDTH
from ..ways.portals.declared import make_portal
from ..ways.portals.links import end_cell, link_from
from ..ways.portals.passing import ON, WIDTH
from ..ways.room import make_room, passable
from ..ways.searching import Scratch
from ..ways.ways import MOST_GOALS, Ways
from .dry_run import run_tiny, tiny_agents, tiny_world

WALKERS = "pedestrians"
"""The preset whose crowd has bodies and a goal."""
_STEPS = 4
"""Steps of a run in which things move."""


def run_everything() -> None:
    """Call them; for `jit.recording`, where nothing is compiled."""
    for told in all_settings():
        run_tiny(told, colliders=True, ground=True)
        look(told)
    _arrive_among_moving_colliders()
    _go_own_ways()
    _go_among_areas()
    _go_through_a_portal()
    _run_away()
    _leave_gaits()
    _measure()


def run_for(settings: Iterable[dict[str, Any]]) -> None:
    """Call those of a step of crowds, and of what is measured of them."""
    for told in settings:
        run_tiny(told, colliders=True, ground=True)
    _measure()


def all_settings() -> Iterator[dict[str, Any]]:
    """Settings that together call every kernel of a step: presets, and each choice of behaviors."""
    for path in presets.find_presets().values():
        yield presets.read_preset(path).settings.to_dict()
    for name, cls in REGISTRY.items():
        for values in _choices(cls):
            yield {"behaviors": [{"type": name, **values}]}
    walkers = presets.load_preset(WALKERS).settings.to_dict()
    for block, settings in BLOCKS.items():
        for values in _choices(settings):
            yield {**walkers, block: {**walkers[block], **values}}


def _choices(cls: type[Settings]) -> Iterator[dict[str, Any]]:
    """The defaults, and each other value of a choice or a switch."""
    yield {}
    for name, info in parameters(cls).items():
        for value in info.choices or ((True, False) if info.kind == "bool" else ()):
            if value != info.default:
                yield {name: value}


def look(told: dict[str, Any]) -> None:
    """What the overlay draws of a crowd.

    Args:
        told: Its settings as plain values.
    """
    settings = CrowdSettings.from_dict(told)
    agents, world = tiny_agents(settings, 3), tiny_world(True, True)
    answer = explanation.ask(settings, agents, world, 0.04, 1)
    for number in agents.id:
        answer.agent(int(number), looks=True)


def _arrive_among_moving_colliders() -> None:
    """Bodies that meet, at a goal that some have reached, while a wall comes nearer."""
    bodies = {"collide_agents": True, "collide_colliders": True, "on_arrival": "HOLD_AREA"}
    walkers = presets.load_preset(WALKERS).settings.to_dict()
    settings = CrowdSettings.from_dict({**walkers, "bodies": {**walkers["bodies"], **bodies}})
    agents = tiny_agents(settings, 12)
    agents.position[:, 0] += 1.0
    simulation = Simulation(settings, agents, frame=1, fps=24.0, world=tiny_world(True, True))
    figures = metrics.Metrics(
        agents.position,
        radius=agents.radius,
        wished_speed=agents.max_speed,
        dt=simulation.dt,
        colliders=tiny_world(True, True).colliders,
    )
    for step in range(_STEPS):
        world = tiny_world(True, True, shift=0.4 * step)
        place = simulation.step(world).position
        none = np.zeros(len(place), np.bool_)
        figures.add(place, alive=~none, arrived=none, colliders=world.colliders)


def _go_own_ways() -> None:
    """Walkers with more goals than fields lead to, behind a wall."""
    told = CrowdSettings.from_dict({"ways": {"ways": "AROUND"}})
    agents, world = tiny_agents(told, MOST_GOALS + 1), tiny_world(True, True)
    goals = agents.position + np.array([8, 0, 0], np.float32)
    options = shape_of(told, agents), blocks_of(world, agents, told), goals, np.arange(agents.count)
    ways = Ways()
    ways.lead(*options, (agents.position, agents.id, agents.radius))
    view = ways.surface(*options[:3]).view
    # what is kept of a way that was found
    state, part = np.zeros(len(view.z), np.uint8), np.zeros(len(view.z), np.int32)
    room = RoomView(state, part, np.zeros((1, 16, 2), np.int8), state)
    stand_of(view, room, 0)
    # one that looks for a way among corners
    corners, one = find_corners(view, room), np.zeros(1, np.int64)
    assert corners is not None
    kept = np.zeros((1, OWN_WIDTH), np.float32)
    by_corners(one, (view, room, corners), (goals, one, one, one), kept, Scratch())


def _go_among_areas() -> None:
    """Walkers on a lawn that costs, is forbidden, or leads one way, with fields and own ways."""
    told = CrowdSettings.from_dict({"ways": {"ways": "SAFE"}})
    world = tiny_world(True, True)
    assert world.ground is not None
    lawn = Mesh("lawn", world.ground.triangles)
    areas = [make_area(lawn, kind) for kind in (COST, ONE_WAY, FORBIDDEN)]
    paint = np.full((len(lawn.triangles), 3), 2.0)
    for chosen, count in ((areas[:2], MOST_GOALS + 1), (areas[:2], 2), (areas[2:], 2)):
        there = replace(world, areas=make_areas(chosen, paint))
        agents = tiny_agents(told, count)
        goals = agents.position + np.array([1, 0, 0], np.float32)
        on = shape_of(told, agents), blocks_of(there, agents, told)
        row, bodies = np.arange(count), (agents.position, agents.id, agents.radius)
        ways, seen = Ways(), np.ones((count, 4), np.float32)
        seen[:, :3] = agents.position
        kept = ways.lead(*on, goals, row, bodies)[2]
        ways.lead(*on, goals, row, bodies, seen, kept)
        ways.without_way(*on, goals, row, bodies)
        ways.keep_out(*on, agents, agents.copy(), 0.04)
    surface = ways.surface(*on, goals)
    surface.slopes(np.zeros(1, np.int64), world.ground)
    room = make_room(surface, world.ground, on[1].colliders, 0.25)
    passable(surface, room._replace(narrow=np.zeros(1, np.int64)))
    reached = reached_from(surface.view, room, 0, backward=False)
    nearest_reached(surface.view, room, reached, (0.0, 0.0, 0.0))


def _go_through_a_portal() -> None:
    """Walkers for whom a portal is the shortest way, with fields and own ways, and one in it."""
    walkers = presets.load_preset(WALKERS).settings.to_dict()
    told = CrowdSettings.from_dict({**walkers, "ways": {"ways": "SAFE"}})
    portal = make_portal([(0, 0, 0), (2, 0, 0)], "tiny")
    world = replace(tiny_world(True, True), areas=make_areas((), None, (portal,)))
    agents = tiny_agents(told, 2)
    on, ways = (shape_of(told, agents), blocks_of(world, agents, told)), Ways()
    bodies = agents.position, agents.id, agents.radius
    for each in (False, True):
        ways.lead(*on, agents.position, np.arange(2), bodies, each=each)
    ways.loose_portals(*on, bodies)
    agents.memory[ON] = np.zeros((2, WIDTH), np.float32)
    agents.memory[ON][0, 0] = portal.key
    Simulation(told, agents, frame=1, fps=24.0, world=world).step(world)
    surface = ways.surface(*on, agents.position)
    room = make_room(surface, on[1].ground, on[1].colliders, 0.25)
    end_cell(surface.view, room, (0.0, 0.0, 0.0), 1.0)
    link_from(room, 0, np.zeros(surface.count, np.float32))


def _run_away() -> None:
    """Walkers with all behaviors: those who are cornered look for a way out."""
    stack = [{"type": name} for name in REGISTRY]
    told = CrowdSettings.from_dict({"ways": {"ways": "AROUND"}, "behaviors": stack})
    agents, world = tiny_agents(told, 2), tiny_world(True, True)
    Simulation(told, agents, frame=1, fps=24.0, world=world).step(world)
    on, ways = (shape_of(told, agents), blocks_of(world, agents, told)), Ways()
    surface = ways.surface(*on, agents.position)
    room = make_room(surface, on[1].ground, on[1].colliders, 0.25)
    runs = np.ones(2, np.bool_)
    flight = Flight(agents.position + 1, runs, runs, np.zeros((2, 4), np.float32))
    look_for_outs(surface.view, room, [0], agents.position, flight, Scratch())
    length = np.zeros(surface.count, np.float32)
    near_ways(surface.view, room, 0, 1.0, length, length.copy(), *Scratch().of(surface.count))
    best_out(length, length)
    # on large surfaces only
    label = label_islands(surface.view, room)[0]
    where = np.arange(2), surface.view, room, label, agents.position
    islands_kernel(0, 2, *where, np.zeros((2, MOST_BESIDE), np.int32))


def _leave_gaits() -> None:
    """Characters that are made learn where they leave their gaits."""
    gaits = Row("slow", 0, 2, 1.0, 1.0), Row("fast", 2, 2, 2.0, 1.5)
    pose = np.eye(2, 3, 1, dtype=np.float32)
    with_leaving(PoseSpace(np.tile(pose, (4, 1, 1)), gaits))


def _measure() -> None:
    """What makers of scenes, bakes and tests ask of meshes and curves."""
    Path.random(3)
    mesh = bvh.build(np.eye(3, dtype=np.float32)[None])
    points = np.zeros((2, 3))
    bvh.ray_cast_many(mesh, points, points + [0.0, 0.0, 1.0])
    bvh.nearest_many(mesh, points)
    bvh.refit(mesh, 2.0 * np.eye(3, dtype=np.float32)[None])
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (4, 1))
    reduce.reduce_keys(np.arange(4.0), np.zeros((4, 3)), 0.1)
    reduce.reduce_keys(np.arange(4.0), np.zeros((4, 3)), 0.1, rotation=turns)

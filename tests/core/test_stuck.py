"""Stuck agents are told: those that are led to a goal, and get nowhere for some seconds."""

from __future__ import annotations

import numpy as np
import pytest
from crowdtools import simulation

from steer_addon.core.agents import make_agents
from steer_addon.core.behaviors import REGISTRY
from steer_addon.core.crowd import presets
from steer_addon.core.crowd.settings import BodiesSettings, CrowdSettings, make_behavior
from steer_addon.core.errors import KernelsMissingError
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step import stuck
from steer_addon.core.step.stuck import _told, leads
from tests.often import often


def wall(x0, x1, y0, y1):
    """A wall on the ground between these coordinates, 2 m high."""
    corners = np.array([(x, y, z) for x in (x0, x1) for y in (y0, y1) for z in (0.0, 2.0)])
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))]
    return Mesh(f"wall {x0} {y0}", corners[np.array(triangles)].astype(np.float32))


DEAD_END = (wall(-5, 5, 0, 0.3), wall(-5, -4.7, -4, 0), wall(4.7, 5, -4, 0))
DOOR = (wall(-20, -0.6, 0, 0.3), wall(0.6, 20, 0, 0.3))


def people(count, seed=1):
    rng = np.random.default_rng(seed)
    return np.c_[rng.uniform(-4, 4, count), rng.uniform(-12, -5, count), np.zeros(count)]


def pedestrians(*more, **bodies):
    settings = presets.load_preset("pedestrians").settings
    stack = (*settings.behaviors, *(make_behavior({"type": name}) for name in more))
    told = {"collide_agents": True, "collide_colliders": True, "on_arrival": "STAY", **bodies}
    return CrowdSettings(
        agents=settings.agents, behaviors=stack, bodies=BodiesSettings(**told), seed=3
    )


def play(settings, points, steps, fps=24.0, **world):
    """The simulation, and the number of stuck agents after each step."""
    sim, seen = simulation(settings, points, fps=fps), make_world(**world)
    counts = []
    for _ in range(steps):
        sim.advance(seen)
        counts.append(0 if sim.stuck is None else sim.stuck.values["count"])
    return sim, counts


@pytest.mark.parametrize(
    "more",
    [
        (),
        pytest.param(("obstacle_avoidance",), marks=pytest.mark.long),
        pytest.param(("wall_avoidance",), marks=pytest.mark.long),
    ],
)
def test_agents_in_a_dead_end_are_told(more):
    sim, counts = play(
        pedestrians(*more), people(40, seed=3), 460, targets=[(0, 15, 0)], colliders=DEAD_END
    )
    assert (sim.agents.position[:, 1] < 0.0).all()
    assert max(counts) >= 30 and not any(counts[:120])
    told = sim.stuck
    assert (told.code, told.values["total"], told.values["seconds"]) == ("STUCK", 40, 5)
    named = {int(word) for word in told.values["agents"].split(", ")}
    assert len(named) == told.values["count"] and named <= set(range(40))


def test_a_crowd_in_a_dead_end_is_told_within_the_range_of_a_new_scene():
    sim, counts = play(
        pedestrians(), people(40, seed=3), 250, targets=[(0, 15, 0)], colliders=DEAD_END
    )
    assert (sim.agents.position[:, 1] < 0.0).all()
    assert counts[-1] >= 5 and not any(counts[:120])


@pytest.mark.parametrize(("count", "total", "looks"), [(5, 50, 1), (4, 40, 5), (5, 51, 5)])
def test_many_agents_are_told_sooner_than_few(count, total, looks):
    agents = make_agents(np.zeros((total, 3)), radius=0.3, mass=1.0, max_speed=1.0, max_force=1.0)
    found = np.arange(total) < count
    assert _told([found] * (looks - 1), agents) is None
    told = _told([found] * looks, agents)
    assert told.values["count"] == count and told.values["total"] == total


def test_all_stuck_agents_are_named():
    agents = make_agents(np.zeros((300, 3)), radius=0.3, mass=1.0, max_speed=1.0, max_force=1.0)
    told = _told([np.ones(300, np.bool_)], agents)
    assert told.values["agents"].split(", ") == [str(i) for i in range(300)]


def test_a_look_that_waits_for_kernels_still_knows_who_fled(monkeypatch):
    sim, _ = play(pedestrians(), people(3), 143, targets=[(0, 15, 0)], colliders=DEAD_END)
    sim._headway._fled = np.ones(3, np.bool_)

    def missing(*_):
        raise KernelsMissingError("neighbors", "find", ())

    monkeypatch.setattr(stuck, "_without_queues", missing)
    with pytest.raises(KernelsMissingError):
        sim.advance(make_world(targets=[(0, 15, 0)], colliders=DEAD_END))
    assert sim._headway._fled.all()


def test_time_is_that_of_the_scene():
    settings = pedestrians()
    _, counts = play(settings, people(10), 240, fps=10.0, targets=[(0, 15, 0)], colliders=DEAD_END)
    assert max(counts) >= 9


def test_a_queue_at_a_door_is_not_stuck():
    sim, counts = play(pedestrians(), people(40), 600, targets=[(0, 25, 0)], colliders=DOOR)
    assert (sim.agents.position[:, 1] > 0.5).sum() >= 35
    assert not any(counts)


@pytest.mark.parametrize("on_arrival", often(["STAY", "HOLD_AREA", "LEAVE"], "STAY"))
def test_a_crowd_at_its_goal_is_not_stuck(on_arrival):
    settings = pedestrians(on_arrival=on_arrival)
    sim, counts = play(settings, people(40), 500, targets=[(0, 0, 0)])
    assert np.linalg.norm(sim.agents.position, axis=1).max() < 6.0
    assert not any(counts)


def test_bodies_that_pass_through_one_another_are_not_stuck_at_their_goal():
    settings = pedestrians(collide_agents=False, collide_colliders=False)
    assert not any(play(settings, people(20), 400, targets=[(0, 0, 0)])[1])


def test_agents_without_a_goal_are_never_stuck():
    stack = tuple(make_behavior({"type": name}) for name in ("wander", "flee"))
    settings = CrowdSettings(behaviors=stack, bodies=BodiesSettings(collide_colliders=True))
    closed = (*DEAD_END, wall(-5, 5, -4.3, -4))
    points = people(20) * (0.8, 0.2, 0.0)
    assert not any(play(settings, points, 300, targets=[(0, 15, 0)], colliders=closed)[1])


def test_agents_that_are_freed_are_no_longer_told():
    settings = pedestrians()
    sim, counts = play(settings, people(10), 360, targets=[(0, 15, 0)], colliders=DEAD_END)
    assert counts[-1] >= 5
    # the walls are gone
    freed = make_world(targets=[(0, 15, 0)])
    for _ in range(72):
        sim.advance(freed)
    assert sim.stuck is None


def test_continuing_from_known_agents_forgets_what_was_seen_before():
    settings = pedestrians()
    sim, _ = play(settings, people(10), 360, targets=[(0, 15, 0)], colliders=DEAD_END)
    sim.adopt(sim.agents)
    assert sim.stuck is None


def test_every_behavior_that_declares_a_goal_or_a_way_counts():
    names = {name for name, cls in REGISTRY.items() if leads(cls())}
    assert names >= {"arrive", "seek", "pursue", "follow_path", "flow_field"}
    assert not names & {"wander", "flee", "evade", "hide", "separation", "wall_avoidance"}

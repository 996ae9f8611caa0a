"""Looking at ways: islands with their areas, and the way of one agent with its length."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from crowdtools import box, crowd, place, simulation

from steer_addon.core import explain
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.crowd.ways_settings import WaysSettings
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.guiding import blocks_of, shape_of
from steer_addon.core.ways.islands import islands_at
from steer_addon.core.ways.looking import cells_near, islands_of, middles, way_of
from steer_addon.core.ways.room import BLOCKED
from steer_addon.core.ways.surface import bounds_of, make_surface
from steer_addon.core.ways.ways import Ways

GOAL = (4.0, 0.0, 0.0)
WALL = box((0.0, 0.0, 1.0), (0.4, 6.0, 2.0), "wall")
YARD = [
    box((10.0, 2.0, 1.0), (4.4, 0.4, 2.0), "north"),
    box((10.0, -2.0, 1.0), (4.4, 0.4, 2.0), "south"),
    box((8.0, 0.0, 1.0), (0.4, 4.4, 2.0), "west"),
    box((12.0, 0.0, 1.0), (0.4, 4.4, 2.0), "east"),
]
AROUND = replace(crowd(Seek()), ways=WaysSettings(ways="AROUND"))


def found(settings, agents, world):
    return shape_of(settings, agents), blocks_of(world, agents, settings)


def told_by(agents):
    return agents.position, agents.id, agents.radius


@pytest.mark.slow
def test_a_way_goes_round_the_end_of_a_wall_and_is_as_long_as_its_legs():
    agents = place(AROUND, [(-4.0, 0.0, 0.0), (-4.0, 1.0, 0.0)])
    world = make_world(targets=GOAL, colliders=[WALL])
    shape, blocks = found(AROUND, agents, world)
    goals, row = np.array([GOAL], np.float32), np.zeros(2, np.int64)
    way = way_of(Ways(), shape, blocks, goals, row, told_by(agents), 0)
    np.testing.assert_array_equal(way.points[0], (-4.0, 0.0, 0.0))
    np.testing.assert_array_equal(way.points[-1], GOAL)
    assert way.arrives
    legs = np.linalg.norm(np.diff(way.points, axis=0), axis=1)
    assert way.length == pytest.approx(legs.sum())
    # a taut string round both ends is the shortest, a body's radius off; lanes are up to 1.25 m off
    end = 3.0 + 0.25
    taut = 2.0 * np.hypot(4.0 - 0.2, end) + 0.4
    assert taut - 0.3 < way.length < taut + 2.0
    assert np.abs(way.points[:, 1]).max() > 3.0
    # the agents themselves stay where they are
    np.testing.assert_array_equal(agents.position[0], (-4.0, 0.0, 0.0))


def test_a_way_into_a_closed_yard_ends_before_it():
    agents = place(AROUND, [(4.0, 0.0, 0.0)])
    world = make_world(targets=(10.0, 0.0, 0.0), colliders=YARD)
    shape, blocks = found(AROUND, agents, world)
    goals = np.array([(10.0, 0.0, 0.0)], np.float32)
    way = way_of(Ways(), shape, blocks, goals, np.zeros(1, np.int64), told_by(agents), 0)
    assert not way.arrives
    assert 2.0 < np.linalg.norm(way.points[-1] - goals[0]) < 3.0


def test_islands_have_their_areas_and_cells_near_a_place():
    agents = place(AROUND, [(4.0, 0.0, 0.0)])
    world = make_world(targets=GOAL, colliders=YARD)
    shape, blocks = found(AROUND, agents, world)
    surface = Ways().surface(shape, blocks, np.zeros((0, 3), np.float32))
    islands = islands_of(surface, blocks, 0.25)
    assert len(islands.area) == 2
    # the yard is 3.6 m wide; cells count whole where a body has room anywhere in them
    assert (3.6 - 0.5) ** 2 <= islands.area.min() <= 3.6**2
    near = cells_near(islands, surface, np.array((10.0, 0.0, 0.0)), 30)
    assert len(near) == 30
    assert len(np.unique(islands_at(islands.label, islands.room, near))) == 1
    assert np.linalg.norm(middles(surface, near) - (10.0, 0.0, 0.0), axis=1).max() < 1.0
    every = cells_near(islands, surface, np.zeros(3), surface.count)
    assert len(every) == (islands.room.state != BLOCKED).sum()


@pytest.mark.parametrize("ways", ["AROUND", "NONE"])
def test_an_explanation_leads_as_the_step_does_and_shows_the_way(ways):
    settings = replace(AROUND, ways=WaysSettings(ways=ways))
    world = make_world(targets=GOAL, colliders=[WALL])
    sim = simulation(settings, [(-4.0, 0.0, 0.0), (-4.0, 1.0, 0.0)])
    for _ in range(3):
        sim.step(world)
    before, number = sim.agents, sim.frame - sim.start_frame
    sim.step(world)
    answer = explain.ask(settings, before, world, 1.0 / 24.0, number=number)
    np.testing.assert_array_equal(answer.after.velocity, sim.agents.velocity)
    (part,) = answer.agent(0, looks=True).parts
    routes = [shape for shape in part.looks if shape.role == "WAY"]
    assert len(routes) == (ways == "AROUND")
    for route in routes:
        np.testing.assert_array_equal(route.points[-1], GOAL)
        assert len(route.segments()) == len(route.points) - 1 >= 2
        assert route.length > 9.0


def test_large_cells_know_that_nothing_is_between_them_without_rays():
    settings = replace(AROUND, ways=WaysSettings(ways="AROUND", cell_size=0.7))
    agents = place(settings, [(-4.0, 0.0, 0.0)])
    shape, blocks = found(settings, agents, make_world(targets=GOAL, colliders=[WALL, *YARD]))
    bounds = bounds_of(blocks.ground, blocks.colliders, np.zeros((0, 3), np.float32))
    near, far = (
        make_surface(each, blocks.ground, blocks.colliders, bounds)
        for each in (replace(shape, reach=0.3), replace(shape, reach=1.0))
    )
    # what is as far from all walls as its neighbor has nothing between
    assert far.shape.reach == 1.0 and near.shape.reach == pytest.approx(0.714)
    np.testing.assert_array_equal(near.view.link, far.view.link)

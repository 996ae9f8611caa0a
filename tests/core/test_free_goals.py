"""A goal inside of a collider: the nearest free place is used instead, with a warning."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from crowdtools import box, crowd, place

from steer_addon.core.behaviors import REGISTRY
from steer_addon.core.crowd.settings import BodiesSettings
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.paths import Path
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.free_goals import FreeGoals
from steer_addon.core.step.simulation import Simulation
from tests.diagnosed import codes
from tests.often import often

POINT = (0.3, 0.1, 0.0)


def solid_crowd(motion="FLY", **bodies):
    stack = (REGISTRY["arrive"](), REGISTRY["flee"](target="cat", panic_radius=0.1))
    told = BodiesSettings(**{"collide_colliders": True, "on_arrival": "HOLD_AREA", **bodies})
    return replace(crowd(*stack, motion=motion), bodies=told)


def freed(point, *colliders, settings=None, goals=None):
    """Where agents go whose target is there."""
    settings = settings or solid_crowd()
    world = make_world(targets={"": [point], "cat": [point]}, colliders=list(colliders))
    goals = goals or FreeGoals()
    found = goals.freed(world, place(settings, [[9.0, 0.0, 0.0]]), settings)
    assert found.targets["cat"] is world.targets["cat"]
    moved = not np.array_equal(found.targets[""].position, world.targets[""].position)
    assert codes(goals.warnings) == ["TARGET_INSIDE"] * moved
    return found.targets[""].position[0]


def without_lid(mesh):
    top = (mesh.triangles[:, :, 2] == mesh.triangles[:, :, 2].max()).all(axis=1)
    return Mesh(mesh.name, mesh.triangles[~top])


def test_the_next_side_of_a_box_has_room_for_a_body():
    assert freed(POINT, box((0, 0, 0), (2, 4, 6))) == pytest.approx([1.25, 0.1, 0.0], abs=1e-3)


def test_outside_a_point_stays_however_near():
    assert freed((1.001, 0, 0), box((0, 0, 0), (2, 4, 6))) == pytest.approx((1.001, 0, 0))


@pytest.mark.parametrize("kind", ["open", "inside out"])
def test_meshes_without_an_inside_keep_what_is_in_them(kind):
    mesh = box((0, 0, 0), (2, 4, 6))
    mesh = without_lid(mesh) if kind == "open" else Mesh("out", mesh.triangles[:, ::-1].copy())
    assert freed(POINT, mesh) == pytest.approx(POINT)


def test_overlapping_colliders_are_left_together():
    found = freed((0.9, 0, 0), box((0, 0, 0), (2, 4, 6), "a"), box((1.5, 0.0, 0), (2, 2, 6), "b"))
    for middle, size in (((0, 0, 0), (2, 4, 6)), ((1.5, 0, 0), (2, 2, 6))):
        assert (np.abs(found - middle) > np.array(size) / 2).any()
    assert np.linalg.norm(found - (0.9, 0, 0)) < 3.0


def test_walkers_meet_colliders_above_their_feet_and_heights_of_targets_do_not_count():
    kiosk = box((0, 0, 0.6), (2, 2, 1))
    walkers = solid_crowd("GROUND")
    found = freed((0.6, 0.0, 5.0), kiosk, settings=walkers)
    assert found == pytest.approx([1.25, 0.0, 5.0], abs=1e-3)
    # a curb below the step height stops nobody
    assert freed((0.6, 0, 0), box((0, 0, 0), (2, 2, 0.4)), settings=walkers)[0] < 0.61


def test_it_is_looked_for_again_only_when_something_moves():
    goals, kiosk = FreeGoals(), box((0, 0, 0), (2, 4, 6))
    settings = solid_crowd()
    world = make_world(targets=[POINT], colliders=[kiosk])
    agents = place(settings, [[9.0, 0.0, 0.0]])
    first = goals.freed(world, agents, settings)
    known = goals._found[""]
    goals.freed(world, agents, settings)
    assert goals._found[""] is known
    elsewhere = replace(world, targets=make_world(targets=[(-0.3, 0.1, 0.0)]).targets)
    assert goals.freed(elsewhere, agents, settings).targets[""].position[0, 0] < -1.0
    assert first.targets[""].position[0, 0] > 1.0


def test_colliders_that_let_everybody_pass_leave_goals_alone():
    settings = solid_crowd(collide_colliders=False)
    assert freed(POINT, box((0, 0, 0), (2, 2, 2)), settings=settings) == pytest.approx(POINT)


def test_agents_stand_beside_the_collider_and_the_user_is_told_once():
    settings = solid_crowd("GROUND")
    world = make_world(targets=[[0.6, 0.0, 5.0]], colliders=[box((0, 0, 0.6), (2, 2, 1))])
    simulation = Simulation(settings, place(settings, [[6.0, 1.0, 0.0]]), frame=1, fps=24)
    assert simulation.warnings == []
    for _ in range(10 * 24):
        simulation.step(world)
    assert simulation.agents.arrived[0]
    assert simulation.agents.position[0, 0] == pytest.approx(1.25, abs=0.3)
    assert codes(simulation.warnings) == ["TARGET_INSIDE"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("motion", "direction"),
    often(product(("GROUND", "FLY"), (1, -1)), ("GROUND", 1), ("FLY", -1)),
)
def test_the_end_of_a_path_inside_of_a_collider_is_a_goal_beside_it(motion, direction):
    follow = REGISTRY["follow_path"](method="WAYPOINT", direction=direction)
    settings = replace(solid_crowd(motion, collide_agents=True), behaviors=(follow,))
    line = np.float32([[-6, 0, 0], [0, 0, 0], [6.0, 0.1, 0]])[::direction]
    path, loop = Path(line), Path(line + np.float32([0, 9, 0]), cyclic=True)
    world = make_world(paths=[loop, path], colliders=[box((6.5, 4, 0), (3, 14, 4))])
    start = np.float32([[-6, y, 0] for y in np.linspace(-1.5, 1.5, 5)])
    simulation = Simulation(settings, place(settings, start), frame=1, fps=24, world=world)
    assert simulation.warnings == []
    for _ in range(24 * 24):
        simulation.step(world)
    assert simulation.agents.arrived.all()
    assert np.linalg.norm(simulation.agents.position - [4.75, 0.1, 0], axis=1).max() < 2.0
    assert codes(simulation.warnings) == ["PATH_END_INSIDE"]

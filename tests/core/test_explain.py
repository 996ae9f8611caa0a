"""Explanations of turns: they match the solver's results, and the agents' perception."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from any_world import FPS, make_scene, settings_for, variants_in_turns
from crowdtools import box, crowd, place, simulation

from steer_addon.core import explain
from steer_addon.core.behaviors.arrive import Arrive
from steer_addon.core.behaviors.containment import Containment
from steer_addon.core.behaviors.flock import Cohesion, Separation
from steer_addon.core.behaviors.follow_path import FollowPath
from steer_addon.core.behaviors.obstacle_avoidance.behavior import ObstacleAvoidance
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.behaviors.wander import Wander
from steer_addon.core.crowd.settings import BodiesSettings
from steer_addon.core.errors import AgentError
from steer_addon.core.explain import shapes, tracing
from steer_addon.core.inputs.containers import make_container
from steer_addon.core.inputs.paths import Path
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.simulation import Simulation

DT = 1.0 / FPS


def of_role(part, role):
    return [shape for shape in part.looks if shape.role == role]


@variants_in_turns("GROUND", one_each=True)
def test_a_stored_frame_tells_what_its_next_step_did(entry, motion):
    settings = settings_for(entry, motion)
    scene = make_scene(3, settings)
    run = Simulation(settings, scene.agents, frame=1, fps=FPS)
    for _ in range(3):
        run.step(scene.start)
    stored, number = run.agents, run.frame - run.start_frame
    run.step(scene.start)
    answer = explain.ask(settings, stored, scene.start, DT, number=number)
    for told, done in zip(answer.proposals, run.proposals, strict=True):
        np.testing.assert_array_equal(told.value, done.value)
        np.testing.assert_array_equal(told.active, done.active)
    np.testing.assert_array_equal(answer.after.velocity, run.agents.velocity)
    # the plain kernel with the spies in it asks for the same as the compiled one
    seen = answer._living
    before = stored.memory.get(entry.key)
    width = entry.definition.memory_width
    memory = np.zeros((stored.count, width), np.float32) if before is None else before
    sees = seen.perception.local(entry, seen.sees)
    p = seen.perception.params(entry)
    for row in range(0, stored.count, 5):
        _, value = tracing.trace(entry, row, seen.view(entry), sees, p, memory)
        if len(value):
            np.testing.assert_allclose(value, answer.proposals[1].value[row], atol=1e-4)
        told = answer.agent(int(stored.id[row]), looks=True)
        for shape in told.parts[1].looks:
            lines = shape.segments()
            assert lines.shape[1:] == (2, 3)
            assert lines.dtype == np.float32
            assert np.isfinite(lines).all()
            assert shape.role in explain.ROLES


@pytest.mark.parametrize("combine", ["WEIGHTED_SUM", "PRIORITY"])
@pytest.mark.parametrize("solver", ["REYNOLDS", "VEX"])
def test_the_parts_add_up_to_what_the_agent_does(solver, combine):
    stack = (Seek(weight=0.7), Separation(weight=2.0), Wander(weight=0.2))
    settings = crowd(*stack, solver=solver, combine=combine, acc_weight=0.5)
    settings = replace(settings, bodies=BodiesSettings(collide_agents=False))
    agents = place(settings, [[0, 0, 0], [0.4, 0.1, 0], [9, 0, 0]], [[0.5, 0, 0]] * 3)
    agents.max_speed[:] = 50.0
    answer = explain.ask(settings, agents, make_world(targets=[[5, 5, 0]]), DT, number=0)
    change = answer.after.velocity - agents.velocity
    total = answer.parts.sum(axis=0)
    if solver == "VEX":
        expected = (total - agents.velocity) * (1.0 - 0.5 ** (24.0 * DT))
    else:
        tau = settings.solver.relaxation_time
        expected = total * DT / (tau * agents.mass[:, None])
    np.testing.assert_allclose(change, expected, atol=2e-5)
    np.testing.assert_allclose(answer.shares.sum(axis=0), 1.0, atol=1e-5)


def test_of_one_agent_everything_is_told():
    settings = crowd(Seek(), Cohesion(neighbor_distance=2.0, field_of_view=200.0))
    agents = place(settings, [[0, 0, 0], [1, 0, 0], [0, 9, 0]], [[1, 0, 0]] * 3, ids=[7, 12, 3])
    answer = explain.ask(settings, agents, make_world(targets=[[0, 5, 0]]), DT, number=0)
    told = answer.agent(7, looks=True)
    seek, cohesion = told.parts
    assert (seek.label, seek.group, seek.active) == ("Seek", "Goals", True)
    assert seek.speed == pytest.approx(float(agents.max_speed[0]))
    assert cohesion.neighbors == (12,)
    assert told.state["alive"] == 1.0
    assert told.turn > 0.0  # to the left, where the target is
    (way,) = of_role(seek, shapes.TARGET)
    np.testing.assert_allclose(way.segments(), [[[0, 0, 0], [0, 5, 0]]])
    (view,) = of_role(cohesion, shapes.PERCEPTION)
    assert (view.radius, view.angle) == (2.0, 200.0)
    (line,) = of_role(cohesion, shapes.NEIGHBOR)
    np.testing.assert_allclose(line.points[1], [1, 0, 0])
    with pytest.raises(AgentError, match="no agent 412: this crowd has the ids 3 to 12"):
        answer.agent(412)


def test_rays_end_where_they_hit():
    entry = ObstacleAvoidance(method="WHISKERS", look_ahead=4.0, samples=3, field_of_view=90.0)
    settings = crowd(entry)
    agents = place(settings, [[0, 0, 0]], [[1, 0, 0]])
    world = make_world(colliders=[box((3, 0, 0), (1, 1, 3))])
    (part,) = explain.ask(settings, agents, world, DT, number=0).agent(0, looks=True).parts
    hits = [s for s in of_role(part, shapes.HIT) if isinstance(s, shapes.Line)]
    assert len(hits) == 1
    np.testing.assert_allclose(hits[0].points[1][:2], [2.5, 0.0], atol=1e-6)
    free = of_role(part, shapes.RAY)
    reach = 4.0 + float(agents.radius[0])
    assert [float(np.linalg.norm(s.points[1] - s.points[0])) for s in free] == pytest.approx(
        [reach] * 2, abs=1e-5
    )


def test_wander_circle_path_and_container_are_where_the_behaviors_have_them():
    stack = (Wander(distance=3.0, radius=0.5), FollowPath(waypoint_radius=0.4), Containment())
    settings = crowd(*stack)
    agents = place(settings, [[0, 0, 0]], [[1, 0, 0]])
    world = make_world(
        paths=Path([[-1, 1, 0], [4, 1, 0], [4, 9, 0]]), containers=make_container((0, 0, 0), 8)
    )
    wander, path, region = (
        explain.ask(settings, agents, world, DT, number=0).agent(0, looks=True).parts
    )
    circle = next(s for s in of_role(wander, shapes.WANDER) if isinstance(s, shapes.Arc))
    np.testing.assert_allclose(circle.center, [3, 0, 0], atol=1e-6)
    toward = of_role(wander, shapes.WANDER)[-1].place
    # the behavior asks to go right to the point on the circle
    np.testing.assert_allclose(
        wander.value / wander.speed, toward / np.linalg.norm(toward), atol=1e-5
    )
    corner = next(s for s in of_role(path, shapes.PATH) if isinstance(s, shapes.Arc))
    np.testing.assert_allclose(corner.center, [4, 1, 0])
    (hull,) = of_role(region, shapes.REGION)
    assert hull.segments().min() == -8.0


def test_the_dead_are_asked_for_nothing():
    settings = replace(crowd(Arrive(), Separation()), bodies=BodiesSettings(on_arrival="LEAVE"))
    agents = place(settings, [[0, 0, 0], [5, 0, 0]])
    answer = explain.ask(settings, agents, make_world(targets=[[0, 0, 0]]), DT, number=0)
    gone, other = answer.agent(0, looks=True), answer.agent(1, looks=True)
    assert gone.state["alive"] == 0.0
    assert not any(part.active or part.looks for part in gone.parts)
    assert other.parts[0].active


def test_of_substeps_the_first_is_told():
    settings = crowd(Wander(), substeps=3)
    run = simulation(settings, [[0, 0, 0]], [[1, 0, 0]])
    run.step(make_world())
    once = crowd(Wander(), substeps=1)
    answer = explain.ask(settings, run.agents, make_world(), DT, number=1)
    single = explain.ask(once, run.agents, make_world(), DT / 3, number=3)
    np.testing.assert_array_equal(answer.proposals[0].value, single.proposals[0].value)

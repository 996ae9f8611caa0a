"""The dead take no part: whoever lives moves as though they had never been there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from crowdtools import box, crowd, place, same_bits, scatter

from steer_addon.core.behaviors import REGISTRY
from steer_addon.core.inputs.targets import Targets
from steer_addon.core.inputs.world import make_targets, make_world
from steer_addon.core.results.frames import targets_of
from steer_addon.core.step.simulation import Simulation
from steer_addon.core.step.solver import Solver

DEAD = [0, 3, 4, 11]
LIVING = [i for i in range(12) if i not in DEAD]


def stack(*types):
    return [REGISTRY[name]() for name in types]


def mortal(settings, count=12, dead=DEAD, **more):
    alive = np.ones(count)
    alive[dead] = 0.0
    given = more.pop("attributes", {})
    points = scatter(count, 4.0, flat=settings.motion.motion == "GROUND")
    return place(settings, points, attributes={"alive": alive, **given}, **more)


def own(agents):
    """The agents as targets of their own crowd."""
    up = np.tile(np.float32([0.0, 0.0, 1.0]), (agents.count, 1))
    return Targets(agents.position, agents.velocity, agents.heading, up, own=True)


def steps(settings, agents, world_of, count, first=0):
    for number in range(first, first + count):
        result = Solver(settings).step(agents, world_of(agents), 1 / 24, number=number)
        agents = result.agents
    return result


@pytest.mark.slow
@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_the_living_move_as_though_the_dead_were_not_there(motion):
    names = ("separation", "alignment", "cohesion", "wander", "pursue", "follow_leader")
    settings = crowd(*stack(*names), motion=motion, substeps=2)
    everybody = mortal(settings, attributes={"separation.strength": np.arange(12.0)})
    alone = everybody.taken(np.array(LIVING))

    def world(agents):
        return make_world(targets=own(agents), colliders=[box((3, 0, 0), (1, 1, 1))])

    together = steps(settings, everybody, world, 20)
    apart = steps(settings, alone, world, 20)
    assert same_bits(together.agents.taken(np.array(LIVING)), apart.agents)
    for wide, narrow in zip(together.proposals, apart.proposals, strict=True):
        assert np.array_equal(wide.value[LIVING], narrow.value)
        assert not wide.active[DEAD].any()


def test_the_dead_stay_where_they_are_and_stand():
    settings = crowd(*stack("seek", "wander"))
    agents = mortal(settings, velocity=np.ones((12, 3)))
    after = steps(settings, agents, lambda _: make_world(targets=[[9.0, 0.0, 0.0]]), 5).agents
    assert np.array_equal(after.position[DEAD], agents.position[DEAD])
    assert not after.velocity[DEAD].any()
    assert (after.position[LIVING] != agents.position[LIVING]).any(axis=1).all()


def test_a_crowd_of_the_dead_goes_on_without_an_error():
    settings = crowd(*stack("seek", "separation", "wander"))
    agents = mortal(settings, dead=range(12), attributes={"seek.weight": np.ones(12)})
    result = steps(settings, agents, lambda _: make_world(targets=[[9.0, 0.0, 0.0]]), 2)
    assert same_bits(agents, result.agents)
    assert not any(proposal.active.any() for proposal in result.proposals)


def test_another_crowd_steers_by_the_living_only():
    settings = crowd(*stack("seek"))
    hunted = Simulation(settings, mortal(settings), frame=1, fps=24).current()
    found = targets_of(hunted, "NEG_Y")
    assert np.array_equal(found.position, hunted.position[LIVING])
    # by number the next one that lives is meant: after 11 come 0, which is dead too, and 1
    hunters = place(settings, np.zeros((4, 3)), attributes={"target_index": [1, 3, 11, 13]})
    rows = found.choose(hunters, 0)
    assert [LIVING[row] for row in rows] == [1, 5, 1, 1]


def test_targets_that_are_all_dead_are_no_targets():
    found = make_targets(scatter(3, 1.0)).living(np.zeros(3, np.uint8))
    hunters = place(crowd(), np.zeros((2, 3)), attributes={"target_index": [-1, 1]})
    assert (found.choose(hunters, 0) == -1).all()


def test_a_frame_knows_who_is_dead_and_going_on_from_it_gives_the_same_bits():
    settings = crowd(*stack("cohesion", "wander", "seek"))
    world = make_world(targets=[[9.0, 0.0, 0.0]])
    whole = Simulation(settings, mortal(settings), frame=1, fps=24)
    for _ in range(4):
        frame = whole.step(world)
    resumed = whole.agents.copy()
    first = steps(settings, resumed, lambda _: world, 3, first=4).agents
    for _ in range(3):
        whole.step(world)
    assert same_bits(whole.agents, first)
    assert frame.alive.tolist() == [int(i in LIVING) for i in range(12)]


def test_who_dies_later_keeps_what_others_remember():
    settings = crowd(*stack("wander"))
    agents = steps(settings, mortal(settings, dead=[]), lambda _: make_world(), 5).agents
    alive = agents.alive.copy()
    alive[DEAD] = 0
    after = steps(settings, replace(agents, alive=alive), lambda _: make_world(), 1, first=5).agents
    whole = steps(settings, agents, lambda _: make_world(), 1, first=5).agents
    assert np.array_equal(after.memory["wander"][LIVING], whole.memory["wander"][LIVING])
    assert np.array_equal(after.memory["wander"][DEAD], agents.memory["wander"][DEAD])

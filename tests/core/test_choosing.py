"""Targets that agents draw, or that are assigned to them one to one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from crowdtools import crowd, place, run, same_bits, simulation

from steer_addon.core.behaviors.arrive import Arrive
from steer_addon.core.behaviors.match_velocity import MatchVelocity
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.compiled import jit
from steer_addon.core.errors import WorldError
from steer_addon.core.inputs.targets import make_targets, remembered_target
from steer_addon.core.inputs.world import World, make_world
from steer_addon.core.step.choosing import decided, lacking

MANY = 4000
CROWD = np.random.default_rng(3).uniform(-20, 20, (MANY, 3)) * [1, 1, 0]


def goals(count, weight=None, far=50.0):
    """Targets on a circle."""
    angle = np.arange(count) * 2.0 * math.pi / count
    points = np.stack([far * np.cos(angle), far * np.sin(angle), 0.0 * angle], axis=1)
    return make_targets(points, weight=weight)


def rows_of(entry, points, targets, seed=0, attributes=None, ids=None, before=None):
    """Rows of the targets that agents take at their first step, or after another one."""
    settings = crowd(entry, seed=seed)
    agents = before or place(settings, points, attributes=attributes, ids=ids)
    agents = decided(agents, World(targets={"": targets}), settings, 1 / 24, 0, seed)
    return targets.chosen(settings.stack[0], agents), agents


def within(found, share, count):
    """Whether a number of draws is within five standard deviations of the expected one."""
    return abs(found - share * count) <= 5.0 * math.sqrt(count * share * (1.0 - share))


@pytest.mark.parametrize("weight", [[1.0, 2.0, 5.0], [0.0, 3.0, 1.0], [8.0, 0.0, 0.0]])
def test_targets_are_drawn_as_often_as_their_weights_say(weight):
    rows, _ = rows_of(Seek(target_choice="BY_WEIGHT"), CROWD, goals(3, weight))
    for row, share in enumerate(np.array(weight) / np.sum(weight)):
        assert within((rows == row).sum(), share, MANY)


@pytest.mark.parametrize("choice", ["RANDOM", "BY_WEIGHT"])
def test_without_weights_all_are_drawn_as_often(choice):
    rows, _ = rows_of(Seek(target_choice=choice), CROWD, goals(4, None))
    assert all(within((rows == row).sum(), 0.25, MANY) for row in range(4))


def test_draws_go_by_seed_id_and_behavior():
    entry, targets = Seek(target_choice="RANDOM"), goals(5)
    rows, _ = rows_of(entry, CROWD, targets)
    order = np.random.default_rng(0).permutation(MANY)
    again, _ = rows_of(entry, CROWD[order], targets, ids=order)
    assert (again == rows[order]).all()
    others = [
        rows_of(entry, CROWD, targets, seed=1)[0],
        rows_of(Seek(name="other", target_choice="RANDOM"), CROWD, targets)[0],
    ]
    assert all(within((other == rows).sum(), 0.2, MANY) for other in others)


def test_who_loses_its_target_draws_again_and_others_keep_theirs():
    entry = Seek(target_choice="RANDOM")
    rows, agents = rows_of(entry, CROWD, goals(4))
    again, _ = rows_of(entry, CROWD, goals(3), before=agents)
    assert (again[rows < 3] == rows[rows < 3]).all()
    lost = again[rows == 3]
    assert all(within((lost == row).sum(), 1 / 3, len(lost)) for row in range(3))


def test_where_all_weights_are_zero_agents_stay_and_the_user_is_told():
    settings = crowd(Seek(target_choice="BY_WEIGHT"))
    sim = simulation(settings, CROWD[:5])
    sim.step(World(targets={"": goals(3, [0.0, 0.0, 0.0])}))
    assert not sim.agents.velocity.any()
    assert [(d.code, d.values["count"]) for d in sim.warnings] == [("NO_TARGET_WEIGHT", 5)]


def test_weights_that_are_no_weights_count_as_zero_or_are_refused():
    assert goals(4, [-1.0, np.nan, np.inf, 2.0]).weights.tolist() == [0.0, 0.0, 0.0, 2.0]
    for wrong in ([1.0], "heavy", [[1.0, 2.0]]):
        with pytest.raises(WorldError, match="weights"):
            goals(2, wrong)


def test_behaviors_that_go_nowhere_draw_too_and_never_themselves():
    settings = crowd(MatchVelocity(target_choice="RANDOM"))
    agents = place(settings, CROWD[:30])
    own = make_targets(agents.position, own=True)
    agents = decided(agents, World(targets={"": own}), settings, 0.1, 0, 0)
    rows = own.chosen(settings.stack[0], agents)
    assert (rows != np.arange(30)).all()
    assert len(set(rows)) > 10


ASSIGNED = Arrive(target_choice="ASSIGNED")


def held(sim):
    """Rows of the targets that a simulation's agents have."""
    return remembered_target(ASSIGNED, sim.agents)


def test_each_agent_has_a_target_of_its_own_and_keeps_it_when_targets_move():
    targets = goals(40).position
    sim = simulation(crowd(ASSIGNED), CROWD[:40])
    sim.step(make_world(targets=targets))
    first = held(sim)
    assert sorted(first) == list(range(40))
    # every other target is nearer to somebody else now
    for _ in range(5):
        sim.step(make_world(targets=-targets))
    assert (held(sim) == first).all()
    assert not sim.warnings


def test_agents_without_a_target_stay_and_the_user_is_told():
    sim = simulation(crowd(ASSIGNED), CROWD[:10])
    for _ in range(24):
        sim.step(make_world(targets=goals(7).position))
    rows = held(sim)
    left = rows < 0
    assert left.sum() == 3
    assert len(set(rows[~left])) == 7
    np.testing.assert_array_equal(sim.agents.position[left], CROWD[:10].astype(np.float32)[left])
    assert (sim.agents.speed[~left] > 0.5).all()
    (told,) = sim.warnings
    assert told.code == "TOO_FEW_TARGETS"
    assert str(told).startswith("3 agents have no target of their own for 'Arrive'")


def test_a_walking_agent_without_a_target_comes_to_a_halt():
    agents = place(crowd(ASSIGNED), [[0, 0, 0], [9, 9, 0]], velocity=[[0, 0, 0], [0, -1.4, 0]])
    sim = simulation(crowd(ASSIGNED), agents.position)
    sim.agents = agents
    for _ in range(48):
        sim.step(make_world(targets=[[0.5, 0, 0]]))
    assert sim.agents.speed[1] == 0.0
    assert sim.agents.position[1, 1] > 9.0 - 1.4 * 1.5


def test_the_best_subset_of_more_targets_than_agents():
    rows, _ = rows_of(ASSIGNED, [[0, 0, 0], [10, 0, 0]], make_targets(
        [[30, 0, 0], [10, 1, 0], [-20, 0, 0], [1, 0, 0]]))  # fmt: skip
    assert rows.tolist() == [3, 1]


def test_targets_of_the_dead_and_new_ones_go_to_those_without():
    sim = simulation(crowd(ASSIGNED), [[0, 0, 0], [1, 0, 0], [5, 0, 0]])
    sim.step(make_world(targets=[[0, 1, 0], [1, 1, 0]]))
    assert held(sim).tolist() == [0, 1, -1]
    sim.agents.alive[0] = 0
    sim.step(make_world(targets=[[0, 1, 0], [1, 1, 0]]))
    assert held(sim)[1:].tolist() == [1, 0]
    # one is gone, two are new
    sim.step(make_world(targets=[[0, 1, 0]]))
    assert held(sim)[1:].tolist() == [-1, 0]
    sim.step(make_world(targets=[[0, 1, 0], [9, 9, 0], [2, 1, 0]]))
    assert held(sim)[1:].tolist() == [2, 0]


def test_a_target_that_an_agent_has_by_target_index_is_not_free():
    index = [-1.0, 1.0, -1.0]
    rows, agents = rows_of(
        ASSIGNED, [[0, 0, 0], [5, 0, 0], [9, 0, 0]], goals(3), attributes={"target_index": index}
    )
    assert rows[1] == 1
    assert sorted(rows) == [0, 1, 2]
    assert not lacking(agents, [ASSIGNED])


def test_heights_do_not_count_for_walkers():
    points = [[0, 0, 0], [3, 0, 0]]
    targets = make_targets([[1, 0, 50], [4, 0, 0]])
    assert rows_of(ASSIGNED, points, targets)[0].tolist() == [0, 1]


def test_neither_order_nor_threads_nor_resuming_change_a_bit():
    settings, world = crowd(ASSIGNED), make_world(targets=goals(150).position)
    points, order = CROWD[:200], np.random.default_rng(5).permutation(200)
    whole = simulation(settings, points)
    for _ in range(8):
        whole.step(world)
    shuffled = simulation(settings, points[order])
    shuffled.agents = place(settings, points[order], ids=order)
    before = jit.set_threads(3)
    try:
        for _ in range(3):
            shuffled.step(world)
    finally:
        jit.set_threads(before)
    resumed = simulation(settings, points[order])
    resumed.agents, resumed.frame = shuffled.agents.copy(), shuffled.frame
    for _ in range(5):
        resumed.step(world)
    assert same_bits(whole.agents.taken(order), resumed.agents)


def test_no_targets_are_no_trouble():
    for choice in ("RANDOM", "BY_WEIGHT", "ASSIGNED", "IN_ORDER"):
        positions, _ = run(crowd(Seek(target_choice=choice)), CROWD[:3], 2, world=World())
        assert np.isfinite(positions).all()

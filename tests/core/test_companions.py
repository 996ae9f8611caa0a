"""Who walks with whom: groups by shares and nearness, by numbers, and as agents come and go."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from crowdtools import crowd, place, same_bits, scatter, simulation
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st

from steer_addon.core.behaviors.avoid_neighbors import AvoidNeighbors
from steer_addon.core.behaviors.keep_together import KeepTogether
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.compiled import jit
from steer_addon.core.crowd.settings import BodiesSettings
from steer_addon.core.errors import AgentError, ParameterError
from steer_addon.core.explain.explanation import ask
from steer_addon.core.inputs.companions import find
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.simulation import Simulation

WORLD = make_world(targets=[[0.0, 300.0, 0.0]])


def numbers(positions, *, seed=0, world=WORLD, more=None, **told):
    """Number of each agent's group after the first step."""
    settings = crowd(KeepTogether(**told), Seek(), seed=seed)
    sim = simulation(settings, positions, **(more or {}))
    sim.step(world)
    return sim.agents.memory["keep_together"][:, 0].astype(int)


def sizes(group):
    """How many agents are in groups of each size."""
    count = Counter(group.tolist())
    return Counter(count[number] for number in group.tolist())


@pytest.mark.parametrize(
    "shares", [(0.3, 0.4, 0.2, 0.1), (0.0, 1.0, 0.0, 0.0), (1.0, 2.0, 3.0, 4.0)]
)
def test_a_large_crowd_has_the_shares_of_each_size(shares):
    names = ("alone_share", "pair_share", "three_share", "four_share")
    found = sizes(numbers(scatter(4000, 80.0), **dict(zip(names, shares, strict=True))))
    for size, share in enumerate(shares, 1):
        assert found[size] / 4000 == pytest.approx(share / sum(shares), abs=0.02)


def test_seven_in_ten_walk_in_groups_by_default():
    assert sizes(numbers(scatter(2000, 60.0)))[1] / 2000 == pytest.approx(0.3, abs=0.01)


def test_members_start_near_one_another_and_wish_the_same_way():
    positions = scatter(600, 40.0)
    targets = make_world(targets=[[300.0, 0, 0], [-300.0, 0, 0]])
    side = np.arange(600) % 2
    group = numbers(positions, world=targets, more={"attributes": {"target_index": side}})
    for number in set(group.tolist()):
        members = np.flatnonzero(group == number)
        assert len(set(side[members].tolist())) == 1
        apart = np.linalg.norm(positions[members, None] - positions[None, members], axis=2)
        assert apart.max() < 10.0
        assert len(members) == 1 or np.sort(apart, axis=1)[:, 1].max() < 5.0


def test_who_is_far_from_all_others_walks_alone():
    positions = np.arange(30)[:, None] * [6.0, 0.0, 0.0]
    assert sizes(numbers(positions, pair_share=1.0, alone_share=0.0)) == {1: 30}


def test_another_seed_makes_other_groups():
    positions = scatter(100, 12.0)
    first, again, other = (numbers(positions, seed=seed) for seed in (1, 1, 2))
    assert (first == again).all() and (first != other).any()


def test_equal_numbers_walk_together_and_nought_is_alone():
    group = [4, 0, 4, 0, -1, -1, 16_777_216, 7, 16_777_216]
    agents = place(crowd(), scatter(9, 3.0), attributes={"group_id": group})
    view = find(KeepTogether(pair_share=1, alone_share=0), agents, None, agents.velocity, 0)
    held = view.group.tolist()
    assert held[0] == held[2] and held[4] == held[5] and held[6] == held[8]
    assert len(set(held)) == 6
    assert view.number[[0, 1, 2, 3, 6, 7, 8]].max() == 0.0 and view.number[4] > 0.0
    for number, total in enumerate(view.total):
        members = view.member[view.first[number] : view.first[number + 1]]
        assert (view.group[members] == number).all()
        assert total == pytest.approx(agents.position[members].sum(axis=0), abs=1e-5)


def test_a_group_of_the_whole_crowd_comes_together():
    positions = scatter(1000, 60.0)
    settings = crowd(KeepTogether(group_id=1), Seek(), AvoidNeighbors(), agents={"max_speed": 1.3})
    sim = simulation(settings, positions)
    for _ in range(24):
        sim.step(WORLD)
    assert np.isfinite(sim.agents.position).all()
    middle = sim.agents.position.mean(axis=0)
    before = np.linalg.norm(positions - positions.mean(axis=0), axis=1).mean()
    assert np.linalg.norm(sim.agents.position - middle, axis=1).mean() < before


def test_shares_that_are_all_nought_leave_everybody_alone():
    group = numbers(
        scatter(50, 5.0), alone_share=0.0, pair_share=0.0, three_share=0.0, four_share=0.0
    )
    assert sizes(group) == {1: 50}


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_small_crowds_have_groups_too(count):
    found = {tuple(sorted(sizes(numbers(scatter(count, 2.0), seed=s)).items())) for s in range(30)}
    assert sum(dict(next(iter(found))).values()) == count
    assert (len(found) > 1) == (count > 1)  # by lot


def test_bad_numbers_are_refused_with_what_to_give():
    for bad in (-0.1, float("nan"), float("inf"), 2000.0):
        with pytest.raises(ParameterError, match=r"keep_together.pair_share is .*give"):
            KeepTogether(pair_share=bad)
    with pytest.raises(ParameterError, match="group_id"):
        KeepTogether(group_id=-2)
    with pytest.raises(AgentError, match="group_id.*not finite"):
        place(crowd(), scatter(2, 1.0), attributes={"group_id": [1.0, np.nan]})


@profile(max_examples=20, deadline=None)
@given(st.lists(st.floats(-1e30, 1e30), min_size=3, max_size=3))
def test_any_numbers_give_finite_motion(group):
    sim = simulation(crowd(KeepTogether(), Seek()), scatter(3, 2.0), attributes={"group_id": group})
    for _ in range(3):
        sim.step(WORLD)
    assert np.isfinite(sim.agents.position).all() and np.isfinite(sim.agents.velocity).all()


def test_a_group_goes_on_with_those_who_are_left():
    """Three start; the middle one is gone after a second, and two close the gap."""
    settings = crowd(KeepTogether(), Seek(), agents={"max_speed": 1.3})
    positions, attributes = [[0, 0, 0], [0.8, 0, 0], [1.6, 0, 0]], {"group_id": [3, 3, 3]}
    sim = simulation(settings, positions, attributes=attributes)
    for step in range(240):
        if step == 24:
            sim.agents.alive[1] = 0
        sim.step(WORLD)
    left = sim.agents.position[[0, 2]]
    assert np.linalg.norm(left[1] - left[0]) == pytest.approx(0.8, abs=0.05)
    assert sim.agents.velocity[0, 1] == pytest.approx(0.95 * 1.3, abs=0.02)


def test_formed_groups_are_kept_when_others_leave():
    settings = crowd(KeepTogether(), Seek())
    sim = simulation(settings, scatter(40, 8.0))
    sim.step(WORLD)
    before = sim.agents.memory["keep_together"][:, 0].copy()
    sim.agents.alive[::3] = 0
    sim.step(WORLD)
    assert (sim.agents.memory["keep_together"][:, 0] == before).all()


def busy(count=80, order=None):
    """A crowd that meets, with and without numbers of its own."""
    rng = np.random.default_rng(3)
    bodies = BodiesSettings(collide_agents=True, collide_colliders=True)
    settings = crowd(KeepTogether(), Seek(), AvoidNeighbors(), relaxation_time=0.2)
    rows = np.arange(count) if order is None else order
    attributes = {
        "target_index": (np.arange(count) % 2)[rows],
        "group_id": np.where(np.arange(count) % 7 == 0, np.arange(count) // 28, -1)[rows],
    }
    agents = place(
        settings, scatter(count, 14.0)[rows], attributes=attributes,
        ids=rng.permutation(5 * count)[:count][rows],
    )  # fmt: skip
    return replace(settings, bodies=bodies), agents


BOTH_WAYS = make_world(targets=[[40.0, 0, 0], [-40.0, 0, 0]])


def test_resuming_mid_way_changes_no_bit():
    settings, agents = busy()
    whole = Simulation(settings, agents, frame=1, fps=24.0)
    for step in range(60):
        if step == 30:
            resumed = Simulation(settings, agents, frame=1, fps=24.0)
            resumed.agents, resumed.frame = whole.agents.copy(), whole.frame
        whole.step(BOTH_WAYS)
    for _ in range(30):
        resumed.step(BOTH_WAYS)
    assert same_bits(whole.agents, resumed.agents)


def test_the_order_of_agents_changes_no_bit():
    order = np.random.default_rng(9).permutation(80)
    found = []
    for rows in (None, order):
        sim = Simulation(*busy(order=rows), frame=1, fps=24.0)
        for _ in range(48):
            sim.step(BOTH_WAYS)
        found.append(sim.agents.position)
    assert np.array_equal(found[0][order], found[1])


@pytest.mark.slow
def test_the_number_of_threads_changes_no_bit():
    if not jit.status().compiled:
        pytest.skip("kernels that run uncompiled use one thread")
    found = []
    for threads in (1, 3):
        jit.set_threads(threads)
        sim = Simulation(*busy(3 * jit.CHUNK + 50), frame=1, fps=24.0)
        for _ in range(3):
            sim.step(BOTH_WAYS)
        found.append(sim.agents)
    assert same_bits(*found)


def test_the_overlay_shows_the_companions():
    settings = crowd(KeepTogether(), Seek(), AvoidNeighbors())
    agents = place(settings, scatter(4, 3.0), attributes={"group_id": [2, 2, 0, 2]})
    answer = ask(settings, agents, WORLD, 1 / 24, 0)
    looks = answer.agent(0, looks=True).parts[0].looks
    ends = [shape.points[1] for shape in looks if hasattr(shape, "points")]
    assert np.allclose(sorted(map(tuple, ends)), sorted(map(tuple, agents.position[[1, 3]])))
    assert not answer.agent(2, looks=True).parts[0].looks

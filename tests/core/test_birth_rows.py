"""Births: who is gone, what is left of whom in rows that are used again, and the same bits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from steer_addon.core.compiled import jit
from steer_addon.core.inputs.emitters import joined, make_emitter
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.simulation import Taking, advance_together
from steer_addon.core.step.together import everyone

from .birthtools import LEAVING, begun, born_at, least_gap, square, told, world_of
from .crowdtools import box


def test_points_say_when_they_are_born_and_gone():
    how = told("NONE")
    times = {"birth": np.array([1.0, 5.0, 9.0]), "death": np.array([4.0, 100.0, 12.0])}
    velocity = np.array([[0, 0, 0], [0.5, 0, 0], [0, 0, 0]], np.float32)
    world = make_world()
    points = [[0, 0, 0], [5, 0, 0], [9, 0, 0]]
    this = begun(how, world, points=points, attributes=times, velocity=velocity)
    seen = {1: this.current().alive.tolist()}
    for _ in range(14):
        frame = this.step(world)
        seen[frame.number] = frame.alive.tolist()
        if frame.number == 5:
            assert frame.velocity[1] == pytest.approx([0.5, 0, 0])
    for number, alive in seen.items():
        assert alive == [number < 4, number >= 5, 9 <= number < 12]


def test_frames_may_be_negative():
    how = told(rate=24.0, first_frame=-40, last_frame=-20)
    world = world_of(square())
    times = {"birth": np.array([-45.0])}
    this = begun(how, world, points=[[9, 9, 0]], frame=-50, attributes=times)
    born = [this.step(world).alive.sum() for _ in range(20)]
    assert born[:4] == [0, 0, 0, 0]
    assert born[4:9] == [1] * 5
    assert born[-1] > 8


def test_a_point_waits_for_room():
    how = told("NONE", stack=[{"type": "seek"}])
    world = make_world(targets=[[0, 0, 0]])
    points = [[0, 0, 0], [0.1, 0, 0]]
    this = begun(how, world, points=points, attributes={"birth": np.array([0.0, 3.0])})
    for _ in range(20):
        assert this.step(world).alive.tolist() == [1, 0]
    elsewhere = make_world(targets=[[9, 0, 0]])
    for _ in range(40):
        frame = this.step(elsewhere)
    assert frame.alive.tolist() == [1, 1]
    assert least_gap(frame) >= -1e-5


def test_lifetimes_end():
    how = told("BURSTS", number=50, interval=0.0, lifetime=1.0, lifetime_spread=0.5)
    counts = born_at(how, steps=60)
    alive_at = {k + 1: n for k, n in enumerate(counts)}
    assert alive_at[2] == 50
    # born at frame 2: between 12 and 36 frames later
    assert alive_at[2 + 11] == 50
    assert 0 < alive_at[2 + 24] < 50
    assert alive_at[2 + 37] == 0
    own = begun(told("NONE", lifetime=0.5), make_world(), points=[[0, 0, 0]])
    alive = [int(own.step(make_world()).alive.sum()) for _ in range(14)]
    assert alive == [1] * 11 + [0] * 3


def test_volumes_take_agents_away():
    how = told("NONE", stack=[{"type": "seek"}])
    world = make_world(targets=[[9, 0, 0]], exits=[box((5, 0, 1), (2, 4, 4))])
    this = begun(how, world, points=[[0, 0, 0], [0, 1, 0]])
    for _ in range(200):
        frame = this.step(world)
        assert (frame.position[frame.alive != 0][:, 0] < 4.0).all()
    assert frame.alive.sum() == 0
    assert (frame.position[:, 0] < 4.1).all()
    assert not frame.velocity.any()


def test_rows_are_used_again_with_new_ids():
    world = world_of(square(), target=(8, 2, 0))
    this = begun(told(rate=6.0, capacity=24, **LEAVING), world, points=[[1, 9, 0]])
    frames = [this.current()]
    lived: dict[int, list[int]] = {}
    for _ in range(650):
        frames.append(this.step(world))
    for frame in frames:
        assert len(np.unique(frame.id)) == len(frame.id) == 25
        for number in frame.id[frame.alive != 0]:
            lived.setdefault(int(number), []).append(frame.number)
    assert len(lived) > 100
    for numbers in lived.values():
        # nobody comes back
        assert numbers == list(range(numbers[0], numbers[-1] + 1))
    for before, after in pairwise(frames):
        changed = before.id != after.id
        # who was there is gone for a frame before, and who comes waits at its place for one
        assert not (changed & ((before.alive | after.alive) != 0)).any()
        born = (before.alive == 0) & (after.alive != 0)
        assert (before.id[born] == after.id[born]).all()
        gone = (before.alive != 0) & (after.alive == 0)
        assert not after.velocity[gone].any()


def test_an_agent_remembers_nothing_of_the_one_before_it():
    stack = [{"type": "wander"}, {"type": "seek", "target_choice": "RANDOM"}]
    how = told(rate=6.0, capacity=3, stack=stack, lifetime=0.5)
    world = make_world(targets=[[40, 2, 0], [-40, 2, 0]], emitters=joined([square()]))
    this = begun(how, world)
    seen = 0
    for _ in range(200):
        before = this.agents
        this.step(world)
        new = (before.alive == 0) & (this.agents.alive != 0) & (this.agents.id >= 3)
        seen += int(new.sum())
        for key in this.agents.memory.keys() - {"a birth"}:
            assert not this.agents.memory[key][new].any()
    assert seen > 10


@pytest.mark.parametrize("steps", [240, pytest.param(10_000, marks=pytest.mark.long)])
def test_the_living_the_born_and_the_gone_add_up(steps):
    world = world_of(square(), target=(8, 2, 0))
    points = [[1, 9, 0], [2, 9, 0]]
    this = begun(told(rate=4.0, capacity=40, **LEAVING), world, points=points)
    started, sizes, alive_before = 2, set(), 2
    born = gone = 0
    for _ in range(steps):
        before = dict(zip(this.agents.id.tolist(), this.agents.alive.tolist(), strict=True))
        this.advance(world)
        living = this.agents.id[this.agents.alive != 0].tolist()
        born += sum(before.get(number, 0) == 0 for number in living)
        gone += sum(alive and number not in set(living) for number, alive in before.items())
        tally = this.tally
        assert (tally.alive, tally.born, tally.gone) == (len(living), born, gone)
        assert started + born - gone == tally.alive
        arrays = [*vars(this.agents).values(), *this.agents.memory.values()]
        sizes.add(sum(a.nbytes for a in arrays if isinstance(a, np.ndarray)))
        alive_before = tally.alive
    assert alive_before <= 42
    # the memories of behaviors come with their first step
    assert len(sizes) <= 3
    assert born > steps / 24 * 3


def columns(this):
    agents = this.agents
    return [agents.id, agents.position, agents.velocity, agents.heading, agents.alive]


def same(one, two):
    return all(np.array_equal(a, b) for a, b in zip(columns(one), columns(two), strict=True))


def test_going_on_from_any_frame_gives_the_same_bits():
    how = told(rate=8.0, capacity=30, **LEAVING)
    world = world_of(square(), target=(8, 2, 0))
    whole = begun(how, world, points=[[1, 9, 0]])
    saved = {}
    for k in range(120):
        whole.step(world)
        if k in (0, 17, 60):
            saved[k] = whole.agents.copy()
    for k, agents in saved.items():
        rest = begun(how, world, points=[[1, 9, 0]])
        for _ in range(k + 1):
            rest.skip(world)
        rest.adopt(agents)
        for _ in range(119 - k):
            rest.step(world)
        assert same(whole, rest)


def test_threads_and_the_order_of_crowds_do_not_matter():
    how, other = told(rate=20.0, **LEAVING), told(rate=20.0, seed=3, **LEAVING)
    world = world_of(square())

    def ran(threads, turned):
        jit.set_threads(threads)
        crowds = [begun(how, world), begun(other, world)]
        for _ in range(60):
            takings = [Taking(crowd, world) for crowd in crowds]
            advance_together(takings[::-1] if turned else takings, everyone(2))
        return crowds

    first = ran(1, turned=False)
    for threads, turned in ((2, False), (1, True)):
        again = ran(threads, turned)
        assert all(same(a, b) for a, b in zip(first, again, strict=True))


TOGETHER = [{"type": "seek"}, {"type": "keep_together"}]


@pytest.mark.slow
def test_people_who_walk_together_are_born_together():
    how = told(rate=6.0, capacity=300, stack=TOGETHER)
    wide = joined([make_emitter([[[0, -200, 0], [0, 200, 0]]], ahead=[1, 0, 0])])
    world = make_world(targets=[[900, 0, 0]], emitters=wide)
    this = begun(how, world)
    for _ in range(900):
        this.step(world)
    group = this.agents.memory["keep_together"][:, 0]
    alive = this.agents.alive != 0
    assert (group[alive] < 0).all()
    numbers, whose, sizes = np.unique(group[alive], return_inverse=True, return_counts=True)
    shares = np.bincount(sizes[whose], minlength=5)[1:] / alive.sum()
    # the last group may not be there as a whole
    assert np.abs(shares - [0.3, 0.4, 0.2, 0.1]).max() < 0.1
    place = this.agents.position[alive].astype(float)
    for k in range(len(numbers)):
        mine = place[whose == k]
        # beside one another on a line of 400 m
        assert np.ptp(mine[:, 1]) < 3.0
        assert np.ptp(mine[:, 0]) < 4.0

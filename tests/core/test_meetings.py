"""Whether bodies of two crowds overlap."""

from __future__ import annotations

import numpy as np
import pytest

from steer_addon.core.agents import make_agents
from steer_addon.core.crowd.settings import MotionSettings
from steer_addon.core.results import meetings
from steer_addon.core.results.frames import make_frame
from steer_addon.core.results.meetings import box, come_near, overlap


def frame(points, radius=0.25, **attributes):
    sizes = np.broadcast_to(radius, len(points))
    body = {"radius": 1.0, "mass": 70.0, "max_speed": 1.0, "max_force": 1.0}
    agents = make_agents(points, attributes={"radius": sizes, **attributes}, **body)
    return make_frame(1, agents, MotionSettings())


@pytest.mark.parametrize(("gap", "expected"), [(0.49, True), (0.51, False)])
def test_bodies_overlap_when_they_are_nearer_than_their_radii(gap, expected):
    a = frame([(0, 0, 0), (5, 5, 0)])
    assert overlap(a, frame([(9, 9, 0), (gap, 0, 0)])) is expected
    assert overlap(a, frame([(9, 9, 0), (0, 0, gap)])) is expected


@pytest.mark.parametrize("seed", range(6))
def test_the_answer_is_that_of_all_pairs(seed):
    rng = np.random.default_rng(seed)
    p, q = rng.uniform(-20, 20, (2, 60 + 100 * seed, 3)) * (1, 1, 0.1)
    r, s = rng.uniform(0.05, 0.3, (2, len(p))).astype(np.float32)
    apart = np.linalg.norm(p.astype(np.float32)[:, None] - q.astype(np.float32), axis=2)
    expected = bool((apart < r[:, None] + s).any())
    assert overlap(frame(p, radius=r), frame(q, radius=s)) is expected


def test_the_dead_and_those_without_a_size_meet_nobody():
    a, b = [(0, 0, 0)], [(0.1, 0, 0)]
    assert not overlap(frame(a, alive=[0.0]), frame(b))
    assert not overlap(frame(a, 0.0), frame(b, 0.0))
    assert overlap(frame(a, 0.0), frame(b))


def test_a_large_body_reaches_far():
    few = frame([(0, 0, 0), (100, 0, 0)], radius=0.1)
    assert overlap(few, frame([(3.0, 0, 0), (200, 0, 0)], radius=[3.2, 0.1]))


@pytest.mark.parametrize("seed", range(4))
def test_the_answer_is_that_of_all_pairs_with_a_few_giants(seed, monkeypatch):
    monkeypatch.setattr(meetings, "_BLOCK", 7)
    rng = np.random.default_rng(seed)
    p, q = rng.uniform(-30, 30, (2, 80, 3)) * (1, 1, 0.2)
    r, s = rng.uniform(0.05, 0.2, (2, 80)).astype(np.float32)
    r[:2] = s[-3:] = 3.0 - 0.5 * seed
    apart = np.linalg.norm(p.astype(np.float32)[:, None] - q.astype(np.float32), axis=2)
    expected = bool((apart < r[:, None] + s).any())
    assert overlap(frame(p, radius=r), frame(q, radius=s)) is expected
    assert overlap(frame(q, radius=s), frame(p, radius=r)) is expected


def test_a_giant_costs_no_more_pairs_than_there_are_bodies(monkeypatch):
    grid = np.stack(np.meshgrid(np.arange(40), np.arange(40), [0]), axis=-1).reshape(-1, 3) * 1.2
    giant = np.vstack([grid, [(24, 24, 25)]])
    a, b = frame(giant, radius=[0.25] * 1600 + [20.0]), frame(grid + 0.6)
    compared, repeat = [], np.repeat
    monkeypatch.setattr(
        np, "repeat", lambda what, by: compared.append(by.sum()) or repeat(what, by)
    )
    assert not overlap(a, b)
    assert sum(compared) < 20 * len(grid)


def test_crowds_come_near_when_the_boxes_around_them_overlap():
    a, b, c = (box(frame([(x, 0, 0)])) for x in (0.0, 0.4, 2.0))
    assert come_near(a, b) and come_near(b, a)
    assert not come_near(a, c) and not come_near(c, a)


def test_some_bodies_are_others_at_each_turn_and_all_in_the_end():
    row = frame([(2.0 * x, 0, 0) for x in range(10)])
    for x in range(10):
        one = frame([(2.0 * x, 0, 0)])
        assert [overlap(row, one, turn=turn, most=4) for turn in range(3)].count(True) == 1
        assert overlap(row, one, turn=7, most=10)

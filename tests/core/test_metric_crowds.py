"""Overlaps and collisions between crowds, against what can be told by hand."""

from __future__ import annotations

import numpy as np
import pytest

from steer_addon.core.results.metric_crowds import Bodies, Encounters
from steer_addon.core.results.metrics import Metrics

ALL = np.ones((3, 3), bool)


def crowd(*places, radius=0.25, height=0.0, alive=None):
    position = np.array(places, np.float32).reshape(-1, 3)
    count = len(position)
    there = np.ones(count, np.uint8) if alive is None else np.array(alive, np.uint8)
    return Bodies(position, np.full(count, radius, np.float32), there, height)


def met(*steps, touches=ALL):
    found = Encounters(touches)
    for bodies in steps:
        found.add(dict(enumerate(bodies)))
    return found


FAR = (50.0, 0.0, 0.0)


def test_overlap_and_collisions_of_a_pair_are_in_both_reports_and_no_other():
    gap = crowd((0, 0, 0), (9, 0, 0)), crowd((2, 0, 0), (12, 0, 0)), crowd(FAR)
    touch = crowd((0, 0, 0), (9, 0, 0)), crowd((0.4, 0, 0), (9.3, 0, 0)), crowd(FAR)
    found = met(gap, touch, touch, gap, touch)
    for number, other in ((0, 1), (1, 0)):
        pair = found.of(number)
        assert pair[other].overlap == pytest.approx(0.2 / 0.5, rel=1e-5)
        assert pair[other].collisions == 4
        assert (pair[2].overlap, pair[2].collisions) == (0.0, 0)
        told = found.touched(number)
        np.testing.assert_allclose(told.overlap, [0.1 / 0.5, 0.2 / 0.5], rtol=1e-4)
        assert told.collisions.tolist() == [2, 2]
    assert found.touched(2).overlap.tolist() == [0.0]


def test_two_crowds_count_as_one_crowd_of_all_does():
    rng = np.random.default_rng(3)
    start = 4.0 * np.stack([np.arange(60) % 8, np.arange(60) // 8, np.zeros(60)], axis=1)
    ways = [rng.uniform(0, 9, (60, 3)) * [1, 1, 0] for _ in range(12)]
    one = Metrics(start, radius=0.3, wished_speed=1.0, dt=0.1)
    halves = [Metrics(start[k::2], radius=0.3, wished_speed=1.0, dt=0.1) for k in (0, 1)]
    found = met([crowd(start[0::2], radius=0.3), crowd(start[1::2], radius=0.3)])
    for place in ways:
        there = {"alive": np.ones(60, bool), "arrived": np.zeros(60, bool)}
        one.add(place, **there)
        for k in (0, 1):
            halves[k].add(place[k::2], **{name: value[k::2] for name, value in there.items()})
        found.add({k: crowd(place[k::2], radius=0.3) for k in (0, 1)})
    whole = one.figures()
    parts = [halves[k].figures(found.touched(k)) for k in (0, 1)]
    alone = [half.figures() for half in halves]
    assert whole.collisions > 1.0
    assert whole.overlap == max(part.overlap for part in parts)
    assert whole.collisions == pytest.approx(np.mean([part.collisions for part in parts]))
    assert sum(part.score for part in parts) > sum(part.score for part in alone)


def test_ghosts_do_not_touch():
    touches = ~np.eye(2, dtype=bool) & False
    here = crowd((0, 0, 0)), crowd((0.1, 0, 0))
    found = met((crowd((0, 0, 0)), crowd(FAR)), here, touches=touches)
    assert found.of(0) == {} and found.touched(0).overlap.tolist() == [0.0]


def test_the_dead_touch_nobody():
    found = met((crowd((0, 0, 0)), crowd(FAR)), (crowd((0, 0, 0)), crowd((0.1, 0, 0), alive=[0])))
    assert found.of(0)[1].overlap == 0.0


def test_what_overlaps_from_the_start_counts_when_it_gets_deeper():
    begun = crowd((0, 0, 0)), crowd((0.4, 0, 0))
    assert met(begun, begun).of(0)[1].overlap == 0.0
    deeper = met(begun, (crowd((0, 0, 0)), crowd((0.3, 0, 0))))
    assert deeper.of(0)[1].overlap == pytest.approx(0.4, rel=1e-5)


@pytest.mark.parametrize(
    ("height", "share"),
    [(-0.6, 0.0), (-0.3, 0.4), (0.0, 1.0), (1.1, 1.0), (1.8, 1.0), (2.0, 0.6), (2.4, 0.0)],
)
def test_walkers_are_upright_for_flyers(height, share):
    """A flyer above the feet of one who is 1.8 m tall: it touches the nearest point of the body."""
    here = crowd((0, 0, 0), height=1.8), crowd((0, 0, height))
    found = met((crowd((0, 0, 0), height=1.8), crowd(FAR)), here)
    assert found.of(0)[1].overlap == pytest.approx(share, abs=1e-5)
    assert found.of(1)[0].overlap == pytest.approx(share, abs=1e-5)


def test_walkers_on_two_floors_do_not_touch():
    tall = [crowd((0, 0, z), height=1.8) for z in (0.0, 3.0)]
    found = met((*tall, crowd(FAR)), (*tall, crowd((0.3, 0, 4.9))))
    assert found.of(0)[1].overlap == 0.0 and found.of(0)[2].overlap == 0.0
    assert found.of(1)[2].overlap == pytest.approx(1.0 - np.hypot(0.3, 0.1) / 0.5, rel=1e-4)


def test_a_crowd_that_appears_later_counts_from_there():
    found = Encounters(ALL)
    found.add({0: crowd((0, 0, 0))})
    found.add({0: crowd((0, 0, 0)), 1: crowd((0.4, 0, 0))})
    assert found.of(0)[1].overlap == 0.0 and found.touched(2) is None and found.of(2) == {}
    found.add({0: crowd((0, 0, 0)), 1: crowd((5, 0, 0))})
    found.add({0: crowd((0, 0, 0)), 1: crowd((0.4, 0, 0))})
    assert found.of(1)[0].overlap == pytest.approx(0.2, rel=1e-4)

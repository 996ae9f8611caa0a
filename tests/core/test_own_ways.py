"""Where many agents have goals of their own, each keeps its way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import way_scenes as scenes
from waytools import RADIUS, SHAPE, Walk, blocks_of, led

from steer_addon.core.compiled import jit
from steer_addon.core.inputs.targets import make_targets
from steer_addon.core.ways import ways
from steer_addon.core.ways.corners import single
from steer_addon.core.ways.own import COUNT, WIDTH
from steer_addon.core.ways.ways import Ways
from tests.often import often

MANY, FEW = 80, 20
SOON = ("AROUND", 150), ("QUICKEST", 60)
"""Settings, and frames before and after resuming: QUICKEST looks at people every 48 frames."""


def lead(scene, starts, goals, kept=None, ways=None):
    """Where agents head for, each to its own goal, how long their ways are, and what they keep."""
    n = len(starts)
    told = starts.astype(np.float32), np.zeros(n, np.int64), np.full(n, RADIUS, np.float32)
    options = blocks_of(scene), goals.astype(np.float32), np.arange(n)
    via, rest, kept = (ways or Ways()).lead(SHAPE, *options, told, None, kept)
    return via, rest + np.linalg.norm(via - starts, axis=1), kept


def walk_to_each(scene, starts, goals, setting, *overrides) -> Walk:
    """People who go each to its own goal."""
    walk = Walk(scene, starts, goals[0], setting, *overrides)
    walk._base = replace(walk._base, targets={"": make_targets(goals)})
    walk.simulation.agents.target_index[:] = np.arange(len(goals))
    return walk


def who_look(monkeypatch) -> list[int]:
    """The rows of all agents that look for a way from now on, one after the other."""
    rows, find = [], single.Singles._find
    monkeypatch.setattr(
        single.Singles, "_find", lambda self, looks, *a: rows.extend(looks) or find(self, looks, *a)
    )
    return rows


def inside_fence(scene):
    """A scene whose floor ends at the fence: a strip outside of it would have many corners."""
    west, east, south, north = scene.outlines[-4:]
    low, high = (west[:, 0].max(), south[:, 1].max()), (east[:, 0].min(), north[:, 1].min())
    return replace(scene, ground=scenes.floor(*low, *high))


@pytest.fixture(scope="module")
def town():
    scene = inside_fence(scenes.random_blocks(4))
    places = scenes.free_places(scene, 2.0 * RADIUS, 2 * MANY, 5)
    return scene, places[:MANY], places[MANY:]


@pytest.mark.slow
def test_own_ways_are_as_long_as_those_of_fields(town):
    scene, starts, goals = town
    _via, own, kept = lead(scene, starts, goals)
    assert kept.shape == (MANY, WIDTH)
    ways = Ways()
    fields = [led(scene, starts[k], goals[k], ways=ways)[1][0] for k in range(0, MANY, 8)]
    assert own[::8] == pytest.approx(fields, rel=0.01)


def test_what_is_kept_is_searched_once(town, monkeypatch):
    scene, starts, goals = town
    asked = who_look(monkeypatch)
    ways = Ways()
    via, length, kept = lead(scene, starts, goals, ways=ways)
    first = len(asked)
    assert 0 < first <= MANY
    again, shorter, same = lead(scene, starts, goals, kept, ways)
    assert len(asked) == first
    # corners near an agent that sees the one after are dropped, and nothing else changes
    dropped = same[:, COUNT] < kept[:, COUNT]
    assert np.array_equal(again[~dropped], via[~dropped])
    assert np.array_equal(same[~dropped], kept[~dropped])
    assert (shorter <= length + 1e-3).all() and dropped.sum() <= MANY // 20
    third, _length, kept = lead(scene, starts, goals, same, ways)
    assert np.array_equal(third, again) and np.array_equal(kept, same)
    # a goal that moves a little keeps the way, one that moves far does not
    lead(scene, starts, goals + [0.3, 0.0, 0.0], kept, ways)
    assert len(asked) <= first + 3
    lead(scene, starts, goals[::-1].copy(), kept, ways)
    assert len(asked) > first + MANY // 2


def test_agents_that_see_their_goals_search_nothing(monkeypatch):
    scene = scenes.on_plane(scenes.fence(0, 0, 20, 20), (20.0, 20.0))
    places = scenes.free_places(scene, 1.0, 2 * MANY, 1)
    monkeypatch.setattr(single.Singles, "_find", None)
    via, _length, kept = lead(scene, places[:MANY], places[MANY:])
    assert via == pytest.approx(places[MANY:].astype(np.float32))
    assert not kept.any()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "frames"), often([*SOON, ("AROUND", 300), ("QUICKEST", 300)], *SOON)
)
def test_all_walk_their_own_ways_with_the_same_bits_after_resuming(
    town, setting, frames, monkeypatch
):
    monkeypatch.setattr(ways, "MOST_GOALS", 0)
    asked = who_look(monkeypatch)
    scene, starts, goals = town
    near = np.argsort(np.linalg.norm(goals - starts, axis=1))[:FEW]
    starts, goals = starts[near], goals[near]
    walk = walk_to_each(scene, starts, goals, setting, "bodies.arrival_distance=1.0")
    walk.on(frames)
    assert len(asked) >= FEW // 2
    known, number = walk.simulation.agents.copy(), walk.simulation.frame
    # that all arrive takes longer, and is the same for both
    whole = walk.on(900 if setting == "AROUND" else frames)
    if setting == "AROUND":
        assert (np.linalg.norm(whole[-1] - goals, axis=1) < 1.5).all()
    walk.simulation.adopt(known)
    walk.simulation.frame, walk.simulation._ways = number, Ways()
    assert np.array_equal(walk.on(frames)[-frames:], whole[frames + 1 : 2 * frames + 1])


@pytest.mark.slow
def test_who_goes_on_hardly_ever_looks_again(town, monkeypatch):
    scene, starts, goals = town
    asked = who_look(monkeypatch)
    ways, here, kept = Ways(), starts.astype(np.float32), None
    for _step in range(900):
        via, _length, kept = lead(scene, here, goals, kept, ways)
        way = via - here
        far = np.linalg.norm(way, axis=1, keepdims=True)
        here = (here + way * np.minimum(0.2 / np.maximum(far, 1e-6), 1.0)).astype(np.float32)
    # corners and goals come and go out of sight as they are gone round
    assert np.linalg.norm(here - goals, axis=1).max() < 0.1
    assert MANY // 2 < len(asked) <= 2 * MANY


def test_ways_are_the_same_on_any_number_of_threads(town):
    scene, starts, goals = town
    before = jit.set_threads(1)
    try:
        via, _length, kept = lead(scene, starts, goals)
        jit.set_threads(5)
        for _ in range(3):
            again, _length, same = lead(scene, starts, goals)
            assert np.array_equal(again, via) and np.array_equal(same, kept)
    finally:
        jit.set_threads(before)


@pytest.mark.slow
def test_nobody_walks_to_and_fro_among_trees():
    rng, size = np.random.default_rng([2, 3]), 40.0
    trunks = [(*rng.uniform(2.0, size - 4.0, 2), *rng.uniform(0.4, 1.6, 2)) for _tree in range(133)]
    outlines = [scenes.rectangle(x, y, x + wide, y + deep) for x, y, wide, deep in trunks]
    scene = inside_fence(scenes.on_plane(outlines, (size, size)))
    places = scenes.free_places(scene, 2.0 * RADIUS, 2 * MANY, 6)
    starts, goals = places[:MANY], places[MANY:]
    apart = "avoid_neighbors.enabled=false", "bodies.collide_agents=false"
    walk = walk_to_each(scene, starts, goals, "AROUND", *apart)
    places = walk.on(1100)
    assert (np.linalg.norm(places[-1] - goals, axis=1) < 0.5).all()
    # at 1.4 m/s: once all walk, those who have not arrived come on in each second
    came = np.linalg.norm(places[48:] - places[24:-24], axis=2)
    there = np.linalg.norm(places[48:] - goals, axis=2) < 1.5
    assert (came[~there] > 0.9).all()


def test_who_is_pushed_past_a_corner_does_not_turn_round(monkeypatch):
    # round the first wall and to the third one; beside the way, the second one hides where it bends
    outlines = [
        scenes.rectangle(9.4, 10.25, 10.6, 20.0),
        scenes.rectangle(16.0, 0.0, 17.0, 9.6),
        scenes.rectangle(30.0, 10.25, 31.0, 20.0),
    ]
    scene = inside_fence(scenes.on_plane(outlines, (45.0, 20.0)))
    pushed = [(9.2 + 0.2 * k, 9.25 + 0.1 * side) for k in range(6) for side in range(6)]
    monkeypatch.setattr(ways, "MOST_GOALS", 0)
    places = np.array([[4.0, 11.5, 0.0], [36.0, 13.0, 0.0]])
    apart = "avoid_neighbors.enabled=false", "bodies.collide_agents=false"
    walk = walk_to_each(scene, *np.repeat(places[:, None], len(pushed), axis=1), "AROUND", *apart)
    while walk.on(1)[-1, :, 0].min() < 7.5:
        pass
    walk.simulation.agents.position[:, :2] = pushed
    after = walk.on(48)[-48:]
    # at 1.4 m/s
    assert (after[24:, :, 0] - after[:-24, :, 0] > 1.0).all()

"""Long searches for ways: the same in parts, reported, ended, and done ahead of the step."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import way_scenes as scenes
from test_areas import area, ruled
from test_surfaces_ahead import missing, waiting
from waytools import RADIUS, SHAPE, blocks_of, led

from steer_addon.core.errors import NotReadyError
from steer_addon.core.ways import classes
from steer_addon.core.ways import known as known_module
from steer_addon.core.ways.ahead import found as ahead
from steer_addon.core.ways.ahead import progress as progress_module
from steer_addon.core.ways.ahead.progress import Progress, TooLongError
from steer_addon.core.ways.corners import single
from steer_addon.core.ways.searching import Scratch
from steer_addon.core.ways.ways import Ways


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Let searches be reported often, and steps have little patience."""
    monkeypatch.setattr(ahead, "_found", ahead._Found())
    monkeypatch.setattr(progress_module, "SLICE", 100)


@pytest.fixture
def impatient(monkeypatch):
    """Let steps wait for all ways among more than some cells, but for no surface."""
    monkeypatch.setattr(known_module, "PATIENCE", 300)


@cache
def town():
    """Blocks and walls on a square of 60 m."""
    return scenes.random_blocks(1, 30, 60.0)


def people(scene, count=40):
    starts = scenes.free_places(scene, 2.0 * RADIUS, count + 2, 3).astype("f4")
    return starts[2:], starts[0], starts[1]


def same(found, wanted):
    return all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))


@pytest.mark.parametrize("cost", ["", "COST", "FORBIDDEN"])
def test_a_search_in_parts_has_the_same_bits(cost):
    scene = town()
    starts, goal, _other = people(scene)
    blocks = blocks_of(scene)
    if cost:
        blocks = ruled(scene, area(20, 20, 40, 60, cost, cost=3.0), count=len(starts))
    shares = []
    in_parts = led(scene, starts, goal, ways=Ways(shares.append), blocks=blocks)
    assert same(in_parts, led(scene, starts, goal, blocks=blocks))
    ways = [share - 1.0 for share in shares if share >= 1.0]
    assert len(ways) > 50 and ways == sorted(ways)
    # most of the time is reported
    assert min(ways) == 0.0 and max(ways) <= 1.0 and max(np.diff(ways)) < 0.5


@pytest.mark.parametrize("large", [1, 1 << 40])
def test_shares_are_those_of_cells_and_of_lengths(large, monkeypatch):
    scene = town()
    starts, goal, _other = people(scene)
    shares = []
    monkeypatch.setattr(classes, "LARGE", large)
    led(scene, starts, goal, ways=Ways(shares.append))
    ways = np.array([share - 1.0 for share in shares if share >= 1.0]) / 0.8
    assert ways.max() > 0.7 and max(np.diff(ways)) < 0.3


def test_a_search_that_nobody_waits_for_ends_soon_and_leaves_nothing_behind():
    scene = town()
    starts, goal, other = people(scene)
    calls, ended = [], [False]

    def told(share):
        calls.append(share)
        if ended[0] and share > 1.2:
            raise NotReadyError("nobody waits for it any more")

    ways, blocks = Ways(told), blocks_of(scene)
    wanted = [led(scene, starts, place, blocks=blocks) for place in (goal, other)]
    assert same(led(scene, starts, goal, ways=ways, blocks=blocks), wanted[0])
    before = len(calls)
    ended[0] = True
    with pytest.raises(NotReadyError):
        led(scene, starts, other, ways=ways, blocks=blocks)
    assert len(calls) - before < 0.4 * before
    ended[0] = False
    for place, found in zip((goal, other, goal), (*wanted, wanted[0]), strict=True):
        assert same(led(scene, starts, place, ways=ways, blocks=blocks), found)


@pytest.mark.slow
def test_a_field_that_was_ended_as_another_one_made_room_for_it_is_not_mixed_up(monkeypatch):
    scene = town()
    starts, *goals = people(scene)
    goals += list(starts[:2])
    blocks, fill, ends = blocks_of(scene), classes.fill_field, [False]
    wanted = [led(scene, starts, goal, blocks=blocks) for goal in goals]

    def filled(*given, **named):
        found = fill(*given, **named)
        if ends[0]:
            raise NotReadyError("nobody waits for it any more")
        return found

    monkeypatch.setattr(classes, "fill_field", filled)
    # two fields are kept
    ways = Ways()
    monkeypatch.setattr(classes, "MEMORY", 16 * ways.surface(SHAPE, blocks, goals[0][None]).count)
    for number in (0, 1, 2, 3, 2, 0, 3, 1, 2):
        ends[0] = True
        try:
            led(scene, starts, goals[number], ways=ways, blocks=blocks)
        except NotReadyError:
            ends[0] = False
            found = led(scene, starts, goals[number - 1], ways=ways, blocks=blocks)
            assert same(found, wanted[number - 1])
        ends[0] = False
        found = led(scene, starts, goals[number], ways=ways, blocks=blocks)
        assert same(found, wanted[number])


def test_a_step_waits_for_long_ways_to_a_new_goal_once(impatient):
    scene = town()
    starts, goal, other = people(scene)
    ways, blocks = Ways(), blocks_of(scene)
    led(scene, starts, goal, ways=ways, blocks=blocks)
    shares = []
    wanted = led(scene, starts, other, blocks=blocks)
    missing(lambda: led(scene, starts, other, ways=ways, blocks=blocks))(shares.append)
    # the surface is there
    assert shares[0] == 1.0 and shares[-1] > 1.7
    with waiting():
        found = led(scene, starts, other, ways=ways, blocks=blocks)
        assert same(found, wanted)
        # known, and near by
        led(scene, starts, goal, ways=ways, blocks=blocks)
        led(scene, goal + [0.3, 0.0, 0.0], goal, ways=ways, blocks=blocks)


def test_what_one_step_found_ahead_and_another_one_lost_is_found_by_the_step(
    impatient, monkeypatch
):
    """Ways to two goals for which there is no memory at once: a step that needs both ends."""
    scene = town()
    starts, *goals = people(scene)
    ways, blocks = Ways(), blocks_of(scene)
    surface = ways.surface(SHAPE, blocks, goals[0][None])
    monkeypatch.setattr(classes, "MEMORY", 8 * surface.count)

    def step():
        return [led(scene, starts, goal, ways=ways, blocks=blocks) for goal in goals]

    waits = 0
    with waiting():
        while True:
            try:
                found = step()
                break
            except NotReadyError as error:
                waits += 1
                error.find(lambda share: None)
    assert waits == 2
    for one, goal in zip(found, goals, strict=True):
        assert same(one, led(scene, starts, goal, blocks=blocks))


def test_a_run_that_begins_again_waits_less_and_less(impatient):
    scene = town()
    starts, goal, _other = people(scene)
    blocks, ways, waits, frame = blocks_of(scene), Ways(), 0, 0
    while frame < 20:
        goals = goal + np.float32([0.05 * frame, 0.0, 0.0])
        try:
            with waiting():
                led(scene, starts, goals, ways=ways, blocks=blocks)
            frame += 1
        except NotReadyError as error:
            waits += 1
            error.find(lambda share: None)
            # a bake goes on with nothing but its frames
            ways = Ways()
    assert 2 < waits < 10


def test_own_ways_are_found_ahead_and_taken(impatient, monkeypatch):
    scene, count = scenes.two_doors(), 20
    rules = area(9, 3, 11, 5, "ONE_WAY", heading=(-1, 0, 0)), area(12, 8, 14, 30, "COST", cost=4.0)
    blocks = ruled(scene, *rules, count=count)
    starts = scene.places["start"] + np.linspace(-1.5, 1.5, count)[:, None] * [0.0, 1.0, 0.0]
    goals = scene.places["goal"] + np.linspace(-1.5, 1.5, count)[:, None] * [1.0, 0.0, 0.0]
    told = starts.astype("f4"), np.zeros(count, np.int64), np.full(count, RADIUS, np.float32)
    options = SHAPE, blocks, goals.astype("f4"), np.arange(count), told
    wanted, ways, shares = Ways().lead(*options, each=True), Ways(), []
    ways.surface(*options[:3])
    missing(lambda: ways.lead(*options, each=True))(shares.append)
    assert len(set(shares)) >= count and shares == sorted(shares) and shares[-1] == 2.0
    fill = single.fill_field
    monkeypatch.setattr(single, "fill_field", lambda *given: pytest.fail("searched again"))
    with waiting():
        assert same(ways.lead(*options, each=True), wanted)
    # they are known by the agents from then on, not by the surface
    monkeypatch.setattr(single, "fill_field", fill)
    missing(lambda: ways.lead(*options[:-1], (told[0] + np.float32(0.5), *told[1:]), each=True))


def test_patience_is_for_cells_in_all():
    progress, scratch = Progress(), Scratch()
    assert progress.slice > 1 << 60 and scratch.progress.slice > 1 << 60
    progress.patience = 250
    assert progress.slice == 100
    progress.searched(100)
    progress.searched(150)
    with pytest.raises(TooLongError):
        progress.searched(1)


def test_who_watches_without_a_window_is_told_of_all_searches(monkeypatch):
    scene = town()
    starts, goal, other = people(scene)
    wanted = led(scene, starts, goal)
    shares = []
    monkeypatch.setattr(progress_module, "_watch", progress_module._Watch())
    progress_module.watch(shares.append)
    ways = Ways()
    assert same(led(scene, starts, goal, ways=ways), wanted)
    surface = [share for share in shares if share < 1.0]
    assert shares[: len(surface)] == sorted(surface) and max(surface) > 0.5
    assert shares[len(surface) :] == sorted(shares[len(surface) :]) and max(shares) > 1.7
    count = len(shares)
    led(scene, starts, other, ways=ways)
    more = shares[count:]
    assert more[0] == 1.0 and more == sorted(more) and max(more) > 1.7

    def cancelled(share):
        raise KeyboardInterrupt

    progress_module.watch(cancelled)
    with pytest.raises(KeyboardInterrupt):
        led(scene, starts, goal)


def test_what_reaches_a_goal_is_searched_once(monkeypatch):
    searched, search = [], classes.reached_from
    monkeypatch.setattr(
        classes, "reached_from", lambda *a, **k: searched.append(1) or search(*a, **k)
    )
    scene, ways = scenes.two_doors(), Ways()
    start, goal = scene.places["start"], scene.places["goal"]
    # nobody gets through the wall but from the goal's side
    blocks = ruled(scene, area(9, -1, 11, 31, "ONE_WAY", heading=(-1, 0, 0)), count=4)
    places, row = np.float32([start, goal, start, goal]), np.array([0, 1, 1, 0])
    told = places, np.arange(4), np.full(4, RADIUS, np.float32)
    goals = np.float32([goal, start])
    for _second in range(2):
        lost = ways.without_way(SHAPE, blocks, goals, row, told)
        assert lost.tolist() == [True, False, False, False]
    assert len(searched) == 2

"""Gates on the way: where agents head for, and when they are through."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scripts.validation import flows, rimea
from scripts.validation.rooms import through
from scripts.validation.runner import run
from scripts.validation.scenario import Scenario, Stage, goal, on_floor, via
from scripts.validation.ways import Ways


def crowd(places, *stages: Stage, **more) -> Scenario:
    """Agents that all go one route."""
    position = on_floor(places)
    n = len(position)
    given = {
        "name": "crowd",
        "position": position,
        "radius": np.full(n, 0.25),
        "speed": np.ones(n),
        "routes": (tuple(stages),),
        "route": np.zeros(n, np.int64),
        "dt": 0.1,
        "duration": 60.0,
        "heading": np.tile([1.0, 0.0, 0.0], (n, 1)),
    }
    return Scenario(**{**given, **more})


def heads_for(ways: Ways, position) -> np.ndarray:
    position = on_floor(position)
    return ways.points[ways.targets(np.arange(len(position)), position)][:, :2]


CORNER = (via((10.0, 0.0), 3.0), goal((10.0, 20.0), 1.0))


def test_lanes_meet_the_gate_side_by_side():
    # the gate halves the turn from east to north: outer lanes go farther before they turn
    start = [(0.0, 1.5), (0.0, 0.0), (0.0, -1.5)]
    ways = Ways(crowd(start, *CORNER))
    found = heads_for(ways, start)
    assert found[:, 1] == pytest.approx([1.5, 0.0, -1.5], abs=0.25)
    assert found[:, 0] == pytest.approx([8.5, 10.0, 11.5], abs=0.25)


def test_lanes_beside_the_gate_lead_to_its_end():
    start = [(0.0, 9.0), (0.0, -9.0)]
    found = heads_for(Ways(crowd(start, *CORNER)), start)
    end = 3.0 / np.sqrt(2.0)
    assert found == pytest.approx(np.array([[10.0 - end, end], [10.0 + end, -end]]))


def test_who_is_near_the_gate_heads_for_a_place_beyond():
    ways = Ways(crowd([(0.0, 0.0)], *CORNER))
    assert heads_for(ways, [(9.0, 0.0)])[0].tolist() == [10.0, 1.5]


@pytest.mark.parametrize(
    ("place", "passed"),
    [((9.0, 0.9), False), ((9.0, 1.1), True), ((14.0, -4.1), False), ((14.0, -3.9), True)],
)
def test_a_gate_is_passed_on_its_line_and_not_at_its_middle(place, passed):
    ways = Ways(crowd([(0.0, 0.0)], *CORNER))
    there, on, away = ways.proceed(np.zeros(1, np.int64), on_floor(place).astype(float))
    assert (there[0], on[0], ways.stage[0]) == (False, passed, int(passed))
    assert away[0] == pytest.approx(np.hypot(place[0] - 10.0, place[1]))


def test_a_door_is_passed_straight():
    # the gate of a door lies in its wall, wherever the crowd comes from
    route = through([(4.0, 0.0)], [(0.0, -1.0)])
    ways = Ways(crowd([(9.0, 1.0), (0.0, 8.0)], *route))
    found = heads_for(ways, [(9.0, 1.0), (0.0, 8.0)])
    assert found[:, 1] == pytest.approx([0.0, 0.0])
    assert found[:, 0] == pytest.approx([4.25, 3.75])


def test_places_that_are_no_gates_are_touched():
    stages = (goal((10.0, 0.0), 1.0), goal((10.0, 20.0), 1.0))
    ways = Ways(crowd([(0.0, 0.0)], *stages))
    for place, passed in (((11.5, 0.0), False), ((10.9, 0.0), True)):
        assert ways.proceed(np.zeros(1, np.int64), on_floor(place))[1][0] == passed


def test_a_row_rounds_a_corner_without_crossing():
    start = [(0.0, y) for y in (-1.2, -0.4, 0.4, 1.2)]
    outcome = run(crowd(start, *CORNER), tracks=True)
    assert outcome.result["arrived"] == 4
    # agents on the outer side at the start are there after the corner too
    later = [track[track[:, 1] > 8.0][0, 0] for track in outcome.tracks.transpose(1, 0, 2)]
    assert (np.diff(later) < 0.0).all()
    assert outcome.result["reversals"] == 0.0


def test_corners_of_rows_are_gates():
    for scenario in (rimea.row_6(), rimea.row_15(1), flows.flow("l_corridor", 60)):
        assert all(route[0].via for route in scenario.routes)
    result = run(replace(rimea.row_6(), duration=40.0)).result
    assert result["short"] == []

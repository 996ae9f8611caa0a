"""Small versions of what `make validate` runs: every row of the page, in seconds."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from scripts.validation import density, flows, rimea, rvo2, steerbench
from scripts.validation.runner import run
from scripts.validation.scenario import Scenario
from tests.often import often


def as_wanted(scenario: Scenario) -> dict[str, Any]:
    """The result of a run in which nothing is short."""
    result = run(scenario).result
    assert result["short"] == [], result
    return result


@pytest.mark.parametrize("count", often([2, 3, 4, 5, 8, 12, 20], 2, 12))
def test_antipodal_circles_end(count, monkeypatch):
    # wide enough for all to see each other late
    monkeypatch.setattr(rvo2, "CIRCLE", 60.0)
    as_wanted(rvo2.antipodal(count))


def test_small_groups_cross_between_houses():
    as_wanted(rvo2.blocks(2))


def test_a_sphere_comes_apart_and_turns():
    # all start inside their neighbors
    result = run(replace(rvo2.sphere(), duration=15.0)).result
    assert (result["overlap"], result["parting"], result["penetrations"]) == (0.0, 0, 0)


@pytest.mark.parametrize("name", often(flows.SCENES, "l_corridor"))
def test_flow_scenes(name):
    as_wanted(flows.flow(name, 30))


@pytest.mark.parametrize("value", often(density.DENSITIES, 2.0))
def test_speed_against_density(value):
    scenario = density.corridor(value)
    (area,) = scenario.areas
    as_wanted(replace(scenario, duration=20.0, areas=(replace(area, stop=20.0),)))


@pytest.mark.parametrize(
    "row", often([rimea.row_1, rimea.row_5, rimea.row_6, rimea.row_7], rimea.row_1, rimea.row_6)
)
def test_rimea_rows(row):
    as_wanted(row())


@pytest.mark.parametrize("number", often([50, 80], 50))
def test_rimea_9_half_the_doors_take_longer(number):
    four, two = (as_wanted(rimea.row_9(doors, number))["end"] for doors in (4, 2))
    assert 1.2 < two / four < 2.4


@pytest.mark.long
def test_rimea_11_some_take_the_far_exit():
    result = as_wanted(rimea.row_11(150))
    assert 0.1 < result["second_choice"] < 0.6


@pytest.mark.parametrize("number", often([40, 60], 40))
def test_rimea_12_only_the_first_room_jams(number):
    result = as_wanted(rimea.row_12(number))
    assert result["first_most"] > result["second_most"]


@pytest.mark.long
def test_rimea_15_a_corner_costs_time():
    results = [as_wanted(rimea.row_15(kind, 80)) for kind in range(3)]
    (order,) = rimea.comparisons(results)
    assert order["short"] == []


FILES = (
    "3-squeeze",
    "4-way-confusion-obstacle",
    "circle-20",
    "concentric-circles",
    "curves",
    "double-squeeze",
    "oncoming-groups",
    "surprise-1",
    "wall-squeeze",
)


@pytest.mark.parametrize("name", often(FILES, "circle-20", "wall-squeeze"))
def test_steerbench_files(name, shared):
    as_wanted(steerbench.load(shared / "scenarios" / "steersuite" / f"{name}.xml"))


@pytest.mark.parametrize(("seed", "count"), often([*product((0, 3, 5), (100,)), (3, 50)], (3, 50)))
def test_nobody_locks_a_door_that_is_barely_wider_than_a_body(seed, count, shared):
    # their ways to the one door differ, and they are still a queue
    path = shared / "scenarios/steersuite/bottleneck-evacuation-2.xml"
    scenario = steerbench.load(path, seed)
    each = ("position", "radius", "speed", "route", "heading", "velocity")
    as_wanted(replace(scenario, **{name: getattr(scenario, name)[:count] for name in each}))

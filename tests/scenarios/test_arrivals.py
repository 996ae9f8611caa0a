"""Agents that have to arrive, and that the rig leads, as in the table."""

from __future__ import annotations

import pytest

from scripts.validation import density, flows, rimea, rvo2, table


def test_table_says_whether_all_arrive():
    result = {"name": "x", "wanted": [], "short": [], "all_arrive": False, "led": "gates"}
    head, line, *_rest = table.as_text([result]).splitlines()
    assert head.split("  ")[0] == "scenario"
    assert line.split()[3:5] == ["no", "gates"]


@pytest.mark.parametrize(
    ("scenario", "led"),
    [
        (flows.flow("corridor", 10), None),
        (flows.flow("l_corridor", 10), "gates"),
        (rimea.row_1(), None),
        (rimea.row_6(), "gates"),
    ],
)
def test_scenarios_say_how_the_rig_leads_agents(scenario, led):
    assert scenario.led == led


def test_only_scenarios_with_room_at_the_goal_ask_for_arrivals():
    assert rvo2.antipodal(2).asks_for_arrivals
    assert flows.flow("corridor", 10).asks_for_arrivals
    assert not density.corridor(0.5).asks_for_arrivals

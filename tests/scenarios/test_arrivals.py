"""Agents that have to arrive, that see their way, and that the rig leads, as in the table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scripts.validation import density, flows, rimea, rvo2, table
from scripts.validation.greedy import finds_way
from scripts.validation.scenario import Scenario, block, goal, on_floor


def test_table_answers_both_questions_about_arrivals():
    result = {"name": "x", "wanted": [], "short": [], "all_arrive": False, "led": "gates"}
    head, line, *_rest = table.as_text([{**result, "all_seeing_arrive": True}]).splitlines()
    assert head.split("  ")[0] == "scenario"
    assert line.split()[3:6] == ["no", "yes", "gates"]


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


def test_the_walker_slides_along_a_wall_to_a_far_door_however_slowly_it_comes_nearer():
    wall = (block("left", (20, 0.8), (20.4, 30)), block("right", (20, -30), (20.4, -0.8)))
    scenario = Scenario(
        name="alone",
        position=on_floor((19.0, 8.0)),
        radius=np.array([0.25]),
        speed=np.ones(1),
        routes=((goal((60.0, 0.0), 1.0),),),
        route=np.zeros(1, np.int64),
        dt=0.1,
        duration=20.0,
        colliders=wall,
    )
    assert finds_way(scenario, np.array([0])).all()
    shut = replace(scenario, colliders=(block("wall", (20, -30), (20.4, 30)),))
    assert not finds_way(shut, np.array([0])).any()

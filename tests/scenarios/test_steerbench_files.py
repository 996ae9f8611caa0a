"""SteerBench files: all that are shared, and all that is wrong with a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from scripts.validation import steerbench, steerbench_file
from scripts.validation.runner import run
from scripts.validation.steerbench_file import Reader, ScenarioError
from steer_addon.core.geometry import bvh

HEADER = """<header><version>1.0</version><name>x</name><worldBounds>
<xmin>-10</xmin><xmax>10</xmax><ymin>0</ymin><ymax>0</ymax><zmin>-20</zmin><zmax>20</zmax>
</worldBounds></header>"""
GOAL = """<goalSequence><seekStaticTarget>
<targetLocation><x>4</x><y>0</y><z>3</z></targetLocation>
<desiredSpeed>1.3</desiredSpeed><timeDuration>1000</timeDuration>
</seekStaticTarget></goalSequence>"""
START = """<initialConditions><position><x>1</x><y>0</y><z>2</z></position>
<direction><x>0</x><y>0</y><z>1</z></direction><radius>0.5</radius><speed>0</speed>
</initialConditions>"""
AGENT = f"<agent>{START}{GOAL}</agent>"
BOX = "<xmin>{}</xmin><xmax>{}</xmax><ymin>0</ymin><ymax>0</ymax><zmin>{}</zmin><zmax>{}</zmax>"
REGION = """<agentRegion><numAgents>{}</numAgents><regionBounds>{}</regionBounds>
<initialConditions><direction><random>true</random></direction><radius>0.5</radius>
<speed>0</speed></initialConditions>{}</agentRegion>"""


@pytest.fixture
def write(tmp_path):
    """Write a test case; returns its path."""

    def writer(body: str, header: str = HEADER, before: str = "", after: str = "") -> Path:
        path = tmp_path / "case.xml"
        root = '<SteerBenchTestCase xmlns="http://www.magix.ucla.edu/steerbench">'
        path.write_text(f"{before}{root}{header}{body}{after}</SteerBenchTestCase>")
        return path

    return writer


def files(shared: Path) -> list[Path]:
    return sorted((shared / "scenarios" / "steersuite").glob("*.xml"))


def test_every_shared_file_is_read(shared):
    assert len(files(shared)) == 47
    for path in files(shared):
        case = Reader(path).read()
        assert case.name == path.stem
        assert case.people


def test_crowds_start_clear_of_walls_and_of_each_other(shared):
    for name in ("urban", "hallway-four-way", "bottleneck-evacuation-2", "circle-20"):
        scenario = steerbench.load(shared / "scenarios" / "steersuite" / f"{name}.xml")
        place, radius = scenario.position, scenario.radius
        away = np.linalg.norm(place[:, None] - place[None], axis=2)
        both = radius[:, None] + radius[None]
        assert (away + 10.0 * np.eye(len(place)) >= both).all()
        if scenario.colliders:
            tree = bvh.build(np.concatenate([mesh.triangles for mesh in scenario.colliders]))
            _triangle, _place, gap = bvh.nearest_many(tree, place + [0.0, 0.0, 0.35])
            assert (gap >= radius).all()


def test_random_places_come_from_the_seed(shared):
    path = shared / "scenarios" / "steersuite" / "urban.xml"
    first, again, other = (steerbench.load(path, seed).position for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_every_file_asks_all_agents_to_arrive(shared):
    for path in files(shared):
        assert "arrived_share ≥ 1" in map(str, steerbench.load(path).wanted), path.stem


STRAIGHT = {"bottleneck-evacuation", "maze", "simple-wall", "urban"}
"""Files in which some do not arrive who go straight at their goals."""


@pytest.mark.long
@pytest.mark.parametrize("number", range(47))
def test_all_agents_of_every_file_arrive(shared, number):
    result = run(steerbench.load(files(shared)[number])).result
    assert result["short"] == [], result


@pytest.mark.long
@pytest.mark.parametrize("number", range(47))
def test_what_walls_hide_is_not_found_straight_on(shared, number):
    path = files(shared)[number]
    result = run(steerbench.load(path, ways="NONE")).result
    assert result["all_arrive"] == (path.stem not in STRAIGHT)


@pytest.mark.parametrize("ways", ["NONE", "AROUND"])
def test_two_round_a_wall(shared, ways):
    path = shared / "scenarios" / "steersuite" / "simple-wall.xml"
    result = run(replace(steerbench.load(path, ways=ways), duration=40.0)).result
    assert result["all_arrive"] == (ways == "AROUND")
    assert result["penetrations"] == 0


def test_a_copy_under_another_name_gets_the_same_verdict(shared, tmp_path):
    maze = shared / "scenarios" / "steersuite" / "maze.xml"
    copy = tmp_path / "open-field.xml"
    copy.write_bytes(maze.read_bytes())
    paths = maze, copy
    ran = [run(replace(steerbench.load(path, ways="NONE"), duration=10.0)).result for path in paths]
    assert [result["name"] for result in ran] == ["maze", "open-field"]
    for result in ran:
        del result["name"], result["seconds"], result["seconds_per_step"]
    assert ran[0] == ran[1]
    assert ran[0]["short"] == ["arrived_share ≥ 1"]
    assert ran[0]["all_arrive"] is False


def test_the_plane_is_turned_upright(write):
    scenario = steerbench.load(write(AGENT))
    assert scenario.position.tolist() == [[1.0, -2.0, 0.0]]
    assert scenario.heading.tolist() == [[0.0, -1.0, 0.0]]
    (stage,) = scenario.routes[0]
    assert stage.points.tolist() == [[4.0, -3.0, 0.0]]
    assert (stage.reach, stage.speed) == (0.75, 1.3)


def test_obstacles(write):
    box = BOX.format(1, 3, 5, 6)
    circle = """<circleObstacle><radius>2</radius><height>1</height>
    <position><x>5</x><y>0</y><z>5</z></position></circleObstacle>"""
    oriented = """<orientedBoxObstacle><thetaY>90</thetaY>
    <size><x>4</x><y>1</y><z>2</z></size>
    <position><x>-5</x><y>0</y><z>0</z></position></orientedBoxObstacle>"""
    text = f"{AGENT}<obstacle>{box}</obstacle>{circle}{oriented}"
    meshes = steerbench.load(write(text)).colliders
    spans = [
        (m.triangles.reshape(-1, 3).min(axis=0), m.triangles.reshape(-1, 3).max(axis=0))
        for m in meshes
    ]
    low, high = (np.array(ends) for ends in zip(*spans, strict=True))
    assert low[:, :2] == pytest.approx(np.array([[1, -6], [3, -7], [-6, -2]]), abs=1e-5)
    assert high[:, :2] == pytest.approx(np.array([[3, -5], [7, -3], [-4, 2]]), abs=1e-5)
    assert (low[:, 2] < 0.0).all()
    assert (high[:, 2] == 3.0).all()


def test_several_goals_are_gone_to_in_turn(write):
    goals = GOAL.replace("<goalSequence>", "").replace("</goalSequence>", "")
    sequence = f"<goalSequence>{goals}{goals.replace('1.3', '0.7')}</goalSequence>"
    scenario = steerbench.load(write(f"<agent>{START}{sequence}</agent>"))
    assert [stage.speed for stage in scenario.routes[0]] == [1.3, 0.7]


def goal_of(tag: str, inside: str, seconds: float = 3.0) -> str:
    """A goal of any kind at 1 m/s."""
    return f"""<{tag}>{inside}<desiredSpeed>1</desiredSpeed>
    <timeDuration>{seconds}</timeDuration></{tag}>"""


def agent_with(*goals: str, name: str = "", x: float = 1.0) -> str:
    start = START.replace("<x>1</x>", f"<x>{x}</x>")
    sequence = f"<goalSequence>{''.join(goals)}</goalSequence>"
    return f"<agent><name>{name}</name>{start}{sequence}</agent>"


def played(path: Path, ways: str = "NONE"):
    """A run, and where its agents were each quarter of a second."""
    outcome = run(steerbench.load(path, ways=ways), tracks=True)
    return outcome.result, outcome.tracks


POINT = "<targetLocation><x>{}</x><y>0</y><z>{}</z></targetLocation>"


def test_flows_go_on_in_their_direction_for_their_time(write):
    to = "<targetDirection><x>0</x><y>0</y><z>-2</z></targetDirection>"
    result, tracks = played(write(agent_with(goal_of("flowStaticDirection", to, 6.0))))
    assert (result["arrived"], result["time"]) == (1, pytest.approx(6.0))
    # z down there is y up here
    assert tracks[-2, 0] == pytest.approx([1.0, -2.0 + 5.75, 0.0], abs=0.6)


def test_flows_of_the_crowd_follow_those_nearby(write):
    to = "<targetDirection><x>1</x><y>0</y><z>0</z></targetDirection>"
    leader = agent_with(goal_of("flowStaticDirection", to, 6.0), x=3.0)
    follower = agent_with(goal_of("flowDynamicDirection", "<type>BOIDS</type>", 6.0))
    result, tracks = played(write(leader + follower))
    assert result["arrived"] == 2
    assert tracks[-2, 1, 0] > 4.0
    assert tracks[-2, 1, 1] == pytest.approx(-2.0, abs=0.3)


def test_agents_flee_from_places_and_agents_for_a_time(write):
    away = goal_of("fleeStaticTarget", POINT.format(0, 2), 6.0)
    result, tracks = played(write(agent_with(away)))
    assert (result["arrived"], result["time"]) == (1, pytest.approx(6.0))
    assert tracks[-2, 0, 0] > 5.0
    from_other = goal_of("fleeDynamicTarget", "<targetName>fox</targetName>", 6.0)
    fox = agent_with(goal_of("idle", "", 8.0), name="fox", x=3.0)
    result, tracks = played(write(agent_with(from_other) + fox))
    assert result["arrived"] == 2
    assert np.nanmin(tracks[:, 0, 0]) < -3.0
    assert tracks[-2, 1] == pytest.approx([3.0, -2.0, 0.0], abs=0.1)


@pytest.mark.parametrize("which", ["<targetName>B</targetName>", "<random>true</random>"])
def test_agents_seek_one_that_moves(write, which):
    seeker = agent_with(goal_of("seekDynamicTarget", f"<targetName/>{which}", 99.0))
    if "true" not in which:
        seeker = seeker.replace("<targetName/>", "")
    to = "<targetDirection><x>0</x><y>0</y><z>1</z></targetDirection>"
    slow = goal_of("flowStaticDirection", to, 15.0).replace(">1</desired", ">0.3</desired")
    result, tracks = played(write(seeker + agent_with(slow, name="B", x=4.0)))
    caught = int(np.flatnonzero(~np.isfinite(tracks[:, 0, 0]))[0])
    away = np.linalg.norm(tracks[caught - 1, 0] - tracks[caught - 1, 1])
    assert result["arrived"] == 2
    assert 1.0 <= away <= 1.25 + 0.25


def test_a_region_is_reached_anywhere_inside(write):
    region = f"<goalRegionBounds>{BOX.format(4, 8, -8, 18)}</goalRegionBounds>"
    path = write(agent_with(goal_of("seekAxisAlignedBoxRegion", region)))
    (stage,) = steerbench.load(path).routes[0]
    # its place nearest to the start, with room for the body
    assert stage.points.tolist() == [[4.5, -2.0, 0.0]]
    result, tracks = played(path)
    assert result["arrived"] == 1
    # it is in when its middle is
    assert np.nanmax(tracks[:, 0, 0]) == pytest.approx(4.0, abs=0.3)


def test_a_region_whose_near_side_is_walled_is_entered_elsewhere(write):
    region = f"<goalRegionBounds>{BOX.format(4, 8, -8, 8)}</goalRegionBounds>"
    wall = f"<obstacle>{BOX.format(4, 5.5, -2, 6)}</obstacle>"
    path = write(agent_with(goal_of("seekAxisAlignedBoxRegion", region)) + wall)
    (stage,) = steerbench.load(path).routes[0]
    x, y, _z = stage.points[0]
    assert 4.5 <= x <= 7.5 and -7.5 <= y <= 7.5
    assert x >= 6.0 or y <= -6.5 or y >= 2.5


def test_goals_of_different_kinds_are_gone_to_in_turn(write):
    goals = [
        goal_of("seekStaticTarget", POINT.format(4, 2)),
        goal_of("idle", "", 5.0),
        goal_of("seekStaticTarget", POINT.format(1, 2)),
    ]
    result, tracks = played(write(agent_with(*goals)))
    x = tracks[:, 0, 0]
    assert result["arrived"] == 1
    assert np.nanmax(x) == pytest.approx(3.4, abs=0.3)
    waits = np.isfinite(x) & (x > np.nanmax(x) - 0.3)
    assert waits.sum() * 0.25 == pytest.approx(5.5, abs=1.0)
    assert result["time"] == pytest.approx(5.0 + 2 * 2.3, abs=1.5)


def test_files_say_where_their_ways_are_switched_on(shared):
    path = files(shared)[0]
    assert steerbench.load(path).stated == ("ways.ways=AROUND",)
    assert steerbench.load(path, ways="QUICKEST").stated == ("ways.ways=QUICKEST",)
    assert steerbench.load(path, ways="NONE").stated == ()


def test_the_declaration_may_come_after_a_comment(write):
    path = write(AGENT, before="<!-- license -->\n<?xml version='1.0'?>\n")
    assert steerbench.load(path).count == 1


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "has no agents"),
        ("<robot/>", "<robot> is not known"),
        (AGENT.replace("<radius>0.5</radius>", ""), "<initialConditions> has no <radius>"),
        (AGENT.replace("<radius>0.5", "<radius>wide"), "radius> is 'wide'"),
        (AGENT.replace("<radius>0.5", "<radius>nan"), "radius> is 'nan'"),
        (AGENT.replace("<radius>0.5", "<radius>-1"), "radius> is -1"),
        (AGENT.replace("<x>1</x>", "<x>1e30</x>"), "position/x> is 1e+30"),
        (AGENT.replace("<desiredSpeed>1.3", "<desiredSpeed>-2"), "desiredSpeed> is -2"),
        (AGENT.replace("seekStaticTarget", "groupTarget"), "is a goal that is not run"),
        (AGENT.replace("seekStaticTarget", "seekDynamicTarget"), "has no <targetName>"),
        (
            agent_with(goal_of("seekDynamicTarget", "<targetName>Y</targetName>"), name="X"),
            "<seekDynamicTarget> finds no agent 'Y'",
        ),
        (
            agent_with(goal_of("fleeDynamicTarget", "<random>true</random>")),
            "<fleeDynamicTarget> finds no other agent",
        ),
        (
            AGENT.replace("seekStaticTarget", "seekAxisAlignedBoxRegion"),
            "has no <goalRegionBounds>",
        ),
        (AGENT.replace(">1000<", ">-1<"), "timeDuration> is -1"),
        (f"<agent>{START}<goalSequence/></agent>", "<goalSequence> is empty"),
        (f"<agent>{START}</agent>", "<agent> has no <goalSequence>"),
        (REGION.format("2.5", BOX.format(0, 9, 0, 9), GOAL), "numAgents> is 2.5"),
        (REGION.format("1e9", BOX.format(0, 9, 0, 9), GOAL), "numAgents> is 1e+09"),
        (REGION.format("50", BOX.format(0, 3, 0, 3), GOAL), "find no room"),
    ],
)
def test_bad_elements_are_named(write, body, message):
    with pytest.raises(ScenarioError, match="case.xml") as caught:
        steerbench.load(write(body))
    assert message in str(caught.value)


def test_files_that_are_no_test_cases(write, tmp_path, monkeypatch):
    with pytest.raises(ScenarioError, match="cannot be read"):
        steerbench.load(tmp_path / "absent.xml")
    with pytest.raises(ScenarioError, match="declares a document type"):
        steerbench.load(write(AGENT, before=BOMB))
    with pytest.raises(ScenarioError, match="not well-formed"):
        steerbench.load(write(AGENT, after="<open>"))
    with pytest.raises(ScenarioError, match="no <worldBounds>"):
        steerbench.load(write(AGENT, header="<header/>"))
    other = tmp_path / "other.xml"
    other.write_text("<svg/>")
    with pytest.raises(ScenarioError, match="<svg> is no SteerBench test case"):
        steerbench.load(other)
    other.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ScenarioError, match="no UTF-8"):
        steerbench.load(other)
    monkeypatch.setattr(steerbench_file, "MAX_BYTES", 10)
    with pytest.raises(ScenarioError, match="at most 10"):
        steerbench.load(write(AGENT))


def test_time_is_what_the_file_gives_or_enough_for_the_way(write):
    def duration(speed, seconds):
        body = AGENT.replace("1.3</desired", f"{speed}</desired").replace(">1000<", f">{seconds}<")
        return steerbench.load(write(body)).duration

    length = np.hypot(3.0, 1.0)
    assert duration(1.3, 500) == 500
    # where that is too short, enough to get there
    assert duration(0.1, 40) == pytest.approx(2.0 * length / 0.1 + 60.0)
    assert duration(0.1, 20) == pytest.approx(5.0 * length / 0.1)

"""The harness itself: tiny scenarios whose outcome is known, tables, and the command line."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from scripts.validation import (
    density,
    flows,
    page,
    rimea,
    rvo2,
    steerbench,
    stored,
    table,
    validate,
)
from scripts.validation.placing import Room, hexagons
from scripts.validation.runner import Outcome, as_stated, run
from scripts.validation.scenario import (
    Area,
    Scenario,
    Stage,
    Wanted,
    block,
    cylinder,
    fence,
    free_paths,
    goal,
    on_floor,
)
from steer_addon.core.crowd.presets import load_preset, save_preset
from steer_addon.core.errors import WorldError
from steer_addon.core.geometry.meshes import defects, signed_volume


def alone(*stages: Stage, **more) -> Scenario:
    """One agent that starts at the origin."""
    given = {
        "name": "alone",
        "position": on_floor((0.0, 0.0)),
        "radius": np.array([0.25]),
        "speed": np.array([1.0]),
        "routes": (tuple(stages),),
        "route": np.zeros(1, np.int64),
        "dt": 0.1,
        "duration": 20.0,
        "heading": np.array([[1.0, 0.0, 0.0]]),
    }
    return Scenario(**{**given, **more})


def test_one_agent_walks_to_its_goal():
    result = run(alone(goal((10.0, 0.0), 5.0))).result
    assert result["arrived"] == 1
    assert result["short"] == []
    assert 5.0 <= result["time"] <= 6.5
    assert result["path"] == pytest.approx(5.0, abs=0.15)
    assert result["free_path"] == pytest.approx(5.0)


def test_a_run_ends_when_its_time_is_over():
    result = run(alone(goal((100.0, 0.0), 1.0), duration=2.0)).result
    assert (result["steps"], result["arrived"]) == (20, 0)
    assert result["short"] == ["arrived_share ≥ 1"]


def test_a_run_ends_when_nobody_gets_on():
    wall = block("wall", (1.0, -9.0), (2.0, 9.0))
    stands = alone(goal((9.0, 0.0), 1.0), speed=np.zeros(1), colliders=(wall,), patience=1.0)
    assert run(stands).result["simulated"] == pytest.approx(1.1, abs=0.11)


def test_those_who_start_in_a_wall_start_beside_it(tmp_path):
    settings = load_preset("pedestrians").settings
    bodies = replace(settings.bodies, collide_colliders=True)
    path = tmp_path / "solid.json"
    save_preset(path, replace(settings, bodies=bodies), label="Solid")
    wall = block("wall", (-1.0, -9.0), (0.1, 9.0))
    result = run(alone(goal((9.0, 0.0), 5.0), colliders=(wall,)), str(path)).result
    assert (result["arrived"], result["penetrations"]) == (1, 0)


def test_stages_are_gone_to_in_turn():
    outcome = run(alone(goal((3.0, 0.0), 2.0), goal((3.0, 9.0), 6.0)), tracks=True)
    assert outcome.result["arrived"] == 1
    assert outcome.tracks[0, 0].tolist() == [0.0, 0.0, 0.0]
    assert np.nanmax(outcome.tracks[:, 0, 1]) > 1.0


def test_of_several_points_the_nearest_is_taken():
    doors = Stage(on_floor([(9.0, 5.0), (-4.0, 0.0)]), 2.0)
    result = run(alone(doors)).result
    assert result["arrived"] == 1
    assert result["second_choice"] == 1.0
    assert free_paths(alone(doors)).tolist() == [2.0]


def test_agents_that_wait_start_at_their_time():
    result = run(alone(goal((10.0, 0.0), 5.0), start_time=np.array([3.0]))).result
    assert 0.0 <= result["earliest_start"] == result["latest_start"] <= 0.5
    assert result["time"] > 8.0


def test_those_who_stay_have_to_stay():
    result = run(alone(goal((2.0, 0.0), 1.0), leave=False)).result
    assert result["arrived"] == 1


def test_areas_measure_speed_and_density():
    area = Area("middle", (4.0, -1.0), (6.0, 1.0))
    result = run(alone(goal((50.0, 0.0), 40.0), areas=(area,))).result
    assert result["middle_speed"] == pytest.approx(1.0, abs=0.01)
    assert result["middle_most"] == 0.25
    assert result["middle_density"] == pytest.approx(0.25 * 20 / result["steps"], rel=0.06)


def test_a_world_that_repeats():
    scenario = replace(density.corridor(1.0), duration=2.0)
    outcome = run(scenario, tracks=True)
    assert outcome.result["agents"] == 52
    assert outcome.result["fastest"] < 1.5
    assert (outcome.tracks[..., 0] >= 0.0).all()
    assert (outcome.tracks[..., 0] <= 26.0).all()


def test_weidmann():
    expected = {0.5: 1.298, 1.0: 1.058, 2.0: 0.606, 3.0: 0.331, 4.0: 0.156, 6.0: 0.0}
    for value, speed in expected.items():
        assert density.weidmann(value) == pytest.approx(speed, abs=6e-4)


@pytest.mark.parametrize("name", flows.SCENES)
def test_flow_scenes_start_clear_and_run(name):
    scenario = flows.flow(name, 60)
    place, radius = scenario.position, scenario.radius
    away = np.linalg.norm(place[:, None] - place[None], axis=2)
    both = radius[:, None] + radius[None]
    assert (away + 10.0 * np.eye(60) >= both).all()
    assert ((radius >= 0.24) & (radius <= 0.38)).all()
    result = run(replace(scenario, duration=2.0)).result
    assert (result["agents"], result["steps"]) == (60, 60)


def test_flow_scenes_grow_with_the_crowd():
    small, large = flows.flow("bottleneck", 100), flows.flow("bottleneck", 400)
    assert large.duration == pytest.approx(2.0 * small.duration)
    for scenario in (small, large):
        below, above = scenario.colliders[-2:]
        gap = above.triangles[..., 1].min() - below.triangles[..., 1].max()
        assert gap == pytest.approx(1.6, abs=1e-4)


def test_rvo2_scenes():
    circle, blocks, sphere = rvo2.circle(), rvo2.blocks(), rvo2.sphere()
    assert (circle.count, blocks.count, sphere.count) == (250, 100, 812)
    assert np.linalg.norm(circle.position, axis=1) == pytest.approx(200.0)
    assert np.linalg.norm(sphere.position, axis=1) == pytest.approx(100.0)
    ends = np.array([stage.points[0] for (stage,) in (blocks.routes[i] for i in blocks.route)])
    assert (np.sign(ends[:, :2]) == -np.sign(blocks.position[:, :2])).all()
    result = run(replace(sphere, duration=0.5)).result
    assert (result["agents"], result["steps"]) == (812, 4)


def test_what_a_row_states_is_handed_to_the_preset():
    settings = load_preset("pedestrians").settings
    stated = as_stated(settings, rvo2.blocks()).behaviors
    (entry,) = (b for b in stated if b.key == "avoid_neighbors")
    found = (entry.neighbor_distance, entry.max_neighbors, entry.anticipation_time)
    assert found == (15.0, 10, 5.0)
    assert as_stated(settings, rvo2.circle()).behaviors[0].anticipation_time == 10.0
    # a preset of one's own may do without
    assert as_stated(replace(settings, behaviors=()), rvo2.blocks()).behaviors == ()
    result = run(replace(rvo2.antipodal(2), duration=0.25)).result
    assert "avoid_neighbors.neighbor_distance=15" in result["stated"]


def test_rimea_rows_start_inside_their_rooms():
    scenarios = [make(*args) for _name, make, args in rimea.ROWS]
    assert [scenario.name for scenario in scenarios] == [name for name, _make, _args in rimea.ROWS]
    counts = [scenario.count for scenario in scenarios]
    assert counts == [1, 10, 20, 50, 1000, 1000, 1000, 150, 500, 500, 500]


def test_ages_walk_as_the_curve_says():
    speed = rimea.row_7().speed
    assert (speed >= 0.8 * 0.68).all()
    assert (speed <= 1.2 * 1.61).all()


def test_rimea_comparisons():
    def timed(name, end, share=1.0):
        return {"name": name, "end": end, "arrived_share": share}

    good = [timed(name, end) for name, end in zip(rimea.NINE, (200.0, 400.0), strict=True)]
    good += [timed(name, end) for name, end in zip(rimea.FIFTEEN, (80.0, 90.0, 99.0), strict=True)]
    assert [row["short"] for row in rimea.comparisons(good)] == [[], []]
    bad = [timed(rimea.NINE[0], 200.0), timed(rimea.NINE[1], 500.0)]
    assert rimea.comparisons(bad)[0]["short"] == ["time_ratio 1.6 to 2.4"]
    late = [timed(rimea.NINE[0], 200.0), timed(rimea.NINE[1], 400.0, share=0.99)]
    assert rimea.comparisons(late)[0]["short"] == ["time_ratio 1.6 to 2.4"]
    assert rimea.comparisons(good[:1]) == []


def test_walls_are_closed_and_face_outward():
    meshes = [block("a", (0, 0), (1, 2), 0.3), cylinder("b", (1, 1), 2.0), *fence((0, 0), (9, 4))]
    for mesh in meshes:
        assert defects(mesh) == []
        assert signed_volume(mesh) > 0.0
    assert signed_volume(meshes[0]) == pytest.approx(7.0, rel=1e-5)


def test_where_darts_find_no_room_a_lattice_does():
    radius = np.full(18, 0.5)
    places = Room().fill((0, 0), (5, 4), radius, np.random.default_rng(0))
    away = np.linalg.norm(places[:, None] - places[None], axis=2) + 9.0 * np.eye(18)
    assert away.min() >= 1.0 - 1e-9
    assert places.min() >= 0.5 - 1e-9
    assert (places.max(axis=0) <= [4.5 + 1e-9, 3.5 + 1e-9]).all()
    with pytest.raises(WorldError, match="find no room in the hall"):
        Room().fill((0, 0), (2, 2), radius, np.random.default_rng(0), "the hall")
    assert hexagons((0, 0), (0.5, 0.5), 0.5, 1) is None


@pytest.mark.parametrize(
    ("figure", "least", "most", "result", "met"),
    [
        ("a", 1.0, None, {"a": 1.0}, True),
        ("a", 1.0, None, {"a": 0.9}, False),
        ("a", None, 1.0, {"a": 1.1}, False),
        ("a", None, 1.0, {"a": None}, False),
        ("a", None, 1.0, {}, False),
        ("a", 0.0, 0.0, {"a": 0}, True),
    ],
)
def test_wanted(figure, least, most, result, met):
    assert Wanted(figure, least, most).met(result) is met


def test_command_line(tmp_path, capsys):
    out, text = tmp_path / "deep" / "out.json", tmp_path / "validation.md"
    options = ["--rimea", "--only", "rimea 6", "--json", str(out), "--markdown", str(text)]
    options += [str(tmp_path / "rimea 6 absent.xml")]
    assert validate.main([*options]) == 2
    results = json.loads(out.read_text())
    keys = {"name", "agents", "arrived", "penetrations", "overlap", "stuck", "time", "path"}
    assert keys | {"score", "seconds_per_step"} <= set(next(r for r in results if "time" in r))
    printed = capsys.readouterr().out
    assert "cannot be read" in printed
    assert "rimea 6 " in printed
    assert text.read_text("utf-8").startswith("# Validation")


def resumed(tmp_path, *arguments):
    """Names, and how often scenarios were run by now, after going on with a file of results."""
    out = tmp_path / "out.json"
    validate.main([*arguments, "--json", str(out), "--resume", "--markdown", str(tmp_path / "p")])
    return [one["name"] for one in json.loads(out.read_text())]


def test_going_on_with_results_of_the_same_code(tmp_path, monkeypatch, capsys):
    ran = []

    def perform(job):
        ran.append(job.name)
        return {"name": job.name, "wanted": [], "short": [], "seconds": 1.0}

    monkeypatch.setattr(validate, "perform", perform)
    circle, fifteen = ["--circle", "2-4"], ["--rimea", "--only", "rimea 15"]
    assert len(resumed(tmp_path, *circle)) == len(ran) == 3
    assert len(resumed(tmp_path, *circle)) == len(ran) == 3
    # what is not asked for stays in the file, and on the page
    names = resumed(tmp_path, *fifteen)
    assert (len(ran), len(names)) == (6, 6)
    assert resumed(tmp_path, *fifteen) == names
    assert "3 of 3 numbers of agents" in (tmp_path / "p").read_text("utf-8")
    monkeypatch.setattr(stored, "code", lambda: "other")
    resumed(tmp_path, *circle)
    assert len(ran) == 9
    resumed(tmp_path, *circle, "--seed", "1")
    assert len(ran) == 12
    capsys.readouterr()
    (tmp_path / "out.json").write_text("{}")
    assert validate.main(["--circle", "2", "--json", str(tmp_path / "out.json"), "--resume"]) == 2
    assert "holds no results" in capsys.readouterr().err
    assert validate.main(["--circle", "2", "--resume"]) == 2


def test_the_page_names_what_was_not_run():
    names = validate.everything()
    assert len(names) == len(set(names))
    found = [{"name": name, "wanted": [], "short": []} for name in names]
    assert "Not run" not in page.as_page(found, names)
    left = ("corridor 2000", "circle 2000", "circle 1000", "rvo2 blocks")
    text = page.as_page([one for one in found if one["name"] not in left], names)
    assert "Not run for this page: rvo2 blocks; circle 1000, 2000; corridor 2000." in text


def test_the_page_says_what_it_was_made_with():
    made = {"date": "2026-11-22", "commit": "abc1234"}
    found = [{"name": "rimea 1", "wanted": [], "short": [], "made": made}]
    assert "Run on 2026-11-22, with abc1234." in page.as_page(found)
    origin = stored.origin("pedestrians", 0)
    assert stored.same(origin, origin)
    assert len(origin["made"]["code"]) == 16


def test_those_that_take_longest_come_first():
    options = validate.parse(["--flows", "100,2000", "--circle", "2-4"])
    jobs = validate.jobs_of(options)
    last = {"corridor 100": 1e6}
    order = sorted(jobs, key=lambda job: validate.cost_of(job, last), reverse=True)
    assert [job.name for job in order[:2]] == ["corridor 100", "corridor 2000"]


def test_files_of_one_name_are_two_scenarios(tmp_path, monkeypatch):
    monkeypatch.setattr(validate, "run", lambda scenario, *_more, **_: Outcome(scenario, {}))
    monkeypatch.setattr(steerbench, "load", lambda *_given: alone(goal((10.0, 0.0), 5.0)))
    paths = [tmp_path / folder / "maze.xml" for folder in ("a", "b")]
    jobs = validate.jobs_of(validate.parse([*map(str, paths), str(paths[0]), "forest.xml"]))
    names = [job.name for job in jobs]
    assert names == [(tmp_path / "a/maze").as_posix(), (tmp_path / "b/maze").as_posix(), "forest"]
    made = [job.make(*job.given).name for job in jobs]
    assert made == ["alone"] * 3
    (straight,) = validate.jobs_of(validate.parse(["forest.xml", "--ways", "NONE"]))
    assert (straight.name, straight.given[-1]) == ("forest NONE", "NONE")
    # the name that it was asked for by is that of its result, and of its picture
    kept = []
    monkeypatch.setattr(validate.plots, "trajectories", lambda outcome, _: kept.append(outcome))
    for job in jobs:
        validate.perform(replace(job, plot=tmp_path))
    assert [outcome.scenario.name for outcome in kept] == names


def test_rimea_has_its_fourth_row_and_nothing_is_run_twice():
    names = [job.name for job in validate.jobs_of(validate.parse(["--rimea"]))]
    assert [f"rimea 4 density {n:g}" for n in density.DENSITIES] == names[-7:]
    twice = ["--rimea", "--density", "--circle", "2,2-3", "--flows", "100,100"]
    names = [job.name for job in validate.jobs_of(validate.parse(twice))]
    assert len(names) == len(set(names)) == len(rimea.ROWS) + 7 + 2 + 6


def test_nothing_to_run(capsys):
    assert validate.main([]) == 2
    assert "nothing to run" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        validate.main(["--flows", "many"])


def test_numbers():
    assert validate.numbers("100,500") == [100, 500]
    assert validate.numbers("38-61") == [38, 39, 40, 50, 60]
    assert validate.numbers("57") == [57]


def test_the_page_has_all_results():
    found = [{"name": name, "wanted": [], "short": []} for name in ("maze", "rvo2 circle")]
    found[0].update(arrived=1, agents=3, all_arrive=False)
    found[0].update(short=["arrived_share ≥ 1"])
    found += [{"name": "corridor 1000", "arrived_share": 0.95, "wanted": [], "short": []}]
    found += [{"name": f"antipodal {n}", "end": 9.0, "wanted": [], "short": []} for n in (2, 3)]
    text = page.as_page(found)
    assert "4 of 5 scenarios as wanted" in text
    assert "all agents arrive in 0. The six flow scenes" in text
    assert "| corridor | – (0.89) | – (0.40) | 0.95 (0.29) | – (0.19) |" in text
    assert "2 of 2 numbers of agents as wanted" in text
    assert "| maze | 3 | 1 | no |" in text
    assert text.count("## ") == 4


def test_table_says_what_the_scenario_is_about():
    wanted = ["penetrations ≤ 0", "arrived_share ≥ 1", "area_speed 0.79 to 1.53", "time 26 to 34"]
    result = {"name": "x", "wanted": wanted, "short": [], "area_speed": 1.0584, "time": 30.0}
    assert table.verdict(result) == "ok: area_speed 0.79 to 1.53 (1.058)"
    assert table.verdict({"name": "x", "wanted": wanted[:2], "short": []}) == "ok"
    share = {"name": "x", "wanted": ["arrived_share ≥ 0.6"], "short": [], "arrived_share": 0.75}
    assert table.verdict(share) == "ok: arrived_share ≥ 0.6 (0.75)"


def test_table_says_what_is_short():
    result = {"name": "x", "overlap": 0.5, "wanted": [], "short": ["overlap ≤ 0.02"]}
    assert "SHORT: overlap ≤ 0.02 (0.5)" in table.as_text([result])
    assert "0 of 1 scenarios" in table.summary([result])

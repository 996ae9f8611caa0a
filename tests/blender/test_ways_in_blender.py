"""Ways in Blender: a crowd behind a wall gets to its target, live, baked and from the shell."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import status  # noqa: E402
from steer_addon.blender.live import compiling, live, simulate  # noqa: E402
from steer_addon.blender.overlay import answers, strokes  # noqa: E402
from steer_addon.core.cache import open_cache  # noqa: E402
from steer_addon.core.crowd.settings import BodiesSettings, CrowdSettings  # noqa: E402
from steer_addon.core.crowd.ways_settings import WaysSettings  # noqa: E402
from steer_addon.core.ways.ahead import found as ahead  # noqa: E402
from steer_addon.core.ways.room import BLOCKED  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.test_bake_all import Pressed  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

LAST = 300
"""Walkers at 1.4 m/s have 17 m by then; the way around the wall has 13."""
GOAL = (4.0, 0.0, 0.0)
NAMES = ("id", "position", "velocity", "rotation", "alive")


@pytest.fixture(autouse=True)
def nothing_known():
    answers.forget()
    yield
    answers.forget()


def make_walled(ways="AROUND"):
    """Three people in a pocket of walls that is open behind them, their target outside of it."""
    stack = scenes.seekers({"type": "avoid_neighbors"}, {"type": "arrive"}).behaviors
    bodies = BodiesSettings(collide_agents=True, collide_colliders=True, on_arrival="HOLD_AREA")
    told = CrowdSettings(behaviors=stack, bodies=bodies, ways=WaysSettings(ways=ways))
    crowd = scenes.make_crowd(((-2, 0, 0), (-2.5, 1, 0), (-3, -1, 0)), settings=told)
    scenes.make_target(crowd, GOAL)
    walls = [((0.0, 0.0), (0.2, 3.0)), ((-2.0, 3.0), (2.0, 0.2)), ((-2.0, -3.0), (2.0, 0.2))]
    boxes = []
    for number, ((x, y), (half_x, half_y)) in enumerate(walls):
        wall = scenes.make_box(f"Wall {number}", (x, y, 1.0))
        wall.scale = (half_x, half_y, 1.5)
        boxes.append(wall)
    scenes.make_colliders(crowd, *boxes)
    crowd.steer.frame_end = LAST
    bpy.context.view_layer.objects.active = crowd
    scenes.update()
    return crowd


def gap(frame):
    """How far the agents are from their target [m], the farthest one."""
    return float(np.linalg.norm(frame.position - GOAL, axis=1).max())


def same(one, two):
    return all(np.array_equal(getattr(one, n), getattr(two, n)) for n in NAMES)


@pytest.mark.slow
def test_people_get_out_of_a_pocket_of_walls_only_by_their_ways():
    crowd = make_walled()
    scenes.play(1, LAST)
    assert scenes.code_of(crowd) == ""
    assert gap(live.get_frame(crowd, LAST)) < 1.5
    crowd.steer.ways.ways = "NONE"
    scenes.play(1, LAST)
    stuck = live.get_frame(crowd, LAST)
    assert gap(stuck) > 4.0 and (stuck.position[:, 0] < 0.0).all()


def test_live_scrubbed_and_offline_are_the_same():
    crowd = make_walled()
    scenes.play(1, 80)
    lived = [live.get_frame(crowd, number) for number in range(1, 81)]
    scenes.frame_set(30)
    scenes.frame_set(80)
    again = [live.get_frame(crowd, number) for number in range(1, 81)]
    offline = simulate.run(crowd, bpy.context.scene, range(1, 81))
    for one, two, three in zip(lived, again, offline, strict=True):
        assert same(one, two) and same(one, three)


@pytest.mark.slow
def test_a_bake_and_the_file_opened_again_have_the_same_ways(tmp_path):
    crowd = make_walled()
    path = str(tmp_path / "crowd.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    scenes.play(1, LAST)
    lived = live.get_frame(crowd, LAST)
    crowd.steer.cache_directory = str(tmp_path)
    # in two parts: the second one knows nothing of what the first one found
    crowd.steer.frame_end = 100
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    crowd.steer.frame_end = LAST
    status.refresh(crowd)
    assert bpy.ops.object.steer_cache_continue() == {"FINISHED"}
    cache = open_cache(tmp_path / "Crowd")
    assert same(cache.frame(LAST), lived) and gap(lived) < 1.5
    bpy.ops.wm.open_mainfile(filepath=path)
    crowd = bpy.data.objects["Crowd"]
    assert crowd.steer.ways.ways == "AROUND"
    scenes.play(1, LAST)
    assert same(live.get_frame(crowd, LAST), lived)


def explained(crowd):
    answers.refresh(bpy.context.scene, scenes.deps())
    return answers.get(crowd)


def test_the_overlay_shows_the_way_of_a_picked_agent_and_explains_its_next_step():
    crowd = make_walled()
    overlay = bpy.context.scene.steer_overlay
    overlay.agents = "1"
    scenes.play(1, 12)
    scenes.frame_set(11)
    found = explained(crowd)
    after = live.get_frame(crowd, 12)
    np.testing.assert_array_equal(found.answer.after.velocity, after.velocity)
    told = answers.agent(found, 1, looks=True)
    lines = strokes.looks(told, {"WAYS"}).points.reshape(-1, 2, 3)
    np.testing.assert_array_equal(lines[0, 0], found.answer.agents.position[1])
    np.testing.assert_array_equal(lines[-1, 1], GOAL)
    length = float(np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1).sum())
    (label,) = strokes.way_labels(told)
    # out of the pocket, along its side and to the goal
    assert label.text == f"Way {length:.1f} m" and length > 10.0
    crowd.steer.ways.ways = "NONE"
    told = answers.agent(explained(crowd), 1, looks=True)
    assert not len(strokes.looks(told, {"WAYS"}).points) and not strokes.way_labels(told)


def test_the_walkable_surface_is_drawn_when_it_is_asked_for():
    crowd = make_walled()
    overlay = bpy.context.scene.steer_overlay
    scenes.play(1, 3)
    assert "SURFACE" not in overlay.parts and "WAYS" in overlay.parts
    assert not len(explained(crowd).floor.cells.points)
    overlay.parts |= {"SURFACE"}
    found = explained(crowd)
    points = found.floor.cells.points.reshape(-1, 6, 3)
    assert len(points) == (found.floor.islands.room.state != BLOCKED).sum() > 1000
    middle = points.mean(axis=1)
    # nobody has room in the wall, nor nearer to it than a body's radius and a cell
    assert not ((np.abs(middle[:, 0]) < 0.2) & (np.abs(middle[:, 1]) < 3.0)).any()
    assert len(np.unique(found.floor.cells.colors, axis=0)) == 1
    before = found.floor.cells
    scenes.frame_set(2)
    assert explained(crowd).floor.cells is before
    wall = bpy.data.objects["Wall 0"]
    wall.location.x = 1.0
    scenes.update()
    answers.refresh(bpy.context.scene, scenes.deps())
    moved = found.floor.cells
    assert moved is not before and len(moved.points) != 0
    crowd.steer.motion.motion = "FLY"
    assert not len(explained(crowd).floor.cells.points)


@pytest.fixture
def window(monkeypatch):
    """A window that may wait, and finds each surface large; kernels are there."""
    monkeypatch.setattr(ahead, "LONG", 1)
    monkeypatch.setattr(ahead, "_found", ahead._Found())
    monkeypatch.setattr(compiling, "can_wait", lambda: True)
    yield
    compiling.unregister()


def find():
    """The thread finds what is missing, and the timer looks."""
    compiling._work.thread.join()
    compiling.check_compilation()


def test_a_live_crowd_waits_for_a_large_surface_and_goes_on(window, monkeypatch):
    crowd = make_walled()
    scenes.play(1, 2)
    assert compiling.is_waiting(crowd) and scenes.code_of(crowd) == "FINDING_SURFACE"
    assert compiling.text().startswith("Finding the ")
    assert compiling.state().running
    find()
    assert not compiling.is_waiting(crowd) and scenes.code_of(crowd) == ""
    assert scenes.stored(crowd) == (1, 2)
    scenes.play(1, 60)
    waited = live.get_frame(crowd, 60)
    live.clear(crowd)
    monkeypatch.setattr(compiling, "can_wait", lambda: False)
    scenes.play(1, 60)
    assert same(waited, live.get_frame(crowd, 60))


def test_bakes_find_a_large_surface_in_the_background_with_the_same_bits(
    window, monkeypatch, tmp_path
):
    crowd = make_walled()
    crowd.steer.frame_end, crowd.steer.cache_directory = 30, str(tmp_path)
    pressed, waits = Pressed(monkeypatch), []
    pressed.press(10)
    while (result := pressed.tick()) == {"RUNNING_MODAL"}:
        if compiling.state() is not None:
            waits.append(compiling.text())
            find()
    assert result == {"FINISHED"} and pressed.told == ["Baked 1 crowd"]
    assert waits and all(text.startswith("Finding the ") for text in waits)
    cache = open_cache(crowd.steer.cache_folder)
    monkeypatch.setattr(compiling, "can_wait", lambda: False)
    for frame in simulate.run(crowd, bpy.context.scene, range(1, 31)):
        np.testing.assert_array_equal(cache.frame(frame.number).position, frame.position)

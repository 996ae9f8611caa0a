"""Long searches for ways in Blender: the window shows how far they are, and Esc ends them."""

from __future__ import annotations

import threading

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.live import compiling, live, simulate  # noqa: E402
from steer_addon.core.cache import open_cache  # noqa: E402
from steer_addon.core.ways import known as known_module  # noqa: E402
from steer_addon.core.ways import ways as ways_module  # noqa: E402
from steer_addon.core.ways.ahead import found as ahead  # noqa: E402
from steer_addon.core.ways.ahead import progress, stored  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.test_bake_all import Pressed  # noqa: E402
from tests.blender.test_ways_in_blender import make_walled  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

HELD = 1.3
"""Share at which threads are held: three tenths of the ways, beyond all of the surface."""


@pytest.fixture
def window(monkeypatch):
    """A window that may wait; kernels are there, and searches are reported often."""
    monkeypatch.setattr(ahead, "LONG", 1)
    monkeypatch.setattr(ahead, "_found", ahead._Found())
    monkeypatch.setattr(progress, "SLICE", 100)
    monkeypatch.setattr(compiling, "can_wait", lambda: True)
    compiling._load(None)
    yield
    compiling.unregister()


class Held:
    """Threads that stop while they look for ways, until they may go on."""

    def __init__(self, monkeypatch):
        self.there, self.go_on, self.last = threading.Event(), threading.Event(), 0.0
        told = compiling._Thread._told

        def held(thread, share):
            self.last = share
            told(thread, share)
            if share > HELD:
                self.there.set()
                assert self.go_on.wait(30.0)

        monkeypatch.setattr(compiling._Thread, "_told", held)


@pytest.fixture
def held(window, monkeypatch):
    found = Held(monkeypatch)
    yield found
    found.go_on.set()


def test_the_bar_moves_while_ways_are_looked_for(held):
    crowd = make_walled()
    scenes.play(1, 2)
    thread = compiling._work.thread
    assert held.there.wait(30.0)
    # the timer
    assert compiling.check_compilation() == 0.25
    share = compiling.state().share
    assert 0.3 <= share < 0.9
    assert compiling.text() == f"Finding the ways on it, {held.last - 1.0:.0%}"
    held.go_on.set()
    thread.join()
    compiling.check_compilation()
    assert not compiling.is_waiting(crowd) and scenes.stored(crowd) == (1, 2)


def test_escape_ends_a_long_search(held, tmp_path, monkeypatch):
    crowd = make_walled()
    crowd.steer.cache_directory = str(tmp_path)
    pressed = Pressed(monkeypatch)
    pressed.press(3)
    thread = compiling._work.thread
    assert held.there.wait(30.0)
    pressed.tick()
    assert any("Finding the " in (text or "") for text in pressed.shown)
    assert pressed.escape() == {"CANCELLED"}
    assert not compiling.is_waiting(crowd)
    assert compiling.check_compilation() is None and compiling.state() is None
    last = held.last
    held.go_on.set()
    thread.join(30.0)
    # at the next report, long before all is found
    assert not thread.is_alive() and last <= held.last < 1.7 and not ahead._found.known
    # it plays live, and waits for its own
    scenes.play(1, 2)
    assert compiling.is_waiting(crowd)


def test_another_file_ends_a_long_search(held):
    make_walled()
    scenes.play(1, 2)
    thread = compiling._work.thread
    assert held.there.wait(30.0)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    assert compiling.check_compilation() is None
    held.go_on.set()
    thread.join(30.0)
    assert not ahead._found.known


@pytest.mark.parametrize("baked", [False, True])
def test_a_target_that_moves_far_away_has_the_same_ways(window, baked, monkeypatch, tmp_path):
    monkeypatch.setattr(known_module, "PATIENCE", 500)
    crowd = make_walled()
    target = crowd.steer.target_object
    for frame, x in ((1, 4.0), (10, 4.0), (11, 6.0), (20, 8.0)):
        target.location.x = x
        target.keyframe_insert("location", frame=frame)
    crowd.steer.frame_end, crowd.steer.cache_directory = 25, str(tmp_path)
    waits = []

    def find():
        waits.append(compiling.text())
        compiling._work.thread.join()
        compiling.check_compilation()

    if baked:
        pressed = Pressed(monkeypatch)
        pressed.press(1)
        while (result := pressed.tick()) == {"RUNNING_MODAL"}:
            if compiling.state() is not None:
                find()
        assert result == {"FINISHED"}
        cache = open_cache(crowd.steer.cache_folder)
        found = [cache.frame(number) for number in range(1, 26)]
    else:
        for number in range(1, 26):
            scenes.play(number, number)
            while compiling.is_waiting(crowd):
                find()
                scenes.play(number, number)
        found = [live.get_frame(crowd, number) for number in range(1, 26)]
    assert len(waits) > 1 and all(text.startswith("Finding the ") for text in waits)
    live.clear(crowd)
    monkeypatch.setattr(compiling, "can_wait", lambda: False)
    wanted = simulate.run(crowd, bpy.context.scene, range(1, 26))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one.position, other.position)


@pytest.mark.slow
def test_a_file_that_is_opened_again_and_a_bake_read_the_surface(monkeypatch, tmp_path):
    monkeypatch.setattr(ahead, "LONG", 1)
    monkeypatch.setattr(stored, "WORTH", 0.0)
    monkeypatch.setattr(stored.jit, "cache_root", lambda: tmp_path)
    found, make = [], ways_module.make_surface
    monkeypatch.setattr(ways_module, "make_surface", lambda *a: found.append(a) or make(*a))
    crowd = make_walled()
    crowd_name = crowd.name
    scenes.play(1, 20)
    lived = live.get_frame(crowd, 20)
    assert len(found) == 1
    path = str(tmp_path / "crowd.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    crowd = bpy.data.objects[crowd_name]
    scenes.play(1, 20)
    np.testing.assert_array_equal(live.get_frame(crowd, 20).position, lived.position)
    crowd.steer.frame_end, crowd.steer.cache_directory = 20, str(tmp_path)
    bpy.context.view_layer.objects.active = crowd
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    baked = open_cache(bpy.path.abspath(crowd.steer.cache_folder)).frame(20)
    np.testing.assert_array_equal(baked.position, lived.position)
    assert len(found) == 1

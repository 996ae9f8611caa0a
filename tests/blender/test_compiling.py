"""Crowds that wait for their kernels: held still, told of, and going on by themselves."""

from __future__ import annotations

import threading

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender import registration  # noqa: E402
from steer_addon.blender.live import advancing, compiling, live  # noqa: E402
from steer_addon.blender.overlay import answers  # noqa: E402
from steer_addon.blender.ui import drawing  # noqa: E402
from steer_addon.core.compiled import jit  # noqa: E402
from steer_addon.core.errors import KernelsMissingError  # noqa: E402
from steer_addon.core.step import simulation  # noqa: E402
from steer_addon.core.warmup import processes as warmup  # noqa: E402
from steer_addon.core.warmup.processes import State  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.fake_layout import FakeLayout  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


class FakeCompilation:
    """Replaces the processes, with a given state."""

    made: list[FakeCompilation] = []

    def __init__(self, need):
        self.need = need
        self.now = State(0, 0, True)
        self.stopped = False
        self.made.append(self)

    def start(self, python=None):
        """Nothing is started."""

    def state(self):
        return self.now

    def stop(self):
        self.stopped = True


def compile_all():
    """All that these tests call, so that only what they say is missing."""
    obj = make_surrounded()
    scenes.play(1, 3)
    assert scenes.stored(obj) == (1, 3)
    bpy.ops.wm.read_homefile(use_empty=True)


def make_surrounded():
    """A crowd with a target, colliders and a ground."""
    obj = scenes.make_runner()
    scenes.make_colliders(obj, scenes.make_box(location=(0, 8, 0)))
    obj.steer.ground = scenes.make_ground()
    return obj


@pytest.fixture
def window(monkeypatch):
    """Make Steer find a window, and a missing kernel until that is changed."""
    FakeCompilation.made = []
    compile_all()
    monkeypatch.setattr(warmup, "Compilation", FakeCompilation)
    monkeypatch.setattr(compiling, "can_wait", lambda: not compiling._work.given_up)
    missing = {"now": True}
    step = simulation.advance_together

    def stepping(crowds, meeting):
        if missing["now"] and jit._state.deferring:
            raise KernelsMissingError("steer_addon.core.step.integrate", "integrate_kernel", ("f",))
        step(crowds, meeting)

    monkeypatch.setattr(advancing, "advance_together", stepping)
    yield missing
    compiling.unregister()


def finish(missing=None):
    """Compiling is done, and the timer looks."""
    if missing is not None:
        missing["now"] = False
    FakeCompilation.made[-1].now = State(3, 3, False)
    return compiling.check_compilation()


def test_a_crowd_waits_says_so_and_goes_on(window):
    obj = scenes.make_runner()
    scenes.play(1, 4)
    assert scenes.stored(obj) == (1, 1) and compiling.is_waiting(obj)
    assert scenes.code_of(obj) == "COMPILING"
    assert len(FakeCompilation.made) == 1
    FakeCompilation.made[0].now = State(2, 5, True)
    assert compiling.check_compilation() == 0.25
    layout = FakeLayout()
    drawing.draw_compiling(layout)
    assert layout.texts() == "Compiling kernels, 2 of 5"
    bpy.context.scene.frame_set(2)
    assert finish(window) is None
    assert not compiling.is_waiting(obj) and FakeCompilation.made[0].stopped
    # the frame that it is at follows the one that is stored, and is simulated at once
    assert scenes.stored(obj) == (1, 2) and scenes.code_of(obj) == ""


def test_the_result_is_that_of_a_crowd_that_did_not_wait(window):
    obj = scenes.make_runner()
    scenes.play(1, 6)
    finish(window)
    scenes.play(1, 6)
    waited = live.get_frame(obj, 6).position.tobytes()
    live.clear(obj)
    scenes.play(1, 6)
    assert live.get_frame(obj, 6).position.tobytes() == waited


def test_the_first_crowd_waits_until_the_compiler_is_loaded(window, monkeypatch):
    window["now"] = False
    loading = threading.Event()
    monkeypatch.setattr(jit, "known_status", lambda: None)
    monkeypatch.setattr(jit, "prepare", lambda module: loading.wait(10.0))
    obj = scenes.make_runner()
    scenes.play(1, 3)
    assert scenes.stored(obj) is None and compiling.is_waiting(obj)
    assert compiling.text() == "Loading the compiler" and compiling.state().running
    assert compiling.check_compilation() == 0.25
    monkeypatch.undo()
    monkeypatch.setattr(compiling, "can_wait", lambda: True)
    loading.set()
    compiling._work.thread.join()
    assert compiling.check_compilation() is None
    assert compiling.state() is None and not compiling.is_waiting(obj)
    scenes.play(1, 3)
    assert scenes.stored(obj) == (1, 3) and not FakeCompilation.made


def test_what_cannot_be_loaded_ahead_is_left_to_the_first_frame(window, monkeypatch):
    window["now"] = False

    def fail():
        raise ImportError("broken")

    monkeypatch.setattr(jit, "prepare", fail)
    monkeypatch.setattr(jit, "known_status", lambda: None)
    obj = scenes.make_runner()
    scenes.play(1, 3)
    monkeypatch.undo()
    monkeypatch.setattr(compiling, "can_wait", lambda: True)
    compiling._work.thread.join()
    assert compiling.check_compilation() is None
    scenes.play(1, 3)
    assert scenes.stored(obj) == (1, 3)


def test_the_overlay_does_not_compile_in_the_window(window, monkeypatch):
    """Without this a behavior that was just added froze the window while the overlay was shown."""
    window["now"] = False
    obj = scenes.make_runner()
    scenes.play(1, 3)
    scene = bpy.context.scene
    scene.steer_overlay.crowd = obj

    def missing(*arguments, **named):
        assert jit._state.deferring
        raise KernelsMissingError("steer_addon.core.step.integrate", "integrate_kernel", ("f",))

    monkeypatch.setattr(answers, "_update", missing)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    assert answers.refresh(scene, depsgraph)
    assert compiling.is_waiting(obj) and len(FakeCompilation.made) == 1
    assert answers.get(obj).notes[0].code == "COMPILING"
    # and it is not asked again before they are there
    monkeypatch.setattr(answers, "_update", lambda *arguments: pytest.fail("asked"))
    answers.refresh(scene, depsgraph)
    answers.forget()


def test_what_is_needed_is_told(window):
    make_surrounded()
    scenes.play(1, 2)
    need = FakeCompilation.made[0].need
    assert need.colliders and need.ground
    assert need.told["behaviors"][0]["type"] == "seek"
    assert need.missing[0].kernel[1] == "integrate_kernel"


def test_a_kernel_that_stays_missing_is_compiled_at_once(window):
    obj = scenes.make_runner()
    scenes.play(1, 2)
    finish()
    scenes.play(1, 3)
    assert compiling._work.given_up and not compiling.is_waiting(obj)
    scenes.play(1, 3)
    assert scenes.stored(obj) == (1, 3)


def test_processes_that_fail_leave_it_to_blender(window):
    obj = scenes.make_runner()
    scenes.play(1, 2)
    FakeCompilation.made[0].now = State(0, 0, False, "a process ended with 1")
    compiling.check_compilation()
    scenes.play(1, 3)
    assert scenes.stored(obj) == (1, 3)


def test_opening_another_file_while_compiling_is_safe(window):
    scenes.make_runner()
    scenes.play(1, 2)
    bpy.ops.wm.read_homefile(use_empty=True)
    assert compiling.state() is not None and not compiling._waits.by_uid()
    other = scenes.make_runner()
    scenes.play(1, 2)
    assert compiling.is_waiting(other) and len(FakeCompilation.made) == 1
    assert finish(window) is None
    scenes.play(1, 2)
    assert scenes.stored(other) == (1, 2)


def test_deleting_a_crowd_that_waits_is_safe(window):
    obj = scenes.make_runner()
    scenes.play(1, 2)
    bpy.data.objects.remove(obj)
    assert finish(window) is None


def test_disabling_while_compiling_leaves_no_process_and_no_timer(window):
    scenes.make_runner()
    scenes.play(1, 2)
    assert bpy.app.timers.is_registered(compiling.check_compilation)
    bpy.ops.wm.read_homefile(use_empty=True)
    registration.unregister()
    try:
        assert FakeCompilation.made[0].stopped
        assert not bpy.app.timers.is_registered(compiling.check_compilation)
        assert compiling.check_compilation() is None
    finally:
        registration.register()


def test_disabling_while_the_compiler_is_loaded_waits_for_it(window, monkeypatch):
    obj = make_surrounded()
    loading, loaded = threading.Event(), threading.Event()

    def prepare(_module):
        loading.set()
        loaded.wait(10.0)

    monkeypatch.setattr(jit, "prepare", prepare)
    monkeypatch.setattr(jit, "known_status", lambda: None)
    scenes.play(1, 2)
    loader = compiling._work.thread
    assert compiling.is_waiting(obj) and loading.wait(10.0)
    threading.Timer(0.2, loaded.set).start()
    registration.unregister()
    assert not loader.is_alive()
    assert not bpy.app.timers.is_registered(compiling.check_compilation)
    registration.register()


def test_without_a_window_kernels_compile_at_once():
    assert bpy.app.background and not compiling.can_wait()
    obj = scenes.make_runner()
    scenes.play(1, 3)
    assert scenes.stored(obj) == (1, 3) and compiling.state() is None

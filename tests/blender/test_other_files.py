"""Opening another file while something is under way: nothing fails, and nothing is lost."""

from __future__ import annotations

import gc
from types import SimpleNamespace

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import cached, status  # noqa: E402
from steer_addon.blender.live import live, simulate  # noqa: E402
from steer_addon.blender.operators import baking as operators  # noqa: E402
from steer_addon.blender.overlay import answers, handlers  # noqa: E402
from steer_addon.core.cache import open_cache  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.cached_crowds import END, LAST, bits, make_walkers, run_to  # noqa: E402
from tests.blender.drawn import draw_all  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def saved(tmp_path, monkeypatch):
    """A crowd in a saved file."""
    crowd = make_walkers(tmp_path, monkeypatch)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "crowd.blend"))
    return crowd


class Modal(operators.BakeOperator):
    """A bake as the window runs it."""

    def __init__(self, crowd, folder, how=cached.begin):
        self.crowd, self.folder, self.how = crowd, folder, how
        self.timers, self.reports = [], []

    def begin(self, context):
        return self.how(self.crowd, context.scene, self.folder)

    def report(self, kind, text):
        self.reports.append(text)


def modal_context(crowd, operator):
    manager = SimpleNamespace(
        event_timer_add=lambda step, window: operator.timers.append("timer") or "timer",
        event_timer_remove=operator.timers.remove,
        progress_begin=lambda low, high: None,
        progress_update=lambda value: None,
        progress_end=lambda: None,
        modal_handler_add=lambda operator: True,
    )
    return SimpleNamespace(
        object=crowd,
        scene=bpy.context.scene,
        window="window",
        window_manager=manager,
        workspace=SimpleNamespace(status_text_set=lambda text: None),
    )


def start(crowd, folder, monkeypatch, ticks):
    """A modal bake after a number of steps."""
    monkeypatch.setattr(
        operators, "bpy", SimpleNamespace(app=SimpleNamespace(background=False), types=bpy.types)
    )
    monkeypatch.setattr(operators, "_TICK", 1.5)
    monkeypatch.setattr(operators.time, "perf_counter", iter(range(10**6)).__next__)
    operator = Modal(crowd, folder)
    context = modal_context(crowd, operator)
    assert operator.invoke(context, None) == {"RUNNING_MODAL"}
    for _ in range(ticks):
        operator.modal(context, SimpleNamespace(type="TIMER", value="NOTHING"))
    assert status.busy and operator.timers
    return operator, context


@pytest.mark.parametrize("order", ["Blender's", "too late"])
def test_a_bake_is_ended_and_keeps_what_is_done(saved, tmp_path, monkeypatch, order):
    folder = tmp_path / "cut"
    operator, context = start(saved, folder, monkeypatch, 14)
    if order == "Blender's":
        # operators are ended before the data of the old file goes
        operator.cancel(context)
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "crowd.blend"))
    else:
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "crowd.blend"))
        operator.cancel(context)
    assert not status.busy and not operator.timers and not operators._running
    assert operators.why_busy(bpy.context) == ""
    assert bpy.data.scenes.keys() == ["Scene"] and not status.is_suspended()
    kept = open_cache(folder).frames
    assert len(kept) >= 10 and not operator.reports
    # and the opened file continues the bake, to the same bits
    monkeypatch.undo()
    from steer_addon.core.cache import layout

    monkeypatch.setattr(layout, "CHUNK_FRAMES", 10)
    crowd = bpy.data.objects["Crowd"]
    run_to(cached.resume(crowd, bpy.context.scene, folder), END)
    run_to(cached.begin(crowd, bpy.context.scene, tmp_path / "uncut"), END)
    assert bits(folder) == bits(tmp_path / "uncut")
    assert open_cache(folder).frames == range(1, LAST + 1)


def test_a_bake_that_a_script_began_dies_quietly(saved, tmp_path, capfd):
    bake = cached.begin(saved, bpy.context.scene, tmp_path / "script")
    for _ in range(3):
        next(bake.steps)
    bpy.ops.wm.read_homefile(use_empty=True)
    del bake
    gc.collect()
    assert "Error" not in capfd.readouterr().err
    scenes.make_runner()
    scenes.play(1, 3)
    assert not status.is_suspended()


def test_a_simulation_that_was_looked_at_half_dies_quietly(saved, capfd):
    frames = simulate.run(saved, bpy.context.scene, range(1, LAST + 1))
    next(frames)
    bpy.ops.wm.read_homefile(use_empty=True)
    frames.close()
    assert "Error" not in capfd.readouterr().err and not status.is_suspended()


def test_what_the_overlay_knows_is_forgotten(saved, tmp_path):
    scenes.play(1, 5)
    scene = bpy.context.scene
    scene.steer_overlay.show, scene.steer_overlay.agents = True, "1"
    answers.refresh(scene, scenes.deps())
    assert answers.get(saved).answer is not None
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "crowd.blend"))
    assert not answers._explained.by_uid() and live.runs.by_uid() == {}
    handlers.on_change(bpy.context.scene, scenes.deps())
    draw_all()


def test_a_crowd_that_plays_is_another_one_after_reverting(saved, tmp_path):
    scenes.play(1, 5)
    before = live.get_frame(saved, 5).position.copy()
    bpy.ops.wm.revert_mainfile()
    crowd = bpy.data.objects["Crowd"]
    assert scenes.stored(crowd) is None
    scenes.play(1, 5)
    assert live.get_frame(crowd, 5).position.tobytes() == before.tobytes()

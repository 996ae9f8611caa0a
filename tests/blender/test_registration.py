"""Enabling and disabling, also again and again, leaves no trace and does not load numba."""

from __future__ import annotations

import gc
import inspect
import json
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

import steer_addon  # noqa: E402
from steer_addon.blender import preferences, registration  # noqa: E402
from steer_addon.blender.bake import cached, status  # noqa: E402
from steer_addon.blender.crowd import crowds  # noqa: E402
from steer_addon.blender.live import compiling  # noqa: E402
from steer_addon.blender.operators import baking  # noqa: E402
from steer_addon.blender.overlay import (  # noqa: E402
    gizmos,
    handlers,
    view,
)
from steer_addon.blender.ui import menus, previews  # noqa: E402
from steer_addon.core.compiled import jit  # noqa: E402
from steer_addon.core.errors import KernelsMissingError, SteerError  # noqa: E402
from steer_addon.core.warmup import processes as warmup  # noqa: E402
from steer_addon.core.warmup.processes import State  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.crowd_makers import make_crowd, make_empty  # noqa: E402
from tests.ended import ENDED  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]


def traces():
    """All places of Blender where an extension can leave something."""
    return {
        "classes": sorted(name for name in dir(bpy.types) if "steer" in name.lower()),
        "registered": sorted(f"{c.__module__}.{c.__name__}" for c in registered_classes()),
        "operators": [name for name in dir(bpy.ops.object) if "steer" in name],
        "menus": draw_functions_of_steer(),
        "handlers": {
            name: [call.__module__ for call in kept if call.__module__.startswith("steer_addon")]
            for name in dir(bpy.app.handlers)
            if isinstance(kept := getattr(bpy.app.handlers, name), list)
        },
        "properties": [
            (cls.__name__, name)
            for cls in (bpy.types.WindowManager, *bpy.types.ID.__subclasses__())
            for name in dir(cls)
            if "steer" in name.lower()
        ],
        "timers": [call.__qualname__ for call in functions() if is_timer(call)],
        "threads": [t.name for t in threading.enumerate() if "steer" in t.name.lower()],
        "draw callbacks": len(view._handles),
        "pictures": len(previews._collection),
        "keymaps": keymap_items(),
        "preset folders": [path for path in bpy.utils.preset_paths("") if "steer" in path],
        "bakes": len(status.busy),
    }  # fmt: skip


def registered_classes():
    """Classes of Steer that Blender knows; property groups are made again each time."""
    for kind in ("Operator", "Panel", "Menu", "UIList", "FileHandler", "PropertyGroup"):
        for cls in getattr(bpy.types, kind).__subclasses__():
            if cls.__module__.startswith("steer_addon") and cls.is_registered:
                yield cls


def draw_functions(menu):
    return getattr(getattr(bpy.types, menu).draw, "_draw_funcs", [])


def draw_functions_of_steer():
    """Functions of Steer in any menu, panel or header of Blender, by its name."""
    found = {}
    for name in dir(bpy.types):
        draw = getattr(getattr(bpy.types, name), "draw", None)
        mine = [f for f in getattr(draw, "_draw_funcs", ()) if f.__module__.startswith("steer_a")]
        if mine:
            found[name] = len(mine)
    return found


def functions():
    """All functions of Steer's modules: any of them may be a timer."""
    modules = [m for name, m in sys.modules.items() if name.startswith("steer_addon.blender")]
    return {v for m in modules for v in vars(m).values() if inspect.isfunction(v)}


def is_timer(call):
    return bpy.app.timers.is_registered(call)


def keymap_items():
    """Keys of all configurations that run something of Steer, and how many add-ons have any."""
    found = []
    manager = bpy.context.window_manager
    for config in (manager.keyconfigs.addon, manager.keyconfigs.user, manager.keyconfigs.default):
        for keymap in () if config is None else config.keymaps:
            found += [item.idname for item in keymap.keymap_items if "steer" in item.idname]
    addon = manager.keyconfigs.addon
    return found, 0 if addon is None else sum(len(k.keymap_items) for k in addon.keymaps)


@pytest.fixture
def disabled(empty_scene):
    """Steer taken out for the test."""
    # runs that earlier tests dropped in their midst end now, and not during this one
    gc.collect()
    registration.unregister()
    yield
    if not hasattr(bpy.types.Object, "steer"):
        registration.register()


def test_no_thread_is_left_when_it_is_disabled(empty_scene):
    jit._pool().submit(int).result()
    assert any("steer" in name for name in traces()["threads"])
    registration.unregister()
    left = traces()["threads"]
    registration.register()
    assert left == []


def test_three_times_leaves_nothing(disabled):
    before = traces()
    assert {kind: before[kind] for kind in EMPTY if before[kind]} == {}
    assert not any(before["handlers"].values())
    enabled = []
    for _ in range(3):
        registration.register()
        enabled.append(traces())
        registration.unregister()
        assert traces() == before
    assert enabled[0] == enabled[1] == enabled[2]
    assert enabled[0]["timers"] and any(enabled[0]["handlers"].values())
    # nothing takes a key that Blender, or the user, uses
    assert enabled[0]["keymaps"] == before["keymaps"]


EMPTY = (
    "classes", "registered", "operators", "menus", "properties", "timers", "threads",
    "draw callbacks", "pictures", "bakes",
)  # fmt: skip


class Window:
    """Stands for bpy where Steer is to believe that there is a window."""

    def __init__(self):
        self.drawn = []
        self.app = Forward(bpy.app, background=False)
        space = SimpleNamespace(
            draw_handler_add=lambda *call: self.drawn.append(call) or call,
            draw_handler_remove=lambda call, region: self.drawn.remove(call),
        )
        self.types = Forward(bpy.types, SpaceView3D=space)

    def __getattr__(self, name):
        return getattr(bpy, name)


class Forward:
    """Another object, but for some names."""

    def __init__(self, kept, **names):
        self.kept = kept
        vars(self).update(names)

    def __getattr__(self, name):
        return getattr(self.kept, name)


@pytest.fixture
def window(monkeypatch):
    shown = Window()
    for module in (handlers, view, status, compiling):
        monkeypatch.setattr(module, "bpy", shown)
    yield shown
    if hasattr(bpy.types.Object, "steer"):
        # a test that fails in its midst leaves nothing that only this window knows
        registration.unregister()


def test_in_the_midst_of_work_nothing_is_left_either(disabled, window, monkeypatch, tmp_path):
    monkeypatch.setattr(warmup, "Compilation", FakeCompilation)
    at_exit = set()
    known = SimpleNamespace(register=at_exit.add, unregister=at_exit.discard)
    monkeypatch.setattr(compiling, "atexit", known)
    before = traces()
    for turn in range(3):
        registration.register()
        crowd = make_crowd()
        crowd.steer.target_object = make_empty()
        bpy.context.view_layer.objects.active = crowd
        crowd.steer.cache_directory = str(tmp_path)
        scenes.play(1, 3)
        bpy.context.scene.steer_overlay.show = True
        assert len(window.drawn) == 2 and is_timer(handlers._refresh_all)
        status._check_later()
        bpy.app.timers.register(gizmos._push_undo)
        compiling.begin(crowd, KernelsMissingError("m", "k", ("f",)), lambda uids: None)
        assert is_timer(compiling.check_compilation) and at_exit == {compiling.stop}
        baking = Modal()
        baking.begin(crowd, tmp_path / f"bake_{turn}")
        assert len(status.busy) == 1
        registration.unregister()
        assert traces() == before and not window.drawn and baking.timers == []
        assert at_exit == set()
        assert bpy.data.scenes.keys() == ["Scene"]
        bpy.ops.wm.read_homefile(use_empty=True)


class FakeCompilation:
    """Stands for the processes."""

    def __init__(self, need):
        self.running = State(0, 3, True)

    def start(self, python=None):
        """Nothing is started."""

    def state(self):
        return self.running

    def stop(self):
        """Nothing is there."""


class Modal(baking.BakeOperator):
    """A bake in steps, without the window that would run it."""

    def __init__(self):
        self.timers = []

    def report(self, kind, text):
        raise AssertionError(text)

    def begin(self, crowd, folder):
        manager = SimpleNamespace(event_timer_remove=self.timers.remove, progress_end=lambda: None)
        self._object, self._timer = crowd, "timer"
        self.timers.append(self._timer)
        self._bake = cached.begin(crowd, bpy.context.scene, folder)
        next(self._bake.steps)
        status.busy.append(self._bake)
        baking._running.append(self)
        self.context = SimpleNamespace(
            window_manager=manager, workspace=SimpleNamespace(status_text_set=lambda text: None)
        )

    def cancel(self, context):
        super().cancel(self.context)


def test_settings_outlive_disabling(disabled):
    registration.register()
    crowd = make_crowd()
    crowd.steer.behaviors[0].weight, crowd.steer.agents.radius = 2.5, 0.7
    registration.unregister()
    registration.register()
    assert crowds.is_crowd(crowd)
    assert crowd.steer.behaviors[0].weight == 2.5
    assert crowd.steer.agents.radius == pytest.approx(0.7)


def test_nothing_subscribes_to_messages_or_takes_keys():
    for path in (ROOT / "steer_addon").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        # such a subscription or key would have to be among the traces
        assert "msgbus" not in text and "keyconfigs" not in text, path


def test_all_is_there_when_enabled(empty_scene):
    found = traces()
    assert ("Object", "steer") in found["properties"]
    assert {"STEER_MT_presets", "STEER_UL_behaviors", "PHYSICS_PT_steer"} <= set(found["classes"])
    assert "PHYSICS_PT_steer_behaviors" in found["classes"]
    assert "steer_add_crowd" in found["operators"]
    for menu, draw in menus.ENTRIES:
        assert draw in draw_functions(menu)


def test_a_step_that_fails_leaves_nothing(disabled, monkeypatch):
    def fail():
        raise SteerError("no")

    before = traces()
    steps = (*registration.STEPS, (fail, lambda: None))
    with monkeypatch.context() as patched:
        patched.setattr(registration, "STEPS", steps)
        with pytest.raises(SteerError):
            registration.register()
    assert traces() == before


def test_every_class_has_a_text_and_a_name_of_its_own():
    names = [cls.__name__ for cls in registration.CLASSES]
    assert len(set(names)) == len(names)
    for cls in registration.CLASSES:
        assert cls.__doc__ and not cls.__doc__.strip().endswith(".")
        if issubclass(cls, bpy.types.Operator):
            assert cls.bl_label and cls.bl_idname.startswith("object.steer_")


def run_python(code):
    result = subprocess.run(
        [sys.executable, "-c", code + ENDED], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.strip().splitlines()[-1])


def test_enabling_loads_no_compiler():
    found = run_python(
        "import bpy, json, sys, steer_addon\n"
        "steer_addon.register()\n"
        "loaded = [m for m in sys.modules if m.split('.')[0] in ('numba', 'llvmlite')]\n"
        "steer_addon.unregister()\n"
        "print(json.dumps(loaded))"
    )
    assert found == []


def test_enabling_loads_only_what_blender_asks_for():
    found = run_python(
        "import bpy, json, sys, steer_addon\n"
        "steer_addon.register()\n"
        "print(json.dumps([m for m in sys.modules if m.startswith('steer_addon.')]))\n"
        "steer_addon.unregister()"
    )
    # every module takes time at each start of Blender, with a crowd or without
    late = (
        "core.step.simulation", "core.step.solver", "core.results.frames", "core.inputs.targets",
        "core.views", "core.crowd.presets",
        "blender.ui.drawing", "blender.checks.advice", "blender.display.node_builder",
        "blender.reading.scene_meshes", "blender.playback", "blender.overlay.answers",
        "blender.overlay.view", "blender.writing.usd_points",
    )  # fmt: skip
    assert [name for name in late if f"steer_addon.{name}" in found] == []


def test_the_command_is_there_only_while_enabled(disabled, monkeypatch):
    if not hasattr(bpy.utils, "register_cli_command"):
        pytest.skip("this Blender has no commands")
    known = []
    monkeypatch.setattr(
        bpy.utils, "register_cli_command", lambda name, run: known.append(name) or name
    )
    monkeypatch.setattr(bpy.utils, "unregister_cli_command", known.remove)
    steer_addon.register()
    assert known == ["steer"]
    steer_addon.unregister()
    assert known == []


@pytest.mark.parametrize(
    ("package", "expected"),
    [
        ("steer_addon.blender", "steer_addon"),
        ("bl_ext.user_default.steer.steer_addon.blender", "bl_ext.user_default.steer"),
    ],
)
def test_the_extension_is_known_by_its_root_package(monkeypatch, package, expected):
    monkeypatch.setattr(preferences, "__package__", package)
    assert preferences.root_package() == expected

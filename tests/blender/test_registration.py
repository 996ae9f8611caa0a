"""Enabling and disabling, also again and again, leaves no trace and does not load numba."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender import compiling, menus, previews, registration  # noqa: E402
from steer_addon.core.errors import SteerError  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]


def traces():
    """All places of Blender where an extension can leave something."""
    groups = [c for c in bpy.types.PropertyGroup.__subclasses__() if c.is_registered]
    return {
        "classes": sorted(name for name in dir(bpy.types) if "steer" in name.lower()),
        "groups": sorted(cls.__name__ for cls in groups),
        "operators": [name for name in dir(bpy.ops.object) if "steer" in name],
        "menus": {name: len(draw_functions(name)) for name, _ in menus.ENTRIES},
        "handlers": {
            name: len(kept)
            for name in dir(bpy.app.handlers)
            if isinstance(kept := getattr(bpy.app.handlers, name), list)
        },
        "object": hasattr(bpy.types.Object, "steer"),
        "properties": [
            (cls.__name__, name)
            for cls in (bpy.types.Object, bpy.types.Scene, bpy.types.WindowManager)
            for name in dir(cls)
            if "steer" in name.lower()
        ],
        "timer": bpy.app.timers.is_registered(compiling._look),
        "pictures": len(previews._collection),
        "keymaps": keymap_count(),
    }  # fmt: skip


def draw_functions(menu):
    return getattr(getattr(bpy.types, menu).draw, "_draw_funcs", [])


def keymap_count():
    config = bpy.context.window_manager.keyconfigs.addon
    return 0 if config is None else sum(len(keymap.keymap_items) for keymap in config.keymaps)


@pytest.fixture
def disabled(empty_scene):
    """Steer taken out for the test."""
    registration.unregister()
    yield
    if not hasattr(bpy.types.Object, "steer"):
        registration.register()


def test_three_times_leaves_nothing(disabled):
    before = traces()
    assert not before["classes"] and not before["operators"] and not before["object"]
    enabled = []
    for _ in range(3):
        registration.register()
        enabled.append(traces())
        registration.unregister()
        assert traces() == before
    assert enabled[0] == enabled[1] == enabled[2]


def test_all_is_there_when_enabled(empty_scene):
    found = traces()
    assert found["object"]
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
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
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


def test_the_command_is_there_only_while_enabled(disabled, monkeypatch):
    if not hasattr(bpy.utils, "register_cli_command"):
        pytest.skip("this Blender has no commands")
    known = []
    monkeypatch.setattr(
        bpy.utils, "register_cli_command", lambda name, run: known.append(name) or name
    )
    monkeypatch.setattr(bpy.utils, "unregister_cli_command", known.remove)
    registration.register()
    assert known == ["steer"]
    registration.unregister()
    assert known == []


@pytest.mark.parametrize(
    ("package", "expected"),
    [
        ("steer_addon.blender", None),
        ("bl_ext.user_default.steer.steer_addon.blender", "bl_ext.user_default.steer"),
    ],
)
def test_the_extension_is_known_by_its_root_package(monkeypatch, package, expected):
    monkeypatch.setattr(registration, "__package__", package)
    assert registration.extension_package() == expected

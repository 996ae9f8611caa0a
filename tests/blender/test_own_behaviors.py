"""Behaviors of the user's own folder in Blender: named in the preferences of the extension.

In a process of its own, with the checkout as the extension that Blender enables.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from own_files import BROKEN, folder_with_example

from tests.blender.test_extension_install import ENABLE, ROOT, SESSION, run_blender

pytest.importorskip("bpy", reason="bpy is not installed")

BEGIN = f"""
{SESSION}
import importlib
import math
import numpy as np
{ENABLE}
def part(name):
    return importlib.import_module(MODULE + ".steer_addon." + name)

def preferences():
    return bpy.context.preferences.addons[MODULE].preferences

def own():
    return part("core.own_behaviors")

def again():
    assert bpy.ops.preferences.steer_load_behaviors() == {{"FINISHED"}}
    timer = part("blender.preferences").enable_again
    assert bpy.app.timers.is_registered(timer)
    # timers wait for a window
    bpy.app.timers.unregister(timer)
    timer()

def crowd(*types):
    mesh = bpy.data.meshes.new("Points")
    mesh.from_pydata([(0.0, 0.0, 0.0), (0.0, 2.0, 0.0)], [], [])
    obj = bpy.data.objects.new("Crowd", mesh)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    assert bpy.ops.object.steer_add_modifier() == {{"FINISHED"}}
    obj.steer.behaviors.clear()
    for kind in types:
        assert bpy.ops.object.steer_behavior_add(type=kind) == {{"FINISHED"}}
    return obj

assert preferences().behaviors_folder == "" and own().loaded() == {{}}
"""

FOLLOWS = """
preferences().behaviors_folder = sys.argv[1]
again()
assert list(own().loaded()) == ["follow_beat"] and own().faults() == [], own().faults()
obj = crowd("seek", "follow_beat")
target = bpy.data.objects.new("Target", None)
target.location = (1000.0, 0.0, 0.0)
bpy.context.scene.collection.objects.link(target)
obj.steer.target_object = target
obj.steer.solver.solver, obj.steer.solver.acc_weight = "VEX", 1.0
obj.steer.agents.max_speed = 1.5
beat = obj.steer.behaviors[1].follow_beat
assert beat.bl_rna.properties["tempo"].description.startswith("Beats per minute")
beat.tempo, beat.depth = 90.0, 0.4
scene = bpy.context.scene
scene.render.fps = 24
places = []
for frame in range(1, 32):
    scene.frame_set(frame)
    places.append(np.array(part("blender.overlay.seen").seen_frame(obj, scene).position))
speeds = np.linalg.norm(np.diff(places, axis=0), axis=2) * 24
time = np.arange(30) / 24
expected = 1.5 * (1.0 + 0.4 * np.cos(2.0 * np.pi * 1.5 * time))
np.testing.assert_allclose(speeds, np.stack([expected] * 2, axis=1), rtol=1e-3)

# settings stay where the behavior is loaded again, and where it is gone for a while
beat.depth = 0.25
again()
assert obj.steer.behaviors[1].follow_beat.depth == 0.25
preferences().behaviors_folder = ""
again()
assert own().loaded() == {} and not hasattr(obj.steer.behaviors[1], "follow_beat")
try:
    part("blender.crowd.properties").settings_of(obj)
except part("core.errors").ParameterError as error:
    assert "that this version of Steer does not have" in str(error), error
else:
    raise AssertionError("a behavior that is not there passed")
preferences().behaviors_folder = sys.argv[1]
again()
assert obj.steer.behaviors[1].follow_beat.depth == 0.25
bpy.ops.wm.save_userpref()
print("FOLLOWED")
"""

STARTS = """
# as Blender does when it starts
bpy.ops.wm.read_userpref()
assert list(own().loaded()) == ["follow_beat"], own().faults()
bpy.ops.preferences.addon_disable(module=MODULE)
print("STARTED")
"""

BREAKS = """
preferences().behaviors_folder = sys.argv[1]
again()
(fault,) = own().faults()
assert fault.line == 2 and "wrong_syntax.py" in str(fault), fault
assert list(own().loaded()) == ["follow_beat"]
drawn = []

class Layout:
    def row(self, **more): return self
    def column(self, **more): return self
    def label(self, text="", **more): drawn.append(text)
    def prop(self, owner, name, **more): drawn.append(name)
    def operator(self, name, **more): drawn.append(name)

class Preferences:
    layout = Layout()

part("blender.preferences").SteerPreferences.draw(Preferences, bpy.context)
assert "behaviors_folder" in drawn and "preferences.steer_load_behaviors" in drawn
assert "Follow Beat" in " ".join(drawn), drawn
# a long path is broken anywhere into lines
told = "".join(drawn).replace(" ", "")
assert "wrong_syntax.py,line2" in told and "SyntaxError" in told, told
for folder in ("//behaviors", MODULE and str(sys.argv[2])):
    preferences().behaviors_folder = folder
    again()
    assert own().loaded() == {} and len(own().faults()) == 1, own().faults()
print("BROKEN")
"""

UNFIT = """
preferences().behaviors_folder = sys.argv[1]
again()
# an entry of the list has a property of that name already
(fault,) = own().faults()
assert own().loaded() == {} and "use_own_target" in str(fault), fault
assert crowd("seek").steer.behaviors[0].type == "seek"
print("UNFIT")
"""


@pytest.fixture(autouse=True)
def _uncompiled(monkeypatch) -> None:
    """Two agents need no compiler."""
    monkeypatch.setenv("STEER_JIT", "0")


def blender(tmp_path: Path, code: str, *arguments: object) -> str:
    """Run code in a Blender that has the checkout as its extension."""
    folder = tmp_path / "resources" / "extensions" / "user_default"
    if not folder.is_dir():
        folder.mkdir(parents=True)
        (folder / "steer").symlink_to(ROOT, target_is_directory=True)
    return run_blender(code, tmp_path / "resources", *map(str, arguments))


@pytest.mark.slow
def test_the_folder_of_the_preferences_is_loaded_and_the_crowd_follows_the_beat(tmp_path):
    folder = folder_with_example(tmp_path / "mine")
    assert "FOLLOWED" in blender(tmp_path, BEGIN + FOLLOWS, folder)
    # the next Blender has the setting, and so has the next version of the extension
    begin = BEGIN.replace(ENABLE, "").rpartition("assert preferences()")[0]
    assert "STARTED" in blender(tmp_path, begin + STARTS, folder)


def test_broken_files_are_told_in_the_preferences(tmp_path):
    folder = folder_with_example(tmp_path / "mine")
    name = "wrong_syntax.py"
    (folder / name).write_text(BROKEN[name][0], encoding="utf-8")
    inside = tmp_path / "resources" / "extensions" / "user_default" / "steer" / "docs"
    assert "BROKEN" in blender(tmp_path, BEGIN + BREAKS, folder, inside)


@pytest.mark.slow
def test_steer_is_enabled_without_what_blender_cannot_take(tmp_path):
    folder = folder_with_example(tmp_path / "mine")
    path = folder / "follow_beat.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("class FollowBeat", "class UseOwnTarget"), encoding="utf-8")
    assert "UNFIT" in blender(tmp_path, BEGIN + UNFIT, folder)

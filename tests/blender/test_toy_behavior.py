"""The one new file of a behavior is enough for Blender's properties and menus too."""

from __future__ import annotations

from pathlib import Path

import pytest
from toy_package import copy_with_toy, run_in

pytest.importorskip("bpy", reason="bpy is not installed")

from tests.ended import ENDED

REGISTERED = """
import os
import bpy, steer_addon
assert os.path.dirname(os.path.dirname(steer_addon.__file__)) == os.getcwd(), steer_addon.__file__
steer_addon.register()
"""

POINTS = """
bpy.ops.wm.read_homefile(use_empty=True)
mesh = bpy.data.meshes.new("Points")
mesh.from_pydata([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)], [], [])
obj = bpy.data.objects.new("Points", mesh)
bpy.context.scene.collection.objects.link(obj)
bpy.context.view_layer.objects.active = obj
obj.select_set(True)
"""

PROPERTIES = """
item = obj.steer.behaviors.add()
item.type = "toy"
toy = item.toy
assert (toy.pace, toy.hops, toy.way, toy.target_choice) == (0.5, 3, "TOWARD", "NEAREST")
toy.pace, toy.hops = 100.0, 0
assert (toy.pace, toy.hops) == (8.0, 1)
toy.pace = 0.0
assert toy.pace == 0.25
props = toy.bl_rna.properties
pace, hops, way = props["pace"], props["hops"], props["way"]
assert (pace.hard_min, pace.hard_max, pace.soft_max, pace.unit) == (0.25, 8.0, 4.0, "VELOCITY")
assert (hops.hard_min, hops.hard_max) == (1, 9)
assert [(i.identifier, i.description) for i in way.enum_items] == [
    ("TOWARD", "To the target"), ("AWAY", "From the target")]
texts = {"pace": "Speed of a hop; more is wilder", "hops": "Hops at once; more goes farther",
         "way": "Where to hop"}
assert {name: props[name].description for name in texts} == texts
assert obj.keyframe_insert("steer.behaviors[0].toy.pace", frame=1)
assert obj.keyframe_insert("steer.behaviors[0].weight", frame=1)
item = type(item).bl_rna.properties["type"].enum_items["toy"]
assert (item.name, item.description, item.icon) == ("Toy Hop", "Hop about like a toy", "MONKEY")
"""

MENUS = """
from steer_addon.blender.ui import drawing
from steer_addon.blender.ui.menus import STEER_MT_behavior_add
from steer_addon.blender.operators.behaviors import OBJECT_OT_steer_behavior_add as Add

drawn = []

class Row:
    type = ""

class Layout:
    operator_context = ""
    def column(self, **more): return self
    def row(self, **more): return self
    def separator(self, **more): pass
    def label(self, text="", **more): drawn.append(text)
    def prop(self, owner, name, **more): drawn.append(name)
    def operator(self, name, text="", **more):
        row = Row()
        drawn.append((name, text, row))
        return row

class Menu:
    layout = Layout()

STEER_MT_behavior_add.draw(Menu, bpy.context)
place = drawn.index("Toys")
name, text, row = drawn[place + 1]
assert (name, text, row.type) == ("object.steer_behavior_add", "Toy Hop", "toy"), drawn
row.type = "toy"
assert Add.description(bpy.context, row) == "Hop about like a toy"
assert bpy.ops.object.steer_add_modifier() == {"FINISHED"}
assert bpy.ops.object.steer_behavior_add(type="toy") == {"FINISHED"}
assert obj.steer.behaviors[-1].type == "toy"
drawing.draw_entry(Layout(), None, obj.steer.behaviors[-1])
shown = [entry for entry in drawn[place + 2 :] if isinstance(entry, str)]
assert {"weight", "pace", "hops", "way", "target_choice"} <= set(shown), drawn
assert bpy.ops.object.steer_preset_apply(name="toys") == {"FINISHED"}
item, = obj.steer.behaviors
assert (item.type, item.toy.pace, item.toy.hops, item.toy.way) == ("toy", 0.75, 4, "AWAY")
"""

HANDLES = """
from types import SimpleNamespace
from mathutils import Vector
from steer_addon.blender.overlay import gizmos

class Arrow:
    is_modal, hide, moved = False, False, None
    def target_set_prop(self, target, owner, name):
        self.moved = (owner, name)

assert bpy.ops.object.steer_add_modifier() == {"FINISHED"}
assert bpy.ops.object.steer_behavior_add(type="toy") == {"FINISHED"}
obj.steer.active_behavior = len(obj.steer.behaviors) - 1
assert gizmos.circle_of(obj) is None
assert bpy.ops.object.steer_behavior_add(type="tram") == {"FINISHED"}
obj.steer.active_behavior = len(obj.steer.behaviors) - 1
tram = obj.steer.behaviors[-1].tram
group = gizmos.VIEW3D_GGT_steer_crowd
fake = SimpleNamespace(circle=Arrow(), arms={name: Arrow() for name in ("distance", "radius")})
group.refresh(fake, SimpleNamespace(object=obj))
for role, value in {"distance": 3.0, "radius": 0.75}.items():
    owner, name = fake.arms[role].moved
    setattr(owner, name, value)
assert (tram.reach, tram.width) == (3.0, 0.75)

gizmos.place_and_heading = lambda obj, scene: (Vector((1, 2, 0)), Vector((0, 1, 0)))
group._place_circle(fake, obj, bpy.context.scene)
assert not fake.circle.hide and not any(arm.hide for arm in fake.arms.values())
assert (fake.circle.matrix_basis.translation - Vector((1, 5, 0))).length < 1e-5
assert fake.circle.scale_basis == 0.75
tram.method = "WALK"
group._place_circle(fake, obj, bpy.context.scene)
assert fake.circle.hide and all(arm.hide for arm in fake.arms.values())
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The copy with the toy."""
    return copy_with_toy(tmp_path_factory.mktemp("toy"))


@pytest.mark.slow
def test_the_toy_has_properties_with_tooltips_a_menu_presets_and_handles(copy):
    parts = [POINTS + part for part in (PROPERTIES, MENUS, HANDLES)]
    run_in(copy, "-c", "".join([REGISTERED, *parts, "\nsteer_addon.unregister()\n", ENDED]))

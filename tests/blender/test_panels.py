"""Panels and menus draw whatever they meet, show every parameter, and say what is wrong."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.checks import advice  # noqa: E402
from steer_addon.blender.crowd import crowds  # noqa: E402
from steer_addon.blender.crowd import properties as steer_properties  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.live import live  # noqa: E402
from steer_addon.blender.ui import drawing, menus, messages, panels  # noqa: E402
from steer_addon.core.behaviors import REGISTRY, own_parameters  # noqa: E402
from steer_addon.core.compiled import jit  # noqa: E402
from steer_addon.core.crowd.settings import BLOCKS  # noqa: E402
from steer_addon.core.diagnoses import diagnose  # noqa: E402
from steer_addon.core.parameters import parameters  # noqa: E402
from tests.blender.crowd_makers import (  # noqa: E402
    make_crowd,
    make_empty,
    make_points,
    toy_behavior,
)
from tests.blender.drawn import PANELS, context, draw, draw_all  # noqa: E402
from tests.blender.fake_layout import FakeLayout  # noqa: E402
from tests.diagnosed import says  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def every_choice(item):
    """Items drawn for an entry with each value of each of its choices."""
    drawn = FakeLayout()
    group = getattr(item, item.type)
    for name, info in own_parameters(REGISTRY[item.type]).items():
        for value in info.choices:
            setattr(group, name, value)
            drawing.draw_entry(drawn, context(), item)
        if info.choices:
            setattr(group, name, info.default)
    return drawn.record


def test_everything_about_a_crowd_is_shown():
    obj = make_crowd()
    for name in REGISTRY:
        steer_properties.add_behavior(obj, name)
    drawn = FakeLayout()
    for place in range(len(obj.steer.behaviors)):
        obj.steer.active_behavior = place
        drawn.record += draw_all().record
        drawn.record += every_choice(obj.steer.behaviors[place])
    shown = set(drawn.of("prop"))
    for cls in BLOCKS.values():
        assert set(parameters(cls)) <= shown
    for cls in REGISTRY.values():
        assert set(own_parameters(cls)) <= shown
    assert {"title", "enabled", "weight", "use_own_target", "target_kind", "target_object"} <= shown
    assert {"colliders", "ground", "seed", "frame_start", "frame_end", "tolerance"} <= shown
    assert {"object.steer_bake_keyframes", "object.steer_delete_bake"} <= set(drawn.of("operator"))
    assert "STEER_PT_presets" in drawn.of("popover")


def test_a_new_behavior_shows_up_in_menu_and_panel():
    with toy_behavior():
        obj = make_crowd()
        menu = draw(menus.STEER_MT_behavior_add)
        assert "Toys" in menu.of("label")
        assert menu.of("operator").count("object.steer_behavior_add") == len(REGISTRY)
        bpy.ops.object.steer_behavior_add(type="toy_push")
        assert obj.steer.behaviors[-1].name == "toy_push"
        assert {"reach", "angle", "tries", "gentle", "side", "tag"} <= set(draw_all().of("prop"))


@pytest.mark.parametrize("shown", ["Points", "Cones", "Discs", "Object", "Collection"])
def test_every_display_is_drawn(shown):
    obj = make_crowd()
    display.set_input(display.find_modifier(obj), "Display", shown)
    cls = next(c for c in PANELS if c.__name__ == "PHYSICS_PT_steer_display")
    assert len(draw(cls).of("prop")) >= 1


def test_a_linked_crowd_is_drawn_and_says_so(tmp_path):
    make_crowd(name="Far")
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, there):
        there.objects = ["Far"]
    bpy.context.scene.collection.objects.link(there.objects[0])
    bpy.context.view_layer.objects.active = there.objects[0]
    assert says(draw_all().texts(), "LINKED")


def test_a_mesh_that_is_no_crowd_gets_the_button():
    make_points()
    drawn = draw(panels.PHYSICS_PT_steer)
    assert drawn.of("operator") == ["object.steer_add_modifier"]
    section = next(c for c in PANELS if c.__name__ == "PHYSICS_PT_steer_behaviors")
    assert not section.poll(context())


def test_half_a_crowd_can_be_mended():
    make_crowd().modifiers.clear()
    drawn = draw(panels.PHYSICS_PT_steer)
    assert says(drawn.texts(), "PART_REMOVED")
    assert set(drawn.of("operator")) == {
        "object.steer_remove_modifier",
        "object.steer_add_modifier",
    }


def test_a_missing_target_is_said_until_there_is_one():
    obj = make_crowd()
    (missing,) = advice.diagnoses(obj)
    assert (missing.code, missing.values["behaviors"]) == ("TARGET_MISSING", "'Arrive'")
    obj.steer.target_object = make_empty()
    assert advice.diagnoses(obj) == []
    item = obj.steer.behaviors["arrive"]
    item.use_own_target = True
    (missing,) = advice.diagnoses(obj)
    assert (missing.code, missing.subject) == ("OWN_TARGET_MISSING", "Arrive")
    doors = bpy.data.collections.new("Doors")
    item.target_kind, item.target_collection = "COLLECTION", doors
    assert advice.diagnoses(obj) == [missing]
    doors.objects.link(make_empty())
    assert advice.diagnoses(obj) == []
    obj.steer.target_object, item.use_own_target, item.enabled = None, False, False
    assert advice.diagnoses(obj) == []


def test_agents_that_are_shown_as_a_disabled_object_are_said():
    obj = make_crowd()
    obj.steer.target_object = make_empty()
    body = make_points(name="Duck")
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Display", "Object")
    display.set_input(modifier, "Object", body)
    assert advice.diagnoses(obj) == []
    body.hide_viewport = True
    (disabled,) = advice.diagnoses(obj)
    assert (disabled.code, disabled.subject) == ("BODY_DISABLED", "Duck")
    display.set_input(modifier, "Display", "Cones")
    assert advice.diagnoses(obj) == []


def drawn_entry(item):
    layout = FakeLayout()
    drawing.draw_entry(layout, context(), item)
    return layout.of("prop")


def test_only_what_counts_for_the_method_is_drawn():
    obj = make_crowd()
    item = steer_properties.add_behavior(obj, "follow_path")
    assert "waypoint_radius" in drawn_entry(item)
    assert "path_radius" not in drawn_entry(item)
    item.follow_path.method = "CORRIDOR"
    assert "waypoint_radius" not in drawn_entry(item)
    assert {"path_radius", "anticipation_time", "lane"} <= set(drawn_entry(item))


def test_what_has_no_effect_is_grey():
    obj = make_crowd()
    assert obj.steer.solver.solver == "REYNOLDS" and obj.steer.motion.motion == "GROUND"
    grey = set(draw_all().of("grey"))
    assert {"acc_weight", "banking", "max_bank", "iterations", "rotation_tolerance"} <= grey
    assert not {"relaxation_time", "max_force", "max_slope", "step_height", "tolerance"} & grey
    obj.steer.solver.solver, obj.steer.motion.motion = "VEX", "FLY"
    obj.steer.bodies.collide_agents, obj.steer.bake.tolerance = True, 0.1
    grey = set(draw_all().of("grey"))
    assert {"max_force", "max_slope", "step_height"} <= grey
    assert not {"acc_weight", "banking", "max_bank", "iterations", "rotation_tolerance"} & grey


def test_zero_says_what_it_stands_for():
    obj = make_crowd()
    section = next(c for c in PANELS if c.__name__ == "PHYSICS_PT_steer_solver")
    # speed, turn rate and acceleration
    assert draw(section, width=500).of("label").count("No Limit") == 3
    assert draw(section, width=200).of("label").count("0: No Limit") == 3
    obj.steer.solver.max_turn_rate = 1.0
    assert draw(section, width=500).of("label").count("No Limit") == 2


def test_labels_have_the_units_that_fields_lack():
    steer = make_crowd().steer
    for group, name, label in (
        (steer.agents, "max_force", "Max Force (N)"),
        (steer.solver, "max_turn_rate", "Max Turn Rate (°/s)"),
        (steer.motion, "body_turn_rate", "Body Turn Rate (°/s)"),
        (steer.agents, "max_speed", "Max Speed"),
        (steer.motion, "max_slope", "Max Slope"),
    ):
        assert group.bl_rna.properties[name].name == label


@pytest.mark.parametrize(
    ("type_name", "role"),
    [
        ("follow_path", "source"),
        ("flow_field", "source"),
        ("containment", "source"),
        ("interpose", "second_target"),
        ("seek", ""),
    ],
)
def test_an_entry_shows_the_inputs_that_it_reads(type_name, role):
    item = steer_properties.add_behavior(make_crowd(), type_name)
    inputs = {"source", "second_target"}
    for kind, pointer in (("OBJECT", "object"), ("COLLECTION", "collection")):
        item.source_kind = item.second_target_kind = kind
        shown = {name for name in drawn_entry(item) if name.rpartition("_")[0] in inputs}
        assert shown == ({f"{role}_kind", f"{role}_{pointer}"} if role else set())


@pytest.mark.parametrize(
    ("type_name", "role", "subject", "noun"),
    [
        ("follow_path", "source", "Follow Path", "path"),
        ("flow_field", "source", "Flow Field", "field"),
        ("containment", "source", "Containment", "container"),
        ("interpose", "second_target", "Interpose", None),
    ],
)
def test_a_missing_input_is_said_until_there_is_one(type_name, role, subject, noun):
    obj = make_crowd()
    obj.steer.target_object = make_empty()
    item = steer_properties.add_behavior(obj, type_name)
    (missing,) = advice.diagnoses(obj)
    assert (missing.code, missing.subject) == (f"{role.upper()}_MISSING", subject)
    assert missing.values.get("noun") == noun
    assert missing.sentence in draw(panels.PHYSICS_PT_steer, width=2000).texts()
    setattr(item, f"{role}_object", make_empty())
    assert advice.diagnoses(obj) == []
    setattr(item, f"{role}_kind", "COLLECTION")
    assert advice.diagnoses(obj) == [missing]
    many = bpy.data.collections.new("Many")
    setattr(item, f"{role}_collection", many)
    assert advice.diagnoses(obj) == [missing]
    many.objects.link(make_empty())
    assert advice.diagnoses(obj) == []
    setattr(item, f"{role}_collection", None)
    item.enabled = False
    assert advice.diagnoses(obj) == []


def test_a_missing_compiler_is_said(monkeypatch):
    obj = make_crowd()
    obj.steer.target_object = make_empty()
    missing = diagnose("NUMBA_MISSING", reason="no such file")
    monkeypatch.setattr(jit, "known_status", lambda: jit.Status(False, missing))
    assert advice.diagnoses(obj) == [missing]
    assert missing.sentence in draw(panels.PHYSICS_PT_steer, width=2000).texts()


def test_an_empty_list_and_a_backward_range_are_said():
    obj = make_crowd()
    obj.steer.behaviors.clear()
    obj.steer.frame_start, obj.steer.frame_end = 10, 9
    assert advice.diagnoses(obj) == [
        diagnose("NO_BEHAVIORS"),
        diagnose("RANGE_BACKWARD", start=10),
    ]


def test_what_live_knows_is_shown(monkeypatch):
    make_crowd()
    missing = diagnose("FRAME_MISSING", frame=120, shown=7, start=1)
    opened = diagnose("MESH_OPEN", "Wall", count=3, object="Wall")
    status = live.LiveStatus(missing, (opened,))
    monkeypatch.setattr(drawing.live, "status", lambda obj: status)
    texts = draw(panels.VIEW3D_PT_steer, width=5000).texts()
    assert missing.sentence in texts and opened.sentence in texts


def test_sentences_are_broken_to_the_width():
    make_crowd()
    narrow, wide = (len(draw(panels.PHYSICS_PT_steer, width=w).of("label")) for w in (150, 2000))
    assert narrow > wide


def test_paths_in_sentences_are_broken_between_folders():
    layout = FakeLayout()
    text = "Frames 1 to 20 are in /home/anna/shots/market_square/steer_cache/people/Crowd"
    messages.draw_message(layout, context(225), text, "INFO")
    lines = layout.of("label")
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(len(line) <= 27 for line in lines)
    assert [line for line in lines if "/" in line and not line.endswith("/")] == [
        "steer_cache/people/Crowd"
    ]


def test_names_are_not_cut_off_in_a_narrow_sidebar():
    make_crowd()
    sidebar = [cls for cls in PANELS if cls.bl_space_type == "VIEW_3D"]
    beside = {
        width: [name for cls in sidebar for name in draw(cls, width=width).of("split")]
        for width in (283, 400)
    }
    for name in ("weight", "neighbor_distance", "rotation_tolerance"):
        assert name in beside[400]
        assert name not in beside[283]
    # fields without room for a name have it above them
    above = [label for cls in sidebar for label in draw(cls, width=200).of("label")]
    assert {"Target", "Colliders", "Ground", "Object", "Agents"} <= set(above)


def test_drawing_changes_nothing():
    obj = make_crowd()
    before = steer_properties.settings_of(obj), len(bpy.data.objects), crowds.is_crowd(obj)
    draw_all()
    assert (
        steer_properties.settings_of(obj),
        len(bpy.data.objects),
        crowds.is_crowd(obj),
    ) == before

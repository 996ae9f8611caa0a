"""Properties come from the dataclasses, keep their values to the digit, and can be keyed."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd import properties, slots  # noqa: E402
from steer_addon.blender.crowd.bake_settings import KeyframeBakeSettings  # noqa: E402
from steer_addon.blender.crowd.property_classes import type_number  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.core.behaviors import REGISTRY, own_parameters  # noqa: E402
from steer_addon.core.crowd.presets import find_presets, read_preset  # noqa: E402
from steer_addon.core.crowd.settings import (  # noqa: E402
    BLOCKS,
    AgentsSettings,
    CrowdSettings,
    MotionSettings,
    SolverSettings,
    make_behavior,
)
from steer_addon.core.errors import ParameterError  # noqa: E402
from steer_addon.core.parameters import parameters  # noqa: E402
from steer_addon.core.sensing.declare import CONTAINER, FIELD, PATHS  # noqa: E402
from tests.blender.crowd_makers import (  # noqa: E402
    make_crowd,
    make_empty,
    make_points,
    toy_behavior,
)


def groups_of(item_or_crowd):
    """Every generated group beside the parameters that it stands for."""
    steer = item_or_crowd.steer
    for name, cls in {**BLOCKS, "bake": KeyframeBakeSettings}.items():
        yield getattr(steer, name), parameters(cls)
    item = steer.behaviors.add()
    for name, cls in REGISTRY.items():
        yield getattr(item, name), own_parameters(cls)


def close(found, wanted):
    return math.isclose(found, wanted, rel_tol=1e-6, abs_tol=1e-12)


def test_every_parameter_is_a_property_with_its_text_and_limits(empty_scene):
    for group, infos in groups_of(make_points()):
        assert set(infos) <= set(group.bl_rna.properties.keys())
        for name, info in infos.items():
            prop = group.bl_rna.properties[name]
            assert prop.name.partition(" (")[0] == info.label
            assert prop.description.startswith(" ".join(info.doc.split()).rstrip("."))
            assert not prop.description.endswith(".")
            assert prop.is_animatable == (info.kind != "text")
            assert prop.is_overridable
            if info.kind == "choice":
                assert [item.identifier for item in prop.enum_items] == list(info.choices)
                assert all(item.name and item.description for item in prop.enum_items)
                assert prop.default == info.default
            elif info.kind in ("bool", "text"):
                assert prop.default == info.default
            else:
                factor = math.radians(1.0) if info.unit in ("deg", "deg/s") else 1.0
                assert close(prop.default, info.default * factor)
                assert close(prop.hard_min, info.minimum * factor)
                assert close(prop.hard_max, info.maximum * factor)
                assert close(prop.soft_max, info.soft_maximum * factor)


@pytest.mark.parametrize(
    ("block", "name", "unit"),
    [
        ("agents", "radius", "LENGTH"),
        ("agents", "mass", "MASS"),
        ("agents", "max_speed", "VELOCITY"),
        ("agents", "max_force", "NONE"),
        ("motion", "max_slope", "ROTATION"),
        ("solver", "relaxation_time", "TIME_ABSOLUTE"),
        ("solver", "max_turn_rate", "ROTATION"),
        ("solver", "max_acceleration", "ACCELERATION"),
    ],
)
def test_units_are_blenders_own(empty_scene, block, name, unit):
    group = getattr(make_points().steer, block)
    assert group.bl_rna.properties[name].unit == unit


def test_an_untouched_crowd_has_the_dataclasses_defaults(empty_scene):
    assert properties.settings_of(make_points()) == CrowdSettings()


@pytest.mark.parametrize("name", sorted(find_presets()))
def test_presets_survive_the_way_through_blender(empty_scene, name):
    settings = read_preset(find_presets()[name]).settings
    obj = make_points()
    properties.apply_settings(obj, settings)
    assert properties.settings_of(obj) == settings
    assert hash(properties.settings_of(obj)) == hash(properties.settings_of(obj))


def test_odd_values_survive_as_the_decimals_they_were_given_as(empty_scene):
    settings = CrowdSettings(
        agents=AgentsSettings(radius=0.1, mass=70.3, max_speed=1.4, max_force=123.456),
        motion=MotionSettings(motion="FLY", max_slope=33.3, forward_axis="POS_X"),
        solver=SolverSettings(solver="VEX", acc_weight=0.7, substeps=3, max_turn_rate=271.7),
        behaviors=(
            make_behavior({"type": "seek", "name": "first", "weight": 0.3, "enabled": False}),
            make_behavior({"type": "seek", "target": "seek"}),
            make_behavior({"type": "wander", "jitter": 0.9, "weight": 17.77}),
        ),
        seed=-5,
    )
    obj = make_points()
    properties.apply_settings(obj, settings)
    assert properties.settings_of(obj) == settings
    assert obj.steer.motion.max_slope == pytest.approx(math.radians(33.3))


def test_limits_can_be_used_though_blender_rounds_them(empty_scene):
    with toy_behavior():
        obj = make_points()
        stack = tuple(make_behavior({"type": name}) for name in REGISTRY)
        properties.apply_settings(obj, CrowdSettings(behaviors=stack))
        for end in ("minimum", "maximum"):
            for block, cls in BLOCKS.items():
                push_to(getattr(obj.steer, block), parameters(cls), end)
            for item in obj.steer.behaviors:
                push_to(getattr(item, item.type), own_parameters(REGISTRY[item.type]), end)
            settings = properties.settings_of(obj)
            assert settings.solver.acc_weight == (0.0 if end == "minimum" else 1.0)
            assert settings.motion.max_slope == (0.0 if end == "minimum" else 89.0)


def push_to(group, infos, end):
    """Set every number as far as Blender lets it go; Blender clamps."""
    for name, info in infos.items():
        if info.kind in ("int", "float"):
            prop = group.bl_rna.properties[name]
            setattr(group, name, prop.hard_min if end == "minimum" else prop.hard_max)


def test_keyed_weights_and_parameters_are_read_at_their_frame(empty_scene):
    obj = make_crowd()
    place = [item.type for item in obj.steer.behaviors].index("wander")
    item = obj.steer.behaviors[place]
    for frame, weight, jitter, slope in ((1, 0.0, 1.0, 10.0), (11, 2.0, 3.0, 30.0)):
        item.weight, item.wander.jitter = weight, jitter
        obj.steer.motion.max_slope = math.radians(slope)
        assert obj.keyframe_insert(f"steer.behaviors[{place}].weight", frame=frame)
        assert obj.keyframe_insert(f"steer.behaviors[{place}].wander.jitter", frame=frame)
        assert obj.keyframe_insert("steer.motion.max_slope", frame=frame)
    for frame, weight, jitter, slope in ((1, 0.0, 1.0, 10.0), (6, 1.0, 2.0, 20.0), (11, 2, 3, 30)):
        bpy.context.scene.frame_set(frame)
        settings = properties.settings_of(obj)
        assert settings.behaviors[place].weight == pytest.approx(weight, abs=1e-6)
        assert settings.behaviors[place].jitter == pytest.approx(jitter, rel=1e-6)
        assert settings.motion.max_slope == pytest.approx(slope, rel=1e-6)


def test_names_stay_unique_and_are_never_empty(empty_scene):
    obj = make_points()
    items = [properties.add_behavior(obj, "seek") for _ in range(3)]
    items = list(obj.steer.behaviors)
    assert [item.name for item in items] == ["seek", "seek.001", "seek.002"]
    items[2].name = "seek"
    assert items[2].name == "seek.002"
    items[1].name = ""
    assert items[1].name == "seek.001"
    items[1].name = "to the door"
    assert [b.key for b in properties.settings_of(obj).behaviors] == [
        "seek", "to the door", "seek.002",
    ]  # fmt: skip


def test_entries_are_called_as_in_the_menu_and_keep_their_keys(empty_scene):
    obj = make_points()
    for _ in range(2):
        properties.add_behavior(obj, "avoid_neighbors")
    items = list(obj.steer.behaviors)
    assert [item.title for item in items] == ["Avoid Neighbors", "Avoid Neighbors.001"]
    assert [item.name for item in items] == ["avoid_neighbors", "avoid_neighbors.001"]
    items[0].title = " those behind "
    assert [items[0].title, items[0].name] == ["those behind"] * 2
    items[0].title = "Avoid Neighbors"
    assert items[0].name == "avoid_neighbors"
    items[1].title = ""
    assert [items[1].title, items[1].name] == ["Avoid Neighbors.001", "avoid_neighbors.001"]
    items[1].name = "avoid_neighbors.door"
    assert items[1].title == "avoid_neighbors.door"


def test_an_own_target_is_named_like_its_entry(empty_scene):
    obj = make_points()
    item = properties.add_behavior(obj, "seek")
    assert properties.settings_of(obj).behaviors[0].target == ""
    item.use_own_target = True
    item.name = "leader"
    assert properties.settings_of(obj).behaviors[0].target == "leader"


def test_a_behavior_without_targets_has_no_own_target(empty_scene):
    obj = make_points()
    properties.add_behavior(obj, "wander").use_own_target = True
    assert properties.settings_of(obj).behaviors[0].target == ""


def test_an_unknown_type_cannot_be_added(empty_scene):
    with pytest.raises(ParameterError, match="'tango' is unknown"):
        properties.add_behavior(make_points(), "tango")


def test_applying_keeps_targets_and_animation_of_what_stays(empty_scene):
    obj = make_points()
    properties.apply_settings(
        obj, CrowdSettings(behaviors=(make_behavior({"type": "wander"}), seek(), seek("second")))
    )
    obj.steer.behaviors["second"].target_object = target = make_empty()
    for place in range(3):
        obj.steer.behaviors[place].weight = place
        obj.keyframe_insert(f"steer.behaviors[{place}].weight", frame=1)
    obj.keyframe_insert("location", frame=1)
    properties.apply_settings(obj, CrowdSettings(behaviors=(seek("second"), seek("new"), seek())))
    assert obj.steer.behaviors[0].target_object == target
    assert obj.steer.behaviors[1].target_object is None
    assert curve_values(obj, "steer.") == {
        "steer.behaviors[0].weight": 2.0,
        "steer.behaviors[2].weight": 1.0,
    }
    assert len(curves_of(obj)) == 5


INPUTS = {
    "second_target_kind": "CROWD",
    "source_kind": "COLLECTION",
    **{f"{role}_object": role for role in ("second_target", "source")},
    **{f"{role}_collection": role for role in ("second_target", "source")},
}
"""Values of the inputs of an entry; objects and collections by their names."""


def give_inputs(item):
    for name, value in INPUTS.items():
        if name.endswith("_object"):
            value = make_empty(value)
        elif name.endswith("_collection"):
            value = bpy.data.collections.new(value)
        setattr(item, name, value)


def inputs_of(item):
    values = {name: getattr(item, name) for name in INPUTS}
    return {name: getattr(value, "name", value) for name, value in values.items()}


def test_applying_keeps_second_targets_and_sources(empty_scene):
    obj = make_points()
    properties.apply_settings(obj, CrowdSettings(behaviors=(seek(), seek("second"))))
    give_inputs(obj.steer.behaviors["second"])
    properties.apply_settings(obj, CrowdSettings(behaviors=(seek("second"), seek("new"))))
    assert inputs_of(obj.steer.behaviors[0]) == INPUTS
    assert obj.steer.behaviors[1].source_object is None
    assert obj.steer.behaviors[1].second_target_kind == "OBJECT"


def test_second_targets_and_sources_are_undone_and_saved(empty_scene, tmp_path):
    obj = make_crowd()
    bpy.ops.ed.undo_push(message="before")
    give_inputs(obj.steer.behaviors[0])
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    assert bpy.data.objects["Crowd"].steer.behaviors[0].source_object is None
    bpy.ops.ed.redo()
    assert inputs_of(bpy.data.objects["Crowd"].steer.behaviors[0]) == INPUTS
    path = str(tmp_path / "crowd.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert inputs_of(bpy.data.objects["Crowd"].steer.behaviors[0]) == INPUTS


@pytest.mark.parametrize(
    ("kind", "follows", "holds"),
    [
        ("MESH", True, True),
        ("CURVE", True, True),
        ("FONT", False, True),
        ("SPHERE", False, True),
        ("CUBE", False, True),
        ("PLAIN_AXES", False, False),
        ("CAMERA", False, False),
    ],
)
def test_sources_are_offered_by_what_can_be_one(empty_scene, kind, follows, holds):
    data = {
        "MESH": bpy.data.meshes,
        "CURVE": lambda name: bpy.data.curves.new(name, "CURVE"),
        "FONT": lambda name: bpy.data.curves.new(name, "FONT"),
        "CAMERA": bpy.data.cameras,
    }.get(kind)
    make = getattr(data, "new", data)
    obj = bpy.data.objects.new("Source", None if make is None else make("Source"))
    if make is None:
        obj.empty_display_type = kind
    assert slots.can_be_source(obj, PATHS) == slots.can_be_source(obj, FIELD) == follows
    assert slots.can_be_source(obj, CONTAINER) == holds


def seek(name=""):
    return make_behavior({"type": "seek", "name": name})


def curves_of(obj):
    data = obj.animation_data
    return list(data.action.layers[0].strips[0].channelbag(data.action_slot).fcurves)


def curve_values(obj, prefix):
    return {c.data_path: c.evaluate(1) for c in curves_of(obj) if c.data_path.startswith(prefix)}


def test_files_keep_settings_and_pointers(empty_scene, tmp_path):
    obj = make_crowd()
    obj.steer.target_object = make_empty()
    obj.steer.colliders = bpy.data.collections.new("Walls")
    obj.steer.agents.radius = 0.4
    properties.add_behavior(obj, "flee").name = "run"
    before = properties.settings_of(obj)
    path = str(tmp_path / "crowd.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["Crowd"]
    assert properties.settings_of(obj) == before
    assert obj.steer.target_object.name == "Target"
    assert obj.steer.colliders.name == "Walls"


def test_type_numbers_never_change():
    # they are in people's files; a changed number turns a behavior into another one, or into none
    pinned = {"seek": 3735191, "arrive": 16063980, "wander": 1158681, "separation": 1919651}
    assert {name: type_number(name) for name in pinned} == pinned


def test_a_new_behavior_has_its_properties_and_its_loss_is_said(empty_scene, tmp_path):
    path = str(tmp_path / "toy.blend")
    with toy_behavior():
        obj = make_crowd()
        item = properties.add_behavior(obj, "toy_push")
        item.toy_push.reach, item.toy_push.angle = 0.3, math.radians(30.0)
        item.toy_push.gentle, item.toy_push.side, item.toy_push.tag = False, "BY_ID", "blue"
        toy = properties.settings_of(obj).behaviors[-1]
        assert toy.to_dict() == {
            **make_behavior({"type": "toy_push"}).to_dict(),
            **{"reach": 0.3, "angle": 30.0, "gentle": False, "side": "BY_ID", "tag": "blue"},
        }
        bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["Crowd"]
    with pytest.raises(ParameterError, match="'toy_push' is of a type that this version"):
        properties.settings_of(obj)
    others = [b for b in obj.steer.behaviors if b.type]
    assert [b.type for b in others] == ["separation", "arrive", "wander"]


def test_replace_of_settings_reaches_blender(empty_scene):
    obj = make_crowd()
    settings = properties.settings_of(obj)
    wanted = replace(settings, agents=replace(settings.agents, radius=0.55))
    properties.apply_settings(obj, wanted)
    assert obj.steer.agents.radius == pytest.approx(0.55)


def test_the_modifier_is_told_what_it_shows(empty_scene):
    obj = make_crowd()
    modifier = display.find_modifier(obj)
    assert display.get_input(modifier, "Radius") == obj.steer.agents.radius
    obj.steer.agents.radius = 0.7
    obj.steer.motion.forward_axis = "POS_X"
    assert display.get_input(modifier, "Radius") == pytest.approx(0.7)
    assert display.get_input(modifier, "Forward Axis") == "POS_X"
    properties.apply_settings(obj, CrowdSettings())
    assert display.get_input(modifier, "Radius") == pytest.approx(0.25)
    assert display.get_input(modifier, "Forward Axis") == "NEG_Y"

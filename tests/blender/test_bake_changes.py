"""Changes since a bake are detected, and reported by name."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import cached, heroes, places, status  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.core.diagnoses import diagnose  # noqa: E402
from steer_addon.core.errors import SceneError  # noqa: E402
from tests.blender.cached_crowds import (  # noqa: E402
    END,
    make_walkers,
    run_to,
    told_of_bake,
)
from tests.blender.crowd_makers import make_empty, make_mesh  # noqa: E402
from tests.blender.source_makers import make_copies, make_shape  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def crowd(tmp_path, monkeypatch):
    return make_walkers(tmp_path, monkeypatch)


def changes_of(obj):
    """Findings of Check Bake."""
    bpy.context.view_layer.update()
    assert bpy.ops.object.steer_cache_check() == {"FINISHED"}
    return status.status(obj, bpy.context.scene).changes


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (lambda: move("Still"), diagnose("THING_CHANGED", "collider 'Still'")),
        (lambda: reshape("Wall"), diagnose("THING_CHANGED", "collider 'Wall'")),
        (lambda: key("Goal", 7), diagnose("THING_CHANGED", "animation of 'Goal'")),
        (lambda: move("Crowd"), diagnose("POINTS_CHANGED", "Crowd")),
        (
            lambda: setattr(active().steer, "seed", 5),
            diagnose("VALUE_CHANGED", "seed", was="0", now="5"),
        ),
        (
            lambda: setattr(bpy.context.scene.render, "fps", 30),
            diagnose("VALUE_CHANGED", "fps", was="24", now="30"),
        ),
        (
            lambda: setattr(active().steer, "frame_start", 2),
            diagnose("VALUE_CHANGED", "frame_start", was="1", now="2"),
        ),
        (
            lambda: setattr(active().steer, "ground", bpy.data.objects["Still"]),
            diagnose("THING_NEW", "ground 'Still'"),
        ),
        (
            lambda: bpy.data.objects.remove(bpy.data.objects["Still"]),
            diagnose("THING_GONE", "collider 'Still'"),
        ),
        (lambda: constrain("Still"), diagnose("THING_CHANGED", "collider 'Still'")),
        (lambda: drive("Goal"), diagnose("THING_CHANGED", "animation of 'Goal'")),
        (lambda: active().steer.behaviors.remove(1), diagnose("BEHAVIOR_GONE", "arrive")),
        (lambda: weigh(0.25), diagnose("THING_NEW", "animation of behaviors[0].weight")),
    ],
)
def test_what_changed_is_told_by_name(crowd, edit, told):
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    assert changes_of(crowd) == []
    edit()
    assert told in changes_of(crowd)
    status.refresh(crowd)
    assert told in told_of_bake(crowd)["BAKE_OUT_OF_DATE"].values["changes"]
    crowd.steer.frame_end = 30
    with pytest.raises(SceneError, match="cannot be continued"):
        run_to(cached.resume(crowd, bpy.context.scene, places.own_folder(crowd)), END)


def active():
    return bpy.context.view_layer.objects.active


def move(name):
    bpy.data.objects[name].location.z += 0.5


def reshape(name):
    bpy.data.objects[name].data.vertices[0].co.z -= 0.5
    bpy.data.objects[name].data.update()


def key(name, frame):
    bpy.data.objects[name].location = (0.0, 0.0, 0.0)
    bpy.data.objects[name].keyframe_insert("location", frame=frame)


def constrain(name):
    made = bpy.data.objects[name].constraints.new("COPY_LOCATION")
    made.target = bpy.data.objects["Goal"]


def drive(name):
    curve = bpy.data.objects[name].driver_add("rotation_euler", 0)
    curve.driver.expression = "0.01 * frame"


def weigh(value):
    active().steer.behaviors[0].weight = value
    active().keyframe_insert("steer.behaviors[0].weight", frame=1)


def test_an_edit_of_an_input_is_noticed_and_checked(crowd, monkeypatch):
    monkeypatch.setattr(status, "_BUDGET", 1.0e9)
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    make_empty("Stranger").location.x = 3.0
    bpy.context.view_layer.update()
    assert status.status(crowd, bpy.context.scene).edited == []
    move("Still")
    bpy.context.view_layer.update()
    assert status.status(crowd, bpy.context.scene).edited == ["Still"]
    assert told_of_bake(crowd)["EDITED"].values == {"objects": "'Still'"}
    assert status.check_quickly(crowd, bpy.context.scene)
    changes = (diagnose("THING_CHANGED", "collider 'Still'"),)
    assert told_of_bake(crowd)["BAKE_OUT_OF_DATE"].values == {"changes": changes}
    bpy.data.objects["Still"].location.z -= 0.5
    bpy.context.view_layer.update()
    assert status.check_quickly(crowd, bpy.context.scene)
    assert status.status(crowd, bpy.context.scene).out_of_date is None


def triangle(name):
    return make_mesh(name, [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])


@pytest.mark.parametrize(
    ("edit", "name"),
    [
        (lambda: bpy.data.collections["Walls"].objects.link(triangle("New")), "New"),
        (lambda: bpy.data.collections["Walls"].objects.unlink(bpy.data.objects["Still"]), "Still"),
        (lambda: setattr(active().steer, "ground", bpy.data.objects["Wall"]), "Wall"),
        (lambda: setattr(bpy.data.objects["Ball"], "empty_display_size", 2.0), "Ball"),
        (lambda: setattr(bpy.data.objects["Ball"], "empty_display_type", "CUBE"), "Ball"),
        (lambda: move("Above"), "Hidden"),
        (lambda: reshape("Inner"), "Inner"),
    ],
)
def test_what_is_read_otherwise_is_noticed(crowd, edit, name):
    inner, hidden = triangle("Inner"), triangle("Hidden")
    hidden.parent, hidden.hide_viewport = make_empty("Above"), True
    for part in (make_shape("SPHERE", name="Ball"), make_copies(inner), hidden):
        bpy.data.collections["Walls"].objects.link(part)
    bpy.context.view_layer.objects.active = crowd
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    assert edited(crowd) == []
    edit()
    # as the interface does when a field is edited
    crowd.update_tag()
    assert edited(crowd) == [name]


def edited(obj):
    bpy.context.view_layer.update()
    return status.status(obj, bpy.context.scene).edited


def test_what_a_crowd_is_shown_as_is_no_edit_of_its_bake(crowd):
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    assert edited(crowd) == []
    modifier = display.find_modifier(crowd)
    for body in (make_empty("Body"), None):
        display.set_input(modifier, "Object", body)
        assert edited(crowd) == []
    move("Crowd")
    assert edited(crowd) == ["Crowd"]


@pytest.mark.slow
def test_heroes_are_no_edit_of_the_bake(few_poses, tmp_path):
    assert bpy.ops.object.steer_start(preset="pedestrians", count=5) == {"FINISHED"}
    obj = active()
    obj.steer.frame_end, obj.steer.cache_directory = 3, str(tmp_path)
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    assert edited(obj) == []
    heroes.promote(obj, bpy.context.scene, [1])
    assert edited(obj) == []
    heroes.demote(obj)
    assert edited(obj) == []


def test_playing_is_no_edit(crowd):
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    for number in (1, 2, 3, 20, 1):
        bpy.context.scene.frame_set(number)
    bpy.context.view_layer.update()
    assert status.status(crowd, bpy.context.scene).edited == []

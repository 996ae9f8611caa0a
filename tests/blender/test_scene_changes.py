"""All kinds of inputs together: what counts as one, and which changes are noticed."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.checks import advice  # noqa: E402
from steer_addon.blender.crowd import state  # noqa: E402
from steer_addon.blender.live import live, simulate  # noqa: E402
from steer_addon.blender.reading.scene_inputs import (  # noqa: E402
    geometry_owners,
    input_objects,
    needs_frames,
    signature,
)
from steer_addon.core.diagnoses import diagnose  # noqa: E402
from tests.blender.live_scenes import (  # noqa: E402
    add_attribute,
    code_of,
    data_counts,
    deps,
    make_box,
    make_colliders,
    move,
    play,
    told,
    update,
)
from tests.blender.source_makers import (  # noqa: E402
    add_user,
    between,
    make_collection,
    make_curve,
    make_shape,
    make_user,
    make_wire,
    read,
)
from tests.diagnosed import codes  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


# Spheres


def full():
    """A crowd with every kind of input, all of them still."""
    obj, item = between()
    curve = make_curve([(0, 0, 0), (0, 9, 0)], name="Way")
    add_user(obj, "follow_path", curve)
    add_user(obj, "containment", make_shape("CUBE", 50.0, name="Room"))
    plane = make_wire([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)], name="Flow")
    add_user(obj, "flow_field", make_collection(plane, obj, state.get_state(obj)))
    make_colliders(obj, make_shape("SPHERE", 1.0, (30, 0, 0), name="Ball"))
    return obj


def test_all_inputs_are_known():
    obj = full()
    names = {o.name for o in input_objects(obj)}
    assert names == {"One", "Two", "Way", "Room", "Flow", "Ball"}
    owners, way = geometry_owners(obj), bpy.data.objects["Way"]
    assert owners[way.data.session_uid] == way.session_uid
    assert not needs_frames(obj)


def test_what_the_crowd_made_itself_is_no_source():
    obj, item = make_user("containment")
    baked = make_box("Baked")
    obj.steer.bake_collection = make_collection(baked, name="Bake")
    for own in (obj, state.get_state(obj), baked):
        item.source_object = own
        assert input_objects(obj) == [] and read(obj).containers == {}
    item.source_kind = "COLLECTION"
    item.source_collection = make_collection(obj, baked, make_box("Room"))
    assert [o.name for o in input_objects(obj)] == ["Room"]


@pytest.mark.parametrize(
    "change",
    [
        lambda obj: setattr(obj.steer.behaviors["follow_path"], "source_object", None),
        lambda obj: setattr(obj.steer.behaviors["interpose"], "second_target_kind", "POINTS"),
        lambda obj: setattr(bpy.data.objects["Two"], "location", (0, 0, 1)),
        lambda obj: setattr(bpy.data.objects["Room"], "location", (0, 0, 1)),
        lambda obj: setattr(bpy.data.objects["Ball"], "empty_display_size", 2.0),
        lambda obj: setattr(
            bpy.data.curves["Way"].splines[0].points[0], "co", (5.0, 0.0, 0.0, 1.0)
        ),
    ],
)
def test_the_signature_tells_every_change(change):
    obj = full()
    before = signature(obj, deps(), geometry=True)
    assert signature(obj, deps(), geometry=True) == before
    change(obj)
    bpy.data.curves["Way"].update_tag()
    update()
    assert signature(obj, deps(), geometry=True) != before


def test_live_notices_edits_of_a_path():
    obj, item = make_user("follow_path", make_curve([(0, 0, 0), (0, 30, 0)], name="Way"))
    play(1, 10)
    assert code_of(obj) == ""
    bpy.data.curves["Way"].splines[0].points[1].co.x = 30.0
    bpy.data.curves["Way"].update_tag()
    update()
    assert told(obj).values["reason"] == diagnose("SCENE_CHANGED")
    play(1, 10)
    assert code_of(obj) == ""
    assert live.get_frame(obj, 10).velocity[:, 0].min() > 0.1
    item.source_object = None
    # as the interface does when a field is edited
    obj.update_tag()
    update()
    assert told(obj).values["reason"] == diagnose("SCENE_CHANGED")


def test_offline_is_live_with_every_input():
    obj = full()
    move(bpy.data.objects["Way"], {1: (0, 0, 0), 20: (3, 0, 0)})
    move(bpy.data.objects["Room"], {1: (0, 0, 0), 20: (0, 3, 0)})
    before, texts = data_counts(), []
    frames = list(simulate.run(obj, bpy.context.scene, range(1, 21), warnings=texts))
    assert data_counts() == before
    assert [d for d in texts if d.code != "FIELD_WITHOUT_ATTRIBUTE"] == []
    play(1, 20)
    np.testing.assert_array_equal(live.get_frame(obj, 20).position, frames[-1].position)


def test_forces_too_weak_for_the_walls_are_said():
    obj, item = make_user("wall_avoidance")
    item.wall_avoidance.stiffness = 400.0
    texts = []
    list(simulate.run(obj, bpy.context.scene, range(1, 3), warnings=texts))
    (said,) = [d for d in texts if d.code == "WALL_FORCE_TOO_WEAK"]
    assert (said.subject, said.values["lower"]) == ("Wall Avoidance", "less stiffness")
    play(1, 3)
    assert said in live.status(obj).warnings
    obj.steer.agents.max_force = 1000.0
    play(1, 3)
    assert said not in live.status(obj).warnings
    # one of the three is weak, as its point attribute says
    add_attribute(obj, "max_force", "FLOAT", [1000.0, 1.0, 1000.0])
    play(1, 3)
    (said,) = live.status(obj).warnings
    assert said.code == "WALL_FORCE_TOO_WEAK_FOR_SOME"
    assert [said.values[name] for name in ("lacking", "total", "force")] == [1, 3, 1.0]


def test_who_goes_without_a_target_asks_for_none():
    obj, item = make_user("obstacle_zones")
    texts = []
    list(simulate.run(obj, bpy.context.scene, range(1, 3), warnings=texts))
    assert advice.diagnoses(obj) == texts == []
    add_user(obj, "seek")
    list(simulate.run(obj, bpy.context.scene, range(1, 3), warnings=texts))
    assert codes(advice.diagnoses(obj)) == ["TARGET_MISSING"]
    assert texts == [diagnose("CROWD_WITHOUT_TARGET", obj.name, noun="target")]

"""Inputs that are removed or invalid: a message in the panel, and playing continues."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd import records  # noqa: E402
from steer_addon.blender.crowd.properties import add_behavior  # noqa: E402
from steer_addon.blender.live import live, simulate  # noqa: E402
from steer_addon.blender.ui import drawing  # noqa: E402
from steer_addon.core.diagnoses import diagnose  # noqa: E402
from tests.blender.fake_layout import FakeLayout  # noqa: E402
from tests.blender.live_scenes import (  # noqa: E402
    add_attribute,
    code_of,
    make_box,
    make_colliders,
    make_crowd,
    make_ground,
    make_runner,
    make_target,
    play,
    seekers,
    stored,
    told,
    update,
)
from tests.diagnosed import codes, says  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def panel(obj):
    """All that the Crowd panel says."""
    layout, region = FakeLayout(), SimpleNamespace(width=5000)
    drawing.draw_main(layout, SimpleNamespace(object=obj, region=region, scene=None), obj)
    return layout.texts()


@pytest.mark.parametrize("what", ["target", "collider", "ground"])
@pytest.mark.parametrize("how", ["deleted", "removed"])
def test_inputs_deleted_while_playing(what, how):
    obj = make_runner()
    parts = {
        "target": obj.steer.target_object,
        "collider": make_box(location=(30, 0, 0)),
        "ground": make_ground(),
    }
    make_colliders(obj, parts["collider"])
    obj.steer.ground = parts["ground"]
    play(1, 10)
    if how == "removed":
        bpy.data.objects.remove(parts[what])
    else:
        with bpy.context.temp_override(selected_objects=[parts[what]]):
            bpy.ops.object.delete()
    play(11, 20)
    assert stored(obj)[1] == 20
    assert np.isfinite(live.get_frame(obj, 20).position).all()
    if how == "deleted" and what != "collider":
        assert "INPUT_LOST" in codes(live.status(obj).warnings)


@pytest.mark.parametrize("how", ["deleted", "removed"])
def test_the_leader_is_deleted_while_playing(how):
    obj = make_crowd([(0, 0, 0), (0, -4, 0)], settings=seekers({"type": "follow_leader"}))
    leader = make_target(obj, (0, 10, 0))
    play(1, 10)
    assert live.get_frame(obj, 10).velocity[:, 1].min() > 0.2
    if how == "removed":
        bpy.data.objects.remove(leader)
    else:
        bpy.context.scene.collection.objects.unlink(leader)
        update()
    play(11, 20)
    # no target to follow: they continue in their directions
    velocities = [live.get_frame(obj, number).velocity for number in range(12, 21)]
    np.testing.assert_allclose(velocities, [velocities[0]] * 9, atol=1e-6)
    said = panel(obj)
    if how == "removed":
        # the field is empty then, as if nobody had ever been chosen
        assert obj.steer.target_object is None
        assert says(said, "TARGET_MISSING") and not says(said, "INPUT_LOST")
    else:
        assert says(said, "INPUT_LOST", "Target") and not says(said, "TARGET_MISSING")


@pytest.mark.parametrize("how", ["deleted", "removed"])
def test_offline_a_deleted_leader_is_a_plain_sentence(how):
    obj = make_crowd([(0, 0, 0), (0, -4, 0)], settings=seekers({"type": "follow_leader"}))
    leader = make_target(obj, (0, 10, 0))
    if how == "removed":
        bpy.data.objects.remove(leader)
    else:
        bpy.context.scene.collection.objects.unlink(leader)
        update()
    warnings = []
    frames = list(simulate.run(obj, bpy.context.scene, range(1, 11), warnings=warnings))
    # nobody moves, and all frames are there
    np.testing.assert_array_equal(frames[-1].position, [(0, 0, 0), (0, -4, 0)])
    lost = diagnose("INPUT_LOST", "Target", what="Target")
    none = diagnose("CROWD_WITHOUT_TARGET", "Crowd", noun="target")
    assert warnings == ([none] if how == "removed" else [none, lost])


def test_a_curve_without_splines_is_no_geometry_of_any_input():
    obj = make_runner()
    nothing = bpy.data.objects.new("Nothing", bpy.data.curves.new("Nothing", "CURVE"))
    bpy.context.scene.collection.objects.link(nothing)
    make_colliders(obj, nothing)
    obj.steer.target_kind, obj.steer.target_object = "POINTS", nothing
    obj.steer.ground = nothing
    for name in ("follow_path", "flow_field", "containment"):
        add_behavior(obj, name).source_object = nothing
    play(1, 5)
    assert stored(obj) == (1, 5) and code_of(obj) == ""
    lines = [d.subject for d in live.status(obj).warnings if d.code == "PATH_WITHOUT_EDGES"]
    assert lines == ["Nothing"]


def test_bad_points_are_a_message_and_playing_goes_on(caplog):
    obj = make_runner()
    other = make_crowd([(0, 0, 9)], "Other")
    obj.data.clear_geometry()
    play(1, 5)
    assert told(obj).values["reason"].startswith("Crowd 'Crowd' has no vertices: give")
    assert stored(other) == (1, 5)
    assert len([r for r in caplog.records if "no vertices" in r.message]) == 1
    obj.data.from_pydata([(0, 0, 0)], [], [])
    play(1, 5)
    assert code_of(obj) == "" and stored(obj) == (1, 5)


def test_scale_zero_is_a_message():
    obj = make_runner()
    obj.scale = (0, 1, 1)
    play(1, 3)
    assert "has scale 0 on its X axis" in told(obj).values["reason"]
    obj.scale = (-1, 1, 1)
    play(1, 3)
    assert stored(obj) == (1, 3)


def test_a_range_backwards_is_a_message():
    obj = make_runner()
    obj.steer.frame_start = 90
    play(1, 3)
    assert code_of(obj) == "RANGE_ENDS_EARLY"


def test_the_crowd_is_deleted_while_playing():
    obj = make_runner()
    play(1, 5)
    bpy.data.objects.remove(obj)
    play(6, 8)
    records.on_undo()
    live.on_undo()
    assert live.runs.by_uid() == {}


def test_attributes_reach_the_simulation():
    obj = make_runner()
    add_attribute(obj, "max_speed", "FLOAT", [0.0, 1.0, 3.0])
    play(1, 50)
    np.testing.assert_allclose(
        np.linalg.norm(live.get_frame(obj, 50).velocity, axis=1), [0, 1, 3], rtol=0.02
    )

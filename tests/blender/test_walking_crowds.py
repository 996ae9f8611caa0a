"""Crowds of characters: simulated gaits, the same characters at rest and in motion, and bakes."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import keyed_crowds, status  # noqa: E402
from steer_addon.blender.crowd import casting, state  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.live import simulate  # noqa: E402
from tests.blender.crowd_makers import active  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

POSTURE = {"phase", "gait", "character", "slope_ahead", "slope_side", "lean_ahead", "lean_side"}


def people(count=12, **options):
    assert bpy.ops.object.steer_start(preset="pedestrians", count=count, **options) == {"FINISHED"}
    obj = active()
    obj.steer.frame_end = 24
    return obj


def frames_of(obj, last):
    return list(simulate.run(obj, bpy.context.scene, range(1, last + 1)))


def shown_tops(obj):
    """The material of each agent's clothes, which tells the character, by id."""
    bpy.context.view_layer.update()
    found = {}
    for instance in bpy.context.evaluated_depsgraph_get().object_instances:
        if instance.is_instance and instance.parent.original == obj:
            number = [n for n in instance.persistent_id if n != 2**31 - 1][-1]
            found[number] = instance.object.data.materials[0].name.split(" ")[0]
    return found


def test_a_crowd_of_people_walks():
    obj = people()
    last = frames_of(obj, 24)[-1]
    assert set(last.attributes) >= POSTURE
    moving = last.speed > 0.7
    assert moving.sum() > 6 and np.all(last.attributes["gait"][moving] >= 2)


def test_a_crowd_of_cones_has_no_posture():
    obj = people(bodies=False)
    assert not casting.cast_of(obj)
    assert not POSTURE & set(frames_of(obj, 3)[-1].attributes)


def test_agents_keep_the_character_that_they_have_at_rest():
    obj = people(40)
    at_rest = shown_tops(obj)
    frame = frames_of(obj, 2)[-1]
    state.write_state(state.ensure_state(obj), frame)
    simulated = shown_tops(obj)
    assert len(simulated) == 40 and set(simulated.values()) == {"Woman", "Man", "Child"}
    names = [character.name for character in casting.characters_of(display.find_modifier(obj))]
    numbers = frame.attributes["character"].astype(int)
    assert {i: names[n] for i, n in zip(frame.id, numbers, strict=True)} == simulated == at_rest


@pytest.mark.parametrize("choice", ["Random", "Index", "Attribute"])
def test_the_solver_chooses_as_the_nodes_do(choice):
    obj = people(20)
    kinds = obj.data.attributes.new("kind", "INT", "POINT")
    kinds.data.foreach_set("value", [k * k for k in range(20)])
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Choose By", choice)
    display.set_input(modifier, "Attribute", "kind")
    display.set_input(modifier, "Seed", 3)
    at_rest = shown_tops(obj)
    state.write_state(state.ensure_state(obj), frames_of(obj, 1)[-1])
    assert shown_tops(obj) == at_rest and len(set(at_rest.values())) > 1


def test_larger_bodies_take_longer_steps():
    obj = people(1)
    rates = []
    for scale in (1.0, 1.1):
        display.set_input(display.find_modifier(obj), "Scale", scale)
        found = frames_of(obj, 24)[-2:]
        way = np.linalg.norm(found[1].position - found[0].position)
        gaits = [frame.attributes["gait"][0] for frame in found]
        assert gaits[0] == gaits[1]
        rates.append(float(found[1].attributes["phase"][0] - found[0].attributes["phase"][0]) / way)
    assert rates[0] == pytest.approx(1.1 * rates[1], rel=1e-3)


def test_another_size_or_character_puts_a_bake_out_of_date(tmp_path):
    obj = people(3)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "people.blend"))
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    assert status.status(obj, bpy.context.scene).changes == []
    display.set_input(display.find_modifier(obj), "Scale", 1.3)
    assert bpy.ops.object.steer_cache_check() == {"FINISHED"}
    changes = status.status(obj, bpy.context.scene).changes
    assert [change.subject for change in changes] == ["characters"]


def test_keyframes_have_the_body_of_each_character():
    obj = people(20)
    warnings = []
    keyed_crowds.bake_crowd(obj, bpy.context.scene, lambda share: None, warnings, range(1, 3))
    made = obj.steer.bake_collection.objects
    assert {o.data.name for o in made} == {"Woman", "Man", "Child"}
    assert not any(o.modifiers for o in made)
    assert [warning.code for warning in warnings] == ["CHARACTERS_STAND"]

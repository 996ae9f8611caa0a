"""Crowds of characters: simulated gaits, the same characters at rest and in motion, and bakes."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import keyed_crowds, status  # noqa: E402
from steer_addon.blender.characters import library, library_group  # noqa: E402
from steer_addon.blender.checks import advice  # noqa: E402
from steer_addon.blender.crowd import casting, state  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.export import formats  # noqa: E402
from steer_addon.blender.live import simulate  # noqa: E402
from steer_addon.blender.making import figures  # noqa: E402
from steer_addon.core.characters.pose_space import PoseSpace  # noqa: E402
from tests.blender.crowd_makers import active  # noqa: E402
from tests.blender.drawn import PANELS, draw  # noqa: E402
from tests.blender.fake_layout import FakeLayout  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene", "few_poses")

POSTURE = {
    "phase", "gait", "character", "slope_ahead", "slope_side", "lean_ahead", "lean_side", "twist",
    "shift_ahead", "shift_side", "curve",
}  # fmt: skip


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


def test_the_solver_chooses_as_the_nodes_do():
    obj = people(20)
    kinds = obj.data.attributes.new("kind", "INT", "POINT")
    kinds.data.foreach_set("value", [k * k for k in range(20)])
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Attribute", "kind")
    display.set_input(modifier, "Seed", 3)
    at_rest = {}
    for choice in ("Random", "Index", "Attribute"):
        display.set_input(modifier, "Choose By", choice)
        at_rest[choice] = shown_tops(obj)
        assert len(set(at_rest[choice].values())) > 1
    for choice, tops in at_rest.items():
        display.set_input(modifier, "Choose By", choice)
        state.write_state(state.ensure_state(obj), frames_of(obj, 1)[-1])
        assert shown_tops(obj) == tops
    assert at_rest["Random"] != at_rest["Index"] != at_rest["Attribute"]


def test_a_dog_tilts_with_the_ground_more_than_people_do():
    scene = bpy.context.scene
    dog, man = (figures.ensure_character(name, scene) for name in ("dog", "man"))
    assert (library_group.upright_of(dog), library_group.upright_of(man)) == (
        pytest.approx(0.3),
        1.0,
    )


def test_weights_and_upright_of_each_character_stand_in_the_panel(monkeypatch):
    obj = people(5, bodies=True)
    modifier, texts, prop = display.find_modifier(obj), [], FakeLayout.prop

    def noted(self, data, name, **options):
        texts.append(options.get("text"))
        prop(self, data, name, **options)

    monkeypatch.setattr(FakeLayout, "prop", noted)
    section = next(c for c in PANELS if c.__name__ == "PHYSICS_PT_steer_display")
    draw(section)
    assert {"Child Weight", "Man Weight", "Upright", "Child Upright", "Man Upright"} <= set(texts)
    display.set_input(modifier, "Choose By", "Index")
    texts.clear()
    draw(section)
    assert "Man Weight" not in texts and "Man Upright" in texts


def test_the_solver_knows_how_far_bodies_tilt_with_slopes():
    obj = people()
    modifier = display.find_modifier(obj)
    assert casting.cast_of(obj).upright == ()
    library_group.set_upright(casting.characters_of(modifier)[1], 0.5)
    assert casting.cast_of(obj).upright == pytest.approx([1.0, 0.5, 1.0])
    display.set_input(modifier, "Upright", 0.4)
    assert casting.cast_of(obj).upright == pytest.approx([0.4, 0.2, 0.4])


@pytest.mark.slow
def test_weights_say_how_often_a_character_is_taken():
    obj = people(400, bodies=True)
    modifier = display.find_modifier(obj)
    assert casting.cast_of(obj).weights == pytest.approx([0.35, 1.0, 1.0])  # a child, a man
    children = sum(name == "Child" for name in shown_tops(obj).values())
    assert 400 * 0.35 / 2.35 == pytest.approx(children, abs=20)
    child, man, woman = casting.characters_of(modifier)
    library_group.set_weight(man, 0.0)
    library_group.set_weight(woman, 3.5)
    at_rest = shown_tops(obj)
    assert sum(name == "Woman" for name in at_rest.values()) == pytest.approx(364, abs=15)
    assert "Man" not in at_rest.values()
    state.write_state(state.ensure_state(obj), frames_of(obj, 1)[-1])
    assert shown_tops(obj) == at_rest
    # somebody who joins or leaves changes nobody else
    fewer = people(100)
    assert shown_tops(fewer) == {i: at_rest[i] for i in range(100)}


def test_a_point_attribute_gives_each_agent_its_character():
    obj = people(9)
    given = obj.data.attributes.new("character", "INT", "POINT")
    given.data.foreach_set("value", [0, 1, 2, 3, -1, 2, 2, 0, 0])
    at_rest = shown_tops(obj)
    names = ["Child", "Man", "Woman"]
    assert list(at_rest.values()) == [names[n] for n in (0, 1, 2, 0, 2, 2, 2, 0, 0)]
    state.write_state(state.ensure_state(obj), frames_of(obj, 2)[-1])
    assert shown_tops(obj) == at_rest


def test_larger_bodies_take_longer_steps():
    obj = people(1)
    objects = sorted(bpy.data.collections["People"].objects, key=lambda o: o.name)
    for scale in (1.0, 1.1):
        display.set_input(display.find_modifier(obj), "Scale", scale)
        found = frames_of(obj, 24)[-2:]
        before, after = (frame.attributes for frame in found)
        way = np.linalg.norm(found[1].position - found[0].position)
        number = int(after["gait"][0])
        assert int(before["gait"][0]) == number
        gaits, _clips = library.rows_of(objects[int(after["character"][0])])
        cycles = float(after["phase"][0] - before["phase"][0])
        assert way == pytest.approx(cycles * scale * gaits[number].stride, rel=1e-3)


def test_another_size_or_character_puts_a_bake_out_of_date(tmp_path):
    obj = people(3)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "people.blend"))
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    assert status.status(obj, bpy.context.scene).changes == []
    display.set_input(display.find_modifier(obj), "Scale", 1.3)
    assert bpy.ops.object.steer_cache_check() == {"FINISHED"}
    changes = status.status(obj, bpy.context.scene).changes
    assert [change.subject for change in changes] == ["the cast of characters"]


def shorter(character):
    """The character without its clips and its fastest gait, as if made of other actions."""
    gaits, _ = library.rows_of(character)
    kept = gaits[:-1]
    count = sum(row.count for row in kept)
    poses = PoseSpace(library.positions_of(character)[:count], kept)
    library.refill(character, character.data.copy(), poses)


def removed(character):
    bpy.data.objects.remove(character)


@pytest.mark.parametrize("change", [shorter, removed])
def test_a_character_edited_or_deleted_after_the_bake_is_told(tmp_path, change):
    obj = people(3)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "people.blend"))
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    shown = display.shown_body(display.find_modifier(obj))
    change(shown.objects[0])
    assert bpy.ops.object.steer_cache_check() == {"FINISHED"}
    changes = status.status(obj, bpy.context.scene).changes
    assert [found.subject for found in changes] == ["the cast of characters"]


def test_keyframes_have_the_body_of_each_character():
    obj = people(20)
    warnings = []
    keyed_crowds.bake_crowd(obj, bpy.context.scene, lambda share: None, warnings, range(1, 3))
    made = obj.steer.bake_collection.objects
    assert {o.data.name for o in made} == {"Woman", "Man", "Child"}
    assert not any(o.modifiers for o in made)
    assert [warning.code for warning in warnings] == ["CHARACTERS_STAND"]


def test_exports_of_points_say_that_characters_are_not_in_them(tmp_path):
    obj, scene, numbers = people(2), bpy.context.scene, range(1, 3)
    for name, told in (("alembic", True), ("pc2", True), ("csv", False)):
        chosen, warnings = formats.FORMATS[name], []
        path = tmp_path / f"crowd{chosen.suffix}"
        formats.export_crowd(obj, scene, chosen, path, numbers=numbers, warnings=warnings)
        assert [w.sentence for w in warnings] == [
            "Characters of 'Crowd' are not in the file, as Alembic Points holds points: export a "
            "USD Point Instancer, where they walk".replace("Alembic Points", chosen.label)
        ] * told


def test_people_play_clips_while_they_stand_and_when_they_arrive():
    obj = people(30)
    obj.steer.clips.idle, obj.steer.clips.idle_share = "look around", 0.6
    obj.steer.clips.arrival = "clap, wave"
    (gaits, clips), *_ = (library.rows_of(c) for c in bpy.data.collections["People"].objects)
    rows = [row.name for row in (*gaits, *clips)]
    for behavior in obj.steer.behaviors:
        behavior.enabled = False
    obj.steer.frame_end = 240
    frames = frames_of(obj, 240)
    played = {rows[int(gait)] for frame in frames for gait in frame.attributes["gait"]}
    assert played == {"stand", "look around"}
    assert {*np.unique(frames[-1].attributes["clip"])} == {
        -1.0,
        float(rows.index("look around") - len(gaits)),
    }


def test_clips_that_no_character_has_are_named():
    obj = people(3)
    codes = lambda: [found.code for found in advice.diagnoses(obj)]  # noqa: E731
    obj.steer.clips.idle = "Look Around, *"
    assert "CLIP_UNKNOWN" not in codes()
    obj.steer.clips.arrival = "jump"
    assert "CLIP_UNKNOWN" in codes()

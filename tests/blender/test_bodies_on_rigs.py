"""A rig among what agents are shown as: told, mended by a button; a bake copies what is shown."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import keyed_crowds  # noqa: E402
from steer_addon.blender.checks import advice  # noqa: E402
from steer_addon.blender.display import display, rigs  # noqa: E402
from tests.blender.crowd_makers import make_crowd, make_plane  # noqa: E402
from tests.blender.live_scenes import make_target  # noqa: E402
from tests.blender.operator_calls import refusal, undone  # noqa: E402
from tests.diagnosed import codes  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def make_rig(*names):
    """An armature and meshes that it deforms."""
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    meshes = [make_plane(name) for name in names]
    for mesh in meshes:
        mesh.modifiers.new("Armature", "ARMATURE").object = rig
    return rig, *meshes


def shown_as(kind, what):
    """A crowd that is shown as something, active."""
    crowd = make_crowd()
    make_target(crowd)
    modifier = display.find_modifier(crowd)
    display.set_input(modifier, kind, what)
    display.set_input(modifier, "Display", kind)
    bpy.context.view_layer.objects.active = crowd
    return crowd


def told(crowd):
    return [(d.code, d.subject) for d in advice.diagnoses(crowd) if "RIG" in d.code]


def instances(crowd):
    """Names of the objects that agents are shown as."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    return [
        found.object.name
        for found in depsgraph.object_instances
        if found.is_instance and found.parent.original == crowd
    ]


def places(crowd, name):
    """Where agents show an object [m], by name of the crowd or of a bake of it."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    return sorted(
        tuple(round(x, 3) for x in found.matrix_world.translation)
        for found in depsgraph.object_instances
        if getattr(found.object.data, "name", "") == name
        and (found.is_instance or found.object.name.startswith(f"{crowd.name}."))
    )


def baked_places(crowd, name):
    """Where the objects of a keyframe bake of the frame shown are."""
    assert bpy.ops.object.steer_bake_keyframes() == {"FINISHED"}
    bpy.context.scene.frame_set(bpy.context.scene.frame_current)
    return places(crowd, name)


def in_collection(*objects, name="Hero"):
    collection = bpy.data.collections.new(name)
    bpy.context.scene.collection.children.link(collection)
    for obj in objects:
        collection.objects.link(obj)
    return collection


def test_a_rig_as_object_is_told_and_its_mesh_taken():
    rig, _ = make_rig("Body")
    crowd = shown_as("Object", rig)
    assert told(crowd) == [("BODY_IS_RIG", "Rig")]
    name = crowd.name
    undone(bpy.ops.object.steer_show_meshes)
    crowd = bpy.data.objects[name]
    assert told(crowd) == [("BODY_IS_RIG", "Rig")]
    bpy.context.view_layer.objects.active = crowd
    assert bpy.ops.object.steer_show_meshes() == {"FINISHED"}
    modifier = display.find_modifier(crowd)
    assert display.shown_body(modifier).name == "Body"
    assert told(crowd) == [] and set(instances(crowd)) == {"Body"}


def test_a_collection_of_rig_and_meshes_is_one_body_per_agent():
    rig, body, coat = make_rig("Body", "Coat")
    other = make_plane("Other")
    crowd = shown_as("Collection", in_collection(rig, body, coat, other))
    assert told(crowd) == [("RIG_AMONG_BODIES", "Rig")]
    assert bpy.ops.object.steer_show_meshes() == {"FINISHED"}
    shown = display.shown_body(display.find_modifier(crowd))
    assert [c.name for c in shown.children] == ["Rig Body"]
    assert {o.name for o in shown.children[0].objects} == {"Body", "Coat"}
    assert [o.name for o in shown.objects] == ["Other"]
    assert told(crowd) == []
    seen = instances(crowd)
    # no agent is bones, and whoever wears the coat has the body
    assert set(seen) <= {"Body", "Coat", "Other"}
    assert seen.count("Body") == seen.count("Coat")
    assert seen.count("Body") + seen.count("Other") == len(crowd.data.vertices)


def test_meshes_of_a_rig_that_stands_elsewhere_are_shown_and_baked_at_their_agents():
    rig, body, coat = make_rig("Body", "Coat")
    rig.location, body.location, coat.location = (40, 5, 2), (40, 5, 2), (40, 5, 3)
    bpy.context.view_layer.update()
    crowd = shown_as("Collection", in_collection(rig, body, coat))
    assert bpy.ops.object.steer_show_meshes() == {"FINISHED"}
    crowd.steer.frame_end = 2
    bpy.context.scene.frame_set(1)
    agents = sorted(tuple(round(x, 3) for x in v.co) for v in crowd.data.vertices)
    above = [(x, y, z + 1.0) for x, y, z in agents]
    assert (places(crowd, "Body"), places(crowd, "Coat")) == (agents, above)
    assert baked_places(crowd, "Body") == agents
    assert places(crowd, "Coat") == above


def test_the_one_object_of_a_collection_is_baked_where_it_is_shown():
    hero = make_plane("Hero")
    hero.location = (20, 0, 1)
    crowd = shown_as("Collection", in_collection(hero))
    crowd.steer.frame_end = 2
    bpy.context.scene.frame_set(1)
    shown = places(crowd, "Hero")
    assert len(shown) == len(crowd.data.vertices)
    assert baked_places(crowd, "Hero") == shown


def test_a_rig_that_deforms_nothing_says_so():
    (rig,) = make_rig()
    crowd = shown_as("Object", rig)
    with pytest.raises(RuntimeError, match="'Rig' deforms no mesh"):
        bpy.ops.object.steer_show_meshes()
    assert display.shown_body(display.find_modifier(crowd)) == rig


def test_a_rig_is_looked_for_among_the_first_objects_of_a_collection():
    rig, asked = SimpleNamespace(type="ARMATURE"), []

    def objects(count):
        for _ in range(count):
            asked.append(count)
            yield SimpleNamespace(type="MESH")
        yield rig

    assert rigs.rig_of(SimpleNamespace(all_objects=objects(200))) is rig
    assert rigs.rig_of(SimpleNamespace(all_objects=objects(5000))) is None
    assert asked.count(5000) < 1000


def test_without_a_rig_there_is_nothing_to_mend():
    crowd = shown_as("Object", make_plane("Walker"))
    assert told(crowd) == [] and "No armature" in refusal(bpy.ops.object.steer_show_meshes)


def test_keyframes_copy_what_is_shown():
    body = make_plane("Hero")
    crowd = shown_as("Object", body)
    crowd.steer.frame_end = 3
    assert bpy.ops.object.steer_bake_keyframes() == {"FINISHED"}
    assert {o.data for o in crowd.steer.bake_collection.objects} == {body.data}


def test_the_only_body_of_a_collection_is_copied_and_several_are_told():
    hero = make_plane("Hero")
    heroes = in_collection(hero, name="Heroes")
    crowd = shown_as("Collection", heroes)
    for count in (1, 2):
        warnings = []
        keyed_crowds.bake_crowd(crowd, bpy.context.scene, lambda share: None, warnings, range(1, 3))
        made = crowd.steer.bake_collection.objects
        assert {o.data for o in made} == ({hero.data} if count == 1 else {None})
        assert codes(warnings) == ([] if count == 1 else ["BAKED_TO_EMPTIES"])
        heroes.objects.link(make_plane("Other"))


def test_a_bake_of_another_object_is_that_of_the_field():
    crowd = shown_as("Object", make_plane("Hero"))
    crowd.steer.bake_source_object, crowd.steer.frame_end = make_plane("Proxy"), 3
    bpy.context.view_layer.objects.active = crowd
    assert bpy.ops.object.steer_bake_keyframes() == {"FINISHED"}
    assert {o.data.name for o in crowd.steer.bake_collection.objects} == {"Proxy"}

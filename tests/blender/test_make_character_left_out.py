"""What cannot be part of a character is named, with what helps for each kind."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters import joining, rigs  # noqa: E402
from steer_addon.blender.characters.sampling import Sampler  # noqa: E402
from steer_addon.core.errors import CharacterError  # noqa: E402
from tests.blender.walking_rigs import box, make, make_rig, walking_rig  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def told(rig, without=()):
    bpy.context.view_layer.update()
    with Sampler(bpy.context.scene, rig, rigs.parts_of(rig, without)) as sampler:
        sampler.at(1.0)
        return joining.left_out(sampler, rig)


def particles(name, **values):
    """Particle hair on the head of a rig."""
    modifier = bpy.data.objects["head"].modifiers.new(name, "PARTICLE_SYSTEM")
    settings = modifier.particle_system.settings
    settings.type, settings.count = "HAIR", 5
    for key, value in values.items():
        setattr(settings, key, value)
    return modifier


def test_hair_of_particles_and_of_curves_is_named():
    rig, modifier = make_rig(), particles("Fur")
    curves = bpy.data.objects.new("Locks", bpy.data.hair_curves.new("Locks"))
    curves.data.add_curves([3])
    # it grows on a surface, and is not always a child of it
    curves.data.surface = bpy.data.objects["head"]
    bpy.context.scene.collection.objects.link(curves)
    assert told(rig) == (
        "Hair is left out, as poses have faces only: 'Fur' of 'head', 'Locks'; model a mesh in its "
        "place that the rig deforms",
    )
    # what is not rendered, or not part of the character, is not missed
    curves.hide_render, modifier.show_render = True, False
    assert told(rig) == ()
    modifier.show_render = True
    assert len(told(rig)) == 1 and told(rig, without=("head",)) == ()


def test_instances_of_particles_and_collections_can_be_made_real():
    rig, hat = make_rig(), bpy.data.objects["hat"]
    leaf = box("leaf", (0, 0, 0), (0.1, 0.1, 0.1))
    particles("Leaves", render_type="OBJECT", instance_object=leaf)
    props = bpy.data.collections.new("Props")
    props.objects.link(leaf)
    hand = bpy.data.objects.new("Hand", None)
    hand.instance_type, hand.instance_collection = "COLLECTION", props
    bpy.context.scene.collection.objects.link(hand)
    hand.parent, hand.parent_type, hand.parent_bone = rig, "BONE", "head"
    (sentence,) = told(rig)
    assert sentence == (
        "Instances are left out: 'Hand', 'Leaves' of 'head'; Object > Apply > Make Instances Real, "
        "with Parent in Adjust Last Operation (F9), lets them be parts"
    )
    bpy.context.view_layer.objects.active = hand
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj == hand)
    bpy.ops.object.duplicates_make_real(use_base_parent=True)
    parts = rigs.parts_of(rig)
    assert len(parts) == 5 and hat in parts
    assert "Hand" not in told(rig)[0]


@pytest.fixture
def instance(tmp_path):
    """An empty that shows the collection of a rig, which is linked from another file or not."""

    def make(linked):
        rig = make_rig()
        collection = bpy.data.collections.new("Hero")
        for obj in (rig, *rig.children):
            collection.objects.link(obj)
        if linked:
            path = str(tmp_path / "hero.blend")
            bpy.data.libraries.write(path, {collection})
            bpy.ops.wm.read_homefile(use_empty=True)
            with bpy.data.libraries.load(path, link=True) as (_there, wanted):
                wanted.collections = ["Hero"]
            (collection,) = wanted.collections
        empty = bpy.data.objects.new("Stand-in", None)
        empty.instance_type, empty.instance_collection = "COLLECTION", collection
        bpy.context.scene.collection.objects.link(empty)
        bpy.context.view_layer.objects.active = empty
        return empty

    return make


def test_the_instance_of_a_linked_character_is_sent_to_library_override(instance):
    empty = instance(linked=True)
    with pytest.raises(
        CharacterError,
        match=r"^'Stand-in' shows collection 'Hero' of hero.blend: use Object > Library Override > "
        r"Make, then select the armature 'Walker' that it makes$",
    ):
        rigs.parts_of(empty)
    # as it says
    empty.select_set(True)
    bpy.ops.object.make_override_library()
    (rig,) = (o for o in bpy.context.scene.objects if o.type == "ARMATURE" and o.override_library)
    assert rig.name == "Walker" and len(rigs.parts_of(rig)) == 4


def test_the_instance_of_a_character_of_this_file_is_sent_to_its_rig(instance):
    with pytest.raises(CharacterError, match="'Hero' of this file: select the armature 'Walker'$"):
        rigs.parts_of(instance(linked=False))


def test_parts_that_are_off_in_viewports_or_turned_on_by_keys_are_named():
    rig, hat, head = make_rig(), bpy.data.objects["hat"], bpy.data.objects["head"]
    hat.hide_viewport = True
    assert told(rig) == (
        "Left out, as they are disabled in viewports: 'hat'; turn on their monitor icon in the "
        "Outliner, and hide them with the eye instead",
    )
    hat.hide_render = True
    assert told(rig) == ()
    for frame, hidden in ((1, False), (10, True)):
        head.hide_render = hidden
        head.keyframe_insert("hide_render", frame=frame)
    bpy.context.scene.frame_set(1)
    assert told(rig) == (
        "Keys turn 'head' on and off, which poses do not have: they are as in this frame "
        "throughout; make them optional parts, or key their scale",
    )


def test_images_whose_files_are_not_there_are_named_with_the_place(tmp_path):
    rig, inner = walking_rig(), bpy.data.node_groups.new("Inner", "ShaderNodeTree")
    material = bpy.data.materials["head"]
    if material.node_tree is None:
        material.use_nodes = True
    material.node_tree.nodes.new("ShaderNodeGroup").node_tree = inner
    shader = inner.nodes.new("ShaderNodeEmission")
    images = [bpy.data.images.new(name, 2, 2) for name in ("skin", "packed", "unused", "none")]
    for image, path in zip(images, ("skin.png", "", "unused.png", ""), strict=True):
        if image.name == "packed":
            image.pixels[:] = [1.0] * 16
            image.pack()
        else:
            image.source, image.filepath = "FILE", str(tmp_path / path) if path else ""
        node = inner.nodes.new("ShaderNodeTexImage")
        node.image = image
        if image.name != "unused":
            inner.links.new(node.outputs["Color"], shader.inputs["Color"])
            material.node_tree.nodes.new("ShaderNodeTexImage").image = image
            shader = inner.nodes.new("ShaderNodeEmission")
    (sentence,) = make(rig).left_out
    assert sentence == (
        f"Images of materials are missing: 'skin', as there is no file {tmp_path / 'skin.png'}, "
        "'none', as it names no file; find them by File > External Data > Find Missing Files"
    )

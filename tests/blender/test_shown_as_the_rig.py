"""A character shows what its rig shows: colors, normals, and what moves beside the bones."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from mathutils import Vector  # noqa: E402

from steer_addon.blender.characters import joining, sources  # noqa: E402
from steer_addon.core.characters.recipe import Recipe  # noqa: E402
from steer_addon.core.errors import CharacterError  # noqa: E402
from tests.blender.walking_rigs import COARSE, box, make, walking_rig  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def part_of(character, name):
    """Vertices of a part, which has the material of its name."""
    mesh = character.data
    number = [material.name for material in mesh.materials].index(name)
    faces = [face for face in mesh.polygons if face.material_index == number]
    return sorted({v for face in faces for v in face.vertices}), faces


def add_shape(name, action):
    """A shape key of a part that makes it wide in the middle of the walk, by some action."""
    part = bpy.data.objects[name]
    part.shape_key_add(name="Basis")
    wide = part.shape_key_add(name="Wide")
    for point in wide.data:
        point.co.x *= 2.0
    data = part.data.shape_keys.animation_data_create()
    data.action = action
    if action.slots:
        data.action_slot = action.slots.new("KEY", part.data.shape_keys.name)
    for frame, value in ((0, 0.0), (12, 1.0), (24, 0.0)):
        wide.value = value
        wide.keyframe_insert("value", frame=frame)


def test_what_moves_by_an_action_of_its_own_goes_with_the_walk():
    rig = walking_rig()
    add_shape("head", bpy.data.actions["Walk"])
    add_shape("hat", bpy.data.actions.new("Own"))
    made = make(rig)
    row = next(row for row in made.space.rows if row.name == "walk")
    poses = made.space.positions[row.first : row.first + row.count]
    widths = [
        np.ptp(poses[:, part_of(made.character, name)[0], 0], axis=1) for name in ("head", "hat")
    ]
    assert np.ptp(widths[0]) > 0.3
    np.testing.assert_allclose(widths[0] / 0.4, widths[1] / 0.3, atol=0.02)


def test_parts_keep_their_colors_whatever_their_attributes_are_called():
    rig = walking_rig()
    expected = {}
    for number, (name, kind, domain) in enumerate(
        (("head", "BYTE_COLOR", "CORNER"), ("hat", "FLOAT_COLOR", "POINT"))
    ):
        colors = bpy.data.meshes[name].color_attributes.new(f"Paint {name}", kind, domain)
        expected[name] = 0.25 + 0.5 * number
        colors.data.foreach_set("color", [expected[name]] * (4 * len(colors.data)))
    character = make(rig).character
    mesh = character.data
    colors = mesh.color_attributes[mesh.attributes.default_color_name]
    for name, value in expected.items():
        vertices, faces = part_of(character, name)
        corners = [corner for face in faces for corner in face.loop_indices]
        chosen = vertices if colors.domain == "POINT" else corners
        found = [tuple(colors.data[number].color)[0] for number in chosen]
        assert found == pytest.approx([value] * len(found), abs=0.01)


def add_values(part, kind, domain, name="wear"):
    """An attribute of a part with a value of its own for each element; returns the values."""
    attribute = bpy.data.meshes[part].attributes.new(name, kind, domain)
    size = {"FLOAT2": 2, "FLOAT_VECTOR": 3, "BYTE_COLOR": 4, "FLOAT_COLOR": 4}.get(kind, 1)
    key = {1: "value", 4: "color"}.get(size, "vector")
    values = np.arange(1, 1 + size * len(attribute.data)) % (2 if kind == "BOOLEAN" else 50)
    # values of 8 bits are those that they can have
    values = np.float32(values % 2) if kind == "BYTE_COLOR" else np.float32(values)
    whole = kind in ("INT", "BOOLEAN")
    attribute.data.foreach_set(key, values.astype(int).tolist() if whole else values)
    return values.reshape(-1, size)


def at_corners(mesh, faces, domain, values):
    """The values of the elements of a part at each corner of its faces."""
    if domain == "FACE":
        return np.repeat(values, [len(face.vertices) for face in faces], axis=0)
    return values[[vertex for face in faces for vertex in face.vertices]]


@pytest.mark.parametrize(
    ("first", "second", "size"),
    [
        (("FLOAT", "FACE"), ("FLOAT", "POINT"), 1),
        (("INT", "POINT"), ("BOOLEAN", "FACE"), 1),
        (("FLOAT", "FACE"), ("FLOAT_VECTOR", "FACE"), 3),
        (("FLOAT_VECTOR", "POINT"), ("BYTE_COLOR", "POINT"), 4),
        (("FLOAT_COLOR", "FACE"), ("FLOAT", "POINT"), 4),
        (("FLOAT2", "POINT"), ("FLOAT", "POINT"), 3),
    ],
)
def test_attributes_of_one_name_keep_their_values_whatever_they_are_stored_for(first, second, size):
    rig, parts = walking_rig(), {"head": first, "hat": second}
    given = {name: add_values(name, *kind) for name, kind in parts.items()}
    made = make(rig)
    mesh = made.character.data
    wear = mesh.attributes["wear"]
    found = np.array(
        [np.ravel(getattr(one, {1: "value", 3: "vector", 4: "color"}[size])) for one in wear.data]
    )
    assert wear.domain == "CORNER" and made.left_out == ()
    for name, (_, domain) in parts.items():
        _, faces = part_of(made.character, name)
        corners = [corner for face in faces for corner in face.loop_indices]
        own = bpy.data.meshes[name]
        wanted = at_corners(own, own.polygons, domain, given[name])
        # a number is the same in all parts of a color, which is opaque; a third part is 0
        wide = np.zeros((len(wanted), size))
        wide[:, 3:] = 1.0
        wide[:, : 3 if wanted.shape[1] == 1 else wanted.shape[1]] = wanted
        np.testing.assert_allclose(found[corners], wide)


def test_a_uv_map_stays_one_and_attributes_of_its_name_are_named():
    rig = walking_rig()
    points = np.random.default_rng(1).random((24, 2), np.float32)
    for name, label in (("head", "Skin"), ("hat", "Felt")):
        (layer,) = bpy.data.meshes[name].uv_layers
        layer.name = label
        layer.uv.foreach_set("vector", points.ravel())
    add_values("hat", "FLOAT_VECTOR", "POINT", "Skin")
    made = make(rig)
    assert made.left_out == (
        "Attributes are left out, as another part has a UV map of their name, or one that "
        "materials can read: 'Skin' of 'hat'; rename them, and where materials read them",
    )
    maps = made.character.data.uv_layers
    (rendered,) = [layer for layer in maps if layer.active_render]
    for name, layer in (("head", maps["Skin"]), ("head", rendered), ("hat", rendered)):
        _, faces = part_of(made.character, name)
        found = [layer.uv[corner].vector[:] for face in faces for corner in face.loop_indices]
        np.testing.assert_allclose(found, points)


def test_edges_have_no_say_in_what_materials_read():
    rig = walking_rig()
    for name, domain in (("head", "EDGE"), ("hat", "FACE"), ("leg.l", "POINT")):
        bpy.data.meshes[name].attributes.new("wear", "FLOAT", domain)
    (told,) = make(rig).left_out
    assert ": 'wear' of 'head'; " in told


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_parts_keep_normals_that_were_set_also_where_they_are_mirrored(side):
    rig = walking_rig()
    hat = bpy.data.objects["hat"]
    hat.scale.x = side
    hat.data.polygons.foreach_set("use_smooth", [True] * 6)
    wanted = Vector((0.5, -0.2, 1.0)).normalized()
    hat.data.normals_split_custom_set([wanted] * len(hat.data.loops))
    character = make(rig).character
    bpy.context.view_layer.update()
    turn = hat.matrix_world.to_3x3().inverted().transposed()
    _, faces = part_of(character, "hat")
    for face in faces:
        for corner in face.loop_indices:
            found = character.data.corner_normals[corner].vector
            assert (found - (turn @ wanted).normalized()).length < 0.02


def test_a_body_without_vertices_is_one_sentence():
    bare = box("Bare", (0, 0, 0.5), (1, 1, 1))
    build = bare.modifiers.new("Build", "BUILD")
    build.frame_start, build.frame_duration = 10.0, 20.0
    with pytest.raises(CharacterError, match="'Bare' shows no vertices of its own at frame 1"):
        make(bare, Recipe(plan=COARSE))


def test_what_no_key_moves_of_a_bone_stays_as_it_was_put_by_hand():
    rig = walking_rig()
    head, leg = rig.pose.bones["head"], rig.pose.bones["leg.l"]
    heights = []
    for size in (1.0, 2.0):
        head.scale = (1.0, size, 1.0)
        # what a key moves is left from the action that was shown
        leg.location = head.location = (0.0, 0.0, 5.0)
        made = make(rig)
        vertices, _ = part_of(made.character, "head")
        heights.append(np.ptp(made.space.positions[0][vertices, 2]))
        assert np.abs(made.space.positions[0]).max() < 3.0
    assert heights[1] == pytest.approx(2.0 * heights[0], rel=0.01)
    assert not sources.is_changed(made.character)
    leg.location = head.location = (0.0, 0.0, 0.0)
    assert not sources.is_changed(made.character)
    head.scale.y = 1.5
    assert sources.is_changed(made.character)


@pytest.mark.parametrize(
    ("kind", "output", "told"),
    [("NewGeometry", "Position", False), ("TexNoise", "Color", True),
     ("TexCoord", "Generated", True), ("TexCoord", "Object", True), ("TexCoord", "UV", False)],
)  # fmt: skip
def test_textures_that_a_character_has_not_are_named(kind, output, told):
    mesh, tree = bpy.data.meshes.new("Skin"), bpy.data.node_groups.new("Inner", "ShaderNodeTree")
    material = bpy.data.materials.new("Wool")
    material.use_nodes = True
    material.node_tree.nodes.new("ShaderNodeGroup").node_tree = tree
    source, shader = tree.nodes.new(f"ShaderNode{kind}"), tree.nodes.new("ShaderNodeEmission")
    mesh.materials.append(material)
    assert list(joining.sliding(mesh)) == []
    tree.links.new(source.outputs[output], shader.inputs["Color"])
    found = list(joining.sliding(mesh))
    assert len(found) == told and ("'Wool'" in "".join(found)) == told
    if kind == "TexNoise":
        source.noise_dimensions = "1D"
        assert list(joining.sliding(mesh)) == []

"""The library object of a character: one mesh with all its poses, of which crowds show one each.

Topology, UVs and materials are there once, and each pose is a point attribute of the mesh, 12 bytes
for a vertex. The node group of `library.toml` makes a geometry instance of every pose; all of them
share what is the same. It is all that the Crowd modifier needs, which so shows characters without
Steer too. What the rows of poses are is known twice: to the nodes by further attributes of the
mesh, to Python by a custom property of the object.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.characters.pose_space import PoseSpace, Row
from ...core.doors import tomllib
from ...core.errors import CharacterError, short
from ..display import display, node_builder
from . import described

KEY = "steer_character"
"""Custom property of library objects: what rows of poses there are."""
COLLECTION_NAME = "Characters"
MODIFIER_NAME = "Character"
_COLLECTION_KEY = "steer_characters"
_GROUP_NAME = "Steer Character"
_GROUP_KEY = "steer_character_version"
_VERSION = 1
"""Raise it with every change of the property."""
_GROUP_VERSION = 5
"""Raise it with every change of `library.toml`."""
LEVELS = ("Level 1", "Level 2")
"""Inputs of its modifier: objects that show the same poses with fewer faces."""
WEIGHT = "Weight"
"""Input of its modifier: how often it is chosen, against the other characters of a crowd."""
UPRIGHT = "Upright"
"""Input of its modifier: share of the crowd's own by which it stays upright on slopes, 0 to 1."""
_FACTORS = {
    WEIGHT: "How often crowds choose this character, against the others",
    UPRIGHT: "By how much of the crowd's Upright this character stays upright on slopes",
}
"""Inputs that are numbers, with their tooltips; all are 1 where nothing is said."""
_MOST_POSES = 10_000
"""Names of poses have four digits."""


class Faces(Protocol):
    """Faces of a mesh.

    Attributes:
        vertices: Vertex numbers of all faces, one face after another.
        sizes: Number of vertices of each face, shape (face_count,).
        materials: Number of each face's material, shape (face_count,).
        smooth: Whether each face is shaded smooth, shape (face_count,).
    """

    @property
    def vertices(self) -> NDArray[np.int32]: ...  # noqa: D102
    @property
    def sizes(self) -> NDArray[np.int32]: ...  # noqa: D102
    @property
    def materials(self) -> NDArray[np.int32]: ...  # noqa: D102
    @property
    def smooth(self) -> NDArray[np.bool_]: ...  # noqa: D102


def base_mesh(
    name: str,
    points: NDArray[np.float32],
    faces: Faces,
    materials: Sequence[bpy.types.Material],
) -> bpy.types.Mesh:
    """A mesh of faces with materials, to be filled with poses.

    Args:
        name: Its name.
        points: Its vertices [m], shape (vertex_count, 3).
        faces: Its faces.
        materials: Its materials.
    """
    mesh = bpy.data.meshes.new(name)
    ends = np.cumsum(faces.sizes)
    mesh.vertices.add(len(points))
    mesh.vertices.foreach_set("co", np.ascontiguousarray(points, np.float32).ravel())
    mesh.loops.add(len(faces.vertices))
    mesh.loops.foreach_set("vertex_index", np.ascontiguousarray(faces.vertices, np.int32))
    mesh.polygons.add(len(ends))
    mesh.polygons.foreach_set("loop_start", (ends - faces.sizes).astype(np.int32))
    for material in materials:
        mesh.materials.append(material)
    mesh.polygons.foreach_set("material_index", np.ascontiguousarray(faces.materials, np.int32))
    mesh.polygons.foreach_set("use_smooth", np.ascontiguousarray(faces.smooth, np.bool_))
    mesh.update(calc_edges=True)
    # Cycles shades across the border of a flat face unless its edges are sharp themselves
    edges = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("edge_index", edges)
    sharp = np.zeros(len(mesh.edges), np.bool_)
    sharp[edges[np.repeat(~np.asarray(faces.smooth, np.bool_), faces.sizes)]] = True
    mesh.edges.foreach_set("use_edge_sharp", sharp)
    return mesh


def make(
    name: str, mesh: bpy.types.Mesh, space: PoseSpace, scene: bpy.types.Scene
) -> bpy.types.Object:
    """Make the library object of a character, which is neither seen nor rendered itself.

    Args:
        name: Name that users see.
        mesh: The body with UVs and materials, which becomes the object's own; its vertices are
            those of the poses, in their order.
        space: The poses.
        scene: The scene in whose collection of characters the object is put.

    Raises:
        CharacterError: The poses do not fit the mesh.
    """
    fill(mesh, space)
    obj = bpy.data.objects.new(name, mesh)
    mesh.name = obj.name
    _describe(obj, space)
    ensure_modifier(obj)
    # wherever it is linked to, all poses at once are never seen; crowds show it nonetheless
    obj.hide_viewport = obj.hide_render = True
    ensure_collection(scene).objects.link(obj)
    return obj


def refill(obj: bpy.types.Object, mesh: bpy.types.Mesh, space: PoseSpace) -> None:
    """Give a library object another mesh and other poses; crowds that show it show those then.

    Args:
        obj: The library object.
        mesh: The body, as for `make`.
        space: The poses.

    Raises:
        CharacterError: The poses do not fit the mesh, or the object comes from another file.
    """
    check_local(obj)
    fill(mesh, space)
    before: Any = obj.data
    obj.data = mesh
    if before is not None and before.users == 0:
        name = before.name
        bpy.data.meshes.remove(before)
        mesh.name = name
    _describe(obj, space)
    ensure_modifier(obj)


def check_local(obj: bpy.types.Object) -> None:
    """Refuse a library object of another file.

    Raises:
        CharacterError: It is linked.
    """
    if obj.library is not None or obj.override_library is not None:
        raise CharacterError(
            f"Character {obj.name!r} is linked from another file: make it again in that file, or "
            "make it local (Object > Relations > Make Local)"
        )


def is_character(obj: bpy.types.Object | None) -> bool:
    """Whether an object is a library object, by its custom property; cheap."""
    return obj is not None and KEY in obj


def among(
    source: bpy.types.Object | bpy.types.Collection | None,
) -> tuple[bpy.types.Object, ...]:
    """Characters in the order in which agents number them; none where anything else is with them.

    Args:
        source: A character, or a collection of characters.
    """
    if isinstance(source, bpy.types.Collection):
        # the nodes count a collection in it as one of its objects
        members = [] if source.children else sorted(source.objects, key=lambda obj: obj.name)
    else:
        members = [] if source is None else [source]
    return tuple(members) if all(map(is_character, members)) else ()


def all_among(source: bpy.types.Object | bpy.types.Collection) -> list[bpy.types.Object]:
    """All characters of a collection and of those in it, or a character, by name."""
    members = [source] if isinstance(source, bpy.types.Object) else list(source.all_objects)
    return sorted(filter(is_character, members), key=lambda obj: obj.name)


def rows_of(obj: bpy.types.Object) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """The gaits of a library object, and its clips.

    Raises:
        CharacterError: The object is none, or its custom property is not what Steer writes.
    """
    if not is_character(obj):
        raise CharacterError(
            f"Object {obj.name!r} is no character: choose one that Object > Crowd > Make Character "
            "has made"
        )
    try:
        version, gaits, clips = described.read(obj[KEY])
    except CharacterError as error:
        raise CharacterError(f"Character {obj.name!r} is damaged. {error}") from None
    except (TypeError, ValueError, KeyError, OverflowError, RecursionError, MemoryError):
        raise CharacterError(
            f"Character {obj.name!r} is damaged: its custom property {KEY!r} is "
            f"{short(obj[KEY])}; make the character again"
        ) from None
    if version != _VERSION:
        raise CharacterError(
            f"Character {obj.name!r} has version {short(version)}, and this Steer knows "
            f"{_VERSION}: update Steer, or make the character again"
        )
    return gaits, clips


def ensure_collection(scene: bpy.types.Scene) -> bpy.types.Collection:
    """The scene's collection of library objects, made where needed; no view layer shows it."""
    for child in scene.collection.children:
        if child.library is None and _COLLECTION_KEY in child:
            return child
    made = bpy.data.collections.new(COLLECTION_NAME)
    made[_COLLECTION_KEY] = True
    scene.collection.children.link(made)
    for layer in scene.view_layers:
        layer.layer_collection.children[made.name].exclude = True
    return made


def ensure_group() -> bpy.types.NodeTree:
    """This file's node group that makes instances of poses, made or brought up to date."""
    for group in bpy.data.node_groups:
        if group.library is None and _GROUP_KEY in group:
            if group[_GROUP_KEY] < _GROUP_VERSION:
                _build(group)
            return group
    group = node_builder.modifier_group(
        _GROUP_NAME, "Makes an instance of every pose of a character, for crowds"
    )
    _build(group)
    return group


def modifier_of(obj: bpy.types.Object) -> bpy.types.NodesModifier | None:
    """The modifier that makes the poses of a library object, if it has the input `WEIGHT`."""
    for modifier in obj.modifiers:
        if isinstance(modifier, bpy.types.NodesModifier) and modifier.node_group is not None:
            known = _GROUP_KEY in modifier.node_group
            if known and WEIGHT in display.input_names(modifier):
                return modifier
    return None


def weight_of(obj: bpy.types.Object) -> float:
    """How often a character is chosen, against the others of its crowd."""
    return _factor(obj, WEIGHT)


def upright_of(obj: bpy.types.Object) -> float:
    """Share of its crowd's own by which a character stays upright on slopes, 0 to 1."""
    return min(max(_factor(obj, UPRIGHT), 0.0), 1.0)


def _factor(obj: bpy.types.Object, name: str) -> float:
    modifier = modifier_of(obj)
    if modifier is None or name not in display.input_names(modifier):
        return 1.0
    return float(display.get_input(modifier, name))


def set_weight(obj: bpy.types.Object, weight: float) -> None:
    """Choose a character more often, or less.

    Args:
        obj: The library object.
        weight: How often, against others, at least 0; without any change it is 1.
    """
    _set_factor(obj, WEIGHT, weight)


def set_upright(obj: bpy.types.Object, share: float) -> None:
    """Let a character stay upright on slopes by a share of its crowd's own, 0 to 1."""
    _set_factor(obj, UPRIGHT, share)


def _set_factor(obj: bpy.types.Object, name: str, value: float) -> None:
    modifier = modifier_of(obj)
    if modifier is not None:
        display.set_input(modifier, name, value)


def _build(group: bpy.types.NodeTree) -> None:
    group.nodes.clear()
    there = {getattr(item, "name", "") for item in group.interface.items_tree}
    for name in (name for name in _FACTORS if name not in there):
        socket: Any = group.interface.new_socket(
            name, in_out="INPUT", socket_type="NodeSocketFloat"
        )
        socket.description, socket.default_value, socket.min_value = _FACTORS[name], 1.0, 0.0
        if name == UPRIGHT:
            socket.max_value, socket.subtype = 1.0, "FACTOR"
        for obj in bpy.data.objects:
            # modifiers from before have 0
            if is_character(obj) and obj.library is None:
                _set_factor(obj, name, 1.0)
    for name in LEVELS:
        if name not in there:
            socket = group.interface.new_socket(
                name, in_out="INPUT", socket_type="NodeSocketObject"
            )
            socket.description = "Object with the same poses and fewer faces, for agents far away"
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    node_builder.add_nodes(group, data["nodes"])
    group[_GROUP_KEY] = _GROUP_VERSION


def _describe(obj: bpy.types.Object, space: PoseSpace) -> None:
    """Write the custom property."""
    obj[KEY] = described.text_of(_VERSION, space)


def ensure_modifier(obj: bpy.types.Object) -> None:
    """Give an object the modifier that makes the poses of its mesh."""
    group = ensure_group()
    found = [m for m in obj.modifiers if isinstance(m, bpy.types.NodesModifier)]
    if not any(modifier.node_group == group for modifier in found):
        modifier: Any = obj.modifiers.new(MODIFIER_NAME, "NODES")
        modifier.node_group = group
        modifier.show_group_selector = False


def fill(mesh: bpy.types.Mesh, space: PoseSpace) -> None:
    """Write poses and rows to the attributes of a mesh.

    Raises:
        CharacterError: The poses do not fit the mesh.
    """
    count, wanted = len(mesh.vertices), space.positions.shape
    if wanted != (space.pose_count, count, 3) or not (
        count and 1 <= space.pose_count <= _MOST_POSES
    ):
        raise CharacterError(
            f"Character {mesh.name!r} has {count} vertices, and poses of shape {wanted}: give 1 to "
            f"{_MOST_POSES} poses of all vertices"
        )
    # without what is selected: Blender walks through the attributes of all poses that are shown
    former = ("pose_", "row_", ".select_")
    for name in [a.name for a in mesh.attributes if a.name.startswith(former)]:
        mesh.attributes.remove(mesh.attributes[name])
    missing = len(space.rows) - count
    positions = np.ascontiguousarray(space.positions, np.float32)
    if missing > 0:
        # a vertex has to be there for each row: further ones stand where the first one is
        mesh.vertices.add(missing)
        positions = np.concatenate(
            [positions, np.repeat(positions[:, :1], missing, axis=1)], axis=1
        )
    mesh.attributes["position"].data.foreach_set("vector", positions[0].ravel())
    for number, pose in enumerate(positions):
        attribute = mesh.attributes.new(f"pose_{number:04}", "FLOAT_VECTOR", "POINT")
        attribute.data.foreach_set("vector", pose.ravel())
    _write(mesh, "row_first", "INT", [row.first for row in space.rows])
    _write(mesh, "row_count", "INT", [row.count for row in space.rows])
    _write(mesh, "row_step", "FLOAT", [row.duration / row.count for row in space.rows])
    _write(mesh, "row_way", "FLOAT", [_way(space, row) for row in space.rows])
    _write(mesh, "row_ends", "BOOLEAN", [not row.loops for row in space.rows])
    mesh.update()


def _way(space: PoseSpace, row: Row) -> float:
    """How far a body goes from one pose of a row to the next, or what moves most in it [m].

    The latter is a mean: by a hand that claps once, a whole clip would show nearly all of its poses
    far away too.
    """
    if row.stride > 0.0:
        return row.stride / row.count
    poses = space.positions[row.first : row.first + row.count]
    steps = [float(np.sqrt(np.square(b - a).sum(axis=1).max())) for a, b in pairwise(poses)]
    return sum(steps) / max(len(steps), 1)


def _write(mesh: bpy.types.Mesh, name: str, kind: str, values: Sequence[float]) -> None:
    """Write a value for each row to the first vertices."""
    dtype = {"INT": np.int32, "FLOAT": np.float32, "BOOLEAN": np.bool_}[kind]
    written = np.zeros(len(mesh.vertices), dtype)
    written[: len(values)] = values
    mesh.attributes.new(name, kind, "POINT").data.foreach_set("value", written)

"""The library object of a character: its body and all poses, of which crowds show one each.

Topology, UVs and materials are there once, in its mesh, and the poses are points of a further one,
12 bytes for a vertex. The node group of `library_group.toml` makes a geometry instance of every
pose; all of them share what is the same. It is all that the Crowd modifier needs, which so shows
characters without Steer too. What the rows of poses are is known twice: to the nodes by attributes
of the mesh, to Python by a custom property of the object.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Protocol

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.characters.pose_space import F32, PoseSpace, Row
from ...core.errors import CharacterError, short
from ..display.appended import hidden
from ..display.name_order import by_name
from . import described, library_group, pose_points

KEY = hidden("steer_character", lambda scene: ensure_collection(scene, APPENDED_NAME))
"""Custom property of library objects: what rows of poses there are."""
REACH = "steer_reach"
"""Custom property of those that were made of a rig: how wide they are, see `keep_reach`."""
_MOST_OF_IT = 80.0
"""Percentage of its vertices that count for it: arms and what they hold reach further."""
COLLECTION_NAME, RIGS_NAME = "Characters", "Rigs of Characters"
APPENDED_NAME = "Appended Characters"
"""A collection of its own: another crowd may choose from all that are in *Characters*."""
_COLLECTION_KEYS = {
    COLLECTION_NAME: "steer_characters",
    RIGS_NAME: "steer_character_rigs",
    APPENDED_NAME: "steer_appended_characters",
}
"""Custom properties of these collections."""
_VERSION = 1
"""Raise it with every change of the property."""
_MOST_POSES = 10_000

_seen: dict[int, int] = {}
"""Session uids of rigs, by those of the characters that were made of them."""


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
    check_fit(mesh, space)
    obj = bpy.data.objects.new(name, mesh)
    mesh.name = obj.name
    fill(obj, space)
    obj[KEY] = described.text_of(_VERSION, space)
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
    check_fit(mesh, space)
    before: Any = obj.data
    obj.data = mesh
    if before is not None and before.users == 0:
        name = before.name
        bpy.data.meshes.remove(before)
        mesh.name = name
    fill(obj, space)
    obj[KEY] = described.text_of(_VERSION, space)


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
        members = [] if source.children else by_name(source.objects)
    else:
        members = [] if source is None else [source]
    return tuple(members) if all(map(is_character, members)) else ()


def all_among(source: bpy.types.Object | bpy.types.Collection) -> list[bpy.types.Object]:
    """All characters of a collection and of those in it, or a character, by name."""
    members = [source] if isinstance(source, bpy.types.Object) else list(source.all_objects)
    return by_name(filter(is_character, members))


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


def positions_of(obj: bpy.types.Object) -> F32:
    """The vertices of a library object in all poses [m], shape (pose_count, vertex_count, 3).

    Raises:
        CharacterError: The object is none, or its poses are not those of its rows.
    """
    gaits, clips = rows_of(obj)
    positions = library_group.poses_of(obj)
    if positions is None or len(positions) != sum(row.count for row in (*gaits, *clips)):
        raise CharacterError(
            f"Character {obj.name!r} has lost its poses, as its mesh or the object of its input "
            f"{library_group.POINTS!r} was edited or deleted: make the character again"
        )
    return positions


def ensure_collection(scene: bpy.types.Scene, name: str = COLLECTION_NAME) -> bpy.types.Collection:
    """A collection of library objects, or of their rigs, which no view layer shows.

    Args:
        scene: The scene, in which it is made where needed.
        name: Name of a new one: a key of `_COLLECTION_KEYS`.
    """
    key = _COLLECTION_KEYS[name]
    for child in scene.collection.children:
        if child.library is None and key in child:
            return child
    made = bpy.data.collections.new(name)
    made[key] = True
    scene.collection.children.link(made)
    for layer in scene.view_layers:
        layer.layer_collection.children[made.name].exclude = True
    return made


def remember(obj: bpy.types.Object, rig: bpy.types.Object) -> None:
    """Know the rig of a character in this session, whatever name it gets."""
    _seen[obj.session_uid] = rig.session_uid


def rig_of(obj: bpy.types.Object, name: str) -> bpy.types.Object | None:
    """The rig of a character: the one of this session, also under a new name; None if it is gone.

    Args:
        obj: The character.
        name: Name of the rig when the character was made.
    """
    wanted = _seen.get(obj.session_uid)
    known = (other for other in bpy.data.objects if other.session_uid == wanted)
    rig = next(filter(_is_there, known), None) or _find(obj, name)
    if rig is not None:
        remember(obj, rig)
    return rig


def _find(obj: bpy.types.Object, name: str) -> bpy.types.Object | None:
    """The object of this name that belongs to a character; None if it is gone."""
    override = obj.override_library
    home = (override.reference if override and override.reference else obj).library
    # in the file of the character, then in this one, then in any other
    files = [home, None, *(file for file in bpy.data.libraries if file != home)]
    if override is not None and _is_override(name, home):
        files.insert(0, None)
    for file in dict.fromkeys(files):
        found = bpy.data.objects.get((name, file.filepath if file is not None else None))
        if found is not None and _is_there(found):
            return found
    return None


def _is_override(name: str, home: bpy.types.Library | None) -> bool:
    """Whether the object of this name in this file stands for one of another file."""
    found = bpy.data.objects.get((name, None))
    override = None if found is None else found.override_library
    return bool(override and override.reference and override.reference.library == home)


def _is_there(obj: bpy.types.Object) -> bool:
    """Whether an object was not deleted: what others still use stays in the file, in no scene."""
    # in place of what is linked from a file that is not there Blender puts an empty
    return not obj.is_missing and bool(obj.users_scene or obj.library)


def require_object(obj: bpy.types.Object, name: str) -> bpy.types.Object:
    """A part of the rig of a character.

    Raises:
        CharacterError: It is gone.
    """
    found = _find(obj, name)
    if found is None:
        raise CharacterError(
            f"Object {name!r} of the rig of character {obj.name!r} is not in this file: bring it "
            "back (File > Append), or make the character again from another rig"
        )
    return found


def check_fit(mesh: bpy.types.Mesh, space: PoseSpace) -> None:
    """Refuse poses that are not of the vertices of a mesh.

    Raises:
        CharacterError: It is so.
    """
    count, wanted = len(mesh.vertices), space.positions.shape
    if wanted != (space.pose_count, count, 3) or not (
        count and 1 <= space.pose_count <= _MOST_POSES
    ):
        raise CharacterError(
            f"Character {mesh.name!r} has {count} vertices, and poses of shape {wanted}: give 1 to "
            f"{_MOST_POSES} poses of all vertices"
        )


def fill(obj: bpy.types.Object, space: PoseSpace) -> None:
    """Give an object poses that fit its mesh, see `check_fit`, and what shows them.

    Args:
        obj: A library object, or a level of one.
        space: The poses.
    """
    mesh: Any = obj.data
    # without what is selected: Blender walks through the attributes of all poses that are shown
    pose_points.remove_attributes(mesh, "row_", ".select_")
    missing = len(space.rows) - len(mesh.vertices)
    positions = np.ascontiguousarray(space.positions, np.float32)
    if missing > 0:
        # a vertex has to be there for each row: further ones stand where the first one is
        mesh.vertices.add(missing)
        positions = np.concatenate(
            [positions, np.repeat(positions[:, :1], missing, axis=1)], axis=1
        )
    mesh.attributes["position"].data.foreach_set("vector", positions[0].ravel())
    _write(mesh, "row_first", "INT", [row.first for row in space.rows])
    _write(mesh, "row_count", "INT", [row.count for row in space.rows])
    _write(mesh, "row_step", "FLOAT", [row.duration / row.count for row in space.rows])
    _write(mesh, "row_way", "FLOAT", [_way(space, row) for row in space.rows])
    _write(mesh, "row_ends", "BOOLEAN", [not row.loops for row in space.rows])
    mesh.update()
    library_group.ensure_modifier(obj)
    library_group.give_poses(obj, positions)


def keep_reach(obj: bpy.types.Object, space: PoseSpace) -> None:
    """Remember how far most of a body reaches from its middle where it stands [m]."""
    level = space.positions[0, :, :2]
    far = np.linalg.norm(level - level.mean(axis=0), axis=1)
    obj[REACH] = float(np.percentile(far, _MOST_OF_IT))


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

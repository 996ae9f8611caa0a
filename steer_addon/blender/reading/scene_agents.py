"""The vertices of a crowd object become agents."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Sequence
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.agents import Agents
from ...core.crowd.groups import VERTEX_GROUP
from ...core.crowd.settings import CrowdSettings
from ...core.errors import AgentError, SceneError
from ...core.runs.points import Points, agents_of, attribute_names
from ..crowd.scene_time import moment
from ..display import display
from .scene_meshes import (
    FloatArray,
    Matrix,
    corners,
    edges_of,
    matrix_of,
    mesh_of,
    own_mesh,
    positions,
    transform,
)
from .scratch import Scratch

_NUMBERS = {"FLOAT": np.float32, "INT": np.int32, "INT8": np.int8, "BOOLEAN": np.bool_}
_ROWS = {"FLOAT_VECTOR": ("vector", 3), "QUATERNION": ("value", 4)}


def read_agents(
    obj: bpy.types.Object,
    depsgraph: bpy.types.Depsgraph,
    settings: CrowdSettings,
    *,
    evaluated: bpy.types.Object | None = None,
) -> Agents:
    """Agents on the vertices of a crowd, as the modifiers above its Crowd modifier leave them.

    Modifiers above count when they are shown in the viewport, also while rendering. They are
    evaluated on a copy in a scene of its own; without modifiers the mesh itself is read.

    Args:
        obj: The original crowd object.
        depsgraph: Source of the frame and of the object's place.
        settings: Values of agents without point attributes.
        evaluated: The crowd evaluated without its Crowd modifier, if available.

    Raises:
        AgentError: There are no points, or values are not finite.
        SceneError: The object's scale is 0, or its numbers are not finite.
    """
    names = attribute_names(settings)
    points = read_points(obj, depsgraph, settings, names, evaluated=evaluated)
    return agents_of(points, settings, obj.name)


def read_points(
    obj: bpy.types.Object,
    depsgraph: bpy.types.Depsgraph,
    settings: CrowdSettings,
    names: Container[str] | None = None,
    *,
    evaluated: bpy.types.Object | None = None,
) -> Points:
    """The points of a crowd, see `read_agents`.

    Args:
        obj: The original crowd object.
        depsgraph: Source of the frame and of the object's place.
        settings: Settings of the crowd.
        names: Attributes to read; None reads all, and the weights in all vertex groups.
        evaluated: The crowd evaluated without its Crowd modifier, if available.

    Raises:
        AgentError: There are no points, or they are not at finite places.
        SceneError: The object's scale is 0, or its numbers are not finite.
    """
    wanted = (settings, names)
    if evaluated is not None:
        return _from_evaluated(obj, evaluated, *wanted)
    if not needs_evaluation(obj):
        with own_mesh(obj.data) as mesh:
            return _from_mesh(obj, mesh, matrix_of(obj.evaluated_get(depsgraph)), *wanted)
    shown = depsgraph.scene
    with Scratch(shown.original, (), crowds=[obj]) as scratch:
        own = scratch.at(*moment(shown))
        return _from_evaluated(obj, scratch.crowd(obj, own), *wanted)


def reads_weights(settings: CrowdSettings) -> bool:
    """Whether vertex groups say who is in a group of a crowd."""
    return any(group.source == VERTEX_GROUP for group in settings.groups)


def points_digest(obj: bpy.types.Object) -> bytes:
    """A digest of the points of a crowd; vertex groups count where groups of agents read them."""
    settings: Any = obj.steer
    return mesh_digest(obj.data, weights=reads_weights(settings))


def mesh_digest(original: bpy.types.Mesh, *, weights: bool = False) -> bytes:
    """A digest of a mesh, the same in and out of Edit Mode, without values on edges and faces.

    Args:
        original: The mesh.
        weights: Whether vertex groups count, which takes as long as anything else of the mesh.
    """
    with own_mesh(original) as mesh:
        digest = hashlib.blake2b(positions(mesh).tobytes(), digest_size=16)
        digest.update(edges_of(mesh).tobytes() + corners(mesh).tobytes())
        for name in sorted(mesh.attributes.keys()):
            # those of Blender itself, as what is selected, have a dot
            values = None if name[0] == "." else column(mesh, name, (*_NUMBERS, *_ROWS))
            if values is not None:
                digest.update(name.encode() + values.tobytes())
        for vertex in mesh.vertices if weights else ():
            rows = [(element.group, element.weight) for element in vertex.groups]
            digest.update(str(rows).encode())
    return digest.digest()


def needs_evaluation(obj: bpy.types.Object) -> bool:
    """Whether a crowd's points differ from the vertices of its mesh."""
    if obj.data.shape_keys is not None:
        return True
    crowd = display.find_modifier(obj)
    for modifier in obj.modifiers:
        if crowd is not None and modifier.name == crowd.name:
            return False
        if modifier.show_viewport:
            return True
    return False


def vertices_of(obj: bpy.types.Object, ids: Sequence[int]) -> NDArray[np.int64]:
    """The vertices that are agents with these ids; none where modifiers make the points."""
    if needs_evaluation(obj):
        return np.zeros(0, np.int64)
    known = column(obj.data, "id")
    own = np.arange(len(obj.data.vertices)) if known is None else known
    return np.flatnonzero(np.isin(own, ids))


def _from_evaluated(
    obj: bpy.types.Object,
    evaluated: bpy.types.Object,
    settings: CrowdSettings,
    names: Container[str] | None,
) -> Points:
    with mesh_of(evaluated) as mesh:
        assert mesh is not None  # a crowd is a mesh object
        return _from_mesh(obj, mesh, matrix_of(evaluated), settings, names, evaluated)


def _from_mesh(
    obj: bpy.types.Object,
    mesh: bpy.types.Mesh,
    matrix: Matrix,
    settings: CrowdSettings,
    names: Container[str] | None,
    evaluated: bpy.types.Object | None = None,
) -> Points:
    _check_matrix(obj, matrix)
    local = positions(mesh)
    if not len(local) and not settings.births.emits:
        raise AgentError(
            f"Crowd {obj.name!r} has no vertices: give its mesh one vertex for every agent, and "
            "let modifiers above Crowd keep them (point clouds: add Points to Vertices)"
        )
    points = transform(local, matrix)
    bad = ~np.isfinite(points).all(axis=1)
    if bad.any():
        raise AgentError(
            f"Crowd {obj.name!r}: {int(bad.sum())} of {len(points)} points are not at finite "
            f"places (first: point {int(bad.argmax())}): move or delete them, "
            "and check the object's scale"
        )
    groups = evaluated or obj
    told = {group.name for group in settings.groups if group.source == VERTEX_GROUP}
    return Points(
        position=points,
        linear=np.ascontiguousarray(matrix[:3, :3]),
        velocity=column(mesh, "velocity", ("FLOAT_VECTOR",)),
        rotation=column(mesh, "rotation", ("QUATERNION",)),
        heading=column(mesh, "heading", ("FLOAT_VECTOR",)),
        ids=column(mesh, "id"),
        attributes=_attributes(mesh, names),
        weights=_weights(groups, mesh, groups.vertex_groups.keys() if names is None else told),
    )


def _check_matrix(obj: bpy.types.Object, matrix: Matrix) -> None:
    if not np.isfinite(matrix).all():
        raise SceneError(
            f"Crowd {obj.name!r} has a location, rotation or scale that is not a finite number: "
            "clear its transforms (Object > Clear) and place it again"
        )
    sizes = np.linalg.norm(matrix[:3, :3], axis=0)
    if sizes.min() <= 0.0:
        raise SceneError(
            f"Crowd {obj.name!r} has scale 0 on its {'XYZ'[int(sizes.argmin())]} axis: "
            "give it a scale other than 0"
        )
    if abs(np.linalg.det(matrix[:3, :3] / sizes)) < 1.0e-9:
        raise SceneError(
            f"Crowd {obj.name!r} is sheared flat by the scale of its parents: "
            "give them a scale other than 0"
        )


def column(mesh: bpy.types.Mesh, name: str, types: Container[str] = _NUMBERS) -> Any:
    """A number or a row per point; None if there is no point attribute of one of these types."""
    attribute = mesh.attributes.get(name)
    if attribute is None or attribute.domain != "POINT" or attribute.data_type not in types:
        return None
    prop, width = _ROWS.get(attribute.data_type, ("value", 1))
    dtype: Any = _NUMBERS.get(attribute.data_type, np.float32)
    count = len(mesh.vertices)
    values = np.empty(count if width == 1 else (count, width), dtype)
    attribute.data.foreach_get(prop, values.ravel())
    return values


def _weights(
    obj: bpy.types.Object, mesh: bpy.types.Mesh, names: Iterable[str]
) -> dict[str, FloatArray]:
    """Weights of the points in those vertex groups that there are, by name."""
    found = {
        obj.vertex_groups[name].index: (name, np.zeros(len(mesh.vertices)))
        for name in names
        if name in obj.vertex_groups
    }
    for vertex in mesh.vertices if found else ():
        for element in vertex.groups:
            if element.group in found:
                found[element.group][1][vertex.index] = element.weight
    return {name: weights.astype(np.float32) for name, weights in found.values()}


def _attributes(mesh: bpy.types.Mesh, names: Container[str] | None) -> dict[str, Any]:
    found = {}
    for name in mesh.attributes.keys():
        # those of Blender itself, as what is selected, have a dot
        wanted = name[0] != "." if names is None else name in names
        values = column(mesh, name) if wanted else None
        if values is not None:
            found[name] = values
    return found

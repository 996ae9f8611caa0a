"""Reader of areas: objects that mark where walkers may go, and costs painted on the ground."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np

from ...core.crowd.area_settings import AXES, PORTAL, AreaSettings
from ...core.diagnoses import diagnose
from ...core.errors import WorldError
from ...core.geometry.meshes import Mesh
from ...core.ways.areas.declared import Area, Areas, make_area, make_areas
from ...core.ways.portals.declared import Portal, make_portal
from ..crowd.property_factory import read_settings
from . import scene_shapes as shapes
from .scene_inputs import AREA, area_objects, ground_object
from .scene_meshes import FloatArray, corners, matrix_of, may_deform, mesh_of
from .scene_view import SceneView

PAINT = "cost"
"""Name of the attribute of the ground that says how much longer ways seem."""

ReadMesh = Callable[[bpy.types.Object, str], Mesh | None]
"""The mesh of an object under a name of its own."""


@dataclass
class AreaReader:
    """Reads areas, and returns the same instance while nothing changes."""

    _known: dict[int, tuple[Any, Area | Portal]] = field(default_factory=dict)
    _paint: tuple[Mesh, FloatArray | None] | None = None
    _last: tuple[list[Area | Portal], FloatArray | None, Areas | None] | None = None

    def read(
        self, obj: bpy.types.Object, view: SceneView, read_mesh: ReadMesh, ground: Mesh | None
    ) -> Areas | None:
        """The areas of a crowd; None where there are none.

        Args:
            obj: The crowd.
            view: Evaluates objects.
            read_mesh: Reads the mesh of an object.
            ground: The mesh of its ground.
        """
        found: list[Area | Portal] = []
        for part in area_objects(obj):
            if not view.is_gone(part, "Area", chosen=False):
                told: AreaSettings = view.read_object(part, "area", _settings)
                try:
                    if told.kind == PORTAL:
                        found.append(self._portal(part, view, told))
                    else:
                        found += self._area(part, view, read_mesh, told)
                except WorldError as error:
                    what = "Portal" if told.kind == PORTAL else "Area"
                    why = diagnose("SOURCE_IGNORED", part.name, what=what, reason=str(error))
                    view.warn(why.having(object=part.name))
        paint = self._painted(obj, view, ground)
        if self._last is not None and paint is self._last[1]:
            before = self._last[0]
            if len(before) == len(found) and all(
                a is b for a, b in zip(before, found, strict=True)
            ):
                return self._last[2]
        try:
            areas = make_areas(
                [each for each in found if isinstance(each, Area)],
                paint,
                [each for each in found if isinstance(each, Portal)],
            )
        except WorldError as error:
            view.warn(diagnose("SOURCE_IGNORED", obj.name, what="Areas of", reason=str(error)))
            areas = None
        self._last = found, paint, areas
        return areas

    def _portal(self, part: bpy.types.Object, view: SceneView, told: AreaSettings) -> Portal:
        """The portal of an object: the first line of its edges or of its curve."""
        if part.type == "EMPTY":
            raise WorldError(f"The portal {part.name!r} is no line: make it a mesh or a curve")
        raw = view.read_object(part, "portal", shapes.read_lines)
        paths, _faults = shapes.make_paths(part, raw, view.place_of(part), "portal")
        points = paths[0].points if paths else np.zeros((0, 3))
        key = (points.tobytes(), told)
        old = self._known.get(part.session_uid)
        if old is not None and old[0] == key and isinstance(old[1], Portal):
            return old[1]
        more: dict[str, Any] = {"seconds": told.seconds, "both_ways": told.both_ways}
        portal = make_portal(points, part.name, group=told.group, **more)
        self._known[part.session_uid] = key, portal
        return portal

    def _area(
        self, part: bpy.types.Object, view: SceneView, read_mesh: ReadMesh, told: AreaSettings
    ) -> list[Area]:
        """The area of an object; none for one that cannot be read."""
        place = view.place_of(part)
        mesh = _cube(part, view) if part.type == "EMPTY" else read_mesh(part, AREA)
        if mesh is None:
            return []
        heading = place[:3, :3] @ np.array(AXES[told.direction])
        shape = mesh.triangles.tobytes() if part.type == "EMPTY" else id(mesh)
        key = (shape, mesh, told, heading.tobytes())
        old = self._known.get(part.session_uid)
        if old is not None and isinstance(old[1], Area):
            if old[0][0] == shape and old[0][2:] == key[2:]:
                return [old[1]]
        named = Mesh(part.name, mesh.triangles)
        more = {"cost": told.cost, "heading": heading, "group": told.group}
        area = make_area(named, told.kind, **more)
        self._known[part.session_uid] = key, area
        return [area]

    def _painted(
        self, obj: bpy.types.Object, view: SceneView, ground: Mesh | None
    ) -> FloatArray | None:
        """Costs at the corners of the ground's triangles; None where it has none."""
        source = ground_object(obj)
        if source is None or ground is None:
            self._paint = None
            return None
        old = self._paint
        if old is not None and old[0] is ground and not may_deform(source):
            return old[1]
        value = view.read_object(source, "paint", _read_paint)
        if isinstance(value, str):
            found = diagnose("SOURCE_IGNORED", source.name, what="Paint of", reason=value)
            view.warn(found.having(object=source.name))
            value = None
        if value is not None and len(value) != ground.triangle_count:
            value = None
        if old is not None and value is not None and old[1] is not None:
            value = old[1] if np.array_equal(value, old[1], equal_nan=True) else value
        self._paint = ground, value
        return value


def _settings(evaluated: bpy.types.Object) -> AreaSettings:
    told: AreaSettings = read_settings(evaluated.steer_area, AreaSettings)
    return told


def _cube(part: bpy.types.Object, view: SceneView) -> Mesh | None:
    """The box of an empty that is shown as a cube."""
    raw = view.read_object(part, "extent", lambda seen: shapes.read_extent(seen, False))
    try:
        box, _faults = shapes.make_extent(part, raw, view.place_of(part), "extent")
    except WorldError as error:
        found = diagnose("SOURCE_IGNORED", part.name, what="Area", reason=str(error))
        view.warn(found.having(object=part.name))
        return None
    return Mesh(part.name, box.tree.triangles)


def _read_paint(evaluated: bpy.types.Object) -> FloatArray | str | None:
    """Costs at the corners of the triangles of a mesh, or why its attribute is of no use."""
    with mesh_of(evaluated) as mesh:
        attribute = None if mesh is None else mesh.attributes.get(PAINT)
        if mesh is None or attribute is None:
            return None
        if attribute.data_type not in ("FLOAT", "INT") or attribute.domain == "EDGE":
            return (
                f"its attribute {PAINT!r} is no number on points or faces: make it a Float "
                "attribute of the domain Vertex or Face"
            )
        values = np.empty(len(attribute.data), np.float32)
        if attribute.data_type == "INT":
            whole = np.empty(len(attribute.data), np.int32)
            attribute.data.foreach_get("value", whole)
            values = whole.astype(np.float32)
        else:
            attribute.data.foreach_get("value", values)
        order = corners(mesh)
        if attribute.domain != "POINT":
            faces = mesh.loop_triangles
            name, width = ("polygon_index", 1) if attribute.domain == "FACE" else ("loops", 3)
            rows = np.empty((len(faces), width), np.int32)
            faces.foreach_get(name, rows.ravel())
            order = np.repeat(rows, 3 // width, axis=1)
        found: FloatArray = values[order]
    # a mirrored ground has its triangles the other way round, see `triangles_of`
    mirrored = np.linalg.det(matrix_of(evaluated)[:3, :3]) < 0.0
    return np.ascontiguousarray(found[:, ::-1] if mirrored else found)

"""Reader of paths, fields and containers; its results stay the same while nothing changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...core.crowd.settings import CrowdSettings
from ...core.diagnoses import Diagnosis, diagnose
from ...core.errors import WorldError
from ...core.geometry import bvh
from ...core.inputs.fields import Field
from ...core.inputs.paths import Paths, make_paths
from ...core.sensing.declare import CONTAINER, FIELD, PATHS, Behavior
from ..crowd.slots import HAIR, SOURCES, can_be_source, source_use
from . import scene_shapes as shapes
from .scene_inputs import source_objects
from .scene_meshes import Matrix, may_bend, may_deform, same_arrays
from .scene_shapes import NoVectors, Raw
from .scene_view import SceneView

if TYPE_CHECKING:
    from ..crowd.property_types import SteerBehavior

_WORLD_NAMES = {PATHS: "paths", FIELD: "fields", CONTAINER: "containers"}


@dataclass
class _Part:
    """The input made of one object, with the data that it was made of."""

    source: int
    matrix: bytes
    raw: Raw | NoVectors | None
    value: Any = None
    warnings: list[Diagnosis] = field(default_factory=list)


@dataclass
class SourceReader:
    """Reads sources, and returns the same instances while nothing changes."""

    missing: list[Diagnosis] = field(default_factory=list)
    """Diagnoses of behaviors that lack a source."""
    _parts: dict[tuple[int, str], _Part] = field(default_factory=dict)
    _joined: dict[str, tuple[list[Any], Any]] = field(default_factory=dict)
    _owners: dict[str, str] = field(default_factory=dict)
    """Names of the objects of paths, by the paths' names."""

    def forget(self, uids: set[int]) -> None:
        """Read objects again, by their session uids."""
        self._parts = {key: part for key, part in self._parts.items() if part.source not in uids}

    def read(
        self, obj: bpy.types.Object, view: SceneView, settings: CrowdSettings
    ) -> dict[str, dict[str, Any]]:
        """The mappings of paths, fields and containers of a World, by their names there."""
        found: dict[str, dict[str, Any]] = {name: {} for name in _WORLD_NAMES.values()}
        self.missing = []
        for entry in settings.behaviors:
            item = obj.steer.behaviors.get(entry.key)
            use = "" if item is None else source_use(item)
            if not use:
                continue
            values = self._values(obj, item, entry, view, use)
            if values:
                found[_WORLD_NAMES[use]][entry.key] = self._join(entry.key, use, values, view)
        return found

    def _values(
        self, obj: bpy.types.Object, item: SteerBehavior, entry: Behavior, view: SceneView, use: str
    ) -> list[Any]:
        """The inputs made of the usable objects of a list entry."""
        kind = SOURCES[use]
        sources = source_objects(obj, item)
        if not sources and entry.enabled:
            lacks = {"noun": kind.noun, "behavior": entry.title, "choose": kind.choose}
            self.missing.append(diagnose("CROWD_WITHOUT_SOURCE", obj.name, **lacks))
        values = []
        for source in sources:
            if view.is_gone(source, kind.label, chosen=item.source_kind == "OBJECT"):
                continue
            if can_be_source(source, use):
                part = self._part(source, entry, view, use)
                values += [] if part.value is None else [part.value]
                if use == PATHS and part.value:
                    self._owners |= dict.fromkeys((p.name for p in part.value), source.name)
                view.warn(*part.warnings)
            elif item.source_kind == "OBJECT" or source.type == "CURVES":
                choose = HAIR if source.type == "CURVES" else kind.choose
                found = diagnose("SOURCE_UNUSABLE", source.name, what=kind.label, choose=choose)
                view.warn(found.having(object=source.name))
        return values

    def _part(self, source: bpy.types.Object, entry: Behavior, view: SceneView, use: str) -> _Part:
        """The input of one object; the same instance while neither shape nor place changes."""
        what = _what(source, entry, use)
        key = (source.session_uid, what)
        old = self._parts.get(key)
        matrix = view.place_of(source)
        # Blender does not report changes of the size of an empty
        fixed = source.type != "EMPTY" and not may_deform(source)
        raw = old.raw if old is not None and fixed else _read(source, entry, view, what, old)
        if old is not None and old.matrix == matrix.tobytes() and (fixed or _equal(raw, old.raw)):
            return old
        part = _Part(source.session_uid, matrix.tobytes(), raw)
        found: list[Diagnosis] = []
        if isinstance(raw, NoVectors):
            found = [diagnose(raw.code, source.name, attribute=raw.attribute)]
        elif raw is not None:
            try:
                part.value, found = _MAKERS[use](source, raw, matrix, what)
            except WorldError as error:
                kind, reason = SOURCES[use].label, str(error)
                found = [diagnose("SOURCE_IGNORED", source.name, what=kind, reason=reason)]
        part.warnings = [one.having(object=source.name) for one in found]
        self._parts[key] = part
        return part

    def _join(self, key: str, use: str, values: list[Any], view: SceneView) -> Any:
        before, joined = self._joined.get(key, ([], None))
        if [id(value) for value in before] != [id(value) for value in values]:
            joined = _JOINERS[use](values)
            self._joined[key] = (values, joined)
        if isinstance(joined, Paths):
            view.warn(*(w.having(object=self._owners[w.subject]) for w in joined.warnings))
        return joined


def _what(source: bpy.types.Object, entry: Behavior, use: str) -> str:
    """Name of the data to read: sources of several behaviors may be one object."""
    if use == PATHS:
        return "path"
    if use == CONTAINER:
        return "mesh" if getattr(entry, "shape", "BOX") == "MESH" else "extent"
    return "guides" if source.type == "CURVE" else f"vectors {_attribute(entry)}"


def _attribute(entry: Behavior) -> str:
    """Name of the attribute that holds a field's vectors."""
    return getattr(entry, "attribute", "flow")


def _read(
    source: bpy.types.Object, entry: Behavior, view: SceneView, what: str, old: _Part | None
) -> Raw | NoVectors | None:
    """The shape of an object in its own space."""
    if what in ("mesh", "extent"):
        return view.read_object(source, what, lambda seen: shapes.read_extent(seen, what == "mesh"))
    if what not in ("path", "guides"):
        return view.read_object(
            source, what, lambda seen: shapes.read_vectors(seen, _attribute(entry))
        )
    if source.type != "CURVE" or not view.read_object(source, "surface", shapes.has_surface):
        return view.read_object(source, "lines", shapes.read_lines)
    if old is not None and not may_bend(source):
        return old.raw
    raw = view.without_surface(source, shapes.read_lines)
    if raw is None:
        view.warn(diagnose("PATH_BENDS", source.name, object=source.name))
        return None if old is None else old.raw
    return raw


def _equal(raw: Any, old: Any) -> bool:
    if not isinstance(raw, tuple) or not isinstance(old, tuple):
        return bool(raw == old)
    return same_arrays(raw, old)


def _join_fields(fields: list[Field]) -> Field:
    if len(fields) == 1:
        return fields[0]
    return Field(
        bvh.join([part.tree for part in fields]), np.concatenate([part.vector for part in fields])
    )


_MAKERS: dict[str, Callable[[bpy.types.Object, Raw, Matrix, str], tuple[Any, list[Diagnosis]]]] = {
    PATHS: shapes.make_paths,
    FIELD: shapes.make_flow,
    CONTAINER: shapes.make_extent,
}
_JOINERS: dict[str, Callable[[list[Any]], Any]] = {
    PATHS: lambda parts: make_paths([path for paths in parts for path in paths]),
    FIELD: _join_fields,
    CONTAINER: shapes.around,
}

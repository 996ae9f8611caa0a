"""Reader of the sources at which agents are born."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...core.crowd.settings import CrowdSettings
from ...core.inputs.emitters import Emitters, Source, joined, make_emitter
from .scene_agents import column
from .scene_inputs import BIRTH_WEIGHT, birth_objects, weight_of
from .scene_meshes import (
    MESH_TYPES,
    FloatArray,
    Matrix,
    corners,
    edges_of,
    may_deform,
    mesh_of,
    positions,
    same_arrays,
    transform,
)
from .scene_view import SceneView


class _Shape(NamedTuple):
    """The parts of a source in its own space.

    Attributes:
        points: Its points [m], shape (point_count, 3).
        parts: Numbers of the points of each part, shape (part_count, k).
        weight: Weights of the points, None where they have none.
    """

    points: FloatArray
    parts: Any
    weight: Any


class _Read(NamedTuple):
    """A source: where it is, its weight, and its shape."""

    place: Matrix
    total: float
    shape: _Shape


@dataclass
class BirthReader:
    """Reads sources; the same emitters as long as none of them changes."""

    _shapes: dict[tuple[int, str], _Shape] = field(default_factory=dict)
    _made: tuple[list[_Read], Emitters | None] = field(default_factory=lambda: ([], None))

    def forget(self, uids: set[int]) -> None:
        """Read objects again, by their session uids."""
        self._shapes = {key: shape for key, shape in self._shapes.items() if key[0] not in uids}

    def read(
        self, obj: bpy.types.Object, view: SceneView, settings: CrowdSettings
    ) -> Emitters | None:
        """The emitters of a crowd at a frame; None where nobody can be born."""
        births = settings.births
        if not births.emits:
            return None
        chosen = obj.steer.births_kind == "OBJECT"
        sources = [o for o in birth_objects(obj) if not view.is_gone(o, "Source", chosen=chosen)]
        read = [self._source(source, view, births.part) for source in sources]
        known, emitters = self._made
        if not _same(known, read):
            made = [_emitter(*source) for source in read]
            emitters = joined([emitter for emitter in made if emitter is not None])
            self._made = (read, emitters)
        return emitters

    def _source(self, source: bpy.types.Object, view: SceneView, part: str) -> _Read:
        """A source as it is now."""
        key = (source.session_uid, part)
        shape = self._shapes.get(key)
        if shape is None or may_deform(source):
            found = view.read_object(source, f"births {part}", lambda seen: _shape(seen, part))
            if shape is None or not same_arrays(shape, found):
                shape = self._shapes[key] = found
        place = view.place_of(source)
        weight = view.read_object(source, BIRTH_WEIGHT, lambda o: weight_of(o, BIRTH_WEIGHT))
        return _Read(place, 1.0 if weight is None else weight, shape)


def _shape(evaluated: bpy.types.Object, part: str) -> _Shape:
    """What agents are born at on an evaluated object: of other kinds than meshes the origin."""
    if evaluated.type not in MESH_TYPES:
        none = part in ("EDGES", "FACES")
        return _Shape(np.zeros((1, 3), np.float32), np.zeros((0 if none else 1, 1), np.int32), None)
    with mesh_of(evaluated) as mesh:
        points = positions(mesh)
        weight = None if mesh is None else column(mesh, BIRTH_WEIGHT)
        kinds = {
            "FACES": corners(mesh),
            "EDGES": edges_of(mesh),
            "POINTS": np.arange(len(points), dtype=np.int32)[:, None],
        }
    if part == "AUTO":
        part = next((kind for kind, rows in kinds.items() if len(rows)), "POINTS")
    return _Shape(points, kinds[part], weight)


def _same(known: list[_Read], read: list[_Read]) -> bool:
    """Whether sources are where they were, with the weights and the very shapes that they had."""
    return len(known) == len(read) and all(
        old.shape is new.shape
        and old.total == new.total
        and old.place.tobytes() == new.place.tobytes()
        for old, new in zip(known, read, strict=True)
    )


def _emitter(place: Matrix, total: float, shape: _Shape) -> Source | None:
    """A source in world space; None where it has no parts."""
    if not len(shape.parts):
        return None
    weight = None if shape.weight is None else shape.weight[shape.parts].mean(axis=1)
    # a mirrored object would turn its faces inside out
    turned = shape.parts[:, ::-1] if np.linalg.det(place[:3, :3]) < 0.0 else shape.parts
    corner = transform(shape.points, place)[turned]
    return make_emitter(corner, weight=weight, total=total, ahead=-place[:3, 1])

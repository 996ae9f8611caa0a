"""USD: a crowd as `UsdGeom.Points` with time samples, as Blender's Mesh Sequence Cache reads it.

Blender makes an attribute of each primvar: a rotation of quaternions (`quatf[]`), a boolean of
`bool[]`. After a type that it does not know (`float4[]`) it reads no further primvars, and for an
array that is longer than the points it writes beyond the end of its own: so all arrays are of the
types below, and all change their length at the same frame.

Between two samples USD interpolates numbers, and rotations on the sphere; it holds integers,
booleans and arrays whose length changes. The memory that behaviors show, postures and radii are
held too, by a second sample just before they change. They change in the middle between two frames,
so that bodies have one pose while the shutter of a frame is open, as in a live crowd. Values that
stay the same get no further sample, positions and velocities where both do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.diagnoses import Diagnosis, diagnose
from ...core.errors import SceneError
from ...core.files.staging import cannot_write
from ...core.results.frames import Frame
from ...core.results.roster import placed
from .files import Header, replacing

CROWD_PATH = "/Crowd"
"""Path of the crowd in a file."""

OWN_NAMES = ("position", "velocity", "rotation", "id", "speed", "radius", "alive")
"""Attributes of every agent, whatever its behaviors show."""

_ALIGNED = "position", "velocity"
_HELD_UNTIL = 1.0 / 1024.0
"""Time before a change at which the value of the previous frame is written again [frames]."""
_SAVE_BYTES = 16_000_000
"""Size of the samples that are kept in memory before they are saved [bytes]."""


def has_usd() -> bool:
    """Whether this build of Blender reads and writes USD."""
    return bool(bpy.app.build_options.usd) and bool(bpy.app.usd.supported)


def pxr() -> Any:
    """The modules of USD in this Blender: Usd, UsdGeom, Sdf, Vt, Gf and Tf.

    Raises:
        SceneError: This build of Blender has none.
    """
    try:
        if bpy.app.module:
            bpy.utils.expose_bundled_modules()
        from pxr import Gf, Sdf, Tf, Usd, UsdGeom, Vt
    except ImportError:
        raise SceneError(
            "This build of Blender has no USD: choose another format, or use the Blender of "
            "blender.org"
        ) from None

    return SimpleNamespace(Gf=Gf, Sdf=Sdf, Tf=Tf, Usd=Usd, UsdGeom=UsdGeom, Vt=Vt)


class Samples:
    """One attribute that is written frame by frame; unchanged values are not written again."""

    def __init__(self, attribute: Any, convert: Callable[[Any], Any], *, held: bool) -> None:
        """Begin.

        Args:
            attribute: The USD attribute, or primvar.
            convert: Makes USD's array of NumPy's.
            held: Whether a value stays, although USD would interpolate it.
        """
        self._attribute, self._convert, self._held = attribute, convert, held
        self._values: NDArray[Any] | None = None
        self._array: Any = None
        self._written = self._seen = 0

    def is_same(self, values: NDArray[Any]) -> bool:
        """Whether values are those of the frame before."""
        return self._values is not None and np.array_equal(self._values, values)

    def add(self, number: int, values: NDArray[Any], again: bool = False) -> int:
        """Write the values of a frame, unchanged ones only `again`; returns their size [bytes]."""
        last = self._values
        if not again and self.is_same(values):
            self._seen = number
            return 0
        changes = float(number)
        if last is not None and self._held:
            # arrays that get longer do so at the same moment as all others
            changes -= 0.5 if len(last) == len(values) else 0.0
            self._attribute.Set(self._array, changes - _HELD_UNTIL)
        elif last is not None and self._written < self._seen:
            # the values stayed the same until the previous frame
            self._attribute.Set(self._array, self._seen)
        self._array = self._convert(np.ascontiguousarray(values))
        self._attribute.Set(self._array, changes)
        self._values = values
        self._written = self._seen = number
        return int(values.nbytes)


def add_all(columns: Mapping[str, Samples], number: int, values: Mapping[str, Any]) -> int:
    """Write the values of a frame by their names; returns their size [bytes].

    Positions and velocities are written both or neither: readers ignore velocities whose samples
    are at other times.
    """
    moved = not all(columns[name].is_same(values[name]) for name in _ALIGNED)
    return sum(
        columns[name].add(number, row, moved and name in _ALIGNED) for name, row in values.items()
    )


class PointsWriter:
    """Writes frames to a prim of type Points."""

    def __init__(self, usd: Any, stage: Any, warnings: list[Diagnosis] | None = None) -> None:
        """Define the prim.

        Args:
            usd: The modules of USD.
            stage: A new stage.
            warnings: Filled with diagnoses of attributes that have another name in the file.
        """
        self._usd, self._warnings = usd, warnings
        points = usd.UsdGeom.Points.Define(stage, CROWD_PATH)
        self._primvars = usd.UsdGeom.PrimvarsAPI(points)
        vt = usd.Vt
        vector, number = vt.Vec3fArray.FromNumpy, vt.FloatArray.FromNumpy
        self._columns = {
            "position": Samples(points.CreatePointsAttr(), vector, held=False),
            "velocity": Samples(points.CreateVelocitiesAttr(), vector, held=False),
            "width": Samples(points.CreateWidthsAttr(), number, held=True),
            "extent": Samples(points.CreateExtentAttr(), vector, held=False),
            "ids": Samples(points.CreateIdsAttr(), vt.Int64Array.FromNumpy, held=False),
            "id": self._primvar("id", "IntArray", held=False),
            "rotation": self._primvar("rotation", "QuatfArray", held=False),
            "speed": self._primvar("speed", "FloatArray", held=False),
            "alive": self._primvar("alive", "BoolArray", held=False),
        }
        self._shown: dict[str, Samples] | None = None

    def _primvar(self, name: str, kind: str, *, held: bool) -> Samples:
        primvar = self._primvars.CreatePrimvar(
            name, getattr(self._usd.Sdf.ValueTypeNames, kind), self._usd.UsdGeom.Tokens.vertex
        )
        return Samples(primvar, getattr(self._usd.Vt, kind).FromNumpy, held=held)

    def add(self, frame: Frame) -> int:
        """Write a frame, its agents in the rows that they had before; returns its size [bytes]."""
        values: dict[str, NDArray[Any]] = {
            "position": frame.position,
            "velocity": frame.velocity,
            # USD's quaternions in memory: the real part comes last
            "rotation": frame.rotation[:, [1, 2, 3, 0]],
            "speed": frame.speed,
            "width": 2.0 * frame.radius,
            "extent": box_around(frame.position, frame.radius.max(initial=0.0)),
            "alive": frame.alive != 0,
            "ids": frame.id,
            "id": frame.id.astype(np.int32),
        }
        size = add_all(self._columns, frame.number, values)
        if self._shown is None:
            self._shown = self._columns_for(frame.attributes)
        missing = np.zeros(len(frame.id), np.float32)
        for name, samples in self._shown.items():
            size += samples.add(frame.number, frame.attributes.get(name, missing))
        return size

    def _columns_for(self, names: Iterable[str]) -> dict[str, Samples]:
        """Primvars for the values that behaviors show in the first frame; no later ones follow."""
        keys = keys_of(names)
        if self._warnings is not None:
            odd = [(name, key) for name, key in keys.items() if name != key]
            self._warnings += [diagnose("ATTRIBUTE_RENAMED", name, key=key) for name, key in odd]
        return {name: self._primvar(key, "FloatArray", held=True) for name, key in keys.items()}


def box_around(places: NDArray[np.float32], reach: Any) -> NDArray[np.float32]:
    """Corners of the box around all bodies, shape (2, 3): without it readers visit each of them.

    Args:
        places: Their places, shape (n, 3).
        reach: How far they reach from there: of all, or of each, shape (n, 1).
    """
    if not len(places):
        return np.zeros((2, 3), np.float32)
    corners: NDArray[Any] = np.stack([(places - reach).min(axis=0), (places + reach).max(axis=0)])
    return corners.astype(np.float32)


def keys_of(names: Iterable[str]) -> dict[str, str]:
    """Names of primvars for attributes, but for `OWN_NAMES`; those that USD allows stay."""
    valid, taken = pxr().Tf.MakeValidIdentifier, {*OWN_NAMES}
    found: dict[str, str] = {}
    for name in sorted({*names} - taken, key=lambda name: (valid(name) != name, name)):
        found[name] = unique_key(valid(name), taken)
        taken.add(found[name])
    return found


def unique_key(wanted: str, taken: Iterable[str]) -> str:
    """`wanted`, with a number behind it if that name is taken."""
    used, key, number = set(taken), wanted, 1
    while key in used:
        key, number = f"{wanted}_{number}", number + 1
    return key


def write_points(
    frames: Iterable[Frame], path: Path, header: Header, warnings: list[Diagnosis] | None = None
) -> int:
    """Write frames as points to a USD file, see `writing`; for warnings see `PointsWriter`."""
    begin = partial(PointsWriter, warnings=warnings)
    return write_frames(frames, path, header, begin)


def write_frames(
    frames: Iterable[Frame],
    path: Path,
    header: Header,
    begin: Callable[[Any, Any], Any],
    finish: Callable[[Any, Path], None] = lambda stage, partial: None,
) -> int:
    """Write frames to a USD file, see `writing`.

    Args:
        frames: The frames.
        path: File to write, ending in .usdc, .usda or .usd.
        header: Header of the file.
        begin: Makes a prim at `CROWD_PATH`, from the modules of USD and a new stage; `add` of its
            result writes a frame and returns its size [bytes].
        finish: Called with the stage and its temporary file when all frames are there.
    """
    usd = pxr()
    with replacing(path) as file:
        try:
            # in a function of its own: Windows renames no file that a stage is open on
            return _write(usd, frames, file, header, begin, finish)
        except usd.Tf.ErrorException as error:
            raise cannot_write(path, _first_reason(error)) from None


def _write(
    usd: Any,
    frames: Iterable[Frame],
    path: Path,
    header: Header,
    begin: Callable[[Any, Any], Any],
    finish: Callable[[Any, Path], None],
) -> int:
    stage = usd.Usd.Stage.CreateNew(str(path))
    # Blender's axes and units, and the frames of the scene as time codes
    usd.UsdGeom.SetStageUpAxis(stage, usd.UsdGeom.Tokens.z)
    usd.UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(header.fps)
    stage.SetFramesPerSecond(header.fps)
    stage.SetStartTimeCode(header.start)
    stage.SetEndTimeCode(header.end)
    stage.GetRootLayer().comment = f"Crowd {header.name!r}, written by Steer"
    writer = begin(usd, stage)
    stage.SetDefaultPrim(stage.GetPrimAtPath(CROWD_PATH))
    layer, waiting, count = stage.GetRootLayer(), 0, 0
    for frame in placed(frames):
        waiting += writer.add(frame)
        count += 1
        if waiting > _SAVE_BYTES:
            layer.Save()
            waiting = 0
    if not count:
        raise SceneError(f"Crowd {header.name!r} has no frames to write: simulate it first")
    finish(stage, path)
    layer.Save()
    return count


def _first_reason(error: Exception) -> str:
    """The first reason in an error of USD, on one line."""
    reasons = [str(getattr(item, "commentary", item)) for item in error.args]
    text = " ".join((reasons or [""])[0].split())
    return text.removeprefix("Error occurred writing file: ") or "USD gives no reason"

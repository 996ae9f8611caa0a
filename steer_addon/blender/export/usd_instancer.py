"""USD: a crowd as `UsdGeom.PointInstancer`; its prototypes are the objects that agents show."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.diagnoses import Diagnosis
from ...core.files.staging import as_output_errors, scratch
from ...core.results.frames import Frame
from ..writing.files import Header
from ..writing.usd_points import CROWD_PATH, Samples, add_all, box_around, pxr, write_frames
from .prototypes import ROOT, Prototypes, make_prototypes
from .textures import adding

_ABOVE = f"{CROWD_PATH}/Prototypes"
"""Path of the prim above the prototypes."""


class Instances(NamedTuple):
    """How agents are shown at a frame.

    Attributes:
        size: Their size, shape (n,).
        rotation: Their rotations, (w, x, y, z), shape (n, 4).
        choice: Number of the prototype of each, shape (n,).
        bytes: What was written for it [bytes].
        shift: How far they are from the places of agents [m], shape (n, 3), or 0.
        reach: How far prototypes reach from their origins, at size 1 [m].
    """

    size: NDArray[np.floating[Any]]
    rotation: NDArray[np.floating[Any]]
    choice: NDArray[np.int32]
    bytes: int = 0
    shift: NDArray[np.float64] | float = 0.0
    reach: float = 0.0


class InstancerWriter:
    """Writes frames to a prim of type PointInstancer."""

    def __init__(
        self, usd: Any, stage: Any, begin: Callable[[Any, Any, Any], Callable[[Frame], Instances]]
    ) -> None:
        """Define the prim.

        Args:
            usd: The modules of USD.
            stage: A new stage.
            begin: Makes prototypes, from the modules, the stage and the relationship that names
                them; its result tells how agents are shown at a frame.
        """
        instancer = usd.UsdGeom.PointInstancer.Define(stage, CROWD_PATH)
        self._shown = begin(usd, stage, instancer.CreatePrototypesRel())
        vt = usd.Vt
        vector = vt.Vec3fArray.FromNumpy
        self._columns = {
            "position": Samples(instancer.CreatePositionsAttr(), vector, held=False),
            "velocity": Samples(instancer.CreateVelocitiesAttr(), vector, held=False),
            "scale": Samples(instancer.CreateScalesAttr(), vector, held=True),
            "extent": Samples(instancer.CreateExtentAttr(), vector, held=False),
            "rotation": Samples(
                instancer.CreateOrientationsAttr(), vt.QuathArray.FromNumpy, held=False
            ),
            "id": Samples(instancer.CreateIdsAttr(), vt.Int64Array.FromNumpy, held=False),
            "choice": Samples(instancer.CreateProtoIndicesAttr(), vt.IntArray.FromNumpy, held=True),
            "dead": Samples(
                instancer.CreateInvisibleIdsAttr(), vt.Int64Array.FromNumpy, held=False
            ),
        }

    def add(self, frame: Frame) -> int:
        """Write a frame, its agents in the rows that they had before; returns its size [bytes]."""
        shown = self._shown(frame)
        # some readers, such as Blender's, ignore the list of invisible instances
        alive = frame.alive != 0
        size = np.where(alive, shown.size, 0.0).astype(np.float32)
        places = (frame.position + shown.shift).astype(np.float32)
        values: dict[str, NDArray[Any]] = {
            "position": places,
            "velocity": frame.velocity,
            "extent": box_around(places[alive], shown.reach * size[alive, None]),
            "scale": np.repeat(size[:, None], 3, axis=1),
            # USD's quaternions in memory: the real part comes last
            "rotation": shown.rotation[:, [1, 2, 3, 0]].astype(np.float16),
            "id": frame.id,
            "choice": shown.choice,
            "dead": frame.id[~alive],
        }
        return shown.bytes + add_all(self._columns, frame.number, values)


def _reach(usd: Any, prims: Iterable[Any]) -> float:
    """How far prims reach from their origins [m]."""
    bounds = usd.UsdGeom.BBoxCache(usd.Usd.TimeCode.EarliestTime(), ["default", "render"])
    boxes = [bounds.ComputeUntransformedBound(prim).ComputeAlignedRange() for prim in prims]
    corners = [
        np.abs([box.GetMin(), box.GetMax()]).max(axis=0) for box in boxes if not box.IsEmpty()
    ]
    return max((float(np.linalg.norm(corner)) for corner in corners), default=0.0)


def _shown(
    usd: Any, stage: Any, targets: Any, prototypes: Prototypes
) -> Callable[[Frame], Instances]:
    """The objects that agents are shown as."""
    paths = _copy_prototypes(usd, stage, prototypes)
    for path in paths:
        targets.AddTarget(path)
    look, reach = prototypes.look, _reach(usd, map(stage.GetPrimAtPath, paths))

    def shown(frame: Frame) -> Instances:
        rotation, choice = look.rotations(frame.rotation), prototypes.chosen(frame)
        return Instances(look.sizes(frame.radius), rotation, choice, reach=reach)

    return shown


def _copy_prototypes(usd: Any, stage: Any, prototypes: Prototypes) -> list[Any]:
    """Copy the prototypes into the file; returns their paths."""
    sdf = usd.Sdf
    stage.DefinePrim(_ABOVE, "Scope")
    if prototypes.file is not None:
        copy_all(usd, stage, prototypes.file, _ABOVE)
    paths = [sdf.Path(f"{_ABOVE}/{name}") for name in prototypes.names]
    if prototypes.some_unseen or not paths:
        # an instancer needs a prototype, and so do objects without faces; this one shows nothing
        paths.append(stage.DefinePrim(f"{_ABOVE}/Nothing", "Xform").GetPath())
    return paths


def copy_all(usd: Any, stage: Any, file: Path, above: str) -> None:
    """Copy all prims of a file that Blender has exported to below a path."""
    source = usd.Sdf.Layer.OpenAsAnonymous(str(file))
    children = source.GetPrimAtPath(ROOT).nameChildren.keys()
    for name in children:
        # copied together, meshes keep their materials
        usd.Sdf.CopySpec(source, f"{ROOT}/{name}", stage.GetRootLayer(), f"{above}/{name}")
    _rebind(usd, stage, above)


def _rebind(usd: Any, stage: Any, above: str) -> None:
    """Redirect relationships from the prototypes' own file to their new place."""
    old, new = usd.Sdf.Path(ROOT), usd.Sdf.Path(above)
    for prim in usd.Usd.PrimRange(stage.GetPrimAtPath(above)):
        for relationship in prim.GetRelationships():
            targets = relationship.GetTargets()
            moved = [path.ReplacePrefix(old, new) for path in targets]
            if moved != targets:
                relationship.SetTargets(moved)


def write_instancer(
    frames: Iterable[Frame],
    path: Path,
    header: Header,
    obj: bpy.types.Object,
    scene: bpy.types.Scene,
    ids: NDArray[np.int64],
    warnings: list[Diagnosis] | None = None,
) -> int:
    """Write frames to a USD file in which every agent is an instance of a prototype, see `writing`.

    Args:
        frames: The frames.
        path: File to write, ending in .usdc, .usda or .usd.
        header: Header of the frames.
        obj: The crowd; its modifier has the objects that agents are shown as.
        scene: Its scene, which stays as it is.
        ids: All identities that there will be, shape (agent_count,).
        warnings: Filled with diagnoses of images that cannot be written.
    """
    with scratch() as folder:
        pxr()  # a build without USD says so before anything is made
        # the name of its file does not matter
        with as_output_errors(folder / path.name):
            prototypes = make_prototypes(obj, ids, scene, header, folder)

        def begin(usd: Any, stage: Any, targets: Any) -> Callable[[Frame], Instances]:
            return _shown(usd, stage, targets, prototypes)

        found = [] if warnings is None else warnings
        with adding(prototypes.textures, path, _ABOVE, found) as finish:
            return write_frames(
                frames, path, header, lambda usd, stage: InstancerWriter(usd, stage, begin), finish
            )

"""USD: a crowd of characters as `UsdGeom.PointInstancer`; its prototypes are the poses in use.

Faces, UVs and materials of a character are there once, in a class that its prototypes inherit; a
prototype has the places and velocities of its vertices. Agents change their prototype from frame to
frame. An instancer has no shear, so on slopes bodies tilt, see `orientations`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...core.characters.picking import neighbors, orientations, pose_numbers, shifts
from ...core.characters.pose_space import Row
from ...core.diagnoses import Diagnosis
from ...core.files.staging import as_output_errors, scratch
from ...core.results.frames import Frame
from ..characters import library, library_group, optional_parts, pose_points
from ..crowd import casting
from ..display import display
from ..display.look import Look, look_of
from ..writing.files import Header
from ..writing.usd_points import CROWD_PATH, pxr, write_frames
from .prototypes import write_still
from .staging import staging
from .textures import Texture, adding
from .usd_instancer import InstancerWriter, Instances, copy_all

_BODIES = f"{CROWD_PATH}/Bodies"
_POSES = f"{CROWD_PATH}/Prototypes"


@dataclass(frozen=True)
class Shown:
    """The characters that a crowd shows, and how.

    Attributes:
        characters: The library objects, in the order in which agents number them.
        rows: The rows of each.
        look: Their size, and where they turn.
        upright: Share of the slope by which bodies of each character are not tilted, 0 to 1.
    """

    characters: tuple[bpy.types.Object, ...]
    rows: tuple[tuple[Row, ...], ...]
    look: Look
    upright: tuple[float, ...]


def shown_by(obj: bpy.types.Object) -> Shown | None:
    """The characters that a crowd shows; None where it shows anything else.

    Raises:
        CharacterError: A character is damaged.
    """
    modifier = display.require_modifier(obj)
    characters = casting.characters_of(modifier)
    if not characters:
        return None
    look = look_of(modifier)
    return Shown(
        characters,
        tuple((*gaits, *clips) for gaits, clips in map(library.rows_of, characters)),
        look,
        tuple(look.upright * library_group.upright_of(character) for character in characters),
    )


def parts_at_all(obj: bpy.types.Object) -> list[Diagnosis]:
    """A diagnosis for each character whose optional parts are at all agents in USD."""
    shown = shown_by(obj)
    characters = () if shown is None else shown.characters
    return optional_parts.at_all(characters)


class PoseWriter:
    """Writes poses as prototypes when they are first used, and tells which ones agents show."""

    def __init__(self, usd: Any, stage: Any, targets: Any, shown: Shown, file: Path) -> None:
        """Copy the bodies.

        Args:
            usd: The modules of USD.
            stage: The stage of the crowd.
            targets: The relationship that names the prototypes.
            shown: The characters.
            file: USD file with one body for each.
        """
        self._usd, self._stage, self._targets, self._shown = usd, stage, targets, shown
        self._positions = [library.positions_of(character) for character in shown.characters]
        farthest = (np.square(poses).sum(axis=-1).max(initial=0.0) for poses in self._positions)
        self._reach = float(np.sqrt(max(farthest, default=0.0)))
        self._numbers: dict[tuple[int, int], int] = {}
        stage.DefinePrim(_BODIES, "Scope")
        stage.DefinePrim(_POSES, "Scope")
        copy_all(usd, stage, file, _BODIES)
        self._meshes: list[str] = []
        for number in range(len(shown.characters)):
            body = stage.GetPrimAtPath(f"{_BODIES}/Body{number}")
            body.SetSpecifier(usd.Sdf.SpecifierClass)
            (mesh,) = [p for p in body.GetAllChildren() if p.IsA(usd.UsdGeom.Mesh)]
            self._meshes.append(mesh.GetName())

    def shown_at(self, frame: Frame) -> Instances:
        """How agents are shown at a frame."""
        shown, columns, count = self._shown, frame.attributes, len(frame.id)
        nothing = np.zeros(count, np.float32)
        phase, gait, who = (columns.get(n, nothing) for n in ("phase", "gait", "character"))
        own = np.rint(who).astype(np.int64) % len(shown.characters)
        poses = np.zeros(count, np.int64)
        for number, rows in enumerate(shown.rows):
            among = own == number
            poses[among] = pose_numbers(rows, gait[among], phase[among])
        pairs, places = np.unique(np.stack([own, poses], axis=1), axis=0, return_inverse=True)
        before = len(self._numbers)
        numbers = [self._number(int(a), int(b)) for a, b in pairs]
        written = sum(24 * self._positions[a].shape[1] for a, _ in list(self._numbers)[before:])
        rotation, upright = shown.look.rotations(frame.rotation), np.array(shown.upright)[own]
        turns = orientations(rotation, columns, shown.look.angle, upright)
        size = shown.look.sizes(frame.radius)
        choice = np.array(numbers, np.int32)[places.reshape(-1)]
        moved = shifts(turns, columns) * size[:, None]
        return Instances(size, turns, choice, written, moved, self._reach)

    def _number(self, character: int, pose: int) -> int:
        """Number of the prototype of a pose, which is written where there is none."""
        known = self._numbers.get((character, pose))
        if known is None:
            known = self._numbers[character, pose] = len(self._numbers)
            self._write(character, pose, f"{_POSES}/Pose{known:05}")
        return known

    def _write(self, character: int, pose: int, path: str) -> None:
        usd, stage = self._usd, self._stage
        prim = stage.DefinePrim(path, "Xform")
        prim.GetInherits().AddInherit(f"{_BODIES}/Body{character}")
        mesh = usd.UsdGeom.Mesh(stage.OverridePrim(f"{path}/{self._meshes[character]}"))
        poses = self._positions[character]
        points = poses[pose]
        row = next(r for r in self._shown.rows[character] if pose < r.first + r.count)
        before, after, time = neighbors(row, pose - row.first)
        velocity = np.zeros_like(points)
        if time > 0.0:
            ways = poses[row.first + after] - poses[row.first + before]
            velocity = (ways / np.float32(time)).astype(np.float32)
        vector = usd.Vt.Vec3fArray.FromNumpy
        mesh.CreatePointsAttr().Set(vector(points))
        mesh.CreateVelocitiesAttr().Set(vector(velocity))
        extent = np.stack([points.min(axis=0), points.max(axis=0)])
        mesh.CreateExtentAttr().Set(vector(extent))
        self._targets.AddTarget(usd.Sdf.Path(path))


def _write_bodies(
    scene: bpy.types.Scene, header: Header, shown: Shown, file: Path
) -> list[Texture]:
    """Write the body of each character to a USD file, without normals: each pose has others."""
    with staging(scene, header) as stage:
        for number, character in enumerate(shown.characters):
            mesh: Any = character.data.copy()
            mesh.name = f"Body{number}Mesh"
            pose_points.remove_attributes(mesh, "row_")
            body = bpy.data.objects.new(f"Body{number}", mesh)
            stage.scene.collection.objects.link(body)
        return write_still(stage, file, export_normals=False)


def write_poses(
    frames: Iterable[Frame],
    path: Path,
    header: Header,
    shown: Shown,
    scene: bpy.types.Scene,
    warnings: list[Diagnosis] | None = None,
) -> int:
    """Write frames to a USD file in which every agent is an instance of a pose, see `writing`.

    Args:
        frames: The frames.
        path: File to write, ending in .usdc, .usda or .usd.
        header: Header of the frames.
        shown: The characters of the crowd.
        scene: Its scene, which stays as it is.
        warnings: Filled with diagnoses of images that cannot be written.
    """
    with scratch() as folder:
        pxr()  # a build without USD says so before anything is made
        file = folder / "bodies.usdc"
        with as_output_errors(file):
            textures = _write_bodies(scene, header, shown, file)

        def begin(usd: Any, stage: Any, targets: Any) -> Callable[[Frame], Instances]:
            return PoseWriter(usd, stage, targets, shown, file).shown_at

        found = [] if warnings is None else warnings
        with adding(textures, path, _BODIES, found) as finish:
            return write_frames(
                frames, path, header, lambda usd, stage: InstancerWriter(usd, stage, begin), finish
            )

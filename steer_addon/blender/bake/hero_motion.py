"""What chosen agents did over the frames of a crowd, as their rigs have to know it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...core.cache import open_cache
from ...core.characters.cast import PARTS, POSTURE
from ...core.characters.picking import SHEARS
from ...core.diagnoses import Diagnosis
from ...core.errors import SceneError
from ...core.results.frames import Frame, forward_vector, rotations, turned
from ...core.results.tracks import continuous
from ..characters.heroes.hero import Motion
from ..crowd import baked_file, crowds
from ..crowd.state import plays_back
from ..display.look import Look
from ..live import simulate

F64 = NDArray[np.float64]
_COUNT = len(POSTURE)


def why_keyed(obj: bpy.types.Object) -> str:
    """Why a crowd that keyed objects stand for has no agents to promote; empty for others."""
    if not obj.steer.hidden_by_bake:
        return ""
    made = obj.steer.bake_collection
    if made is not None and any(item.type == "ARMATURE" for item in made.all_objects):
        return (
            f"Agents of {obj.name!r} are rigs of a keyframe bake already: edit those, or use "
            "Delete Keyframe Bake first"
        )
    return (
        f"Crowd {obj.name!r} is baked to objects: use Delete Keyframe Bake first, or bake with "
        "Bodies set to Rigs"
    )


def frames_of(
    obj: bpy.types.Object,
    scene: bpy.types.Scene,
    progress: Callable[[float], None],
    warnings: list[Diagnosis],
) -> Iterator[Frame]:
    """All frames of a crowd: those of the bake that it plays, or it is simulated for them.

    Args:
        obj: The crowd.
        scene: Its scene.
        progress: Called with the share done, 0 to 1.
        warnings: Filled with what the user may want to change about the scene.

    Raises:
        SteerError: The crowd is baked to objects, its cache is gone, or it cannot be simulated.
    """
    if reason := why_keyed(obj):
        raise SceneError(reason)
    if not plays_back(obj):
        numbers = crowds.frame_numbers(obj)
        for frame in simulate.run(obj, scene, numbers, warnings=warnings):
            yield frame
            progress((frame.number - numbers[0] + 1) / len(numbers))
        return
    path = baked_file.file_of(obj)
    if path is None:
        raise SceneError(f"Crowd {obj.name!r} plays no file any more: bake it again")
    cache = open_cache(path.parent)
    for number in cache.frames:
        yield cache.frame(number)
        progress((number - cache.frames[0] + 1) / len(cache.frames))


class Tracks:
    """What chosen agents did, over all frames.

    Attributes:
        ids: Their ids, rising, shape (agent_count,).
        numbers: Frame numbers, shape (frame_count,).
        present: Where they are there and live, shape (frame_count, agent_count).
        position: Places, shape (frame_count, agent_count, 3); of frames without an agent that of
            the frame before.
        rotation: Quaternions, shape (frame_count, agent_count, 4).
        radius: Body radii, shape (frame_count, agent_count).
        posture: The attributes `POSTURE`, shape (frame_count, agent_count, 12).
        parts: The attribute `PARTS`, shape (frame_count, agent_count); not a number without one.
        others: Further attributes by name, as they are in the first frame with the agent; not a
            number where none has it.
        walks: Whether they stand upright on slopes.
    """

    def __init__(self, frames: Iterable[Frame], ids: Sequence[int] | None, name: str) -> None:
        """Read the frames.

        Args:
            frames: Frames in order.
            ids: Ids of agents; None for all who live in any frame.
            name: Name of the crowd, for messages.

        Raises:
            SceneError: An agent is in no frame, or dead in all, or no frame holds poses.
        """
        if ids is None:
            frames = list(frames)
            # those that are not born yet have rows, too
            ids = np.unique(np.concatenate([f.id[f.alive != 0] for f in frames] or [[]])).tolist()
        self.ids = np.unique(np.array(ids, np.int64))
        everybody, numbers, rows = np.empty(0, np.int64), [], []
        self.walks, self.others = False, dict[str, F64]()
        for frame in frames:
            if any(attribute not in frame.attributes for attribute in POSTURE[:3]):
                break
            numbers.append(frame.number)
            rows.append(self._read(frame))
            self.walks = POSTURE[3] in frame.attributes
            everybody = np.union1d(everybody, frame.id)
        if not rows or not len(self.ids):
            raise SceneError(
                f"Crowd {name!r} has no poses of characters at its frames: choose Display > "
                "Character or Characters, and bake again"
            )
        unknown = np.setdiff1d(self.ids, everybody)
        if len(unknown):
            raise SceneError(
                f"Crowd {name!r} has no agent {unknown[0]}: pick agents from {everybody[0]} to "
                f"{everybody[-1]}"
            )
        self.numbers = np.array(numbers, np.float64)
        table = np.stack(rows)
        self.present = table[:, :, 0] != 0.0
        self.position, self.rotation = table[:, :, 1:4], table[:, :, 4:8]
        self.radius, self.posture, self.parts = table[:, :, 8], table[:, :, 9:-1], table[:, :, -1]
        never = np.flatnonzero(~self.present.any(axis=0))
        if len(never):
            raise SceneError(
                f"Agent {self.ids[never[0]]} of crowd {name!r} is dead at all frames: pick another "
                "one"
            )
        self._hold()

    def _read(self, frame: Frame) -> F64:
        """Whether they live, place, rotation, radius, posture, parts: shape (agent_count, 22)."""
        result = np.zeros((len(self.ids), 10 + _COUNT))
        result[:, -1] = np.nan
        rows = np.flatnonzero(np.isin(frame.id, self.ids))
        columns = np.searchsorted(self.ids, frame.id[rows])
        for name in set(frame.attributes) - {*POSTURE, PARTS}:
            first = self.others.setdefault(name, np.full(len(self.ids), np.nan))
            first[columns] = np.where(
                np.isnan(first[columns]), frame.attributes[name][rows], first[columns]
            )
        result[columns, 0] = frame.alive[rows] != 0
        result[columns, 1:4] = frame.position[rows]
        result[columns, 4:8] = frame.rotation[rows]
        result[columns, 8] = frame.radius[rows]
        for place, name in enumerate((*POSTURE, PARTS), 9):
            if name in frame.attributes:
                result[columns, place] = frame.attributes[name][rows]
        return result

    def _hold(self) -> None:
        """Give frames without an agent what the nearest one before had, or else after."""
        count = len(self.numbers)
        for column in range(len(self.ids)):
            there = np.flatnonzero(self.present[:, column])
            if 0 < len(there) < count:
                last = np.searchsorted(there, np.arange(count), "right") - 1
                source = there[np.maximum(last, 0)]
                for values in (self.position, self.rotation, self.radius, self.posture):
                    values[:, column] = values[source, column]

    def motion(self, column: int, look: Look, upright: float = 1.0) -> Motion:
        """What one of the agents did, as its rig has to know it.

        Args:
            column: Number of the agent among them.
            look: How the crowd shows characters.
            upright: Share of that by which its character stays upright on slopes.
        """
        posture = self.posture[:, column]
        scale = look.sizes(self.radius[:, column])
        return Motion(
            numbers=self.numbers,
            location=self.position[:, column],
            rotation=self._rotation(column, look),
            scale=np.where(self.present[:, column], scale, 0.0),
            shear=posture[:, [POSTURE.index(name) for name in SHEARS]],
            upright=look.upright * upright,
            phase=posture[:, 0],
            row=np.round(posture[:, 1]).astype(np.int64),
        )

    def _rotation(self, column: int, look: Look) -> F64:
        """Rotations of a body that faces -Y, as the Crowd modifier has them."""
        if not look.aligned:
            return np.tile([1.0, 0.0, 0.0, 0.0], (len(self.numbers), 1))
        given = self.rotation[:, column]
        front = turned(given, forward_vector(look.axis))
        if self.walks:
            flat = np.where(np.hypot(front[:, 0], front[:, 1])[:, None] > 1.0e-6, front, (0, -1, 0))
            found = rotations((flat * [1.0, 1.0, 0.0]).astype(np.float32), "NEG_Y")
        else:
            found = _quaternions(front, turned(given, np.array([0.0, 0.0, 1.0])))
        return continuous(found).astype(np.float64)


def _quaternions(front: F64, up: F64) -> NDArray[np.float32]:
    """Quaternions that turn -Y to `front` and Z to `up`."""
    columns = [np.cross(-front, up), -front, up]
    matrices = np.stack(columns, axis=-1)
    found = [Matrix(matrix.tolist()).to_quaternion()[:] for matrix in matrices]
    return np.array(found, np.float32)

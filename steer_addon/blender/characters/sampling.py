"""Samples of a body in motion, from copies in a scene of their own: the user's scene stays as is.

The bones of a rig are read for each action once. A blend is made of their locations, rotations and
scales, written to the copy of the rig, and evaluated with its constraints, drivers and modifiers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Quaternion
from numpy.typing import NDArray

from ...core.characters.aligning import Facing
from ...core.errors import CharacterError
from ..scene_units import meters_per_unit
from ..suspension import suspended
from .copies import copied, keys_of, thin, thinned
from .keys import curves_of, frames_of, read, rest_of, slot_of
from .settings import Settings

F32 = NDArray[np.float32]
_KNOTS = 96
"""Least number of times of an action at which its bones are read; in between they are blended."""
_EULERS = {"XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"}
_SEAM = 0.2
"""Share of a cycle over which its end is blended into that of the last one."""
_NEAR = 1.0e-3
"""How far from even a key may be [frames]."""
_STILL = 1.0e-4
"""Numbers of the place of a rig that differ less hold it still."""
_FAR = 1.0e6
"""How far vertices may be from the origin [m]."""


class Track:
    """The bones of a rig over one action: locations, rotations and scales, and the rig's own.

    Attributes:
        action: The action; None for motion without one.
        frames: Its first and last frame.
        duration: Its time [s].
        values: Location, rotation (w, x, y, z) and scale of all bones and, at the end, of the rig;
            between them the values of `Settings`, three in each row as a location; shape
            (times, row_count, 10).
        facings: How all of it was turned and moved after it was read, in units of the scene.
        rounds: How many cycles the action has; the first one is shown.
    """

    def __init__(
        self, action: bpy.types.Action | None, frames: tuple[float, float], fps: float
    ) -> None:
        """Begin a track that is not read yet."""
        self.action, self.frames = action, frames
        self.duration = (frames[1] - frames[0]) / fps
        self.values = np.empty((0, 0, 10))
        self.facings: tuple[Facing, ...] = ()
        self.rounds = 1

    def cut(self, rounds: int) -> None:
        """Show the first of several cycles; it has to be in place."""
        self.rounds, self.duration = rounds, self.duration / rounds

    def frame(self, time: float) -> float:
        """Frame of the scene at a share of the duration."""
        return self.frames[0] + time / self.rounds * (self.frames[1] - self.frames[0])

    def at(self, time: float) -> NDArray[np.float64]:
        """Values at a share of the duration, shape (row_count, 10).

        Cycles differ a little, so the end of the first one is blended into the end of the last one,
        which leads to its start.
        """
        share = (time - 1.0) / _SEAM + 1.0
        if self.rounds == 1 or share <= 0.0:
            return self._at(time / self.rounds)
        last = (time - 1.0) / self.rounds % 1.0
        return blended([(1.0 - share, self._at(time / self.rounds)), (share, self._at(last))])

    def _at(self, time: float) -> NDArray[np.float64]:
        place = time * (len(self.values) - 1)
        before = min(int(place), max(len(self.values) - 2, 0))
        after = min(before + 1, len(self.values) - 1)
        return blended(
            [(1.0 - place + before, self.values[before]), (place - before, self.values[after])]
        )


def row_of(matrix: Matrix) -> list[float]:
    """Location, rotation and scale of a matrix, as in `Track.values`."""
    location, rotation, scale = matrix.decompose()
    return [*location, *rotation, *scale]


def matrix_of(row: Any) -> Matrix:
    """The matrix of a row of `Track.values`."""
    return Matrix.LocRotScale(row[:3], Quaternion(row[3:7]), row[7:])


def is_moved(places: NDArray[np.float64]) -> bool:
    """Whether places of a rig differ: locations, rotations and scales, shape (n, 10)."""
    across = places[:, 3:7] @ places[0, 3:7] < 0.0
    turned = np.where(across[:, None], -places[:, 3:7], places[:, 3:7])
    differ = np.ptp(np.column_stack([places[:, :3], turned, places[:, 7:]]), axis=0)
    return bool(differ.max() >= _STILL)


def blended(parts: list[tuple[float, NDArray[np.float64]]]) -> NDArray[np.float64]:
    """A blend of poses: locations and scales by their shares, rotations along the shorter way."""
    (weight, first), *others = [part for part in parts if part[0] > 0.0]
    result = weight * first
    for weight, values in others:
        share = weight * values
        across = np.einsum("ij,ij->i", values[:, 3:7], first[:, 3:7]) < 0.0
        share[across, 3:7] *= -1.0
        result += share
    turns = result[:, 3:7]
    turns /= np.maximum(np.sqrt(np.einsum("ij,ij->i", turns, turns)), 1.0e-12)[:, None]
    return result


def _knots(owned: Sequence[bpy.types.FCurve], first: float, last: float) -> int:
    """Steps in which curves are read: each key of even ones, as of imported files, is at one."""
    times = [read(curve.keyframe_points, "co", 2)[::2] for curve in owned]
    keys = np.unique(np.concatenate([np.empty(0), *times]))
    gaps = np.diff(keys)
    gaps = gaps[gaps > _NEAR]
    if not len(gaps):
        return _KNOTS
    count = max(round((last - first) / float(gaps.min())), 1)
    steps = (keys - first) * count / (last - first)
    if count > 2 * (last - first) + 1 or np.abs(steps - np.rint(steps)).max() > _NEAR:
        return max(_KNOTS, 4 * int(np.ceil(last - first)))
    return count * -(-_KNOTS // count)


class Sampler:
    """Copies of a rig and its parts, or of anything that moves, which are evaluated at will."""

    def __init__(
        self,
        scene: bpy.types.Scene,
        rig: bpy.types.Object,
        parts: Iterable[bpy.types.Object],
        decimate: float = 1.0,
    ) -> None:
        """Copy everything into a scene of its own.

        Args:
            scene: The scene with the frame rate and settings.
            rig: The armature, or the object above all others that move.
            parts: Objects with faces, in the order of their vertices.
            decimate: Share of the faces that is kept.
        """
        self._made: list[Any] = []
        self.name, self._source = rig.name, rig
        self._orders: list[Any] = []
        self._keyed: dict[str, Any] = {}
        self._settings: Settings | None = None
        self.twins: list[bpy.types.Object] = []
        self.names: list[str] = []
        self.sizes: list[int] = []
        with suspended():
            self.scene: Any = bpy.data.scenes.new("Steer Sampling")
            try:
                render = self.scene.render
                render.fps, render.fps_base = scene.render.fps, scene.render.fps_base
                self.fps = render.fps / render.fps_base
                self.units = meters_per_unit(scene)
                self._copy_all(rig, list(parts), decimate)
            except BaseException:
                self.close()
                raise

    def __enter__(self) -> Sampler:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove everything again."""
        self.close()

    def _copy_all(
        self, rig: bpy.types.Object, parts: list[bpy.types.Object], decimate: float
    ) -> None:
        below = [rig, *rig.children_recursive]
        wanted = [*below, *(part for part in parts if part not in below)]
        twins = copied(wanted, self._made, lambda keys: True)
        for obj, twin in twins.items():
            # other meshes are evaluated only where something shown depends on them
            twin.hide_viewport = obj.type == "MESH" and obj not in parts
            self.scene.collection.objects.link(twin)
            if (keys := keys_of(obj)) is not None:
                self._keyed[keys.name] = keys_of(twin)
        self.rig: Any = twins[rig]
        self.twins = [twins[part] for part in parts]
        self.names = [part.name for part in parts]
        for twin in self.twins if decimate < 1.0 else []:
            if keys_of(twin) is None:
                # once, and not for each pose
                twin.data = thinned(twin.data, decimate, self.scene)
                self._made.append(twin.data)
            else:
                thin(twin, decimate)
        if self.rig.animation_data is not None and self.rig.type == "ARMATURE":
            self.rig.animation_data.use_nla = False

    @property
    def is_posed(self) -> bool:
        """Whether a rig is posed; otherwise frames of the scene are shown."""
        return bool(self.rig.type == "ARMATURE")

    @property
    def depsgraph(self) -> bpy.types.Depsgraph:
        """The evaluated state of the copies."""
        result: bpy.types.Depsgraph = self.scene.view_layers[0].depsgraph
        return result

    def read(self, actions: Sequence[bpy.types.Action]) -> list[Track]:
        """Read the bones of all actions that are blended; do so once, before the first blend."""
        owners = {"": self.rig, **self._keyed}
        self._settings = Settings(self._source, owners, actions)
        rests = rest_of(self.rig)
        # reading takes bones: without this all meshes were evaluated at each of their times
        for twin in self.twins:
            twin.hide_viewport = True
        tracks = [self._read(action, self._settings, rests) for action in actions]
        for twin in self.twins:
            twin.hide_viewport = False
        return tracks

    def _read(self, action: bpy.types.Action, settings: Settings, rests: Sequence[Matrix]) -> Track:
        first, last = frames_of(action, self._source)
        track = Track(action, (first, last), self.fps)
        slot = slot_of(action, self._source)
        owned = curves_of(action, slot)
        if last - first < 1.0:
            frames = [first]
        else:
            frames = np.linspace(first, last, _knots(owned, first, last) + 1).tolist()
        data = self.rig.animation_data or self.rig.animation_data_create()
        for bone, rest in zip(self.rig.pose.bones, rests, strict=True):
            bone.matrix_basis = rest
        # a strip that is being edited
        data.use_tweak_mode = False
        data.action = action
        if slot is None:
            raise CharacterError(f"Action {action.name!r} moves no object: choose another action")
        data.action_slot = slot
        bones = np.array([self._bones(frame) for frame in frames])
        data.action = None
        further = _in_rows(settings.read(action, frames))
        track.values = np.concatenate([bones[:, :-1], further, bones[:, -1:]], axis=1)
        return track

    def _bones(self, frame: float) -> list[list[float]]:
        self._go_to(frame)
        # the copy itself stays: only what the window shows is written back to originals
        evaluated = self.rig.evaluated_get(self.depsgraph)
        matrices = [bone.matrix_basis for bone in evaluated.pose.bones]
        matrices.append(evaluated.matrix_world)
        return [row_of(matrix) for matrix in matrices]

    def _go_to(self, frame: float) -> None:
        whole = int(np.floor(frame))
        with suspended():
            self.scene.frame_set(whole, subframe=min(frame - whole, 0.9999))

    def pose(self, values: NDArray[np.float64], frame: float) -> F32:
        """All vertices of a pose [m], shape (vertex_count, 3).

        Args:
            values: Bones and the rig itself, as in `Track.values`.
            frame: Frame of the scene, for what moves by itself.
        """
        self._put(values)
        return self.at(frame)

    def bones(self, values: NDArray[np.float64], frame: float) -> NDArray[np.float64]:
        """Matrices of all bones of a pose in the space of the rig, shape (bone_count, 4, 4)."""
        self._put(values)
        self._go_to(frame)
        evaluated = self.rig.evaluated_get(self.depsgraph)
        return np.array([bone.matrix for bone in evaluated.pose.bones])

    def _put(self, values: NDArray[np.float64]) -> None:
        bones = self.rig.pose.bones
        count = len(bones)
        if not self._orders:
            # constraints and drivers read angles in the order of their bone
            self._orders = [bone.rotation_mode for bone in bones]
            for bone in bones:
                if bone.rotation_mode not in _EULERS:
                    bone.rotation_mode = "QUATERNION"
        turned = [n for n, order in enumerate(self._orders) if order in _EULERS]
        if turned:
            angles = np.zeros((count, 3), np.float32)
            for number in turned:
                turn = Quaternion(values[number, 3:7].tolist())
                angles[number] = turn.to_euler(self._orders[number])
            bones.foreach_set("rotation_euler", angles.ravel())
        for name, part in (
            ("location", values[:count, :3]),
            ("rotation_quaternion", values[:count, 3:7]),
            ("scale", values[:count, 7:]),
        ):
            bones.foreach_set(name, np.ascontiguousarray(part, np.float32).ravel())
        if self._settings is not None:
            self._settings.put(values[count:-1, :3].ravel())
        if self.rig.parent is not None:
            self.rig.parent = None
        # what they do is in the matrix that was read
        for constraint in self.rig.constraints:
            constraint.mute = True
        self.rig.matrix_world = matrix_of(values[-1])
        self.rig.update_tag(refresh={"OBJECT", "DATA"})

    def at(self, frame: float) -> F32:
        """All vertices at a frame [m], shape (vertex_count, 3)."""
        self._go_to(frame)
        depsgraph = self.depsgraph
        found = [_points(twin.evaluated_get(depsgraph)) for twin in self.twins]
        sizes = [len(points) for points in found]
        if self.sizes and sizes != self.sizes:
            changed = next(n for n, s in enumerate(sizes) if s != self.sizes[n])
            raise CharacterError(
                f"Object {self.names[changed]!r} has {self.sizes[changed]} vertices at one time "
                f"and {sizes[changed]} at another: turn off the modifiers that change it, "
                "since all poses of a character share their faces"
            )
        if not any(sizes):
            raise CharacterError(
                f"{self.name!r} shows no vertices of its own at frame {frame:g}: turn off the "
                "modifiers that take them away, or end them with a Realize Instances node"
            )
        self.sizes = sizes
        for name, points in zip(self.names, found, strict=True):
            # not so where there is a NaN
            if not np.abs(points).max(initial=0.0) * self.units <= _FAR:
                raise CharacterError(
                    f"Object {name!r} has vertices more than {_FAR / 1000.0:g} km away, or at "
                    f"numbers that are not finite, at frame {frame:g}: repair the action, mesh or "
                    "modifier that puts them there"
                )
        return np.concatenate(found) * np.float32(self.units)

    def close(self) -> None:
        """Remove the scene and all copies; a second call does nothing."""
        with suspended():
            if self.scene is not None:
                bpy.data.scenes.remove(self.scene)
                self.scene = None
            # Blender removes the objects of a mesh with it, so they go first
            objects = [made for made in self._made if isinstance(made, bpy.types.Object)]
            data = [made for made in self._made if not isinstance(made, bpy.types.Object)]
            bpy.data.batch_remove(objects)
            bpy.data.batch_remove(data)
            self._made.clear()


def _in_rows(settings: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values of settings as locations of bones, shape (times, row_count, 10)."""
    count, width = settings.shape
    rows = -(-width // 3)
    result = np.zeros((count, rows, 10))
    result[..., 3] = 1.0
    result[..., :3] = np.pad(settings, ((0, 0), (0, 3 * rows - width))).reshape(count, rows, 3)
    return result


def _points(evaluated: bpy.types.Object) -> F32:
    """World places of the vertices of an evaluated mesh object."""
    mesh = evaluated.data
    points = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes["position"].data.foreach_get("vector", points)
    matrix = np.array(evaluated.matrix_world, np.float32)
    return np.asarray(points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3])

"""A character made of a rig and its actions, or of anything that moves over frames."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.characters.contacts import Cycle, measure_cycle
from ...core.characters.pose_space import F32, PoseSpace
from ...core.characters.rows import Place, Plan, Report, Rows, Weights, add_gaits, dense
from ...core.errors import CharacterError
from . import joining, library, rigs
from .sampling import Sampler, Track, blended


@dataclass(frozen=True)
class Recipe:
    """What a character is made of.

    Attributes:
        stand: Name of the action that shows standing; "" holds a pose of the walk instead.
        walk: Name of the action that shows walking; "" takes frames of the scene.
        run: Name of the action that shows running; "" for none.
        clips: Further actions, each with the name that users play it by.
        plan: What rows are made.
        faces: Share of the faces that is kept.
        without: Names of objects that are left out.
        frames: First and last frame of one cycle, for what moves without actions of a rig.
    """

    stand: str = ""
    walk: str = ""
    run: str = ""
    clips: tuple[tuple[str, str], ...] = ()
    plan: Plan = Plan()
    faces: float = 1.0
    without: tuple[str, ...] = ()
    frames: tuple[int, int] = (1, 24)


@dataclass(frozen=True)
class Made:
    """A character that was made.

    Attributes:
        character: The library object.
        space: Its poses.
        memory: What they take, as a text.
    """

    character: bpy.types.Object
    space: PoseSpace
    memory: str


def make_character(
    scene: bpy.types.Scene,
    rig: bpy.types.Object,
    recipe: Recipe,
    report: Report = lambda share: None,
) -> Made:
    """Make the library object of a character; the rig stays as it is.

    Args:
        scene: The scene of the rig, whose frame rate its actions are timed by.
        rig: An armature, or the object above all others that move.
        recipe: Actions or frames, and how the poses are cut.
        report: Takes the share of the work that is done; it may raise to cancel.

    Raises:
        CharacterError: The rig or an action is not fit for it.
    """
    if rig.mode != "OBJECT":
        raise CharacterError(f"{rig.name!r} is in {rig.mode.title()} Mode: go to Object Mode first")
    parts = rigs.parts_of(rig, recipe.without)
    with Sampler(scene, rig, parts, recipe.faces) as sampler:
        body = _Posed(sampler, rig, recipe) if sampler.is_posed else _Moving(sampler, recipe)
        points = body.first()
        rows = Rows(body.plan)
        vertices = len(points)
        faces = sum(len(t.evaluated_get(sampler.depsgraph).data.polygons) for t in sampler.twins)
        # strides are known only once sampled: a first guess tells what is far too much
        rigs.check_memory(body.expected(points), vertices, faces)
        place = body.add_gaits(rows, lambda share: report(0.9 * share))
        body.add_clips(rows, place)
        body.first()
        mesh, order = joining.join_parts(sampler, rig.name)
    try:
        space = rows.space()
        space = PoseSpace(np.ascontiguousarray(space.positions[:, order]), space.gaits, space.clips)
        memory = rigs.check_memory(space.pose_count, vertices, faces)
        made = library.make(f"{rig.name} Character", mesh, space, scene)
    except BaseException:
        if mesh.users == 0:
            bpy.data.meshes.remove(mesh)
        raise
    report(1.0)
    return Made(made, space, memory)


class _Body:
    """A body that shows gaits and clips."""

    plan: Plan

    def __init__(self, sampler: Sampler, recipe: Recipe) -> None:
        """Remember where samples come from."""
        self.sampler, self.recipe = sampler, recipe
        self.plan = recipe.plan

    def first(self) -> F32:
        """Some pose, which the faces are read from."""
        raise NotImplementedError

    def expected(self, points: F32) -> int:
        """A guess at the number of poses, before strides are known."""
        height = float(np.ptp(points[:, 2]))
        stride = self.plan.stride or 0.6 * height
        walks = sum(self.plan.shares()) * stride
        return int((walks + (3.0 * stride if self.recipe.run else 0.0)) / self.plan.tolerance)

    def add_gaits(self, rows: Rows, report: Report) -> Place:
        """Add all gaits."""
        raise NotImplementedError

    def add_clips(self, rows: Rows, place: Place) -> None:
        """Add all clips."""


class _Posed(_Body):
    """A rig with actions, blended at the level of its bones."""

    def __init__(self, sampler: Sampler, rig: bpy.types.Object, recipe: Recipe) -> None:
        """Read the bones of all actions."""
        super().__init__(sampler, recipe)
        if not recipe.walk:
            raise CharacterError(
                f"Rig {rig.name!r} has no action for Walk: choose one that shows a cycle of two "
                "steps"
            )
        wanted = {"Stand": recipe.stand, "Walk": recipe.walk, "Run": recipe.run}
        found = {role: rigs.find_action(rig, name) for role, name in wanted.items() if name}
        for role in ("Walk", "Run"):
            if role in found:
                rigs.check_frames(found[role], role)
        clips = [(name, rigs.find_action(rig, action)) for name, action in recipe.clips]
        tracks = {role: sampler.read(action) for role, action in found.items()}
        self.clips = [(name, sampler.read(action)) for name, action in clips]
        self.walk, self.run = tracks["Walk"], tracks.get("Run")
        self.stand = tracks.get("Stand")
        self._offsets: dict[int, float] = {}
        self._drifts: dict[int, NDArray[np.float64]] = {}

    def first(self) -> F32:
        """The first pose of the walk."""
        return self._pure(self.walk, 0.0)

    def _pure(self, track: Track, time: float) -> F32:
        return self.sampler.pose(track.at(time), track.frame(time))

    def _align(self, track: Track, stride: float | None, role: str) -> Cycle:
        """Measure an action by itself, so that its blends begin where its feet pass."""
        try:
            samples = dense(lambda time: self._pure(track, time), self.plan.steps)
            cycle = measure_cycle(samples, track.duration, stride)
        except CharacterError as error:
            action = track.action.name if track.action else ""
            raise CharacterError(f"{role} {action!r}: {error}") from None
        even = np.linspace(0.0, 1.0, len(cycle.way))
        self._offsets[id(track)] = float(np.interp(cycle.origin * cycle.stride, cycle.way, even))
        self._drifts[id(track)] = cycle.drift
        return cycle

    def add_gaits(self, rows: Rows, report: Report) -> Place:
        """Add standing, walks and runs."""
        self._align(self.walk, self.plan.stride, "Walk")
        if self.run is not None:
            self._align(self.run, self.plan.run_stride, "Run")
        durations = (
            self.stand.duration or 1.0 if self.stand else 1.0,
            self.walk.duration,
            self.run.duration if self.run else 0.0,
        )
        return add_gaits(rows, self._sample, durations, report)

    def _sample(self, weights: Weights, time: float) -> F32:
        """A blend of standing, walking and running, in place."""
        drift = np.zeros(2)
        parts = []
        for weight, track in zip(weights, (self.stand, self.walk, self.run), strict=True):
            if weight <= 0.0:
                continue
            if track is None:
                # without standing, the pose in which the feet pass each other is held
                parts.append((weight, self.walk.at(self._offsets[id(self.walk)])))
                continue
            part = (time + self._offsets.get(id(track), 0.0)) % 1.0
            drift = drift + weight * part * self._drifts.get(id(track), np.zeros(2))
            parts.append((weight, track.at(part)))
        points = self.sampler.pose(blended(parts), self.walk.frame(time))
        points[:, :2] -= drift.astype(np.float32)
        return points

    def add_clips(self, rows: Rows, place: Place) -> None:
        """Add further actions by their names; those that end as they begin go on."""
        for name, track in self.clips:
            ends = self._pure(track, 0.0), self._pure(track, 1.0)
            height = float(np.ptp(ends[0][:, 2]))
            loops = bool(np.abs(ends[1] - ends[0]).max() < 0.03 * height)
            rows.add_clip(name, _pure_of(self._pure, track), track.duration or 1.0, place, loops)


def _pure_of(sample: Callable[[Track, float], F32], track: Track) -> Callable[[float], F32]:
    return lambda time: sample(track, time)


class _Moving(_Body):
    """Anything that moves over frames of the scene, without blends."""

    def __init__(self, sampler: Sampler, recipe: Recipe) -> None:
        """Check the frames."""
        super().__init__(sampler, recipe)
        start, end = recipe.frames
        if end <= start:
            raise CharacterError(
                f"Frames {start} to {end} hold no motion: give the first and the last frame of one "
                "cycle, the last one above the first"
            )
        if recipe.stand or recipe.walk or recipe.run or recipe.clips:
            raise CharacterError(
                f"{sampler.rig.name!r} is no armature, and so takes no actions: choose "
                "an armature, or leave Stand, Walk, Run and the clips out"
            )
        self.duration = (end - start) / sampler.fps

    def _at(self, time: float) -> F32:
        start, end = self.recipe.frames
        return self.sampler.at(start + time * (end - start))

    def first(self) -> F32:
        """The first frame."""
        return self._at(0.0)

    def add_gaits(self, rows: Rows, report: Report) -> Place:
        """Add one gait, and one of its poses for standing."""
        samples = dense(self._at, self.plan.steps)
        try:
            cycle = measure_cycle(samples, self.duration, self.plan.stride)
        except CharacterError as error:
            raise CharacterError(f"{self.sampler.rig.name!r}: {error}") from None
        place = Place(cycle.angle, (cycle.center[0], cycle.center[1]), cycle.ground)
        even = np.linspace(0.0, 1.0, len(cycle.way))
        held = float(np.interp(cycle.origin * cycle.stride, cycle.way, even))

        def in_place(time: float) -> F32:
            points = self._at(time)
            points[:, :2] -= (time * cycle.drift).astype(np.float32)
            return points

        rows.add_stand(lambda time: in_place(held), self.duration, place)
        report(0.5)
        rows.add_gait("move", in_place, cycle, cycle.speed)
        return place

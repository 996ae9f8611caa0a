"""Bodies that characters are made of: rigs with actions, and whatever moves by itself."""

from __future__ import annotations

from collections.abc import Callable

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.characters.aligning import AHEAD, along, rounds_of
from ...core.characters.contacts import Cycle, passing_times
from ...core.characters.ladder import add_gaits, add_last_steps
from ...core.characters.memory import expected_poses
from ...core.characters.pose_space import F32
from ...core.characters.recipe import Recipe
from ...core.characters.rows import ClipPlan, Rows, Steps, Weights, dense, place_of
from ...core.characters.stepping import add_rounds
from ...core.errors import CharacterError
from . import copies, facing, feet, origins, rigs
from .sampling import Sampler, Track, blended, is_moved

_DRIFTS = 0.005
"""Least share of the height that standing goes in a cycle, for which it is taken out."""
_ALIKE = 0.05
"""Share of the height by which the ends of a clip differ at most that goes on by root motion."""
_LOOKS = 24
"""Number of poses of standing, of which the calmest is the one that steps and clips begin in."""
_LOOKS_AT_ROUNDS = 120
"""Number of poses of a walk or run, by which its cycles are counted."""
_VERTICES = 500
"""Number of their vertices that are compared."""


class Body:
    """A body that shows gaits and clips."""

    def __init__(self, sampler: Sampler, recipe: Recipe) -> None:
        """Remember where samples come from."""
        self.sampler, self.recipe = sampler, recipe
        self.plan, self.owners = recipe.plan, feet.Owners(sampler)
        self.planted: NDArray[np.intp] = np.empty(0, np.intp)

    def first(self) -> F32:
        """Some pose, which the faces are read from."""
        raise NotImplementedError

    def apart(self) -> F32:
        """A pose in which limbs are apart, if there is one."""
        return self.first()

    def expected(self, points: F32) -> int:
        """A guess at the number of poses, before strides are known."""
        seconds = rigs.seconds(self.sampler.rig, self.recipe, self.sampler.fps)
        return expected_poses(self.recipe, float(np.ptp(points[:, 2])), seconds)

    def gait_count(self) -> int:
        """How many gaits are measured."""
        return 1

    def feet_of_sides(self) -> tuple[NDArray[np.intp], ...]:
        """Vertices that stand at some time, of a left and a right foot; none without the two."""
        return ()

    def add_all(self, rows: Rows) -> Steps[None]:
        """Add all gaits and clips."""
        raise NotImplementedError


class Posed(Body):
    """A rig with actions, blended at the level of its bones."""

    def __init__(self, sampler: Sampler, rig: bpy.types.Object, recipe: Recipe) -> None:
        """Read the bones of all actions."""
        super().__init__(sampler, recipe)
        self._rig = rig
        if not recipe.walk:
            raise CharacterError(
                f"Rig {rig.name!r} has no action for Walk: choose one that shows a cycle of two "
                "steps, in the dialog or with --walk; its actions are: "
                f"{rigs.names_of(rigs.actions_of(rig))}"
            )
        wanted = {"Stand": recipe.stand, "Walk": recipe.walk, "Run": recipe.run}
        found = {role: rigs.find_action(rig, name) for role, name in wanted.items() if name}
        for role in ("Walk", "Run"):
            if role in found:
                rigs.check_frames(rig, found[role], role)
        clips = [(name, rigs.find_action(rig, action)) for name, action in recipe.clips]
        read = sampler.read([*found.values(), *(action for _name, action in clips)])
        tracks = dict(zip(found, read, strict=False))
        names = (name for name, _action in clips)
        self.clips = list(zip(names, read[len(found) :], strict=True))
        self.walk, self.run = tracks["Walk"], tracks.get("Run")
        self.stand = tracks.get("Stand")
        self._offsets: dict[int, float] = {}
        self._drifts: dict[int, NDArray[np.float64]] = {}
        self._held: dict[int, NDArray[np.float64]] = {}
        self.legs: tuple[str, ...] = ()

    def first(self) -> F32:
        """The first pose of the walk."""
        return self._pure(self.walk, 0.0)

    def apart(self) -> F32:
        """The rest pose of the rig."""
        values = self.walk.at(0.0).copy()
        bones = len(self.sampler.rig.pose.bones)
        values[:bones] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
        return self.sampler.pose(values, self.walk.frame(0.0))

    def _pure(self, track: Track, time: float) -> F32:
        return self.sampler.pose(track.at(time), track.frame(time))

    def gait_count(self) -> int:
        """How many gaits are measured: some are measured twice, to be aligned before."""
        return len(self.plan.shares()) + (15 if self.run else 0) + 2

    def _align(
        self, rows: Rows, track: Track, stride: float | None, role: str, like: Cycle | None = None
    ) -> Steps[Cycle]:
        """Measure an action by itself, so that its blends begin where its feet pass."""
        pure = _pure_of(self._pure, track)
        try:
            cycle = yield from rows.measure(pure, track.duration, stride, like)
        except CharacterError as error:
            action = track.action.name if track.action else ""
            raise CharacterError(f"{role} {action!r}: {error}") from None
        even = np.linspace(0.0, 1.0, len(cycle.way))
        self._offsets[id(track)] = float(np.interp(cycle.origin * cycle.stride, cycle.way, even))
        self._drifts[id(track)] = cycle.drift
        return cycle

    def _one_cycle(
        self, rows: Rows, track: Track, stride: float | None, role: str, like: Cycle | None = None
    ) -> Steps[Cycle]:
        """The same, of an action that may have several cycles; a stride that is given is of all."""
        cycle = yield from self._align(rows, track, stride, role, like)
        if stride is not None or not cycle.has_feet:
            return cycle
        drift = np.append(cycle.drift, 0.0).astype(np.float32)

        def feet(time: float) -> F32:
            return self._pure(track, time)[cycle.planted] - np.float32(time) * drift

        rounds = rounds_of((yield from dense(feet, _LOOKS_AT_ROUNDS)))
        if rounds > 1:
            facing.hold(self.sampler, track, cycle.drift)
            self._held[id(track)] = cycle.drift
            track.cut(rounds)
            cycle = yield from self._align(rows, track, stride, role)
        return cycle

    def _drift_of(self, track: Track, apart: float = np.inf) -> NDArray[np.float64]:
        """How far standing or a clip goes in a cycle: root motion, or hips that end elsewhere [m].

        Args:
            track: The action.
            apart: Share of the height by which its ends differ at most, but for that way;
                otherwise the way is part of the motion, as of a body that falls.
        """
        first, last = (self._pure(track, time) for time in (0.0, 1.0))
        moved: NDArray[np.float64] = (last - first)[:, :2].mean(axis=0, dtype=np.float64)
        height = np.ptp(first[:, 2])
        left = np.linalg.norm(last - first - np.append(moved, 0.0), axis=1).max()
        small = np.hypot(*moved) < _DRIFTS * height or left > apart * height
        return 0.0 * moved if small else moved

    def add_all(self, rows: Rows) -> Steps[None]:
        """Add standing, walks and runs, then further actions by their names."""
        facing.straighten(self.sampler, self.walk)
        cycle = yield from self._one_cycle(rows, self.walk, self.plan.stride, "Walk")
        self.planted, cycles = cycle.planted, [cycle]
        if self.run is not None:
            facing.straighten(self.sampler, self.run)
            goal, like = self.plan.run_stride, None if cycle.has_feet else cycle
            running = yield from self._one_cycle(rows, self.run, goal, "Run", like)
            if (way := along(running, cycle)) != AHEAD:
                facing.face(self.sampler, self.run, way)
                yield from self._align(rows, self.run, goal, "Run", like)
            cycles.append(running)
        durations = (
            self.stand.duration or 1.0 if self.stand else 1.0,
            self.walk.duration,
            self.run.duration if self.run else 0.0,
        )
        if self.stand is not None:
            self._drifts[id(self.stand)] = self._drift_of(self.stand)
            calm = self._offsets[id(self.stand)] = yield from self._calmest(self.stand)
            passing = self._pure(self.walk, self._offsets[id(self.walk)])
            facing.face_as(self.sampler, self.stand, calm, passing)
            if self.stand.facings:
                self._drifts[id(self.stand)] = self._drift_of(self.stand)
        begins = self.sampler.pose(self._begin(), 0.0)
        for _name, track in self.clips:
            facing.face_as(self.sampler, track, 0.0, begins)
            self._drifts[id(track)] = self._drift_of(track, _ALIKE)
        try:
            place = yield from add_gaits(rows, self._sample, durations, cycles)
        except CharacterError as error:
            blends = [track.action for track in (self.stand, self.walk, self.run) if track]
            names = " and ".join(repr(action.name) for action in blends if action)
            raise CharacterError(f"Blends of {names}: {error}") from None
        for name, track in self.clips:
            loops = name in self.recipe.loops
            if not loops and name not in self.recipe.once and track.action is not None:
                loops = rigs.loops(self.sampler.rig, track.action)
            plan = ClipPlan(track.duration or 1.0, loops)
            yield from rows.add_clip(name, self._clip(track, plan), plan, place)
        legs = self.owners.legs_of(cycle.planted)
        self.legs, sides = tuple(legs), tuple(legs.values())
        yield from add_rounds(rows, self._sample, place, passing_times(cycle), sides)
        yield from add_last_steps(rows, self._sample, place)

    def feet_of_sides(self) -> tuple[NDArray[np.intp], ...]:
        """The same, by bones: those from which feet hang, or two that are given or named so.

        Where nothing stands at any time it is all of these two.
        """
        sides = [*self.owners.legs_of(self.planted).values()]
        named = [] if sides else self.recipe.feet or rigs.guess_feet(self._rig)
        sides += map(self.owners.mask_below, named)
        among = self.planted if len(self.planted) else np.arange(sum(self.sampler.sizes))
        feet = tuple(among[side[among]] for side in sides)
        return feet if len(feet) == 2 and all(map(len, feet)) else ()

    def _calmest(self, track: Track) -> Steps[float]:
        """Time of the pose that is nearest to all others of standing.

        Steps, turns and clips begin in it, whatever pose a body that breathes is in then.
        """
        thin = slice(None, None, 1 + len(self.first()) // _VERTICES)
        drift = np.append(self._drifts[id(track)], 0.0).astype(np.float32)

        def in_place(time: float) -> F32:
            return self._pure(track, time)[thin] - np.float32(time) * drift

        poses = yield from dense(in_place, _LOOKS)
        apart = [np.linalg.norm(poses - pose, axis=-1).max() for pose in poses[:-1]]
        return int(np.argmin(apart)) / _LOOKS

    def _begin(self) -> NDArray[np.float64]:
        """Bones where standing begins."""
        track = self.stand or self.walk
        return track.at(self._offsets[id(track)])

    def _gone(self) -> NDArray[np.float64]:
        """How far standing, or the walk whose pose is held for it, has gone where it begins [m]."""
        key = id(self.stand or self.walk)
        gone: NDArray[np.float64] = self._offsets.get(key, 0.0) * self._drifts.get(key, np.zeros(2))
        return gone

    def _sample(self, weights: Weights, time: float, held: float = 0.0) -> F32:
        """A blend of standing, walking and running, in place, and of how standing begins."""
        drift = held * self._gone()
        parts = [] if held <= 0.0 else [(held, self._begin())]
        for weight, track in zip(weights, (self.stand, self.walk, self.run), strict=True):
            if weight <= 0.0:
                continue
            if track is None:
                # without standing, the pose in which the feet pass each other is held
                parts.append((weight, self._begin()))
                drift = drift + weight * self._gone()
                continue
            part = (time + self._offsets.get(id(track), 0.0)) % 1.0
            drift = drift + weight * part * self._drifts.get(id(track), np.zeros(2))
            parts.append((weight, track.at(part)))
        # what moves by itself goes with the walk
        walked = (time + self._offsets.get(id(self.walk), 0.0)) % 1.0
        points = self.sampler.pose(blended(parts), self.walk.frame(walked))
        points[:, :2] -= drift.astype(np.float32)
        return points

    def played(self, track: Track, moves: bool = True) -> origins.Track:
        """An action as heroes play it."""
        found = self._held if id(track) in self._held else self._drifts
        x, y = found.get(id(track), np.zeros(2)).tolist()
        offset, action = self._offsets.get(id(track), 0.0) / track.rounds, track.action
        name, worlds = action.name if action else "", self._worlds(track)
        return origins.Track(
            name, offset, (x, y), moves, track.rounds, facings=track.facings, worlds=worlds
        )

    def _worlds(self, track: Track) -> tuple[tuple[float, ...], ...]:
        """Where the rig is as an object over an action; nothing where no action moves it."""
        tracks = [self.walk, self.run, self.stand, *(track for _name, track in self.clips)]
        places = [each.values[:, -1] for each in tracks if each is not None]
        if not is_moved(np.concatenate(places)):
            return ()
        return tuple(tuple(float(f"{value:.7g}") for value in row) for row in track.values[:, -1])

    def _clip(self, track: Track, plan: ClipPlan) -> Callable[[float], F32]:
        """Samples of an action that grows out of standing, and goes back to it."""
        stand, gone, drift = self._begin(), self._gone(), self._drifts[id(track)]

        def sample(part: float) -> F32:
            time, share = plan.at(part)
            pose = blended([(share, track.at(time)), (1.0 - share, stand)])
            points = self.sampler.pose(pose, track.frame(time))
            points[:, :2] -= (share * time * drift + (1.0 - share) * gone).astype(np.float32)
            return points

        return sample


def _pure_of(sample: Callable[[Track, float], F32], track: Track) -> Callable[[float], F32]:
    return lambda time: sample(track, time)


def armature_of(obj: bpy.types.Object) -> bpy.types.Object | None:
    """The armature that moves an object, or the only one below it; None for one itself."""
    if obj.type == "ARMATURE":
        return None
    moving = [m.object for m in obj.modifiers if isinstance(m, bpy.types.ArmatureModifier)]
    moving += copies.parents_of(obj)
    armatures = [other for other in moving if other is not None and other.type == "ARMATURE"]
    below = [other for other in obj.children_recursive if other.type == "ARMATURE"]
    return next(iter(armatures), below[0] if len(below) == 1 else None)


class Moving(Body):
    """Anything that moves over frames of the scene, without blends."""

    def __init__(self, sampler: Sampler, recipe: Recipe, obj: bpy.types.Object) -> None:
        """Check the frames."""
        super().__init__(sampler, recipe)
        rig = armature_of(obj)
        self._way = f"; for the actions of {rig.name!r}, select that armature" if rig else ""
        start, end = recipe.frames
        if end <= start:
            raise CharacterError(
                f"Frames {start} to {end} hold no motion: give the first and the last frame of one "
                "cycle, the last one above the first"
            )
        if recipe.stand or recipe.walk or recipe.run or recipe.clips:
            raise CharacterError(
                f"{sampler.name!r} is no armature, and so takes no actions: choose "
                "an armature, or leave Stand, Walk, Run and the clips out"
            )
        self.duration = (end - start) / sampler.fps

    def _at(self, time: float) -> F32:
        start, end = self.recipe.frames
        return self.sampler.at(start + time * (end - start))

    def first(self) -> F32:
        """The first frame."""
        return self._at(0.0)

    def add_all(self, rows: Rows) -> Steps[None]:
        """Add one gait, and one of its poses for standing."""
        try:
            cycle = yield from rows.measure(self._at, self.duration, self.plan.stride)
        except CharacterError as error:
            raise CharacterError(f"{self.sampler.name!r}: {error}{self._way}") from None
        self.planted = cycle.planted
        place = place_of(cycle)
        even = np.linspace(0.0, 1.0, len(cycle.way))
        held = float(np.interp(cycle.origin * cycle.stride, cycle.way, even))

        def in_place(time: float) -> F32:
            points = self._at(time)
            points[:, :2] -= (time * cycle.drift).astype(np.float32)
            return points

        yield from rows.add_stand(lambda time: in_place(held), self.duration, place)
        yield from rows.add_gait("move", in_place, cycle, cycle.speed)

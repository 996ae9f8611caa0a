"""Heroes: agents as real rigs, which show the poses of their characters by their own actions.

A hero is an empty whose keys are the way of the agent; below it an empty that shears the body on
slopes and where it leans, as the Crowd modifier does (keys of *Parent Inverse*, since nothing else
of an object can shear); and below that a copy of the rig, whose NLA strips play the actions that
the character was sampled from. Their time follows the phase, their influence the gait. The action
of the rig stays free for animation by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ....core.characters.holding import held_back
from ....core.characters.picking import SHEARS, stances
from ..copies import aims_of, copied, world_of
from ..keys import add_slot, fill, frames_of, new_action, rest_of, slot_of
from ..origins import Origins, RowOrigin
from .shapes import Shapes
from .spaces import without_shear

F64 = NDArray[np.float64]
TURN_MODE: Literal["QUATERNION"] = "QUATERNION"
"""How rigs are turned whose actions move them as objects, see `carried`."""
MARK = "steer_hero"
"""Custom property of all that was made for heroes; objects of one hero have its name."""
_WRAP = 1.0 / 64.0
"""Frames before a strip begins again at which it has its last key. Blender makes one key of two
that are nearer to each other than 0.01 frames."""
_WAY = (("location", 3), ("rotation_quaternion", 4))


@dataclass(frozen=True, eq=False)
class Motion:
    """What an agent did, over the frames in which it was there.

    Attributes:
        numbers: Frame numbers, shape (frame_count,).
        location: Places, shape (frame_count, 3).
        rotation: Unit quaternions (w, x, y, z) of a body that faces -Y, (frame_count, 4).
        scale: Sizes; 0 where the agent is dead, shape (frame_count,).
        shear: How the body stands at its agent, see `SHEARS`, shape (frame_count, 8).
        upright: Share of the slope by which the body is not tilted, 0 to 1.
        phase: Cycles of the gait, shape (frame_count,).
        row: Number of the gait or clip, shape (frame_count,).
    """

    numbers: F64
    location: F64
    rotation: F64
    scale: F64
    shear: F64
    upright: float
    phase: F64
    row: NDArray[np.int64]


def make_hero(
    name: str,
    motion: Motion,
    origins: Origins,
    collection: bpy.types.Collection,
    made: list[bpy.types.ID],
) -> bpy.types.Object:
    """Make a hero.

    Args:
        name: Name of the empty on top.
        motion: What the agent did.
        origins: What its character was made of.
        collection: Where the new objects go.
        made: List to which all that is new is added at once, for callers that clean up.

    Returns:
        The empty on top.
    """
    start = len(made)
    carrier, fit = (bpy.data.objects.new(label, None) for label in (name, f"{name} Slope"))
    for obj in (carrier, fit):
        made.append(obj)
        collection.objects.link(obj)
    carrier.empty_display_type, fit.empty_display_type = "ARROWS", "PLAIN_AXES"
    carrier.empty_display_size, fit.empty_display_size = 0.4, 0.1
    carrier.rotation_mode = "QUATERNION"
    fit.parent = carrier
    frames = float(motion.numbers[0]), float(motion.numbers[-1])
    action = new_action(name, MARK, name, frames)
    made.append(action)
    _key_way(carrier, action, motion)
    shapes = Shapes(origins)
    copies = _copy_rig(name, origins, fit, collection, made, shapes)
    play = _Play(motion, origins)
    _key_fit(fit, action, motion, play, origins)
    _add_strips(copies[origins.rig], play, origins, frames)
    shares = play.weights / play.weights.sum(axis=1, keepdims=True)
    shapes.key(copies, action, motion.numbers, shares, play.parts)
    for item in made[start:]:
        item[MARK] = name
    return carrier


def _key_way(carrier: bpy.types.Object, action: bpy.types.Action, motion: Motion) -> None:
    """Key where the agent is, where it heads, and how large it is."""
    curves = add_slot(action, carrier)
    values = [*motion.location.T, *motion.rotation.T]
    channels = [(path, i) for path, size in _WAY for i in range(size)]
    for (path, i), column in zip(channels, values, strict=True):
        fill(curves.new(path, index=i), _keys(motion.numbers, column), "LINEAR")
    carrier.location = motion.location[0].tolist()
    carrier.rotation_quaternion = motion.rotation[0].tolist()
    carrier.scale = [float(motion.scale[0])] * 3
    if np.ptp(motion.scale) > 0.0:
        kept = np.flatnonzero(np.diff(motion.scale, prepend=-1.0))
        for i in range(3):
            keys = _keys(motion.numbers[kept], motion.scale[kept])
            fill(curves.new("scale", index=i), keys, "CONSTANT")


def _keys(times: F64, values: F64) -> NDArray[np.float32]:
    return np.stack([times, values], axis=1).astype(np.float32)


def _copy_rig(
    name: str,
    origins: Origins,
    fit: bpy.types.Object,
    collection: bpy.types.Collection,
    made: list[bpy.types.ID],
    shapes: Shapes,
) -> dict[bpy.types.Object, bpy.types.Object]:
    """Copies of the rig, in its rest pose, and of what is seen of it, by the originals."""
    rig = origins.rig
    copies = copied(_members(origins), made, shapes.move)
    twins = set(copies.values())
    for obj, copy in copies.items():
        copy.name = f"{name} {'Rig' if obj == rig else obj.name}"
        collection.objects.link(copy)
        if copy.parent not in twins and not copy.constraints:
            # skin is deformed where it is, and does not go along with its rig
            copy.parent, copy.parent_type = fit, "OBJECT"
            copy.matrix_parent_inverse = world_of(obj) @ obj.matrix_basis.inverted_safe()
        if obj == rig or obj in origins.parts:
            copy.hide_viewport = copy.hide_render = False
    top = copies[rig]
    _forget_motion(top)
    top.parent, top.parent_type = fit, "OBJECT"
    top.matrix_parent_inverse = origins.above
    if any(track.worlds for track in origins.tracks):
        # blends of angles lie elsewhere than those of turns
        top.rotation_mode = TURN_MODE
    top.matrix_basis = origins.basis
    without_shear(twins)
    return copies


def _members(origins: Origins) -> Iterator[bpy.types.Object]:
    """The rig, what is seen of it, what is between, and empties that its bones follow."""
    rig, parts = origins.rig, origins.parts
    below = rig.children_recursive
    yield rig
    for obj in below:
        if obj.type != "MESH" or obj in parts or any(p in parts for p in obj.children_recursive):
            yield obj
    yield from (part for part in parts if part not in below)
    # those beside it would stay where they are while the hero walks away
    yield from (aim for aim in aims_of(rig) if aim.type == "EMPTY" and aim not in below)


def _forget_motion(rig: bpy.types.Object) -> None:
    """Take everything that moves it from a copy of an armature, but its drivers."""
    for constraint in list(rig.constraints):
        # what they do is in the place of the rig, or in its keys
        rig.constraints.remove(constraint)
    data = rig.animation_data
    if data is not None:
        data.action = None
        data.use_nla = True
        data.use_tweak_mode = False
        for track in list(data.nla_tracks):
            data.nla_tracks.remove(track)
    rig.delta_location = rig.delta_rotation_euler = (0.0, 0.0, 0.0)
    rig.delta_rotation_quaternion, rig.delta_scale = (1.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
    if rig.pose is not None:
        for bone, rest in zip(rig.pose.bones, rest_of(rig), strict=True):
            bone.matrix_basis = rest


class _Play:
    """What the tracks of a hero play, frame by frame.

    Attributes:
        rows: What the row of each frame was sampled from.
        weights: Share of each track at each frame, shape (frame_count, track_count).
        influence: Influence of each track at each frame, shape (frame_count, track_count).
        parts: Time of each track as a share of its duration, unwrapped, same shape.
        turns: How the pose of each frame is turned to the left [rad], shape (frame_count,).
        shifts: How it is moved after that [m], shape (frame_count, 3).
    """

    def __init__(self, motion: Motion, origins: Origins) -> None:
        """Follow the phase through the rows."""
        numbers = np.clip(motion.row, 0, len(origins.rows) - 1)
        self.numbers = motion.numbers
        self.rows: list[RowOrigin] = [origins.rows[number] for number in numbers]
        found = [at(row, phase) for row, phase in zip(self.rows, motion.phase, strict=True)]
        self.weights = np.array([weights for _, weights in found])
        pairs = list(zip(self.rows, motion.phase, strict=True))
        self.turns = np.array([_moved(row.turns, phase) for row, phase in pairs])
        self.shifts = np.array([_moved(row.shifts, phase) for row, phase in pairs])
        over = np.array([track.over for track in origins.tracks])
        # a strip replaces what is below it by its influence
        below = np.cumsum(self.weights, axis=1)
        self.influence = np.where(below > 0.0, self.weights / np.maximum(below, 1.0e-12), 0.0)
        self.influence[:, over] = self.weights[:, over]
        self.weights[:, over] = 0.0
        time = np.array([time for time, _ in found])
        # one row may begin right before the start of an action, and the next one right after it
        going = np.flatnonzero([not row.ends for row in self.rows])
        time[going[1:]] -= np.cumsum(np.round(np.diff(time[going])))
        self.parts = np.stack([track.part(time) for track in origins.tracks], axis=1)
        for track in np.flatnonzero(over & self.influence.any(axis=0)):
            # it stays where it ends until the next frame, from which on it has no influence
            shown = np.flatnonzero(self.influence[:, track])
            latest = np.searchsorted(shown, np.arange(len(time)), "right") - 1
            self.parts[:, track] = motion.phase[shown[np.maximum(latest, 0)]]
        for row in self.rows:
            if row.ends and row.times[-1] == 1.0:
                # its last pose is no first one
                track = int(np.atleast_2d(row.weights).any(axis=0).argmax())
                self.parts[:, track] = np.clip(self.parts[:, track], 0.0, 1.0)

    def wraps(self, track: int) -> F64:
        """Times at which a track begins again (rising) or goes back past its start.

        They are multiples of `2 * _WRAP` beside the frames, so that all keys are apart.
        """
        parts = self.parts[:, track]
        whole = np.floor(parts) if parts.max() > 1.0 or parts.min() < 0.0 else np.zeros(len(parts))
        found = np.flatnonzero(np.abs(np.diff(whole)) == 1.0)
        border = np.maximum(whole[found], whole[found + 1])
        share = (border - parts[found]) / (parts[found + 1] - parts[found])
        gap, grid = np.diff(self.numbers)[found], 2.0 * _WRAP
        away = np.clip(np.round(share * gap / grid) * grid, grid, gap - grid)
        result: F64 = self.numbers[found] + away
        return result


def at(row: RowOrigin, phase: float) -> tuple[float, F64]:
    """Unwrapped time of a phase, as a share of the duration of the row's actions, and their shares.

    Args:
        row: What the row was sampled from.
        phase: Cycles since the start.
    """
    count = len(row.times)
    steps = np.diff(row.times, append=row.times[0])
    # times rise, but from 1 to 0; from gait to gait of last steps they may fall a little
    times = row.times[0] + np.concatenate(([0.0], np.cumsum(steps + (steps <= -0.5))))
    cycles = np.floor(phase)
    place = (phase - cycles) * count
    if row.ends or count == 1:
        cycles, place = np.float64(0.0), min(place, count - 1.0)
    else:
        # first steps take longer, as each of their halves is a cycle
        times[-1] = row.times[0] + max(1.0, np.ceil(times[-2] - row.times[0]))
    if row.weights.ndim == 1:
        weights: F64 = row.weights
    else:
        before = min(int(place), count - 1)
        after, part = min(before + 1, count - 1), place - before
        weights = (1.0 - part) * row.weights[before] + part * row.weights[after]
    return float(cycles + np.interp(place, np.arange(count + 1), times)), weights


def _moved(moves: F64, phase: float) -> F64:
    """How the pose of a phase is turned or moved: between two poses it goes evenly."""
    count = len(moves)
    place = (phase - np.floor(phase)) * count
    before = int(place) % count
    part = place - int(place)
    moved: F64 = (1.0 - part) * moves[before] + part * moves[(before + 1) % count]
    return moved


def _key_fit(
    fit: bpy.types.Object,
    action: bpy.types.Action,
    motion: Motion,
    play: _Play,
    origins: Origins,
) -> None:
    """Key the matrix that shears the body, and puts the rig to where its poses stand."""
    used = np.flatnonzero(play.influence.any(axis=0))
    drifts = np.array([track.drift for track in origins.tracks])
    going = [track for track in used if drifts[track].any()]
    gone = {track: _sawtooth(play, int(track)) for track in going}
    times = np.unique(np.concatenate([motion.numbers, *(found for found, _ in gone.values())]))
    now = np.clip(np.searchsorted(motion.numbers, times, "right") - 1, 0, len(motion.numbers) - 1)
    shear = motion.shear.copy()
    # a rig is at its phase: there is no way to the nearest pose that its body makes up for
    shear[:, SHEARS.index("shift_ahead")] += [
        held_back(float(phase), row.stride, len(row.times))
        for phase, row in zip(motion.phase, play.rows, strict=True)
    ]
    slopes = [np.interp(times, motion.numbers, column) for column in shear.T]
    matrices = stances(np.stack(slopes, axis=1), motion.upright)
    weights = (play.weights / play.weights.sum(axis=1, keepdims=True))[now]
    away = np.tile(np.eye(4), (len(times), 1, 1))
    for track, (found, parts) in gone.items():
        part = np.interp(times, found, parts)
        away[:, :2, 3] -= (weights[:, track] * part)[:, None] * drifts[track]
    turn = np.interp(times, motion.numbers, play.turns)
    turns = np.tile(np.eye(4), (len(times), 1, 1))
    turns[:, 0, 0] = turns[:, 1, 1] = np.cos(turn)
    turns[:, 1, 0], turns[:, 0, 1] = np.sin(turn), -np.sin(turn)
    places = turns @ np.array([row.place for row in play.rows])[now]
    for axis, column in enumerate(play.shifts.T):
        places[:, axis, 3] += np.interp(times, motion.numbers, column)
    size = np.diag([origins.units] * 3 + [1.0])
    matrices = matrices @ places @ away @ size
    fit.matrix_parent_inverse = Matrix(matrices[0].tolist())
    curves = add_slot(action, fit)
    for row, column in np.ndindex(3, 4):
        values = matrices[:, row, column]
        kept = slice(None) if np.ptp(values) > 1.0e-7 else slice(1)
        curve = curves.new("matrix_parent_inverse", index=4 * column + row)
        fill(curve, _keys(times[kept], values[kept]), "LINEAR")


def _add_strips(
    rig: bpy.types.Object, play: _Play, origins: Origins, frames: tuple[float, float]
) -> None:
    """Give the rig a strip of each action that it plays at some time."""
    data = rig.animation_data_create()
    # a key by hand changes the motion, where REPLACE would hold its pose for all frames
    data.action_blend_type = "COMBINE"
    for number in np.flatnonzero(play.influence.any(axis=0)):
        track, action = origins.tracks[number], origins.actions[number]
        strips: Any = data.nla_tracks.new()
        strips.name = track.action
        strip = strips.strips.new(track.action, int(frames[0]), action)
        if strip.action_slot != (slot := slot_of(action, origins.rig)):
            # Blender crashes where the slot that it chose itself is set again
            strip.action_slot = slot
        first, last = frames_of(action, origins.rig)
        strip.action_frame_start, strip.action_frame_end = first, last
        strip.frame_start = frames[0]
        strip.frame_end = max(frames[1], frames[0] + 1.0)
        strip.extrapolation, strip.blend_type = "HOLD", "REPLACE"
        strip.use_auto_blend = False
        strip.use_animated_time = strip.use_animated_influence = True
        # strips of cyclic actions are so by themselves
        strip.use_animated_time_cyclic = False
        times, parts = _sawtooth(play, int(number))
        fill(_curve(strip, "strip_time"), _keys(times, first + parts * (last - first)), "LINEAR")
        influence = play.influence[:, number]
        kept = np.flatnonzero(np.diff(influence, prepend=-1.0))
        fill(_curve(strip, "influence"), _keys(play.numbers[kept], influence[kept]), "CONSTANT")


def _sawtooth(play: _Play, track: int) -> tuple[F64, F64]:
    """Times and shares of an action's duration, wrapped: it jumps back where a cycle ends.

    Blender's own *Cyclic Strip Time* leaves out the first frame of the action.
    """
    parts, wraps = play.parts[:, track], play.wraps(track)
    if parts.max() <= 1.0 and parts.min() >= 0.0:
        return play.numbers, parts
    rising = np.diff(parts)[np.searchsorted(play.numbers, wraps, "left") - 1] > 0.0
    times = np.concatenate([play.numbers, wraps - _WRAP, wraps])
    values = np.concatenate([parts % 1.0, np.where(rising, 1.0, 0.0), np.where(rising, 0.0, 1.0)])
    order = np.argsort(times, kind="stable")
    return times[order], values[order]


def _curve(strip: Any, path: str) -> Any:
    """A curve of a strip, without keys; Blender makes them with the switches."""
    curve = strip.fcurves.find(path)
    while len(curve.keyframe_points):
        curve.keyframe_points.remove(curve.keyframe_points[0])
    return curve

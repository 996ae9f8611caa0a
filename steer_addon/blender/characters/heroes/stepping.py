"""Actions by which heroes step round: hardly any rig has one, so it is made of what poses have.

A pose of turning on the spot is one of a walk whose legs are turned about the body, the more the
lower they are. So the two ends of each bone of a leg are put where what is there goes. Strips of
these actions lie over those of standing and walking, which all other bones play.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector
from numpy.typing import NDArray

from ....core.characters.contacts import turned
from ....core.characters.figures.rounds import NAMES
from ....core.characters.legs import share_of_turn
from ..keys import add_curves, new_action, new_slot
from ..origins import Origins, RowOrigin, Track
from ..sampling import Sampler, blended, matrix_of
from .carried import put_back
from .turns import turns_as

F64 = NDArray[np.float64]
_NEAR = 0.002
"""How far bones may be from where keys put them [m, rad]: what constraints move is further."""


def stepping_round(
    origins: Origins, scene: bpy.types.Scene, mark: str, made: list[bpy.types.ID]
) -> Origins:
    """What a character was made of, with an action for each of its rows that steps round.

    It stays as it is where constraints or drivers move the legs, against keys of their bones.

    Args:
        origins: What it was made of.
        scene: The scene of the hero.
        mark: Custom property of the actions.
        made: List to which they are added.
    """
    rows = [number for number, row in enumerate(origins.rows) if row.legs]
    names = [bone.name for bone in origins.rig.data.bones]
    if not rows or len(origins.legs) != 2 or not set(origins.legs) <= set(names):
        return origins
    found: list[tuple[int, Any]] = []
    with Sampler(scene, origins.rig, ()) as sampler:
        body = _Body(sampler, origins)
        for number in rows:
            basis = body.stepped(origins.rows[number])
            if basis is None:
                return origins
            found.append((number, basis))
    for (number, basis), name in zip(found, NAMES, strict=False):
        action = _action(origins.rig, basis, f"{origins.rig.name} {name}", mark)
        made.append(action)
        origins = _with_action(origins, number, action)
    return origins


def _with_action(origins: Origins, number: int, action: bpy.types.Action) -> Origins:
    """The same with an action that lies over all others in a row."""
    rows = []
    for other, row in enumerate(origins.rows):
        last = np.full((*row.weights.shape[:-1], 1), float(other == number))
        rows.append(replace(row, weights=np.concatenate([row.weights, last], axis=-1)))
    tracks = (*origins.tracks, Track(action.name, over=True))
    return replace(origins, tracks=tracks, actions=(*origins.actions, action), rows=tuple(rows))


class _Body:
    """A rig that shows the poses that rows of turning were made of."""

    def __init__(self, sampler: Sampler, origins: Origins) -> None:
        """Read its actions."""
        self._sampler, self._origins = sampler, origins
        used = np.any([row.weights.any(axis=0) for row in origins.rows if row.legs], axis=0)
        numbers = np.flatnonzero(used)
        read = sampler.read([origins.actions[number] for number in numbers])
        for number, track in zip(numbers, read, strict=True):
            put_back(track, origins, number)
        self._tracks = dict(zip(numbers, read, strict=True))
        self._bones: Any = sampler.rig.data.bones
        self._number = {bone.name: number for number, bone in enumerate(self._bones)}
        self._ends = [max(b.children, key=_below, default=None) for b in self._bones]

    def stepped(self, row: RowOrigin) -> dict[str, list[Matrix]] | None:
        """How bones of the legs have to be moved in each pose of a row, by their names.

        Returns:
            Matrices as keys have them, or none where the bones do not follow keys.
        """
        tops = [self._bones[name] for name in self._origins.legs]
        widest = {int(np.abs(leg.turns).argmax()) for leg in row.legs}
        result: dict[str, list[Matrix]] = {}
        heights: F64 = np.empty(0)
        for k in range(len(row.times)):
            values, place = self._pose(row, k)
            bones = self._sampler.bones(values, 0.0)
            # in the first pose the body stands
            heights = self._heights(bones, place) if k == 0 else heights
            found: list[tuple[str, Matrix, F64]] = []
            for leg, top in zip(row.legs, tops, strict=True):
                shares = share_of_turn(heights, leg.low, leg.top)
                found += self._put(top, bones, place, leg.turns[k] * shares, leg.lifts[k] * shares)
            for name, own, _whole in found:
                result.setdefault(name, []).append(own)
            if k in widest and not self._follow(found, values, place):
                return None
        return result

    def _pose(self, row: RowOrigin, k: int) -> tuple[F64, F64]:
        """Bones of a pose as it was sampled, and the matrix that takes their space to its own."""
        away, size = np.eye(4), np.diag([self._origins.units] * 3 + [1.0])
        parts = []
        for number, track in self._tracks.items():
            played, weight = self._origins.tracks[number], row.weights[k, number]
            part = played.part(row.times[k]) % 1.0
            parts.append((weight, track.at(part)))
            away[:2, 3] -= weight * part * np.array(played.drift)
        turn = np.array(Matrix.Rotation(row.turns[k], 4, "Z"))
        turn[:3, 3] = row.shifts[k]
        values = blended(parts)
        return values, turn @ row.place @ away @ size @ np.array(matrix_of(values[-1]))

    def _heights(self, bones: F64, place: F64) -> F64:
        """Heights by which both ends of bones are turned [m], shape (bone_count, 2)."""
        heights = self._lines(bones, place)[..., 2]
        # what stands on the ground hangs from the last bone of a leg, and turns all the way
        last = [end is None for end in self._ends]
        heights[last] = heights[last].min(axis=1, keepdims=True)
        return heights

    def _lines(self, bones: F64, place: F64) -> F64:
        """Heads of bones, and of the bones that follow, or their tails: (bone_count, 2, 3)."""
        lines = np.ones((len(bones), 2, 4))
        lines[:, 0] = bones[..., 3]
        for number, (bone, child) in enumerate(zip(self._bones, self._ends, strict=True)):
            tip = bones[number] @ [0.0, bone.length, 0.0, 1.0]
            lines[number, 1] = tip if child is None else lines[self._number[child.name], 0]
        return (lines @ place.T)[..., :3]

    def _put(
        self, top: Any, bones: F64, place: F64, turns: F64, lifts: F64
    ) -> list[tuple[str, Matrix, F64]]:
        """Bones of a leg whose ends are turned and lifted.

        Args:
            top: The bone from which it hangs.
            bones: Matrices of all bones.
            place: The matrix that takes their space to that of the pose.
            turns: How far both ends of each bone are turned [rad], shape (bone_count, 2).
            lifts: How far they are lifted [m], the same shape.

        Returns:
            Of each bone its name, its matrix as keys have it, and that in the space of the rig.
        """
        lines, back = self._lines(bones, place), np.linalg.inv(place)
        goals = turned(lines, turns)
        goals[..., 2] += lifts
        moves = self._moves(top, lines, goals, turns.mean(axis=1))
        result, wholes = [], bones.copy()
        for bone in (top, *top.children_recursive):
            n, parent = self._number[bone.name], bone.parent
            wholes[n] = back @ moves[bone.name] @ place @ bones[n]
            above = {} if parent is None else {
                "parent_matrix": Matrix(wholes[self._number[parent.name]]),
                "parent_matrix_local": parent.matrix_local,
            }  # fmt: skip
            whole, rest = Matrix(wholes[n]), bone.matrix_local
            own = bone.convert_local_to_pose(whole, rest, invert=True, **above)
            result.append((bone.name, own, wholes[n]))
        return result

    def _moves(self, top: Any, lines: F64, goals: F64, turns: F64) -> dict[str, F64]:
        """Matrices that move each bone of a leg to its goal, as near as rigid bones get."""
        moves = dict[str, F64]()
        for bone in (top, *top.children_recursive):
            n, goal = self._number[bone.name], goals[self._number[bone.name]]
            if bone.use_connect:
                # it begins where the one above ends
                before = moves.get(bone.parent.name, np.eye(4))
                start = before[:3, :3] @ lines[n, 0] + before[:3, 3]
                way = (goal[1] - start) / max(float(np.linalg.norm(goal[1] - start)), 1.0e-9)
                goal = np.array([start, start + way * np.linalg.norm(lines[n, 1] - lines[n, 0])])
            moves[bone.name] = _moved(lines[n], goal, float(turns[n]))
        if not top.use_connect:
            last = top
            while (after := self._ends[self._number[last.name]]) is not None:
                last = after
            n, move = self._number[last.name], moves[last.name]
            beside = goals[n].mean(axis=0) - move[:3, :3] @ lines[n].mean(axis=0) - move[:3, 3]
            # feet are where they belong, whatever the bones above them make of it
            for move in moves.values():
                move[:3, 3] += beside
        return moves

    def _follow(self, found: list[tuple[str, Matrix, F64]], values: F64, place: F64) -> bool:
        """Whether bones are where keys put them; constraints and drivers move them elsewhere."""
        keyed = values.copy()
        for name, own, _whole in found:
            location, rotation, scale = own.decompose()
            keyed[self._number[name]] = *location, *rotation, *scale
        numbers = [self._number[name] for name, _own, _whole in found]
        there, wanted = self._sampler.bones(keyed, 0.0)[numbers], [whole for *_, whole in found]
        beside = (place @ there - place @ wanted)[:, :3, 3]
        turned_by = (np.linalg.inv(wanted) @ there)[:, :3, :3] - np.eye(3)
        return bool(max(np.abs(beside).max(), np.abs(turned_by).max()) < _NEAR)


def _below(bone: Any) -> int:
    return len(bone.children_recursive)


def _moved(line: F64, goal: F64, turn: float) -> F64:
    """The matrix that takes a line to another one, turned to the left on the way [rad]."""
    turns = Matrix.Rotation(turn, 4, "Z")
    way = turns @ Vector(line[1] - line[0])
    swing = way.rotation_difference(Vector(goal[1] - goal[0])).to_matrix().to_4x4()
    # rigid bones are longer or shorter than their goals by as much at both ends
    there, back = Matrix.Translation(goal.mean(axis=0)), Matrix.Translation(-line.mean(axis=0))
    return np.array(there @ swing @ turns @ back)


def _action(
    rig: bpy.types.Object, bones: dict[str, list[Matrix]], name: str, mark: str
) -> bpy.types.Action:
    """An action with a key of each pose at each frame, which ends as it begins."""
    count = len(next(iter(bones.values())))
    action = new_action(name, mark, rig.name, (1.0, 1.0 + count))
    action.use_cyclic = True
    _slot, curves = new_slot(action, name)
    poses: Any = rig.pose and rig.pose.bones
    times = 1.0 + np.arange(count + 1)
    for bone_name, found in bones.items():
        bone = poses[bone_name]
        parts = [matrix.decompose() for matrix in (*found, found[0])]
        path, places = bone.path_from_id(), np.array([place for place, _turn, _size in parts])
        add_curves(curves, f"{path}.location", times, places)
        turn, values = turns_as(bone.rotation_mode, [turn for _place, turn, _size in parts])
        add_curves(curves, f"{path}.{turn}", times, values)
    return action

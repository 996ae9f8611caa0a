"""Feet of a body: the bones or objects that its vertices belong to, and what they do."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.characters.legs import SHORT
from ...core.errors import CharacterError, short
from .sampling import Sampler, Track, matrix_of

_HEM = 0.1
"""Share of what stands on the ground up to which a bone is no foot, but carries a hem."""
_TIMES = 24
"""Number of times at which the feet of an action are looked at."""
_STILL, _RISES, _RETURNS, _FASTER = 0.03, 0.01, 0.05, 1.4
"""Share of the height by which feet that stand move at most, by which those that step rise at least
and by which they end elsewhere at most; and how many times as fast as a walk a run is at least."""
_AHEAD = 0.7
"""Cosine of the angle between way and toes from which on a body goes ahead, not back or aside."""
_OFFERED = 12
"""Number of names that messages offer."""
_NEAR = 0.5
"""Likeness, of 0 to 1, from which on a name may be what was meant."""


class Owners:
    """Which bones or objects the vertices of a body belong to."""

    def __init__(self, sampler: Sampler) -> None:
        """Remember the body."""
        self._sampler = sampler

    @cached_property
    def _names(self) -> list[str]:
        """Name of the bone or, without one, of the object that each vertex belongs to.

        They are read at the first use, as all vertices are asked one by one.
        """
        found: list[str] = []
        for twin, name in zip(self._sampler.twins, self._sampler.names, strict=True):
            mesh: Any = twin.evaluated_get(self._sampler.depsgraph).data
            if twin.parent_type == "BONE" and twin.parent_bone:
                found += [twin.parent_bone] * len(mesh.vertices)
            else:
                found += _strongest(twin, mesh, name)
        return found

    def mask_of(self, names: tuple[str, ...]) -> NDArray[np.bool_] | None:
        """Which vertices belong to bones or objects, shape (vertex_count,); None without names.

        Raises:
            CharacterError: A name is unknown, or nothing belongs to it.
        """
        if not names:
            return None
        wanted = set[str]()
        for name in names:
            below = self._below(name)
            if below.isdisjoint(self._names):
                known = self._known(name)
                raise CharacterError(
                    f"No vertex belongs to {short(name)}, which is given as Feet: give bones that "
                    f"deform, or objects: {known}; or leave Feet empty to have them found"
                )
            wanted |= below
        return self._mask(wanted)

    def mask_below(self, name: str) -> NDArray[np.bool_]:
        """Which vertices belong to a bone and those below it, shape (vertex_count,)."""
        return self._mask(self._below(name))

    def names_of(self, vertices: NDArray[np.intp]) -> tuple[str, ...]:
        """The bones or objects that vertices belong to, most of them first."""
        return tuple(name for name, _ in self._counted(vertices).most_common() if name)

    def legs_of(self, planted: NDArray[np.intp]) -> dict[str, NDArray[np.bool_]]:
        """Which vertices belong to the legs of either side, each of shape (vertex_count,).

        Args:
            planted: Numbers of the vertices that stand on the ground at some time.

        Returns:
            Both sides, by the bones from which they hang; none where their bones are not known.
        """
        bones = self._sampler.rig.data.bones
        count = self._counted(planted)
        used = [name for name, many in count.items() if many > _HEM * len(planted)]
        feet = [bones[name] for name in used if name in bones]
        if len(feet) < len(used) or not feet:
            return {}
        above = [{bone, *bone.parent_recursive} for bone in feet]
        shared = set.intersection(*above)
        below = [own - shared for own in above]
        if not all(below):
            return {}
        # the uppermost bones below what all feet hang from
        tops = {max(own, key=lambda bone: len(bone.children_recursive)) for own in below}
        if len(tops) != 2:
            return {}
        return {name: self.mask_below(name) for name in sorted(str(b.name) for b in tops)}

    def _mask(self, names: set[str]) -> NDArray[np.bool_]:
        return np.array([owner in names for owner in self._names], np.bool_)

    def _counted(self, vertices: NDArray[np.intp]) -> Counter[str]:
        return Counter(self._names[number] for number in vertices.tolist())

    def _known(self, wanted: str) -> str:
        found = [name for name, _ in Counter(self._names).most_common() if name]
        return _near_first(wanted, found)

    def _below(self, name: str) -> set[str]:
        """A name, and those of all bones below it: toes move with their foot."""
        bones = self._sampler.rig.data.bones if self._sampler.is_posed else {}
        below = bones[name].children_recursive if name in bones else ()
        return {name, *(bone.name for bone in below)}


def _near_first(wanted: str, names: list[str]) -> str:
    """Names as a text, those like the wanted one first; of many only the first ones."""
    by_text = {name.casefold(): name for name in reversed(names)}
    near = difflib.get_close_matches(wanted.casefold(), by_text, _OFFERED, _NEAR)
    ordered = dict.fromkeys([*map(by_text.__getitem__, near), *names])
    more = f" and {len(ordered) - _OFFERED} more" if len(ordered) > _OFFERED else ""
    return ", ".join(map(repr, list(ordered)[:_OFFERED])) + more


def _strongest(twin: bpy.types.Object, mesh: bpy.types.Mesh, name: str) -> list[str]:
    groups = [group.name for group in twin.vertex_groups]
    bones = {bone.name for bone in twin.find_armature().data.bones} if twin.find_armature() else ()
    named = [group in bones for group in groups]
    result = []
    for vertex in mesh.vertices:
        best, most = name, 0.0
        for entry in vertex.groups:
            if entry.weight > most and named[entry.group]:
                best, most = groups[entry.group], entry.weight
        result.append(best)
    return result


def roles_by_motion(
    scene: bpy.types.Scene,
    rig: bpy.types.Object,
    actions: Sequence[bpy.types.Action],
    names: Sequence[str],
) -> dict[str, str]:
    """Names of the actions that show standing, walking and running, by the motion of two feet.

    The calmest one whose feet stay is standing; of those whose feet step in turn, and ahead if any
    do, the slowest is the walk, and the fastest is the run where it is much faster.

    Args:
        scene: The scene of the rig.
        rig: The armature.
        actions: Actions of it.
        names: Names of the bones of its two feet.
    """
    stand: dict[str, float] = {}
    steps: dict[str, float] = {}
    ahead: dict[str, float] = {}
    with Sampler(scene, rig, ()) as sampler:
        for action, track in zip(actions, sampler.read(actions), strict=True):
            if track.duration <= 0.0:
                continue
            ways = _ways(sampler, track)
            feet = ways[:, [rig.data.bones.find(name) for name in names]]
            way = _way(feet)
            swings, rises = np.ptp(feet[..., :2], axis=0).max(axis=1), np.ptp(feet[..., 2], axis=0)
            left, right = (feet[..., :2] - feet[..., :2].mean(axis=0)).transpose(1, 0, 2)
            if max(swings.max(), rises.max()) < _STILL:
                stand[action.name] = float(np.ptp(ways, axis=0).max())
            elif (
                rises.min() > _RISES
                and (left * right).sum() < 0.0
                and np.abs(feet[-1] - feet[0]).max() < _RETURNS
                and np.hypot(*way) > SHORT
            ):
                steps[action.name] = float(swings.sum()) / track.duration
                facing = _facing(ways, rig, names)
                if facing @ way > _AHEAD * np.hypot(*facing) * np.hypot(*way):
                    ahead[action.name] = steps[action.name]
    steps = ahead or steps
    found: dict[str, str] = {}
    if stand:
        found["stand"] = min(stand, key=lambda name: stand[name])
    if steps:
        found["walk"] = min(steps, key=lambda name: steps[name])
        fastest = max(steps, key=lambda name: steps[name])
        if steps[fastest] > _FASTER * steps[found["walk"]]:
            found["run"] = fastest
    return found


def _way(feet: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far the body goes over the foot that is lower, x and y, by places of both feet."""
    lower = (feet[1:, :, 2] + feet[:-1, :, 2]).argmin(axis=1)
    moves = np.diff(feet[..., :2], axis=0)
    result: NDArray[np.float64] = -moves[np.arange(len(moves)), lower].sum(axis=0)
    return result


def _facing(
    ways: NDArray[np.float64], rig: bpy.types.Object, names: Sequence[str]
) -> NDArray[np.float64]:
    """Where toes lie from their feet, x and y; 0 without toes.

    Args:
        ways: Where all bones are, as of `_ways`.
        rig: The armature.
        names: Names of the bones of its feet.
    """
    result = np.zeros(2)
    for foot in (rig.data.bones[name] for name in names):
        toes = [rig.data.bones.find(bone.name) for bone in foot.children_recursive]
        away = (ways[:, toes] - ways[:, [rig.data.bones.find(foot.name)]])[..., :2].mean(axis=0)
        if len(away):
            # of a heel and toes the toes are farther away
            result += away[np.hypot(*away.T).argmax()]
    return result


def _ways(sampler: Sampler, track: Track) -> NDArray[np.float64]:
    """Where bones of an action in place are, in heights of the rig, shape (times, bones, 3)."""
    times = np.linspace(0.0, 1.0, _TIMES + 1)
    found = []
    for time in times:
        values = track.at(float(time))
        bones = sampler.bones(values, track.frame(float(time)))
        found.append((np.array(matrix_of(values[-1])) @ bones)[:, :3, 3])
    heads = np.array(found)
    drift = (heads[-1] - heads[0]).mean(axis=0) * [1.0, 1.0, 0.0]
    heads -= times[:, None, None] * drift
    result: NDArray[np.float64] = heads / max(float(np.ptp(heads[0, :, 2])), 1.0e-9)
    return result

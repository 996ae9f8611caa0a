"""What a character was made of: a rig, its actions, and how each row of poses was taken from them.

It is kept as text in a custom property of the library object: names only, since a pointer would let
Blender evaluate the rig at every frame for each crowd that shows the character.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...core.characters.aligning import Facing
from ...core.characters.legs import Leg
from ...core.characters.rows import Origin, Place, Rows
from ...core.errors import CharacterError
from . import library, rigs
from .sampling import Sampler, matrix_of
from .sampling import Track as SampledTrack

KEY = "steer_origin"
"""Custom property of library objects."""
_VERSION = 1
_WORLD = 10
"""Numbers of a location, rotation and scale."""


@dataclass(frozen=True)
class Track:
    """An action of the rig.

    Attributes:
        action: Its name.
        offset: Share of its duration at which time 0 of a row lies.
        drift: Way that it goes by root motion in a cycle [m], x and y.
        moves: Whether it goes on; otherwise the pose at the offset is held.
        rounds: How many cycles of a row it has.
        over: Whether it lies over all others, with bones that only its rows move, at their phase.
        facings: How it is turned and moved, one after another, in units of the scene.
        worlds: Location, rotation and scale of the rig at even times, where it moves as an object
            by its own keys or by what it hangs from; empty where it stays.
    """

    action: str
    offset: float = 0.0
    drift: tuple[float, float] = (0.0, 0.0)
    moves: bool = True
    rounds: int = 1
    over: bool = False
    facings: tuple[Facing, ...] = ()
    worlds: tuple[tuple[float, ...], ...] = ()

    def part(self, time: Any) -> Any:
        """Share of the action, unwrapped, at a time of a row; a number or an array."""
        return self.offset + self.moves * time / self.rounds


@dataclass(frozen=True)
class RowOrigin:
    """What the poses of a row were sampled from.

    Attributes:
        weights: Share of each track, shape (track_count,); of clips, first and last steps
            (pose_count, track_count).
        times: Time of each pose as a share of the duration, shape (pose_count,).
        place: What puts the rig where the poses stand, a matrix of shape (4, 4).
        ends: Whether it is a clip that does not begin again at its end.
        stride: Way of one cycle [m]; 0 where it goes on by time.
        shifts: How each pose is moved after that, so that planted feet stay [m], shape
            (pose_count, 3); a single one for all poses has the shape (1, 3).
        turns: How each pose is turned to the left before it is moved [rad], shape (pose_count,) or
            (1,).
        legs: How both legs are turned after that; none where they are not.
    """

    weights: NDArray[np.float64]
    times: NDArray[np.float64]
    place: NDArray[np.float64]
    ends: bool = False
    stride: float = 0.0
    shifts: NDArray[np.float64] = field(default_factory=lambda: np.zeros((1, 3)))
    turns: NDArray[np.float64] = field(default_factory=lambda: np.zeros(1))
    legs: tuple[Leg, ...] = ()


@dataclass(frozen=True)
class Origins:
    """What a character was made of.

    Attributes:
        rig: The armature.
        parts: Objects that are seen.
        tracks: Its actions, those below first.
        actions: The same as data-blocks.
        rows: What each row was sampled from.
        above: Matrix of what the armature hangs from.
        basis: Matrix of the armature itself, below that.
        units: Meters of one unit.
        legs: Names of the bones from which both legs hang, in the order of `RowOrigin.legs`.
    """

    rig: bpy.types.Object
    parts: tuple[bpy.types.Object, ...]
    tracks: tuple[Track, ...]
    actions: tuple[bpy.types.Action, ...]
    rows: tuple[RowOrigin, ...]
    above: Matrix
    basis: Matrix
    units: float = 1.0
    legs: tuple[str, ...] = ()


def place_matrix(place: Place) -> NDArray[np.float64]:
    """The matrix of a place, shape (4, 4)."""
    turn = Matrix.Rotation(place.angle, 4, "Z")
    return np.array(turn @ Matrix.Translation((-place.center[0], -place.center[1], -place.ground)))


class Posed(Protocol):
    """What samples the actions of a rig: tracks of standing, walking and running, and of clips."""

    sampler: Sampler
    stand: SampledTrack | None
    walk: SampledTrack
    run: SampledTrack | None
    clips: list[tuple[str, SampledTrack]]
    legs: tuple[str, ...]

    def played(self, track: SampledTrack, moves: bool = True) -> Track: ...  # noqa: D102


def keep(
    obj: bpy.types.Object,
    rig: bpy.types.Object,
    parts: Sequence[bpy.types.Object],
    rows: Rows,
    body: Posed,
) -> None:
    """Keep the actions that the rows of a character were sampled from with its library object.

    Args:
        obj: The library object.
        rig: The armature.
        parts: Objects that are seen.
        rows: Its rows.
        body: What sampled them.
    """
    played = [body.played(body.stand or body.walk, moves=body.stand is not None)]
    played += [body.played(track) for track in (body.walk, body.run) if track is not None]
    gaits = len(played)
    if rows.clip_origins or any(origin.shares for origin in rows.gait_origins):
        # what first steps and clips grow out of is the first pose of standing
        played.append(body.played(body.stand or body.walk, moves=False))
    first = len(played)
    played += [body.played(track) for _, track in body.clips]
    shares: list[Any] = []
    for number, origin in enumerate(rows.origins):
        given = np.array(origin.weights)
        weights = np.zeros((*given.shape[:-1], len(played)))
        weights[..., :gaits] = given[..., :gaits]
        if not weights.any():
            weights[first + number - len(rows.gaits)] = 1.0
        if origin.shares:
            still = np.eye(len(played))[gaits]
            weights = still + np.array(origin.shares)[:, None] * (weights - still)
        shares.append(weights.tolist())
    world = matrix_of(body.walk.values[0][-1])
    found = list(zip(shares, rows.origins, strict=True))
    write(obj, rig, parts, played, found, world, body.sampler.units, body.legs)


def write(
    obj: bpy.types.Object,
    rig: bpy.types.Object,
    parts: Sequence[bpy.types.Object],
    tracks: Sequence[Track],
    rows: Sequence[tuple[Any, Origin]],
    world: Matrix,
    units: float,
    legs: Sequence[str],
) -> None:
    """Keep what a character was made of.

    Args:
        obj: The library object.
        rig: The armature.
        parts: Objects that are seen.
        tracks: Its actions, those below first.
        rows: Of each row the share of each track, and what it was sampled from.
        world: Matrix of the armature in the samples.
        units: Meters of one unit.
        legs: Names of the bones from which both legs hang.
    """
    basis = world if rig.parent is None else rig.matrix_basis
    above = world @ basis.inverted_safe()
    obj[KEY] = json.dumps(
        {
            "version": _VERSION,
            "rig": rig.name,
            "parts": [part.name for part in parts],
            "tracks": [asdict(track) for track in tracks],
            "rows": [
                {
                    "weights": weights,
                    "times": [round(time, 6) for time in origin.times],
                    "angle": origin.place.angle,
                    "center": list(origin.place.center),
                    "ground": origin.place.ground,
                    "turns": [round(turn, 6) for turn in origin.turns],
                    "shifts": [[round(part, 5) for part in one] for one in origin.shifts],
                    "legs": [_said(leg) for leg in origin.legs],
                }
                for weights, origin in rows
            ],
            "above": [list(row) for row in above],
            "basis": [list(row) for row in basis],
            "units": units,
            "legs": list(legs),
        }
    )


def rename(obj: bpy.types.Object, objects: Mapping[str, str], actions: Mapping[str, str]) -> None:
    """Keep new names of what a character was made of; what is no text of this Steer stays.

    Args:
        obj: The character.
        objects: New names of rig and parts, by those of before.
        actions: The same of actions.
    """
    with suppress(AttributeError, KeyError, TypeError, ValueError, RecursionError):
        data = json.loads(obj[KEY])
        data["rig"], *data["parts"] = (objects.get(n, n) for n in (data["rig"], *data["parts"]))
        for track in data["tracks"]:
            track["action"] = actions.get(track["action"], track["action"])
        obj[KEY] = json.dumps(data)


def read(obj: bpy.types.Object) -> Origins:
    """What a character was made of.

    Raises:
        CharacterError: The rig or an action is gone, the character was made of something else or
            by an older Steer, or its custom property is not what Steer writes.
    """
    if KEY not in obj:
        raise CharacterError(
            f"Character {obj.name!r} knows no rig: make it again from an armature "
            "(Object > Crowd > Make Character)"
        )
    try:
        data = json.loads(obj[KEY])
        names = [str(data["rig"]), *map(str, data["parts"])]
        tracks = tuple(_track(entry) for entry in data["tracks"])
        rows = tuple(_row(entry, len(tracks)) for entry in data["rows"])
        above, basis = _matrix(data["above"]), _matrix(data["basis"])
        units = _finite(data["units"])
        # older characters have none
        legs = tuple(map(str, data.get("legs") or ()))
        if data["version"] != _VERSION or units <= 0.0:
            raise ValueError("version")
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise CharacterError(
            f"Character {obj.name!r} is damaged: its custom property {KEY!r} is not one of this "
            "Steer; make the character again"
        ) from None
    gaits, clips = library.rows_of(obj)
    if [len(row.times) for row in rows] != [row.count for row in (*gaits, *clips)]:
        raise CharacterError(
            f"Character {obj.name!r} has other poses than its rig: make the character again"
        )
    rows = tuple(
        replace(row, ends=not entry.loops, stride=entry.stride)
        for row, entry in zip(rows, (*gaits, *clips), strict=True)
    )
    rig = library.rig_of(obj, names[0]) or library.require_object(obj, names[0])
    parts = [library.require_object(obj, name) for name in names[1:]]
    if rig.type != "ARMATURE":
        raise CharacterError(
            f"{rig.name!r}, of which character {obj.name!r} was made, is no armature any more: "
            "make the character again"
        )
    strange = sorted(set(parts) - set(rigs.meshes(rig)), key=parts.index)
    if strange:
        raise CharacterError(
            f"{strange[0].name!r} of character {obj.name!r} does not hang from {rig.name!r}, which "
            "is another rig of that name: give that one another name, and this name to the rig of "
            "the character"
        )
    actions = tuple(_action(obj, rig, track.action) for track in tracks)
    return Origins(rig, tuple(parts), tracks, actions, rows, above, basis, units, legs)


def _action(obj: bpy.types.Object, rig: bpy.types.Object, name: str) -> bpy.types.Action:
    found = rigs.action_named(rig, name)
    if found is None:
        raise CharacterError(
            f"Action {name!r} of character {obj.name!r} is not in this file: bring it back (File > "
            "Append), or make the character again from other actions"
        )
    return found


def _said(leg: Leg) -> list[Any]:
    """A leg as it is kept."""
    moves = ([round(part, 5) for part in parts] for parts in (leg.turns, leg.lifts))
    return [leg.low, leg.top, *moves]


def _track(data: Mapping[str, Any]) -> Track:
    x, y = map(_finite, data["drift"])
    # older characters have none of these
    facings = tuple(map(_facing, data.get("facings") or ()))
    rounds = max(int(data.get("rounds") or 1), 1)
    offset, moves = _finite(data["offset"]), bool(data["moves"])
    worlds = tuple(tuple(map(_finite, row)) for row in data.get("worlds") or ())
    if any(len(row) != _WORLD for row in worlds):
        raise ValueError("worlds")
    return Track(str(data["action"]), offset, (x, y), moves, rounds, facings=facings, worlds=worlds)


def _finite(value: Any) -> float:
    """A number that is one."""
    result = float(value)
    if not np.isfinite(result):
        raise ValueError("not finite")
    return result


def _matrix(rows: Any) -> Matrix:
    values = np.array(rows, np.float64)
    if values.shape != (4, 4) or not np.isfinite(values).all():
        raise ValueError("matrix")
    return Matrix(values.tolist())


def _facing(data: Mapping[str, Any]) -> Facing:
    (x, y), (u, v) = (map(_finite, data[name]) for name in ("center", "place"))
    return Facing(_finite(data["angle"]), _finite(data["spin"]), (x, y), (u, v))


def _row(data: Mapping[str, Any], track_count: int) -> RowOrigin:
    weights = np.array(data["weights"], np.float64)
    times = np.array(data["times"], np.float64)
    x, y = map(float, data["center"])
    place = place_matrix(Place(float(data["angle"]), (x, y), float(data["ground"])))
    # older characters have none
    shifts = np.array(data.get("shifts") or [[0.0, 0.0, 0.0]], np.float64)
    turns = np.array(data.get("turns") or [0.0], np.float64)
    finite = all(np.isfinite(values).all() for values in (weights, times, place, shifts, turns))
    shapes = (track_count,), (len(times), track_count)
    if times.ndim != 1 or weights.shape not in shapes:
        raise ValueError("shapes")
    if not finite or not weights.any(axis=-1).all():
        raise ValueError("row")
    if shifts.shape not in ((1, 3), (len(times), 3)):
        raise ValueError("shifts")
    if turns.shape not in ((1,), (len(times),)):
        raise ValueError("turns")
    legs = tuple(_leg(leg, len(times)) for leg in data.get("legs") or ())
    if legs and not (
        len(legs) == 2 and weights.ndim == 2 and len(turns) == len(shifts) == len(times)
    ):
        raise ValueError("legs")
    return RowOrigin(weights, times, place, shifts=shifts, turns=turns, legs=legs)


def _leg(data: Sequence[Any], count: int) -> Leg:
    low, top, *moves = data
    turns, lifts = (tuple(map(float, parts)) for parts in moves)
    if (
        len(turns) != count
        or len(lifts) != count
        or not np.isfinite([low, top, *turns, *lifts]).all()
    ):
        raise ValueError("legs")
    return Leg(float(low), float(top), turns, lifts)

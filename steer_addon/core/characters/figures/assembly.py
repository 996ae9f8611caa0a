"""From tables, skins and joints to a figure."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...compiled import jit, jit_sources
from ...doors import tomllib
from ...errors import SteerError
from ...files import cache_folder
from ...files.signed import Format, loaded
from ...files.staging import replace_file
from .. import curves, leaving
from ..figure import Figure, Skeleton, Slot
from ..pose_space import (
    LAST_SECONDS,
    LAST_STEPS,
    TABLES,
    PoseSpace,
    Row,
    falling,
    last_shares,
)
from .skin import Follows, Skin
from .turning import Floats, quaternions, skinned

_FOUND = "turning", "leaving", "landing", "parting", "leaning"
"""What is found of the gaits, by the fields of `Row`: it takes longer than the poses themselves, so
it is kept from session to session, beside the compiled kernels."""
_FORMAT = Format("gaits", 1, 1 << 22, ("found", "find them again"))

Table = dict[str, Any]
Joints = tuple[Floats, Floats]
"""Places [m], shape (n, joint_count, 3), and rotations, shape (n, joint_count, 3, 3)."""


def table_of(name: str) -> Table:
    """A TOML file beside this one."""
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def skeleton_of(joints: dict[str, list[float]], parents: dict[str, str]) -> Skeleton:
    """Joints of a table, those aside of the middle once for each side ("_l" and "_r")."""
    names: list[str] = []
    numbers: list[int] = []
    rest: list[Floats] = []
    for name, place in joints.items():
        for side, sign in (("_l", 1.0), ("_r", -1.0)) if place[0] else (("", 1.0),):
            parent = parents[name]
            if parent and joints[parent][0]:
                parent += side
            names.append(name + side)
            numbers.append(names.index(parent) if parent else -1)
            rest.append(np.array(place) * [sign, 1.0, 1.0])
    return Skeleton(tuple(names), np.array(numbers, np.int32), np.array(rest, np.float32))


def ring_follows(table: Table, rows: list[list[Any]], end: str = "") -> list[Follows]:
    """What rings of a table follow: a joint by its share, its parent by the rest."""
    joints, result = table["joints"], []
    for *_, joint, share in rows:
        parent = table["parents"][joint] or joint
        names = [name + (end if joints[name][0] else "") for name in (parent, joint)]
        result.append((names[0], names[1], float(share)))
    return result


def next_row(rows: list[Row], name: str, count: int, **values: Any) -> None:
    """Append a row that follows the ones before; `values` are further ones of `Row`."""
    first = rows[-1].first + rows[-1].count if rows else 0
    rows.append(Row(name, first, count, **values))


def phases(row: Row) -> Floats:
    """Phases of a row's poses."""
    result: Floats = np.arange(row.count) / row.count
    return result


def steps_of(row: Row) -> Floats:
    """Phases of the steps in the first half of a row of first steps, see `Row.both_sides`."""
    half = row.count // 2
    result: Floats = np.arange(half) / half
    return result


def both_sides(skeleton: Skeleton, joints: Joints) -> Joints:
    """Joints of poses, and of their mirror images after them."""
    names, swap = skeleton.names, {"_l": "_r", "_r": "_l"}
    partner = [names.index(name[:-2] + swap.get(name[-2:], name[-2:])) for name in names]
    places, turned = joints
    flip = np.array([-1.0, 1.0, 1.0])
    mirrored = places[:, partner] * flip, turned[:, partner] * flip[:, None] * flip
    return np.concatenate([places, mirrored[0]]), np.concatenate([turned, mirrored[1]])


def add_last_steps(
    rows: list[Row],
    poses: list[Joints],
    gaits: int,
    skeleton: Skeleton,
    posed: Callable[[Floats], Joints],
) -> int:
    """Append the row of last steps, and its joints; returns how many.

    Args:
        rows: Rows of a figure.
        poses: Their joints.
        gaits: How many of the rows are gaits.
        skeleton: Its joints.
        posed: Gives the joints of poses between how the slowest gait begins, 1, and standing, 0.
    """
    fallen = [tuple(part[:1] for part in poses[number]) for number in falling(gaits)]
    places, turned = zip(*fallen, posed(last_shares()), strict=True)
    one_side = np.concatenate(places), np.concatenate(turned)
    count = 2 * len(one_side[0])
    next_row(rows, LAST_STEPS, count, duration=count * LAST_SECONDS, last_steps=True)
    poses.append(both_sides(skeleton, one_side))
    return 1


def by_time(
    entries: Iterable[Table],
    skeleton: Skeleton,
    posed: Callable[[Skeleton, Floats, dict[str, float]], Joints],
) -> tuple[list[Row], list[Joints]]:
    """Rows that go on by time, and their joints.

    Args:
        entries: Name, number of poses, speed, duration and values of each row.
        skeleton: The joints.
        posed: Gives the joints at phases by those values.
    """
    rows: list[Row] = []
    poses: list[Joints] = []
    for entry in entries:
        next_row(
            rows, entry["name"], entry["count"], speed=entry["speed"], duration=entry["duration"]
        )
        poses.append(posed(skeleton, phases(rows[-1]), entry["values"]))
    return rows, poses


def assembled(name: str, table: Table, skeleton: Skeleton, skin: Skin, rows: Iterable[Row],
              poses: Iterable[Joints], clips: int = 0) -> Figure:  # fmt: skip
    """A figure of its parts.

    Args:
        name: Its name.
        table: Its height, radius and slots.
        skeleton: Its joints.
        skin: Its skin.
        rows: Its gaits, then its clips.
        poses: Joints of each row.
        clips: Number of clips.
    """
    rows = tuple(rows)
    places, turned = (np.concatenate(parts) for parts in zip(*poses, strict=True))
    rest, bones, shares = np.array(skin.points), skin.bones(), skin.shares()
    turns = quaternions(turned)
    positions = skinned(rest, bones, shares, skeleton, places, turns)
    gaits = len(rows) - clips
    space = PoseSpace(positions, rows[:gaits], rows[gaits:])
    return Figure(
        name=name,
        height=table["height"],
        radius=table["radius"],
        slots=tuple(Slot(slot, tuple(colors)) for slot, *colors in table["slots"]),
        surface=skin.surface(),
        rest=rest.astype(np.float32),
        bones=bones,
        shares=shares.astype(np.float32),
        skeleton=skeleton,
        places=places.astype(np.float32),
        turns=turns.astype(np.float32),
        space=_fitted(space),
    )


def _fitted(space: PoseSpace) -> PoseSpace:
    """A pose space whose gaits know how bodies turn and where they leave them, read or found."""
    path = _file_of(space)
    if path is not None:
        # what is cut, damaged or of anything else is as good as none
        with suppress(SteerError, ValueError, TypeError, KeyError, OverflowError):
            return _read(path, space)
    found = leaving.with_leaving(curves.with_turning(space))
    if path is not None:
        rows = [{name: getattr(row, name) for name in _FOUND} for row in found.gaits]
        with suppress(OSError, SteerError):
            replace_file(path, [_FORMAT.signed(rows)])
    return found


def _file_of(space: PoseSpace) -> Path | None:
    """Where that is kept: poses, rows and sources decide; None where nothing can be."""
    folder = cache_folder.folder("figures")
    if folder is None:
        return None
    sources = jit_sources.digest(leaving.__name__, *jit_sources.with_imports(curves.__name__))
    key = hashlib.sha256(space.positions.tobytes())
    # kernels that are not compiled may round otherwise
    key.update(f"{space.rows} {sources} {jit.status().compiled}".encode())
    return folder / f"{key.hexdigest()}.json"


def _read(path: Path, space: PoseSpace) -> PoseSpace:
    """The pose space with what a file says of its gaits.

    Raises:
        FileError: There is no file, or one that is damaged or of another kind.
        KeyError, OverflowError, TypeError, ValueError: It has anything else.
    """
    gaits = []
    for row, entry in zip(space.gaits, loaded(_FORMAT.body_of(path)), strict=True):
        given = {name: np.array(entry[name], np.float64) for name in _FOUND}
        for name, values in given.items():
            if values.shape not in ((0,), TABLES[name]) or not np.isfinite(values).all():
                raise ValueError(name)
        tables: dict[str, Any] = {
            name: tuple(map(tuple, values.tolist())) for name, values in given.items()
        }
        gaits.append(replace(row, **tables))
    return PoseSpace(space.positions, tuple(gaits), space.clips)

"""Agents: one structure of arrays, a row per agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bounds import LARGEST, bounded, lengths
from .errors import AgentError, short, shortened

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int64]
ByteArray = NDArray[np.uint8]
Rows = IntArray | slice
"""Some of the agents: their rows, shape (row_count,), or all from one row to another."""
Mask = NDArray[np.bool_]


def group_names(text: str) -> tuple[set[str], set[str]]:
    """Names in a list of groups with commas between: those that count, and those after a `!`."""
    names = {name.strip() for name in text.split(",")} - {""}
    left_out = {name for name in names if name.startswith("!")}
    return names - left_out, {name[1:].strip() for name in left_out}


@dataclass(frozen=True, eq=False, repr=False)
class Membership:
    """Which agents are in which groups. It follows from other data, and drawing it takes time."""

    cause: Any
    """What it follows from beside the ids; equal ones give equal members."""
    id: IntArray
    """Identities of the agents, shape (agent_count,)."""
    members: Mapping[str, Mask]
    """Whether each agent is a member, shape (agent_count,), by the name of the group."""

    def taken(self, rows: Rows) -> Membership:
        """The same of some agents."""
        members = {name: mask[rows] for name, mask in self.members.items()}
        return Membership(self.cause, self.id[rows], members)


@dataclass(eq=False, repr=False)
class Agents:
    """The state of a crowd at one moment. All arrays are C-contiguous; SI units, world space."""

    id: IntArray
    """Identity that survives sorting and resuming, shape (agent_count,)."""
    position: FloatArray
    """Positions [m], shape (agent_count, 3); the feet of GROUND agents, the center of FLY ones."""
    velocity: FloatArray
    """Velocities [m/s], shape (agent_count, 3)."""
    heading: FloatArray
    """Unit headings, shape (agent_count, 3); the last direction of motion of one that stands."""
    normal: FloatArray
    """Unit normals of the ground under the feet, shape (agent_count, 3); +Z where there is none."""
    radius: FloatArray
    """Body radii [m], shape (agent_count,)."""
    mass: FloatArray
    """Masses [kg], shape (agent_count,)."""
    max_speed: FloatArray
    """Maximum speeds [m/s], shape (agent_count,)."""
    max_force: FloatArray
    """Maximum steering forces [N], shape (agent_count,)."""
    target_index: IntArray
    """Row of the target to use, shape (agent_count,); -1 leaves the choice to the behavior."""
    roll: FloatArray
    """How far flyers lean to the right [rad], shape (agent_count,)."""
    alive: ByteArray
    """0 for dead agents, which take no part in anything; shape (agent_count,)."""
    arrived: ByteArray
    """1 for agents that are at their goal, shape (agent_count,)."""
    waited: FloatArray
    """Time for which arrived agents have held up each agent [s], shape (agent_count,)."""
    attributes: dict[str, FloatArray] = field(default_factory=dict)
    """Per-agent values [the parameter's unit] that override a behavior's parameter, by name."""
    memory: dict[str, FloatArray] = field(default_factory=dict)
    """Memory of the behaviors, by behavior name, shape (agent_count, width)."""
    membership: Membership | None = None
    """Groups of the agents, see `crowd.membership`; None where nobody is in any."""

    def among(self, groups: str) -> Mask:
        """Which agents a list of groups means, shape (agent_count,).

        Args:
            groups: Names with commas between, of which an agent has to be in one; those after a
                `!` it must not be in. Nobody is in a group that is not there.
        """
        wanted, left_out = group_names(groups)
        members = {} if self.membership is None else self.membership.members
        found = np.full(self.count, not wanted)
        for name in wanted & members.keys():
            found |= members[name]
        for name in left_out & members.keys():
            found &= ~members[name]
        return found

    def groups_of(self, row: int) -> tuple[str, ...]:
        """Names of the groups that an agent is in."""
        members = {} if self.membership is None else self.membership.members
        return tuple(name for name, mask in members.items() if mask[row])

    @property
    def count(self) -> int:
        """Number of agents."""
        return len(self.id)

    @property
    def speed(self) -> FloatArray:
        """Speeds [m/s], shape (agent_count,)."""
        result: FloatArray = lengths(self.velocity).astype(np.float32)
        return result

    def taken(self, rows: Rows) -> Agents:
        """Copies of some agents, or views where they stand one after another.

        Args:
            rows: Which.
        """
        arrays: dict[str, Any] = {
            name: value[rows] for name, value in vars(self).items() if isinstance(value, np.ndarray)
        }
        return replace(
            self,
            **arrays,
            attributes={k: v[rows] for k, v in self.attributes.items()},
            memory={k: v[rows] for k, v in self.memory.items()},
            membership=None if self.membership is None else self.membership.taken(rows),
        )

    def put(self, rows: Rows, part: Agents) -> None:
        """Write agents back that were `taken`; what they began to remember is new here too.

        Views that `taken` gave have been written by then.
        """
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray) and getattr(part, name).base is not value:
                value[rows] = getattr(part, name)
        for key, columns in part.memory.items():
            if columns.base is not None and columns.base is self.memory.get(key):
                continue
            if key not in self.memory or self.memory[key].shape[1:] != columns.shape[1:]:
                self.memory[key] = np.zeros((self.count, *columns.shape[1:]), np.float32)
            self.memory[key][rows] = columns

    def copy(self) -> Agents:
        """A copy that shares no array with this one."""
        arrays: dict[str, Any] = {
            name: value.copy()
            for name, value in vars(self).items()
            if isinstance(value, np.ndarray)
        }
        return replace(
            self,
            **arrays,
            attributes={k: v.copy() for k, v in self.attributes.items()},
            memory={k: v.copy() for k, v in self.memory.items()},
        )


def rows_of(chosen: NDArray[Any]) -> Rows:
    """The rows that are not 0, as a slice where they stand one after another.

    Args:
        chosen: Shape (agent_count,).
    """
    rows = np.flatnonzero(chosen)
    if len(rows) and rows[-1] - rows[0] + 1 == len(rows):
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return rows


AGENT_PARAMETERS = ("radius", "mass", "max_speed", "max_force")
"""Agent settings that a point attribute of the same name overrides."""
HEIGHT = "height"
"""Point attribute: height of an agent's body [m], which overrides that of the crowd."""


def make_agents(
    position: Any,
    *,
    radius: float,
    mass: float,
    max_speed: float,
    max_force: float,
    velocity: Any = None,
    heading: Any = None,
    ids: Any = None,
    attributes: dict[str, Any] | None = None,
    may_be_none: bool = False,
) -> Agents:
    """Make agents from points.

    Args:
        position: Positions [m], shape (agent_count, 3).
        radius: Body radius [m] of all agents without an attribute `radius`.
        mass: Mass [kg], likewise.
        max_speed: Maximum speed [m/s], likewise.
        max_force: Maximum steering force [N], likewise.
        velocity: Velocities [m/s], shape (agent_count, 3), or None for rest.
        heading: Headings of agents at rest, shape (agent_count, 3), or None for -Y, where
            Blender characters look.
        ids: Unique whole numbers, shape (agent_count,), or None for 0, 1, 2, ….
        attributes: Per-agent values by parameter name, each of shape (agent_count,);
            `target_index`, `alive` and the agent parameters go to their own arrays.
        may_be_none: Whether there may be no points at all, as where all agents are born later.

    Raises:
        AgentError: No points, a wrong shape, values that are no finite numbers or out of range, or
            ids that repeat.
    """
    points = _rows("positions", position, None)
    count = len(points)
    if count == 0 and not may_be_none:
        raise AgentError("The crowd has no agents: give its mesh at least one vertex")
    speed = _rows("velocities", np.zeros_like(points) if velocity is None else velocity, count)
    if heading is None:
        heading = np.tile(np.array([0.0, -1.0, 0.0], np.float32), (count, 1))
    if attributes is not None and not isinstance(attributes, Mapping):
        raise AgentError(f"attributes are {short(attributes)}: give arrays by their names")
    extra = {name: _column(name, value, count) for name, value in (attributes or {}).items()}
    defaults = {"radius": radius, "mass": mass, "max_speed": max_speed, "max_force": max_force}
    own: dict[str, Any] = {
        name: _agent_column(name, extra, _number(name, value), count)
        for name, value in defaults.items()
    }
    if HEIGHT in extra:
        _check_lowest(HEIGHT, extra[HEIGHT])
    index = extra.pop("target_index", np.full(count, -1.0, np.float32))
    alive = extra.pop("alive", np.ones(count, np.float32)) > 0.0
    speed[~alive] = 0.0
    return Agents(
        id=_ids(ids, count),
        position=points,
        velocity=speed,
        heading=_headings(speed, _rows("headings", heading, count)),
        normal=np.tile(np.array([0.0, 0.0, 1.0], np.float32), (count, 1)),
        target_index=index.astype(np.int64),
        roll=np.zeros(count, np.float32),
        alive=alive.astype(np.uint8),
        arrived=np.zeros(count, np.uint8),
        waited=np.zeros(count, np.float32),
        attributes=extra,
        **own,
    )


def same_agents(a: Agents, b: Agents) -> bool:
    """Whether all arrays and attributes of two crowds are equal, whatever behaviors remember."""
    names = [name for name, value in vars(a).items() if isinstance(value, np.ndarray)]
    return (
        all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)
        and a.attributes.keys() == b.attributes.keys()
        and all(np.array_equal(a.attributes[n], b.attributes[n]) for n in a.attributes)
    )


def _lowest(name: str) -> float:
    return 1.0e-6 if name == "mass" else 0.0


def _number(name: str, value: Any) -> float:
    """A setting that holds for all agents, checked."""
    lowest = _lowest(name)
    # a comparison with NaN is false, and one with a whole number of any length is exact
    if not (isinstance(value, (int, float, np.number)) and lowest <= value < np.inf):
        raise AgentError(f"{name} is {short(value)}: give a finite number from {lowest:g} up")
    return float(value) if value < LARGEST else LARGEST


def _agent_column(
    name: str, extra: dict[str, FloatArray], default: float, count: int
) -> FloatArray:
    column = extra.pop(name, np.full(count, default, np.float32))
    _check_lowest(name, column)
    return column


def _check_lowest(name: str, column: FloatArray) -> None:
    lowest = _lowest(name)
    if column.size and column.min() < np.float32(lowest):
        row = int(column.argmin())
        raise AgentError(
            f"attribute {name!r} of agent {row} is {column[row]:g}: give a value from {lowest:g} up"
        )


def _numbers(what: str, value: Any) -> FloatArray:
    try:
        return bounded(value)
    except (ValueError, OverflowError, TypeError) as error:
        reason = shortened(str(error), 80)
        raise AgentError(f"{what} cannot be read ({reason}): give an array of numbers") from None


def _rows(what: str, value: Any, count: int | None) -> FloatArray:
    array = _numbers(f"Agent {what}", value)
    if array.size == 0:
        array = array.reshape(0, 3)
    if array.ndim != 2 or array.shape[1] != 3 or (count is not None and len(array) != count):
        wanted = "(agent_count, 3)" if count is None else f"({count}, 3)"
        raise AgentError(f"Agent {what} have shape {array.shape}: give {wanted}")
    bad = ~np.isfinite(array).all(axis=1)
    if bad.any():
        raise AgentError(
            f"{int(bad.sum())} of {len(array)} agent {what} are not finite numbers "
            f"(first: point {int(bad.argmax())}): move or delete these points"
        )
    return array.copy() if array is value else array


def _column(name: str, value: Any, count: int) -> FloatArray:
    array = _numbers(f"attribute {short(name)}", value)
    if array.shape != (count,):
        raise AgentError(f"attribute {name!r} has shape {array.shape}: give ({count},)")
    if not np.isfinite(array).all():
        row = int((~np.isfinite(array)).argmax())
        raise AgentError(f"attribute {name!r} of agent {row} is not finite: give a finite number")
    return array


def _ids(ids: Any, count: int) -> IntArray:
    if ids is None:
        return np.arange(count, dtype=np.int64)
    try:
        array = np.ascontiguousarray(ids, dtype=np.int64)
    except (ValueError, OverflowError, TypeError) as error:
        raise AgentError(
            f"attribute 'id' cannot be read ({shortened(str(error), 80)}): "
            "give whole numbers of up to 18 digits"
        ) from None
    if array.shape != (count,):
        raise AgentError(f"attribute 'id' has shape {array.shape}: give ({count},)")
    if len(np.unique(array)) != count:
        raise AgentError("attribute 'id' repeats a number: give every agent its own")
    return array


def _headings(velocity: FloatArray, heading: FloatArray) -> FloatArray:
    speed, size = lengths(velocity)[:, None], lengths(heading)[:, None]
    fallback = np.where(
        size < 1e-6, np.array([0.0, -1.0, 0.0], np.float32), heading / np.maximum(size, 1e-6)
    )
    return np.where(speed < 1e-6, fallback, velocity / np.maximum(speed, 1e-6)).astype(np.float32)

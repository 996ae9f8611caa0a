"""How a behavior is declared: a frozen dataclass of parameters with a kernel beside it.

A behavior is one module of this package; it needs no other change anywhere::

    @kernel
    def seek_kernel(start, stop, agents, world, p, memory, out, active):
        ...

    @behavior(label="Seek", output=VELOCITY, kernel=seek_kernel, uses=(TARGETS,))
    class Seek(Behavior):
        \"\"\"Steer straight at the target at full speed.\"\"\"

The kernel fills rows start to stop of `out` [m/s] and sets `active` to ASKED where it has a
proposal, or to SET where the velocity shall be that very value after the step.
`p` is a named tuple with the behavior's parameters, each an array of one value or of one per
agent (read it with `vec.pick`); choices are the index of the chosen name, texts are left out.
`p.acts` is 0 for agents that are in none of the behavior's groups: a kernel that takes long may
pass over them, as their proposals are dropped.
Inputs that only some behaviors read are in `p` too, see INPUTS.

A `constraint` is a second kernel that runs when the agents have moved, and may correct it::

    def constraint(start, stop, agents, world, p, memory, position, velocity):

Where a behavior leads agents along a path to its end, `ends` is a kernel that finds it: it writes
where agent i wants to be to row i of `place` [m], and the number of that end, from 0 on, to `key`::

    def ends(start, stop, position, p, memory, flat, place, key):

Where a behavior leads agents to places of their own, `places` is a kernel that finds them: it
writes the place of agent i to row i of `place` [m], and i to `row`. With ways, `world.targets` of
the kernel then has where agents head for on their way there::

    def places(start, stop, agents, world, p, place, row):
"""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from ..diagnoses import Diagnosis, diagnose
from ..errors import ParameterError
from ..parameters import ParameterInfo, Settings, param, parameters
from .pictured import Circle as Circle
from .pictured import Waypoints as Waypoints
from .titles import renumbered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..agents import Agents

VELOCITY = "VELOCITY"
"""The proposal is a desired velocity u: the solver steers by u - v."""
PUSH = "PUSH"
"""The proposal is a velocity change, used as it is."""
WISH = "WISH"
"""The proposal is a velocity change too, of what agents wish: pushes find it in `desired`."""

RUNS_AWAY = "RUNS_AWAY"
"""Agents run away from the target."""
LEADS = "LEADS"
"""The target leads the agents."""

ASKED = 1
"""In `active`: the agent has a proposal."""
SET = 2
"""In `active`: the agent's velocity is set to the proposal, without force, mass or relaxation."""

TARGETS = "TARGETS"
NEIGHBORS = "NEIGHBORS"
COLLIDERS = "COLLIDERS"
AXES = "AXES"
SECOND_TARGETS = "SECOND_TARGETS"
SPHERES = "SPHERES"
PATHS = "PATHS"
FIELD = "FIELD"
CONTAINER = "CONTAINER"
COMPANIONS = "COMPANIONS"

INPUTS = {
    AXES: "axes",
    SECOND_TARGETS: "second",
    SPHERES: "spheres",
    PATHS: "paths",
    FIELD: "field",
    CONTAINER: "container",
    COMPANIONS: "companions",
}
"""Names in `p` of the inputs that only behaviors with these `uses` read (see core.views)."""


EVERYONE = np.ones(1, np.float32)
"""`p.acts` of behaviors that are for all agents."""


class Definition(NamedTuple):
    """Facts of a behavior type beside its parameters."""

    type: str
    label: str
    output: str
    kernel: Any
    uses: tuple[str, ...]
    memory_width: int
    icon: str
    group: str
    constraint: Any
    shows: Mapping[str, int]
    ends: Any
    places: Any


class Behavior(Settings):
    """Base of all behaviors: what every one of them has."""

    definition: ClassVar[Definition]
    needs_target: ClassVar[bool] = True
    """Whether it does nothing without a target, if it uses any."""
    goes_to_target: ClassVar[bool] = False
    """Whether it wants to be where its target is: then agents can arrive (core.step.arrival)."""
    target_role: ClassVar[str] = ""
    """Role of a moving target for its agents: RUNS_AWAY, LEADS, or "" for neither."""
    looks_for_ways_out: ClassVar[bool] = False
    """Whether agents that walls corner on their straight flight look for a way out (ways.outs)."""
    keeps_apart_by: ClassVar[str] = ""
    """The parameter that says from how far away neighbors push [m], if there is one."""
    sphere_methods: ClassVar[tuple[str, ...]] = ()
    """Values of `method` with which it sees obstacles only as spheres."""
    lane_methods: ClassVar[tuple[str, ...]] = ()
    """Values of `method` with which agents follow a path in lanes."""
    looks_by: ClassVar[tuple[str, ...]] = ()
    """Parameters that say how far it looks: at 0 it cannot do its work."""
    circles: ClassVar[tuple[Circle, ...]] = ()
    """Circles that it thinks in."""
    waypoints: ClassVar[Waypoints | None] = None
    """How far agents are on their path, for one that remembers it."""
    container_choice: ClassVar[str] = ""
    """The choice that says which part of its container counts: BOX, SPHERE or MESH; "" for BOX."""
    read_by: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Values of `method` that read an input, for inputs that not all of them read."""
    without_colliders: ClassVar[str] = ""
    """Sentence that says what agents do where there is no collider; "" for nothing."""

    name: str = param("", doc="Name of this entry in the list; empty takes the type's name")
    enabled: bool = param(True, doc="Let this behavior act")
    weight: float = param(
        1.0,
        minimum=0.0,
        maximum=1000.0,
        soft_maximum=5.0,
        doc="How much this counts beside the others; more pulls harder, 0 is the same as disabled",
    )
    target: str = param("", doc="Name of the targets to use; empty takes the crowd's own targets")
    group: str = param(
        "",
        doc="Groups that this is for, with commas between; ! before a name leaves it out, empty is "
        "for all agents",
    )

    @classmethod
    def owner_name(cls) -> str:
        """The type, as in presets and on the command line."""
        return cls.definition.type if hasattr(cls, "definition") else cls.__name__.lower()

    @property
    def key(self) -> str:
        """Name of this entry, never empty."""
        return self.name or self.definition.type

    @property
    def acts(self) -> bool:
        """Whether it takes part in a step."""
        return self.enabled and self.weight > 0.0

    @property
    def kernel(self) -> Any:
        """The kernel that fills the proposals; of several, the one for this entry's `method`."""
        found = self.definition.kernel
        return through_door(found[getattr(self, METHOD)] if isinstance(found, Mapping) else found)

    @property
    def ends(self) -> Any:
        """The kernel that finds the end of each agent's path; None where there is no end."""
        found = self.definition.ends
        return found.get(getattr(self, METHOD)) if isinstance(found, Mapping) else found

    @classmethod
    def container_shape(cls, settings: Any) -> str:
        """The part of its container that counts: BOX, SPHERE or MESH; "" where it reads none.

        Args:
            settings: Object that has its parameters as attributes.
        """
        if CONTAINER not in cls.definition.uses:
            return ""
        return str(getattr(settings, cls.container_choice)) if cls.container_choice else "BOX"

    def reads(self, use: str) -> bool:
        """Whether this entry reads an input, one of those in `uses`."""
        wanted = self.read_by.get(use)
        return use in self.definition.uses and (wanted is None or getattr(self, METHOD) in wanted)

    @cached_property
    def constants(self) -> dict[str, NDArray[np.float32]]:
        """The parameters as kernels read them, shape (1,); choices as their index, texts left out.

        They are asked for in every step, and made once.
        """
        found = {}
        for name, info in parameters(self).items():
            value = getattr(self, name)
            if info.kind == "choice":
                value = list(info.choices).index(value)
            if info.kind != "text":
                found[name] = np.array([value], np.float32)
        return found

    @cached_property
    def own_constants(self) -> dict[str, NDArray[np.float32]]:
        """Those of the constants that not every behavior has."""
        return {name: value for name, value in self.constants.items() if name not in COMMON}

    @cached_property
    def packed(self) -> Any:
        """The constants as `p` of the kernel, for a behavior without inputs."""
        return params_tuple(type(self))(**self.own_constants, acts=EVERYONE)

    @property
    def title(self) -> str:
        """Its name in the list of behaviors: that of its type, unless it has a name of its own."""
        return renumbered(self.key, self.definition.type, self.definition.label)

    def advice(self, settings: Any, agents: Agents | None = None) -> list[Diagnosis]:
        """Diagnoses of all that keeps this entry from doing its work in a crowd.

        Args:
            settings: The CrowdSettings that it is part of.
            agents: The crowd, whose point attributes count before the settings; None for the
                settings alone.
        """
        found = []
        for name in self.looks_by:
            info = parameters(self)[name]
            reach = self.constants[name] if agents is None else per_agent(self, name, agents)
            if info.counts(self) and not (reach > 0.0).any():
                label, unit = info.label, info.unit
                found.append(diagnose("NO_LOOK_AHEAD", self.title, parameter=label, unit=unit))
        return found


def per_agent(entry: Behavior, name: str, agents: Agents) -> NDArray[np.float32]:
    """A parameter's value for all, shape (1,), or one for each agent, shape (agent_count,).

    Point attributes give each agent its own. The weight is 0 for agents that are in none of the
    groups of the behavior.
    """
    column = _given(entry, name, agents)
    members = acts_for(entry, agents) if name == "weight" else None
    if members is None:
        return column
    return np.where(members, column, np.float32(0.0))


def acts_for(entry: Behavior, agents: Agents) -> NDArray[np.bool_] | None:
    """Which agents a behavior is for by its groups, shape (agent_count,); None for all of them."""
    return agents.among(entry.group) if entry.group else None


def _given(entry: Behavior, name: str, agents: Agents) -> NDArray[np.float32]:
    """A parameter's value for all, or from a point attribute, whatever groups there are."""
    info = parameters(entry)[name] if agents.attributes else None
    if info is not None and info.per_agent:
        names = [f"{entry.key}.{name}", f"{entry.definition.type}.{name}"]
        if name != "weight":
            names.append(name)
        for key in names:
            if key in agents.attributes:
                column: NDArray[np.float32] = np.clip(
                    agents.attributes[key], info.minimum, info.maximum
                )
                return column.astype(np.float32)
    return entry.constants[name]


COMMON = tuple(parameters(Behavior))
"""Parameters that every behavior has."""

METHOD = "method"
"""The choice that decides between the kernels of a behavior that has several."""

REGISTRY: dict[str, type[Behavior]] = {}
"""Every known behavior by type."""

BehaviorT = TypeVar("BehaviorT", bound=type[Behavior])


def own_parameters(cls: type[Behavior]) -> dict[str, ParameterInfo]:
    """The parameters of a behavior without the common ones."""
    return {name: info for name, info in parameters(cls).items() if name not in COMMON}


def through_door(found: Any) -> Any:
    """A kernel, also where a behavior gives its module and its name."""
    return getattr(*found) if isinstance(found, tuple) else found


_params_tuples: WeakKeyDictionary[type[Behavior], Any] = WeakKeyDictionary()


def params_tuple(cls: type[Behavior]) -> Any:
    """The named tuple in which the kernels of a behavior get its parameters and inputs."""
    if cls not in _params_tuples:
        names = [name for name, info in own_parameters(cls).items() if info.kind != "text"]
        names += [field for use, field in INPUTS.items() if use in cls.definition.uses]
        names.append("acts")
        # of two threads that come here at once both take the same one
        _params_tuples.setdefault(cls, namedtuple(f"{cls.__name__}Params", names))
    return _params_tuples[cls]


def __getattr__(name: str) -> Any:
    """Find a `params_tuple` by name, as numba does whose disk cache names the types of arguments.

    They are made on use: all of them take a twentieth of the time in which Steer is enabled.
    Those of behaviors that are no longer registered are found as well.
    """
    others = (reference() for reference in _params_tuples.keyrefs())
    for cls in (*REGISTRY.values(), *others):
        if cls is not None and name == f"{cls.__name__}Params":
            return params_tuple(cls)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def behavior(
    *,
    label: str,
    output: str,
    kernel: Any,
    uses: tuple[str, ...] = (),
    memory_width: int = 0,
    icon: str = "FORCE_FORCE",
    group: str = "Goals",
    constraint: Any = None,
    shows: Mapping[str, int] | None = None,
    ends: Any = None,
    places: Any = None,
) -> Callable[[BehaviorT], BehaviorT]:
    """Register a behavior class under its name in snake case.

    Args:
        label: Name shown to people.
        output: VELOCITY, PUSH or WISH.
        kernel: The compiled loop that fills the proposals, or one for each value of the choice
            `method`: only those in use are compiled. A behavior of many modules may give the module
            of the loop, which waits behind a door (core.doors), and the name of the loop.
        uses: Its inputs beside the agents: TARGETS, NEIGHBORS, COLLIDERS, or one of INPUTS.
        memory_width: Columns of per-agent memory that it keeps from step to step.
        icon: Name of a Blender icon.
        group: Heading under which menus list it.
        constraint: The loop that corrects where agents went, if any.
        shows: Agent attributes that users can see, each with its column of the memory.
        ends: The loop that finds where on their paths agents arrive, or one for each value of
            `method` that leads to an end.
        places: The loop that finds places of their own to which agents go, if any.
    """

    def register(cls: BehaviorT) -> BehaviorT:
        type_name = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
        if type_name in (*COMMON, "type"):
            raise ParameterError(f"a behavior cannot be named {type_name!r}: rename its class")
        if type_name in REGISTRY and REGISTRY[type_name].__module__ != cls.__module__:
            raise ParameterError(f"behavior {type_name!r} is defined twice: rename one of them")
        cls.definition = Definition(
            type_name,
            label,
            output,
            kernel,
            uses,
            memory_width,
            icon,
            group,
            constraint,
            shows or {},
            ends,
            places,
        )
        REGISTRY[type_name] = cls
        return cls

    return register

"""How a behavior is declared: a frozen dataclass of parameters with a kernel beside it.

A behavior is one module of this package; it needs no other change anywhere::

    @kernel
    def seek_kernel(start, stop, agents, world, p, memory, out, active):
        ...

    @behavior(label="Seek", output=VELOCITY, kernel=seek_kernel, uses=(TARGETS,))
    @dataclass(frozen=True, kw_only=True)
    class Seek(Behavior):
        \"\"\"Steer straight at the target at full speed.\"\"\"

The kernel fills rows start to stop of `out` [m/s] and sets `active` to 1 where it has a proposal.
`p` is a named tuple with the behavior's parameters, each an array of one value or of one per
agent (read it with `vec.pick`); choices are the index of the chosen name.
"""

from __future__ import annotations

import re
import sys
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from ..errors import ParameterError
from ..parameters import ParameterInfo, Settings, param, parameters

VELOCITY = "VELOCITY"
"""The proposal is a desired velocity u: the solver steers by u - v."""
PUSH = "PUSH"
"""The proposal is a velocity change, used as it is."""

TARGETS = "TARGETS"
NEIGHBORS = "NEIGHBORS"
COLLIDERS = "COLLIDERS"


@dataclass(frozen=True)
class Definition:
    """What the program knows of a behavior type besides its parameters."""

    type: str
    label: str
    output: str
    kernel: Any
    uses: tuple[str, ...]
    memory_width: int
    icon: str
    group: str
    params_tuple: Any


@dataclass(frozen=True, kw_only=True)
class Behavior(Settings):
    """Base of all behaviors: what every one of them has."""

    definition: ClassVar[Definition]

    name: str = param("", doc="Name of this entry in the list; empty takes the type's name")
    enabled: bool = param(True, doc="Let this behavior act")
    weight: float = param(
        1.0,
        minimum=0.0,
        maximum=1000.0,
        soft_maximum=5.0,
        doc="How much this proposal counts beside the others; 0 is the same as disabled",
    )
    target: str = param("", doc="Name of the targets to use; empty takes the crowd's own targets")

    @classmethod
    def owner_name(cls) -> str:
        """The type, as in presets and on the command line."""
        return cls.definition.type if hasattr(cls, "definition") else cls.__name__.lower()

    @property
    def key(self) -> str:
        """Name of this entry, never empty."""
        return self.name or self.definition.type


COMMON = tuple(parameters(Behavior))
"""Parameters that every behavior has."""

REGISTRY: dict[str, type[Behavior]] = {}
"""Every known behavior by type."""

BehaviorT = TypeVar("BehaviorT", bound=type[Behavior])


def own_parameters(cls: type[Behavior]) -> dict[str, ParameterInfo]:
    """The parameters of a behavior without the common ones."""
    return {name: info for name, info in parameters(cls).items() if name not in COMMON}


def behavior(
    *,
    label: str,
    output: str,
    kernel: Any,
    uses: tuple[str, ...] = (),
    memory_width: int = 0,
    icon: str = "FORCE_FORCE",
    group: str = "Goals",
) -> Callable[[BehaviorT], BehaviorT]:
    """Register a behavior class under its name in snake case.

    Args:
        label: Name shown to people.
        output: VELOCITY or PUSH.
        kernel: The compiled loop that fills the proposals.
        uses: What it reads besides the agents: TARGETS, NEIGHBORS, COLLIDERS.
        memory_width: Columns of per-agent memory that it keeps from step to step.
        icon: Name of a Blender icon.
        group: Heading under which menus list it.
    """

    def register(cls: BehaviorT) -> BehaviorT:
        type_name = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
        if type_name in REGISTRY and REGISTRY[type_name].__module__ != cls.__module__:
            raise ParameterError(f"behavior {type_name!r} is defined twice: rename one of them")
        tuple_name = f"{cls.__name__}Params"
        params_tuple = namedtuple(tuple_name, list(own_parameters(cls)))  # type: ignore[misc]
        # numba's disk cache looks the type up by module and name
        params_tuple.__module__ = cls.__module__
        setattr(sys.modules[cls.__module__], tuple_name, params_tuple)
        cls.definition = Definition(
            type_name, label, output, kernel, uses, memory_width, icon, group, params_tuple
        )
        REGISTRY[type_name] = cls
        return cls

    return register

"""Settings blocks of a crowd: bodies, motion, solver, and the stack of behaviors.

They are the format of presets too: `CrowdSettings.to_dict` is what a preset file holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..behaviors import REGISTRY, Behavior
from ..diagnoses import Diagnosis
from ..errors import ParameterError, short
from ..parameters import Settings, choice, param
from ..sensing.units import meters, meters_per_second
from .births import BirthsSettings
from .clips import ClipsSettings
from .groups import MOST_GROUPS, GroupSettings, check_groups
from .meets import MeetsSettings
from .solver_settings import SolverSettings as SolverSettings
from .ways_settings import WaysSettings

if TYPE_CHECKING:
    from ..agents import Agents
    from ..characters.cast import Cast


class AgentsSettings(Settings):
    """Body of an agent and its limits. Point attributes of these names override them per agent."""

    radius: float = meters(0.25, soft_maximum=2.0, doc="Body radius; more takes more room")
    mass: float = param(
        1.0,
        unit="kg",
        minimum=1.0e-3,
        soft_maximum=100.0,
        doc="Mass: a heavier agent answers more slowly to the same force",
    )
    max_speed: float = meters_per_second(
        1.4,
        soft_maximum=20.0,
        doc="Fastest that an agent moves; 1.4 m/s is a brisk walk, more is a run",
    )
    max_force: float = param(
        10.0,
        unit="N",
        minimum=0.0,
        soft_maximum=100.0,
        doc="Strongest steering force: more gives sharper turns and shorter braking",
        shown_for=("solver.solver", ("REYNOLDS",)),
    )
    size_spread: float = param(
        0.0,
        minimum=0.0,
        maximum=0.9,
        soft_maximum=0.5,
        doc="How much bodies differ in size: more gives larger and smaller ones, 0.1 up to 10 %",
        per_agent=False,
    )
    speed_spread: float = param(
        0.0,
        minimum=0.0,
        maximum=0.9,
        soft_maximum=0.5,
        doc="How much agents differ in speed: more gives faster and slower ones, 0.1 up to 10 %",
        per_agent=False,
    )


class MotionSettings(Settings):
    """How agents move through space."""

    motion: str = choice(
        "GROUND",
        {
            "GROUND": "Agents walk on the ground mesh, or at their own height without one",
            "FLY": "Agents fly or swim freely in all three directions",
        },
        doc="Whether agents walk on a surface or move freely",
    )
    max_slope: float = param(
        45.0,
        unit="deg",
        minimum=0.0,
        maximum=89.0,
        doc="Steepest ground that is walked, the rest blocks like walls; more climbs steeper",
        shown_for=("motion", ("GROUND",)),
    )
    step_height: float = meters(
        0.35,
        soft_maximum=2.0,
        doc="Highest step that agents climb; more climbs stairs, and onto higher obstacles",
        shown_for=("motion", ("GROUND",)),
    )
    min_turn_speed: float = meters_per_second(
        0.0,
        soft_maximum=2.0,
        doc="Slower agents keep their heading; more keeps standing agents from trembling",
    )
    body_turn_rate: float = param(
        0.0,
        unit="deg/s",
        minimum=0.0,
        soft_maximum=720.0,
        doc="Fastest turn of the body, which follows the motion; less is calmer, 0 is no limit",
        zero="No Limit",
    )
    wall_height: float = param(
        3.0,
        unit="m",
        minimum=1.0e-5,
        soft_maximum=20.0,
        doc="Height of the walls that edges and curves stand for; more stops higher flyers too",
    )
    banking: float = param(
        0.0,
        minimum=0.0,
        maximum=10.0,
        soft_maximum=2.0,
        doc="How far flyers lean into curves: 1 is as planes do, more leans more, 0 stays level",
        shown_for=("motion", ("FLY",)),
    )
    max_bank: float = param(
        60.0,
        unit="deg",
        minimum=0.0,
        maximum=180.0,
        doc="Steepest that flyers lean; less stays more level",
        shown_for=("motion", ("FLY",)),
    )
    forward_axis: str = choice(
        "NEG_Y",
        {
            "POS_X": "+X is the front",
            "POS_Y": "+Y is the front",
            "NEG_X": "-X is the front",
            "NEG_Y": "-Y is the front, as for characters that face the front view",
        },
        doc="Side of the instanced object that looks ahead",
    )


CONTACTS = (("collide_agents", (True,)), ("collide_colliders", (True,)))
"""What bodies have to do for the settings of contacts to count."""


class BodiesSettings(Settings):
    """Contacts of bodies, and with walls. Bodies are upright in GROUND motion, or spheres."""

    collide_agents: bool = param(
        False,
        doc="Bodies do not overlap: agents push past one another, the lighter one gives way more",
    )
    collide_colliders: bool = param(
        False,
        doc="No agent passes through a collider, however fast or thin, moving ones included",
    )
    height: float = meters(
        1.8,
        soft_maximum=10.0,
        doc="Height of those that walk: what hangs lower blocks their way; more passes below less",
    )
    iterations: int = param(
        4,
        minimum=1,
        maximum=100,
        soft_maximum=20,
        doc="How often blocked agents try to move on in a step; more closes up denser crowds",
        shown_for=CONTACTS,
    )
    on_arrival: str = choice(
        "STAY",
        {
            "STAY": "Agents want the target itself; where bodies collide they stand still at it",
            "HOLD_AREA": "Agents stand still around the target: the place grows with their number",
            "LEAVE": "Agents are gone once their bodies are there: not alive, without room, hidden",
        },
        doc="Reaction of agents at the target of the first behavior that goes to one, "
        "or at the end of their path",
    )
    arrival_distance: float = meters(
        0.25,
        soft_maximum=10.0,
        doc="Agents this near to their target have arrived; more stops them earlier",
        shown_for=(*CONTACTS, ("on_arrival", ("HOLD_AREA", "LEAVE"))),
    )


BLOCKS: dict[str, type[Settings]] = {
    "agents": AgentsSettings,
    "motion": MotionSettings,
    "solver": SolverSettings,
    "bodies": BodiesSettings,
    "clips": ClipsSettings,
    "meets": MeetsSettings,
    "births": BirthsSettings,
    "ways": WaysSettings,
}
"""The settings blocks of a crowd by their name in presets and on the command line."""


MOST_BEHAVIORS = 1000
"""Entries of the longest stack that is read from a file."""


@dataclass(frozen=True)
class CrowdSettings:
    """All settings of a crowd; its points and its world are not among them.

    Attributes:
        agents: Bodies.
        motion: Walking or flying.
        solver: The law of motion.
        bodies: Contacts of agents with one another and with colliders, and their arrival.
        clips: What characters do besides walking.
        meets: Other crowds that agents meet.
        births: Agents that are born during the run, and how long they stay.
        ways: How walkers find their way.
        groups: Groups of agents; names are unique.
        behaviors: The stack, in order of priority; names are unique.
        seed: Random seed.
        cast: The characters that agents are shown as, None for none. It comes from the scene:
            neither presets nor plain data have it.
        body: Point attribute that says as which object agents are shown, empty for none. It comes
            from the scene, too; nothing steers by it, and frames carry it.
        carried: Point attributes that materials of what is shown read, likewise.
    """

    agents: AgentsSettings = AgentsSettings()
    motion: MotionSettings = MotionSettings()
    solver: SolverSettings = SolverSettings()
    bodies: BodiesSettings = BodiesSettings()
    behaviors: tuple[Behavior, ...] = ()
    seed: int = 0
    cast: Cast | None = None
    body: str = ""
    carried: tuple[str, ...] = ()
    clips: ClipsSettings = ClipsSettings()
    meets: MeetsSettings = MeetsSettings()
    births: BirthsSettings = BirthsSettings()
    ways: WaysSettings = WaysSettings()
    groups: tuple[GroupSettings, ...] = ()

    def __post_init__(self) -> None:
        """Give every behavior a name of its own: a second "seek" becomes "seek.001"."""
        check_groups(self.groups)
        taken: set[str] = set()
        numbers: dict[str, int] = {}
        named = []
        for entry in self.behaviors:
            key, number = entry.key, numbers.get(entry.key, 0)
            while key in taken:
                number += 1
                key = f"{entry.key}.{number:03d}"
            # smaller numbers stay taken
            numbers[entry.key] = number
            taken.add(key)
            named.append(entry if key == entry.key else replace(entry, name=key))
        object.__setattr__(self, "behaviors", tuple(named))
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise ParameterError(f"seed is {short(self.seed)}: give a whole number")
        if not -(2**63) <= self.seed < 2**63:
            raise ParameterError(
                f"seed is {short(self.seed)}: give a whole number of up to 18 digits"
            )

    @property
    def stack(self) -> list[Behavior]:
        """The behaviors that act, in order."""
        return [entry for entry in self.behaviors if entry.acts]

    @property
    def body_height(self) -> float:
        """Height of the bodies without the point attribute `height` [m]; 0 where they fly."""
        return self.bodies.height if self.motion.motion == "GROUND" else 0.0

    def advice(self, agents: Agents | None = None) -> list[Diagnosis]:
        """What keeps behaviors from doing their work.

        Args:
            agents: The crowd, whose point attributes count before the settings; None for the
                settings alone.
        """
        return [found for entry in self.stack for found in entry.advice(self, agents)]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            **{name: getattr(self, name).to_dict() for name in BLOCKS},
            "behaviors": [{"type": b.definition.type, **b.to_dict()} for b in self.behaviors],
            "groups": [group.to_dict() for group in self.groups],
            "seed": self.seed,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CrowdSettings:
        """Make settings from plain data; what is not named takes its default.

        Raises:
            ParameterError: A name is unknown or a value does not fit.
        """
        known = (*BLOCKS, "behaviors", "groups", "seed")
        for name in _mapping("settings", data):
            if name not in known:
                raise ParameterError(
                    f"settings have no {short(name)}: known are {', '.join(known)}"
                )
        blocks: dict[str, Any] = {
            name: block.from_dict(_mapping(name, data.get(name, {})))
            for name, block in BLOCKS.items()
        }
        entries = _list("behaviors", data, MOST_BEHAVIORS)
        groups = _list("groups", data, MOST_GROUPS)
        return cls(
            **blocks,
            behaviors=tuple(make_behavior(_mapping("behavior", entry)) for entry in entries),
            groups=tuple(GroupSettings.from_dict(_mapping("group", entry)) for entry in groups),
            seed=data.get("seed", 0),
        )


def _mapping(what: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ParameterError(f"{what} is {short(value)}: give names with values")
    return value


def _list(name: str, data: Mapping[str, Any], most: int) -> Sequence[Any]:
    entries = data.get(name, [])
    if isinstance(entries, str) or not isinstance(entries, Sequence):
        raise ParameterError(f"{name} is {short(entries)}: give a list")
    if len(entries) > most:
        raise ParameterError(f"there are {len(entries)} {name}: give at most {most}")
    return entries


def make_behavior(data: Mapping[str, Any]) -> Behavior:
    """Make a behavior from plain data with a `type` and parameters.

    Raises:
        ParameterError: The type or a parameter is unknown, or a value does not fit.
    """
    values = dict(data)
    type_name = values.pop("type", None)
    # only texts can be looked up: a file may say anything
    if not isinstance(type_name, str) or type_name not in REGISTRY:
        raise ParameterError(
            f"behavior type {short(type_name)} is unknown: known are {', '.join(sorted(REGISTRY))}"
        )
    return REGISTRY[type_name].from_dict(values)

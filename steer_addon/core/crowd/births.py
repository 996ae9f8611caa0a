"""Births: agents that come during a run, and how long they stay."""

from __future__ import annotations

from ..parameters import MORE_THAN_ZERO, Settings, choice, param
from ..sensing.units import meters_per_second

EMITS = ("PER_SECOND", "OVER_FRAMES", "BURSTS")
"""Kinds of emission in which agents are born."""
BIRTH, DEATH = "birth", "death"
"""Point attributes: frames at which agents of the start are born, and are gone."""
_EMITS = ("emission", EMITS)


class BirthsSettings(Settings):
    """Agents that are born at sources during the run, and when agents are gone again."""

    emission: str = choice(
        "NONE",
        {
            "NONE": "Nobody is born: the crowd has the agents that it starts with",
            "PER_SECOND": "So many are born in each second; the number can be keyed",
            "OVER_FRAMES": "So many are born in all, evenly from the first frame to the last",
            "BURSTS": "So many are born at once, again and again",
        },
        doc="When agents are born at the sources; where there is no room, they wait for it",
        label="Emission",
    )
    rate: float = param(
        5.0,
        unit="1/s",
        minimum=0.0,
        soft_maximum=100.0,
        doc="Agents that are born in a second; more gives a denser stream",
        per_agent=False,
        shown_for=("emission", ("PER_SECOND",)),
    )
    number: int = param(
        100,
        minimum=0,
        maximum=1_000_000,
        soft_maximum=10_000,
        doc="Agents that are born in all, or in each burst; more gives a larger crowd",
        per_agent=False,
        shown_for=("emission", ("OVER_FRAMES", "BURSTS")),
    )
    interval: float = param(
        10.0,
        unit="s",
        minimum=0.0,
        soft_maximum=60.0,
        doc="Time from one burst to the next; more gives fewer bursts, 0 never repeats the first",
        per_agent=False,
        shown_for=("emission", ("BURSTS",)),
        zero="Once",
    )
    first_frame: int = param(
        1,
        minimum=-1_000_000,
        maximum=1_000_000,
        doc="Frame of the first births; more begins later, but never before the crowd's second",
        per_agent=False,
        shown_for=_EMITS,
    )
    last_frame: int = param(
        250,
        minimum=-1_000_000,
        maximum=1_000_000,
        doc="Frame of the last births; more ends later",
        per_agent=False,
        shown_for=_EMITS,
    )
    capacity: int = param(
        500,
        minimum=1,
        maximum=1_000_000,
        soft_maximum=10_000,
        doc="Most agents from the sources at a time; those who leave make room, more takes memory",
        per_agent=False,
        shown_for=_EMITS,
    )
    part: str = choice(
        "AUTO",
        {
            "AUTO": "On faces; where a source has none on its edges, or else at its points",
            "POINTS": "At the points of the sources",
            "EDGES": "Along the edges and curves of the sources",
            "FACES": "On the faces of the sources",
        },
        doc="Where on the sources agents are born",
        label="Emit From",
        shown_for=_EMITS,
    )
    facing: str = choice(
        "FORWARD",
        {
            "FORWARD": "As the source faces, along its -Y axis",
            "NORMAL": "Away from the faces, as of a door; to the right of edges and curves",
            "ALONG": "Along the edge or the curve",
            "RANDOM": "In any direction",
        },
        doc="Where agents look and go when they are born",
        shown_for=_EMITS,
    )
    facing_spread: float = param(
        0.0,
        unit="deg",
        minimum=0.0,
        maximum=360.0,
        doc="Angle within which they differ in that; more spreads them out",
        per_agent=False,
        shown_for=_EMITS,
    )
    speed: float = meters_per_second(
        0.0,
        soft_maximum=20.0,
        doc="Speed with which agents are born; more starts them in motion",
        per_agent=False,
        shown_for=_EMITS,
        label="Initial Speed",
    )
    lifetime: float = param(
        0.0,
        unit="s",
        minimum=0.0,
        soft_maximum=120.0,
        doc="Time after which agents are gone; more keeps them longer, 0 is no limit",
        per_agent=False,
        zero="No Limit",
    )
    lifetime_spread: float = param(
        0.0,
        minimum=0.0,
        maximum=0.9,
        soft_maximum=0.5,
        doc="How much agents differ in that: more gives shorter and longer ones, 0.1 up to 10 %",
        per_agent=False,
        shown_for=("lifetime", MORE_THAN_ZERO),
    )

    @property
    def emits(self) -> bool:
        """Whether agents are born at sources."""
        return self.emission in EMITS

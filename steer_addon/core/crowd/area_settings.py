"""Settings of an area: what an object among the areas of a crowd means to its walkers."""

from __future__ import annotations

from ..parameters import Settings, choice, param
from ..ways.areas.kinds import COST, FORBIDDEN, LEAST_COST, MOST_COST, ONE_WAY
from ..ways.portals.declared import MOST_SECONDS

PORTAL = "PORTAL"
"""The kind of objects that are portals, and no areas."""
AXES = {
    "POS_X": (1.0, 0.0, 0.0),
    "POS_Y": (0.0, 1.0, 0.0),
    "NEG_X": (-1.0, 0.0, 0.0),
    "NEG_Y": (0.0, -1.0, 0.0),
}
"""Directions in an object's own space."""


class AreaSettings(Settings):
    """What an object among the areas of a crowd means to walkers who find their ways."""

    kind: str = choice(
        FORBIDDEN,
        {
            FORBIDDEN: "Nobody goes in; who stands there leaves it",
            COST: "Ways through it seem longer or shorter, for Safe and Quickest ways",
            ONE_WAY: "Nobody goes against its direction, as on an escalator",
            PORTAL: "An edge or a curve joins the places at its ends, as a ladder or an elevator",
        },
        doc="What walkers may do in the area",
    )
    cost: float = param(
        3.0,
        minimum=LEAST_COST,
        maximum=MOST_COST,
        soft_maximum=20.0,
        doc="How many times longer ways seem there; more is avoided, less than 1 is preferred",
        shown_for=("kind", (COST,)),
        per_agent=False,
    )
    direction: str = choice(
        "POS_Y",
        {
            "POS_X": "Along the object's own X axis",
            "POS_Y": "Along the object's own Y axis",
            "NEG_X": "Against the object's own X axis",
            "NEG_Y": "Against the object's own Y axis",
        },
        doc="Where people go in it",
        shown_for=("kind", (ONE_WAY,)),
    )
    seconds: float = param(
        0.0,
        label="Time",
        unit="s",
        minimum=0.0,
        maximum=MOST_SECONDS,
        soft_maximum=60.0,
        doc="How long going through takes; more makes the way seem longer, 0 is at walking speed",
        zero="Walking Speed",
        shown_for=("kind", (PORTAL,)),
        per_agent=False,
    )
    both_ways: bool = param(
        True,
        doc="Let people go from the last end of the line to the first too",
        shown_for=("kind", (PORTAL,)),
    )
    group: str = param(
        "",
        doc="Groups that it is for, with commas between, or all but one with a ! before; empty "
        "for all",
    )

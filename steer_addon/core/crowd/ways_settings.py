"""Settings of ways: whether walkers find their way round what blocks, and how finely."""

from __future__ import annotations

from ..parameters import Settings, choice, param

_LED = ("ways", ("AROUND", "SAFE", "QUICKEST"))


class WaysSettings(Settings):
    """How walkers get to their goals: straight on, or round corners, by stairs and doors."""

    ways: str = choice(
        "NONE",
        {
            "NONE": "Agents head straight for their targets, and walls in between hold them up",
            "AROUND": "The shortest way round walls and corners, up stairs and through doors",
            "SAFE": "The way that costs least by areas and by what is painted on the ground",
            "QUICKEST": "The way that takes least time: people take another door where many wait",
        },
        doc="How walkers find their way to their targets",
    )
    cell_size: float = param(
        0.25,
        unit="m",
        minimum=1.0e-3,
        soft_maximum=1.0,
        doc="Size of the cells of the walkable surface; more is quicker to find, less is finer",
        shown_for=_LED,
        per_agent=False,
    )

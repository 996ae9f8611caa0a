"""What a preset starts with: how many agents, what they look like, and what stands around them.

The entry `start` of a preset file. What it leaves open follows from what the behaviors read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..parameters import Settings, choice, param
from ..sensing.declare import COLLIDERS, CONTAINER, LEADS, METHOD, PATHS, RUNS_AWAY, TARGETS
from .settings import CrowdSettings

AUTO = "AUTO"
_OPEN = "What the behaviors need"


class StartSettings(Settings):
    """What *Add ▸ Crowd* makes from a preset, beside the crowd's settings."""

    agents: int = param(
        80,
        minimum=1,
        maximum=1_000_000,
        doc="Number of agents; more need more room",
        per_agent=False,
    )
    figure: str = choice(
        AUTO,
        {
            AUTO: "People where agents walk, cones where they fly",
            "PERSON": "People",
            "FISH": "Fish",
            "BIRD": "Birds",
            "ANIMAL": "Four-legged animals",
            "CONE": "Cones, which are quick to draw",
        },
        doc="What agents look like",
    )
    scenery: str = choice(
        AUTO,
        {
            AUTO: _OPEN,
            "NONE": "Nothing",
            "PILLARS": "Round pillars",
            "BALLS": "Balls at the height of the agents",
            "SPHERES": "Empties that count as spheres",
        },
        doc="What stands in the way of the agents",
    )
    placement: str = choice(
        AUTO,
        {
            AUTO: _OPEN,
            "MIDDLE": "In the middle, between what stands there; in a ball where they fly",
            "FACING": "To one side, with the middle between them and the target",
            "LANES": "In three files along the path",
        },
        doc="Where agents start",
    )
    target: str = choice(
        AUTO,
        {
            AUTO: _OPEN,
            "NONE": "There is none",
            "AHEAD": "It stands ahead of the agents",
            "AMONG": "It goes round among the agents",
            "LEADS": "It goes round ahead of the agents",
        },
        doc="What the target of the crowd does",
    )


def complete_start(start: StartSettings, settings: CrowdSettings) -> StartSettings:
    """Fill in what a preset leaves open.

    Args:
        start: What the preset says.
        settings: The settings that it holds.

    Returns:
        The same without any AUTO.
    """
    acting = [entry for entry in settings.behaviors if entry.enabled and entry.weight > 0.0]
    uses = {use for entry in acting for use in entry.definition.uses}
    roles = {entry.target_role for entry in acting}
    flies = settings.motion.motion == "FLY"
    target = "AHEAD"
    if TARGETS not in uses:
        target = "NONE"
    elif RUNS_AWAY in roles:
        target = "AMONG"
    elif LEADS in roles:
        target = "LEADS"
    scenery = "BALLS" if flies else "PILLARS"
    if COLLIDERS not in uses:
        scenery = "NONE"
    elif not flies and any(
        getattr(entry, METHOD, "") in entry.sphere_methods for entry in settings.behaviors
    ):
        scenery = "SPHERES"
    placement = "FACING"
    if not flies and _has_lanes(settings):
        placement = "LANES"
    elif flies or RUNS_AWAY in roles or uses & {PATHS, CONTAINER}:
        placement = "MIDDLE"
    found: dict[str, Any] = {
        "figure": "CONE" if flies else "PERSON",
        "scenery": scenery,
        "placement": placement,
        "target": target,
    }
    left_open = {name for name in found if getattr(start, name) == AUTO}
    return replace(start, **{name: found[name] for name in left_open})


def _has_lanes(settings: CrowdSettings) -> bool:
    """Whether agents follow a path in lanes, and no container bounds them."""
    bounded = any(CONTAINER in entry.definition.uses for entry in settings.behaviors)
    return not bounded and any(
        entry.enabled and getattr(entry, METHOD, "") in entry.lane_methods
        for entry in settings.behaviors
    )

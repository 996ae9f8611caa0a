"""Settings of the law of motion."""

from __future__ import annotations

from ..parameters import Settings, choice, param
from ..sensing.units import meters_per_second


class SolverSettings(Settings):
    """How proposals become motion."""

    solver: str = choice(
        "REYNOLDS",
        {
            "REYNOLDS": "Steering forces with mass, truncated to the maximum force and speed",
            "VEX": "The Houdini point solver: velocities blend toward the sum of the proposals",
        },
        doc="The law that turns proposals into velocities",
    )
    combine: str = choice(
        "WEIGHTED_SUM",
        {
            "WEIGHTED_SUM": "All proposals are added by their weights",
            "PRIORITY": "The list is walked from the top until the maximum force is used up",
        },
        doc="How the proposals of several behaviors are put together",
    )
    relaxation_time: float = param(
        0.5,
        unit="s",
        minimum=0.01,
        maximum=100.0,
        soft_maximum=5.0,
        doc="How fast a wished velocity is taken up: less is snappier, more is smoother (Reynolds)",
    )
    acc_weight: float = param(
        0.3,
        minimum=0.0,
        maximum=1.0,
        doc="Share of the way to the wished velocity gone per 1/24 s; more is snappier (VEX)",
        shown_for=("solver", ("VEX",)),
        label="Acceleration Weight",
    )
    substeps: int = param(
        1,
        minimum=1,
        maximum=100,
        soft_maximum=10,
        doc="Solver steps per frame: more is more exact and takes longer",
    )
    min_speed: float = meters_per_second(
        0.0,
        soft_maximum=20.0,
        doc="Slowest that an agent moves, as birds and fish; more never lingers, 0 is no limit",
        zero="No Limit",
    )
    max_turn_rate: float = param(
        0.0,
        unit="deg/s",
        minimum=0.0,
        soft_maximum=720.0,
        doc="Fastest turn of the direction of motion; less makes wider curves, 0 is no limit",
        zero="No Limit",
    )
    max_acceleration: float = param(
        0.0,
        unit="m/s²",
        minimum=0.0,
        soft_maximum=50.0,
        doc="Largest change of velocity per second; less looks heavier, 0 is no limit",
        zero="No Limit",
    )

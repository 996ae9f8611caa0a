"""Solver: propose, combine, limit, integrate. One step is a pure function of its arguments.

REYNOLDS (Reynolds 1999): F = Σ wᵢ·(uᵢ - v or Δᵢ)/τ, truncated to F_max; a = F/m;
v ← truncate(v + a·dt, v_max); p ← p + v·dt.

VEX (Houdini SOP solver): u = Σ wᵢ·(uᵢ or Δᵢ); v ← v + (u - v)·α; p ← p + v·dt, with
α = 1 - (1 - acc_weight)^(24·dt); nothing is truncated.
"""

from __future__ import annotations

from dataclasses import replace

from ..agents import Agents
from ..crowd.settings import CrowdSettings
from ..inputs.world import Colliders, World
from .proposals import StepResult
from .together import Member, step_alone

__all__ = ["Solver", "StepResult"]


class Solver:
    """Moves agents through a world by a crowd's settings."""

    def __init__(self, settings: CrowdSettings) -> None:
        self.settings = settings

    def step(
        self,
        agents: Agents,
        world: World,
        dt: float,
        *,
        number: int,
        seed: int | None = None,
        before: Colliders | None = None,
    ) -> StepResult:
        """Move all agents on by one step of time.

        Args:
            agents: The crowd; it is not changed.
            world: The world that it perceives.
            dt: Time [s] > 0.
            number: Count of steps before; random numbers are keyed by it.
            seed: Random seed; None takes the settings'.
            before: The colliders of the step before, which push agents when they move; None when
                they stood still.
        """
        settings = self.settings if seed is None else replace(self.settings, seed=seed)
        return step_alone(Member(settings, agents, world, number, before=before), dt)

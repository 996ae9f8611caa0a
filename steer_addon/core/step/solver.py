"""Solver: propose, combine, limit, integrate. One step is a pure function of its arguments.

REYNOLDS (Reynolds 1999): F = Σ wᵢ·(uᵢ - v or Δᵢ)/τ, truncated to F_max; a = F/m;
v ← truncate(v + a·dt, v_max); p ← p + v·dt.

VEX (Houdini SOP solver): u = Σ wᵢ·(uᵢ or Δᵢ); v ← v + (u - v)·α; p ← p + v·dt, with
α = 1 - (1 - acc_weight)^(24·dt); nothing is truncated.
"""

from __future__ import annotations

from dataclasses import dataclass

from .. import contacts
from ..agents import Agents
from ..crowd.settings import CrowdSettings
from ..inputs.world import Colliders, World
from .crowd_step import CrowdStep
from .proposals import Proposal


@dataclass(frozen=True, eq=False, repr=False)
class StepResult:
    """A step's outcome.

    Attributes:
        agents: The crowd after the step.
        proposals: The proposal of each behavior, in stack order (of the last substep).
    """

    agents: Agents
    proposals: tuple[Proposal, ...]


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
        substeps = self.settings.solver.substeps
        key = self.settings.seed if seed is None else seed
        proposals: tuple[Proposal, ...] = ()
        moved = None
        if self.settings.bodies.collide_colliders:
            moved = contacts.find_moved(before, world.colliders)
        for substep in range(substeps):
            count = number * substeps + substep
            part = CrowdStep(self.settings, agents, world, dt / substeps, number=count, seed=key)
            part.perceive()
            part.wish()
            part.push()
            part.move()
            contacts.resolve([part.party(moved)], part.around.known)
            agents, proposals = part.ended()
            # behaviors see the world after the step, and so colliders are there from the start
            moved = None
        return StepResult(agents, proposals)

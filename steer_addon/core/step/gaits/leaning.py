"""How bodies lean: into their acceleration, and back from what they lean as their gait changes.

They lean as a critically damped spring follows, so one whose speed changes at once begins to lean
slowly. A change of the gait leans a body by what its trunk and head would jump, see `Row.leaning`,
and the spring takes that back.

Symbols: x how far a body leans, v its rate, w how far it is to lean, d the mean delay, 0.2 s:
x'' = k² (w - x) - 2 k v with k = 2 / d.
Source: ours.
"""

from __future__ import annotations

import math

from ...compiled.jit import kernel
from ...numeric.vec import dot, scale, sub
from ..integrate import GRAVITY
from .landing import LEANED, RATE
from .stance import LEAN_AHEAD

LEAN, MOST_LEAN = 0.5, 0.2
"""Share of the acceleration that a body leans into, and the tangent of the most that it leans."""
DELAY = 0.2
"""Mean delay with which it does [s]."""


@kernel
def lean(memory, limbs, i, velocity, old_velocity, body, size, dt):
    """Lean a body in a step.

    Args:
        memory: Columns of `POSTURE`; written.
        limbs: Memory of the limbs, see `LIMBS`; read and written.
        i: The agent.
        velocity: Velocity after the step [m/s].
        old_velocity: Velocity before it [m/s].
        body: Where the body faces, level.
        size: Size of the body: one of 100 is as tall in a scene in centimeters as one of 1 in
            meters, and leans alike.
        dt: Length of the step [s].
    """
    pull = scale(sub(velocity, old_velocity), LEAN / (GRAVITY * size * dt))
    wishes = dot(pull, body), dot(pull, (body[1], -body[0], 0.0))
    stiff = 2.0 / DELAY
    left = math.exp(-stiff * dt)
    for k in range(2):
        wished = min(MOST_LEAN, max(-MOST_LEAN, wishes[k]))
        away, rate = limbs[i, LEANED + k] - wished, limbs[i, RATE + k] * 1.0
        gains = (rate + stiff * away) * dt
        memory[i, LEAN_AHEAD + k] = limbs[i, LEANED + k] = wished + (away + gains) * left
        limbs[i, RATE + k] = (rate - stiff * gains) * left

"""A spring met head-on, solved exactly over one step: what wall avoidance moves agents by.

q [m] is how deep the spring is pressed, s = dq/dt [m/s] how fast it goes deeper; it pushes while
q > 0, so that d²q/dt² = -ω²·q, and lets go at q = 0. In between, with a = ω·t,

    q(t) = q·cos a + (s/ω)·sin a,    s(t) = s·cos a - ω·q·sin a.

The deepest point is sqrt(q² + (s/ω)²), after atan2(s, ω·q)/ω; a spring that pushes back lets go
after atan2(q, -s/ω)/ω.
"""

from __future__ import annotations

import math

from ...compiled.jit import kernel

SPARE = 1.0e-3
"""Share of the room that is left when the spring has to be made stiffer: rounding needs some."""
NARROW = 1.0e-9
"""Share of the room below which there is none."""


@kernel
def usable(room):
    """Depth [m] at which a body is stopped that would pass the room."""
    return (1.0 - SPARE) * room


@kernel
def turns_in_time(q, s, stiffness, room):
    """Whether the spring alone turns a body before its room is used up."""
    most, q = usable(room), max(q, 0.0)
    return s <= 0.0 or s * s <= stiffness * (most * most - q * q)


@kernel
def spring_step(q, s, stiffness, room, dt):
    """Depth and speed after a step against a spring.

    A body that is about to turn stops at the deepest point and stays there until the step ends. One
    that the spring cannot turn before all of its room is used up meets a stiffer one, which just
    does: ω² = max(stiffness, s²/((0.999·room)² - q²)).

    Args:
        q: Depth [m]; below 0 the spring is not touched yet.
        s: Speed toward the spring [m/s]; below 0 away from it.
        stiffness: ω² > 0 [1/s²].
        room: Depth [m] > 0 that must not be passed.
        dt: Time [s].

    Returns:
        (depth [m], speed toward the spring [m/s]) after the step.
    """
    time = dt
    if q < 0.0:
        if q + s * dt <= 0.0:
            return q + s * dt, s
        time, q = dt + q / s, 0.0
    square = stiffness * 1.0
    if s > 0.0:
        most = usable(room)
        if q >= most * (1.0 - NARROW):
            return q, 0.0
        square = max(square, s * s / (most * most - q * q))
    omega = math.sqrt(square)
    turns = math.atan2(s, omega * q) / omega
    if 0.0 < s and turns <= time:
        return math.sqrt(q * q + s * s / square), 0.0
    lets_go = math.atan2(q, -s / omega) / omega
    if s <= 0.0 and lets_go <= time:
        fastest = math.sqrt(q * q * square + s * s)
        return -fastest * (time - lets_go), -fastest
    cosine, sine = math.cos(omega * time), math.sin(omega * time)
    return q * cosine + s / omega * sine, s * cosine - omega * q * sine

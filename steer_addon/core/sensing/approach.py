"""Going to a point: braking in time to stop on it, and where a moving one is met.

arrive  u = v_max · clamp(d / slow_radius, 0, 1) · dir(x - p), and zero within stop_radius
meet    x = q + v_q · T, with the look-ahead T = |q - p| / (v_max + |v_q|); 0 where neither moves

Symbols: p position [m], v_max maximum speed [m/s], x a point, d = |x - p| [m]; q, v_q position [m]
and velocity [m/s] of a target; T [s].
Source: Cocos steering, *arrive* and *pursuit*; Reynolds 1999, Arrival, Pursuit.
"""

from __future__ import annotations

from ..compiled.jit import kernel
from ..numeric.vec import add_scaled, length, scale, unit


@kernel
def arrive_speed(distance, max_speed, slow_radius, stop_radius):
    """Desired speed [m/s] at a distance [m] from where to arrive."""
    speed = max_speed
    if distance < slow_radius:
        speed *= distance / slow_radius
    if distance < stop_radius:
        speed = 0.0
    return speed


@kernel
def arrive_velocity(offset, max_speed, slow_radius, stop_radius):
    """Desired velocity [m/s] to a point at an offset [m] from the agent."""
    return scale(unit(offset), arrive_speed(length(offset), max_speed, slow_radius, stop_radius))


@kernel
def meeting_time(distance, max_speed, target_speed):
    """T [s] for a target at a distance [m]."""
    closing = max_speed + target_speed
    return distance / closing if closing > 0.0 else 0.0


@kernel
def meeting_offset(offset, velocity, max_speed):
    """Offset [m] of a target where it will be after the look-ahead time."""
    return add_scaled(offset, velocity, meeting_time(length(offset), max_speed, length(velocity)))

"""How a foot goes: planted it goes back as evenly as the ground, then it swings ahead.

A planted foot rolls: over its heel after contact, then it lies flat, then over the ball while the
toes stay down, then over the tips of the toes. Each of these points stays where it is on the
ground, so nothing slides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...numeric.easing import smoothstep
from .turning import Floats

Gait = dict[str, float]
"""Values of the gait table at one stride; lengths in meters, angles in radians."""


_ANGLES = {
    "heel_pitch", "toe_pitch", "toe_roll", "pass_pitch", "mid_pitch", "toe_out", "knee", "yaw",
    "list", "lean", "chest_yaw", "arm_swing", "arm_ahead", "arm_out", "arm_in", "elbow",
    "elbow_swing", "breath", "curl", "nod", "reach", "wag", "look", "head_low", "round",
}  # fmt: skip
_LENGTHS = {
    "stride", "pass_back", "lift", "ankle_back", "gather", "width", "beside", "bob", "sway",
    "aside",
}  # fmt: skip
GRAVITY = 9.81
_LIFTED = 0.08
"""Cycles in which the foot that takes a first step leaves the ground."""
_CLEAR = 0.012
"""Height of its sole meanwhile [m]."""


@dataclass(frozen=True)
class Foot:
    """Sizes of a foot [m].

    Attributes:
        ankle: Height of the ankle.
        heel: From the heel's point on the ground to below the ankle.
        ball: From below the ankle to the ball.
        toes: From the ball to the tips.
    """

    ankle: float
    heel: float
    ball: float
    toes: float


@dataclass(frozen=True, eq=False)
class Track:
    """An ankle over the phases, in the figure's space, and how the foot is turned.

    Attributes:
        ankle: Places [m], shape (n, 3).
        pitch: Toes up [rad], shape (n,).
        toes: Pitch of the toes, shape (n,).
        yaw: Toes to the left [rad], shape (n,).
        planted: Whether the foot is on the ground, shape (n,).
    """

    ankle: Floats
    pitch: Floats
    toes: Floats
    yaw: Floats
    planted: np.typing.NDArray[np.bool_]

    def toward(self, other: Track, share: Floats) -> Track:
        """A track between this one, 0, and another one, 1; planted where both are."""

        def mixed(one: Floats, two: Floats) -> Floats:
            result: Floats = one + share * (two - one)
            return result

        return Track(
            mixed(self.ankle.T, other.ankle.T).T,
            mixed(self.pitch, other.pitch),
            mixed(self.toes, other.toes),
            mixed(self.yaw, other.yaw),
            self.planted & other.planted,
        )


def gait_at(stride: float, keys: dict[str, list[float]], leg: float) -> Gait:
    """A gait between the keys of a table.

    Args:
        stride: Way of a cycle, in legs.
        keys: Columns of the table, by strides.
        leg: From the hip to the ground [m].
    """
    values = {k: float(np.interp(stride, keys["stride"], column)) for k, column in keys.items()}
    values["speed"] *= float(np.sqrt(GRAVITY * leg))
    return in_units(values, leg)


def in_units(values: dict[str, Any], leg: float) -> Gait:
    """A gait's values in meters and radians."""
    gait: Gait = {}
    for key, value in values.items():
        if key in _ANGLES:
            value = np.radians(value)
        gait[key] = value * leg if key in _LENGTHS else value
    return gait


def spline(at: list[float], values: list[float], begin: float, end: float, x: Floats) -> Floats:
    """A cubic spline through keys, with given slopes at both ends.

    Args:
        at: Places of the keys, rising.
        values: Values there.
        begin: Slope at the first key.
        end: Slope at the last key.
        x: Where to evaluate, within the keys.
    """
    t, v = np.array(at), np.array(values)
    gap, rise = np.diff(t), np.diff(v) / np.diff(t)
    n = len(t)
    system: Floats = np.eye(n)
    right: Floats = np.zeros(n)
    right[0], right[-1] = begin, end
    for i in range(1, n - 1):
        system[i, i - 1 : i + 2] = gap[i], 2.0 * (gap[i - 1] + gap[i]), gap[i - 1]
        right[i] = 3.0 * (gap[i] * rise[i - 1] + gap[i - 1] * rise[i])
    slope = np.linalg.solve(system, right)
    k = np.clip(np.searchsorted(t, x, side="right") - 1, 0, n - 2)
    s, h = (x - t[k]) / gap[k], gap[k]
    r = 1.0 - s
    result: Floats = (
        v[k] * r * r * (1.0 + 2.0 * s) + v[k + 1] * s * s * (1.0 + 2.0 * r)
        + h * slope[k] * s * r * r - h * slope[k + 1] * r * s * s
    )  # fmt: skip
    return result


def foot_track(phase: Floats, gait: Gait, foot: Foot) -> Track:
    """The left foot of a gait.

    Args:
        phase: Phases [cycles], shape (n,).
        gait: The gait.
        foot: The foot.
    """
    since = np.mod(phase - gait["contact"], 1.0)
    planted = since < gait["stance"]
    track = _planted(np.minimum(since, gait["stance"]), gait, foot)
    swing = _swing(since[~planted], gait, foot)
    for mine, other in zip(track, swing, strict=True):
        mine[~planted] = other
    ahead, side, height, pitch, toes = track
    ankle = np.stack([gait["width"] + side, -ahead, height], axis=-1)
    return Track(ankle, pitch, toes, gait["toe_out"] + 0.0 * phase, planted)


def away_from_stand(phase: Floats) -> Floats:
    """How far first steps are from standing, 0 at phase 0 and 1 where the feet pass, at 1/2."""
    share: Floats = np.sin(np.pi * phase) ** 2
    return share


def first_track(phase: Floats, late: float, gait: Gait, foot: Foot, stand: Track) -> Track:
    """A foot of first steps: from where it stands at phase 0 to the gait at 1/2, and back at 1.

    Where the gait has it planted, it is planted; it goes from its place in one to that in the
    other while it is in the air.

    Args:
        phase: Phases, from 0 to 1 [cycles], shape (n,).
        late: Phase of the foot at phase 0.
        gait: The gait that the steps lead to.
        foot: The foot.
        stand: The foot as it stands, of n equal poses.
    """
    track = foot_track(phase + late, gait, foot)
    gone, ankle = np.where(phase < 0.5, phase, phase - 1.0), track.ankle.copy()
    held = stand.ankle[:, :2] + gait["stride"] * np.stack([0.0 * gone, gone], axis=-1)
    share = _swung(phase, late, gait)[:, None]
    pitch, toes, edge = track.pitch, track.toes, np.minimum(phase, 1.0 - phase)
    lifts = not foot_track(np.array([late]), gait, foot).planted[0]
    up = smoothstep(edge / _LIFTED) if lifts else np.ones(len(phase))
    # where the foot rolls, the ankle goes on over what stands
    held += up[:, None] * _rolled(phase + late, gait, foot)
    ankle[:, :2] = held + share * (ankle[:, :2] - held)
    if lifts:
        # it leaves the ground before it goes ahead, and comes down after that
        pitch, toes = up * pitch, up * toes
        flat = _lowest(pitch, toes, foot, 0.0 * pitch)
        clear = np.maximum(ankle[:, 2] + _lowest(track.pitch, track.toes, foot, 0.0 * pitch), 0.0)
        ankle[:, 2] = up * (clear + _CLEAR * (1.0 - share[:, 0])) - flat
        ankle[:, 2] = np.where(track.planted, track.ankle[:, 2], ankle[:, 2])
    return Track(ankle, pitch, toes, track.yaw, track.planted)


def _rolled(phase: Floats, gait: Gait, foot: Foot) -> Floats:
    """How far the ankle of the left foot is from where it would be on a flat foot [m], (n, 2).

    In the air it goes from what it was as the foot left the ground to what it is as it lands.
    """
    stance, since = gait["stance"], np.mod(phase - gait["contact"], 1.0)
    part = smoothstep((since - stance) / (1.0 - stance))

    def at(time: Floats) -> Floats:
        ahead, side = _planted(time, gait, foot)[:2]
        even = gait["ankle_back"] + gait["stride"] * (gait["contact"] + time)
        return np.stack([side, -ahead - even], axis=-1)

    ends = at(np.array([stance, 0.0]))
    in_air = ends[0] + part[:, None] * (ends[1] - ends[0])
    rolled: Floats = np.where((since < stance)[:, None], at(np.minimum(since, stance)), in_air)
    return rolled


def _swung(phase: Floats, late: float, gait: Gait) -> Floats:
    """Part of its way between standing and the gait that a foot has gone while it is in the air."""
    fine = np.arange(2001) / 2000.0
    in_air = np.mod(fine + late - gait["contact"], 1.0) >= gait["stance"]
    # one that leaves the ground at phase 0 first goes up, and comes down at last
    in_air &= np.minimum(fine, 1.0 - fine) > 0.5 * _LIFTED
    before = np.cumsum(in_air * (fine < 0.5)) / np.sum(in_air * (fine < 0.5))
    after = np.cumsum(in_air * (fine >= 0.5)) / np.sum(in_air * (fine >= 0.5))
    gone, back = (smoothstep(np.interp(phase, fine, part)) for part in (before, after))
    share: Floats = gone - back
    return share


def _planted(since: Floats, gait: Gait, foot: Foot) -> list[Floats]:
    """Way ahead and aside, height, pitch and pitch of the toes of a foot on the ground."""
    stance = gait["stance"]
    # toes fall from the first moment on and come down gently
    falling = np.clip(1.0 - since / gait["flat"], 0.0, 1.0)
    up = gait["heel_pitch"] * falling**2
    rising = np.clip((since - gait["heel_off"]) / (stance - gait["heel_off"]), 0.0, 1.0)
    heel = gait["toe_pitch"] * rising**1.8
    roll = gait["toe_roll"] * np.clip((rising - 0.55) / 0.45, 0.0, 1.0) ** 2
    shift = (
        foot.heel * (np.cos(up) - 1.0) - foot.ankle * np.sin(up)
        + foot.ball * (1.0 - np.cos(heel)) + foot.ankle * np.sin(heel)
        + foot.toes * (1.0 - np.cos(roll))
    )  # fmt: skip
    height = (
        foot.heel * np.sin(up) + foot.ankle * np.cos(np.maximum(up, heel))
        + foot.ball * np.sin(heel) + foot.toes * np.sin(roll)
    )  # fmt: skip
    ground = gait["ankle_back"] + gait["stride"] * (gait["contact"] + since)
    ahead = shift * np.cos(gait["toe_out"]) - ground
    return [ahead, shift * np.sin(gait["toe_out"]), height, up - heel, -roll]


def _swing(since: Floats, gait: Gait, foot: Foot) -> list[Floats]:
    """The same of a foot in the air, which goes on from the ground and comes back to it."""
    stance, small = gait["stance"], 1e-4
    ends = np.array([stance - small, stance, 0.0, small])
    values = _planted(ends, gait, foot)
    slopes = [((v[1] - v[0]) / small, (v[3] - v[2]) / small) for v in values]
    passing = 0.5 - gait["contact"]
    part = (since - stance) / (1.0 - stance)
    ahead_end = gait["retract"] * slopes[0][1]
    beside = -gait["ankle_back"] - gait["pass_back"]
    keys, ways = [stance, passing, 1.0], [values[0][1], beside, values[0][2]]
    ahead = spline(keys, ways, slopes[0][0], ahead_end, since)
    side = spline([stance, 1.0], [values[1][1], values[1][2]], 0.0, 0.0, since)
    middle = passing + 0.5 * (1.0 - passing)
    keys = [stance, passing, middle, 1.0]
    pitches = [values[3][1], gait["pass_pitch"], gait["mid_pitch"], values[3][2]]
    pitch = spline(keys, pitches, slopes[3][0], 0.0, since)
    # the toes come back in line with the foot
    bend = (values[4][1] - values[3][1]) * np.clip(1.0 - part / 0.5, 0.0, 1.0) ** 2
    bend_end = values[4][2] - values[3][2]
    toes = pitch + bend + bend_end * np.clip(2.0 * part - 1.0, 0.0, 1.0) ** 2
    clear = gait["lift"] * (4.0 * part * (1.0 - part)) ** 1.1
    soft = min(0.02, 0.4 * gait["lift"]) * np.sin(np.pi * part) ** 2
    height = clear - _lowest(pitch, toes, foot, soft)
    return [ahead, side, height, pitch, toes]


def _lowest(pitch: Floats, toes: Floats, foot: Foot, soft: Floats) -> Floats:
    """Height of the sole's lowest point above the ankle; `soft` [m] rounds off changes of it."""
    level = -foot.ankle * np.cos(pitch)
    heel = level - foot.heel * np.sin(pitch)
    ball = level + foot.ball * np.sin(pitch)
    tip = ball + foot.toes * np.sin(toes)

    def less(a: Floats, b: Floats) -> Floats:
        result: Floats = 0.5 * (a + b) - np.sqrt((0.5 * (a - b)) ** 2 + (0.5 * soft) ** 2)
        return result

    return less(less(ball, tip), heel)

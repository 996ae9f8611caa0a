"""Poses that are blended without any steps: a yardstick for bodies that show one pose at a time.

It is what games do: at each frame the two gaits next to the speed are blended vertex by vertex at
the exact phase, so nothing is shown from its nearest pose. Where the speed changes, limbs swing
wider or less from frame to frame, which no pose says either.
"""

from __future__ import annotations

import numpy as np
from walktools import FPS, turned

DELTA = 0.002
"""Part of a cycle over which the velocity of a pose is measured."""
CLEAR = 8.0
"""What a vertex moves by beyond twice what its poses say, from which on it counts as clear [mm]."""


class Blend:
    """The gaits of a pose space, blended."""

    def __init__(self, space):
        gaits = [row for row in space.gaits if row.stride > 0.0 and not row.from_stand]
        self.speeds = np.array([row.speed for row in gaits])
        self._strides = [row.stride for row in gaits]
        self._poses = [space.positions[r.first : r.first + r.count].astype(float) for r in gaits]

    def stride(self, speed):
        """Way of a cycle at a speed [m]."""
        return float(np.interp(speed, self.speeds, self._strides))

    def pose(self, speed, phase):
        """Vertices for a speed at a phase [m]."""
        place = float(np.interp(speed, self.speeds, np.arange(len(self.speeds))))
        low = min(int(place), len(self.speeds) - 2)
        slower, faster = (self._between(number, phase) for number in (low, low + 1))
        return slower + (place - low) * (faster - slower)

    def _between(self, number, phase):
        poses = self._poses[number]
        place = phase % 1.0 * len(poses)
        first = int(place) % len(poses)
        step = poses[(first + 1) % len(poses)] - poses[first]
        return poses[first] + (place - int(place)) * step


def blended_pops(space, speeds, turns):
    """What `Walk.pops` measures, of blended poses, where they walk and run [mm].

    Below the slowest walk they would stop in mid-step, which is left out.
    """
    blend, yaw, place, phase = Blend(space), 0.0, np.zeros(3), 0.0
    points, said = [], []
    for speed, turn in zip(speeds, turns, strict=True):
        rate = speed / FPS / blend.stride(speed)
        yaw, phase = yaw + turn / FPS, phase + rate
        going = np.array([np.sin(yaw), -np.cos(yaw), 0.0]) * speed / FPS
        place = place + going
        points.append(at(blend.pose(speed, phase), yaw) + place)
        found = []
        for near in phase + rate * np.array([-1.0, -0.5, 0.0, 0.5, 1.0]):
            shown = blend.pose(speed, near)
            moved = blend.pose(speed, near + DELTA) - blend.pose(speed, near - DELTA)
            spun = at(shown, yaw + 0.5 * turn / FPS) - at(shown, yaw - 0.5 * turn / FPS)
            moved = at(moved * rate / (2.0 * DELTA), yaw) + spun + going
            found.append(np.linalg.norm(moved, axis=-1))
        said.append(np.max(found, axis=0))
    said = np.array(said)
    step = np.linalg.norm(np.diff(points, axis=0), axis=-1)
    pops = 1000.0 * (step - 2.0 * np.maximum(said[1:], said[:-1])).max(axis=1)
    walks = speeds > 1.1 * blend.speeds[0]
    return pops[walks[1:] & walks[:-1]]


def at(points, yaw):
    """Points turned about z."""
    return turned(points[None].copy(), np.array([yaw]))[0]

"""Many gaits between a walk and a run: they change also after the feet have passed each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from test_gait import GAIT, PHASE, SLOW, STAND, crowd, walked

from steer_addon.core.characters.cast import MEMORY, Cast
from steer_addon.core.characters.pose_space import Row
from steer_addon.core.step.gaits import gait


def test_close_gaits_still_rise_after_the_feet_have_passed():
    mixes = [
        Row(f"mix {k}", 51 + 20 * k, 20, speed=1.2 + 0.1 * k, stride=1.3 + 0.05 * k, duration=1.0)
        for k in range(8)
    ]
    shown = {}
    for close in (False, True):
        rows = (STAND, SLOW, *(replace(row, close=close and k > 0) for k, row in enumerate(mixes)))
        agents, settings = crowd(cast=Cast((rows,)))
        agents.velocity[:] = [1.2, 0.0, 0.0]
        gait.begin(agents, settings)
        agents.memory[MEMORY][:, PHASE] = 0.25
        shown[close] = walked(agents, settings, [2.5] * 10)[0][:, 0]
    # ten steps lead past two places where feet pass
    assert shown[False][-1, GAIT] == 2 + 2
    assert shown[True][-1, GAIT] > 2 + 2
    # still one gait at a time, soon after such a place, while the planted foot moves by little
    changes = np.flatnonzero(np.diff(shown[True][:, GAIT])) + 1
    assert (np.diff(shown[True][:, GAIT]) <= 1.0).all()
    behind = shown[True][changes, PHASE] * 2.0 % 1.0 / 2.0
    assert (behind <= gait.LATER).all()

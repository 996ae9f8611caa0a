"""Each behavior that goes to a target, or along with it, gets round a wall by ways."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import way_scenes as scenes
from waytools import Walk

from steer_addon.core.behaviors import REGISTRY
from tests.often import often


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    often(
        ["seek", "arrive", "pursue", "offset_pursue", "follow_leader"], "arrive", "offset_pursue"
    ),
)
def test_a_wall_is_gone_round(name):
    walls = [scenes.rectangle(9.8, 0.0, 10.2, 16.0), *scenes.fence(0, 0, 20, 20)]
    scene = scenes.on_plane(walls, (20.0, 20.0))
    goal = np.array([15.0, 3.0, 0.0])
    nearest = {}
    for ways in ("NONE", "AROUND"):
        walk = Walk(scene, [5.0, 3.0, 0.0], goal, ways)
        stack = (replace(REGISTRY[name](), weight=1.0),)
        walk.simulation.settings = replace(walk.simulation.settings, behaviors=stack)
        nearest[ways] = np.linalg.norm(walk.on(580)[:, 0] - goal, axis=1).min()
    # places beside and behind the target are up to 1.5 m away
    assert nearest["AROUND"] < 1.6 < 4.0 < nearest["NONE"]

"""Arrival in a scene: its settings can be keyed as all others, its warnings reach the panel."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd.properties import settings_of  # noqa: E402
from steer_addon.blender.live import live, simulate  # noqa: E402
from tests.diagnosed import codes  # noqa: E402

from .live_scenes import (  # noqa: E402
    frame_set,
    make_box,
    make_colliders,
    make_crowd,
    make_target,
    play,
)

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_what_happens_on_arrival_can_be_keyed():
    obj = make_crowd([(0, 0, 0), (0.1, 0, 0)])
    make_target(obj, (0, 0, 0))
    bodies = obj.steer.bodies
    for mode, number in (("HOLD_AREA", 1), ("LEAVE", 10)):
        bodies.on_arrival = mode
        assert bodies.keyframe_insert("on_arrival", frame=number)
    play(1, 12)
    assert settings_of(obj).bodies.on_arrival == "LEAVE"
    alive = [live.get_frame(obj, number).alive.tolist() for number in (1, 9, 10, 12)]
    assert alive == [[1, 1], [1, 1], [0, 0], [0, 0]]
    assert live.get_frame(obj, 9).attributes["arrived"].tolist() == [1, 1]
    offline = list(simulate.run(obj, bpy.context.scene, range(1, 13)))
    np.testing.assert_array_equal(offline[-1].position, live.get_frame(obj, 12).position)
    assert [frame.alive[0] for frame in offline] == [1] * 9 + [0] * 3


def test_a_goal_inside_of_a_collider_is_told_in_the_panel():
    obj = make_crowd([(5, 0, 0)])
    target = make_target(obj, (0.5, 0, 0))
    make_colliders(obj, make_box())
    obj.steer.bodies.collide_colliders = True
    play(1, 3)
    assert "TARGET_INSIDE" in codes(live.status(obj).warnings)
    target.location = (4, 0, 0)
    frame_set(1)
    play(1, 3)
    assert "TARGET_INSIDE" not in codes(live.status(obj).warnings)

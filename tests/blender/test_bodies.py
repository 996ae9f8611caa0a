"""Bodies in a scene: colliders that move push agents, live and offline, and the panel tells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.live import live, simulate  # noqa: E402
from steer_addon.core.crowd.settings import BodiesSettings  # noqa: E402
from steer_addon.core.diagnoses import diagnose  # noqa: E402
from tests.blender.live_scenes import (  # noqa: E402
    make_box,
    make_colliders,
    make_crowd,
    move,
    play,
    seekers,
)
from tests.diagnosed import codes  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

BODIES = BodiesSettings(collide_agents=True, collide_colliders=True)


def make_scene(points=((0, 0, 0), (0, 0.6, 0), (0, 5, 0))):
    """Agents that stand, and a box of 2 m that comes by like a bus."""
    settings = replace(seekers(), behaviors=(), bodies=BODIES)
    crowd = make_crowd(points, settings=settings)
    bus = make_box("Bus", (-4, 0, 0))
    move(bus, {1: (-4, 0, 0), 20: (8, 0, 0)})
    make_colliders(crowd, bus)
    bpy.context.scene.frame_set(1)
    return crowd, bus


def test_a_bus_pushes_agents_live_as_it_does_offline():
    crowd, bus = make_scene()
    offline = [f.position for f in simulate.run(crowd, bpy.context.scene, range(1, 21))]
    play(1, 20)
    frames = [live.get_frame(crowd, number) for number in range(1, 21)]
    for position, frame in zip(offline, frames, strict=True):
        assert frame is not None
        assert np.array_equal(position, frame.position)
    for number, position in enumerate(offline, 1):
        bpy.context.scene.frame_set(number)
        beside = np.abs(position[:, :2] - np.array(bus.matrix_world.translation)[:2])
        assert (beside.max(axis=1) > 1.0).all(), number
    assert offline[-1][0, 0] > 5.0
    assert (offline[-1][2] == offline[0][2]).all()


def test_the_user_is_told_how_many_started_inside_of_colliders():
    crowd, _bus = make_scene([(-4, 0.2, 0), (-4.5, 0, 0), (0, 0, 0)])
    warnings = []
    frames = list(simulate.run(crowd, bpy.context.scene, range(1, 2), warnings=warnings))
    assert (np.abs(frames[0].position[:, :2] + [4, 0]).max(axis=1) >= 1.25 - 1e-4).all()
    assert diagnose("INSIDE_COLLIDERS", count=2) in warnings
    play(1, 2)
    assert diagnose("INSIDE_COLLIDERS", count=2) in live.status(crowd).warnings
    crowd.steer.bodies.collide_colliders = False
    warnings = []
    list(simulate.run(crowd, bpy.context.scene, range(1, 2), warnings=warnings))
    assert "INSIDE_COLLIDERS" not in codes(warnings)


def test_nobody_stands_below_a_cube_that_hangs_lower_than_a_head():
    points = [(0.3 * k - 0.6, 0.2, 0) for k in range(5)] + [(-4, 0, 0)]
    crowd, _bus = make_scene(points)
    cube = make_box("Cube", (0, 0, 1.6))  # its bottom is at 0.6 m
    make_colliders(crowd, cube)
    crowd.steer.bodies.height = 1.75
    heights = crowd.data.attributes.new("height", "FLOAT", "POINT")
    heights.data.foreach_set("value", [1.75, 1.75, 1.75, 1.75, 0.5, 1.75])
    warnings = []
    frames = list(simulate.run(crowd, bpy.context.scene, range(1, 13), warnings=warnings))
    for frame in frames:
        outside = np.abs(frame.position[:4, :2]).max(axis=1)
        assert (outside >= 1.25 - 1e-4).all()
    # who is lower than the cube stays where it is, and so does who is elsewhere
    assert frames[-1].position[4:] == pytest.approx(np.array([(0.6, 0.2, 0), (-4, 0, 0)]))
    assert diagnose("INSIDE_COLLIDERS", count=4) in warnings

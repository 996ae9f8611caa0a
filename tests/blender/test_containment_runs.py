"""Containment that bounces and wraps, played in Blender: no agent leaves, wrapping jumps."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.live import live  # noqa: E402
from tests.blender.live_scenes import (  # noqa: E402
    code_of,
    make_box,
    make_crowd,
    make_target,
    play,
    seekers,
    stored,
)
from tests.blender.source_makers import add_user, make_shape  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

LAST = 24 * 5
STEP = 1.4 / 24
MIDDLE = np.array([10.0, 5.0, 0.0])
HALF = 1.5


def region_of(shape):
    """An empty or a mesh around the middle, scaled to three meters across."""
    if shape == "MESH":
        found = make_box("Room", MIDDLE, half=HALF / 2)
        found.scale = (2, 2, 2)
        return found
    kind = {"BOX": "CUBE", "SPHERE": "SPHERE"}[shape]
    return make_shape(kind, HALF / 2, MIDDLE, (2, 2, 2), "Room")


def played(shape, method):
    """Places of five walkers who go east for ever, from the middle on, shape (frames, 5, 3)."""
    points = [MIDDLE + (0, y, 0) for y in (-0.5, -0.25, 0.0, 0.25, 0.5)]
    obj = make_crowd(points, settings=seekers())
    make_target(obj, (1000, 5, 0))
    item = add_user(obj, "containment", region_of(shape))
    item.containment.shape, item.containment.method = shape, method
    obj.steer.frame_end = LAST
    bpy.context.view_layer.update()
    play(1, LAST)
    assert stored(obj) == (1, LAST) and code_of(obj) == ""
    # their goal lies outside of where they are held; by then the panel may say so
    assert {warning.code for warning in live.status(obj).warnings} <= {"STUCK"}
    return np.array([live.get_frame(obj, k).position for k in range(1, LAST + 1)], np.float64)


def outside(shape, places):
    """How far places are outside of the region [m]."""
    offset = np.abs(places - MIDDLE)
    if shape == "SPHERE":
        # a sphere empty of size 0.75 and scale 2
        return np.linalg.norm(offset, axis=-1) - HALF
    return offset.max(axis=-1) - HALF


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["BOX", "SPHERE", "MESH"])
@pytest.mark.parametrize("method", ["BOUNCE", "WRAP"])
def test_nobody_leaves_and_who_wraps_comes_back_on_the_other_side(method, shape):
    places = played(shape, method)
    assert outside(shape, places).max() < 1e-3
    # they do get to the border
    assert (places[..., 0].max(axis=0) > MIDDLE[0] + 0.8 * HALF).all()
    moves = np.diff(places[..., 0], axis=0)
    if method == "WRAP":
        # 5 s at 1.4 m/s are 7 m: out at the east twice at least, in at the west
        jumps = moves < -HALF
        assert (jumps.sum(axis=0) >= 2).all()
        assert (moves[~jumps] > -1e-4).all() and moves.max() < 2.0 * STEP
    else:
        # thrown back from the border, again and again, without a jump
        assert np.abs(moves).max() < 2.0 * STEP
        assert ((moves < -0.5 * STEP).sum(axis=0) >= 1).all()

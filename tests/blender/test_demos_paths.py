"""What happens in the scenes with people on paths."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from tests.blender.demo_runs import LAST, gaps, in_boxes, nearest_neighbor, play  # noqa: E402
from tests.blender.demo_ways import beside, line_of, values_of  # noqa: E402

pytestmark = pytest.mark.usefixtures("steer")

SECONDS = (LAST - 1) / 24.0


def test_street_lanes():
    crowd = play("street_lanes")["Crowd"]
    people, obj = crowd.positions, crowd.obj
    lane, direction, pace = (values_of(obj, n) for n in ("lane", "direction", "max_speed"))
    along, right = beside(people, line_of(bpy.data.objects["Street"]))
    # people of both directions keep to their own side of the street, and to their lanes
    assert set(direction) == {-1, 1}
    assert (right * direction).min() > 0.25
    assert np.abs(right * direction - lane).max() < 0.5
    # all of them go their way, about as fast as they like
    walked = (along[-1] - along[0]) * direction
    assert (walked > 0.7 * pace * SECONDS).all()
    # nobody walks into a house, or into anybody else
    houses = list(obj.steer.colliders.objects)
    assert len(houses) > 20 and not in_boxes(people, houses).any()
    assert min(nearest_neighbor(frame).min() for frame in people) > 0.5

"""Runs of the scenes with people on paths."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from tests.blender.demo_runs import LAST, in_boxes, nearest_neighbor, play  # noqa: E402
from tests.blender.demo_ways import beside, line_of, values_of  # noqa: E402

pytestmark = pytest.mark.usefixtures("steer", "few_poses")

SECONDS = (LAST - 1) / 24.0


@pytest.mark.slow
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


def test_parade_on_path():
    crowd = play("parade_on_path")["Crowd"]
    marchers, obj = crowd.positions, crowd.obj
    line = line_of(bpy.data.objects["Route"])
    along, right = beside(marchers, line)
    total = np.linalg.norm(np.diff(line, axis=0), axis=1).sum()
    along = np.unwrap(along, period=total, axis=0)
    # four files beside one another, each in its lane
    lane = values_of(obj, "lane")
    files = sorted({round(float(value), 3) for value in lane})
    assert len(files) == 4 and np.abs(right - lane).max() < 0.1
    # the rows stay in their order, a row's distance apart, and in line
    rows = along.reshape(LAST, -1, len(files))
    steps = -np.diff(rows, axis=1)
    assert rows.shape[1] > 10 and steps.min() > 1.2 and steps.max() < 1.8
    assert np.ptp(rows, axis=2).max() < 0.35
    # the whole column continues, at the pace of its middle
    went = along[-1] - along[0]
    pace = values_of(obj, "max_speed").mean()
    assert went.min() > 0.85 * pace * SECONDS and went.max() < pace * SECONDS
    # nobody walks into anybody else: files are a meter apart
    assert min(nearest_neighbor(frame).min() for frame in marchers) > 0.85

"""Runs of the scenes whose people find their ways: out of rooms, to desks, through gates."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from tests.blender.demo_runs import nearest_neighbor, play  # noqa: E402

pytestmark = [pytest.mark.usefixtures("steer", "few_poses"), pytest.mark.slow]


def there(frame):
    return frame.position[frame.alive != 0]


def test_evacuation():
    people = play("evacuation", 400)["People"]
    assert len(there(people.frames[0])) == 72
    # all are out of their rooms, of which doors are the only way out, and gone at the exits
    assert len(there(people.frames[-1])) <= 2
    assert min(nearest_neighbor(there(f)[:, :2]).min() for f in people.frames[:240:8]) > 0.499


def test_office():
    staff = play("office", 760)["Staff"]
    desks = np.array([obj.location for obj in bpy.data.collections["Places"].objects])
    away = np.linalg.norm(staff.positions[-1][:, None] - desks, axis=2)
    # each has a place of its own
    assert (away.min(axis=1) < 0.6).all() and len(set(away.argmin(axis=1))) == len(desks) == 16


def test_stadium_exit():
    fans = play("stadium_exit", 400)["Fans"]
    assert len(there(fans.frames[0])) == 60
    gone = fans.frames[-1].alive == 0
    assert gone.sum() >= 45
    # both gates are used
    east = fans.positions[-1][gone, 0] > 0.0
    assert 0.3 < east.mean() < 0.7

"""Runs of the scenes whose people find their ways: out of rooms, to desks, through gates."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from tests.blender.demo_runs import nearest_neighbor, play  # noqa: E402

pytestmark = pytest.mark.usefixtures("steer", "few_poses")


def there(frame):
    return frame.position[frame.alive != 0]


def test_evacuation():
    people = play("evacuation", 480)["People"]
    assert len(there(people.frames[0])) == 72
    # all are out of their rooms, of which doors are the only way out, and gone at the exits
    assert not len(there(people.frames[-1]))
    assert min(nearest_neighbor(there(f)[:, :2]).min() for f in people.frames[:240]) > 0.499


def test_office():
    staff = play("office", 720)["Staff"]
    places = bpy.data.collections["Places"].objects
    desks = np.array([obj.location for obj in places])
    away = np.linalg.norm(staff.positions[-1][:, None] - desks, axis=2)
    # each has a place of its own
    assert (away.min(axis=1) < 0.6).all() and len(set(away.argmin(axis=1))) == len(desks) == 16


def test_stadium_exit():
    fans = play("stadium_exit", 1200)["Fans"]
    assert len(there(fans.frames[0])) == 98
    assert not len(there(fans.frames[-1]))
    # both gates are used
    last = np.array([[f.position[row] for f in fans.frames[:-1]][-1] for row in range(98)])
    east = (last[:, 0] > 0.0).mean()
    assert 0.25 < east < 0.75

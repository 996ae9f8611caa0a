"""Pose spaces: rows that follow one another, gaits that rise."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

from steer_addon.core.characters.pose_space import PoseSpace, Row
from steer_addon.core.errors import CharacterError

STAND, WALK = Row("stand", 0, 1), Row("walk", 1, 4, speed=1.0, stride=1.2)
WAVE = Row("wave", 5, 2, duration=2.0, loops=False)


def poses(count):
    return np.zeros((count, 3, 3), np.float32)


def test_rows_are_the_gaits_and_then_the_clips():
    space = PoseSpace(poses(7), (STAND, WALK), (WAVE,))
    assert [row.name for row in space.rows] == ["stand", "walk", "wave"]
    assert space.pose_count == 7


@pytest.mark.parametrize(
    ("count", "gaits", "said"),
    [
        (6, (STAND, WALK), "have 5 poses, and there are 6"),
        (5, (WALK, STAND), "Row 'walk' has 4 poses from 1 on"),
        (2, (STAND, Row("stroll", 1, 1, speed=0.0)), "each faster"),
        (0, (), "each faster"),
        (1, (Row("stand", 0, 1, duration=0.0),), "for 0 s"),
    ],
)
def test_rows_that_do_not_fit_are_refused(count, gaits, said):
    with pytest.raises(CharacterError, match=said):
        PoseSpace(poses(count), gaits)


def test_rows_that_are_alike_have_one_hash_and_copies_for_other_processes_none():
    row = Row("walk", 0, 4, turning=((0.1, 0.2, 0.3),) * 24)
    assert hash(row) == hash(replace(row)) != hash(replace(row, count=5))
    # texts have another hash in each process
    sent = pickle.loads(pickle.dumps(row))
    assert sent == row and set(vars(sent)) == {field.name for field in fields(Row)}

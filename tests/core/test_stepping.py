"""Turning on the spot of bodies made from rigs: their feet step round, one after the other."""

from __future__ import annotations

import numpy as np
import pytest
from walktools import finished, turned, walk

from steer_addon.core.characters.pose_space import split_clips
from steer_addon.core.characters.rows import Place, Plan, Rows
from steer_addon.core.characters.stepping import add_rounds

LEVELS = np.linspace(0.0, 0.9, 10)
PLACE = Place(0.3, (0.5, -0.2), 0.1)
"""Samples stand elsewhere, and face aside."""


def body(wide, passing):
    """A body of 1.8 m with straight legs of 0.9 m, and what samples it, see `Sample`."""
    soles = np.array([[x, y, 0.0] for x in (-0.05, 0.05) for y in (-0.18, 0.07)])
    leg = np.concatenate([soles, [[0.0, 0.0, z] for z in LEVELS]])
    legs = [leg + [side * wide, 0.0, 0.0] for side in (1.0, -1.0)]
    head = np.array([[0.0, 0.0, 1.2], [0.0, 0.1, 1.8]])
    count, lifted = len(leg), []
    for side in range(2):
        one = [part.copy() for part in legs]
        # the foot in the air is further back and nearer, the body leans over the other one
        one[side] += [0.03 - 0.06 * side, 0.1, 0.0]
        one[side][:, 2] = 0.25 + 0.7 * one[side][:, 2]
        lifted.append(np.concatenate([*one, head]) + [0.0, 0.04, 0.0])
    stand = np.concatenate([*legs, head])
    sides = np.arange(len(stand)) < count, (np.arange(len(stand)) // count) == 1

    def sample(weights, time, held=0.0):
        share = weights[1]
        pose = share * lifted[passing.index(time)] if share else 0.0
        pose = pose + (weights[0] + held) * stand
        pose = turned(np.array(pose)[None], np.array([-PLACE.angle]))[0]
        return (pose + [*PLACE.center, PLACE.ground]).astype(np.float32)

    return sample, stand, sides


def made(wide=0.12, passing=(0.5, 0.0), swapped=False):
    sample, stand, sides = body(wide, passing)
    rows = Rows(Plan())
    finished(rows.add_stand(lambda time: sample((1.0, 0.0, 0.0), time), 1.0, PLACE))
    sides = sides[::-1] if swapped else sides
    finished(add_rounds(rows, sample, PLACE, (0.0, 0.5), sides))
    return rows, stand


def test_planted_feet_turn_back_as_far_as_the_body_turns():
    rows, stand = made()
    space = rows.space()
    _, (left, right), _ = split_clips(space.clips)
    points = space.positions[left.first : left.first + left.count].astype(float)
    np.testing.assert_allclose(points[0], stand, atol=1e-6)
    stays = turned(points.copy(), np.arange(left.count) / left.count * left.turn)
    low = points[..., 2] < 0.001
    moved = np.linalg.norm(np.diff(stays, axis=0), axis=-1)[low[1:] & low[:-1]]
    assert len(moved) > 200 and np.percentile(moved, 95) < 1e-4
    # the left foot goes first, and both step; the other way round it is the reverse
    heights = points[:, [0, 14], 2]
    assert heights[left.count // 4].argmax() == 0 and (heights.max(axis=0) > 0.1).all()
    other = space.positions[right.first : right.first + right.count]
    np.testing.assert_array_equal(other[1:], points[:0:-1].astype(np.float32))
    # hips do not turn with the feet: one is 0.1 m further back while it is lifted
    hips = points[:, 13] - points[:, 27] - (stand[13] - stand[27])
    assert np.abs(hips[:, :2]).max() < 0.101
    for first, second in ((made(passing=(0.0, 0.5))[0], rows), (made(swapped=True)[0], rows)):
        np.testing.assert_allclose(first.space().positions, second.space().positions, atol=1e-6)


@pytest.mark.parametrize("rate", [1.5, 3.5])
def test_feet_hardly_slip_however_fast_the_turn_is(rate):
    space = made()[0].space()
    went = walk(space, [0.0] * 130, [0.0] * 10 + [rate] * 50 + [-rate] * 40 + [0.0] * 30)
    assert np.percentile(went.slips(0.005), 95) <= 8.0
    assert went.gaits[-1] == 0 and went.pops().max() <= 20.0


def test_legs_that_are_not_fit_do_not_step_round():
    assert not made(wide=0.6)[0].clips
    sample, _, _sides = body(0.12, (0.0, 0.5))
    rows = Rows(Plan())
    finished(add_rounds(rows, sample, PLACE, (0.0, 0.5), ()))
    assert not rows.clips

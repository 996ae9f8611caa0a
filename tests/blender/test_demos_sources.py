"""Runs of the scenes of the systems that Steer's formulas come from."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from tests.blender.demo_runs import (  # noqa: E402
    crossings,
    gaps,
    in_boxes,
    nearest_neighbor,
    play,
)

pytestmark = pytest.mark.usefixtures("steer", "few_poses")

BALLS = ((0.0, -8.4), (-1.2, -4.2), (0.0, 0.0), (-1.2, 4.2), (0.0, 8.4))
"""Centers of the balls [m]."""
RADIUS = 1.2
OFFSETS = (0.0, 0.35, -0.6)
"""How far to the left of the line through the ball's center its walkers come [m]."""
HEAD_ON = np.array(OFFSETS * len(BALLS)) == 0.0
CENTERS = np.repeat(np.array(BALLS), len(OFFSETS), axis=0)
"""The ball that each walker meets."""


def play_balls(name):
    """Walks relative to the ball that each walker meets, shape (frames, agents, 2), and speeds."""
    walkers = play(name)["Walkers"]
    ways = walkers.positions[..., :2]
    # nobody walks into a ball, or where somebody else is
    assert gaps(ways, np.array(BALLS)).min() > RADIUS + 0.1
    assert min(nearest_neighbor(points).min() for points in ways) > 0.5
    return ways - CENTERS, np.linalg.norm(walkers.velocities, axis=-1)


def passed_on_their_side(ways):
    """Which walkers passed their ball on the side from which they came."""
    beside = ways[np.argmax(ways[..., 0] > 0.0, axis=0), np.arange(ways.shape[1]), 1]
    return (ways[-1, :, 0] > 0.0) & (beside * ways[0, :, 1] > 0.0)


@pytest.mark.slow
def test_ahead_spheres():
    ways, speeds = play_balls("ahead_spheres")
    # an agent that comes head-on brakes in front of the ball, and is not pushed aside
    stopped = ways[:, HEAD_ON]
    assert stopped[..., 0].max() < -RADIUS
    assert np.abs(stopped[..., 1]).max() < 0.01
    assert speeds[:, HEAD_ON].max() > 1.4
    assert speeds[-10:, HEAD_ON].max() < 0.4
    # all others pass
    assert passed_on_their_side(ways)[~HEAD_ON].all()


def test_lateral_spheres():
    ways, speeds = play_balls("lateral_spheres")
    # all agents pass; one that comes head-on turns to the right
    assert passed_on_their_side(ways)[~HEAD_ON].all()
    assert (ways[-1, HEAD_ON, 0] > 0.0).all()
    assert (ways[-1, HEAD_ON, 1] < -0.5).all()
    # nobody turns back, or brakes once he walks
    assert (np.diff(ways[..., 0], axis=0) > -1e-6).all()
    assert speeds[24:].min() > 1.4


FREE, PUSHED, PULLED, SLIDING, TURNING = range(5)


WALL = ((6.0, 0.0), (0.0, 0.0), (0.0, 14.0))
"""The L, seen from above [m]."""


def test_unity_zones():
    bodies = play("unity_zones")["Bodies"]
    zones = bodies.attribute("zone").astype(int)
    for visited in zones.T:
        # each zone is met in turn, and then the goal is in sight
        assert list(dict.fromkeys(visited)) == [FREE, PUSHED, PULLED, SLIDING, TURNING]
        assert (visited[np.argmax(visited == TURNING) :] == FREE).any()
    # nobody crosses the L, and at the end most are behind it
    ways = bodies.positions
    assert crossings(ways, list(zip(WALL, WALL[1:], strict=False))) == 0
    assert not in_boxes(ways, list(bodies.obj.steer.colliders.objects)).any()
    assert (ways[0, :, 0] > 0.0).all()
    assert (ways[-1, :, 0] < 0.0).mean() > 0.8


def to_line(points, a, b):
    """Distance of points to the segment from a to b, seen from above; shape (...,) [m]."""
    way = b - a
    share = np.clip((points - a) @ way / (way @ way), 0.0, 1.0)
    return np.linalg.norm(points - a - share[..., None] * way, axis=-1)


BEAR = {1: (-1.0, 7.0, 0.0), 201: (-22.0, 6.0, 0.0)}
"""Where the bear is, by frame [m]."""


def test_feelers_hide_path():
    walkers = play("feelers_hide_path")["Walkers"]
    ways, hidden = walkers.positions, walkers.attribute("hidden") > 0.0
    (first, start), (last, end) = BEAR.items()
    share = (np.arange(len(ways))[:, None, None] + 1 - first) / (last - first)
    bear = np.array(start) * (1.0 - share) + np.array(end) * share
    near = np.linalg.norm(ways - bear, axis=-1) < 8.0
    # several are seen by the bear; some of them turn back for cover
    seen = near & ~hidden
    assert (seen.sum(axis=0) >= 12).sum() >= 4
    back = walkers.velocities[..., 0].min(axis=0) < -0.5
    assert back.sum() >= 2
    assert (seen.sum(axis=0)[back] >= 12).all()
    # in the end the bear is next to them, and sees nobody
    assert near[-15:].any(axis=1).all()
    assert not seen[-15:].any()
    # the hedge at the path turns walkers aside, and nobody goes into hedges or rocks
    plans = [
        np.array([corner.co[:2] for corner in obj.data.vertices])
        for obj in walkers.obj.steer.colliders.objects
        if obj.name.startswith("Hedge")
    ]
    assert len(plans) == 2
    sides = [(a, b) for plan in plans for a, b in zip(plan, np.roll(plan, -1, 0), strict=True)]
    assert min(to_line(ways[..., :2], *side).min() for side in sides) < 0.1
    assert crossings(ways, sides) == 0
    rocks = [o for o in walkers.obj.steer.colliders.objects if o.name.startswith("Ball")]
    centers = np.array([rock.location[:2] for rock in rocks])
    assert len(rocks) == 8
    assert (gaps(ways[..., :2], centers) > [rock.dimensions.x / 2 + 0.3 for rock in rocks]).all()
    # the path is what all of them follow: the first are through the gap, the others on their way
    assert (ways[-1, :2, 0] > 2.4).all()
    assert (ways[-1, :, 0] - ways[0, :, 0] > 2.0).all()


PLACES = ((1.3, -1.3), (-1.3, -1.3), (2.6, -2.6), (-2.6, -2.6))
"""Where escorts walk, to the right and to the front of the leader [m]."""


@pytest.mark.slow
def test_cocos_steering():
    played = play("cocos_steering")
    ways = {name: crowd.positions for name, crowd in played.items()}
    flock, leader, hunter = ways["Flock"], ways["Leader"], ways["Hunter"]
    # flee: agents near the hunter make little progress, the others go to the flag
    afraid = gaps(flock[0], hunter[0])[:, 0]
    gain = flock[30, :, 0] - flock[0, :, 0]
    assert gain[afraid < 5.0].mean() < 0.5 * gain[afraid > 6.0].mean()
    # arrive and flock: then all of them follow it, in the same direction and apart
    motion = played["Flock"].velocities[-1]
    ahead = motion / np.linalg.norm(motion, axis=-1, keepdims=True)
    assert np.linalg.norm(ahead.mean(axis=0)) > 0.9
    assert (flock[-1, :, 0] > flock[0, :, 0] + 1.0).all()
    assert ((nearest_neighbor(flock[-1]) > 1.0) & (nearest_neighbor(flock[-1]) < 3.0)).all()
    # offset pursuit: escorts keep their places beside the leader
    beside = ways["Escorts"][70:] - leader[70:]
    assert np.abs(beside[..., 1] + np.array(PLACES)[:, 0]).max() < 0.1
    assert np.ptp(beside, axis=0).max() < 0.3
    # evade: he comes through where bystanders stood, and near to none of them
    bystanders = ways["Bystanders"]
    assert gaps(leader[:, 0], bystanders[0]).min() < 0.5
    assert gaps(leader, bystanders).min() > 1.5
    # seek and pursue: the runner keeps straight on, the hunter cuts him off
    runner = ways["Runner"]
    assert np.abs(runner[:, 0, 1] - runner[0, 0, 1]).max() < 0.01
    apart = gaps(hunter, runner)[:, 0, 0]
    assert apart[0] > 8.0
    assert apart[:90].min() < 1.5

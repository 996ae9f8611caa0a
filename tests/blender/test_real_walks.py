"""Whole walks of real rigs: feet stay, little pops, and bodies soon run and soon stand.

Soles of planted feet stay at any constant speed, on level ground, on a curve and on slopes, also
where the gait is one between walk and run; see `planted_slips` for what counts as planted.

Between two frames no vertex moves by more than twice what its poses say, but for a remainder, which
is larger than that of the built-in people: the rigs are 2.4 m tall, swing their arms and carry
capes. It is most where they leave a run within some steps, or slow down to stand while the feet are
apart; starts pop by next to nothing.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from hashlib import sha256
from itertools import product

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from blendtools import CLEAR, blended_pops  # noqa: E402
from walktools import (  # noqa: E402
    changing,
    frames_until_it_stands,
    journey,
    on_slope,
    planted_slips,
    random_journey,
    walk,
)

from steer_addon.blender.characters import making  # noqa: E402
from steer_addon.core.characters.recipe import Recipe  # noqa: E402
from tests.blender.made_once import import_rig  # noqa: E402
from tests.often import often  # noqa: E402

RISE = np.tan(np.radians(15.0))
BAND = 0.03
"""Share of the height below which a vertex is near the ground."""
FRAMES, SETTLED = 110, 50
"""Frames of a walk, and after how many of them a body has taken up its slope or curve."""
LIMITS = (3.0, 10.0), (5.0, 25.0)
"""The median and 95 % of the slips of walks, and of runs [mm]."""
MOST = 15.0
"""What vertices move by beyond twice what their poses say, at most [mm]."""
USUAL = 10.0
"""The same in 99 of 100 frames."""
SOON = 13
"""Frames after which a body that is as fast as it gets shows the gait for it."""


ALL = often(
    [
        ("Knight", "A", "A"),
        ("Knight", "B", "B"),
        ("Knight", "C", "Strafe_Left"),
        ("Knight", "Backwards", "Strafe_Right"),
        ("Mage", "A", "A"),
        ("Mage", "B", "B"),
        ("Mage", "C", "Strafe_Left"),
        ("Mage", "Backwards", "Strafe_Right"),
    ],
    ("Knight", "A", "A"),
)
"""Rigs, and which of their walks and runs they show: each of them once."""
WHO = often([("Knight", "A", "A"), ("Knight", "B", "A"), ("Mage", "C", "B")], ("Knight", "A", "A"))
"""Those that go at changing speeds, too."""


@cache
def made(shared, who, walks, runs):
    """The poses of a character that is made of a rig."""
    bpy.ops.wm.read_homefile(use_empty=True)
    rig = import_rig(shared / "characters" / f"{who}.glb")
    carried = [obj.name for obj in rig.children_recursive if obj.type == "MESH"]
    props = tuple(name for name in carried if not name.startswith(who))
    recipe = Recipe("Idle", f"Walking_{walks}", f"Running_{runs}", without=props)
    space = making.make_character(bpy.context.scene, rig, recipe).space
    # importers split vertices where faces meet at an edge: each place counts once
    ways = np.ascontiguousarray(space.positions.transpose(1, 0, 2))
    kept = {sha256(way).digest(): number for number, way in enumerate(ways)}
    return replace(space, positions=space.positions[:, sorted(kept.values())])


@cache
def at_random(shared, who, walks, runs, seed):
    """What such a character does on a random journey, and the speeds and turns of that."""
    speeds, turns = random_journey(seed)
    return walk(made(shared, who, walks, runs), speeds, turns), speeds, turns


@pytest.mark.slow
@pytest.mark.parametrize(("who", "walks", "runs"), ALL)
@pytest.mark.parametrize(
    ("radius", "slopes"),
    [
        (None, [(0.0, 0.0)]),
        (2.0, [(0.0, 0.0)]),
        (None, [(0.0, -RISE), (0.0, RISE), (RISE, 0.0)]),
    ],
    ids=["level", "curve", "slope"],
)
def test_soles_of_real_rigs_stay_at_any_speed(who, walks, runs, radius, slopes, shared):
    space, found = made(shared, who, walks, runs), ([], [])
    height = np.ptp(space.positions[..., 2], axis=1).max()
    low = space.positions[..., 2].min(axis=0) < BAND * height
    feet = replace(space, positions=space.positions[:, low])
    for speed, rise in product(np.arange(0.3, 3.55, 0.2), slopes):
        turn = 0.0 if radius is None else speed / radius
        went = walk(feet, [speed] * FRAMES, [turn] * FRAMES, rise=rise)
        points = on_slope(went, rise) if any(rise) else went.vertices()
        slips = planted_slips(points[SETTLED:], went.yaws[SETTLED:], speed, BAND * height)
        found[space.gaits[went.gaits[-1]].close].append(slips)
    for slips, (median, most) in zip(map(np.concatenate, found), LIMITS, strict=True):
        assert len(slips) > 100
        assert np.median(slips) <= median and np.percentile(slips, 95.0) <= most


@pytest.mark.slow
@pytest.mark.parametrize(("who", "walks", "runs"), WHO)
def test_soles_of_real_rigs_stay_while_they_speed_up_and_stop(who, walks, runs, shared):
    space, found = made(shared, who, walks, runs), []
    height = np.ptp(space.positions[..., 2], axis=1).max()
    low = space.positions[..., 2].min(axis=0) < BAND * height
    feet = replace(space, positions=space.positions[:, low])
    for seed in range(12):
        went, speeds, _turns = at_random(shared, who, walks, runs, seed)
        points = replace(went, space=feet).vertices()
        for k in np.flatnonzero(changing(went, speeds)):
            step = slice(k, k + 2)
            found.append(planted_slips(points[step], went.yaws[step], speeds[k + 1], BAND * height))
    slips = np.concatenate(found)
    assert len(slips) > 1000
    assert np.median(slips) <= 10.0 and np.percentile(slips, 95.0) <= 20.0
    stops = [frames_until_it_stands(feet, 3.2, 24 + k) for k in range(0, 24, 4)]
    assert np.median(stops) <= 36 and max(stops) <= 50


@pytest.mark.slow
@pytest.mark.parametrize(("who", "walks", "runs"), WHO)
def test_real_rigs_hardly_pop_from_walk_to_run(who, walks, runs, shared):
    space = made(shared, who, walks, runs)
    runs_from = next(n for n, row in enumerate(space.gaits) if row.close)
    assert space.pose_count < 7000
    for pull in (1.5, 4.0):
        speeds, turns = journey(3.2, pull)
        went = walk(space, speeds, turns)
        pops = went.pops()
        assert pops.max() <= MOST and np.percentile(pops, 99.0) <= USUAL
        changes = np.diff(went.gaits) != 0
        # from and to standing
        still = changes & (np.minimum(went.gaits[1:], went.gaits[:-1]) == 0)
        assert still.sum() > 4 and pops[still].max() <= 10.0
        top = len(space.gaits) - 1
        fast = np.maximum(went.gaits[1:], went.gaits[:-1])
        fast = (fast >= runs_from) & (fast <= top)
        assert changes[fast].sum() > 20
        started = np.flatnonzero(speeds > 3.19)[0]
        fastest = went.gaits[went.gaits <= top].max()
        assert np.flatnonzero(went.gaits == fastest)[0] - started < SOON
        stopped = started + np.flatnonzero(speeds[started:] < 0.01)[0]
        assert np.flatnonzero(went.gaits[stopped:] == 0)[0] < 4 * 24
    # steps and turns begin in the pose that is nearest to all poses of standing
    stand = space.positions[: space.gaits[0].count, ::10]
    apart = [np.linalg.norm(stand - pose, axis=-1).max() for pose in stand]
    assert len(stand) > 20 and apart[0] < 1.1 * min(apart) < 0.7 * max(apart)
    # hands that turn round say next to nothing
    space = replace(space, positions=space.positions[:, ::3])
    for seed in range(6):
        went, *_ = at_random(shared, who, walks, runs, seed)
        assert replace(went, space=space).pops().max() <= MOST


def abruptness(went):
    """By how much the motion of a vertex differs at most from one frame to the next [mm]."""
    return 1000.0 * np.linalg.norm(np.diff(went.vertices(), 2, axis=0), axis=-1).max(axis=1)


@pytest.mark.slow
@pytest.mark.parametrize(("who", "walks", "runs"), WHO)
def test_real_rigs_that_stopped_come_to_stand_less_abruptly_than_they_walk(
    who, walks, runs, shared
):
    space = made(shared, who, walks, runs)
    space = replace(space, positions=space.positions[:, ::8])
    steady, found = abruptness(walk(space, [1.3] * 80, [0.0] * 80))[20:], []
    for seed in range(12):
        went, speeds, turns = at_random(shared, who, walks, runs, seed)
        jerks = abruptness(replace(went, space=space))
        moves = (went.gaits[1:-1] > 0) | (went.gaits[2:] > 0)
        found.append(jerks[moves & (speeds[2:] == 0.0) & (turns[2:] == 0.0)])
    found = np.concatenate(found)
    assert len(found) > 100
    assert np.median(found) < np.median(steady) and found.max() < steady.max()


@pytest.mark.slow
@pytest.mark.parametrize(("who", "walks", "runs"), WHO)
def test_real_rigs_pop_less_than_poses_that_are_blended_without_steps(who, walks, runs, shared):
    space = made(shared, who, walks, runs)
    space = replace(space, positions=space.positions[:, ::12])
    journeys = [at_random(shared, who, walks, runs, seed) for seed in range(4)]
    ours = np.concatenate([replace(went, space=space).pops() for went, *_ in journeys])
    blended = np.concatenate([blended_pops(space, *journey) for _, *journey in journeys])
    assert ours.max() < 0.7 * blended.max()
    assert np.mean(ours > CLEAR) < 0.5 * np.mean(blended > CLEAR)

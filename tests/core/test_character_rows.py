"""Feet, ways and rows of a walker whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from walktools import finished

from steer_addon.core.characters import contacts, ladder, rows
from steer_addon.core.errors import CharacterError

STRIDE = 1.2
DUTY = 0.6


def walker(weights, time, held=0.0, *, angle=0.0, drift=0.0, uneven=0.09, lift=0.15):
    """A body on two feet that walk along -y; a foot goes back unevenly, but both go back alike."""
    share, run = weights[1] + weights[2], weights[2]
    stride = share * STRIDE * (1.0 + run)
    points = [[0.0, 0.0, 1.8], [0.0, 0.1, 1.0]]
    # the way at a time: uneven on purpose, as it is in real clips
    way = stride * (time + uneven * np.sin(4.0 * np.pi * time) / np.pi)
    for side, start in ((0.1, 0.0), (-0.1, 0.5)):
        gone = (way / stride + start) % 1.0 if stride else 0.0
        swing = (gone - DUTY) / (1.0 - DUTY)
        y = stride * (
            gone - DUTY / 2 if swing < 0.0 else DUTY * (0.5 - swing * swing * (3 - 2 * swing))
        )
        z = 0.0 if swing < 0.0 else lift * np.sin(np.pi * swing)
        points += [
            [side + dx, y + dy if stride else dy, z] for dx in (-0.03, 0.03) for dy in (-0.1, 0.1)
        ]
    result = np.array(points, np.float32)
    result[:, 1] -= drift * time
    return contacts.turned(result, angle)


def cycle_of(steps=240, stride=None, **options):
    return contacts.measure_cycle(
        finished(rows.dense(lambda t: walker((0.0, 1.0, 0.0), t, **options), steps)),
        1.0,
        stride,
    )


def test_way_is_what_the_planted_feet_go_back():
    cycle = cycle_of()
    time = np.linspace(0.0, 1.0, 241)
    expected = STRIDE * (time + 0.09 * np.sin(4.0 * np.pi * time) / np.pi)
    assert cycle.stride == pytest.approx(STRIDE, rel=0.01)
    assert np.abs(cycle.way - expected).max() < 0.01
    assert cycle.ground == pytest.approx(0.0, abs=1.0e-3)
    assert cycle.angle == pytest.approx(0.0, abs=1.0e-3)


@pytest.mark.parametrize("angle", [0.7, 2.0, -1.5])
def test_facing_axis_is_found(angle):
    # the way is turned back to -y
    assert cycle_of(angle=angle).angle == pytest.approx(-angle, abs=0.01)


def test_root_motion_is_taken_out_and_is_the_stride():
    cycle = cycle_of(drift=STRIDE)
    assert np.hypot(*cycle.drift) == pytest.approx(STRIDE, rel=0.01)
    assert cycle.stride == pytest.approx(STRIDE, rel=0.02)


def test_stride_that_is_typed_in_is_kept():
    assert cycle_of(stride=2.0).way[-1] == pytest.approx(2.0)


def test_feet_pass_each_other_at_phases_0_and_half():
    cycle = cycle_of()
    times = contacts.row_times(cycle, contacts.pose_count(cycle.stride, 0.01))
    assert len(times) % 2 == 0
    for number in (0, len(times) // 2):
        pose = walker((0.0, 1.0, 0.0), times[number])
        assert abs(pose[2:6, 1].mean() - pose[6:, 1].mean()) < 0.03


def test_planted_feet_stay_at_every_pose():
    cycle = cycle_of()
    times = contacts.row_times(cycle, contacts.pose_count(cycle.stride, 0.01))
    poses = np.stack([walker((0.0, 1.0, 0.0), time) for time in times])
    poses[..., 1] += np.interp(times, np.linspace(0.0, 1.0, 241), cycle.moves[:, 2])[:, None]
    step = cycle.stride / len(times)
    both = (poses[1:, :, 2] < 1.0e-4) & (poses[:-1, :, 2] < 1.0e-4)
    slips = np.abs(np.diff(poses[:, :, 1], axis=0) - step)[both]
    assert np.median(slips) < 0.5e-3
    assert np.percentile(slips, 95) < 2.0e-3


def test_way_goes_on_while_feet_halt_and_the_body_is_shifted_instead():
    # planted feet go back at 0.04 to 1.96 of their mean speed
    cycle = cycle_of(uneven=0.24)
    speeds = np.diff(cycle.way) * 240.0 / cycle.stride
    assert 0.28 < speeds.min() < 0.4
    assert 0.003 < np.abs(cycle.moves[:, 2]).max() < 0.03
    assert np.mean(cycle.moves[:-1, 2]) == pytest.approx(0.0, abs=1.0e-6)
    made = rows.Rows(rows.Plan(tolerance=0.01))
    finished(made.add_gait("walk", lambda t: walker((0.0, 1.0, 0.0), t, uneven=0.24), cycle, 1.2))
    poses = made.space().positions
    both = (poses[1:, :, 2] < 1.0e-4) & (poses[:-1, :, 2] < 1.0e-4)
    slips = np.abs(np.diff(poses[:, :, 1], axis=0) - cycle.stride / len(poses))[both]
    assert np.percentile(slips, 95) < 2.0e-3
    shifts = np.array(made.gait_origins[0].shifts)
    assert shifts.shape == (len(poses), 3) and not shifts[:, 2].any()
    # its feet go back alike, so it is not turned
    assert np.abs(shifts[:, 0]).max() < 1.0e-4
    assert np.abs(made.gait_origins[0].turns).max() < 1.0e-3


def test_blends_whose_feet_hardly_leave_the_ground_have_those_of_the_walk():
    def low(time):
        pose = walker((0.0, 0.3, 0.0), time, lift=0.01)
        pose[2:, 2] += 0.01 * np.sin(2.0 * np.pi * time) ** 2
        return pose

    samples = finished(rows.dense(low, 240))
    # as long ahead near the ground as back: alone, these might be wings
    samples = samples[::-1]
    with pytest.raises(CharacterError, match="type in its Stride"):
        contacts.measure_cycle(np.concatenate([samples, samples[::-1]]), 1.0)
    walk = cycle_of()
    found = contacts.measure_cycle(np.concatenate([samples, samples[::-1]]), 1.0, None, None, walk)
    assert found.stride > 0.1


def leaning(weights, time, held=0.0):
    """A walker whose head comes 1 m ahead from walk to run."""
    pose = walker(weights, time)
    pose[0, 1] -= weights[2]
    return pose


@pytest.mark.slow
def test_as_many_gaits_lie_between_walk_and_run_as_poses_differ():
    counts = []
    for sample in (walker, leaning):
        made = rows.Rows(rows.Plan(tolerance=0.05, steps=96))
        finished(ladder.add_gaits(made, sample, (1.0, 1.0, 0.7)))
        space = made.space()
        runs = [row for row in space.gaits if row.name.startswith("run")]
        assert all(row.close for row in runs)
        assert not any(row.close for row in space.gaits if row not in runs)
        counts.append(len(runs))
        first = [row.first for row in runs]
        assert np.linalg.norm(np.diff(space.positions[first], axis=0), axis=-1).max() < 0.09
    assert counts[0] < counts[1] == 22


@pytest.mark.parametrize(("speed", "kept"), [(1.02, 1.02), (0.99, 1.002), (0.97, 1.002), (0.9, 0)])
def test_gait_to_a_run_that_comes_out_a_little_slower_is_kept_as_a_faster_one(speed, kept):
    made, cycle = rows.Rows(rows.Plan()), cycle_of()
    sample = lambda time: walker((0.0, 1.0, 0.0), time)  # noqa: E731
    finished(made.add_gait("walk", sample, cycle, 1.0))
    finished(made.add_gait("run 2%", sample, cycle, speed, (0.0, 0.98, 0.02)))
    speeds = [row.speed for row in made.gaits]
    assert speeds == pytest.approx([1.0, kept] if kept else [1.0])
    assert made.gaits[-1].duration == pytest.approx(cycle.stride / speeds[-1])
    # a walk is not
    finished(made.add_gait("walk 99%", sample, cycle, 0.99 * speeds[-1]))
    assert len(made.gaits) == len(speeds)


@pytest.mark.slow
def test_first_steps_begin_in_the_pose_of_standing():
    made = rows.Rows(rows.Plan(tolerance=0.02, steps=96))

    def floating(weights, time, held=0.0):
        # standing lies 3 cm lower, and aside
        stands = weights[0] + held
        pose = walker(weights, time, lift=0.15 * (1.0 - stands))
        return pose - np.array([0.05, 0.02, 0.03], np.float32) * stands

    finished(ladder.add_gaits(made, floating, (1.0, 1.0, 0.0)))
    space = made.space()
    first = space.gaits[1]
    assert first.from_stand and first.both_sides and first.begins_twice
    walk, quarter = space.gaits[2], first.count // 4
    # each foot goes first once, and each half leads to the walk where the other foot passes
    for pose, phase in ((0, None), (quarter, 1), (2 * quarter, None), (3 * quarter, 0)):
        like = 0 if phase is None else walk.first + phase * walk.count // 2
        away = space.positions[first.first + pose] - space.positions[like]
        assert np.linalg.norm(away, axis=1).max() < 3.0e-3
    lifts = space.positions[first.first : first.first + first.count, :, 2].reshape(2, -1, 10)
    left, right = lifts[..., 2:6].max(axis=2), lifts[..., 6:].max(axis=2)
    assert left[0].max() > 0.03 > 0.005 > right[0].max()
    assert right[1].max() > 0.03 > 0.005 > left[1].max()


def test_ladder_rises_from_standing_to_running():
    made = rows.Rows(rows.Plan(tolerance=0.05, steps=96))
    # phases of all blends are aligned: walker uses the same time for all
    finished(ladder.add_gaits(made, walker, (1.0, 1.0, 0.7)))
    space = made.space()
    gaits = space.gaits
    assert gaits[0].stride == 0.0 and gaits[0].count == 1
    walks = [row for row in gaits if row.name.startswith("walk")]
    ratios = [b.stride / a.stride for a, b in zip(walks, walks[1:], strict=False)]
    assert max(ratios) < 1.3 and walks[0].stride < 0.3 * STRIDE
    for row in walks:
        assert row.speed == pytest.approx(STRIDE * (row.stride / walks[-1].stride) ** 2, rel=0.03)
    assert gaits[-1].name == "run"
    assert gaits[-1].stride == pytest.approx(2.0 * STRIDE, rel=0.02)
    assert gaits[-1].speed == pytest.approx(2.0 * STRIDE / 0.7, rel=0.02)


@pytest.mark.parametrize(
    ("slowest", "ratio", "apart"), [(0.25, 1.15, 0.065), (0.1, 1.3, 0.24), (0.25, 2.0, 0.5)]
)
def test_walks_are_near_each_other_by_ratio_and_by_share(slowest, ratio, apart):
    shares = np.array(rows.Plan(slowest=slowest, ratio=ratio).shares())
    assert shares[0] == pytest.approx(slowest) and shares[-1] == 1.0
    assert (np.diff(shares) > 0.0).all() and np.diff(shares).max() < 1.05 * apart
    assert (shares[1:] / shares[:-1]).max() < ratio + 1e-9


def test_body_without_feet_wants_a_stride():
    def wing(time):
        points = np.zeros((4, 3), np.float32)
        points[:, 2] = [1.0, 1.5, 1.5, 2.0]
        points[1:3, 2] += 0.3 * np.sin(2.0 * np.pi * time)
        return points

    samples = finished(rows.dense(wing, 48))
    with pytest.raises(CharacterError, match="type in its Stride"):
        contacts.measure_cycle(samples, 1.0)
    assert contacts.measure_cycle(samples, 1.0, 3.0).stride == 3.0


def test_action_that_moves_nothing_is_refused():
    samples = np.repeat(walker((0.0, 1.0, 0.0), 0.0)[None], 20, axis=0)
    with pytest.raises(CharacterError, match="moves no vertex"):
        contacts.measure_cycle(samples, 1.0)


def test_action_of_one_frame_is_refused():
    with pytest.raises(CharacterError, match="one frame"):
        contacts.measure_cycle(walker((0.0, 1.0, 0.0), 0.0)[None], 1.0)

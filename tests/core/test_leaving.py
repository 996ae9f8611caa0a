"""Where gaits change between the places where feet pass: what rows know, and what bodies do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_gait import DT, GAIT, PHASE, SLOW, STAND, crowd, walked

from steer_addon.core.characters.cast import MEMORY, POSTURE, Cast
from steer_addon.core.characters.leaving import Change, Gait
from steer_addon.core.characters.pose_space import LEAVES, Row
from steer_addon.core.step.gaits import gait
from steer_addon.core.step.gaits.landing import LIMBS

HEIGHT = 1.515
"""Of the body: its vertices may move by 5 mm although their poses say nothing, or 8 mm as it lands.
"""


def rows_of(more):
    """A gait and a faster one, whose foot lifts by `more` times as much: poses, and both rows."""
    points, made = [], []
    for number, lift in enumerate((0.1, 0.1 * more)):
        phases = np.arange(60) / 60
        planted = phases < 0.5
        gone = np.where(planted, phases, 1.0 - phases) - 0.25
        high = np.where(planted, 0.0, lift * np.sin(2.0 * np.pi * (phases - 0.5)))
        foot = np.stack([0.0 * phases, 1.2 * gone, high], axis=1)
        head = np.tile([0.0, 0.0, 1.0], (60, 1))
        points.append(np.stack([foot, head], axis=1))
        made.append(Row(f"gait {number}", 60 * number, 60, 1.0 + number, 1.2, 1.0))
    return np.concatenate(points).astype(np.float32), *made


def change(points, slower, row, height=HEIGHT):
    """The change from a gait to the slower one."""
    return Change(Gait(points, row, height), Gait(points, slower, height), height)


def test_gaits_that_are_alike_are_left_anywhere():
    points, slower, row = rows_of(1.0)
    found = np.array(change(points, slower, row).leaving()[0])
    assert found.shape == (48, 2)
    assert found[:, 0].max() == 0.0
    # at once: the same phase is as like, or one that is no further than a pose
    assert np.abs(found[:, 1]).max() <= 1.5 / 60


def test_the_more_gaits_differ_the_faster_a_body_has_to_be():
    points, slower, row = rows_of(2.0)
    more = np.array(change(points, slower, row).leaving()[0])[:, 0]
    planted, swings = more[4 : LEAVES // 2 - 4], more[LEAVES // 2 + 8 : -8]
    assert planted.max() == 0.0 < swings.min()
    most = np.array(change(*rows_of(4.0)).leaving()[0])[:, 0]
    assert (most[LEAVES // 2 + 8 : -8] > swings).all()


def test_a_body_that_lands_hides_less_as_it_does_not_go_along():
    points, slower, row = rows_of(2.0)
    # heads rise by 2 cm from the one to the other
    points[row.first : row.first + row.count, 1, 2] += 0.02
    from_row = change(points, slower, row)
    found, parting, _leaning = from_row.leaving()
    on_its_way = np.array(found)[:, 0]
    assert on_its_way[8] == pytest.approx(0.015, abs=0.001)
    # what moves by 20 mm while its pose says next to nothing: no part of it is for nothing
    assert np.min(from_row.landing(found)) == pytest.approx(0.02 / 0.03, abs=0.01)
    # planted feet are where they were, and the head is 2 cm from there
    np.testing.assert_allclose(np.array(parting)[4:20], [[0.0, 0.0, 0.02]] * 16, atol=1e-5)


def test_bodies_are_shifted_by_as_much_as_planted_feet_would_move():
    points, slower, row = rows_of(1.0)
    # all of the slower gait stands 3 cm further back and 1 cm to the left
    points[slower.first : slower.first + slower.count, :, :2] += [0.01, 0.03]
    found, parting, leaning = change(points, slower, row).leaving()
    planted = np.array(parting)[4 : LEAVES // 2 - 4]
    # nothing of it is left
    assert np.array(found)[4 : LEAVES // 2 - 4, 0].max() == 0.0
    further = np.array(found)[4 : LEAVES // 2 - 4, 1]
    # the foot goes back by 1.2 m a cycle
    np.testing.assert_allclose(planted[:, 0], 0.03 + 1.2 * further, atol=0.021)
    np.testing.assert_allclose(planted[:, 1], 0.01, atol=1e-5)
    assert planted[:, 2].max() < 0.021
    # its head, 1 m above the ground, stays too
    np.testing.assert_allclose(
        planted[:, :2] + leaning[4 : LEAVES // 2 - 4], [[0.03, 0.01]] * 16, atol=2e-5
    )


def test_bodies_lean_by_as_much_as_the_slower_gait_does():
    points, slower, row = rows_of(1.0)
    # its head is 4 cm further ahead and 1 cm further to the right, 1 m above the ground
    points[slower.first : slower.first + slower.count, 1, :2] -= [0.01, 0.04]
    found, parting, leaning = change(points, slower, row).leaving()
    planted = slice(4, LEAVES // 2 - 4)
    np.testing.assert_allclose(leaning[planted], [[-0.04, -0.01]] * 16, atol=0.001)
    assert np.array(found)[planted, 0].max() == 0.0
    assert np.abs(np.array(parting)[planted]).max() < 0.021


def gaits_with(way, further=0.0):
    """Gaits from 0.4 m/s on, which may change anywhere for steps of a way [m]."""
    table = ((way, further),) * LEAVES
    mixes = [
        Row(f"mix {k}", 51 + 20 * k, 20, speed=1.2 + 0.2 * k, stride=1.3, duration=1.0)
        for k in range(8)
    ]
    return (STAND, SLOW, *(replace(row, leaving=table if k else ()) for k, row in enumerate(mixes)))


def running(gaits, phase):
    """Agents at 2.6 m/s in the fastest of some gaits, at a phase, and their settings."""
    agents, settings = crowd(cast=Cast((gaits,)))
    agents.velocity[:] = [2.6, 0.0, 0.0]
    gait.begin(agents, settings)
    agents.memory[MEMORY][:, PHASE] = phase
    return agents, settings


@pytest.mark.parametrize("way", [0.02, 0.06])
def test_gaits_follow_the_speed_once_in_a_step_that_hides_it(way):
    agents, settings = running(gaits_with(way, 0.01), 0.2)
    assert agents.memory[MEMORY][0, GAIT] == 9
    shown, _ = walked(agents, settings, [2.0, 2.0, 2.0, 2.0])
    # 83 mm a step
    assert shown[0, 0, GAIT] == 8
    assert shown[0, 0, PHASE] == pytest.approx(0.2 + 2.0 * DT / 1.3 + 0.01, abs=1e-5)
    assert shown[3, 0, GAIT] == 6
    # and back
    agents = walked(agents, settings, [2.0] * 4)[1]
    again, _ = walked(agents, settings, [2.6] * 4)
    assert again[3, 0, GAIT] == 9


def test_slow_steps_change_gaits_where_feet_pass_only():
    agents, settings = running(gaits_with(0.06), 0.2)
    shown, _ = walked(agents, settings, [1.2] * 5)
    # 50 mm a step, until phase 0.39
    assert (shown[:, 0, GAIT] == 9).all()


@pytest.mark.parametrize(
    ("reach", "way", "shown"), [(0.0, 0.06, 8), (0.7, 0.06, 9), (0.7, 0.01, 8)]
)
def test_gaits_wait_on_curves_where_hands_are_far(reach, way, shown):
    agents, settings = running(tuple(replace(row, reach=reach) for row in gaits_with(way)), 0.2)
    agents.heading[:] = [1.0, 0.0, 0.0]
    after = agents.copy()
    # 83 mm a step, of which 68 are for hands that turn by 0.1 rad, but three quarters at most
    after.heading[:] = [np.cos(0.1), np.sin(0.1), 0.0]
    after.velocity[:] = 2.0 * after.heading
    after.position += (after.velocity * DT).astype(np.float32)
    gait.advance(agents, after, settings, DT)
    assert after.memory[MEMORY][0, GAIT] == shown


def test_bodies_turn_about_their_feet_no_faster_than_hands_can_go():
    # planted feet would have it turn by 0.6 rad at once, twice in a cycle
    jumps = ((0.3, 0.0, 0.0),) * 12 + ((-0.3, 0.0, 0.0),) * 12
    agents, settings = running(tuple(replace(row, turning=jumps) for row in gaits_with(9.0)), 0.2)
    twists, column = [], POSTURE.index("twist")
    for number in range(72):
        after, angle = agents.copy(), 0.08 * (number + 1)
        after.heading[:] = [np.cos(angle), np.sin(angle), 0.0]
        after.velocity[:] = 2.6 * after.heading
        after.position += (after.velocity * DT).astype(np.float32)
        gait.advance(agents, after, settings, DT)
        twists.append(after.memory[MEMORY][0, column])
        agents = after
    turned = np.abs(np.diff(twists))
    assert turned.max() == pytest.approx(2.0 * 0.08 + 0.3 * DT, abs=1e-5)
    assert max(twists) > 0.15 and min(twists) < -0.15


def test_shifts_last_until_a_body_has_gone_some_way():
    shift = ((0.02, 0.01, 0.0),) * LEAVES
    rows = [replace(row, parting=shift) if row.leaving else row for row in gaits_with(0.01)]
    agents, settings = running(tuple(rows), 0.2)
    ahead, aside = POSTURE.index("shift_ahead"), POSTURE.index("shift_side")
    shown, agents = walked(agents, settings, [2.2])
    assert shown[0, 0, GAIT] == 8
    # less what is left after 92 mm of 0.5 m
    left = np.exp(-2.2 * DT / 0.5)
    assert shown[0, 0, aside] == pytest.approx(0.01 * left, abs=1e-6)
    held = shown[0, 0, ahead] - 0.02 * left
    assert abs(held) < 0.44 * 0.5 * 1.3 / 20
    # steady from here on
    shown, agents = walked(agents, settings, [2.2] * 60)
    assert abs(shown[-1, 0, aside]) < 1e-4
    # and back
    gait = shown[-1, 0, GAIT]
    shown, _ = walked(agents, settings, [2.6])
    assert shown[0, 0, GAIT] == gait + 1
    assert shown[0, 0, aside] == pytest.approx(-0.01 * np.exp(-2.6 * DT / 0.5), abs=1e-4)


def test_leans_are_taken_back_as_by_a_damped_spring():
    lean = ((-0.03, 0.02),) * LEAVES
    rows = [replace(row, leaning=lean) if row.leaving else row for row in gaits_with(0.01)]
    agents, settings = running(tuple(rows), 0.2)
    agents.velocity[:] = [2.2, 0.0, 0.0]
    columns = [POSTURE.index("lean_ahead"), POSTURE.index("lean_side")]
    shown, agents = walked(agents, settings, [2.2] * 40)
    changes = np.flatnonzero(np.diff(shown[:, 0, GAIT], prepend=9.0))
    assert shown[0, 0, GAIT] == 8
    # x = a (1 + k t) exp(-k t) after each change, with k = 2 / 0.2 s
    times = 10.0 * DT * (np.arange(40)[:, None] - changes + 1.0)
    left = np.where(times > 0.0, (1.0 + times) * np.exp(-times), 0.0).sum(axis=1)
    expected = left[:, None] * [-0.03, 0.02]
    np.testing.assert_allclose(shown[:, 0, columns], expected, atol=1e-6)
    # and back
    gait = shown[-1, 0, GAIT]
    agents.velocity[:] = [2.6, 0.0, 0.0]
    shown, _ = walked(agents, settings, [2.6])
    assert shown[0, 0, GAIT] == gait + 1
    np.testing.assert_allclose(shown[0, 0, columns], -expected[0], atol=1e-4)


def test_what_earlier_versions_remembered_of_limbs_is_enough():
    agents, settings = running(gaits_with(0.01), 0.2)
    agents = walked(agents, settings, [2.6])[1]
    shorter = agents.copy()
    shorter.memory[LIMBS] = shorter.memory[LIMBS][:, :3].copy()
    assert not agents.memory[LIMBS][:, 3:].any()
    found, expected = (walked(one, settings, [2.6, 2.2])[0] for one in (shorter, agents))
    np.testing.assert_array_equal(found, expected)


def test_a_body_that_is_stopped_hard_falls_through_the_gaits_of_its_run():
    """Vertices move by no more than twice what they would at the speed that limbs still have."""
    apart = ((0.0, 0.0, 0.05),) * LEAVES
    for close, fell in ((True, [3, 3, 1]), (False, [0, 0, 0])):
        rows = [
            replace(row, parting=apart, close=close) if row.leaving else row
            for row in gaits_with(1.0)
        ]
        agents, settings = running(tuple(rows), 0.25)
        agents = walked(agents, settings, [2.6])[1]
        shown, _ = walked(agents, settings, [0.0] * 3)
        gaits = np.concatenate([[9.0], shown[:, 0, GAIT]])
        # 2.6 m/s falls to 2.2 and 1.9: twice that are 184 and 156 mm a step; then it is a walk
        assert list(-np.diff(gaits)) == fell


def test_a_body_that_lands_changes_as_its_own_table_says():
    for lands, fell in ((0.01, 2), (1.0, 0)):
        table = {"leaving": ((0.01, 0.0),) * LEAVES, "landing": ((lands,),) * LEAVES}
        mixes = [replace(row, **table) if row.leaving else row for row in gaits_with(0.01)]
        agents, settings = running(tuple(mixes), 0.25)
        agents = walked(agents, settings, [2.6])[1]
        shown, _ = walked(agents, settings, [0.0] * 2)
        assert 9 - shown[1, 0, GAIT] == fell

"""Offset pursue: where the place is, and how well it is kept."""

import numpy as np
import pytest
from chase import chase, wishes
from crowdtools import crowd

from steer_addon.core.behaviors.offset_pursue import OffsetPursue
from steer_addon.core.inputs.targets import make_targets
from steer_addon.core.inputs.world import make_world

FPS = 24.0


def leader_at(position, velocity, heading=None, up=None):
    rows = [None if v is None else [v] for v in (velocity, heading, up)]
    return make_world(targets=make_targets([position], *rows))


@pytest.mark.parametrize(
    ("heading", "up", "expected"),
    [
        # x is to the right, y ahead, z up; a leader that looks along +X has -Y on its right
        ([1, 0, 0], [0, 0, 1], [3, -2, 4]),
        ([0, 1, 0], [0, 0, 1], [2, 3, 4]),
        ([1, 0, 0], [0, 1, 0], [3, 4, 2]),
        ([1, 0, 0], [1, 0, 1], [3, -2, 4]),  # up is turned square to the heading
    ],
)
def test_the_place_lies_in_the_axes_of_the_leader(heading, up, expected):
    entry = OffsetPursue(offset_x=2.0, offset_y=3.0, offset_z=4.0)
    world = leader_at([100, 200, 300], None, heading, up)
    value, _ = wishes(entry, world, [[0, 0, 0]])
    place = np.array([100, 200, 300]) + expected
    np.testing.assert_allclose(value[0], 2 * place / np.linalg.norm(place), atol=1e-6)


def test_a_leader_that_looks_along_its_own_up_still_has_a_place():
    world = leader_at([10, 0, 0], None, heading=[0, 0, 1], up=[0, 0, 1])
    value, asked = wishes(OffsetPursue(), world, [[0, 0, 0]])
    # 1.5 m behind one that looks up is below
    np.testing.assert_allclose(value[0], 2 * np.array([10, 0, -1.5]) / np.hypot(10, 1.5), atol=1e-6)
    assert asked[0]


def test_the_place_is_sought_where_it_will_be():
    # o = (12, 0, 0), T = 12 / (2 + 1) = 4 s; the leader looks along +Y
    entry = OffsetPursue(offset_x=-3.0, offset_y=0.0)
    value, _ = wishes(entry, leader_at([15, 0, 0], [0, 1, 0]), [[0, 0, 0]])
    np.testing.assert_allclose(value[0], 2 * np.array([12, 4, 0]) / np.hypot(12, 4), atol=1e-6)


def test_followers_brake_near_the_place_and_stand_within_the_stop_radius():
    world = leader_at([0, 0, 0], None, heading=[0, 1, 0])
    points = [[0, -2.5, 0], [0, -1.9, 0], [0, -1.5, 0]]
    entry = OffsetPursue(slow_radius=2.0, stop_radius=0.5)
    value, asked = wishes(entry, world, points)
    np.testing.assert_allclose(value, [[0, 1, 0], [0, 0, 0], [0, 0, 0]], atol=1e-6)
    assert asked.all()


def test_behind_a_leader_that_goes_straight_the_lag_is_the_closed_form_one():
    # in steady state u is the leader's velocity V: v_max·(e + V·T)/slow = V with T = e/(v_max + V)
    top, pace, slow = 3.0, 1.2, 2.0
    lag = slow * (pace / top) / (1 + pace / (top + pace))
    velocity = np.array([0.6, 0.8, 0.0]) * pace
    settings = crowd(OffsetPursue(slow_radius=slow), agents={"max_speed": top})
    # a pair side by side: 1 m to the left and to the right, 1.5 m behind
    sides = {"offset_x": [-1.0, 1.0]}
    positions = chase(
        settings,
        [[-4, -1, 0], [1, -5, 0]],
        lambda time: leader_at(velocity * time, velocity),
        20.0,
        FPS,
        attributes=sides,
    )
    leader = velocity * 20.0
    forward, right = np.array([0.6, 0.8, 0.0]), np.array([0.8, -0.6, 0.0])
    expected = leader - 1.5 * forward + np.array([[-1.0], [1.0]]) * right - lag * forward
    np.testing.assert_allclose(positions[-1], expected, atol=2e-3)


def wish_in_a_curve(omega, tau):
    """Wished velocity of one that circles in steady state, as a multiple of its place.

    In the complex plane it stands at P·z^k with z = exp(iω·dt). It came there by the velocity
    v = P·(1 - 1/z)/dt, which turns by z in every step: v·z = v + (u - v)·dt/τ gives u.
    """
    turn = np.exp(1j * omega / FPS)
    return (1 - 1 / turn) * FPS * (1 + tau * (turn - 1) * FPS)


def lag_in_a_curve(place, pace, top, slow, wish):
    """Steady lag e of a follower whose leader circles, in the complex plane that turns with it.

    There the follower stands at P = O - e and wishes for wish·P, which has to be
    v_max/slow·(e + V·|e|/(v_max + |V|)). That is a linear equation for e once |e| is known, which
    is found by repetition.
    """
    gain = top / slow
    lag = 0.0j
    for _ in range(100):
        ahead = gain * 1j * pace * abs(lag) / (top + pace)
        lag = (wish * place - ahead) / (gain + wish)
    return lag


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_behind_a_leader_in_a_curve_the_place_is_kept_with_a_steady_lag(side):
    ring, pace, top, slow, tau, seconds = 10.0, 1.2, 3.0, 1.0, 0.1, 30.0
    omega = pace / ring  # counterclockwise, so that the leader's right is outward
    entry = OffsetPursue(offset_x=side, offset_y=-1.5, slow_radius=slow)
    settings = crowd(entry, relaxation_time=tau, agents={"max_speed": top})

    def world_at(time):
        phase = np.exp(1j * omega * time)
        position, velocity = ring * phase, 1j * pace * phase
        return leader_at([position.real, position.imag, 0], [velocity.real, velocity.imag, 0])

    positions = chase(settings, [[ring, -4, 0]], world_at, seconds, FPS)[:, 0]
    time = np.arange(len(positions)) / FPS
    turned = (positions[:, 0] + 1j * positions[:, 1]) * np.exp(-1j * omega * time)
    place = ring + side - 1.5j
    lags = (place - turned)[-240:]
    wish = wish_in_a_curve(omega, tau)
    # it keeps its place as if it were fixed to the leader
    assert np.abs(lags - lags[0]).max() < 1e-3
    assert abs(lags[-1] - lag_in_a_curve(place, pace, top, slow, wish)) < 1e-3
    # |u| >= v_max/slow·|e|·v_max/(v_max + V) bounds the lag from above
    bound = abs(wish * place) / (top**2 / (slow * (top + pace)) - abs(wish))
    assert np.abs(lags).max() < bound

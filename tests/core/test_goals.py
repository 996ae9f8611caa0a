"""Seek, arrive and flee against their closed forms."""

import numpy as np
import pytest
from crowdtools import crowd, place, run
from hypothesis import given, settings
from hypothesis import strategies as st
from tried import tried

from steer_addon.core.behaviors.arrive import Arrive, overshoot
from steer_addon.core.behaviors.flee import Flee
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.behaviors.wander import Wander
from steer_addon.core.crowd.presets import find_presets, read_preset
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.solver import Solver
from tests.diagnosed import codes
from tests.often import often, pairs_of

DT = 1 / 24
SPEEDS, RADII = (0.3, 1.4, 12.0), (0.5, 2.0, 20.0)
IN_TIME, LATE = (0.05, 0.15, 0.25), (0.3, 0.35, 0.5, 1.0, 2.0)
"""Time constants of those who arrive, as shares of slow_radius / max_speed."""
finite = st.floats(-1e4, 1e4, allow_nan=False, width=32)
point = st.tuples(finite, finite, finite)


@pytest.mark.parametrize("distance", [5.0, 20.0])
def test_seek_goes_straight_and_arrives_in_time(distance):
    crowd_settings = crowd(Seek(), relaxation_time=0.5)
    direction = np.array([0.6, 0.8, 0.0])
    expected = distance / 1.4 + 0.5
    positions, _ = run(
        crowd_settings, [[0, 0, 0]], int(expected / DT) + 5, target=[direction * distance]
    )
    along = positions[:, 0] @ direction
    off = positions[:, 0] - along[:, None] * direction
    before = along < distance
    assert np.abs(off[before]).max() < 1e-4
    arrival = np.argmax(along >= distance) * DT
    assert arrival == pytest.approx(expected, abs=DT)


def test_arrive_stops_on_the_target_without_overshoot():
    positions, velocities = run(
        crowd(Arrive(slow_radius=2.0)), [[0, 0, 0]], 24 * 20, target=[[6, 0, 0]]
    )
    assert np.linalg.norm(velocities[-1, 0]) < 1e-3
    assert abs(positions[-1, 0, 0] - 6.0) < 1e-2
    assert positions[:, 0, 0].max() - 6.0 < 0.01 * 2.0


def swing(max_speed, slow_radius, late, parts, weight=1.0):
    """How far agents who come at full speed get past the target, as a share of slow_radius.

    Args:
        max_speed: [m/s].
        slow_radius: [m].
        late: Time constant T = τ·m/weight [s].
        parts: Steps in the shortest time of the motion.
        weight: Of arrive.
    """
    relaxation_time = max(0.01, late)
    body = {"max_speed": max_speed, "max_force": 1e6, "mass": weight * late / relaxation_time}
    settings_ = crowd(
        Arrive(slow_radius=slow_radius, weight=weight),
        relaxation_time=relaxation_time,
        agents=body,
    )
    fps = parts / min(late, slow_radius / max_speed)
    steps = int(fps * (4.0 * slow_radius / max_speed + 4.0 * late))
    start, velocity = [[-1.1 * slow_radius, 0, 0]], [[max_speed, 0, 0]]
    positions, _ = run(settings_, start, steps, velocity, target=[[0, 0, 0]], fps=fps)
    assert positions[:, 0, 0].max() > -0.1 * slow_radius
    return positions[:, 0, 0].max() / slow_radius


@pytest.mark.parametrize(("max_speed", "slow_radius", "share"), pairs_of(SPEEDS, RADII, IN_TIME))
def test_arrive_does_not_pass_the_target_where_it_reacts_in_time(max_speed, slow_radius, share):
    assert swing(max_speed, slow_radius, share * slow_radius / max_speed, parts=10) < 0.01
    assert overshoot(share) == 0.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("max_speed", "slow_radius", "share"),
    [
        *often([(1.4, 2.0, share) for share in LATE], (1.4, 2.0, 0.35), (1.4, 2.0, 2.0)),
        *often([(0.3, 0.5, share) for share in LATE], (0.3, 0.5, 0.3)),
        *often([(12.0, 20.0, share) for share in LATE], (12.0, 20.0, 1.0)),
    ],
)
def test_arrive_passes_the_target_by_its_formula_where_it_reacts_late(
    max_speed, slow_radius, share
):
    late = share * slow_radius / max_speed
    # steps of T/100 are as if T were longer by half a step
    expected = pytest.approx(overshoot(share), rel=0.03, abs=2e-3)
    assert swing(max_speed, slow_radius, late, parts=100) == expected


@pytest.mark.slow
def test_twice_the_mass_and_twice_the_weight_are_the_same_time_constant():
    expected = pytest.approx(overshoot(1.0), rel=0.03, abs=2e-3)
    assert swing(1.4, 2.0, 2.0 / 1.4, parts=100, weight=2.0) == expected


def test_arrive_says_when_agents_will_pass_the_target_by_much():
    def said(relaxation_time=0.5, solver="REYNOLDS", **more):
        body = {"max_speed": 4.0, "mass": 1.0}
        solver_ = {"relaxation_time": relaxation_time, "solver": solver}
        settings_ = crowd(Arrive(**more), agents=body, **solver_)
        return settings_.advice()

    # T·v_max = 2 m
    assert said(slow_radius=8.0) == said(slow_radius=2.0) == []
    (told,) = said(slow_radius=1.0)
    assert (told.code, told.subject) == ("OVERSHOOT", "Arrive")
    assert told.values == {"past": pytest.approx(0.68, abs=0.005), "slow_radius": 8.0}
    assert said(slow_radius=1.0, stop_radius=0.7) == said(slow_radius=0.0) == []
    assert said(slow_radius=1.0, solver="VEX") == []
    assert said(slow_radius=1.0, relaxation_time=0.1) == []


@pytest.mark.parametrize("name", find_presets())
def test_presets_are_not_said_to_pass_the_target(name):
    said = read_preset(find_presets()[name]).settings.advice()
    assert "OVERSHOOT" not in codes(said)


def test_arrive_wishes_the_speed_of_its_formula():
    def wished(x, **more):
        stack = Arrive(slow_radius=4.0, **more)
        settings_ = crowd(stack, solver="VEX", acc_weight=1.0)
        return run(settings_, [[x, 0, 0]], 1, target=[[0, 0, 0]])[1][1, 0, 0]

    assert wished(-8.0) == pytest.approx(1.4)
    assert wished(-2.0) == pytest.approx(0.7)
    assert wished(-2.0, stop_radius=3.0) == 0.0
    assert wished(0.0) == 0.0


ON_ITSELF = [Seek(), Flee(), Flee(falloff="NONE"), Flee(panic_radius=0.0)]


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
@pytest.mark.parametrize("entry", ON_ITSELF)
def test_a_target_on_the_agent_itself_gives_the_wish_to_stand(entry, motion):
    settings_ = crowd(entry, motion=motion)
    # for walkers one right above is at the same place
    world = make_world(targets=[[3, 4, 2.0 if motion == "GROUND" else 0.0]])
    for velocity in ([0, 0, 0], [1, 0.5, 0]):
        agents = place(settings_, [[3, 4, 0]], [velocity])
        made = Solver(settings_).step(agents, world, DT, number=0).proposals[0]
        assert made.active.tolist() == [1]
        np.testing.assert_array_equal(made.value, [[0, 0, 0]])


@pytest.mark.parametrize("entry", ON_ITSELF)
def test_from_a_target_on_the_agent_itself_it_goes_on(entry):
    still, _ = run(crowd(entry), [[3, 4, 0]], 48, target=[[3, 4, 0]])
    np.testing.assert_array_equal(still, np.full_like(still, 1) * [3, 4, 0])
    going, _ = run(crowd(entry), [[3, 4, 0]], 48, [[1, 0, 0]], target=[[3, 4, 0]])
    assert np.isfinite(going).all()
    # a running agent comes to the target again by seek only
    away = np.abs(going[:, 0, 0] - 3)
    assert away.max() < 1.0 if entry == Seek() else (np.diff(away) > 0.0).all() and away[-1] > 1.5


@pytest.mark.parametrize(
    ("falloff", "distance", "expected"),
    [("LINEAR", 1.0, 0.8), ("LINEAR", 4.0, 0.2), ("NONE", 4.0, 1.0), ("NONE", 6.0, 0.0)],
)
def test_flee_wishes_the_speed_of_its_formula(falloff, distance, expected):
    stack = Flee(panic_radius=5.0, falloff=falloff)
    settings_ = crowd(stack, solver="VEX", acc_weight=1.0, agents={"max_speed": 1.0})
    _, velocities = run(settings_, [[distance, 0, 0]], 1, target=[[0, 0, 0]])
    assert velocities[1, 0, 0] == pytest.approx(expected, abs=1e-6)


def test_flee_without_panic_radius_has_no_limit():
    settings_ = crowd(Flee(panic_radius=0.0), agents={"max_speed": 1.0})
    _, velocities = run(settings_, [[500, 0, 0]], 200, target=[[0, 0, 0]])
    assert velocities[-1, 0, 0] == pytest.approx(1.0, abs=1e-3)


def test_an_agent_beyond_the_panic_radius_is_not_braked():
    settings_ = crowd(Flee(panic_radius=5.0))
    _, velocities = run(settings_, [[9, 0, 0]], 10, velocity=[[0, 1, 0]], target=[[0, 0, 0]])
    np.testing.assert_allclose(velocities[:, 0], [[0, 1, 0]] * 11, atol=1e-6)


def test_targets_are_chosen_nearest_by_id_or_by_attribute():
    targets = [[10, 0, 0], [-10, 0, 0]]
    points = [[1, 0, 0], [1, 0, 0], [-1, 0, 0]]

    def signs(choice, **more):
        settings_ = crowd(Seek(target_choice=choice))
        _, velocities = run(settings_, points, 2, target=targets, **more)
        return np.sign(velocities[-1, :, 0]).tolist()

    assert signs("NEAREST") == [1, 1, -1]
    assert signs("BY_ID") == [1, -1, 1]
    assert signs("NEAREST", attributes={"target_index": [1, -1, 0]}) == [-1, 1, 1]
    assert signs("NEAREST", attributes={"target_index": [5, 4, -1]}) == [-1, 1, -1]


def test_behaviors_can_have_targets_of_their_own():
    world = make_world(targets={"": [[10, 0, 0]], "threat": [[0, 1, 0]]})
    settings_ = crowd(Seek(), Flee(target="threat", panic_radius=0.0, falloff="NONE"))
    _, velocities = run(settings_, [[0, 0, 0]], 1, world=world)
    assert velocities[1, 0, 0] > 0 > velocities[1, 0, 1]


@settings(max_examples=tried(60), deadline=None)
@given(
    point, point, point, st.sampled_from(["GROUND", "FLY"]), st.sampled_from(["REYNOLDS", "VEX"])
)
def test_goals_are_finite_and_bounded_for_any_finite_input(p, v, t, motion, solver):
    stack = (Seek(), Arrive(), Flee(), Wander(), Wander(source="POSITION_NOISE", name="noise"))
    crowd_settings = crowd(*stack, motion=motion, solver=solver)
    positions, velocities = run(crowd_settings, [p], 5, velocity=[v], target=[t])
    assert np.isfinite(positions).all() and np.isfinite(velocities).all()

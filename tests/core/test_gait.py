"""Gaits: phases by the way, changes where feet pass, feet down when stopping, slopes, leaning."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from steer_addon.core.agents import make_agents
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.characters.cast import INDEX, MEMORY, POSTURE, Cast
from steer_addon.core.characters.pose_space import Row
from steer_addon.core.crowd.clips import ClipsSettings
from steer_addon.core.crowd.settings import CrowdSettings, MotionSettings
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.world import make_world
from steer_addon.core.results.memories import stood_up
from steer_addon.core.step.gaits import gait
from steer_addon.core.step.simulation import Simulation

DT = 1.0 / 24.0
STAND = Row("stand", 0, 1, duration=4.0)
SLOW = Row("slow", 1, 50, speed=0.4, stride=0.6, duration=1.5)
WALK = Row("walk", 51, 160, speed=1.2, stride=1.3, duration=1.08)
RUN = Row("run", 211, 300, speed=3.0, stride=2.4, duration=0.8)
PERSON = (STAND, SLOW, WALK, RUN)
PHASE, GAIT, CHARACTER, SLOPE_AHEAD, SLOPE_SIDE, LEAN_AHEAD, LEAN_SIDE = range(7)


def crowd(count=1, *, cast=None, motion="GROUND", **options):
    """Agents that stand in a row and look along +X, and settings with a cast."""
    places = np.zeros((count, 3))
    places[:, 1] = 2.0 * np.arange(count)
    body = {"radius": 0.25, "mass": 1.0, "max_speed": 10.0, "max_force": 100.0, **options}
    agents = make_agents(places, heading=np.tile([1.0, 0.0, 0.0], (count, 1)), **body)
    settings = CrowdSettings(
        motion=MotionSettings(motion=motion),
        cast=Cast((PERSON,)) if cast is None else cast,
        clips=ClipsSettings(tempo_spread=0.0),
    )
    return agents, settings


def walked(agents, settings, velocities, dt=DT):
    """Postures after each step along +X at these speeds, or with these velocities."""
    found = []
    for value in velocities:
        velocity = np.broadcast_to([value, 0.0, 0.0] if np.ndim(value) == 0 else value, (1, 3))
        after = agents.copy()
        after.velocity[:] = velocity
        after.position += (velocity * dt).astype(np.float32)
        gait.advance(agents, after, settings, dt)
        found.append(after.memory[MEMORY].copy())
        agents = after
    return np.array(found), agents


def test_a_crowd_without_characters_has_no_posture():
    agents, settings = crowd(cast=Cast())
    frame = Simulation(settings, agents, frame=1, fps=24.0).step(make_world())
    assert not set(POSTURE) & set(frame.attributes)


def test_frames_show_the_posture():
    agents, settings = crowd(3)
    simulation = Simulation(settings, agents, frame=1, fps=24.0)
    for frame in (simulation.current(), simulation.step(make_world())):
        assert [frame.attributes[name].shape for name in POSTURE] == [(3,)] * len(POSTURE)
    assert len(np.unique(frame.attributes["phase"])) == 3  # starts differ


@given(speed=st.floats(0.3, 3.5))
def test_the_phase_goes_on_by_way_over_stride(speed):
    # halfway between two gaits the rounding of the speed decides, so one change may come later
    assume(all(abs(speed - 0.5 * (a.speed + b.speed)) > 1e-3 for a, b in pairwise(PERSON)))
    agents, settings = crowd()
    found, _ = walked(agents, settings, [speed] * 60)
    rows = found[30:, 0]
    assert len(np.unique(rows[:, GAIT])) == 1
    stride = PERSON[int(rows[0, GAIT])].stride
    assert np.diff(rows[:, PHASE]) == pytest.approx(speed * DT / stride, abs=1e-5)


def test_the_way_since_a_change_is_the_phase_times_the_stride():
    """Feet stay where they are, also while a body speeds up and its gait changes."""
    agents, settings = crowd()
    speeds = np.linspace(0.0, 3.4, 120)
    found, _ = walked(agents, settings, speeds)
    strides = np.array([row.stride for row in PERSON])
    phase, now = found[:, 0, PHASE].astype(float), found[:, 0, GAIT].astype(int)
    for k in range(1, len(phase)):
        old, new = strides[now[k - 1]], strides[now[k]]
        if old == 0.0:
            continue
        border = np.floor(2 * phase[k]) / 2 if old != new else phase[k]
        way = (border - phase[k - 1]) * old + (phase[k] - border) * new
        assert way == pytest.approx(speeds[k] * DT, abs=2e-5)
    assert sorted(set(now)) == [0, 1, 2, 3]


@given(st.lists(st.floats(0.0, 4.0), min_size=30, max_size=60))
def test_gaits_change_only_where_feet_pass(speeds):
    agents, settings = crowd()
    found, _ = walked(agents, settings, speeds)
    phase, now = found[:, 0, PHASE], found[:, 0, GAIT]
    for k in np.flatnonzero(np.diff(now)):
        assert abs(now[k + 1] - now[k]) == 1.0  # never past a neighbor
        if now[k] > 0:
            # or up to 6 cm behind, for a body that slows down
            away = phase[k + 1] - np.floor(2 * phase[k + 1]) / 2
            near = now[k + 1] < now[k] and away * PERSON[int(now[k + 1])].stride < 0.061
            assert near or np.floor(2 * phase[k]) != np.floor(2 * phase[k + 1] + 1e-5)
    # a foot of a body that has stopped is set back at 0.36 m/s where that is nearer
    back = np.flatnonzero(np.diff(phase) < 0.0)
    assert np.all(np.array(speeds)[back + 1] < 0.3)
    strides = np.array([PERSON[int(row)].stride for row in now[back]])
    assert np.all(np.diff(phase)[back] * strides > -0.0151)


def test_a_body_that_stops_lands_and_stands():
    agents, settings = crowd()
    found, agents = walked(agents, settings, [1.2] * 37)
    assert found[-1, 0, GAIT] == 2
    found, _ = walked(agents, settings, [0.0] * 72)
    phase, now = found[:, 0, PHASE], found[:, 0, GAIT]
    lands = int(np.argmax(now == 0))
    # its feet go on at 0.36 m/s, as they slip meanwhile: a quarter of a walk, half a slow one
    assert 0 < lands < 0.5 * (0.5 * WALK.stride + SLOW.stride) / 0.36 / DT + 6
    assert np.all(now[lands:] == 0)
    assert (2 * phase[lands]) % 1 == pytest.approx(0.0, abs=1e-5)  # both feet down
    # it breathes by time
    assert np.diff(phase[lands:]) == pytest.approx(DT / STAND.duration, abs=1e-5)


def test_first_steps_lead_from_standing_to_the_next_gait_and_back():
    """They are as standing at whole cycles, and as the next gait between: there they change."""
    first = Row("first steps", 1, 50, speed=0.2, stride=0.6, duration=3.0, from_stand=True)
    agents, settings = crowd(cast=Cast(((STAND, first, SLOW, WALK),)))
    found, _ = walked(agents, settings, [1.2] * 40 + [0.0] * 90)
    phase, now = found[:, 0, PHASE], found[:, 0, GAIT]
    assert {0.0, 1.0, 2.0, 3.0} == set(now) and now[-1] == 0.0
    for k in np.flatnonzero(np.diff(now)):
        pair = {now[k], now[k + 1]}
        if pair == {0.0, 1.0}:
            assert phase[k + 1] % 1 < 0.2  # begun from, or ended at, a whole cycle
        if pair == {1.0, 2.0}:
            assert abs(phase[k + 1] % 1 - 0.5) < 0.2


BOTH = Row(
    "first steps", 1, 100, speed=0.2, stride=1.2, duration=6.0, from_stand=True, both_sides=True
)


TWICE = replace(BOTH, begins_twice=True)


def started(count, speeds, first=BOTH):
    """Postures of agents that stand and go at the same time, after each step."""
    agents, settings = crowd(count, cast=Cast(((STAND, first, SLOW, WALK),)))
    found = []
    for speed in speeds:
        after = agents.copy()
        after.velocity[:] = [speed, 0.0, 0.0]
        after.position[:, 0] += np.float32(speed * DT)
        gait.advance(agents, after, settings, DT)
        found.append(after.memory[MEMORY].copy())
        agents = after
    return np.array(found)


def test_agents_that_start_together_begin_with_either_foot():
    # those that stand halfway get ready within a sixteenth of a second
    found = started(400, [0.3] * int(np.ceil(1.0 / 16.0 / DT)))[-1:]
    stood = started(400, [0.0])[0, :, PHASE]
    assert (found[0, :, GAIT] == 1).all()
    halves = np.round(2.0 * found[0, :, PHASE]).astype(int)
    # the right foot at whole phases, where the weight was on the left one, and the left one else
    assert 170 < np.sum(halves % 2 == 0) < 230
    kept = np.abs(np.cos(2.0 * np.pi * stood)) > 0.1
    left = np.cos(2.0 * np.pi * stood) > 0.0
    assert np.array_equal((halves % 2 == 0)[kept], left[kept])


def test_either_foot_goes_first_where_both_halves_begin_as_standing_does():
    # those that stand halfway get ready within an eighth of a second
    found = started(400, [0.3] * int(np.ceil(1.0 / 8.0 / DT)), TWICE)[-1]
    assert (found[:, GAIT] == 1).all()
    halves = np.round(2.0 * found[:, PHASE]).astype(int)
    assert 170 < np.sum(halves % 2 == 0) < 230
    stood = started(400, [0.0], TWICE)[0, :, PHASE]
    kept = np.abs(stood - 0.5) > 0.05
    assert np.array_equal((halves % 2 == 0)[kept], (np.round(stood) == 0.0)[kept])


@pytest.mark.parametrize("first", [BOTH, TWICE])
def test_first_steps_of_both_sides_join_the_next_gait_at_either_half(first):
    speeds = [1.2] * 40 + [0.0] * 90 + [-0.4] * 40 + [0.0] * 90 + [0.3] * 30
    found, seen = started(40, speeds, first), set()
    for phases, gaits in found[:, :, [PHASE, GAIT]].transpose(1, 2, 0):
        assert (np.abs(np.diff(gaits)) <= 1.0).all()
        for k in np.flatnonzero(np.diff(gaits)):
            pair, places = (int(gaits[k]), int(gaits[k + 1])), []
            if max(pair) > 2:
                continue
            for number, phase in zip(pair, phases[k : k + 2], strict=True):
                # cycles of steps, 2 until they repeat, and where the next gait is then
                cycles = 1.0 if number == 0 and first.begins_twice else 2.0
                steps = cycles * phase % 2.0 if number < 2 else phase
                joins = number == 1 and max(pair) == 2 and steps > 1.0
                places.append(steps - 0.5 if joins else steps)
            period = 2.0 if min(pair) == 0 else 1.0
            apart = abs((places[1] - places[0] + 0.5 * period) % period - 0.5 * period)
            if pair != (0, 1):
                # a step goes on by a twelfth of a cycle at most; another foot is half a one away
                assert apart < 0.1, (pair, phases[k : k + 2])
            half = round(2.0 * places[1]) % (2 if max(pair) == 2 else 4)
            assert half % 2 == 0 or max(pair) == 2
            seen.add((*pair, half))
    assert seen == {
        (0, 1, 0), (0, 1, 2), (1, 2, 0), (1, 2, 1), (2, 1, 0), (2, 1, 1), (1, 0, 0), (1, 0, 2),
    }  # fmt: skip


def test_a_character_of_one_gait_goes_on_by_its_stride():
    only = Cast(((replace(WALK, first=0),),))  # a cart, whose wheels turn
    assert only.table().shape == (1, 2, 8)
    agents, settings = crowd(cast=only)
    found, _ = walked(agents, settings, [1.0, 2.0, 0.5, 0.7])
    assert np.diff(found[:, 0, PHASE]) == pytest.approx(
        np.array([2.0, 0.5, 0.7]) * DT / 1.3, abs=1e-5
    )
    assert not found[:, 0, GAIT].any()


def test_slow_trembling_is_no_walk():
    agents, settings = crowd()
    found, _ = walked(agents, settings, [0.1, 0.2, 0.15, 0.0, 0.2] * 10)
    assert not found[:, 0, GAIT].any()


def test_a_turn_on_the_spot_steps():
    agents, settings = crowd()
    after = agents
    gaits = []
    for k in range(1, 30):
        before, after = after, after.copy()
        angle = k * DT * 2.0
        after.heading[:] = [np.cos(angle), np.sin(angle), 0.0]
        gait.advance(before, after, settings, DT)
        gaits.append(after.memory[MEMORY][0, GAIT])
    assert gaits[-1] == 1


def test_a_body_that_is_pushed_back_steps_back():
    agents, settings = crowd()
    found, _ = walked(agents, settings, [-0.6] * 40)
    assert np.all(np.diff(found[20:, 0, PHASE]) < 0.0)


def test_larger_bodies_take_longer_steps():
    small, settings = crowd(2, cast=Cast((PERSON,), sized=True))
    small.radius[:] = [0.25, 0.5]
    small.velocity[:] = [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]
    before, after = small, small.copy()
    for _ in range(40):
        before, after = after, after.copy()
        after.position += after.velocity * np.float32(DT)
        gait.advance(before, after, settings, DT)
    rates = after.memory[MEMORY][:, PHASE] - before.memory[MEMORY][:, PHASE]
    assert rates[0] == pytest.approx(rates[1], abs=1e-5)


def test_a_body_takes_up_the_slope_and_its_side():
    agents, settings = crowd()
    agents.normal[:] = np.array([-1.0, -0.5, 2.0]) / np.linalg.norm([-1.0, -0.5, 2.0])
    found, _ = walked(agents, settings, [1.0] * 48)
    # z = x/2 + y/4: ahead is +X, and the right hand is at -Y
    assert found[-1, 0, SLOPE_AHEAD] == pytest.approx(0.5, abs=1e-3)
    assert found[-1, 0, SLOPE_SIDE] == pytest.approx(-0.25, abs=1e-3)


def test_headings_along_the_ground_take_up_its_slope_as_level_ones_do():
    """An agent that walks up a slope has a heading that rises with it."""
    up = np.array([-1.0, -0.5, 2.0]) / np.linalg.norm([-1.0, -0.5, 2.0])
    found = []
    for rise in (0.0, 0.5):
        agents, settings = crowd()
        agents.normal[:] = up
        agents.heading[:] = np.array([1.0, 0.0, rise]) / np.hypot(1.0, rise)
        speeds = [[1.0 + 2.0 * k * DT, 0.0, rise * (1.0 + 2.0 * k * DT)] for k in range(48)]
        found.append(walked(agents, settings, speeds)[0][-1, 0])
    np.testing.assert_allclose(found[1], found[0], atol=1e-5)
    assert found[1][SLOPE_AHEAD] == pytest.approx(0.5, abs=1e-3)


def test_a_body_that_walks_up_a_hill_is_on_its_slope():
    a, b, c, d = [-50, -50, -10], [50, -50, 10], [50, 50, 10], [-50, 50, -10]
    hill = Mesh("hill", np.array([[a, b, c], [a, c, d]], np.float32))
    world = make_world(targets=[[40.0, 0.0, 8.0]], ground=hill)
    agents, settings = crowd(max_speed=1.5)
    settings = replace(settings, behaviors=(Seek(),))
    simulation = Simulation(settings, agents, frame=1, fps=24.0)
    for _ in range(48):
        frame = simulation.step(world)
    assert frame.velocity[0, 2] > 0.1
    assert frame.attributes["slope_ahead"][0] == pytest.approx(0.2, abs=2e-3)
    assert frame.attributes["slope_side"][0] == pytest.approx(0.0, abs=2e-3)


@pytest.mark.parametrize("size", [1.0, 100.0])
def test_a_body_leans_into_acceleration_and_curves(size):
    cast = Cast((PERSON,), scale=size)  # in a scene in centimeters it is 100
    speeding = [[size * (1.0 + 2.0 * k * DT), 0.0, 0.0] for k in range(24)]
    found, _ = walked(*crowd(cast=cast), speeding)
    assert 0.05 < found[-1, 0, LEAN_AHEAD] < 0.15
    right = [[2.0 * size, -3.0 * size * k * DT, 0.0] for k in range(24)]
    found, _ = walked(*crowd(cast=cast), right)
    assert 0.05 < found[-1, 0, LEAN_SIDE] < 0.19


def test_flyers_beat_by_speed_and_climb():
    wings = tuple(Row(n, k, 1, speed=s, duration=d) for k, (n, s, d) in enumerate(
        [("glide", 0.0, 2.0), ("cruise", 6.0, 0.5), ("strong", 12.0, 0.25)]
    ))  # fmt: skip
    cast = Cast((wings,))
    for velocity, wanted in (([6, 0, 0], 1), ([6, 0, 3], 2), ([6, 0, -5], 0), ([12, 0, 0], 2)):
        agents, settings = crowd(cast=cast, motion="FLY")
        found, _ = walked(agents, settings, [velocity] * 60)
        assert found[-1, 0, GAIT] == wanted, velocity
        rate = np.diff(found[-10:, 0, PHASE])
        assert rate == pytest.approx(DT / wings[wanted].duration, abs=1e-5)
        assert not found[:, 0, SLOPE_AHEAD : LEAN_SIDE + 1].any()


def test_characters_are_chosen_by_id_and_kept():
    cast = Cast((PERSON, PERSON[:2], PERSON[:3]))
    agents, settings = crowd(3000, cast=cast)
    drawn = Simulation(settings, agents, frame=1, fps=24.0).current().attributes["character"]
    assert np.bincount(drawn.astype(int), minlength=3) == pytest.approx([1000] * 3, abs=100)
    fewer = agents.taken(np.arange(500, 700))
    again = Simulation(settings, fewer, frame=1, fps=24.0).current().attributes["character"]
    assert np.array_equal(again, drawn[500:700])
    settings = replace(settings, cast=replace(cast, choice=INDEX))
    by_index = Simulation(settings, agents, frame=1, fps=24.0).current().attributes["character"]
    assert np.array_equal(by_index, np.arange(3000) % 3)
    agents.attributes["body"] = np.full(3000, 4.0, np.float32)
    settings = replace(settings, cast=replace(cast, choice="body"))
    given_ones = Simulation(settings, agents, frame=1, fps=24.0).current().attributes["character"]
    assert np.all(given_ones == 1.0)


def test_a_run_that_continues_is_the_same():
    agents, settings = crowd(5)
    agents.velocity[:, 0] = np.linspace(0.1, 3.0, 5)
    whole = Simulation(settings, agents, frame=1, fps=24.0)
    for _ in range(10):
        whole.step(make_world())
    rest = Simulation(settings, whole.agents, frame=11, fps=24.0, placed=True)
    for _ in range(10):
        ended, also = whole.step(make_world()), rest.step(make_world())
    for name in POSTURE:
        assert np.array_equal(ended.attributes[name], also.attributes[name])


def test_flyers_have_no_slope_and_no_lean_of_their_own():
    agents, settings = crowd(motion="FLY")
    found = Simulation(settings, agents, frame=1, fps=24.0).step(make_world()).attributes
    assert set(found) == {"phase", "gait", "character"}


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_the_posture_is_known_again_from_a_frame(motion):
    agents, settings = crowd(4, motion=motion)
    agents.velocity[:, 0] = 1.0
    simulation = Simulation(settings, agents, frame=1, fps=24.0)
    frame = simulation.step(make_world())
    again = stood_up(frame, simulation.agents, settings.motion)
    assert np.array_equal(again.memory[MEMORY], simulation.agents.memory[MEMORY])


def test_a_body_goes_through_its_standing_to_where_its_first_steps_begin():
    """Else hands that hang elsewhere then would jump there: 41 mm with a lively rig."""
    found = started(400, [0.0, *[0.3] * 12])
    waits = found[:, :, GAIT] == 0
    steps = np.diff(found[:, :, PHASE], axis=0)
    assert np.abs(steps[waits[1:]]).max() <= 4.0 * DT + 1e-5
    begins = np.argmax(~waits, axis=0)
    agents = np.arange(400)
    last = found[begins - 1, agents, PHASE]
    away = np.abs(last - np.round(2.0 * last) / 2.0)
    assert away.max() <= 4.0 * DT + 1e-5 and waits[1].any()

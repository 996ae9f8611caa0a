"""Clips that agents play, and their tempo: when they start, how they end, that runs resume."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from figuretools import made

from steer_addon.core.agents import make_agents
from steer_addon.core.characters.cast import MEMORY, Cast
from steer_addon.core.characters.pose_space import PoseSpace, Row
from steer_addon.core.crowd.clips import ClipsSettings
from steer_addon.core.crowd.settings import CrowdSettings, MotionSettings
from steer_addon.core.errors import CharacterError
from steer_addon.core.inputs.world import make_world
from steer_addon.core.results.memories import stood_up
from steer_addon.core.step.gaits import gait
from steer_addon.core.step.simulation import Simulation
from tests.often import often

DT = 1.0 / 24.0
STAND = Row("stand", 0, 100, duration=4.0)
WALK = Row("walk", 100, 160, speed=1.2, stride=1.3, duration=1.08)
WAVE = Row("wave", 260, 60, duration=2.0, loops=False)
SIT = Row("Sit", 320, 90, duration=3.0, loops=False, round_from=0.25, round_to=0.75)
DANCE = Row("dance", 410, 60, duration=2.0)
PERSON = Cast(((STAND, WALK),), clips=((WAVE, SIT, DANCE),))
STANDS, WALKS, WAVES, SITS, DANCES = range(5)


def crowd(count=1, cast=PERSON, attributes=None, **clips):
    """Agents in a row that look along +X, and settings of a crowd of people."""
    places = np.zeros((count, 3))
    places[:, 1] = 2.0 * np.arange(count)
    agents = make_agents(
        places, heading=np.tile([1.0, 0.0, 0.0], (count, 1)), radius=0.25, mass=1.0,
        max_speed=10.0, max_force=100.0, attributes=attributes or {},
    )  # fmt: skip
    told = ClipsSettings(**{"tempo_spread": 0.0, **clips})
    return agents, CrowdSettings(motion=MotionSettings(), cast=cast, clips=told)


def run(agents, settings, speeds, arrives=None):
    """Phases and gaits after each step at these speeds, shape (step_count, agent_count)."""
    found = []
    for number, speed in enumerate(speeds):
        after = agents.copy()
        after.velocity[:] = [speed, 0.0, 0.0]
        after.position[:, 0] += np.float32(speed * DT)
        after.arrived[:] = arrives is not None and number >= arrives
        gait.advance(agents, after, settings, DT)
        found.append(after.memory[MEMORY][:, :2].copy())
        agents = after
    phases, rows = np.moveaxis(np.array(found), -1, 0)
    return phases, rows.astype(int), agents


def test_without_clips_asked_for_agents_stand():
    phases, rows, agents = run(*crowd(20), [0.0] * 300)
    assert not rows.any() and MEMORY in agents.memory and "a clip" not in agents.memory
    assert np.diff(phases, axis=0) == pytest.approx(DT / 4.0, abs=1e-5)


@pytest.mark.parametrize("given", [True, False])
def test_the_first_frame_says_that_no_clip_is_played_yet(given):
    """A bake lacked the attribute there, which materials took for clip 0."""
    attributes = {"clip": np.array([1.0, -1.0])} if given else {}
    agents, settings = crowd(2, attributes=attributes, idle="" if given else "*")
    first = Simulation(settings, agents, frame=1, fps=24).current()
    assert first.attributes["clip"].tolist() == [-1.0, -1.0]
    agents, settings = crowd(2)
    assert "clip" not in Simulation(settings, agents, frame=1, fps=24).current().attributes


@pytest.mark.parametrize("share", often([0.2, 0.5, 0.9], 0.2))
def test_clips_take_their_share_of_the_time(share):
    _, rows, _ = run(*crowd(400, idle="wave, sit, dance", idle_share=share), [0.0] * 1500)
    settled = rows[500:]
    assert (settled > 0).mean() == pytest.approx(share, abs=0.04)
    assert {*np.unique(settled)} == {STANDS, WAVES, SITS, DANCES}


@pytest.mark.slow
def test_only_clips_that_are_named_are_played():
    _, rows, _ = run(*crowd(100, idle="WAVE", idle_share=1.0), [0.0] * 300)
    assert {*np.unique(rows)} == {STANDS, WAVES}
    _, rows, _ = run(*crowd(100, idle="jump", idle_share=1.0), [0.0] * 300)
    assert not rows.any()


def test_clips_begin_where_standing_ends_and_end_where_it_begins():
    phases, rows, _ = run(*crowd(50, idle="wave, sit", idle_share=0.6), [0.0] * 900)
    duration = {STANDS: 4.0, WAVES: 2.0, SITS: 3.0}
    for i in range(50):
        for k in np.flatnonzero(np.diff(rows[:, i])):
            whole = np.floor(phases[k + 1, i])
            assert whole == np.floor(phases[k, i]) + 1
            # the time of a step has gone on, part of it before, and part of it after
            before = (whole - phases[k, i]) * duration[rows[k, i]]
            after = (phases[k + 1, i] - whole) * duration[rows[k + 1, i]]
            assert before + after == pytest.approx(DT, abs=2e-3)


def test_clips_that_go_round_last_as_long_as_asked_on_average():
    phases, rows, _ = run(*crowd(300, idle="sit", idle_share=0.7, idle_time=6.0), [0.0] * 2400)
    sitting = (rows == SITS).sum()
    starts = ((rows[1:] == SITS) & (rows[:-1] == STANDS)).sum()
    assert starts > 300
    # some follow one another
    starts += ((np.floor(phases[1:]) > np.floor(phases[:-1])) & (phases[1:] % 1 < 0.1)
               & (rows[1:] == SITS) & (rows[:-1] == SITS)).sum()  # fmt: skip
    assert sitting * DT / starts == pytest.approx(3.0 + 6.0, rel=0.1)


def test_going_round_keeps_the_place_within_the_clip():
    phases, rows, _ = run(*crowd(attributes={"clip": np.array([1])}), [0.0] * 600)
    first = int(np.argmax(rows[:, 0] == SITS))
    assert np.all(rows[first:, 0] == SITS)
    step = np.diff(phases[first:, 0])
    rounds = step > 0.4
    assert rounds.sum() > 5 and np.all(phases[first + 1 :, 0] % 1 < 0.76)
    assert step[~rounds] == pytest.approx(DT / 3.0, abs=1e-5)
    assert step[rounds] == pytest.approx(0.5 + DT / 3.0, abs=1e-5)


def test_arriving_plays_a_clip_once():
    speeds = [1.2] * 48 + [0.0] * 400
    phases, rows, agents = run(*crowd(30, arrival="wave"), speeds, arrives=40)
    for i in range(30):
        began = np.flatnonzero((rows[1:, i] == WAVES) & (rows[:-1, i] != WAVES))
        assert len(began) == 1
        assert (began[0] - 48) * DT < 1.1 + 0.5 * STAND.duration
        assert (rows[:, i] == WAVES).sum() * DT == pytest.approx(WAVE.duration, abs=2 * DT)
    assert np.all(np.diff(phases, axis=0) >= 0.0)


def test_clips_of_the_arrival_that_go_round_are_kept():
    _, rows, _ = run(*crowd(10, arrival="sit"), [1.2] * 48 + [0.0] * 800, arrives=40)
    assert np.all(rows[-500:] == SITS)


def test_an_agent_that_walks_off_leaves_its_clip_by_the_nearer_end():
    for wait, back in ((8, True), (36, False)):
        agents, settings = crowd(attributes={"clip": np.array([0])})
        _, rows, _ = run(agents, settings, [0.0] * 200)
        first = int(np.argmax(rows[:, 0] == WAVES))
        phases, rows, _ = run(*crowd(attributes={"clip": np.array([0])}),
                              [0.0] * (first + wait) + [1.0] * 40)  # fmt: skip
        left = first + wait
        leaving = np.flatnonzero(rows[left:, 0] == WAVES) + left
        steps = np.diff(phases[leaving, 0])
        assert steps == pytest.approx((-1 if back else 1) * 2.0 * DT / WAVE.duration, abs=1e-5)
        assert 0.1 < len(leaving) * DT < 0.5 and rows[-1, 0] == WALKS


def test_a_point_attribute_gives_clips_and_takes_them_away():
    given = {"clip": np.array([-1, 0, 2, 7])}
    _, rows, _ = run(*crowd(4, attributes=given, idle="*", idle_share=1.0), [0.0] * 400)
    late = rows[200:]
    assert [set(np.unique(column)) for column in late.T] == [{STANDS}, {WAVES}, {DANCES}, {STANDS}]


def test_the_tempo_is_that_of_standing_and_clips_not_of_walking():
    agents, settings = crowd(300, tempo_spread=0.2)
    phases, _, _ = run(agents, settings, [0.0] * 24)
    rates = np.diff(phases, axis=0)[-1] * STAND.duration / DT
    assert 0.8 < rates.min() < 0.83 and 1.17 < rates.max() < 1.2
    assert rates.mean() == pytest.approx(1.0, abs=0.02)
    phases, _, _ = run(agents, settings, [1.2] * 48)
    assert np.diff(phases, axis=0)[-1] == pytest.approx(1.2 * DT / WALK.stride, abs=1e-5)
    # another number of agents changes nobody
    fewer = agents.taken(np.arange(50, 90))
    again, _, _ = run(fewer, settings, [0.0] * 24)
    assert np.diff(again, axis=0)[-1] * STAND.duration / DT == pytest.approx(rates[50:90], abs=1e-3)
    agents.attributes["tempo"] = np.full(300, 2.0, np.float32)
    phases, _, _ = run(agents, settings, [0.0] * 24)
    assert np.diff(phases, axis=0)[-1] == pytest.approx(2.0 * DT / STAND.duration, abs=1e-5)


@pytest.mark.parametrize("tempo", [0.0, 0.05, 2.0])
def test_who_stands_at_another_tempo_walks_off_and_stops_as_the_others_do(tempo):
    """With a tempo of 0 bodies stood while they went, and slid over the ground."""
    space = made("woman").space
    cast = Cast((space.gaits,), lasts=(space.clips[-1:],))
    agents, settings = crowd(2, cast, {"tempo": np.array([1.0, tempo])})
    # both stand alike, where first steps may begin
    gait.begin(agents, settings)
    agents.memory[MEMORY][:, 0] = 0.0
    speeds = [*np.linspace(0.0, 1.3, 24), *[1.3] * 24, *np.linspace(3.0, 0.0, 24), *[0.0] * 48]
    _, rows, agents = run(agents, settings, speeds)
    np.testing.assert_array_equal(rows[:, 0], rows[:, 1])
    assert rows[30:60].min() > 2 and not rows[-1].any()
    assert all(np.isfinite(kept).all() for kept in agents.memory.values())


def test_characters_without_clips_stand():
    cast = Cast(((STAND, WALK), (STAND,)), clips=((WAVE,), ()), choice="kind")
    attributes = {"kind": np.array([0, 1, 0, 1])}
    _, rows, _ = run(*crowd(4, cast, attributes, idle="*", idle_share=1.0), [0.0] * 300)
    assert np.all(rows[150:, ::2] == WAVES) and not rows[:, 1::2].any()


@pytest.mark.parametrize("from_frame", [False, True])
def test_a_run_that_continues_is_the_same(from_frame):
    agents, settings = crowd(40, idle="*", arrival="wave", idle_share=0.7, tempo_spread=0.1)
    whole = Simulation(settings, agents, frame=1, fps=24.0)
    for _ in range(200):
        frame = whole.step(make_world())
    left = whole.agents
    if from_frame:
        left = stood_up(frame, left, settings.motion)
    rest = Simulation(settings, left, frame=201, fps=24.0, placed=True)
    for _ in range(200):
        ended, also = whole.step(make_world()), rest.step(make_world())
    assert len(np.unique(ended.attributes["gait"])) > 2
    for name in ("phase", "gait", "clip"):
        assert np.array_equal(ended.attributes[name], also.attributes[name])


def test_a_crowd_whose_clips_are_taken_away_stands_again():
    agents, settings = crowd(30, idle="*", idle_share=1.0)
    _, rows, agents = run(agents, settings, [0.0] * 200)
    assert rows[-1].all()
    _, rows, _ = run(agents, replace(settings, clips=ClipsSettings()), [0.0] * 10)
    assert not rows.any()


def test_clips_that_go_round_have_phases_in_order():
    for ends in ((0.6, 0.4), (-0.1, 0.5), (0.5, 1.5)):
        row = Row("sit", 1, 1, loops=False, round_from=ends[0], round_to=ends[1])
        with pytest.raises(CharacterError, match="give phases from 0 to 1"):
            PoseSpace(np.zeros((2, 1, 3), np.float32), (Row("stand", 0, 1),), (row,))

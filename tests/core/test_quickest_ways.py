"""Quickest ways: where one door or one stair is crowded, people take the other one too."""

from __future__ import annotations

import numpy as np
import pytest
import way_buildings as buildings
import way_scenes as scenes
from waytools import Walk

from steer_addon.core.ways import ways


def emptied(scene, starts, goal, setting, passes, fps):
    """Frames until all are at the goal, and how many passed by each of two doors.

    Args:
        scene: The scene.
        starts: Places of the people [m], shape (n, 3).
        goal: Where they leave [m], shape (3,).
        setting: The setting *Ways*.
        passes: Tells for places (n, 3) who is in a door: 1 or 2 by the door, 0 for nobody.
        fps: Frames per second.
    """
    leave = "bodies.on_arrival=LEAVE", "bodies.arrival_distance=1.0"
    walk = Walk(scene, starts, goal, setting, *leave, fps=fps)
    door = np.zeros(len(starts), int)
    for frame in range(round(fps * 300)):
        walk.step()
        agents = walk.simulation.agents
        found = passes(agents.position)
        door = np.where((agents.alive != 0) & (found > 0), found, door)
        if not agents.alive.any():
            return frame, np.bincount(door, minlength=3)[1:]
    raise AssertionError(f"{int(agents.alive.sum())} of {len(starts)} are left")


def ratios(scene, starts, goal, passes, count, fps=24.0):
    """How many times sooner QUICKEST empties a scene than AROUND, for a number of starts.

    Crowds are chaotic: where they start a centimeter beside, the time differs by a tenth or more.
    """
    found, starts = [], np.array(starts)
    for seed in range(count):
        aside = np.random.default_rng(seed).uniform(-0.01, 0.01, starts.shape) * [1.0, 1.0, 0.0]
        options = scene, starts + aside, goal
        around, one = emptied(*options, "AROUND", passes, fps)
        quickest, two = emptied(*options, "QUICKEST", passes, fps)
        assert sorted(one.tolist()) == [0, len(starts)]
        assert two.min() > len(starts) // 6
        found.append(around / quickest)
    return found


def room_with_two_doors(scene):
    """Where its people start, where they leave, and who is in which door, see `emptied`."""
    starts = [[1.5 + 0.6 * i, 1.0 + 0.6 * j, 0.0] for i in range(10) for j in range(12)]

    def passes(place):
        return np.where(np.abs(place[:, 0] - 10.0) < 0.2, np.where(place[:, 1] < 10.0, 1, 2), 0)

    return starts, scene.places["goal"], passes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("starting", "fps", "sooner"),
    [(1, 8.0, 1.1), pytest.param(10, 12.0, 1.1, marks=pytest.mark.long)],
)
def test_a_room_with_two_doors_empties_sooner_by_both(starting, fps, sooner):
    scene = scenes.two_doors(near=0.8, far=0.8)
    found = ratios(scene, *room_with_two_doors(scene), starting, fps)
    assert np.mean(found) >= sooner


@pytest.mark.slow
@pytest.mark.parametrize(
    ("starting", "fps", "sooner"),
    [(1, 8.0, 1.0), pytest.param(6, 12.0, 1.05, marks=pytest.mark.long)],
)
def test_agents_with_ways_of_their_own_take_both_doors(monkeypatch, starting, fps, sooner):
    monkeypatch.setattr(ways, "MOST_GOALS", 0)
    scene = scenes.two_doors(near=0.8, far=0.8)
    found = ratios(scene, *room_with_two_doors(scene), starting, fps)
    assert np.mean(found) >= sooner


@pytest.mark.long
def test_a_house_of_three_storeys_empties_sooner_by_both_stairs():
    scene, top = buildings.three_storeys(), 2.0 * buildings.STOREY
    rows = [(1.0 + 0.6 * i, 12.9 + 0.6 * j) for i in range(20) for j in range(11)]
    # not over the left stairs, which end where the rows begin
    starts = [[x, y, top] for x, y in rows if y > 13.0 or not 1.5 < x < 4.5]

    def passes(place):
        under = np.abs(place[:, 2] - top + 1.0) < 0.2
        return np.where(under, np.where(place[:, 0] < 15.0, 1, 2), 0)

    found = ratios(scene, starts, [15.0, 1.5, 0.0], passes, 6)
    assert np.mean(found) >= 1.3

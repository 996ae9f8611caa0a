"""Quickest ways: where one door or one stair is crowded, people take the other one too."""

from __future__ import annotations

import numpy as np
import pytest
import way_buildings as buildings
import way_scenes as scenes
from waytools import Walk


def emptied(scene, starts, goal, ways, passes, fps):
    """Frames until all are at the goal, and how many passed by each of two doors.

    Args:
        scene: The scene.
        starts: Places of the people [m], shape (n, 3).
        goal: Where they leave [m], shape (3,).
        ways: The setting.
        passes: Tells for places (n, 3) who is in a door: 1 or 2 by the door, 0 for nobody.
        fps: Frames per second.
    """
    leave = "bodies.on_arrival=LEAVE", "bodies.arrival_distance=1.0"
    walk = Walk(scene, starts, goal, ways, *leave, fps=fps)
    door = np.zeros(len(starts), int)
    for frame in range(round(fps * 300)):
        walk.on(1)
        agents = walk.simulation.agents
        found = passes(agents.position)
        door = np.where((agents.alive != 0) & (found > 0), found, door)
        if not agents.alive.any():
            return frame, np.bincount(door, minlength=3)[1:]
    raise AssertionError(f"{int(agents.alive.sum())} of {len(starts)} are left")


def both(scene, starts, goal, passes, fps=24.0):
    """`emptied` for AROUND and for QUICKEST."""
    return [emptied(scene, starts, goal, ways, passes, fps) for ways in ("AROUND", "QUICKEST")]


@pytest.mark.slow
def test_a_room_with_two_doors_empties_sooner_by_both():
    scene = scenes.two_doors(near=0.8, far=0.8)
    starts = [[1.5 + 0.6 * i, 1.0 + 0.6 * j, 0.0] for i in range(10) for j in range(12)]

    def passes(place):
        return np.where(np.abs(place[:, 0] - 10.0) < 0.2, np.where(place[:, 1] < 10.0, 1, 2), 0)

    (around, one), (quickest, two) = both(scene, starts, scene.places["goal"], passes, 12.0)
    assert one.tolist() == [len(starts), 0]
    assert two.min() > len(starts) // 6
    assert around >= 1.3 * quickest


@pytest.mark.long
def test_a_house_of_three_storeys_empties_sooner_by_both_stairs():
    scene, top = buildings.three_storeys(), 2.0 * buildings.STOREY
    rows = [(1.0 + 0.6 * i, 12.9 + 0.6 * j) for i in range(20) for j in range(11)]
    # not over the left stairs, which end where the rows begin
    starts = [[x, y, top] for x, y in rows if y > 13.0 or not 1.5 < x < 4.5]

    def passes(place):
        under = np.abs(place[:, 2] - top + 1.0) < 0.2
        return np.where(under, np.where(place[:, 0] < 15.0, 1, 2), 0)

    (around, one), (quickest, two) = both(scene, starts, [15.0, 1.5, 0.0], passes)
    assert one.min() == 0 and two.min() > len(starts) // 6
    assert around >= 1.3 * quickest

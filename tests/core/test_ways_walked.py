"""People who find their ways walk them: over bridges, up ramps, through doors and onto trains."""

from __future__ import annotations

import numpy as np
import pytest
import way_buildings as buildings
import way_scenes as scenes
from waytools import SHAPE, Walk, blocks_of, led, walked

from steer_addon.core.geometry import bvh
from steer_addon.core.ways.ways import Ways
from tests.often import often, pairs_of

pytestmark = pytest.mark.slow

COARSE = 12.0
"""Frames per second of walks that are long and alone, or among few."""


def arrives(
    walk: Walk, goal, frames: int, within: float = 0.5, more=lambda frame: ()
) -> np.ndarray:
    """Walk until all are at the goal, and 24 frames more: then they still are.

    Args:
        walk: The walk.
        goal: The goal [m], shape (3,).
        frames: They must be there before.
        within: So near to it [m].
        more: More colliders of each frame.
    """
    while frames > 0 and (np.linalg.norm(walk.places[-1] - goal, axis=1) >= within).any():
        walk.step(more)
        frames -= 1
    places = walk.on(24, more)
    assert (np.linalg.norm(places[-1] - goal, axis=1) < within).all(), places[-1]
    return places


def test_a_bridge_is_crossed_above_and_below():
    scene = buildings.bridge()
    over = Walk(scene, scene.places["south"], scene.places["north"], fps=COARSE)
    places = arrives(over, scene.places["north"], 550)
    middle = np.abs(places[:, 0, 1]) < 5.0
    assert places[middle, 0, 2] == pytest.approx(buildings.ABOVE, abs=0.05)
    length = buildings.bridge_length()
    assert walked(places)[0] == pytest.approx(length, rel=0.02)
    under = Walk(scene, scene.places["west"], scene.places["east"], fps=COARSE)
    places = arrives(under, scene.places["east"], 550)
    assert np.abs(places[:, 0, 2]).max() < 0.05


def test_ramps_are_climbed_from_floor_to_floor():
    scene = buildings.three_storeys()
    goal = scene.places["goal"]
    places = arrives(Walk(scene, scene.places["start"], goal, fps=COARSE), goal, 500)
    exact = buildings.storeys_unfolded(0.25)
    exact = exact.length(("floor 0", (15.0, 3.0)), ("floor 2", (15.0, 17.0)))
    # lanes lie apart from the corners
    assert 0.98 * exact < walked(places)[0] < 1.06 * exact


def test_a_spiral_ramp_is_climbed_and_nobody_falls_off():
    scene = buildings.spiral_ramp()
    goal = scene.places["goal"]
    places = arrives(Walk(scene, scene.places["start"], goal, fps=COARSE), goal, 500)[:, 0]
    away = np.hypot(places[:, 0], places[:, 1])
    assert buildings.INNER <= away.min() and away.max() <= buildings.OUTER
    # on its ramp at each turn: the height is that of the angle
    angle = np.unwrap(np.arctan2(places[:, 1], places[:, 0]))
    assert places[:, 2] == pytest.approx(buildings.RISE * angle, abs=0.15)


def test_who_is_pushed_to_the_edge_of_a_ramp_goes_on_along_it():
    scene, inner = buildings.spiral_ramp(), buildings.INNER + 0.02
    goal, end = scene.places["goal"], 2.0 * np.pi * buildings.TURNS - 0.2
    ways = Ways()
    for angle in np.linspace(0.3, end - 1.5, 60):
        # the middle of the column may lie beyond the edge, over another turn of the ramp
        place = np.array([inner * np.cos(angle), inner * np.sin(angle), buildings.RISE * angle])
        via, length = led(scene, place, goal, ways=ways)
        assert np.dot(via[0] - place, [-np.sin(angle), np.cos(angle), 0.0]) > 0.0
        around = np.hypot(buildings.INNER + 0.25, buildings.RISE) * (end - angle)
        # and out to the goal, in the middle of the ramp
        assert around < length[0] < 1.05 * around + 1.5


@pytest.mark.parametrize("thick", [0.02, 0.1, 0.14, 0.18, 0.22])
def test_who_is_pressed_along_a_wall_goes_on_along_it(thick):
    wall = scenes.rectangle(0.0, 0.0, 60.0, thick)
    scene, x = scenes.on_plane([wall], (60.0, 8.0)), np.linspace(3.0, 40.0, 120)
    # touching it: the middles lie in cells that may have no room
    places = np.column_stack([x, np.full(len(x), thick + 0.5), np.zeros(len(x))])
    told = places.astype(np.float32), np.arange(len(x)), np.full(len(x), 0.5, np.float32)
    goals, rows = np.array([[58.0, 1.2, 0.0]], np.float32), np.zeros(len(x), np.int64)
    via, _rest, _kept = Ways().lead(SHAPE, blocks_of(scene), goals, rows, told)
    ahead, away = (via - places)[:, :2].T
    assert (ahead > 0.0).all() and (np.abs(away) < 0.3 * ahead).all()


@pytest.mark.parametrize(
    ("wide", "start", "goal"),
    often(
        [(w, *ends) for w in (0.51, 0.55, 0.6) for ends in ((8.0, 8.0), (12.0, 4.0), (14.0, 14.0))],
        (0.51, 8.0, 8.0),
        (0.51, 14.0, 14.0),
        (0.55, 12.0, 4.0),
        (0.6, 14.0, 14.0),
    ),
)
def test_nobody_zigzags_before_a_narrow_passage(wide, start, goal):
    # a body is 0.5 m wide, and the passage 1 m long
    low, high = 8.0 - wide / 2, 8.0 + wide / 2
    outlines = [scenes.rectangle(5.5, 0.0, 6.5, low), scenes.rectangle(5.5, high, 6.5, 16.0)]
    scene = scenes.on_plane(outlines, (12.0, 16.0))
    straight = np.hypot(4.5, start - 8.0) + 1.0 + np.hypot(4.5, goal - 8.0)
    # at 1.4 m/s, with half a second to get going
    frames = int(24.0 * (1.1 * straight / 1.4 + 0.5))
    arrives(Walk(scene, [1.0, start, 0.0], [11.0, goal, 0.0]), [11.0, goal, 0.0], frames)


@pytest.mark.parametrize(
    ("ways", "gap", "start"), pairs_of(("NONE", "AROUND"), (0.3, 0.8), (8.0, 15.0))
)
def test_places_near_a_wall_are_gone_to_straight(ways, gap, start):
    scene = scenes.on_plane([scenes.rectangle(11.0 + gap, 0.0, 11.3 + gap, 16.0)], (14.0, 16.0))
    goal = [11.0, 8.0, 0.0]
    places = Walk(scene, [1.0, start, 0.0], goal, ways).on(250)
    there = np.flatnonzero(np.linalg.norm(places[:, 0] - goal, axis=1) < 0.3)
    straight = np.hypot(10.0, start - 8.0)
    # at 1.4 m/s, with half a second to get going
    assert len(there) and there[0] / 24.0 < straight / 1.4 + 0.5
    assert walked(places)[0] < 1.01 * straight


def test_without_ways_a_wall_holds_up_who_goes_round_it_with_them():
    scene = scenes.two_doors(near=0.4)
    start, goal = scene.places["start"], scene.places["goal"]
    places = arrives(Walk(scene, start, goal, fps=COARSE), goal, 350)
    straight = Walk(scene, start, goal, "NONE", fps=COARSE).on(len(places))
    assert np.linalg.norm(straight[-1, 0] - goal) > 6.0
    crossing = np.abs(places[:, 0, 0] - 10.0) < 0.3
    assert (places[crossing, 0, 1] > 15.0).all()


def test_a_door_that_shuts_midway_sends_those_before_it_round():
    scene = scenes.two_doors()
    start, goal = scene.places["start"], scene.places["goal"]

    def leaf(frame):
        return [scenes.door_leaf(float(np.clip((frame - 20) / 10.0, 0.0, 1.0)))]

    places = arrives(Walk(scene, start, goal, fps=COARSE), goal, 450, more=leaf)[:, 0]
    # it shuts when the agent is about to pass
    assert 5.0 < places[20, 0] < 9.5
    crossing = np.abs(places[:, 0] - 10.0) < 0.3
    assert (places[crossing, 1] > 15.0).all()


def test_a_train_is_boarded_when_it_stands():
    scene = buildings.platform()
    goal = scene.places["goal"]
    walk = Walk(scene, scene.places["start"], goal)
    standing = buildings.with_train(0.0)
    tree = bvh.build(standing.ground.triangles)

    def train(frame):
        return buildings.with_train(buildings.train_place(frame)) if frame < 100 else standing

    def ground(frame):
        return tree if frame >= 100 else bvh.build(train(frame).ground.triangles)

    places = walk.on(300, lambda frame: train(frame).colliders, ground)[:, 0]
    assert np.linalg.norm(places[-1] - goal) < 0.5
    # before it stands nobody is in its way, and then they go up into it
    assert places[:100, 1].max() < 0.0
    inside = places[-1]
    assert 0.0 < inside[1] < 3.0
    # through one of its doors
    at_edge = places[np.argmax(places[:, 1] > 0.1)]
    assert min(abs(at_edge[0] - x) for x in buildings.DOORS) < 0.7


def test_a_maze_is_left_by_everybody():
    scene = scenes.maze(1)
    start, goal = scene.places["start"], scene.places["goal"]
    starts = start + [[x, y, 0.0] for x in (-0.5, 0.0, 0.5) for y in (-0.5, 0.0, 0.5)]
    # all of their lanes round the corners lead on
    arrives(Walk(scene, starts, goal, fps=COARSE), goal, 750, within=1.2)

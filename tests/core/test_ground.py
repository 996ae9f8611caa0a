"""Walking on terrain: where agents end, and what they never do."""

from __future__ import annotations

import math

import numpy as np
import pytest

from steer_addon.core.geometry import bvh, ground
from steer_addon.core.views import BvhView

Vec = tuple[float, float, float]
UP = (0.0, 0.0, 1.0)
RADIUS = 0.3
STEP = 0.35
MIN_UP = ground.min_up(45.0)


def quad(a: Vec, b: Vec, c: Vec, d: Vec) -> np.ndarray:
    return np.float32([[a, b, c], [a, c, d]])


def profile(*points: tuple[float, float], half_width: float = 10.0) -> np.ndarray:
    """A strip along x with heights by (x, z); two points of equal x make a riser."""
    strips = [
        quad(
            (x0, -half_width, z0), (x1, -half_width, z1), (x1, half_width, z1), (x0, half_width, z0)
        )
        for (x0, z0), (x1, z1) in zip(points[:-1], points[1:], strict=True)
    ]
    return np.concatenate(strips)


def floor(x0: float, x1: float, y0: float, y1: float, z: float) -> np.ndarray:
    return quad((x0, y0, z), (x1, y0, z), (x1, y1, z), (x0, y1, z))


def walk(view: BvhView, start: Vec, move: Vec, normal: Vec = UP, **options: float):
    return ground.walk(
        view,
        start,
        move,
        normal,
        options.get("radius", RADIUS),
        options.get("step_height", STEP),
        ground.min_up(options.get("max_slope", 45.0)),
    )


def march(view: BvhView, start: Vec, move: Vec, steps: int, **options: float):
    """Walk many equal steps, rounding to 32 bits as the solver does: places, normals, blocked."""
    feet, normal = start, UP
    places, normals, stops = [feet], [normal], []
    for _ in range(steps):
        feet, normal, blocked = walk(view, feet, move, normal, **options)
        feet = tuple(float(np.float32(value)) for value in feet)
        normal = tuple(float(np.float32(value)) for value in normal)
        places.append(feet)
        normals.append(normal)
        stops.append(blocked)
    return np.array(places), np.array(normals), stops


def test_a_flat_floor_is_walked_exactly() -> None:
    view = bvh.build(floor(-10, 10, -10, 10, 2.0))
    for move in ((0.5, 0.25, 0.0), (-3.0, 4.0, 0.0), (0.5, 0.0, 7.0), (1e-3, 0.0, 0.0)):
        feet, normal, blocked = walk(view, (1.0, 1.0, 2.0), move)
        assert feet == pytest.approx((1 + move[0], 1 + move[1], 2.0), abs=1e-12)
        assert normal == UP
        assert not blocked


def test_a_ramp_is_walked_up_and_down() -> None:
    rise = math.tan(math.radians(30))
    view = bvh.build(profile((-5, 0), (0, 0), (10, 10 * rise), (15, 10 * rise)))
    for direction in (1.0, -1.0):
        start = (1.0, 0.0, rise) if direction > 0 else (9.0, 0.0, 9 * rise)
        normal = (-math.sin(math.pi / 6), 0.0, math.cos(math.pi / 6))
        move = (direction * 0.06, 0.0, 0.0)
        feet = start
        for _ in range(100):
            # a velocity along the slope, as the solver makes it
            along = np.array(move) - np.array(normal) * np.dot(move, normal)
            along *= 0.06 / np.linalg.norm(along)
            before = feet
            feet, normal, blocked = walk(view, feet, tuple(along), normal)
            assert not blocked
            assert math.dist(before, feet) == pytest.approx(0.06, abs=2e-6)
            assert feet[2] == pytest.approx(rise * feet[0], abs=2e-6)
        assert math.dist(start, feet) == pytest.approx(6.0, abs=1e-4)


def test_onto_and_off_a_ramp() -> None:
    rise = math.tan(math.radians(40))
    view = bvh.build(profile((-5, 0), (0, 0), (3, 3 * rise), (8, 3 * rise)))
    for speed in (0.02, 0.1, 0.8):
        places, _, stops = march(view, (-1.0, 0.5, 0.0), (speed, 0, 0), int(8 / speed))
        assert not any(stops)
        assert (places[:, 1] == 0.5).all()
        assert places[-1, 0] > 3.0
        assert places[-1, 2] == pytest.approx(3 * rise, abs=1e-5)
        height = np.clip(places[:, 0], 0, 3) * rise
        np.testing.assert_allclose(places[:, 2], height, atol=1e-5)
        back, _, stops = march(view, tuple(places[-1]), (-speed, 0, 0), int(8 / speed))
        assert not any(stops)
        assert back[-1, 2] == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize("slope", [45.0, 44.0])
def test_the_steepest_slope_is_still_walked(slope: float) -> None:
    rise = math.tan(math.radians(slope))
    view = bvh.build(profile((-5, 0), (0, 0), (3, 3 * rise), (8, 3 * rise)))
    places, _, _ = march(view, (-1.0, 0.0, 0.0), (0.06, 0, 0), 150)
    assert places[-1, 2] == pytest.approx(3 * rise, abs=1e-5)


@pytest.mark.parametrize("slope", [46.0, 60.0, 85.0])
def test_a_steep_ramp_blocks(slope: float) -> None:
    view = bvh.build(profile((-5, 0), (0, 0), (3, 3 * math.tan(math.radians(slope)))))
    for speed in (0.02, 0.1, 0.8):
        places, _, stops = march(view, (-1.0, 0.0, 0.0), (speed, 0, 0), int(3 / speed))
        assert stops[-1]
        assert places[:, 0].max() < 0.0
        assert places[:, 0].max() > -RADIUS - speed - 0.4
        np.testing.assert_allclose(places[:, 2], 0.0, atol=1e-6)
        np.testing.assert_allclose(places[:, 1], 0.0, atol=1e-6)


def test_agents_slide_along_a_steep_ramp() -> None:
    view = bvh.build(profile((-5, 0), (0, 0), (3, 3 * math.tan(math.radians(60)))))
    places, _, stops = march(view, (-1.0, -5.0, 0.0), (0.05, 0.05, 0), 150)
    assert places[:, 0].max() < 0.0
    assert places[-1, 1] == pytest.approx(2.5, abs=0.1)  # 150 · 0.05 along y, unhindered
    assert stops[-1]
    assert (np.diff(places[:, 1]) > 0.045).all()


def test_a_steep_slope_down_blocks_too() -> None:
    view = bvh.build(profile((-5, 5), (0, 5), (5, -5), (10, -5)))
    places, _, stops = march(view, (-1.0, 0.0, 5.0), (0.1, 0, 0), 40)
    assert stops[-1]
    assert -0.3 < places[:, 0].max() <= 0.0
    np.testing.assert_allclose(places[:, 2], 5.0, atol=1e-6)


def stairs(riser: float, count: int = 8, tread: float = 0.3) -> np.ndarray:
    points = [(-5.0, 0.0), (0.0, 0.0)]
    for k in range(count):
        points += [(k * tread, (k + 1) * riser), ((k + 1) * tread, (k + 1) * riser)]
    points.append((count * tread + 5.0, count * riser))
    return profile(*points)


@pytest.mark.parametrize("speed", [0.01, 0.06, 0.5])
@pytest.mark.parametrize("riser", [0.18, 0.34])
def test_stairs_are_climbed_and_descended(speed: float, riser: float) -> None:
    view = bvh.build(stairs(riser, tread=0.3 if riser < 0.3 else 0.5))
    places, _, stops = march(view, (-1.0, 0.0, 0.0), (speed, 0, 0), int(7 / speed))
    assert not any(stops)
    assert places[-1] == pytest.approx((-1.0 + speed * int(7 / speed), 0.0, 8 * riser), abs=1e-4)
    back, _, stops = march(view, tuple(places[-1]), (-speed, 0, 0), int(7 / speed))
    assert not any(stops)
    assert back[-1] == pytest.approx((-1.0, 0.0, 0.0), abs=1e-4)


@pytest.mark.parametrize("slant", [60.0, 75.0])
def test_beveled_stairs_are_climbed_and_descended(slant: float) -> None:
    """Risers that are steep faces with some width, so that steps may end on them."""
    points, x = [(-5.0, 0.0), (0.0, 0.0)], 0.0
    for k in range(6):
        x += 0.18 / math.tan(math.radians(slant))
        points += [(x, 0.18 * (k + 1)), (x + 0.3, 0.18 * (k + 1))]
        x += 0.3
    view = bvh.build(profile(*points, (x + 5.0, 0.18 * 6)))
    for speed in (0.013, 0.06, 0.3):
        places, normals, _ = march(view, (-1.0, 0.0, 0.0), (speed, 0, 0), int(8 / speed))
        assert places[-1, 2] == pytest.approx(0.18 * 6, abs=1e-4)
        assert (normals[:, 2] > MIN_UP).all()
        back, _, _ = march(view, tuple(places[-1]), (-speed, 0, 0), int(8 / speed))
        assert back[-1, 2] == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize("speed", [0.01, 0.06, 0.8])
@pytest.mark.parametrize("height", [1.0, 0.45])
def test_high_risers_block_both_ways(height: float, speed: float) -> None:
    view = bvh.build(profile((-5, 0), (0, 0), (0, height), (5, height)))
    for start, along in (((-1.0, 0.0, 0.0), 1.0), ((1.0, 0.0, height), -1.0)):
        places, _, stops = march(view, start, (along * speed, 0, 0), int(3 / speed))
        assert stops[-1]
        assert (places[:, 0] * along).max() <= 1e-6
        np.testing.assert_allclose(places[:, 2], start[2], atol=1e-6)


def test_a_step_height_of_zero_still_walks_ramps() -> None:
    view = bvh.build(profile((-5, 0), (0, 0), (4, 2), (4, 2.1), (8, 2.1)))
    places, _, stops = march(view, (-1.0, 0.0, 0.0), (0.1, 0, 0), 80, step_height=0.0)
    assert 3.5 < places[-1, 0] < 4.0
    assert places[-1, 2] == pytest.approx(places[-1, 0] / 2, abs=1e-4)
    assert stops[-1]


def test_a_wall_thinner_than_a_step_is_not_jumped() -> None:
    wall = quad((0, -10, 0), (0, 10, 0), (0, 10, 3), (0, -10, 3))
    view = bvh.build(np.concatenate([floor(-50, 50, -10, 10, 0), wall]))
    for speed in (0.06, 0.83, 40.0):
        places, _, stops = march(view, (-1.0, 0.0, 0.0), (speed, 0, 0), 40)
        assert stops[-1]
        assert places[:, 0].max() < 0.0


@pytest.mark.parametrize("angle", [1e-6, 1e-4, 0.01, 0.2, 1.0])
def test_walking_along_a_wall_never_leads_through_it(angle: float) -> None:
    wall = quad((0, -200, 0), (0, 200, 0), (0, 200, 3), (0, -200, 3)) + np.float32([50, 0, 0])
    view = bvh.build(np.concatenate([floor(0, 100, -200, 200, 0), wall]))
    move = (0.06 * math.sin(angle), 0.06 * math.cos(angle), 0.0)
    places, _, _ = march(view, (50.0 - 1e-4, -150.0, 0.0), move, 3000)
    assert places[:, 0].max() < 50.0
    assert places[-1, 1] - places[0, 1] > 3000 * 0.06 * math.cos(angle) * 0.95


def test_agents_keep_their_radius_head_on() -> None:
    wall = quad((0, -10, 0), (0, 10, 0), (0, 10, 3), (0, -10, 3))
    view = bvh.build(np.concatenate([floor(-50, 50, -10, 10, 0), wall]))
    for radius in (0.1, 0.3, 1.0):
        places, _, _ = march(view, (-3.0, 0.0, 0.0), (0.05, 0, 0), 100, radius=radius)
        assert -radius - 0.06 < places[-1, 0] <= -radius


@pytest.mark.parametrize("speed", [0.02, 0.1, 0.8])
def test_cliff_edges_block_and_are_followed(speed: float) -> None:
    view = bvh.build(
        np.concatenate([floor(-5, 0, -10, 10, 5.0), floor(0, 5, -10, 10, 0.0)])  # no riser
    )
    places, _, stops = march(view, (-1.0, 0.0, 5.0), (speed, 0, 0), int(3 / speed))
    assert stops[-1]
    assert places[:, 0].max() <= 0.0
    np.testing.assert_allclose(places[:, 2], 5.0, atol=1e-6)
    side = speed / math.sqrt(2)
    places, _, _ = march(view, (-1.0, -5.0, 5.0), (side, side, 0), int(6 / speed))
    assert places[:, 0].max() <= 0.0
    assert places[-1, 1] > -5.0 + 2.0
    np.testing.assert_allclose(places[:, 2], 5.0, atol=1e-6)


def test_the_end_of_the_terrain_and_holes_block() -> None:
    ring = [
        floor(-5, -1, -5, 5, 0),
        floor(1, 5, -5, 5, 0),
        floor(-1, 1, -5, -1, 0),
        floor(-1, 1, 1, 5, 0),
    ]
    view = bvh.build(np.concatenate(ring))
    for angle in np.linspace(0, 2 * math.pi, 23):
        move = (0.2 * math.cos(angle), 0.2 * math.sin(angle), 0.0)
        places, _, _ = march(view, (-3.0, 0.2, 0.0), move, 80)
        assert (np.abs(places[:, :2]).max(axis=1) >= 1.0).all()
        assert (np.abs(places[:, :2]).max(axis=1) <= 5.0).all()
        np.testing.assert_allclose(places[:, 2], 0.0, atol=1e-6)


@pytest.mark.parametrize("clearance", [3.0, 1.0])
def test_under_and_over_a_bridge(clearance: float) -> None:
    bridge = np.concatenate(
        [floor(-2, 2, -8, 8, clearance), floor(-2, 2, -8, 8, clearance + 0.2)]
        + [
            quad(
                (x, -8, clearance),
                (x, 8, clearance),
                (x, 8, clearance + 0.2),
                (x, -8, clearance + 0.2),
            )
            for x in (-2.0, 2.0)
        ]
    )
    view = bvh.build(np.concatenate([floor(-10, 10, -10, 10, 0), bridge]))
    for speed in (0.05, 0.5):
        count = int(8 / speed)
        below, _, stops = march(view, (-4.0, 0.0, 0.0), (speed, 0, 0), count)
        assert not any(stops)
        np.testing.assert_allclose(below[:, 2], 0.0, atol=1e-6)
        above, _, stops = march(view, (0.0, -7.0, clearance + 0.2), (0, speed, 0), count)
        assert not any(stops)
        np.testing.assert_allclose(above[:, 2], clearance + 0.2, atol=1e-6)


def test_the_wedge_under_a_ramp_is_no_way_up() -> None:
    """Its underside comes down to the knee, but is no steeper than what is walked."""
    ramp = quad((0, -5, 0), (4, -5, 2), (4, 5, 2), (0, 5, 0))
    view = bvh.build(np.concatenate([floor(-10, 10, -10, 10, 0), ramp]))
    for speed in (0.02, 0.3, 2.0):
        places, _, stops = march(view, (6.0, 0.0, 0.0), (-speed, 0, 0), int(8 / speed))
        assert stops[-1]
        np.testing.assert_allclose(places[:, 2], 0.0, atol=1e-6)
        assert places[:, 0].min() > 0.6  # where the ramp is 0.3 m high
    places, _, stops = march(view, (-1.0, 0.0, 0.0), (0.05, 0, 0), 60)
    assert not any(stops)
    assert places[-1, 2] > 0.75


def test_which_way_faces_point_does_not_matter() -> None:
    faces = profile((-5, 0), (0, 0), (4, 2), (8, 2))
    one = march(bvh.build(faces), (-1.0, 0.0, 0.0), (0.1, 0.01, 0), 60)
    two = march(bvh.build(faces[:, ::-1]), (-1.0, 0.0, 0.0), (0.1, 0.01, 0), 60)
    np.testing.assert_allclose(one[0], two[0], atol=1e-5)
    assert (two[1][:, 2] > 0.8).all()


def test_a_standing_agent_rides_on_ground_that_moves() -> None:
    faces = floor(-5, 5, -5, 5, 0)
    view = bvh.build(faces)
    lifted = bvh.refit(view, faces + np.float32([0, 0, 0.1]))
    assert walk(lifted, (0.2, 0.3, 0.0), (0.0, 0.0, 0.0))[0] == pytest.approx((0.2, 0.3, 0.1))


@pytest.mark.parametrize("move", [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1e30, 0.0, 0.0)])
def test_an_agent_without_ground_stays(move: Vec) -> None:
    for view in (bvh.empty(), bvh.build(floor(0, 1, 0, 1, 0))):
        feet, normal, _ = walk(view, (5.0, 5.0, 5.0), move)
        assert feet == (5.0, 5.0, 5.0)
        assert normal == UP


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_senseless_moves_are_none(value: float) -> None:
    view = bvh.build(floor(-5, 5, -5, 5, 0))
    assert walk(view, (0.2, 0.3, 0.0), (value, 0.1, 0.0))[0] == pytest.approx((0.2, 0.3, 0.0))


def test_placing() -> None:
    view = bvh.build(np.concatenate([floor(-5, 5, -5, 5, 0), floor(-5, 5, -5, 5, 3)]))
    cases = {0.0: 0.0, 0.4: 0.0, -0.2: 0.0, -7.0: 0.0, 2.0: 3.0, 3.0: 3.0, 3.1: 3.0, 99.0: 3.0}
    points = [(0.1, 0.2, z) for z in cases]
    feet, normals, found = ground.place_many(view, points, MIN_UP)
    assert found.all()
    assert feet[:, 2] == pytest.approx(list(cases.values()))
    assert (normals == UP).all()
    assert np.allclose(feet[:, :2], (0.1, 0.2))


def test_placing_where_there_is_no_walkable_ground() -> None:
    roof = profile((0, 0), (5, 10), half_width=5)
    view = bvh.build(np.concatenate([roof, floor(-5, 5, -5, 5, -2)]))
    points = np.float32([[2.5, 0, 6], [50, 0, 1], [2.5, 0, 4.5], [-1, 0, 3]])
    feet, normals, found = ground.place_many(view, points, MIN_UP)
    # above a steep roof the floor inside is no ground; below it, it is
    assert found.tolist() == [False, False, True, True]
    assert np.array_equal(feet[:2], points[:2])
    assert (normals[:2] == UP).all()
    assert feet[2:, 2].tolist() == [-2, -2]


def test_placing_looks_no_farther_than_told() -> None:
    view = bvh.build(floor(-5, 5, -5, 5, 0))
    assert ground.place(view, (0.1, 0.2, 1.0), 0.0, 0.9, MIN_UP) == ((0.1, 0.2, 1.0), UP, False)
    assert ground.place(view, (0.1, 0.2, 1.0), 0.0, 1.0, MIN_UP) == ((0.1, 0.2, 0.0), UP, True)
    assert ground.place(view, (0.1, 0.2, -1.0), 0.9, 0.0, MIN_UP)[2] is False

"""The graphs of corners that ways are held against, on scenes whose shortest ways are known."""

from __future__ import annotations

import numpy as np
import pytest
from restated_ways import Building, Joint, Plane, bracket, grown, helicoid, hull


def box(x0, y0, x1, y1) -> np.ndarray:
    return np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], float)


SQUARE = box(-1, -1, 1, 1)
WALL = np.array([(0.0, -3.0), (0.0, 5.0)])


def test_hulls_have_only_their_corners():
    inner = np.random.default_rng(1).uniform(-1, 1, (50, 2))
    found = hull(np.concatenate([inner, SQUARE, [[0, 1], [1, 0]]]))
    assert sorted(map(tuple, found)) == sorted(map(tuple, SQUARE))
    x, y = found.T
    assert np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)) == pytest.approx(8.0)


def test_grown_outlines_lie_in_the_exact_one_or_around_it():
    # exact: square, four sides, four quarters of a circle
    exact = 4.0 + 4 * 2 * 0.5 + np.pi * 0.25

    def area(outline):
        x, y = outline.T
        return 0.5 * np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))

    inside, around = (area(grown(SQUARE, 0.5, 64, side)) for side in (False, True))
    assert inside < exact < around
    assert around - inside < 0.01 * exact


def test_nothing_in_the_way_is_a_straight_line():
    assert Plane([]).lengths([(0, 0), (3, 4)], (0, 0)).tolist() == [0.0, 5.0]
    assert Plane([SQUARE]).lengths([(-2, 3)], (4, 3))[0] == 6.0


def test_a_point_goes_round_a_square_by_its_corners():
    # over the upper corners: (-3, 0) to (-1, 1), 2 along, and down again
    expected = 2 * np.hypot(2, 1) + 2
    assert Plane([SQUARE]).lengths([(-3, 0)], (3, 0))[0] == pytest.approx(expected, abs=1e-4)
    # to the side behind the corner, over one corner only
    expected = np.hypot(2, 1) + 2.0
    assert Plane([SQUARE]).lengths([(-3, 0)], (1, 1.0001))[0] == pytest.approx(expected, abs=1e-3)


def test_a_thin_wall_is_gone_round_at_its_nearer_end():
    expected = np.hypot(2, 3) + np.hypot(1, 3)
    assert Plane([WALL]).lengths([(-2, 0)], (1, 0))[0] == pytest.approx(expected, abs=1e-4)
    # through its end there is a way that is straight
    assert Plane([WALL]).lengths([(-1, -3.001)], (1, -3.001))[0] == 2.0


def test_a_disc_goes_round_the_end_of_a_wall_on_a_circle():
    radius, x = 0.5, 4.0
    # tangents from (-4, 5) and (4, 5) to the circle about the end of the wall, and the arc between
    wall = np.array([(0.0, -50.0), (0.0, 5.0)])
    tangent = np.sqrt(x * x - radius * radius)
    arc = radius * (np.pi - 2.0 * np.arccos(radius / x))
    low, high = bracket([wall], radius, [(-x, 5.0)], (x, 5.0), 64)
    assert low[0] <= 2 * tangent + arc <= high[0]
    assert high[0] - low[0] < 1e-3 * high[0]


def test_a_disc_goes_round_a_square_on_straight_lines_and_circles():
    radius, x = 0.5, 4.0
    # tangent from (-4, 0) to the circle about (-1, 1): at distance √10, seen at atan(1/3)
    far = np.hypot(3, 1)
    tangent = np.sqrt(far**2 - radius**2)
    slope = np.arctan2(1, 3) + np.arcsin(radius / far)
    exact = 2 * tangent + 2 * radius * slope + 2
    low, high = bracket([SQUARE], radius, [(-x, 0.0)], (x, 0.0), 64)
    assert low[0] <= exact <= high[0]
    assert high[0] - low[0] < 1e-3 * exact


@pytest.mark.parametrize(("width", "passes"), [(0.99, False), (1.02, True)])
def test_a_gap_is_passed_by_what_is_narrower(width, passes):
    walls = [np.array([(0.0, -9.0), (0.0, -width / 2)]), np.array([(0.0, width / 2), (0.0, 9.0)])]
    fence = [box(-10, 9, 10, 10), box(-10, -10, 10, -9), box(-10, -9, -9, 9), box(9, -9, 10, 9)]
    low, high = bracket([*walls, *fence], 0.5, [(-3, 0)], (3, 0), 64)
    if passes:
        assert low[0] == high[0] == pytest.approx(6.0)
    else:
        assert low[0] == high[0] == np.inf


def test_overlapping_outlines_are_one_obstacle():
    # an L: from the inner corner's side round its end
    outlines = [box(0, -5, 1, 3), box(-4, 2, 1, 3)]
    way = Plane(outlines).lengths([(-1, 0)], (2, 0))[0]
    around_foot = np.hypot(1, 5) + 1 + np.hypot(1, 5)
    around_arm = np.hypot(3, 2) + 1 + np.hypot(5, 0) + np.hypot(1, 3)
    assert way == pytest.approx(min(around_foot, around_arm), abs=1e-3)


def test_places_in_obstacles_have_no_way():
    plane = Plane([SQUARE], 0.5)
    found = plane.lengths([(0, 0), (1.2, 0), (3, 0)], (5, 0))
    assert found.tolist() == [np.inf, np.inf, 2.0]
    assert plane.lengths([(3, 0)], (0, 0))[0] == np.inf


def test_ways_are_as_long_back_and_never_shorter_with_more_in_the_way():
    rng = np.random.default_rng(5)
    outlines = [
        box(x, y, x + w, y + h) for x, y, w, h in rng.uniform(0.5, 3, (12, 4)) * [6, 6, 1, 1]
    ]
    places = rng.uniform(0, 20, (12, 2))
    few, all_of_them = Plane(outlines[:6], 0.3), Plane(outlines, 0.3)
    for goal in places[:4]:
        there = all_of_them.lengths(places, goal)
        back = np.array([all_of_them.lengths([goal], place)[0] for place in places])
        np.testing.assert_allclose(there, back, rtol=1e-9)
        assert (there >= few.lengths(places, goal) - 1e-9).all()
        straight = np.linalg.norm(places - goal, axis=1)
        assert (there >= straight - 1e-9).all()


def test_two_floors_joined_by_a_flight():
    # a flight 6 m long and 3 m high, 2 m wide, from (10, 0) up to (16, 0); walls at its sides
    size = np.hypot(6, 3)
    sides = [np.array([(0.0, y), (size, y)]) for y in (-1.0, 1.0)]
    line = np.array([(0.0, -1.0), (0.0, 1.0)])
    joints = [
        Joint(("ground", "flight"), (line + [10, 0], line)),
        Joint(("flight", "upper"), (line + [size, 0], line + [16, 0])),
    ]
    house = Building({"ground": [], "flight": sides, "upper": []}, joints)
    assert house.length(("ground", (0, 0)), ("upper", (20, 0))) == pytest.approx(10 + size + 4)
    # from aside, as on a plane that is as long as the flight
    found = house.length(("ground", (7, 5)), ("upper", (19, -5)))
    corner = np.hypot(3, 4) * 2 + np.hypot(size, 2)
    assert found == pytest.approx(corner, rel=1e-4)
    assert house.length(("ground", (0, 0)), ("ground", (3, 4))) == 5.0
    # a body keeps away from the sides
    wide = Building({"ground": [], "flight": sides, "upper": []}, joints, 0.5)
    assert wide.length(("ground", (7, 5)), ("upper", (19, -5))) > found
    too_wide = Building({"ground": [], "flight": sides, "upper": []}, joints, 1.1)
    assert too_wide.length(("ground", (0, 0)), ("upper", (20, 0))) == np.inf


def test_ways_on_a_spiral_ramp():
    # along the inner edge it is a helix
    inner, rise, turn = 3.0, 0.5, 4.0 * np.pi
    helix = np.hypot(inner, rise) * turn
    assert helicoid(inner, rise, (inner, inner), turn) == pytest.approx(helix)
    # without a rise: tangents to a circle and an arc
    flat = helicoid(inner, 0.0, (5.0, 5.0), np.pi)
    tangents, angle = 2 * 4.0, 2 * np.arccos(3 / 5)
    assert flat == pytest.approx(tangents + inner * (np.pi - angle), rel=1e-6)
    with pytest.raises(ValueError, match="does not touch"):
        helicoid(inner, rise, (5.0, 5.0), 0.5)


def test_the_way_on_a_spiral_ramp_is_shorter_than_others():
    inner, rise, turn = 2.0, 0.4, 3.0
    best = helicoid(inner, rise, (4.0, 4.0), turn)
    rng = np.random.default_rng(3)
    t = np.linspace(0.0, 1.0, 400)
    for _try in range(200):
        dip, power = rng.uniform(0.0, 2.0), rng.uniform(0.2, 3.0)
        rho = 4.0 - dip * np.sin(np.pi * t) ** power
        theta = turn * t
        place = np.column_stack([rho * np.cos(theta), rho * np.sin(theta), rise * theta])
        assert np.linalg.norm(np.diff(place, axis=0), axis=1).sum() > best * 0.9999

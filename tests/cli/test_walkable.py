"""Where people can stand, and which places hang together."""

from __future__ import annotations

import numpy as np
import pytest

from steer_addon.core.errors import SceneError

pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.making.spawning import CORNER, DISC, Group, Spawn, plan_flight, plan_walk
from steer_addon.blender.making.walkable import Body, find_walkable

BODY = Body(radius=0.25, height=1.8, max_slope=45.0, step_height=0.35)
NOTHING = np.zeros((0, 3, 3))


def quad(a, b, c, d):
    return np.array([[a, b, c], [a, c, d]], np.float64)


def floor(low, high, z=0.0):
    (x0, y0), (x1, y1) = low, high
    return quad((x0, y0, z), (x1, y0, z), (x1, y1, z), (x0, y1, z))


def box(low, high):
    (x0, y0, z0), (x1, y1, z1) = low, high
    return np.concatenate(
        [
            floor((x0, y0), (x1, y1), z1),
            floor((x0, y0), (x1, y1), z0)[:, ::-1],
            quad((x0, y0, z0), (x1, y0, z0), (x1, y0, z1), (x0, y0, z1)),
            quad((x1, y1, z0), (x0, y1, z0), (x0, y1, z1), (x1, y1, z1)),
            quad((x0, y1, z0), (x0, y0, z0), (x0, y0, z1), (x0, y1, z1)),
            quad((x1, y0, z0), (x1, y1, z0), (x1, y1, z1), (x1, y0, z1)),
        ]
    )


def region_at(places, *point):
    row, distance = places.nearest(np.array(point))
    assert distance < 1.0
    return int(places.region[row])


def test_a_plane_is_one_region_up_to_its_margin():
    places = find_walkable(floor((0, 0), (10, 6)), NOTHING, BODY)
    assert set(places.region) == {0}
    low, high = places.position.min(axis=0), places.position.max(axis=0)
    assert (low[:2] >= BODY.radius).all()
    assert (high[:2] <= np.array([10, 6]) - BODY.radius).all()
    assert len(places.position) * places.cell**2 == pytest.approx(9.4 * 5.4, rel=0.1)


def test_a_plane_upside_down_is_walked_all_the_same():
    places = find_walkable(floor((0, 0), (5, 5))[:, ::-1], NOTHING, BODY)
    assert (places.normal[:, 2] > 0.99).all()


def test_a_wall_parts_a_floor_and_a_door_joins_it():
    ground = floor((0, 0), (10, 10))
    wall = box((4.9, -1, 0), (5.1, 11, 3))
    parted = find_walkable(ground, wall, BODY)
    assert region_at(parted, 1, 5, 0) != region_at(parted, 9, 5, 0)
    door = np.concatenate([box((4.9, -1, 0), (5.1, 4, 3)), box((4.9, 6, 0), (5.1, 11, 3))])
    joined = find_walkable(ground, door, BODY)
    assert region_at(joined, 1, 5, 0) == region_at(joined, 9, 5, 0)


def test_a_wall_without_thickness_parts_too():
    wall = quad((5.01, -1, 0), (5.01, 11, 0), (5.01, 11, 3), (5.01, -1, 3))
    places = find_walkable(floor((0, 0), (10, 10)), wall, BODY)
    assert region_at(places, 1, 5, 0) != region_at(places, 9, 5, 0)


@pytest.mark.parametrize(("rise", "same"), [(0.3, True), (0.6, False)])
def test_steps(rise, same):
    ground = np.concatenate([floor((0, 0), (5, 5)), box((5, 0, 0), (10, 5, rise))])
    places = find_walkable(ground, NOTHING, BODY)
    assert (region_at(places, 2, 2, 0) == region_at(places, 8, 2, rise)) is same


@pytest.mark.parametrize(("rise", "same"), [(2.0, True), (8.0, False)])
def test_slopes(rise, same):
    ramp = quad((4, 0, 0), (8, 0, rise), (8, 5, rise), (4, 5, 0))
    ground = np.concatenate([floor((0, 0), (4, 5)), ramp, floor((8, 0), (12, 5), rise)])
    places = find_walkable(ground, NOTHING, BODY)
    assert (region_at(places, 2, 2, 0) == region_at(places, 10, 2, rise)) is same


def test_floors_above_each_other_need_headroom():
    ground = floor((0, 0), (6, 6))
    for height, count in ((3.0, 2), (1.0, 1)):
        slab = box((0, 0, height), (6, 6, height + 0.2))
        places = find_walkable(np.concatenate([ground, slab]), NOTHING, BODY)
        assert len(np.unique(places.position[:, 2].round(1))) == count


def test_nobody_stands_inside_of_something_solid():
    places = find_walkable(floor((0, 0), (9, 9)), box((3, 3, -1), (6, 6, 5)), BODY)
    inside = ((places.position > 3) & (places.position < 6))[:, :2].all(axis=1)
    assert not inside.any()


def test_depth_counts_the_places_to_the_nearest_edge():
    places = find_walkable(floor((0, 0), (12, 9)), box((3, 3, -1), (5, 6, 5)), BODY)
    inner = (places.beside >= 0).all(axis=1)
    assert 0 < inner.sum() < len(inner)
    # those at the edge have as much room as a body needs
    least = places.depth.min()
    assert least * places.cell >= BODY.radius and (places.depth[~inner] == least).all()
    nearer = places.depth[places.beside[inner]].min(axis=1)
    assert np.array_equal(places.depth[inner], nearer + 1)


def test_the_top_of_a_collider_is_not_ground():
    places = find_walkable(floor((0, 0), (9, 9)), box((3, 3, 0), (6, 6, 2)), BODY)
    assert places.position[:, 2].max() == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize(
    "ground",
    [quad((0, 0, 0), (5, 0, 0), (5, 0, 5), (0, 0, 5)), np.zeros((0, 3, 3))],
)
def test_no_place_to_stand_is_told(ground):
    with pytest.raises(SceneError, match="The ground has no"):
        find_walkable(ground, NOTHING, BODY)


def test_agents_and_target_are_in_one_region_and_apart():
    wall = box((6.9, -1, 0), (7.1, 11, 3))
    places = find_walkable(floor((0, 0), (20, 10)), wall, BODY)
    plan = plan_walk(places, Group(40, 0.25, seed=1))
    assert plan.positions.shape == (40, 3)
    assert (plan.positions[:, 0] > 7.1).all()
    assert plan.targets[0][0] > 7.1
    gap = np.linalg.norm(plan.positions[:, None] - plan.positions[None], axis=2)
    assert gap[~np.eye(40, dtype=bool)].min() >= 2.0 * 0.25
    assert np.linalg.norm(plan.positions - plan.targets[0], axis=1).min() > 2.0
    again = plan_walk(places, Group(40, 0.25, seed=1))
    other = plan_walk(places, Group(40, 0.25, seed=2))
    assert (again.positions == plan.positions).all()
    assert (other.positions != plan.positions).any()


def test_a_corner_is_far_from_the_target():
    places = find_walkable(floor((0, 0), (30, 10)), NOTHING, BODY)
    plan = plan_walk(places, Group(20, 0.25, Spawn(CORNER), ((28.0, 5.0, 0.0),)))
    assert np.ptp(plan.positions[:, 0]) < 12.0
    assert plan.positions[:, 0].max() < 15.0


def test_a_disc_keeps_to_its_radius_and_floor():
    ground = np.concatenate([floor((0, 0), (20, 20)), floor((0, 0), (20, 20), 4.0)])
    places = find_walkable(
        np.concatenate([ground, floor((0, 0), (20, 20), 3.8)[:, ::-1]]), NOTHING, BODY
    )
    plan = plan_walk(places, Group(15, 0.25, Spawn(DISC, (5, 5, 4), 3.0)))
    assert np.linalg.norm(plan.positions - [5, 5, 4], axis=1).max() < 3.3
    assert plan.positions[:, 2].min() == pytest.approx(4.0, abs=1e-3)


def test_a_disc_in_the_void_and_a_crowd_too_large_are_told():
    places = find_walkable(floor((0, 0), (5, 5)), NOTHING, BODY)
    with pytest.raises(SceneError, match="within 1 m of 50, 0, 0"):
        plan_walk(places, Group(5, 0.25, Spawn(DISC, (50, 0, 0), 1.0)))
    with pytest.raises(SceneError, match="of 1000 agents only"):
        plan_walk(places, Group(1000, 0.25))


def test_a_target_in_the_air_is_kept_with_a_warning():
    places = find_walkable(floor((0, 0), (9, 9)), NOTHING, BODY)
    plan = plan_walk(places, Group(5, 0.25, Spawn(), ((4.0, 4.0, 50.0),)))
    assert plan.targets[0].tolist() == [4.0, 4.0, 50.0]
    (told,) = plan.warnings
    assert told.code == "TARGET_OFF_GROUND"
    assert told.values["distance"] == pytest.approx(50.0, abs=0.5)


def test_flyers_start_above_one_side():
    low, high = np.zeros(3), np.array([100.0, 40.0, 10.0])
    plan = plan_flight(low, high, Group(200, 0.2))
    assert len(plan.positions) == 200
    assert plan.positions[:, 2].min() > 10.0
    assert plan.targets[0][0] - plan.positions[:, 0].max() > 10.0

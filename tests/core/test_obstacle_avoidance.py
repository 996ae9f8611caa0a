"""Obstacle avoidance by rays: formulas, sides, and walls that are not walked into."""

import numpy as np
import pytest
from crowdtools import box, crowd, place, run, wall

from steer_addon.core.behaviors.obstacle_avoidance.behavior import ObstacleAvoidance
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.solver import Solver


def proposal(
    behavior,
    velocity,
    *,
    motion="GROUND",
    colliders=(),
    position=(0, 0, 0),
    ids=None,
    extra=(),
    target=None,
):
    settings = crowd(*extra, behavior, motion=motion)
    agents = place(settings, [position], [velocity], ids=ids)
    world = make_world(colliders=list(colliders), targets=target)
    return Solver(settings).step(agents, world, 1 / 24, number=0).proposals[-1]


def test_ray_on_the_ground_pushes_along_the_wall_and_fades_with_distance():
    avoid = ObstacleAvoidance(look_ahead=10.0, max_avoid=2.0)
    made = proposal(avoid, (1, 1, 0), colliders=[wall(x=3.0)])
    distance = 3.0 * np.sqrt(2)
    np.testing.assert_allclose(made.value[0], [0, 2.0 * (1 - distance / 10), 0], atol=1e-5)
    made = proposal(avoid, (1, -1, 0), colliders=[wall(x=3.0)])
    np.testing.assert_allclose(made.value[0], [0, -2.0 * (1 - distance / 10), 0], atol=1e-5)


def test_ray_in_the_air_is_the_cross_product_of_the_node():
    avoid = ObstacleAvoidance(look_ahead=10.0, max_avoid=2.0)
    direction = np.array([1.0, 0.5, 0.2])
    made = proposal(avoid, direction, motion="FLY", colliders=[wall(x=3.0)])
    ray = direction / direction[0] * 3.0
    turned = np.cross(ray, [-1, 0, 0])
    size = 2.0 * (1 - np.linalg.norm(ray) / 10)
    np.testing.assert_allclose(made.value[0], size * turned / np.linalg.norm(turned), atol=1e-5)


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_head_on_turns_to_the_side_of_the_desired_velocity(motion):
    avoid = ObstacleAvoidance(look_ahead=10.0)
    for side in (-1, 1):
        made = proposal(
            avoid,
            (1, 0, 0),
            motion=motion,
            colliders=[wall(x=3.0)],
            extra=[Seek()],
            target=[[4, side * 20, 0]],
        )
        assert np.sign(made.value[0, 1]) == side
        assert abs(made.value[0, 0]) < 1e-5


def test_head_on_without_a_wish_is_decided_by_id():
    avoid = ObstacleAvoidance(look_ahead=10.0)
    even = proposal(avoid, (1, 0, 0), colliders=[wall(x=3.0)], ids=[4]).value[0]
    odd = proposal(avoid, (1, 0, 0), colliders=[wall(x=3.0)], ids=[5]).value[0]
    np.testing.assert_allclose(even, -odd)
    assert abs(even[1]) > 1.0


def test_beyond_the_look_ahead_and_at_rest_nothing_is_proposed():
    avoid = ObstacleAvoidance(look_ahead=2.0)
    assert not proposal(avoid, (1, 0, 0), colliders=[wall(x=3.0)]).active.any()
    assert not proposal(avoid, (0, 0, 0), colliders=[wall(x=1.0)]).active.any()
    assert not proposal(
        ObstacleAvoidance(look_ahead=0.0), (1, 0, 0), colliders=[wall(1)]
    ).active.any()


def test_center_rays_see_what_is_behind_and_beside():
    behind = box((-2, 0, 0), (2, 2, 2))
    ray = ObstacleAvoidance(method="RAY", look_ahead=3.0)
    center = ObstacleAvoidance(method="CENTER_RAY", avoid_radius=3.0, max_avoid=1.0)
    assert not proposal(ray, (1, 0, 0), colliders=[behind]).active.any()
    made = proposal(center, (1, 0.2, 0), colliders=[behind])
    # the face is 1 m away; the push goes along it, to the side of the heading
    np.testing.assert_allclose(made.value[0], [0, 1.0 * (1 - 1 / 3), 0], atol=1e-5)


def test_center_rays_add_up_and_are_bounded():
    boxes = [box((0, s * 1.5, 0), (1, 1, 2), name=f"b{s}") for s in (-1, 1)]
    center = ObstacleAvoidance(method="CENTER_RAY", avoid_radius=3.0, max_avoid=1.0)
    made = proposal(center, (1, 0, 0), colliders=boxes)
    np.testing.assert_allclose(made.value[0], [1.0, 0, 0], atol=1e-5)


def test_low_steps_are_no_obstacle_for_walkers():
    curb = box((2, 0, 0.1), (1, 10, 0.2))
    avoid = ObstacleAvoidance(look_ahead=5.0)
    assert not proposal(avoid, (1, 0, 0), colliders=[curb]).active.any()
    assert proposal(
        avoid, (1, 0, 0.0), motion="FLY", colliders=[curb], position=(0, 0, 0.1)
    ).active.all()


def test_a_walker_goes_around_a_box_to_its_target():
    settings = crowd(
        Seek(), ObstacleAvoidance(weight=2.0, look_ahead=3.0), agents={"max_force": 20.0}
    )
    positions, _ = run(
        settings,
        [[0, 0.1, 0]],
        24 * 14,
        world=make_world(targets=[[12, 0, 0]], colliders=[box((6, 0, 0), (2, 2, 4))]),
    )
    inside = (np.abs(positions[:, 0] - [6, 0, 0]) < [1, 1, 2]).all(axis=1)
    assert not inside.any()
    assert np.linalg.norm(positions[:, 0] - [12, 0, 0], axis=1).min() < 0.5


def test_inside_out_and_open_colliders_still_block():
    avoid = ObstacleAvoidance(look_ahead=10.0)
    closed = box((4, 0, 0), (2, 8, 4))
    from dataclasses import replace

    flipped = replace(closed, triangles=np.ascontiguousarray(closed.triangles[:, ::-1]))
    a = proposal(avoid, (1, 0.5, 0), colliders=[closed]).value
    b = proposal(avoid, (1, 0.5, 0), colliders=[flipped]).value
    np.testing.assert_allclose(a, b, atol=1e-6)
    assert proposal(avoid, (1, 0.5, 0), colliders=[wall(4)]).active.all()


def test_a_collider_hidden_behind_another_adds_nothing():
    near, far = box((2, 0, 0), (2, 2, 2), name="near"), box((4.5, 0, 0), (2, 2, 2), name="far")
    center = ObstacleAvoidance(method="CENTER_RAY", avoid_radius=5.0, max_avoid=3.0)
    alone = proposal(center, (1, 0.2, 0), colliders=[near]).value
    both = proposal(center, (1, 0.2, 0), colliders=[near, far]).value
    np.testing.assert_array_equal(alone, both)

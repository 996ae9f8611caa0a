"""Containment that turns agents the harder, the farther outside they would be."""

import numpy as np
import pytest
from crowdtools import box, crowd, place, run

from steer_addon.core.behaviors.containment import Containment
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.inputs.containers import make_container
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.solver import Solver


@pytest.mark.parametrize("shape", ["BOX", "SPHERE", "MESH"])
def test_avoid_fades_in_before_the_surface(shape):
    """They head for the border; one would be outside, one before it, and one farther inside."""
    velocity = np.array([[1.0, 0.0, 0.0]] * 3)
    position = velocity * [[0.5], [-0.2], [-0.8]]
    container = make_container((0, 0, 0), 1.0, mesh=box((0, 0, 0), (2, 2, 2)))
    for falloff, shares in ((0.0, [1.0, 0.0, 0.0]), (0.5, [1.0, 0.6, 0.0])):
        stack = crowd(
            Containment(shape=shape, falloff_distance=falloff),
            motion="FLY",
            agents={"max_speed": 2.0},
        )
        agents = place(stack, position, velocity)
        made = Solver(stack).step(agents, make_world(containers=container), 1 / 24, number=0)
        assert made.proposals[0].active.tolist() == [share > 0.0 for share in shares]
        for value, share in zip(made.proposals[0].value, shares, strict=True):
            # straight back at full speed, as nothing runs along the surface
            wanted = 1.0 + (-2.0 - 1.0) * share
            if share:
                np.testing.assert_allclose(value, [wanted, 0.0, 0.0], atol=1e-4)


def test_those_who_are_pushed_against_a_wall_do_not_tremble():
    world = make_world(targets=[[9.0, 0.0, 0.0]], containers=make_container((0, 0, 0), 2.0))
    shaken, far = [], []
    for falloff in (0.0, 2.0):
        turn_back = Containment(weight=7.0, anticipation_time=0.7, falloff_distance=falloff)
        stack = crowd(Seek(), turn_back, motion="FLY", agents={"max_speed": 2.0, "max_force": 25.0})
        position, velocity = run(stack, [[1.0, 0.0, 0.0]], 240, world=world)
        shaken.append(np.abs(np.diff(velocity[120:, 0, 0])).max())
        far.append(position[120:, 0, 0].max())
    assert far[1] < far[0] < 2.0
    assert shaken[0] > 0.1 and shaken[1] < 0.001

"""Large numbers: what is beyond the largest counts as that, and what is not finite stays so."""

import numpy as np
import pytest
from crowdtools import crowd, run

from steer_addon.core.agents import make_agents
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.bounds import bounded, lengths
from steer_addon.core.errors import AgentError
from steer_addon.core.inputs.world import make_targets, make_world

BODY = {"radius": 0.25, "mass": 1.0, "max_speed": 1.4, "max_force": 8.0}


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_only_what_is_too_large_is_changed(kind):
    values = np.array([0.0, -2.5, 3.0e38, -3.0e38, np.inf, -np.inf, np.nan], kind)
    found = bounded(values)
    assert found.dtype == np.float32
    expected = [0.0, -2.5, 2.0**100, -(2.0**100), np.inf, -np.inf, np.nan]
    np.testing.assert_array_equal(found, np.float32(expected))


def test_what_fits_is_not_copied():
    values = np.ones((4, 3), np.float32)
    assert bounded(values) is values


def test_lengths_of_the_largest_are_finite():
    np.testing.assert_allclose(lengths(np.float32([[3e30, 4e30, 0], [0, 0, 0]])), [5e30, 0.0])


@pytest.mark.parametrize("distance", [1e13, 1e20, 1e30, 1e38, 1e300])
def test_directions_hold_at_any_distance(distance):
    # at 2**100 they were zero
    target = make_targets([[3 * distance, 4 * distance, 0]], [[distance, 0, 0]])
    np.testing.assert_allclose(target.heading, [[1, 0, 0]])
    settings = crowd(Seek(), agents={"max_speed": 5.0, "max_force": 1e6})
    _, velocities = run(
        settings, [[0, 0, 0]], 48, world=make_world(targets=[[distance, distance, 0]])
    )
    speed = np.linalg.norm(velocities[-1, 0])
    assert speed > 4.8
    np.testing.assert_allclose(velocities[-1, 0], [speed / 2**0.5, speed / 2**0.5, 0], rtol=1e-5)
    agents = make_agents([[0, 0, 0]], velocity=[[0, distance, 0]], **BODY)
    np.testing.assert_allclose(agents.heading, [[0, 1, 0]])
    assert np.isfinite(agents.speed).all()


def test_numbers_that_are_not_finite_are_still_refused():
    with pytest.raises(AgentError, match="not finite"):
        make_agents([[np.inf, 0, 0]], **BODY)

"""Any numbers at all for agents and simulations: a typed error, or finite positions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from crowdtools import crowd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steer_addon.core.agents import make_agents
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.errors import AgentError, ParameterError, SteerError
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.simulation import Simulation

BODY = {"radius": 0.25, "mass": 1.0, "max_speed": 1.4, "max_force": 8.0}
WORLD = make_world(targets=[[4.0, 3.0, 0.0]])

anything = st.one_of(
    st.floats(),
    st.integers(),
    st.sampled_from([10**400, -(10**400), 5e-324, 1e308, -0.0]),
    st.none(),
    st.booleans(),
    st.text(max_size=3),
    st.complex_numbers(),
    st.lists(st.floats(), max_size=3),
    st.sampled_from([np.float32(0.5), np.float32("nan"), np.int64(3), np.array(2.0)]),
    st.builds(object),
)
rows = st.one_of(
    anything,
    st.lists(st.lists(anything, min_size=3, max_size=3), max_size=3),
    st.lists(st.lists(st.floats(-1e30, 1e30), min_size=3, max_size=3), min_size=1, max_size=3),
)


def run(fps=24.0, frame=1, position=((0, 0, 0), (1, 0, 0)), **values):
    """Positions after three steps of two agents that run to a target."""
    agents = make_agents(position, **{**BODY, **values})
    simulation = Simulation(crowd(Seek()), agents, frame=frame, fps=fps, world=WORLD)
    for _ in range(3):
        simulation.step(WORLD)
    return simulation.agents


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_number_is_a_typed_error_or_gives_finite_positions(data):
    names = [*BODY, "fps", "frame"]
    values = {name: data.draw(anything) for name in data.draw(st.sets(st.sampled_from(names)))}
    arrays = data.draw(st.sets(st.sampled_from(["position", "velocity", "heading", "ids"])))
    values |= {name: data.draw(rows) for name in arrays}
    if data.draw(st.booleans()):
        column = st.lists(anything, min_size=2, max_size=2) | anything
        named = st.dictionaries(st.sampled_from([*BODY, "target_index", "alive"]), column)
        values["attributes"] = data.draw(named | anything)
    try:
        found = run(**values)
    except (SteerError, TypeError) as error:
        assert len(str(error)) < 1100
        return
    for name in ("position", "velocity", "heading"):
        assert np.isfinite(getattr(found, name)).all(), name


@pytest.mark.parametrize("name", BODY)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None, -1.0, "1", -(10**400)])
def test_a_body_that_is_no_finite_number_is_named_with_the_range(name, value):
    lowest = "1e-06" if name == "mass" else "0"
    with pytest.raises(AgentError, match=f"^{name} is .*: give a finite number from {lowest} up$"):
        run(**{name: value})


def test_a_body_beyond_the_largest_number_is_that():
    assert run(max_speed=10**400).max_speed.tolist() == [2.0**100] * 2
    assert run(mass=np.float32(3.0)).mass.tolist() == [3.0, 3.0]
    assert run(mass=1.0e-6).count == 2
    with pytest.raises(AgentError, match="^radius is a number of 16610 bits"):
        run(radius=-(10**5000))


@pytest.mark.parametrize("fps", [1e-308, 0.0, -24.0, math.nan, math.inf, 1e11, 10**400])
def test_frame_rates_that_no_scene_has_are_refused(fps):
    with pytest.raises(ParameterError, match=r"^fps is .*: give a number from 1e-06 to 1e\+10$"):
        run(fps=fps)


@pytest.mark.parametrize("fps", [1e-6, 1e10])
def test_frame_rates_that_a_scene_can_have_are_finite(fps):
    assert np.isfinite(run(fps=fps, max_speed=1e30, max_force=1e30).position).all()


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"position": [[1, 2], [3]]}, "Agent positions cannot be read"),
        ({"position": [[10**400, 0, 0]]}, "Agent positions cannot be read"),
        ({"velocity": "fast"}, "Agent velocities cannot be read"),
        ({"attributes": {"mass": ["heavy", "light"]}}, "attribute 'mass' cannot be read"),
        ({"attributes": 5}, "attributes are 5: give arrays by their names"),
        ({"ids": ["a", "b"]}, "attribute 'id' cannot be read"),
        ({"ids": [1, 2**70]}, "attribute 'id' cannot be read"),
    ],
)
def test_what_is_no_array_of_numbers_is_named(values, told):
    with pytest.raises(AgentError, match=told):
        run(**values)

"""Any finite input gives a finite step, whatever the behavior: new ones are covered by being there.

Also the speed limit of the REYNOLDS solver holds.
"""

from __future__ import annotations

import numpy as np
import pytest
from crowdtools import crowd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from wild_worlds import agents, behaviors, vectors, worlds

from steer_addon.core.behaviors import REGISTRY
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.step.simulation import Simulation

MOST = settings().max_examples
EXAMPLES = 12 if MOST <= 25 else MOST
"""For each behavior; --long tries many."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", REGISTRY)
@settings(
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example],
)
@given(st.data())
def test_any_finite_input_gives_a_finite_step(kind, data):
    places = st.sampled_from(data.draw(st.lists(vectors, min_size=1, max_size=4)))
    entry = data.draw(behaviors(REGISTRY[kind]))
    solver = data.draw(st.sampled_from(["REYNOLDS", "VEX"]))
    crowd_settings = crowd(
        Seek(name="go"),
        entry,
        motion=data.draw(st.sampled_from(["GROUND", "FLY"])),
        solver=solver,
        combine=data.draw(st.sampled_from(["WEIGHTED_SUM", "PRIORITY"])),
    )
    world = data.draw(worlds(places))
    fps = data.draw(st.sampled_from([1.0, 24.0, 1000.0]))
    simulation = Simulation(
        crowd_settings, data.draw(agents(places)), frame=1, fps=fps, world=world
    )
    for _ in range(3):
        simulation.step(world)
        found = simulation.agents
        for proposal in simulation.proposals:
            assert np.isfinite(proposal.value).all(), proposal.key
        for name in ("position", "velocity", "heading", "normal", "roll"):
            assert np.isfinite(getattr(found, name)).all(), name
        assert all(np.isfinite(memory).all() for memory in found.memory.values())
        np.testing.assert_allclose(np.linalg.norm(found.heading, axis=1), 1.0, atol=1e-5)
        if solver == "REYNOLDS":
            assert (found.speed <= found.max_speed * (1.0 + 1e-6)).all()

"""Nobody gets into closed meshes, nor through them, in any scene that can be thought of.

`STEER_SCENES=1000 pytest tests/core/test_contact_scenes.py` plays more scenes.
"""

import os

import numpy as np
import pytest
from contact_scenes import (
    ContactScene,
    Solid,
    SoupScene,
    contact_scenes,
    count_penetrations,
    crossed,
    soup_scenes,
)
from crowdtools import box, crowd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from solids import ball
from wild_worlds import agents, sizes, vectors, worlds

from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.bounds import bounded
from steer_addon.core.crowd.overrides import with_override
from steer_addon.core.step.simulation import Simulation

SCENES = int(os.environ.get("STEER_SCENES", "30"))
as_many = settings(max_examples=SCENES, suppress_health_check=list(HealthCheck))


def test_the_check_finds_who_is_inside_and_who_went_through():
    before = np.array([[-2.0, 0, 0], [-2, 0, 0], [-2, 0, 0], [-2, 1.2, 0]])
    after = np.array([[0.0, 0, 0], [2, 0, 0], [-1.1, 0, 0], [2, 1.2, 0]])
    mesh = box((0, 0, 0), (2, 2, 2))
    assert count_penetrations(before, after, [mesh], [False]) == 2
    assert count_penetrations(before, after, [mesh], [True]) == 1
    assert crossed(before, after, mesh.triangles).any(axis=1).tolist() == [True, True, False, False]


@pytest.mark.slow
@as_many
@given(contact_scenes())
def test_nobody_gets_into_or_through_solids(scene: ContactScene):
    assert scene.penetrations() == 0


def test_who_has_no_size_is_squeezed_out_between_two_solids_too():
    # one of them swings against the other, and the gap between both closes
    large, small = (ball(radius=radius, rounds=1).triangles.astype(float) for radius in (2.0, 1.5))
    pair = [
        Solid(large, np.array([1.0, 0.0, 0.0]), np.zeros(3), 0.0, 0.0),
        Solid(small, np.array([1.0, -4.0, 0.0]), np.array([0.0, 1.0, 0.0]), 3.0, 0.0),
    ]
    for radius in (0.0, 0.05, 0.25):
        assert ContactScene(pair, "GROUND", 1.4, radius, 12.0, False, 0).penetrations() == 0


@pytest.mark.slow
@as_many
@given(soup_scenes)
def test_nobody_crosses_a_triangle(scene: SoupScene):
    assert scene.crossings() == 0


@pytest.mark.slow
@as_many
@given(st.data())
def test_any_finite_input_gives_a_finite_step(data):
    told = crowd(Seek(), motion=data.draw(st.sampled_from(["GROUND", "FLY"])))
    told = with_override(told, "bodies.collide_agents=on")
    told = with_override(told, "bodies.collide_colliders=on")
    places = st.sampled_from(data.draw(st.lists(vectors, min_size=1, max_size=4)))
    start = data.draw(agents(places))
    start.radius[:] = bounded([data.draw(sizes) for _ in start.id])
    start.mass[:] = [data.draw(st.sampled_from([1.0e-3, 1.0, 1.0e6])) for _ in start.id]
    seen = [data.draw(worlds(places)), data.draw(worlds(places))]
    fps = data.draw(st.sampled_from([1.0, 24.0, 1000.0]))
    simulation = Simulation(told, start, frame=0, fps=fps, world=seen[0])
    # colliders move, appear and go
    for world in (seen[0], seen[1], seen[1], seen[0]):
        simulation.step(world)
        found = simulation.agents
        for name in ("position", "velocity", "heading", "normal"):
            assert np.isfinite(getattr(found, name)).all(), name
        assert (found.speed <= found.max_speed * (1.0 + 1e-6)).all()

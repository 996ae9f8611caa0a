"""Behaviors that compute many agents at once: nobody's result depends on who else is there."""

import numpy as np
import pytest
from crowdtools import crowd, place, scatter

from steer_addon.core.behaviors.flow_field import FlowField
from steer_addon.core.behaviors.follow_path import FollowPath
from steer_addon.core.behaviors.wander import Wander
from steer_addon.core.inputs.fields import make_field
from steer_addon.core.inputs.paths import Path
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.solver import Solver

COUNT = 150
"""More than two blocks of agents, and no whole number of them."""
ALONE = (0, 1, 62, 63, 64, 65, 127, 128, COUNT - 1)
PATHS = [
    Path([[-8, -8, 0], [8, -8, 1], [8, 8, 0], [-8, 8, 0]], cyclic=True),
    Path([[-9, 0, 0], [0, 1, 2], [9, 0, 0]]),
]
ENTRIES = {
    "noise": Wander(source="POSITION_NOISE"),
    "corridor": FollowPath(method="CORRIDOR", path_radius=0.5),
    "lane": FollowPath(method="CORRIDOR", lane=0.7, path_choice="BY_ID"),
    "field": FlowField(),
}


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_each_agent_alone_wants_the_same_to_the_last_bit(entry, motion):
    settings = crowd(entry, motion=motion)
    solver = Solver(settings)
    rng = np.random.default_rng(3)
    points = scatter(COUNT, 20.0, seed=4, flat=motion == "GROUND")
    velocity = rng.normal(0.0, 1.0, (COUNT, 3)) * [1, 1, motion == "FLY"]
    field = make_field(rng.uniform(-10, 10, (40, 3)), rng.normal(0.0, 1.0, (40, 3)))
    world = make_world(paths=PATHS, fields=field)
    agents = place(settings, points, velocity)
    for number in range(3):
        made = solver.step(agents, world, 1 / 24, number=number)
        proposal = made.proposals[0]
        for row in ALONE:
            own = solver.step(agents.taken(np.array([row])), world, 1 / 24, number=number)
            assert own.proposals[0].value[0].tobytes() == proposal.value[row].tobytes()
            assert own.proposals[0].active[0] == proposal.active[row] == 1
        agents = made.agents

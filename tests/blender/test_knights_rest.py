"""A crowd of a rig's character that arrives: all stand, with both feet down."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters import making  # noqa: E402
from steer_addon.core.agents import make_agents  # noqa: E402
from steer_addon.core.behaviors import REGISTRY  # noqa: E402
from steer_addon.core.characters.cast import Cast  # noqa: E402
from steer_addon.core.characters.recipe import Recipe  # noqa: E402
from steer_addon.core.characters.rows import Plan  # noqa: E402
from steer_addon.core.crowd.settings import (  # noqa: E402
    AgentsSettings,
    BodiesSettings,
    CrowdSettings,
    MotionSettings,
)
from steer_addon.core.inputs.world import make_world  # noqa: E402
from steer_addon.core.step.simulation import Simulation  # noqa: E402
from tests.blender.made_once import import_rig  # noqa: E402
from tests.often import often  # noqa: E402

FPS, SECONDS, REST = 24, 25, 48
FEW = Plan(tolerance=0.15, steps=24, ratio=2.0)
"""Few poses of each gait: those who rest show poses of their stance."""
SOLE = 0.002
"""Height below which a point of a sole is on the ground [m]: the knight is 2.4 m tall."""


def knight(shared, plan):
    """The poses of the knight."""
    rig = import_rig(shared / "characters" / "Knight.glb")
    carried = [obj.name for obj in rig.children_recursive if obj.type == "MESH"]
    props = tuple(name for name in carried if not name.startswith("Knight"))
    recipe = Recipe("Idle", "Walking_A", "Running_A", without=props, plan=plan)
    return making.make_character(bpy.context.scene, rig, recipe).space


@pytest.mark.slow
@pytest.mark.parametrize("plan", often([FEW, Plan()], FEW), ids=["few poses", "all poses"])
@pytest.mark.usefixtures("empty_scene")
def test_all_knights_who_arrive_stand_on_both_feet(plan, shared):
    space = knight(shared, plan)
    body = {"radius": 0.4, "mass": 1.0, "max_speed": 2.0, "max_force": 8.0}
    settings = CrowdSettings(
        agents=AgentsSettings(**body),
        motion=MotionSettings(motion="GROUND", min_turn_speed=0.1, body_turn_rate=300.0),
        bodies=BodiesSettings(on_arrival="HOLD_AREA", collide_agents=True),
        behaviors=(REGISTRY["avoid_neighbors"](), REGISTRY["arrive"]()),
        cast=Cast((space.gaits,)),
    )
    row = np.arange(24)
    places = np.stack([8.0 + 1.2 * (row // 8), 1.2 * (row % 8) - 4.2, 0.0 * row], axis=1)
    simulation = Simulation(settings, make_agents(places, **body), frame=1, fps=FPS)
    goal = make_world(targets=[[0.0, 0.0, 0.0]])
    frames = [simulation.step(goal) for _ in range(SECONDS * FPS)][-REST:]
    assert simulation.agents.arrived.all()
    assert all((frame.attributes["gait"] == 0.0).all() for frame in frames)
    assert max(frame.speed.max() for frame in frames) == 0.0
    # they have walked: nobody stands where it stood
    assert (np.linalg.norm(frames[-1].position - places, axis=1) > 5.0).all()
    stands = space.gaits[0]
    for frame in frames[::12]:
        for phase in frame.attributes["phase"]:
            pose = stands.first + int(phase % 1.0 * stands.count + 0.5) % stands.count
            points = space.positions[pose]
            for side in (1.0, -1.0):
                foot = points[points[:, 0] * side > 0.0, 2]
                assert abs(foot.min()) < SOLE
                assert np.sum(foot < SOLE) >= 4

"""Agents that are born are in the groups of their ids, as all others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.crowd.groups import GroupSettings
from steer_addon.core.crowd.membership import members
from steer_addon.core.inputs.emitters import make_emitter
from steer_addon.core.inputs.targets import make_targets

from .birthtools import SQUARE, begun, told, world_of


def test_agents_that_are_born_have_the_target_and_the_speed_of_their_group():
    how = replace(
        told(rate=24.0, capacity=30),
        behaviors=(Seek(group="tourists"), Seek(group="!tourists", target="other")),
        groups=(GroupSettings(name="tourists", share=0.5, speed=0.5),),
    )
    goals = {"": make_targets([[0, 1000, 0]]), "other": make_targets([[0, -1000, 0]])}
    world = replace(world_of(make_emitter(np.array(SQUARE) * 50.0)), targets=goals)
    this = begun(how, world)
    for _ in range(60):
        this.step(world)
    agents = this.agents
    tourists = members(how, agents.id, agents.attributes)["tourists"]
    assert (agents.alive != 0).all() and 5 < tourists.sum() < 25
    assert np.array_equal(agents.velocity[:, 1] > 0.0, tourists)
    speeds = np.where(tourists, 0.5, 1.0) * how.agents.max_speed
    assert np.allclose(agents.max_speed, speeds)

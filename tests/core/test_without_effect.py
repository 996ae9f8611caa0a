"""Parameters that say that they have no effect have none, and have one where they count."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from crowdtools import place

from steer_addon.core.behaviors import REGISTRY, own_parameters
from steer_addon.core.crowd.settings import BLOCKS, CrowdSettings
from steer_addon.core.inputs.emitters import joined, make_emitter
from steer_addon.core.inputs.targets import make_targets
from steer_addon.core.inputs.world import make_world
from steer_addon.core.parameters import MORE_THAN_ZERO, belongs, parameters
from steer_addon.core.step.simulation import Simulation

GOING = {"emission": "BURSTS", "speed": 1.0}
IDLE = {
    ("agents", "max_force"): ({"solver": "VEX"}, {"solver": "REYNOLDS"}, 0.5, 50.0),
    ("motion", "banking"): ({"motion": "GROUND"}, {"motion": "FLY"}, 0.5, 2.0),
    ("motion", "max_bank"): ({"motion": "GROUND"}, {"motion": "FLY", "banking": 9.0}, 1.0, 80.0),
    ("solver", "acc_weight"): ({"solver": "REYNOLDS"}, {"solver": "VEX"}, 0.1, 0.9),
    ("bodies", "iterations"): ({"collide_agents": False}, {"collide_agents": True}, 1, 20),
    ("births", "rate"): ({"emission": "NONE"}, {"emission": "PER_SECOND"}, 5.0, 50.0),
    ("births", "number"): ({"emission": "PER_SECOND"}, {"emission": "BURSTS"}, 2, 9),
    ("births", "interval"): ({"emission": "PER_SECOND"}, {"emission": "BURSTS"}, 0.0, 0.3),
    ("births", "first_frame"): ({"emission": "NONE"}, {"emission": "BURSTS"}, 3, 9),
    ("births", "last_frame"): ({"emission": "NONE"}, {"emission": "OVER_FRAMES"}, 9, 20),
    ("births", "capacity"): ({"emission": "NONE"}, {"emission": "PER_SECOND"}, 1, 9),
    ("births", "facing"): ({"emission": "NONE"}, GOING, "FORWARD", "RANDOM"),
    ("births", "facing_spread"): ({"emission": "NONE"}, GOING, 0.0, 90.0),
    ("births", "speed"): ({"emission": "NONE"}, {"emission": "BURSTS"}, 0.0, 1.0),
    ("births", "lifetime_spread"): ({"lifetime": 0.0}, {"lifetime": 0.5}, 0.0, 0.9),
    ("bodies", "arrival_distance"): ({"on_arrival": "STAY"}, {"on_arrival": "LEAVE"}, 0.1, 9.0),
}
"""Other settings with which a parameter has no effect, some with which it has, and two values."""


def settings_with(block, values):
    """A crowd that seeks, with values of the block, or of whatever block has them."""
    made = CrowdSettings(behaviors=(REGISTRY["seek"](),))
    for name, value in values.items():
        owner = name if name == block else next(b for b in BLOCKS if name in parameters(BLOCKS[b]))
        made = replace(made, **{owner: replace(getattr(made, owner), **{name: value})})
    return made


def played(settings):
    """Place, heading and roll of a few agents in each other's way, after some steps."""
    points = [(0.4 * (i % 3), 0.4 * (i // 3), 0.0) for i in range(9)]
    agents = place(settings, points, [(1.0, 0.0, 0.0)] * 9)
    sim = Simulation(settings, agents, frame=1, fps=24.0)
    goal = make_targets(np.array([[2.0, 6.0, 0.0]], np.float32))
    source = make_emitter([[[9, 0, 0], [99, 0, 0], [9, 90, 0]]])
    for _ in range(24):
        sim.step(make_world(targets={"": goal}, emitters=joined([source])))
    after = sim.agents
    return b"".join(getattr(after, n).tobytes() for n in ("position", "heading", "roll", "alive"))


@pytest.mark.parametrize(("block", "name"), IDLE)
def test_a_parameter_has_an_effect_where_it_counts_only(block, name):
    idle, busy, low, high = IDLE[block, name]
    for others, counts in ((idle, False), (busy, True)):
        made = [settings_with(block, {**others, name: value}) for value in (low, high)]
        info = parameters(BLOCKS[block])[name]
        assert info.counts(getattr(made[0], block), made[0]) == counts
        assert (played(made[0]) != played(made[1])) == counts


def test_all_that_depends_on_others_in_a_block_is_tried_here():
    known = {(b, n) for b, cls in BLOCKS.items() for n, i in parameters(cls).items() if i.shown_for}
    # those of the ground need a terrain: tests of the ground have them, and those of Blender the
    # part of a source; those of ways what blocks
    elsewhere = {("motion", "max_slope"), ("motion", "step_height"), ("births", "part")}
    elsewhere.add(("ways", "cell_size"))
    assert known == set(IDLE) | elsewhere


def test_what_depends_names_a_parameter_and_its_values():
    groups = [own_parameters(cls) for cls in REGISTRY.values()]
    groups += [parameters(cls) for cls in BLOCKS.values()]
    for known in groups:
        for info in known.values():
            found = info.shown_for or ()
            for name, values in (found,) if found and isinstance(found[0], str) else found:
                block, _, own = name.rpartition(".")
                other = (parameters(BLOCKS[block]) if block else known)[own]
                fits = all(v in other.choices or v is True for v in values)
                assert fits or values is MORE_THAN_ZERO, (info.name, name)


def test_one_condition_of_several_is_enough():
    made = settings_with("bodies", {"collide_colliders": True}).bodies
    several = (("collide_agents", (True,)), ("collide_colliders", (True,)))
    assert belongs(several, made)
    assert not belongs(several[0], made)
    assert belongs(("arrival_distance", MORE_THAN_ZERO), made)
    assert not belongs(("arrival_distance", MORE_THAN_ZERO), replace(made, arrival_distance=0.0))
    # what depends on a block that is not known counts
    assert belongs(("solver.solver", ("VEX",)), made)


def test_whoever_says_what_zero_stands_for_allows_it():
    told = {
        name: info
        for cls in (*REGISTRY.values(), *BLOCKS.values())
        for name, info in parameters(cls).items()
        if info.zero
    }
    assert {"max_turn_rate", "body_turn_rate", "panic_radius", "max_distance"} <= set(told)
    assert all(info.minimum <= 0.0 <= info.maximum for info in told.values())
    for cls in (*REGISTRY.values(), *BLOCKS.values()):
        for name, info in parameters(cls).items():
            assert bool(info.zero) == any(
                words in info.doc
                for words in ("0 is no limit", "0 takes", "0 never", "0 is always")
            ), name

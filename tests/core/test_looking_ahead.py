"""Behaviors that look 0 m or 0 s ahead do nothing, and say so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from crowdtools import crowd, place, run, wall

from steer_addon.core.behaviors.follow_wall import FollowWall
from steer_addon.core.behaviors.obstacle_avoidance.behavior import ObstacleAvoidance
from steer_addon.core.behaviors.obstacle_zones import ObstacleZones
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.behaviors.wall_avoidance.behavior import WallAvoidance
from steer_addon.core.inputs.spheres import make_spheres
from steer_addon.core.inputs.world import make_world
from steer_addon.core.parameters import parameters

ZERO = [
    *[(ObstacleAvoidance(method=m), "look_ahead", "m") for m in ("RAY", "WHISKERS")],
    *[(ObstacleAvoidance(method=m), "look_ahead", "m") for m in ("AHEAD", "LATERAL")],
    (ObstacleAvoidance(method="CENTER_RAY"), "avoid_radius", "m"),
    (ObstacleZones(), "look_ahead", "m"),
    (WallAvoidance(feeler_mode="FIXED"), "feeler_length", "m"),
    (FollowWall(), "anticipation_time", "s"),
]


@pytest.mark.parametrize(("entry", "name", "unit"), ZERO)
def test_zero_is_said_with_the_parameter_and_the_way_out(entry, name, unit):
    blind = replace(entry, **{name: 0.0})
    (told,) = crowd(blind).advice()
    label = parameters(entry)[name].label
    assert (told.code, told.subject) == ("NO_LOOK_AHEAD", entry.definition.label)
    assert told.values == {"parameter": label, "unit": unit}
    assert crowd(entry).advice() == []
    assert crowd(replace(blind, name="guard")).advice()[0].subject == "guard"
    assert crowd(replace(blind, enabled=False)).advice() == []
    assert crowd(replace(blind, weight=0.0)).advice() == []


def test_only_what_counts_for_the_method_is_said():
    rays = ObstacleAvoidance(method="CENTER_RAY", look_ahead=0.0)
    assert crowd(rays).advice() == []
    assert crowd(replace(rays, method="RAY", avoid_radius=0.0)).advice() != []
    assert crowd(WallAvoidance(feeler_mode="AUTO", feeler_length=0.0)).advice() == []


@pytest.mark.parametrize(
    ("setting", "attribute", "count"),
    [(0.0, [0, 0], 1), (0.0, [0, 3], 0), (3.0, [0, 0], 1), (3.0, [3, 0], 0), (3.0, None, 0)],
)
def test_attributes_count_before_the_setting(setting, attribute, count):
    # a value of 0 for some agents, with others that look ahead, is intended
    told = crowd(ObstacleZones(look_ahead=setting))
    named = {} if attribute is None else {"look_ahead": attribute}
    agents = place(told, [[0, 0, 0], [1, 0, 0]], attributes=named)
    assert len(told.advice(agents)) == count


@pytest.mark.parametrize(("entry", "name", "unit"), ZERO[:-1])
def test_with_zero_agents_go_as_if_the_behavior_were_not_there(entry, name, unit):
    of_spheres = getattr(entry, "method", "") in ("AHEAD", "LATERAL")
    # a sphere that agents are in does count: they do not get that far
    spheres = make_spheres([[5, 0.2, 0]], 1.0) if of_spheres else None
    world = make_world(
        targets=[[20, 0, 0]], spheres=spheres, colliders=[] if spheres else [wall(2.65)]
    )
    without, blind, seeing = (
        run(crowd(Seek(), *stack), [[0, 0, 0]], 24 * 2, (1, 0, 0), world)[0]
        for stack in ([], [replace(entry, **{name: 0.0})], [entry])
    )
    np.testing.assert_array_equal(blind, without)
    assert np.abs(seeing - without).max() > 0.01


def test_with_zero_nobody_goes_along_a_wall():
    def passed(time):
        stack = crowd(FollowWall(anticipation_time=time))
        world = make_world(colliders=[wall(2.0, width=100.0)])
        return abs(run(stack, [[0, 0, 0]], 24 * 10, (0, 1, 0), world)[0][-1, 0, 1])

    assert passed(1.0) > 12.0 and passed(0.0) < 3.0

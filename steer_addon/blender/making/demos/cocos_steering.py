"""All steering behaviors of the Cocos tutorial on one field, each crowd with some of them on.

A flock (blue) follows a flag and runs from whoever comes near: it arrives, flocks and flees. A
leader (gold) seeks, escorts (orange) keep their places beside him, and bystanders (white) evade
them and go back. A hunter (red) pursues a runner (green).
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ...display import display
from .stage import SAND, Stage, scatter, steer_by

PLACES = ((1.3, -1.3), (-1.3, -1.3), (2.6, -2.6), (-2.6, -2.6))
"""Where escorts walk, to the right and to the front of the leader [m]."""
FLAG = {1: (-8.0, 3.5, 0.0), 241: (12.0, 3.5, 0.0)}
"""Where the flag is, by frame."""
SCALE = 1.7


def build(stage: Stage) -> None:
    """The field with all crowds; the preset is the same for all of them."""
    stage.ground(56.0, 40.0, SAND)
    flag = stage.target(FLAG[1], "Flag", flag=True)
    stage.move(flag, FLAG)
    flock = _crowd(
        stage, "Flock", scatter(36, 7.0, 6.0, 0.9, center=(-13.0, 3.5, 0.0), seed=3), "#3F78A8",
        "flee", "arrive", "too_close", "cohesion", "alignment",
    )  # fmt: skip
    steer_by(flock, flag)
    _march(stage)
    _hunt(stage, flock)
    stage.camera((-3.0, -30.0, 23.0), (-3.0, 0.5, 0.0), 36.0)


def _crowd(stage: Stage, name: str, points: Any, color: str, *used: str, **more: Any) -> Any:
    """A crowd of the preset in which only some behaviors are on, looking along +X."""
    crowd = stage.crowd("cocos_steering", points, name=name, headings=(1.0, 0.0, 0.0), **more)
    for item in crowd.steer.behaviors:
        item.enabled = item.name in used
    # cones that do not tremble with every push
    crowd.steer.motion.min_turn_speed, crowd.steer.motion.body_turn_rate = 0.2, 240.0
    stage.show_cones(crowd, color)
    display.set_input(display.find_modifier(crowd), "Scale", SCALE)
    return crowd


def _march(stage: Stage) -> None:
    """Leader and escorts, and those whom they meet."""
    start = np.array((-11.0, -6.0, 0.0))
    leader = _crowd(stage, "Leader", [start], "#D9A52E", "seek")
    steer_by(leader, stage.target((60.0, -6.0, 0.0), "Far Away"))
    leader.steer.agents.max_speed = 2.0
    beside = np.array([start + (front, -right, 0.0) for right, front in PLACES])
    offsets = dict(zip(("offset_x", "offset_y"), np.array(PLACES, np.float32).T, strict=True))
    escorts = _crowd(stage, "Escorts", beside, "#D0672F", "offset_pursue", attributes=offsets)
    steer_by(escorts, leader)
    homes = scatter(10, 12.0, 4.0, 1.6, center=(0.0, -6.0, 0.0), seed=8)
    bystanders = _crowd(
        stage, "Bystanders", homes, "#EFEBE2", "evade", "arrive", "too_close",
        attributes={"target_index": np.arange(len(homes))},
    )  # fmt: skip
    steer_by(bystanders, _goals(stage, homes))
    steer_by(bystanders, leader, "evade")


def _goals(stage: Stage, places: Any) -> bpy.types.Collection:
    goals = stage.collection("Homes")
    for number, place in enumerate(places):
        goals.objects.link(stage.target(place, f"Home {number:02d}"))
    return goals


def _hunt(stage: Stage, flock: bpy.types.Object) -> None:
    """Runner and hunter; the flock flees from the hunter as well."""
    runner = _crowd(stage, "Runner", [(-14.0, 12.0, 0.0)], "#5B8A4A", "seek")
    steer_by(runner, stage.target((60.0, 12.0, 0.0), "Far Away Too"))
    hunter = _crowd(stage, "Hunter", [(-6.4, 4.5, 0.0)], "#B5352B", "pursue")
    steer_by(hunter, runner)
    steer_by(flock, hunter, "flee")

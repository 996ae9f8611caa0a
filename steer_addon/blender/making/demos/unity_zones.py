"""Fast bodies run into an L of walls, slide along it and turn to their goals behind it.

Their color is the zone that they are in: white free, yellow pushed, orange pulled, red sliding,
blue turning.
"""

from __future__ import annotations

import bpy
import numpy as np

from ...display import display
from ..materials import add_ramp, plain_material, shader_of
from .stage import Stage, steer_by

WALL = ((6.0, 0.0), (0.0, 0.0), (0.0, 14.0))
"""The L, seen from above [m]."""
THICK, HIGH = 0.4, 2.0
FILES = ((6.5, 4.0), (10.0, 12.5))
"""Where files of bodies start and where they want to go, as Y [m]."""
FIRST, STEP, COUNT = 14.0, 3.0, 6
"""X where the first of a file starts [m], how far behind it the next one does, and their number."""
COLORS = ("#F2F0EA", "#F2DC4A", "#E2731E", "#D2402F", "#3C78B4")
"""Of the zones free, push, pull, slide and turn."""


def build(stage: Stage) -> None:
    """The L, and bodies whose goals are behind it."""
    stage.ground(70.0, 50.0)
    stage.wall(WALL, THICK, HIGH)
    starts, goals = [], stage.collection("Goals")
    for start, goal in FILES:
        for place in range(COUNT):
            # the first ones go farthest, so that nobody has to pass another
            beyond = (STEP * (place - COUNT) - 3.0, goal, 0.0)
            goals.objects.link(stage.target(beyond, f"Goal {len(starts):02d}"))
            starts.append((FIRST + STEP * place, start, 0.0))
    crowd = stage.crowd(
        "unity_zones",
        starts,
        name="Bodies",
        headings=(-1.0, 0.0, 0.0),
        attributes={"target_index": np.arange(len(starts))},
    )
    steer_by(crowd, goals)
    modifier = display.find_modifier(crowd)
    display.set_input(modifier, "Display", "Cones")
    display.set_input(modifier, "Scale", 1.3)
    display.set_input(modifier, "Material", zone_material())
    stage.camera((2.0, -21.0, 27.0), (2.0, 7.0, 0.0), 31.0)


def zone_material() -> bpy.types.Material:
    """A material that shows the attribute `zone` of the agents, 0 to 4, as a color."""
    material = plain_material("Zones", COLORS[0], 0.5)
    tree = material.node_tree
    zone = tree.nodes.new("ShaderNodeAttribute")
    zone.attribute_type, zone.attribute_name = "INSTANCER", "zone"
    share = tree.nodes.new("ShaderNodeMath")
    share.operation = "MULTIPLY_ADD"
    # to the middle of each color's part of the ramp
    share.inputs[1].default_value, share.inputs[2].default_value = 0.2, 0.1
    tree.links.new(zone.outputs["Fac"], share.inputs[0])
    stops = [(number / len(COLORS), code) for number, code in enumerate(COLORS)]
    color = add_ramp(tree, share.outputs[0], stops, "CONSTANT")
    tree.links.new(color, shader_of(material).inputs["Base Color"])
    return material

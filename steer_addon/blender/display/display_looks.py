"""Parts of the node group of the Crowd modifier: colors, discs, which body an agent takes, limits.

Colors are written to the point attribute `color`, which instances carry: a material reads it with
an Attribute node of type *Instancer*.
"""

from __future__ import annotations

from math import pi
from typing import Any

from .node_builder import NodeBuilder

COLORS = {
    "Nothing": "No attribute 'color' is written",
    "Speed": "From blue at rest to red at the color range",
    "State": "Walking, held up at obstacles, hidden, arrived",
    "ID": "A color of its own for every agent",
    "Density": "From blue alone to red at the color range, in agents per square meter",
}
"""Meanings of the attribute `color`, with a sentence each."""

CHOICES = {
    "Random": "One at random that the agent keeps",
    "Index": "In order: id modulo the number of objects",
    "Attribute": "The number in a point attribute, modulo the number of objects",
}
"""Which object of a collection an agent takes."""

COLOR_KEY = "color"
CELL = 2.0
"""Density is counted in squares of this size [m]."""
BLUE, SATURATION, VALUE = 0.62, 0.75, 0.9
ARRIVED, HIDDEN, STATES = 5.0, 6.0, 7.0
"""Numbers of states beyond the zones of obstacles, 0 to 4, and how many there are."""


def math(build: NodeBuilder, operation: str, *values: Any, at: tuple[float, float]) -> Any:
    """The result of a Math node; values are outputs or numbers."""
    node = build.node("ShaderNodeMath", *at, operation=operation)
    for socket, value in zip(node.inputs, values, strict=False):
        if isinstance(value, (int, float)):
            socket.default_value = value
        else:
            build.link(value, socket)
    return node.outputs[0]


def _hsv(build: NodeBuilder, hue: Any, at: tuple[float, float]) -> Any:
    node = build.node("FunctionNodeCombineColor", *at, mode="HSV")
    build.link(hue, node.inputs[0])
    for socket, value in zip(node.inputs[1:], (SATURATION, VALUE, 1.0), strict=False):
        socket.default_value = value
    return node.outputs[0]


def _ramp(build: NodeBuilder, value: Any, most: Any, at: tuple[float, float]) -> Any:
    """Blue at 0, over green and yellow to red at `most`."""
    share = math(build, "DIVIDE", value, most, at=at)
    share = build.output("ShaderNodeClamp", at[0] + 0.8, at[1], Value=share)
    rest = math(build, "SUBTRACT", 1.0, share, at=(at[0] + 1.6, at[1]))
    return _hsv(
        build, math(build, "MULTIPLY", rest, BLUE, at=(at[0] + 2.4, at[1])), (at[0] + 3.2, at[1])
    )


def _state(build: NodeBuilder, at: tuple[float, float]) -> Any:
    """A number for what an agent is doing: its zone, or that it hides, or has arrived."""
    column, row = at
    found = build.named("zone", "FLOAT", column, row)
    for step, (name, number) in enumerate((("hidden", HIDDEN), ("arrived", ARRIVED)), 1):
        is_so = build.output(
            "FunctionNodeCompare", column + step, row + 0.5, data_type="FLOAT",
            operation="GREATER_THAN", A=build.named(name, "FLOAT", column + step, row + 1), B=0.5,
        )  # fmt: skip
        found = build.switch("FLOAT", is_so, found, number, column + step, row)
    return found


def _density(build: NodeBuilder, at: tuple[float, float]) -> Any:
    """Living agents per square meter in the square that an agent stands in."""
    column, row = at
    place = build.output("GeometryNodeInputPosition", column, row)
    parts = build.node("ShaderNodeSeparateXYZ", column + 0.7, row, Vector=place).outputs
    cells = [
        math(
            build, "FLOOR", math(build, "DIVIDE", part, CELL, at=(column + 1.4, row + k)),
            at=(column + 2.1, row + k),
        )
        for k, part in enumerate((parts["X"], parts["Y"]))
    ]  # fmt: skip
    group = math(build, "MULTIPLY_ADD", cells[0], 4096.0, cells[1], at=(column + 2.8, row))
    alive = build.named("alive", "BOOLEAN", column + 2.8, row + 1)
    node = build.node(
        "GeometryNodeAccumulateField", column + 3.5, row, data_type="FLOAT", domain="POINT",
        Value=alive,
    )  # fmt: skip
    # "Group Index" became "Group ID"; it is the last one in every version
    build.link(group, node.inputs[-1])
    return math(build, "DIVIDE", node.outputs["Total"], CELL * CELL, at=(column + 4.2, row))


def colored(build: NodeBuilder, inputs: Any, points: Any) -> Any:
    """Give the points the attribute `color`, unless there is nothing to tell by it."""
    most = inputs["Color Range"]
    number = build.named("id", "INT", 2, 9)
    hue = build.output(
        "FunctionNodeRandomValue", 4, 9, data_type="FLOAT", Min=0.0, Max=1.0, ID=number,
        Seed=inputs["Seed"],
    )  # fmt: skip
    state = math(build, "DIVIDE", _state(build, (0, 10)), STATES, at=(4, 10))
    shades = {
        "Speed": _ramp(build, build.named("speed", "FLOAT", 2, 8), most, (3, 8)),
        "State": _hsv(build, state, (5, 10)),
        "ID": _hsv(build, hue, (5, 9)),
        "Density": _ramp(build, _density(build, (-1, 12)), most, (4, 12)),
    }
    branches: dict[str, Any] = {"Nothing": points}
    for row, (name, shade) in enumerate(shades.items()):
        branches[name] = build.store(points, COLOR_KEY, "FLOAT_COLOR", shade, 8, 8 + row)
    items = {name: (COLORS[name], branch) for name, branch in branches.items()}
    return build.menu("Color By", "GEOMETRY", inputs["Color By"], items, (9, 8))


def shown_few(build: NodeBuilder, inputs: Any, points: Any) -> Any:
    """The agents that are shown: the living, in a viewport at most its limit, evenly by index.

    Agent i is one of them where the whole part of i · limit / count grows: so there are never more.
    """
    alive = build.named("alive", "BOOLEAN", 8, 15)
    limit = inputs["Viewport Limit"]
    count = build.output("GeometryNodeAttributeDomainSize", 3, 15, "Point Count", Geometry=points)
    share = math(build, "DIVIDE", limit, count, at=(4, 15))
    index = build.output("GeometryNodeInputIndex", 3, 16)
    after = math(build, "ADD", index, 1.0, at=(4, 17))
    steps = [
        math(build, "FLOOR", math(build, "MULTIPLY", which, share, at=(5, row)), at=(6, row))
        for which, row in ((index, 16), (after, 17))
    ]
    grows = build.output(
        "FunctionNodeCompare", 7, 16, data_type="FLOAT", operation="NOT_EQUAL", A=steps[0],
        B=steps[1], Epsilon=0.5,
    )  # fmt: skip
    limited = build.output(
        "FunctionNodeCompare", 5, 18, data_type="INT", operation="GREATER_THAN", A=limit, B=0
    )
    many = build.output(
        "FunctionNodeCompare", 5, 19, data_type="INT", operation="LESS_THAN", A=limit, B=count
    )
    seen = build.output("GeometryNodeIsViewport", 5, 20)
    counts = limited
    for column, other in enumerate((many, seen), 6):
        counts = build.node(
            "FunctionNodeBooleanMath", column, 19, operation="AND", inputs=[counts, other]
        ).outputs[0]
    kept = build.switch("BOOLEAN", counts, True, grows, 8, 16)
    return build.node(
        "FunctionNodeBooleanMath", 9, 15, operation="AND", inputs=[alive, kept]
    ).outputs[0]


def disc(build: NodeBuilder, inputs: Any, turn: Any) -> Any:
    """A flat disc for a body of radius 1, with a point that shows where it is heading."""
    rim = build.output("GeometryNodeMeshCircle", 10, -10, fill_type="NGON", Vertices=16, Radius=1.0)
    nose = build.output("GeometryNodeMeshCircle", 10, -11, fill_type="NGON", Vertices=3, Radius=0.6)
    nose = build.output(
        "GeometryNodeTransform", 11, -11, Geometry=nose, Translation=(0.0, -1.1, 0.0),
        Rotation=(0.0, 0.0, -pi / 2),
    )  # fmt: skip
    both = build.output("GeometryNodeJoinGeometry", 12, -10, Geometry=[rim, nose])
    lifted = build.output(
        "GeometryNodeTransform", 12.6, -10, Geometry=both, Translation=(0.0, 0.0, 0.02)
    )
    turned = build.output("GeometryNodeTransform", 13.2, -10, Geometry=lifted, Rotation=turn)
    return build.output(
        "GeometryNodeSetMaterial", 13.8, -10, Geometry=turned, Material=inputs["Material"]
    )


def chosen(build: NodeBuilder, inputs: Any, count: Any) -> Any:
    """Which object of the collection every agent takes."""
    number = build.named("id", "INT", 11, -7)
    last = build.output("ShaderNodeMath", 12, -8, operation="SUBTRACT", inputs=[count, 1.0])
    at_random = build.output(
        "FunctionNodeRandomValue", 13, -7, data_type="INT", Min=0, Max=last, ID=number,
        Seed=inputs["Seed"],
    )  # fmt: skip
    given = build.node(
        "GeometryNodeInputNamedAttribute", 11, -13, data_type="INT", Name=inputs["Attribute"]
    ).outputs[0]
    rows = {"Random": at_random, "Index": number, "Attribute": given}
    items = {name: (CHOICES[name], row) for name, row in rows.items()}
    row = build.menu("Choose By", "INT", inputs["Choose By"], items, (13, -13))
    # a remainder that is never negative, whatever the attribute holds
    return math(build, "FLOORED_MODULO", row, count, at=(13.6, -7))

"""The node group of the Crowd modifier: points of the state, and one instance per agent.

In order: the state's points or, without any, the modified geometry's own points at rest, in world
space; their attributes; what is shown at them; and last everything in the space of the modified
object, whose own matrix so has no effect on where the agents are.
"""

from __future__ import annotations

from math import pi
from typing import Any

import bpy

from . import display_looks
from .crowd_group import VERSION_KEY, sockets_of
from .node_builder import NodeBuilder

VERSION = 4
"""Raise it with every change of the group: files with an older one are brought up to date."""

_INPUTS: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("Geometry", "Geometry", "Mesh whose vertices are the agents before the simulation", {}),
    ("State", "Object", "Hidden object that holds the simulated agents", {"hide": True}),
    ("Display", "Menu", "What every agent is shown as", {"default": "Cones"}),
    (
        "Object",
        "Object",
        "Object to show at every agent; its rotation and scale count, its location does not",
        {},
    ),
    (
        "Collection",
        "Collection",
        "Collection of objects to show: every agent takes one and keeps it",
        {},
    ),
    ("Choose By", "Menu", "Which object of the collection an agent takes", {"default": "Random"}),
    (
        "Attribute",
        "String",
        "Point attribute that holds the number of an agent's object in the collection",
        {"default": "body"},
    ),
    ("Material", "Material", "Material of cones and discs", {}),
    ("Scale", "Float", "Size of what is shown at every agent", {"default": 1.0, "min": 0.0}),
    (
        "Align to Heading",
        "Bool",
        "Turn what is shown to where its agent is heading",
        {"default": True},
    ),
    ("Seed", "Int", "Changes which object of the collection each agent takes", {}),
    (
        "Color By",
        "Menu",
        "What the attribute 'color' tells, which materials read with an Attribute node (Instancer)",
        {"default": "Nothing"},
    ),
    (
        "Color Range",
        "Float",
        "Speed [m/s], or agents per square meter, that is shown in red",
        {"default": 2.0, "min": 0.001},
    ),
    (
        "Viewport Limit",
        "Int",
        "Most agents that a viewport shows, evenly picked; 0 shows all, as renders always do",
        {"default": 0, "min": 0},
    ),
    (
        "Radius",
        "Float",
        "Body radius before the simulation, where the points have no attribute 'radius'",
        {"hide": True, "default": 0.25, "min": 0.0, "subtype": "DISTANCE"},
    ),
    (
        "Forward Axis",
        "Menu",
        "Side of what is shown that looks ahead",
        {"hide": True, "default": "NEG_Y"},
    ),
)
"""Name, socket type, tooltip and options of every input, in the order of the modifier panel."""

_DISPLAYS = {
    "Points": "Only points, for modifiers further down",
    "Cones": "Cones as wide as the bodies that point along the heading",
    "Object": "Copies of one object",
    "Collection": "Copies of the objects of a collection, one per agent",
    "Discs": "Flat discs as wide as the bodies, with a nose: the quickest to draw",
}
_TURNS = {"NEG_Y": 0.0, "POS_X": pi / 2, "POS_Y": pi, "NEG_X": -pi / 2}
"""Angles [rad] about Z that turn -Y to the forward axis."""


def defaults() -> dict[str, Any]:
    """Default values of inputs, by name; inputs without one are empty, or 0."""
    return {name: options["default"] for name, _, _, options in _INPUTS if "default" in options}


def build_group(group: bpy.types.NodeTree) -> None:
    """Make a node group the Crowd group; inputs that it has keep their values in modifiers."""
    group.nodes.clear()
    group.is_modifier = True
    group.description = "Shows a crowd simulated by Steer"
    _build_interface(group)
    build = NodeBuilder(group)
    inputs = build.node("NodeGroupInput", 0, 0).outputs
    turn = build.menu(
        "Forward Axis",
        "ROTATION",
        inputs["Forward Axis"],
        {axis: (axis, (0.0, 0.0, angle)) for axis, angle in _TURNS.items()},
        (1, 5),
    )
    turn_back = build.output("FunctionNodeInvertRotation", 2, 5, Rotation=turn)
    own = build.node("GeometryNodeSelfObject", 0, 4).outputs[0]
    to_world = build.output("GeometryNodeObjectInfo", 1, 4, "Transform", Object=own)
    # without an inverse this is the identity: a zero scale squashes the crowd, no more
    to_local = build.output("FunctionNodeInvertMatrix", 2, 4, "Matrix", Matrix=to_world)
    points = _world_points(build, inputs, to_world, turn_back)
    points = display_looks.colored(build, inputs, _marked_alive(build, points))
    rotation = build.named("rotation", "QUATERNION", 7, 2)
    captured, facing = build.capture(points, rotation, "ROTATION", 8, 0)
    points = _local_attributes(build, captured, to_local, turn, turn_back)
    shown = _instances(build, inputs, points, facing, turn)
    joined = build.output("GeometryNodeJoinGeometry", 17, 0, Geometry=[points, shown])
    result = build.transform(joined, to_local, 18, 0)
    build.node("NodeGroupOutput", 19, 0, Geometry=result)
    for socket in sockets_of(group):
        options = next(row[3] for row in _INPUTS if row[0] == socket.name)
        if socket.socket_type == "NodeSocketMenu":
            # a menu has items, and so a default, only once it is linked
            socket.default_value = options["default"]
    group[VERSION_KEY] = VERSION


def _build_interface(group: bpy.types.NodeTree) -> None:
    """Give the group its sockets; existing ones keep their identifiers."""
    interface = group.interface
    rows = {name: f"NodeSocket{kind}" for name, kind, _, _ in _INPUTS}
    for socket in list(interface.items_tree):
        wanted = rows.get(socket.name) if getattr(socket, "in_out", "") == "INPUT" else None
        if wanted is None or socket.socket_type != wanted:
            interface.remove(socket)
    interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    present = {socket.name: socket for socket in sockets_of(group)}
    for position, (name, kind, tooltip, options) in enumerate(_INPUTS):
        socket = present.get(name)
        if socket is None:
            socket = interface.new_socket(name, in_out="INPUT", socket_type=f"NodeSocket{kind}")
        interface.move(socket, position + 1)
        socket.description = tooltip
        socket.hide_in_modifier = bool(options.get("hide"))
        if kind == "Int" and "min" in options:
            socket.min_value = options["min"]
        if kind == "Float":
            socket.subtype = options.get("subtype", "NONE")
            socket.min_value = options["min"]
        if "default" in options and kind != "Menu":
            socket.default_value = options["default"]


def _world_points(build: NodeBuilder, inputs: Any, to_world: Any, rest_rotation: Any) -> Any:
    """Return the state's points, or the group's own points at rest, in world space."""
    state = build.output("GeometryNodeObjectInfo", 0.2, 0, "Geometry", Object=inputs["State"])
    state = _as_vertices(build, state)
    count = build.output("GeometryNodeAttributeDomainSize", 2, 0, "Point Count", Geometry=state)
    simulated = build.output(
        "FunctionNodeCompare", 3, 0, data_type="INT", operation="GREATER_THAN", A=count, B=0
    )
    points = build.output(
        "GeometryNodeDeleteGeometry", 1, 1, mode="EDGE_FACE", domain="EDGE",
        Geometry=inputs["Geometry"],
    )  # fmt: skip
    points = build.transform(points, to_world, 2, 1)
    own_radius = build.node(
        "GeometryNodeInputNamedAttribute", 1, 2, data_type="FLOAT", Name="radius"
    )
    radius = build.switch(
        "FLOAT", own_radius.outputs["Exists"], inputs["Radius"], own_radius.outputs[0], 2, 2
    )
    own_id = build.node("GeometryNodeInputNamedAttribute", 1, 3, data_type="INT", Name="id")
    index = build.output("GeometryNodeInputIndex", 1, 3.7)
    number = build.switch("INT", own_id.outputs["Exists"], index, own_id.outputs[0], 2, 3)
    rest = {
        "radius": ("FLOAT", radius),
        "id": ("INT", number),
        "velocity": ("FLOAT_VECTOR", (0.0, 0.0, 0.0)),
        "speed": ("FLOAT", 0.0),
        "rotation": ("QUATERNION", rest_rotation),
    }
    for column, (name, (data_type, value)) in enumerate(rest.items()):
        points = build.store(points, name, data_type, value, 3 + column * 0.8, 1.2)
    return build.switch("GEOMETRY", simulated, points, state, 7, 0)


def _as_vertices(build: NodeBuilder, state: Any) -> Any:
    """Make vertices of the points of a state that is a point cloud, as baked ones are."""
    parts = build.node("GeometryNodeSeparateComponents", 0.5, 0, Geometry=state).outputs
    radius = build.named("radius", "FLOAT", 0.5, 1)
    cloud, kept = build.capture(parts["Point Cloud"], radius, "FLOAT", 0.8, 0.5)
    vertices = build.output("GeometryNodePointsToVertices", 1.1, 0.5, Points=cloud)
    # the node keeps all attributes but this one
    vertices = build.store(vertices, "radius", "FLOAT", kept, 1.4, 0.5)
    return build.output("GeometryNodeJoinGeometry", 1.7, 0, Geometry=[parts["Mesh"], vertices])


def _marked_alive(build: NodeBuilder, points: Any) -> Any:
    """Give the points the attribute `alive`: where nothing says otherwise they are."""
    given = build.node("GeometryNodeInputNamedAttribute", 6, -1, data_type="BOOLEAN", Name="alive")
    alive = build.switch("BOOLEAN", given.outputs["Exists"], True, given.outputs[0], 7, -1)
    return build.store(points, "alive", "BOOLEAN", alive, 7.5, 0)


def _local_attributes(
    build: NodeBuilder, points: Any, to_local: Any, turn: Any, turn_back: Any
) -> Any:
    """Turn velocity and rotation into the modified object's space, as other modifiers expect.

    The local rotation is built from the transformed heading and up, not from the object's
    rotation: that keeps the heading exact under uneven scales and mirrored objects.
    """
    velocity = build.named("velocity", "FLOAT_VECTOR", 9, 2)
    local = build.output(
        "FunctionNodeTransformDirection", 10, 2, Direction=velocity, Transform=to_local
    )
    rotation = build.named("rotation", "QUATERNION", 9, 3)
    facing = build.rotate(rotation, turn, 10, 3)
    axes = []
    for row, axis in ((3, (0.0, 1.0, 0.0)), (4, (0.0, 0.0, 1.0))):
        world = build.output("FunctionNodeRotateVector", 11, row, Rotation=facing, Vector=axis)
        axes.append(
            build.output(
                "FunctionNodeTransformDirection", 12, row, Direction=world, Transform=to_local
            )
        )
    upright = build.node("FunctionNodeAxesToRotation", 13, 3)
    upright.primary_axis, upright.secondary_axis = "Y", "Z"
    build.link(axes[0], upright.inputs[0])
    build.link(axes[1], upright.inputs[1])
    turned = build.rotate(upright.outputs[0], turn_back, 14, 3)
    points = build.store(points, "velocity", "FLOAT_VECTOR", local, 14, 1)
    return build.store(points, "rotation", "QUATERNION", turned, 15, 1)


def _instances(build: NodeBuilder, inputs: Any, points: Any, facing: Any, turn: Any) -> Any:
    """Return what is shown at the points: one of the displays."""
    rotation = build.switch("ROTATION", inputs["Align to Heading"], None, facing, 10, -1)
    scale = inputs["Scale"]
    radius = build.named("radius", "FLOAT", 10, -2)
    size = build.output("ShaderNodeMath", 11, -2, operation="MULTIPLY", inputs=[radius, scale])
    alive = display_looks.shown_few(build, inputs, points)
    common = {"Points": points, "Rotation": rotation, "Selection": alive}
    cones = build.output(
        "GeometryNodeInstanceOnPoints",
        14,
        -1,
        **common,
        Scale=size,
        Instance=_cone(build, inputs, turn),
    )
    info = build.node("GeometryNodeObjectInfo", 10, -4, Object=inputs["Object"])
    info.inputs["As Instance"].default_value = True
    body = build.node("GeometryNodeTransform", 11, -4, Geometry=info.outputs["Geometry"])
    build.link(info.outputs["Rotation"], body.inputs["Rotation"])
    build.link(info.outputs["Scale"], body.inputs["Scale"])
    # picked, or every agent would be an instance with an instance inside
    objects = build.output(
        "GeometryNodeInstanceOnPoints", 14, -3, **common, Scale=scale, Instance=body.outputs[0],
        **{"Pick Instance": True, "Instance Index": 0},
    )  # fmt: skip
    children = build.output(
        "GeometryNodeCollectionInfo", 10, -6, Collection=inputs["Collection"],
        **{"Separate Children": True},
    )  # fmt: skip
    # a position that is not linked means the present one
    origin = build.output("ShaderNodeCombineXYZ", 10, -7)
    children = build.output("GeometryNodeSetPosition", 11, -6, Geometry=children, Position=origin)
    count = build.output(
        "GeometryNodeAttributeDomainSize", 12, -7, "Instance Count",
        component="INSTANCES", Geometry=children,
    )  # fmt: skip
    chosen = display_looks.chosen(build, inputs, count)
    collection = build.output(
        "GeometryNodeInstanceOnPoints", 14, -5, **common, Scale=scale, Instance=children,
        **{"Pick Instance": True, "Instance Index": chosen},
    )  # fmt: skip
    discs = build.output(
        "GeometryNodeInstanceOnPoints", 14, -9, **common, Scale=size,
        Instance=display_looks.disc(build, inputs, turn),
    )  # fmt: skip
    # numbers of menu items are kept in files: new ones come last
    branches = {"Points": None, "Cones": cones, "Object": objects, "Collection": collection}
    branches["Discs"] = discs
    items = {name: (_DISPLAYS[name], branch) for name, branch in branches.items()}
    return build.menu("Display", "GEOMETRY", inputs["Display"], items, (16, -2))


def _cone(build: NodeBuilder, inputs: Any, turn: Any) -> Any:
    """Return a cone for a body of radius 1 that lies on the ground and points to the front."""
    cone = build.output(
        "GeometryNodeMeshCone", 11, -3, Vertices=8, Depth=2.0,
        **{"Radius Top": 0.0, "Radius Bottom": 0.8},
    )  # fmt: skip
    cone = build.output(
        "GeometryNodeTransform", 12, -2, Geometry=cone, Translation=(0.0, 0.6, 0.8),
        Rotation=(pi / 2, 0.0, 0.0),
    )  # fmt: skip
    cone = build.output("GeometryNodeTransform", 12.7, -2, Geometry=cone, Rotation=turn)
    return build.output(
        "GeometryNodeSetMaterial", 13.4, -2, Geometry=cone, Material=inputs["Material"]
    )

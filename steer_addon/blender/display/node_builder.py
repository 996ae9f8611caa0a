"""A short way to write node groups in Python: one call per node, sockets as arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bpy

_COLUMN_WIDTH = 220.0
_ROW_HEIGHT = 240.0


class NodeBuilder:
    """Adds nodes to a Geometry Nodes group, laid out on a grid of columns and rows.

    An argument of a node that is the name of one of its properties sets it; any other is an
    input, given as an output to link or as a value.
    """

    def __init__(self, tree: bpy.types.NodeTree) -> None:
        self.tree = tree

    def link(self, output: Any, target: Any) -> None:
        """Link an output to an input."""
        self.tree.links.new(output, target)

    def node(self, kind: str, column: float, row: float, **arguments: Any) -> Any:
        """Add a node.

        Args:
            kind: Type name of the node.
            column: Column of the layout, from left to right.
            row: Row of the layout, from top to bottom.
            **arguments: Properties and inputs by name; `inputs` takes a list of all, in order.
        """
        node = self.tree.nodes.new(kind)
        node.location = (column * _COLUMN_WIDTH, -row * _ROW_HEIGHT)
        sockets = arguments.pop("inputs", [])
        properties = node.bl_rna.properties
        # properties go first: they decide which inputs there are
        for name in [name for name in arguments if name in properties]:
            setattr(node, name, arguments.pop(name))
        for socket, value in zip(node.inputs, sockets, strict=False):
            self._give(socket, value)
        for name, value in arguments.items():
            self._give(self._find(node.inputs, name), value)
        return node

    def output(
        self, kind: str, column: float, row: float, output: str = "", /, **arguments: Any
    ) -> Any:
        """Add a node and return one of its outputs, the first that is in use by default."""
        node = self.node(kind, column, row, **arguments)
        return self._find(node.outputs, output)

    def named(self, name: str, data_type: str, column: float, row: float) -> Any:
        """Return the field of a named attribute."""
        return self.output(
            "GeometryNodeInputNamedAttribute", column, row, data_type=data_type, Name=name
        )

    def store(
        self, geometry: Any, name: str, data_type: str, value: Any, column: float, row: float
    ) -> Any:
        """Return the geometry with a point attribute."""
        return self.output(
            "GeometryNodeStoreNamedAttribute",
            column,
            row,
            data_type=data_type,
            Geometry=geometry,
            Name=name,
            Value=value,
        )

    def capture(
        self, geometry: Any, value: Any, socket_type: str, column: float, row: float
    ) -> tuple[Any, Any]:
        """Return the geometry, and the value as it is at this place of the group."""
        node = self.node("GeometryNodeCaptureAttribute", column, row, Geometry=geometry)
        node.capture_items.new(socket_type, "Value")
        self.link(value, node.inputs["Value"])
        return node.outputs["Geometry"], node.outputs["Value"]

    def rotate(self, rotation: Any, by: Any, column: float, row: float) -> Any:
        """Return the rotation that turns by `by` first, then by `rotation`."""
        arguments = {"Rotation": rotation, "Rotate By": by}
        return self.output(
            "FunctionNodeRotateRotation", column, row, rotation_space="LOCAL", **arguments
        )

    def switch(
        self, data_type: str, condition: Any, false: Any, true: Any, column: float, row: float
    ) -> Any:
        """Return one of two values; None is the type's own default."""
        arguments = {"False": false, "True": true}
        return self.output(
            "GeometryNodeSwitch",
            column,
            row,
            input_type=data_type,
            Switch=condition,
            **{name: value for name, value in arguments.items() if value is not None},
        )

    def menu(
        self,
        name: str,
        data_type: str,
        choice: Any,
        items: Mapping[str, tuple[str, Any]],
        place: tuple[float, float],
    ) -> Any:
        """Return the value that a menu chooses.

        Args:
            name: Name of the node.
            data_type: Type of the values.
            choice: The menu.
            items: Description and value by item name; the value None is the type's default.
            place: Column and row.
        """
        node = self.node("GeometryNodeMenuSwitch", *place, data_type=data_type)
        node.name = node.label = name
        # a new switch has two items; keeping them makes the stored numbers start at zero
        for index, (item_name, (description, _)) in enumerate(items.items()):
            known = node.enum_items
            item = known[index] if index < len(known) else known.new(item_name)
            item.name, item.description = item_name, description
        for item_name, (_, value) in items.items():
            if value is not None:
                self._give(self._find(node.inputs, item_name), value)
        self.link(choice, node.inputs["Menu"])
        return node.outputs["Output"]

    def transform(self, geometry: Any, matrix: Any, column: float, row: float) -> Any:
        """Return the geometry transformed by a matrix."""
        node = self.node("GeometryNodeTransform", column, row, Geometry=geometry)
        if "mode" in node.bl_rna.properties:
            node.mode = "MATRIX"
        else:
            # the mode became an input in 5.0
            node.inputs["Mode"].default_value = "Matrix"
        self.link(matrix, node.inputs["Transform"])
        return node.outputs["Geometry"]

    def _give(self, socket: Any, value: Any) -> None:
        if isinstance(value, bpy.types.NodeSocket):
            self.link(value, socket)
        elif isinstance(value, list):
            for entry in value:
                self.link(entry, socket)
        else:
            socket.default_value = value

    @staticmethod
    def _find(sockets: Any, name: str) -> Any:
        # nodes keep an input for every data type under one name; only one of them is enabled
        for socket in sockets:
            if socket.enabled and name in ("", socket.name):
                return socket
        raise KeyError(f"the node has no socket {name!r}")

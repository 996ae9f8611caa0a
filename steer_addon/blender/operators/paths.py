"""Make paths for crowds."""

from __future__ import annotations

import bpy

from ...core.inputs import paths
from ..crowd import crowds
from ..making import path_curves
from .common import AddOperator, active_object, select_only


class OBJECT_OT_steer_add_random_path(AddOperator, bpy.types.Operator):
    """Add a curve through random waypoints around the 3D cursor; a crowd without a path takes it"""

    bl_idname = "object.steer_add_random_path"
    bl_label = "Add Random Path"

    count: bpy.props.IntProperty(
        name="Waypoints", description="Number of waypoints", default=8, min=2, soft_max=100
    )
    cyclic: bpy.props.BoolProperty(
        name="Cyclic", description="Go on from the last waypoint to the first", default=True
    )
    inner: bpy.props.FloatProperty(
        name="Inner Radius",
        description="Smallest distance of a waypoint from the 3D cursor",
        default=5.0,
        min=0.0,
        soft_max=100.0,
        unit="LENGTH",
    )
    outer: bpy.props.FloatProperty(
        name="Outer Radius",
        description="Largest distance of a waypoint from the 3D cursor",
        default=10.0,
        min=0.0,
        soft_max=100.0,
        unit="LENGTH",
    )
    use_rectangle: bpy.props.BoolProperty(
        name="Rectangle",
        description="Keep all waypoints in a rectangle around the 3D cursor",
    )
    width: bpy.props.FloatProperty(
        name="Width",
        description="Size of the rectangle along X",
        default=20.0,
        min=0.0,
        soft_max=200.0,
        unit="LENGTH",
    )
    height: bpy.props.FloatProperty(
        name="Height",
        description="Size of the rectangle along Y",
        default=12.0,
        min=0.0,
        soft_max=200.0,
        unit="LENGTH",
    )
    seed: bpy.props.IntProperty(
        name="Seed", description="Another seed gives another path", default=0, min=0
    )

    def draw(self, context: bpy.types.Context) -> None:
        """The rectangle's size only where there is one."""
        layout = self.layout
        layout.use_property_split = True
        for name in ("count", "cyclic", "inner", "outer", "use_rectangle"):
            layout.prop(self, name)
        if self.use_rectangle:
            layout.prop(self, "width")
            layout.prop(self, "height")
        layout.prop(self, "seed")

    def run(self, context: bpy.types.Context) -> str:
        """Make the curve, and give it to the active crowd where that lacks a path."""
        x, y = self.width / 2.0, self.height / 2.0
        path = paths.Path.random(
            self.count,
            inner=self.inner,
            outer=self.outer,
            bounds=(-x, -y, x, y) if self.use_rectangle else None,
            cyclic=self.cyclic,
            seed=self.seed,
        )
        crowd = active_object(context)
        curve = path_curves.add_curve(path, context.collection)
        curve.location = context.scene.cursor.location
        select_only(context, curve)
        text = f"Added {curve.name!r} with {self.count} waypoints"
        if crowd is None or not crowds.is_crowd(crowd) or crowds.why_not_editable(crowd):
            return text
        entry = path_curves.path_entry(crowd)
        if entry is None:
            return text
        entry.source_kind, entry.source_object = "OBJECT", curve
        return f"{text}, the path for {entry.name!r} of crowd {crowd.name!r}"


classes = (OBJECT_OT_steer_add_random_path,)

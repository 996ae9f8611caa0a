"""Add crowds, and paths for them: from Add > Crowd, and from Add Modifier > Crowd."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ...core.crowd.scaling import scaled_crowd
from ...core.errors import SceneError
from ...core.inputs import paths
from .. import playback
from ..crowd import crowds
from ..live import live
from ..making import arrangement, distribute, grounds, path_curves, staging
from ..reading import extents, scene_meshes
from ..scene_units import units_per_meter
from .common import AddOperator, SteerOperator, active_object, select_only, why_no_editable_crowd

if TYPE_CHECKING:
    from ..making.distribute import Draw

DISTRIBUTIONS = (
    ("GRID", "Grid", "On a square grid around the 3D cursor", "LIGHTPROBE_VOLUME", 0),
    ("DISC", "Disc", "At random on a disc around the 3D cursor", "MESH_CIRCLE", 1),
    (
        "SURFACE",
        "Surface",
        "At random on the active mesh, which becomes the ground",
        "MOD_DISPLACE",
        2,
    ),
)


class OBJECT_OT_steer_add_crowd(AddOperator, bpy.types.Operator):
    """Add a mesh of points that move as a crowd"""

    bl_idname = "object.steer_add_crowd"
    bl_label = "Add Crowd"
    lengths = ("spacing", "radius")

    distribution: bpy.props.EnumProperty(
        name="Distribution",
        description="Where the agents stand at the start",
        items=DISTRIBUTIONS,
    )
    count: bpy.props.IntProperty(
        name="Agents", description="Number of agents", default=100, min=1, soft_max=10_000
    )
    spacing: bpy.props.FloatProperty(
        name="Spacing",
        description="Distance on the grid; elsewhere the smallest distance between two agents",
        default=1.0,
        min=0.0,
        soft_max=10.0,
        unit="LENGTH",
    )
    radius: bpy.props.FloatProperty(
        name="Disc Radius",
        description="Radius of the disc",
        default=10.0,
        min=0.01,
        soft_max=100.0,
        unit="LENGTH",
    )
    max_slope: bpy.props.FloatProperty(
        name="Max Slope",
        description="Steepest faces that get agents, and that agents walk on",
        default=math.radians(45.0),
        min=0.0,
        max=math.radians(89.0),
        subtype="ANGLE",
    )
    seed: bpy.props.IntProperty(
        name="Seed",
        description="Another seed gives other places; each new crowd gets its own",
        default=0,
        min=0,
        options={"SKIP_SAVE"},
    )

    def draw(self, context: bpy.types.Context) -> None:
        """Only the options of the chosen distribution."""
        layout = self.layout
        layout.use_property_split = True
        for name in ("distribution", "count", "spacing"):
            layout.prop(self, name)
        if self.distribution == "DISC":
            layout.prop(self, "radius")
        if self.distribution == "SURFACE":
            layout.prop(self, "max_slope")
        if self.distribution != "GRID":
            layout.prop(self, "seed")

    def run(self, context: bpy.types.Context) -> str | None:
        """Find the places, make the object, make it a crowd."""
        scene = context.scene
        if not self.properties.is_property_set("seed"):
            self.seed = grounds.free_seed(scene)
        on_mesh = self.distribution == "SURFACE"
        ground = active_object(context) if on_mesh else None
        made = arrangement.Arrangement(
            self.distribution,
            spacing=self.spacing,
            radius=self.radius,
            seed=self.seed,
            max_slope=round(math.degrees(self.max_slope), 4),
        )
        draw = surface_draw(context, ground, made) if on_mesh else None
        points = made.places(self.count, draw).points
        parent = staging.new_parent(scene, context.view_layer)
        settings = scaled_crowd(crowds.default_settings(), units_per_meter(scene))
        settings = replace(settings, seed=self.seed)
        if ground is None:
            half = self.spacing * np.array([[-1.0], [1.0]])
            origin, _ = grounds.free_origin(scene, extents.box_of(points) + half)
        else:
            motion = replace(settings.motion, max_slope=made.max_slope)
            settings = replace(settings, motion=motion)
        obj = crowds.add_crowd_object("Crowd", points, parent)
        if ground is None:
            obj.location = origin
        crowds.make_crowd(obj, settings=settings, scene=scene)
        obj.steer.ground, obj.steer.arrangement = ground, made.to_text()
        select_only(context, obj)
        if len(points) < self.count:
            self.report(
                {"WARNING"},
                f"Placed {len(points)} of {self.count} agents: there is no room for more "
                f"at a spacing of {self.spacing:g} m",
            )
        return None


def surface_draw(
    context: bpy.types.Context,
    ground: bpy.types.Object | None,
    made: "arrangement.Arrangement",
) -> "Draw":
    """Draws points on the evaluated active mesh, in world space and clear of other crowds.

    Raises:
        SceneError: The active object is no mesh, or has no face that is flat enough.
    """
    if ground is None or ground.type != "MESH":
        raise SceneError(
            "Agents are scattered on the active mesh, and there is none: "
            "select the ground, or choose Grid or Disc"
        )
    triangles = scene_meshes.walkable_triangles(ground, context.evaluated_depsgraph_get())
    try:
        draw = distribute.surface_draw(triangles, made.seed, made.max_slope)
    except SceneError as error:
        raise SceneError(f"{ground.name!r} cannot carry agents: {error}") from None
    return distribute.apart(draw, grounds.starts(context.scene), made.spacing)


def why_no_new_crowd(context: bpy.types.Context) -> str:
    """Why the active object cannot become a crowd; empty when it can."""
    obj = active_object(context)
    if obj is None:
        return "Select a mesh object"
    if obj.type != "MESH":
        return f"{obj.name!r} is no mesh: agents are the vertices of a mesh object"
    if crowds.is_crowd(obj):
        return f"{obj.name!r} is a crowd already"
    return crowds.why_not_editable(obj)


class OBJECT_OT_steer_add_modifier(SteerOperator, bpy.types.Operator):
    """Make the vertices of the active mesh agents of a crowd; the mesh itself is not changed"""

    bl_idname = "object.steer_add_modifier"
    bl_label = "Make Crowd"
    needs = (why_no_new_crowd,)

    def run(self, context: bpy.types.Context) -> None:
        """Add modifier, state and default behaviors."""
        crowds.make_crowd(context.object, scene=context.scene)


def why_no_remains(context: bpy.types.Context) -> str:
    """Why there is no crowd to remove, nor what is left of one; empty when there is."""
    obj = active_object(context)
    if obj is not None and obj.type == "MESH" and crowds.has_remains(obj):
        return crowds.why_not_editable(obj)
    return why_no_editable_crowd(context)


class OBJECT_OT_steer_remove_modifier(SteerOperator, bpy.types.Operator):
    """Remove the Crowd modifier with all its settings and give the mesh back as it was"""

    bl_idname = "object.steer_remove_modifier"
    bl_label = "Remove Crowd"
    needs = (why_no_remains,)

    def run(self, context: bpy.types.Context) -> None:
        """Remove everything that made the object a crowd."""
        live.clear(context.object)
        playback.remove_crowd(context.object)


class OBJECT_OT_steer_add_random_path(AddOperator, bpy.types.Operator):
    """Add a curve through random waypoints around the 3D cursor; a crowd without a path takes it"""

    bl_idname = "object.steer_add_random_path"
    bl_label = "Add Random Path"
    lengths = ("inner", "outer", "width", "height")

    count: bpy.props.IntProperty(
        name="Waypoints", description="Number of waypoints", default=8, min=2, soft_max=100
    )
    cyclic: bpy.props.BoolProperty(
        name="Cyclic", description="Continue from the last waypoint to the first", default=True
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
        crowd = None if why_no_editable_crowd(context) else context.object
        curve = path_curves.add_curve(path, context.collection)
        curve.location = context.scene.cursor.location
        select_only(context, curve)
        text = f"Added {curve.name!r} with {self.count} waypoints"
        entry = None if crowd is None else path_curves.path_entry(crowd)
        if crowd is None or entry is None:
            return text
        entry.source_kind, entry.source_object = "OBJECT", curve
        return f"{text}, the path for {entry.name!r} of crowd {crowd.name!r}"


classes = (
    OBJECT_OT_steer_add_crowd,
    OBJECT_OT_steer_add_modifier,
    OBJECT_OT_steer_remove_modifier,
    OBJECT_OT_steer_add_random_path,
)

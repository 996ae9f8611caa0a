"""Curves, wires and empties that crowds follow, flow along and stay in, for tests."""

from __future__ import annotations

import bpy
import numpy as np

from steer_addon.blender.crowd.properties import add_behavior
from steer_addon.blender.reading.scene import WorldReader
from tests.blender.live_scenes import deps, make_crowd, make_target, seekers


def make_user(type_name, source=None, name=""):
    """A crowd with one behavior, and its entry with a source."""
    obj = make_crowd(settings=seekers({"type": type_name}))
    return obj, give(obj.steer.behaviors[0], source)


def add_user(obj, type_name, source=None):
    """One more behavior with a source."""
    return give(add_behavior(obj, type_name), source)


def give(item, source):
    if isinstance(source, bpy.types.Collection):
        item.source_kind, item.source_collection = "COLLECTION", source
    else:
        item.source_object = source
    return item


def read(obj, reader=None):
    return (reader or WorldReader()).read(obj, deps(), 24.0)


def between():
    """A crowd that stands between two empties."""
    obj, item = make_user("interpose")
    obj.steer.target_object = make_target(location=(0, 0, 0), name="One")
    item.second_target_object = make_target(location=(10, 0, 0), name="Two")
    return obj, item


def make_curve(*splines, kind="POLY", cyclic=False, name="Curve", **options):
    """A curve object of splines, each a list of points; options are those of the curve."""
    data = bpy.data.curves.new(name, "CURVE")
    data.dimensions, data.resolution_u = "3D", 4
    for key, value in options.items():
        setattr(data, key, value)
    for points in splines:
        spline = data.splines.new(kind)
        places = spline.bezier_points if kind == "BEZIER" else spline.points
        places.add(len(points) - 1)
        for place, point in zip(places, points, strict=True):
            place.co = point if kind == "BEZIER" else (*point, 1.0)
            if kind == "BEZIER":
                place.handle_left_type = place.handle_right_type = "AUTO"
        if kind == "NURBS":
            spline.order_u, spline.use_endpoint_u = 3, not cyclic
        spline.use_cyclic_u = cyclic
    return link(bpy.data.objects.new(name, data))


def make_wire(points, edges, faces=(), name="Wire"):
    """A mesh object of vertices, edges and faces."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([tuple(map(float, p)) for p in points], list(edges), list(faces))
    return link(bpy.data.objects.new(name, mesh))


def make_shape(kind, size=1.0, location=(0, 0, 0), scale=(1, 1, 1), name="Shape"):
    """An empty that is drawn as a sphere or a cube."""
    obj = bpy.data.objects.new(name, None)
    obj.empty_display_type, obj.empty_display_size = kind, size
    obj.location, obj.scale = location, scale
    return link(obj)


def make_collection(*objects, name="Collection"):
    """A collection of objects."""
    collection = bpy.data.collections.new(name)
    for obj in objects:
        collection.objects.link(obj)
    return collection


def make_copies(*parts, offset=(0, 0, 0)):
    """An empty that instances a collection `Set` of objects, which leave the scene."""
    for part in parts:
        bpy.context.scene.collection.objects.unlink(part)
    empty = make_shape("PLAIN_AXES", name="Copies")
    empty.instance_type = "COLLECTION"
    empty.instance_collection = make_collection(*parts, name="Set")
    empty.instance_collection.instance_offset = offset
    return empty


def add_vectors(obj, values, domain="POINT", name="flow"):
    """A vector attribute on a mesh."""
    attribute = obj.data.attributes.new(name, "FLOAT_VECTOR", domain)
    attribute.data.foreach_set("vector", np.asarray(values, np.float32).ravel())


def link(obj):
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.update()
    return obj


def lines_of(paths):
    """The points of each path, and whether it is closed."""
    first = paths.first
    return [
        (paths.point[first[k] : first[k + 1]], bool(paths.cyclic[k])) for k in range(paths.count)
    ]

"""A scene with every kind of input, and edits at random of whatever is in it, for tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import bpy

from steer_addon.core.crowd.births import BirthsSettings
from steer_addon.core.crowd.ways_settings import WaysSettings
from tests.blender import live_scenes as scenes
from tests.blender import source_makers as makers

BEHAVIORS = ("seek", "follow_path", "flow_field", "containment", "interpose")
COLLECTIONS = ("Paths", "Fields", "Rooms", "Colliders", "Exits", "Sources", "Areas", "Set")


def make_full_scene():
    """A crowd with inputs of every kind: most in collections, some below a parent, one keyed."""
    stack = scenes.seekers(*({"type": name} for name in BEHAVIORS))
    births = BirthsSettings(emission="PER_SECOND", rate=5.0, capacity=20)
    ways = WaysSettings(ways="AROUND")
    crowd = scenes.make_crowd(settings=replace(stack, births=births, ways=ways))
    scenes.make_target(crowd, (0, 9, 0))
    _add_sources(crowd.steer.behaviors)
    crowd.steer.ground = scenes.make_ground(half=8.0)
    scenes.add_attribute(crowd.steer.ground, "cost", "FLOAT", [1.0, 2.0, 3.0, 1.0])
    _add_colliders(crowd)
    _add_areas(crowd)
    crowd.steer.births_kind = "COLLECTION"
    door = scenes.make_ground("Door", half=1.0)
    crowd.steer.births_collection = makers.make_collection(
        door, makers.make_shape("PLAIN_AXES", name="Gate"), name="Sources"
    )
    parent = makers.make_shape("PLAIN_AXES", name="Parent")
    for name in ("Tower", "Lawn", "Door", "Flow"):
        bpy.data.objects[name].parent = parent
    bpy.context.view_layer.objects.active = crowd
    scenes.update()
    return crowd


def _add_sources(behaviors):
    """Paths, fields, rooms and a second target."""
    corner = [(0, 0, 0), (3, 0, 0), (3, 3, 0)]
    bent = makers.make_curve(corner, kind="BEZIER", name="Bent", bevel_depth=0.2)
    paths = makers.make_collection(makers.make_curve(corner, name="Way"), bent, name="Paths")
    square = [(0, 0, 0), (4, 0, 0), (4, 4, 0), (0, 4, 0)]
    flow = makers.make_wire(square, [], [(0, 1, 2, 3)], name="Flow")
    makers.add_vectors(flow, [(1, 0, 0)] * 4)
    fields = makers.make_collection(flow, makers.make_curve(corner, name="Guide"), name="Fields")
    room, cube = scenes.make_box("Room", half=9.0), makers.make_shape("CUBE", 6.0, name="Cube")
    sources = (None, paths, fields, makers.make_collection(room, cube, name="Rooms"), None)
    for item, source in zip(behaviors, sources, strict=True):
        if source is not None:
            makers.give(item, source)
    behaviors[-1].second_target_object = makers.make_shape("PLAIN_AXES", name="Second")


def _add_colliders(crowd):
    """Meshes, a text, a sphere, a collection that is instanced, and a box that moves."""
    inner = scenes.make_box("Inner", half=0.3)
    bead = makers.make_shape("SPHERE", 0.2, name="Bead")
    copies = makers.make_copies(inner, bead)
    text = makers.link(bpy.data.objects.new("Text", bpy.data.curves.new("Text", "FONT")))
    text.data.body = "a"
    ball = makers.make_shape("SPHERE", 0.5, location=(4, 4, 0), name="Ball")
    box, tower = scenes.make_box("Box", (5, 0, 0)), scenes.make_box("Tower", (-5, 0, 0))
    train = scenes.make_box("Train", (0, -6, 0))
    scenes.move(train, {1: (0, -6, 0), 20: (3, -6, 0)})
    scenes.make_colliders(crowd, box, tower, ball, copies, text, train)
    hole = scenes.make_box("Hole", (0, 20, 0))
    crowd.steer.exits = makers.make_collection(hole, tower, name="Exits")


def _add_areas(crowd):
    """Areas of several kinds, one of them a collider too, and portals."""
    lawn = scenes.make_box("Lawn", (0, 2, 0))
    pit = makers.make_shape("CUBE", 1.0, location=(3, -3, 0), name="Pit")
    stairs = makers.make_wire([(0, 0, 0), (1, 1, 1)], [(0, 1)], name="Stairs")
    lift = makers.make_curve([(-3, -3, 0), (-2, -2, 0)], name="Lift")
    box = bpy.data.objects["Box"]
    crowd.steer.areas = makers.make_collection(lawn, pit, stairs, lift, box, name="Areas")
    lawn.steer_area.kind, lawn.steer_area.cost = "COST", 3.0
    pit.steer_area.kind, box.steer_area.kind = "FORBIDDEN", "ONE_WAY"
    stairs.steer_area.kind = lift.steer_area.kind = "PORTAL"


class Edits:
    """Edits at random; the same ones for the same seed."""

    def __init__(self, crowd, seed):
        """Take all objects but the crowd's own."""
        self.crowd, self.random = crowd, Random(seed)
        own = {crowd.name, f"{crowd.name} State"}
        self.names = sorted({o.name for o in bpy.data.objects} - own)

    def next(self) -> str:
        """Do one of them.

        Returns:
            What was done.
        """
        while True:
            obj = bpy.data.objects[self.random.choice(self.names)]
            kinds = OWN[obj.type] if self.random.random() < 0.6 else ANY
            edit = self.random.choice(kinds)
            if edit(self, obj) is not False:
                scenes.update()
                return f"{edit.__name__.strip('_')} {obj.name}"

    def number(self):
        """A number to move something by."""
        return self.random.uniform(-1.0, 1.0)

    def object(self, *names):
        """One of some objects."""
        return bpy.data.objects[self.random.choice(names)]


def _move(edits, obj):
    obj.location.x += edits.number()


def _turn(edits, obj):
    obj.rotation_euler.z += edits.number()


def _scale(edits, obj):
    obj.scale.x *= edits.random.choice((-1.0, 1.1, 0.9))


def _weigh(edits, obj):
    name = edits.random.choice(("birth_weight", "target_weight"))
    if name in obj:
        del obj[name]
    else:
        obj[name] = edits.random.uniform(0.1, 1.0)
    obj.update_tag()


def _disable(edits, obj):
    # what is keyed stands still where it was when it was hidden
    if obj.name == "Train":
        return False
    obj.hide_viewport = not obj.hide_viewport
    return True


def _hide(edits, obj):
    if obj.name == "Train" or obj.name not in bpy.context.view_layer.objects:
        return False
    obj.hide_set(not obj.hide_get())
    return True


def _link(edits, obj):
    collection = bpy.data.collections[edits.random.choice(COLLECTIONS)]
    if obj.name == "Copies":
        return False
    if obj.name in collection.objects:
        collection.objects.unlink(obj)
    else:
        collection.objects.link(obj)
    return True


def _set_parent(edits, obj):
    parent = bpy.data.objects["Parent"]
    if obj == parent or obj.name == "Train":
        return False
    obj.parent = None if obj.parent else parent
    return True


def _choose(edits, obj):
    steer = edits.crowd.steer
    if edits.random.random() < 0.5:
        steer.ground = edits.random.choice((edits.object("Ground", "Box"), None))
    else:
        steer.target_kind = edits.random.choice(("OBJECT", "POINTS"))
        steer.target_object = edits.object("Target", "Flow", "Box")
    # as the interface does
    edits.crowd.update_tag()


def _size(edits, obj):
    obj.empty_display_size *= edits.random.choice((1.1, 0.9))


def _draw_as(edits, obj):
    obj.empty_display_type = edits.random.choice(("SPHERE", "CUBE", "PLAIN_AXES"))


def _offset(edits, obj):
    if obj.instance_collection is None:
        return False
    obj.instance_collection.instance_offset.x += edits.number()
    return True


def _mark(edits, obj):
    obj.steer_area.kind = edits.random.choice(("COST", "FORBIDDEN", "ONE_WAY", "PORTAL"))
    obj.steer_area.cost = edits.random.uniform(1.0, 4.0)
    obj.steer_area.direction = edits.random.choice(("POS_X", "NEG_X"))


def _copy_data(edits, obj):
    obj.data = obj.data.copy()


def _move_vertex(edits, obj):
    edits.random.choice(obj.data.vertices).co.z += edits.number()
    obj.data.update()


def _flip(edits, obj):
    obj.data.flip_normals()
    obj.data.update()


def _remove_face(edits, obj):
    mesh = obj.data
    if len(mesh.polygons) < 2:
        return False
    corners = [tuple(vertex.co) for vertex in mesh.vertices]
    faces = [tuple(face.vertices) for face in mesh.polygons]
    mesh.clear_geometry()
    mesh.from_pydata(corners, [], faces[1:])
    mesh.update()
    return True


def _paint(edits, obj):
    mesh = obj.data
    name = edits.random.choice(("cost", "flow", "birth_weight", "target_weight"))
    kind, prop = ("FLOAT_VECTOR", "vector") if name == "flow" else ("FLOAT", "value")
    known = mesh.attributes.get(name)
    if known is not None and edits.random.random() < 0.3:
        mesh.attributes.remove(known)
    else:
        attribute = known or mesh.attributes.new(name, kind, "POINT")
        count = len(attribute.data) * (3 if name == "flow" else 1)
        attribute.data.foreach_set(prop, [edits.random.uniform(0.1, 2.0) for _ in range(count)])
    mesh.update()


def _modify(edits, obj):
    if obj.modifiers:
        obj.modifiers.clear()
    else:
        kind = edits.random.choice(("TRIANGULATE", "SUBSURF", "MIRROR", "SOLIDIFY"))
        obj.modifiers.new(kind, kind)


def _mute(edits, obj):
    for modifier in obj.modifiers:
        modifier.show_viewport = not modifier.show_viewport


def _move_point(edits, obj):
    spline = obj.data.splines[0]
    points = spline.bezier_points if spline.type == "BEZIER" else spline.points
    points[0].co.x += edits.number()


def _close(edits, obj):
    obj.data.splines[0].use_cyclic_u = not obj.data.splines[0].use_cyclic_u


def _bevel(edits, obj):
    obj.data.bevel_depth = edits.random.choice((0.0, 0.1, 0.2))
    obj.data.resolution_u = edits.random.randrange(1, 6)


def _write(edits, obj):
    obj.data.body = edits.random.choice("abcXYZ")


Kinds = tuple[Callable, ...]
ANY: Kinds = (
    _move, _turn, _scale, _weigh, _disable, _hide, _link, _set_parent, _choose,
)  # fmt: skip
OWN: dict[str, Kinds] = {
    "EMPTY": (_size, _draw_as, _offset, _mark),
    "MESH": (
        _move_vertex, _flip, _remove_face, _paint, _modify, _mute, _mark, _copy_data,
    ),
    "CURVE": (_move_point, _close, _bevel, _mark, _copy_data),
    "FONT": (_write, _copy_data),
}  # fmt: skip

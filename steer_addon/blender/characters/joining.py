"""The parts of a body as one mesh: faces, UVs, materials and attributes, vertices in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ..display import images
from ..suspension import suspended
from . import rigs
from .keys import keyed_curves, read
from .sampling import Sampler

_ORDER, _NORMALS = "steer_order", "steer_normals"
_MOST_MAPS = 8
"""Most UV maps of a mesh in Blender."""
_NO_MESHES = {
    "CURVE", "FONT", "GREASEPENCIL", "META", "POINTCLOUD", "SURFACE", "VOLUME",
}  # fmt: skip
"""Types of objects that are seen and have no mesh."""
_NAMED = 4
_NO_FACES = "Left out, as only meshes have poses: {}; Object > Convert > Mesh lets them be parts"
_HAIR = (
    "Hair is left out, as poses have faces only: {}; model a mesh in its place that the rig deforms"
)
_INSTANCES = (
    "Instances are left out: {}; Object > Apply > Make Instances Real, with Parent in Adjust Last "
    "Operation (F9), lets them be parts"
)
_NODES = (
    "Instances that modifiers of {} make are left out: a Realize Instances node at their end lets "
    "them be parts"
)
_OFF = (
    "Left out, as they are disabled in viewports: {}; turn on their monitor icon in the Outliner, "
    "and hide them with the eye instead"
)
_ATTRIBUTES = (
    "Attributes are left out, as another part has a UV map of their name, or one that materials "
    "can read: {}; rename them, and where materials read them"
)
_KEYED = (
    "Keys turn {} on and off, which poses do not have: they are as in this frame throughout; make "
    "them optional parts, or key their scale"
)
_SLIDING = (
    "Textures of {} follow Generated or Object coordinates, which characters have of their whole "
    "body as it is posed, so they look different and slide: lead a UV map to their Vector"
)
_MISSING = (
    "Images of materials are missing: {}; find them by File > External Data > Find Missing Files"
)
_PATTERNS = {
    "TEX_BRICK", "TEX_CHECKER", "TEX_GABOR", "TEX_GRADIENT", "TEX_MAGIC", "TEX_NOISE",
    "TEX_VORONOI", "TEX_WAVE",
}  # fmt: skip
"""Types of nodes that take Generated coordinates where nothing leads to their *Vector*."""
_CORNERS = "CORNER"
_VALUES = {
    "BOOLEAN": ("value", 1), "INT8": ("value", 1), "INT": ("value", 1), "FLOAT": ("value", 1),
    "FLOAT2": ("vector", 2), "FLOAT_VECTOR": ("vector", 3),
    "BYTE_COLOR": ("color", 4), "FLOAT_COLOR": ("color", 4),
}  # fmt: skip
"""Types of attributes that materials read: the property of their values, and how many these are."""
_WIDE = {1: "FLOAT", 2: "FLOAT_VECTOR", 3: "FLOAT_VECTOR", 4: "FLOAT_COLOR"}
"""Types that hold all values of others, by how many these have at most."""
_PARTICLES = {"PATH": _HAIR, "OBJECT": _INSTANCES, "COLLECTION": _INSTANCES}
"""What is said of particles, by what they are rendered as."""


def join_parts(sampler: Sampler, name: str) -> tuple[bpy.types.Mesh, NDArray[np.intp]]:
    """Join all parts of a body as they are evaluated now.

    Args:
        sampler: The parts.
        name: Name of the mesh.

    Returns:
        The mesh, and the number that each of its vertices has in samples, shape (vertex_count,).
    """
    depsgraph = sampler.depsgraph
    made: list[bpy.types.Object] = []
    after = 0
    with suspended():
        try:
            for twin in sampler.twins:
                evaluated = twin.evaluated_get(depsgraph)
                mesh = bpy.data.meshes.new_from_object(
                    evaluated, preserve_all_data_layers=True, depsgraph=depsgraph
                )
                obj = bpy.data.objects.new(name, mesh)
                made.append(obj)
                sampler.scene.collection.objects.link(obj)
                _prepare(mesh, evaluated, after)
                after += len(mesh.vertices)
            meshes = [obj.data for obj in made]
            _share_attributes(meshes)
            shared, painted = _share_maps(meshes), _share_colors(meshes)
            result = _joined(sampler, made)
            result.name = name
            if shared:
                result.uv_layers[shared].active_render = True
            if painted:
                result.attributes.default_color_name = painted
        finally:
            for obj in made:
                _remove(obj)
    return result, _take_order(result)


def _prepare(mesh: bpy.types.Mesh, evaluated: bpy.types.Object, after: int) -> None:
    """Number the vertices, and let materials of the object be those of the mesh."""
    old = mesh.attributes.get(_ORDER)
    if old is not None:
        mesh.attributes.remove(old)
    numbers = np.arange(after, after + len(mesh.vertices), dtype=np.int32)
    mesh.attributes.new(_ORDER, "INT", "POINT").data.foreach_set("value", numbers)
    for number, slot in enumerate(evaluated.material_slots):
        if slot.link == "OBJECT" and number < len(mesh.materials):
            mesh.materials[number] = slot.material and slot.material.original
    if evaluated.matrix_world.determinant() < 0.0:
        _turn_over(mesh)


def _turn_over(mesh: Any) -> None:
    """Turn over the faces of a mesh that its pose mirrors, and normals that were set with them.

    These are kept by the edges beside their corners, which change places.
    """
    if not mesh.has_custom_normals:
        mesh.flip_normals()
        return
    normals = read(mesh.corner_normals, "vector", 3) * np.tile([-1.0, 1.0, 1.0], len(mesh.loops))
    mesh.transform(Matrix.Scale(-1.0, 4, (1.0, 0.0, 0.0)))
    kept = mesh.attributes.new(_NORMALS, "FLOAT_VECTOR", "CORNER")
    kept.data.foreach_set("vector", normals.astype(np.float32))
    # corners change places, and what they have with them
    mesh.flip_normals()
    kept = mesh.attributes[_NORMALS]
    normals = read(kept.data, "vector", 3).reshape(-1, 3)
    mesh.attributes.remove(kept)
    mesh.normals_split_custom_set(normals.tolist())


def _mixed(meshes: list[Any]) -> dict[str, tuple[set[tuple[str, str]], set[tuple[str, str]]]]:
    """Attributes that differ in domain or type from mesh to mesh: their names and kinds.

    Returns:
        The kinds of each that are joined, and those that are left out: UV maps come before others,
        and what materials read before what they do not.
    """
    kinds: dict[str, set[tuple[str, str]]] = {}
    maps = {layer.name for mesh in meshes for layer in mesh.uv_layers}
    for mesh in meshes:
        for one in mesh.attributes:
            # normals have two kinds, of which Blender makes one
            if not one.is_internal and one.name != "custom_normal":
                kinds.setdefault(one.name, set()).add((one.domain, one.data_type))
    found = {}
    for name, all_kinds in kinds.items():
        if len(all_kinds) > 1:
            read_too = {k for k in all_kinds if k[0] != "EDGE" and k[1] in _VALUES}
            uvs = {(_CORNERS, "FLOAT2")} if name in maps else set()
            kept = uvs or read_too or {min(all_kinds)}
            found[name] = kept, all_kinds - kept
    return found


def _share_attributes(meshes: list[Any]) -> None:
    """Let attributes of one name be of one kind that holds the values of all.

    Blender 4.5 joins only those; later ones spread the values of faces to the points between them.
    """
    for name, (kept, dropped) in _mixed(meshes).items():
        kind = _WIDE[max(_VALUES.get(kind, ("", 1))[1] for _, kind in kept)]
        key, size = _VALUES[kind]
        for mesh in meshes:
            old = mesh.attributes.get(name)
            if old is None:
                continue
            if (old.domain, old.data_type) in dropped:
                mesh.attributes.remove(old)
            elif len(kept) > 1:
                values = _at_corners(mesh, old, size)
                mesh.attributes.remove(old)
                made = mesh.attributes.new(name, kind, _CORNERS)
                made.data.foreach_set(key, values.ravel())


def _at_corners(mesh: Any, attribute: Any, size: int) -> NDArray[np.float32]:
    """Values of an attribute at all corners of faces, as materials read `size` numbers of it."""
    key, count = _VALUES[attribute.data_type]
    own: NDArray[np.float32] = read(attribute.data, key, count).reshape(-1, count)
    if attribute.domain == "POINT":
        own = own[read(mesh.loops, "vertex_index", 1, np.int32)]
    elif attribute.domain == "FACE":
        own = np.repeat(own, read(mesh.polygons, "loop_total", 1, np.int32), axis=0)
    if count == size:
        return own
    wide = np.zeros((len(own), size), np.float32)
    # a number is a gray, and opaque
    wide[:, 3:] = 1.0
    wide[:, : 3 if count == 1 else count] = own
    return wide


def _share_maps(meshes: list[Any]) -> str:
    """Give all meshes their UVs in a map of one name too: maps are joined by their names.

    Materials without a *UV Map* node read the one that is rendered; those with one find its name.

    Returns:
        The name; empty without any map.
    """
    first = next((mesh for mesh in meshes if mesh.uv_layers), None)
    if first is None:
        return ""
    name = _rendered(first).name
    for mesh in meshes:
        if mesh.uv_layers and name not in mesh.uv_layers and len(mesh.uv_layers) < _MOST_MAPS:
            points = np.empty(2 * len(mesh.loops), np.float32)
            _rendered(mesh).uv.foreach_get("vector", points)
            mesh.uv_layers.new(name=name).uv.foreach_set("vector", points)
    return str(name)


def _share_colors(meshes: list[Any]) -> str:
    """The same for colors, which materials read that name none.

    Returns:
        The name; empty without any colors.
    """
    name = ""
    for mesh in meshes:
        colors = mesh.color_attributes.get(mesh.attributes.default_color_name)
        if colors is None:
            continue
        name = name or str(colors.name)
        if name in mesh.attributes and name != colors.name:
            continue
        values = read(colors.data, "color", 4).reshape(-1, 4)
        if colors.domain == "POINT":
            values = values[read(mesh.loops, "vertex_index", 1, np.int32)]
        if name == colors.name:
            # Blender 4.5 joins colors of one name only where they are of one kind
            mesh.color_attributes.remove(colors)
        shared = mesh.color_attributes.new(name, "FLOAT_COLOR", "CORNER")
        shared.data.foreach_set("color", values.ravel())
    return name


def _rendered(mesh: Any) -> Any:
    return next(layer for layer in mesh.uv_layers if layer.active_render)


def _joined(sampler: Sampler, made: list[bpy.types.Object]) -> bpy.types.Mesh:
    first: Any = made[0]
    others = [obj.data for obj in made[1:]]
    if len(made) > 1:
        with bpy.context.temp_override(
            scene=sampler.scene,
            view_layer=sampler.scene.view_layers[0],
            active_object=first,
            object=first,
            selected_editable_objects=made,
        ):
            bpy.ops.object.join()
        for other in others:
            if other.users == 0:
                bpy.data.meshes.remove(other)
    mesh: bpy.types.Mesh = first.data
    # each pose would get the weights of all bones as an attribute of their own
    first.vertex_groups.clear()
    bpy.data.objects.remove(first)
    made.clear()
    return mesh


def _remove(obj: bpy.types.Object) -> None:
    mesh: Any = obj.data
    bpy.data.objects.remove(obj)
    if mesh.users == 0:
        bpy.data.meshes.remove(mesh)


def _take_order(mesh: bpy.types.Mesh) -> NDArray[np.intp]:
    attribute = mesh.attributes[_ORDER]
    order = np.empty(len(mesh.vertices), np.int32)
    attribute.data.foreach_get("value", order)
    mesh.attributes.remove(attribute)
    return order.astype(np.intp)


def left_out(sampler: Sampler, rig: bpy.types.Object) -> tuple[str, ...]:
    """Sentences that name what poses do not have, each kind with what helps."""
    instanced = {
        instance.parent.original
        for instance in sampler.depsgraph.object_instances
        if instance.is_instance and instance.parent is not None and not instance.particle_system
    }
    pairs = zip(sampler.twins, sampler.names, strict=True)
    nodes = [name for twin, name in pairs if twin in instanced and twin.instance_type == "NONE"]
    found = {_NO_FACES: [], _HAIR: [], _INSTANCES: [], _NODES: list(map(repr, nodes))}
    found |= {_ATTRIBUTES: list(_unread(sampler)), _OFF: [], _KEYED: []}
    for obj in rigs.followers(rig):
        if obj.type == "MESH" and _is_turned_off(obj):
            found[_OFF].append(repr(obj.name))
        elif obj.type == "MESH" and _is_keyed(obj):
            found[_KEYED].append(repr(obj.name))
        taken = obj.type != "MESH" or obj.name in sampler.names
        if taken and not obj.hide_render and not obj.hide_viewport:
            for sentence, name in _beside(obj):
                found[sentence].append(name)
    return tuple(text.format(listed(names)) for text, names in found.items() if names)


def _unread(sampler: Sampler) -> Iterator[str]:
    """Attributes of parts that are left out, see `_mixed`."""
    meshes: list[Any] = [twin.evaluated_get(sampler.depsgraph).data for twin in sampler.twins]
    for name, (_, dropped) in _mixed(meshes).items():
        for part, mesh in zip(sampler.names, meshes, strict=True):
            one = mesh.attributes.get(name)
            if one is not None and (one.domain, one.data_type) in dropped:
                yield f"{name!r} of {part!r}"


def _is_turned_off(obj: bpy.types.Object) -> bool:
    return bool(obj.hide_viewport) and not obj.hide_render


def _is_keyed(obj: bpy.types.Object) -> bool:
    """Whether keys say when an object is seen."""
    data = obj.animation_data
    found = [] if data is None else keyed_curves(data)
    return any(curve.data_path in ("hide_render", "hide_viewport") for curve in found)


def sliding(mesh: bpy.types.Mesh) -> Iterator[str]:
    """The sentence that names the materials of a character whose textures look different on it."""
    names = [repr(one.name) for one in mesh.materials if one and _slides(one.node_tree, set())]
    if names:
        yield _SLIDING.format(listed(names))


def missing(mesh: bpy.types.Mesh) -> Iterator[str]:
    """The sentence that names the images of a character whose files are not found."""
    pairs = [(image.name, images.why_missing(image)) for image in images.shown_by(mesh.materials)]
    if names := [f"{name!r}, as {why}" for name, why in pairs if why]:
        yield _MISSING.format(listed(names))


def _slides(tree: Any, known: set[Any]) -> bool:
    """Whether nodes of a material, or of groups in it, read coordinates other than UVs."""
    if tree is None or tree in known:
        return False
    known.add(tree)
    for node in tree.nodes:
        if node.type == "GROUP" and _slides(node.node_tree, known):
            return True
        read_out = {output.name for output in node.outputs if output.is_linked}
        if node.type == "TEX_COORD" and node.object is None and read_out & {"Generated", "Object"}:
            return True
        vector = node.inputs.get("Vector") if node.type in _PATTERNS and read_out else None
        if vector is not None and vector.enabled and not vector.is_linked:
            return True
    return False


def _beside(obj: bpy.types.Object) -> Iterator[tuple[str, str]]:
    """What an object shows and poses cannot hold: the sentence on its kind, and its name."""
    # a curve without width is a path
    thin = obj.type == "CURVE" and not (obj.data.bevel_depth or obj.data.extrude)
    if obj.type in _NO_MESHES and not thin:
        yield _NO_FACES, repr(obj.name)
    elif obj.type == "CURVES":
        yield _HAIR, repr(obj.name)
    if obj.instance_type == "COLLECTION" or obj.instance_type != "NONE" and obj.children:
        yield _INSTANCES, repr(obj.name)
    for modifier in obj.modifiers:
        if isinstance(modifier, bpy.types.ParticleSystemModifier) and modifier.show_render:
            system = modifier.particle_system
            sentence = _PARTICLES.get(system.settings.render_type)
            if sentence and (sentence != _HAIR or system.settings.type == "HAIR"):
                yield sentence, f"{system.name!r} of {obj.name!r}"


def listed(names: Sequence[str]) -> str:
    """Names as a text; of many only the first ones."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"

"""What a character was made of: its recipe, and a digest by which later changes are noticed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Set
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ...core.characters.recipe import Recipe, from_text
from ...core.errors import CharacterError
from . import copies, library, origins, rigs
from .keys import curves, keyed_paths, moved_paths, read, rest_of

_VERSION = 4
"""Raise it where a digest is made of other things."""
KEY = "steer_character_source"
"""Custom property of library objects that were made of a rig in the same file."""
_MOST_WEIGHED = 100_000
"""Vertices of a mesh up to which its weights are read: they are read one by one."""
_UNSEEN = (
    "show_expanded", "show_in_editmode", "show_on_cage", "is_active", "use_pin_to_last", "active",
    "enabled",
)  # fmt: skip
_KEYS = ("co", "handle_left", "handle_right")
_SHADING = ("sharp_edge", 1, np.bool_), ("custom_normal", 2, np.int32)
"""Attributes of meshes that are seen by shading alone, their width and type."""
_PLAIN = ("BOOLEAN", "INT", "FLOAT", "ENUM", "STRING")


@dataclass(frozen=True)
class Source:
    """What a character was made of.

    Attributes:
        rig: Name of the rig.
        recipe: The recipe, as text.
        version: What the digest was made by; another one says nothing.
        digest: Digest of rig, meshes and actions.
    """

    rig: str
    recipe: str
    version: int
    digest: str


def keep(obj: bpy.types.Object, rig: bpy.types.Object, recipe: Recipe) -> None:
    """Keep on a library object what it was made of."""
    values = {
        "rig": rig.name,
        "recipe": recipe.to_text(),
        "version": _VERSION,
        "digest": digest(rig, recipe),
    }
    obj[KEY] = json.dumps(values)
    library.remember(obj, rig)


def source_of(obj: bpy.types.Object) -> Source | None:
    """What a character was made of; None where nothing, or nothing readable, says so."""
    try:
        data = json.loads(obj[KEY])
        version = int(data.get("version", 1))
        return Source(str(data["rig"]), str(data["recipe"]), version, str(data["digest"]))
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return None


def names_of(obj: bpy.types.Object) -> tuple[list[str], list[str]]:
    """Names of the objects and of the actions that a character was made of; the rig comes first.

    Nothing readable gives none.
    """
    source = source_of(obj)
    try:
        recipe = from_text("" if source is None else source.recipe)
    except CharacterError:
        return [], []
    actions = [recipe.stand, recipe.walk, recipe.run, *(action for _name, action in recipe.clips)]
    assert source is not None  # nothing is no recipe
    return [source.rig, *recipe.parts], list(dict.fromkeys(filter(None, actions)))


def moved(
    obj: bpy.types.Object,
    objects: dict[str, bpy.types.Object],
    actions: dict[str, bpy.types.Action],
) -> None:
    """Keep the names that all that a character was made of got in another file.

    Args:
        obj: The character.
        objects: Its rig and parts there, by their names before.
        actions: Its actions.
    """
    source = source_of(obj)
    assert source is not None  # whose names were taken before
    recipe = from_text(source.recipe)
    names = {name: found.name for name, found in objects.items()}
    acts = {"": "", **{name: found.name for name, found in actions.items()}}
    origins.rename(obj, names, acts)
    clips = tuple((name, acts[action]) for name, action in recipe.clips)
    keep(
        obj,
        objects[source.rig],
        replace(
            recipe,
            stand=acts[recipe.stand],
            walk=acts[recipe.walk],
            run=acts[recipe.run],
            clips=clips,
            # those that were left out have not come along
            without=(),
            parts=tuple(names[part] for part in recipe.parts),
            optional=tuple((names[part], chance) for part, chance in recipe.optional),
        ),
    )


def _rig_of(obj: bpy.types.Object, source: Source) -> bpy.types.Object | None:
    """The rig of a character; a new name that it got in this session is kept."""
    rig = library.rig_of(obj, source.rig)
    if rig is not None and rig.name != source.rig and obj.library is None:
        obj[KEY] = json.dumps({**json.loads(obj[KEY]), "rig": rig.name})
        origins.rename(obj, {source.rig: rig.name}, {})
    return rig


def is_made_of(obj: bpy.types.Object, rig: bpy.types.Object) -> bool:
    """Whether an object is a character that was made of a rig."""
    source = source_of(obj) if KEY in obj else None
    return source is not None and library.rig_of(obj, source.rig) == rig


def rigs_of_file() -> list[bpy.types.Object]:
    """All rigs in this file that characters were made of."""
    found = (source_of(obj) for obj in bpy.data.objects if KEY in obj)
    names = {source.rig for source in found if source is not None}
    return [bpy.data.objects[name] for name in sorted(names) if name in bpy.data.objects]


def require_source(obj: bpy.types.Object) -> tuple[bpy.types.Object, Recipe]:
    """The rig that a character was made of, and its recipe.

    Raises:
        CharacterError: The rig is gone, nothing is known of it, or the character is linked.
    """
    library.check_local(obj)
    source = source_of(obj)
    if source is None:
        raise CharacterError(
            f"Character {obj.name!r} does not say what it was made of: select its rig and use "
            "Object > Crowd > Make Character"
        )
    rig = _rig_of(obj, source)
    if rig is None:
        raise CharacterError(
            f"Character {obj.name!r} was made of {source.rig!r}, which is not in this file: give "
            "its rig that name again, or use Object > Crowd > Make Character on another one"
        )
    return rig, from_text(source.recipe)


def is_changed(obj: bpy.types.Object) -> bool:
    """Whether what a character was made of has changed; takes as long as reading all of it.

    It is False where the rig is not in this file, or comes from another file.
    """
    source = source_of(obj)
    if source is None or obj.library is not None or obj.override_library is not None:
        return False
    rig = _rig_of(obj, source)
    if rig is None or rig.mode != "OBJECT" or source.version != _VERSION:
        return False
    try:
        return digest(rig, from_text(source.recipe)) != source.digest
    except CharacterError:
        return False


def digest(rig: bpy.types.Object, recipe: Recipe) -> str:
    """Digest of a rig, of the meshes that it moves, and of the actions of a recipe."""
    hashed = hashlib.blake2b(digest_size=16)

    def add(*values: object) -> None:
        for value in values:
            hashed.update(
                value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode()
            )

    scale = [round(float(value), 4) for value in copies.world_of(rig).to_scale()]
    keyed = keyed_paths()
    rate = [scene.render.fps / scene.render.fps_base for scene in rig.users_scene[:1]]
    add(scale, rate, getattr(rig.data, "pose_position", ""), *_bones(rig, keyed))
    try:
        parts = rigs.parts_of(rig, recipe.without, recipe.parts)
    except CharacterError:
        parts = []
    for part in parts:
        add(part.name, part.parent_bone, [slot.name for slot in part.material_slots], *_place(part))
        moved = moved_paths(part, keyed)
        add(*(_settings(modifier, rig, moved) for modifier in part.modifiers), *_mesh(part))
    add(*_switches(rig, parts, keyed))
    names = {recipe.stand, recipe.walk, recipe.run, *(action for _, action in recipe.clips)}
    actions = [rigs.action_named(rig, name) for name in sorted(names - {""})]
    if rig.type != "ARMATURE":
        below = [rig, *rig.children_recursive]
        actions += [obj.animation_data.action for obj in below if obj.animation_data is not None]
    for action in actions:
        add("" if action is None else action.name, *(() if action is None else _keys(action)))
    return hashed.hexdigest()


def _place(part: bpy.types.Object) -> list[object]:
    """Where a part is put by hand; what moves it counts by itself."""
    data = part.animation_data
    if part.constraints or data is not None and (data.action or data.drivers or data.nla_tracks):
        return []
    matrices = (part.matrix_basis, part.matrix_parent_inverse)
    return [round(value, 4) + 0.0 for matrix in matrices for row in matrix for value in row]


def _even(values: Any) -> Any:
    """Numbers that Blender works out itself, without the digits that its versions differ in."""
    return np.round(values, 4) + np.float32(0.0)


def _bones(rig: bpy.types.Object, keyed: set[str]) -> list[object]:
    if rig.pose is None:
        return []
    bones = rig.data.bones
    rest = np.empty(16 * len(bones), np.float32)
    bones.foreach_get("matrix_local", rest)
    lengths = np.empty(len(bones), np.float32)
    bones.foreach_get("length", lengths)
    found: list[object] = [_even(rest), _even(lengths)]
    moved = moved_paths(rig, keyed)
    for bone, posed, still in zip(bones, rig.pose.bones, rest_of(rig), strict=True):
        found += [bone.name, bone.parent and bone.parent.name, bone.use_deform]
        found += (_settings(constraint, rig, moved) for constraint in posed.constraints)
        if still != Matrix():
            found.append(_even(still))
    return found


def _switches(
    rig: bpy.types.Object, parts: list[bpy.types.Object], keyed: set[str]
) -> list[object]:
    """Custom properties that drivers read and no action keys, as switches between IK and FK."""
    found: dict[tuple[bool, str], object] = {}
    for target in (target for obj in (rig, *parts) for target in copies.driver_targets(obj)):
        owner, path = target.id, target.data_path
        if owner in (rig, rig.data) and path.endswith('"]') and path not in keyed:
            try:
                value: Any = owner.path_resolve(path)
            except ValueError:
                continue
            found[owner == rig, path] = round(value, 4) if isinstance(value, float) else str(value)
    return [item for key in sorted(found) for item in (key, found[key])]


def _settings(
    item: Any, rig: bpy.types.Object | None = None, moved: Set[str] = frozenset()
) -> list[object]:
    """Settings of a modifier or constraint that were changed, and the names of what it points to.

    What is as it is by default counts for nothing: each Blender has further ones; nor does what
    actions or drivers move, which is another at each frame.
    """
    found: list[object] = [item.type]
    path = item.path_from_id() if moved else ""
    for info in sorted(item.bl_rna.properties, key=lambda info: str(info.identifier)):
        name = info.identifier
        if f"{path}.{name}" in moved:
            continue
        if info.type in _PLAIN and not info.is_readonly and name not in _UNSEEN:
            value, usual = getattr(item, name), getattr(info, "default", None)
            if getattr(info, "is_array", False):
                value, usual = list(value), list(info.default_array)
            if value != usual:
                found += [name, value]
        elif info.type == "POINTER" and isinstance(getattr(item, name), bpy.types.ID):
            # the name of the rig itself may change
            other = getattr(item, name)
            found += [name, "" if other == rig else other.name]
    return found


def _mesh(part: bpy.types.Object) -> list[object]:
    mesh: Any = part.data
    found: list[object] = [
        read(mesh.vertices, "co", 3),
        read(mesh.loops, "vertex_index", 1, np.int32),
        read(mesh.polygons, "material_index", 1, np.int32),
        read(mesh.polygons, "use_smooth", 1, np.bool_),
        [group.name for group in part.vertex_groups],
    ]
    found += [read(layer.uv, "vector", 2) for layer in mesh.uv_layers]
    for colors in mesh.color_attributes:
        found += [colors.name, _even(read(colors.data, "color", 4))]
    for name, width, dtype in _SHADING:
        shading = mesh.attributes.get(name)
        if shading is not None and shading.data_type in ("BOOLEAN", "INT16_2D"):
            found.append(read(shading.data, "value", width, dtype))
    keys = mesh.shape_keys
    if keys is not None:
        found += [read(block.data, "co", 3) for block in keys.key_blocks]
        if keys.animation_data is None:
            # otherwise it may be keys or drivers that move them
            found += [round(block.value, 4) for block in keys.key_blocks]
    if part.vertex_groups and len(mesh.vertices) <= _MOST_WEIGHED:
        weights = [(e.group, e.weight) for v in mesh.vertices for e in v.groups]
        found.append(np.array(weights, np.float32))
    return found


def _keys(action: bpy.types.Action) -> list[object]:
    found: list[object] = []
    for curve in curves(action):
        found += [curve.data_path, curve.array_index, curve.mute, curve.extrapolation]
        found += [_even(read(curve.keyframe_points, name, 2)) for name in _KEYS]
        for modifier in curve.modifiers:
            found += _settings(modifier)
        found.append(read(curve.keyframe_points, "interpolation", 1, np.int32))
    return found

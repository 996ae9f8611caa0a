"""One Blender object per agent: an empty, a linked copy of an object, or a collection instance.

A copy of an object has these parts of its source:

- its data (mesh, armature, …) is shared, materials and modifiers come along;
- the hierarchy below it is copied too, with shared data, the same parents, and its actions
  shared; modifiers, constraints and drivers that point into the hierarchy (a mesh deformed by
  its rig) point to the copies; pointers to other objects stay;
- its own parent, constraints and location are dropped: the keys replace them. Its rotation and
  scale are kept: the rotation of an agent is added to them, as in the Crowd modifier;
- an object with animation of its own (a rig with a walk cycle) keeps it: its copy hangs below an
  empty, and that empty carries the keys;
- when the source is hidden, as templates are, the copies are shown.

A character, or a collection of characters, gives each agent an object with the body of its own
character, which stands still.
"""

from __future__ import annotations

from dataclasses import dataclass

import bpy
from mathutils import Matrix, Quaternion, Vector

from ...core.errors import SceneError
from ..characters import library
from ..characters.copies import point_to
from ..display.look import PLAIN, Look

Source = bpy.types.Object | bpy.types.Collection | None


@dataclass(frozen=True)
class Template:
    """Settings from which the object of each agent is made."""

    source: Source
    below: tuple[bpy.types.Object, ...]
    """Objects below a source object, at any depth."""
    holder: bool
    """Whether an empty above the copy carries the keys."""
    rotation: Quaternion
    """Rotation of the source object in the world, or of a character to the forward axis; rotations
    of agents are applied after it."""
    scale: Vector
    """Scale of the source object in the world."""
    characters: tuple[bpy.types.Object, ...] = ()
    """Characters among which agents have theirs."""

    @property
    def has_bodies(self) -> bool:
        """Whether agents get bodies, not empties."""
        return self.source is not None or bool(self.characters)

    @property
    def keyed_rotation(self) -> tuple[float, float, float, float]:
        """Quaternion (w, x, y, z) of the keyed object, applied before that of its agent."""
        if self.holder:
            return 1.0, 0.0, 0.0, 0.0
        w, x, y, z = self.rotation
        return w, x, y, z

    @property
    def keyed_scale(self) -> Vector:
        """Scale of the keyed object of an agent of size 1."""
        copied = isinstance(self.source, bpy.types.Object) and not self.holder
        return self.scale if copied else Vector((1.0, 1.0, 1.0))

    @property
    def objects_per_agent(self) -> int:
        """Number of objects per agent."""
        return 1 + self.holder + len(self.below)


def objects_in(source: Source) -> list[bpy.types.Object]:
    """All objects of which an agent may get a copy."""
    if isinstance(source, bpy.types.Collection):
        return list(source.all_objects)
    return [] if source is None else [source, *source.children_recursive]


def make_template(source: Source, parent: bpy.types.Collection, look: Look = PLAIN) -> Template:
    """Read the source once for all agents: an object, a collection, or None for empties.

    The bake goes into a collection below `parent`. Of the look only that of characters counts,
    which face -Y whatever is the forward axis of the crowd.

    Raises:
        SceneError: The source is of another type, or would contain its own instances.
    """
    if source is None:
        return Template(None, (), False, Quaternion(), Vector((1.0, 1.0, 1.0)))
    characters = library.among(source)
    if characters:
        ahead = Quaternion((0.0, 0.0, 1.0), look.angle)
        return Template(None, (), False, ahead, Vector((1.0, 1.0, 1.0)), characters)
    if isinstance(source, bpy.types.Collection):
        if source.is_embedded_data:
            raise SceneError(
                f"the whole scene {source.id_data.name!r} cannot be instanced per agent: "
                "choose one of its collections"
            )
        if source == parent or parent in source.children_recursive:
            raise SceneError(
                f"collection {source.name!r} would contain instances of itself, because the bake "
                f"goes into {parent.name!r}: choose a collection outside of it"
            )
        return Template(source, (), False, Quaternion(), Vector((1.0, 1.0, 1.0)))
    if not isinstance(source, bpy.types.Object):
        raise SceneError(
            f"{source!r} cannot be copied per agent: choose an object, a collection or nothing"
        )
    # the world matrix is only up to date after an evaluation: use it only where it is needed
    moved = source.parent is not None or len(source.constraints) > 0
    _, rotation, scale = (source.matrix_world if moved else source.matrix_basis).decompose()
    below = tuple(source.children_recursive)
    return Template(source, below, _is_animated(source), rotation, scale)


def _is_animated(item: bpy.types.Object) -> bool:
    data = item.animation_data
    return data is not None and bool(data.action or data.nla_tracks or data.drivers)


def make_objects(
    template: Template,
    name: str,
    radius: float,
    collection: bpy.types.Collection,
    made: list[bpy.types.Object],
    character: int = 0,
) -> bpy.types.Object:
    """Make the objects of one agent, of size 1, and return the one that takes the keys.

    Args:
        template: The template of the objects.
        name: Name of the object that takes the keys.
        radius: Body radius, the size of an empty [m].
        collection: Collection of the new objects.
        made: List to which every new object is added immediately.
        character: Number of the agent's character, where the template has any.
    """
    source = template.source
    if template.characters:
        body = template.characters[character % len(template.characters)]
        carrier = bpy.data.objects.new(name, body.data)
        made.append(carrier)
        collection.objects.link(carrier)
    elif isinstance(source, bpy.types.Object) and not template.holder:
        carrier = _copy_hierarchy(template, collection, made)
        carrier.name = name
        carrier.animation_data_clear()
    else:
        carrier = bpy.data.objects.new(name, None)
        made.append(carrier)
        collection.objects.link(carrier)
        carrier.empty_display_type = "ARROWS"
        carrier.empty_display_size = max(radius, 0.001)
    if isinstance(source, bpy.types.Collection):
        carrier.instance_type = "COLLECTION"
        carrier.instance_collection = source
    elif template.holder:
        root = _copy_hierarchy(template, collection, made)
        root.parent = carrier
        root.parent_type = "OBJECT"
        root.matrix_parent_inverse.identity()
    carrier.rotation_mode = "QUATERNION"
    return carrier


def _copy_hierarchy(
    template: Template, collection: bpy.types.Collection, made: list[bpy.types.Object]
) -> bpy.types.Object:
    source = template.source
    assert isinstance(source, bpy.types.Object)  # only copies of objects have a holder
    show = source.hide_render or source.hide_viewport
    copies: dict[bpy.types.Object, bpy.types.Object] = {}
    for original in (source, *template.below):
        copy = original.copy()
        made.append(copy)
        copies[original] = copy
        collection.objects.link(copy)
        if show:
            copy.hide_viewport = copy.hide_render = False
    root = copies[source]
    _place(root, template)
    if template.below:
        for copy in copies.values():
            point_to(copy, copies)
    return root


def _place(item: bpy.types.Object, template: Template) -> None:
    """Remove from a copy all that moved the original; keep its rotation and scale."""
    item.parent = None
    item.constraints.clear()
    item.delta_location = (0.0, 0.0, 0.0)
    item.delta_rotation_euler = (0.0, 0.0, 0.0)
    item.delta_rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    item.delta_scale = (1.0, 1.0, 1.0)
    item.matrix_basis = Matrix.LocRotScale(None, template.rotation, template.scale)

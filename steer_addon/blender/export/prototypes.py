"""Prototypes: meshes of the objects that agents are shown as, read from the Crowd modifier.

A scratch crowd with the same inputs shows one agent at the origin, upright, of radius 1, and the
modifier's result is joined to one mesh. Which object of a collection an agent takes is read from
the instances that the modifier makes: of all agents where they draw by their ids, and otherwise of
one for each object, as agents may change theirs with an attribute, and others may be born.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from pathlib import Path

import bmesh
import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.files.whole import why_not_whole
from ...core.results.frames import Frame
from ..crowd.state import write_state
from ..display import display
from ..display.look import Look, look_of
from ..display.node_builder import modifier_group
from ..writing.files import Header
from .staging import Staging, staging
from .textures import Texture, collect

_SHARED_INPUTS = ("Display", "Object", "Collection", "Material", "Seed", "Forward Axis")
_OWN_ATTRIBUTES = ("id", "speed", "radius", "alive")
"""Attributes of the state that are columns of frames, and numbers."""
ROOT = "/root"
"""Path of the prim above all others in the files that Blender exports here."""


@dataclass(frozen=True)
class Choice:
    """How an agent gets its object of a collection.

    Attributes:
        attribute: Attribute that holds the number of the object.
        count: How many objects there are to choose from; 0 where agents draw by their ids.
    """

    attribute: str
    count: int

    def numbers(self, frame: Frame) -> NDArray[np.int64]:
        """The numbers that agents choose by at a frame, shape (agent_count,): ids or objects."""
        if not self.count:
            return frame.id
        if self.attribute in _OWN_ATTRIBUTES:
            values = getattr(frame, self.attribute)
        else:
            values = frame.attributes.get(self.attribute, np.zeros(len(frame.id)))
        # the state holds 32 bits of an id, and nodes cut off what is behind the point
        return np.asarray(values).astype(np.int32).astype(np.int64) % self.count


def choice_of(modifier: bpy.types.NodesModifier) -> Choice:
    """How the agents of a crowd get what they are shown as."""
    shown, collection = display.shown_as(modifier)
    if shown != "Collection" or collection is None:
        return Choice("id", 1)
    chosen = display.get_input(modifier, "Choose By")
    if chosen == "Random":
        return Choice("id", 0)
    attribute = "id" if chosen == "Index" else str(display.get_input(modifier, "Attribute"))
    # the nodes count a collection in it as one of its objects
    return Choice(attribute, max(len(collection.objects) + len(collection.children), 1))


@dataclass(frozen=True)
class Prototypes:
    """The objects that the agents of a crowd are shown as.

    Attributes:
        names: Names of the prototypes, in their order in the file.
        file: USD file with one prim for each below the root, or None if no agent shows faces.
        choice: How an agent gets its own.
        among: Number of the prototype by what agents choose by; objects without faces have none.
        some_unseen: Whether agents may choose an object without faces.
        look: Size and rotation of the agents.
        textures: Images of their materials that are no files.
    """

    names: tuple[str, ...]
    file: Path | None
    choice: Choice
    among: dict[int, int]
    some_unseen: bool
    look: Look
    textures: list[Texture]

    def chosen(self, frame: Frame) -> NDArray[np.int32]:
        """Prototype of each agent at a frame, shape (agent_count,): one more than all is none."""
        numbers, none = self.choice.numbers(frame).tolist(), len(self.names)
        return np.array([self.among.get(number, none) for number in numbers], np.int32)


def make_prototypes(
    obj: bpy.types.Object,
    ids: NDArray[np.int64],
    scene: bpy.types.Scene,
    header: Header,
    folder: Path,
) -> Prototypes:
    """Write the objects that agents are shown as to a USD file.

    Args:
        obj: The crowd.
        ids: All identities, shape (agent_count,).
        scene: The user's scene, which stays as it is.
        header: Frames of the export; the first one is that of the prototypes.
        folder: Folder of the file.

    Raises:
        OSError: The file cannot be written.
    """
    modifier = display.require_modifier(obj)
    choice, look = choice_of(modifier), look_of(modifier)
    with staging(scene, header) as stage:
        crowd, state = _scratch_crowd(stage, modifier)
        if choice.count:
            display.set_input(display.require_modifier(crowd), "Choose By", "Index")
            ids = np.arange(choice.count)
        made: list[bpy.types.Object] = []
        among: dict[int, int] = {}
        for members in _choices(stage, crowd, state, ids):
            mesh = _joined(stage, crowd, state, int(members[0]))
            if mesh is not None:
                among |= dict.fromkeys(members.tolist(), len(made))
                mesh.name = f"Agent{len(made)} Mesh"
                made.append(bpy.data.objects.new(f"Agent{len(made)}", mesh))
        stage.scene.collection.objects.unlink(crowd)
        for item in made:
            stage.scene.collection.objects.link(item)
        file = folder / "prototypes.usdc" if made else None
        textures = [] if file is None else write_still(stage, file)
        names = tuple(item.name for item in made)
    return Prototypes(names, file, choice, among, len(among) < len(ids), look, textures)


def write_still(stage: Staging, file: Path, **options: bool) -> list[Texture]:
    """Write the objects of a scratch scene to a USD file, below the root, without motion.

    Returns:
        Images of their materials that are no files; temporary files of them are beside the file.

    Raises:
        OSError: The file cannot be written.
    """
    stage.run(
        bpy.ops.wm.usd_export,
        file,
        export_animation=False,
        export_materials=True,
        export_textures_mode="KEEP",
        export_armatures=False,
        relative_paths=False,
        root_prim_path=ROOT,
        author_blender_name=False,
        export_custom_properties=False,
        convert_orientation=False,
        convert_world_material=False,
        check_existing=False,
        **options,
    )
    if lack := why_not_whole(file):
        raise OSError(errno.EIO, lack)
    shown = [obj.data.materials for obj in stage.scene.collection.objects]
    materials = {material for each in shown for material in each if material is not None}
    return collect(file, sorted(materials, key=_by_name), ROOT, file.parent / "images")


def _by_name(material: bpy.types.Material) -> str:
    return str(material.name_full)


def _scratch_crowd(
    stage: Staging, modifier: bpy.types.NodesModifier
) -> tuple[bpy.types.Object, bpy.types.Object]:
    crowd = bpy.data.objects.new("Crowd", bpy.data.meshes.new("Crowd"))
    stage.scene.collection.objects.link(crowd)
    copy = display.add_modifier(crowd)
    for name in _SHARED_INPUTS:
        display.set_input(copy, name, display.get_input(modifier, name))
    display.set_input(copy, "Scale", 1.0)
    state = bpy.data.objects.new("State", bpy.data.meshes.new("State"))
    display.set_input(copy, "State", state)
    return crowd, state


def _show(stage: Staging, state: bpy.types.Object, ids: NDArray[np.int64]) -> None:
    count = len(ids)
    zeros = np.zeros((count, 3), np.float32)
    upright = np.tile(np.array([1.0, 0.0, 0.0, 0.0], np.float32), (count, 1))
    ones = np.ones(count, np.float32)
    write_state(state, Frame(0, ids, zeros, zeros, upright, ones, np.ones(count, np.uint8)))
    stage.scene.view_layers[0].update()


def _choices(
    stage: Staging, crowd: bpy.types.Object, state: bpy.types.Object, ids: NDArray[np.int64]
) -> list[NDArray[np.int64]]:
    """The agents that are shown alike, group by group in the order of names."""
    _show(stage, state, ids)
    low = ids.astype(np.int32)
    shown: dict[int, set[str]] = {}
    for instance in stage.scene.view_layers[0].depsgraph.object_instances:
        if instance.is_instance and instance.parent.original == crowd:
            number = [n for n in instance.persistent_id if n != 2**31 - 1][-1]
            # characters are instances of the crowd itself: their meshes tell them apart
            data = instance.object.data
            names = instance.object.original.name_full, "" if data is None else data.name
            shown.setdefault(number, set()).add("\0".join(names))
    if not shown:
        return [ids] if len(ids) else []
    keys = ["\n".join(sorted(shown.get(int(number), ()))) for number in low]
    return [ids[[key == name for key in keys]] for name in sorted(set(keys))]


def _joined(
    stage: Staging, crowd: bpy.types.Object, state: bpy.types.Object, agent: int
) -> bpy.types.Mesh | None:
    """The display of one agent as one mesh; None when it has no faces."""
    _show(stage, state, np.array([agent], np.int64))
    realize = crowd.modifiers.new("Realize", "NODES")
    realize.node_group = _realizing_group()
    layer = stage.scene.view_layers[0]
    layer.update()
    evaluated = crowd.evaluated_get(layer.depsgraph)
    mesh: bpy.types.Mesh = bpy.data.meshes.new_from_object(evaluated, depsgraph=layer.depsgraph)
    crowd.modifiers.remove(realize)
    _without_loose(mesh)
    return mesh if len(mesh.polygons) else None


def _realizing_group() -> bpy.types.NodeTree:
    group = modifier_group("Steer Realize")
    begin, middle, end = (
        group.nodes.new(kind)
        for kind in ("NodeGroupInput", "GeometryNodeRealizeInstances", "NodeGroupOutput")
    )
    group.links.new(begin.outputs[0], middle.inputs[0])
    group.links.new(middle.outputs[0], end.inputs[0])
    return group


def _without_loose(mesh: bpy.types.Mesh) -> None:
    """Remove the point of the agent itself, all other loose parts, and its attributes."""
    build = bmesh.new()
    build.from_mesh(mesh)
    loose = [vertex for vertex in build.verts if not vertex.link_faces]
    bmesh.ops.delete(build, geom=loose, context="VERTS")
    build.to_mesh(mesh)
    build.free()
    for name in ("velocity", "rotation", "id", "speed", "radius", "alive"):
        if name in mesh.attributes:
            mesh.attributes.remove(mesh.attributes[name])

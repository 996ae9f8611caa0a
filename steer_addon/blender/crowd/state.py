"""The state object: a hidden mesh of loose vertices that holds the agents of one frame.

It is linked to no collection; the Crowd modifier refers to it and shows its points. That
reference alone ties state and crowd together: a state without it goes with the deleted crowd, and
a duplicated crowd is recognized by sharing the state of another object.
"""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, Any

import bmesh
import bpy
import numpy as np

from ...core.errors import SceneError
from ...core.results import frames
from ..display.appended import unseen
from ..display.display import find_modifier, get_input, require_modifier, set_input

if TYPE_CHECKING:
    from ...core.results.frames import Frame

_OWNER_KEY = unseen("steer_owner")
_FRAME_KEY = "steer_frame"
PLAYBACK_KEY = "steer_playback"
"""Custom property of a state that plays a baked file by itself; it is never written to."""
ATTRIBUTES = {
    "position": ("FLOAT_VECTOR", "vector", np.float32, 3),
    "velocity": ("FLOAT_VECTOR", "vector", np.float32, 3),
    "rotation": ("QUATERNION", "value", np.float32, 4),
    "id": ("INT", "value", np.int32, 1),
    "speed": ("FLOAT", "value", np.float32, 1),
    "radius": ("FLOAT", "value", np.float32, 1),
    "alive": ("BOOLEAN", "value", np.bool_, 1),
}
"""Attribute type, property of its elements, type and width of its values, by name."""


def get_state(obj: bpy.types.Object) -> bpy.types.Object | None:
    """Return the state object that the object's Crowd modifier shows, or None."""
    modifier = find_modifier(obj)
    if modifier is None:
        return None
    state: bpy.types.Object | None = get_input(modifier, "State")
    return state


def is_playback(state: bpy.types.Object | None) -> bool:
    """Whether a state plays a baked file by itself."""
    return state is not None and PLAYBACK_KEY in state


def playback_state(obj: bpy.types.Object) -> bpy.types.Object | None:
    """The state of a crowd that shows a baked file, or None."""
    try:
        state = get_state(obj)
    except SceneError:
        # a node group that was changed shows nothing
        return None
    return state if is_playback(state) else None


def plays_back(obj: bpy.types.Object) -> bool:
    """Whether a crowd shows a baked file; nothing of it is simulated or written then."""
    return playback_state(obj) is not None


def ensure_state(obj: bpy.types.Object) -> bpy.types.Object:
    """Return the state object of this crowd alone, made where needed.

    In place of a state that plays a bake, too: ask `plays_back` before. A duplicated crowd shares
    its state with the object that it was made from; one of the two then gets a copy of its own.
    So does a library override, while a linked crowd has the state of its file. Cheap enough to be
    called every frame.

    Raises:
        SceneError: The object is no crowd, or is linked from another file without a state.
    """
    modifier = require_modifier(obj)
    state: bpy.types.Object | None = get_input(modifier, "State")
    if obj.library is not None:
        if state is None or state.type != "MESH" or is_playback(state):
            raise SceneError(
                f"Crowd {obj.name!r} is linked from another file, where it has no state to play: "
                "make it local (Object > Relations > Make Local), or add the crowd again there"
            )
        return state
    if state is None or state.type != "MESH" or is_playback(state):
        mesh = bpy.data.meshes.new(_name(obj))
        state = bpy.data.objects.new(mesh.name, mesh)
        set_input(modifier, "State", state)
    elif not _is_local(state) or _belongs_to_another(state, obj):
        state = state.copy()
        state.data = state.data.copy()
        state.name = state.data.name = _name(obj)
        set_input(modifier, "State", state)
    if state.get(_OWNER_KEY) != obj.name:
        state[_OWNER_KEY] = obj.name
    return state


def write_state(state: bpy.types.Object, frame: Frame) -> None:
    """Show a frame: write it to the state's mesh, with what behaviors show as further attributes.

    Identities are stored as 32 bits: of larger ones the low 32 bits are kept.

    The mesh of a linked state is written too, which no file keeps: so a linked crowd plays.

    Raises:
        SceneError: The state has lost its mesh.
    """
    mesh = _mesh_of(state)
    if _is_local(state):
        _fill(mesh, frame)
    else:
        # Blender passes over values that are set in linked data
        made = bpy.data.meshes.new(state.name)
        copy = bmesh.new()
        try:
            _fill(made, frame)
            copy.from_mesh(made)
            copy.to_mesh(mesh)
        finally:
            copy.free()
            bpy.data.meshes.remove(made)
    mesh.update()
    state[_FRAME_KEY] = frame.number


def _is_local(state: bpy.types.Object) -> bool:
    return state.library is None and (state.data is None or state.data.library is None)


def _fill(mesh: bpy.types.Mesh, frame: Frame) -> None:
    count = len(frame.id)
    if len(mesh.vertices) != count:
        mesh.clear_geometry()
        mesh.vertices.add(count)
    shown = {n: v for n, v in frame.attributes.items() if n not in ATTRIBUTES}
    for name in _shown_names(mesh):
        if name not in shown:
            mesh.attributes.remove(mesh.attributes[name])
    for name, (kind, prop, dtype, _) in ATTRIBUTES.items():
        _write(mesh, name, kind, prop, np.asarray(getattr(frame, name), dtype))
    for name, values in shown.items():
        _write(mesh, name, "FLOAT", "value", np.asarray(values, np.float32))


def _write(mesh: bpy.types.Mesh, name: str, kind: str, prop: str, values: Any) -> None:
    attribute = mesh.attributes.get(name)
    if attribute is None or attribute.data_type != kind or attribute.domain != "POINT":
        if attribute is not None:
            mesh.attributes.remove(attribute)
        attribute = mesh.attributes.new(name, kind, "POINT")
    attribute.data.foreach_set(prop, np.ascontiguousarray(values).ravel())


def _shown_names(mesh: bpy.types.Mesh) -> list[str]:
    """Names of the attributes that behaviors show."""
    return [
        attribute.name
        for attribute in mesh.attributes
        if attribute.name not in ATTRIBUTES
        and attribute.data_type == "FLOAT"
        and attribute.domain == "POINT"
        and not attribute.is_internal
    ]


def _read(mesh: bpy.types.Mesh, name: str, prop: str, dtype: Any, width: int) -> Any:
    array = np.empty(len(mesh.vertices) * width, dtype)
    mesh.attributes[name].data.foreach_get(prop, array)
    return array.reshape(-1, width) if width > 1 else array


def read_state(state: bpy.types.Object) -> frames.Frame | None:
    """Return the frame that the state shows, or None when it shows none."""
    mesh: bpy.types.Mesh = state.data
    if not len(mesh.vertices) or any(name not in mesh.attributes for name in ATTRIBUTES):
        return None
    values = {
        name: _read(mesh, name, prop, dtype, width)
        for name, (_, prop, dtype, width) in ATTRIBUTES.items()
    }

    return frames.Frame(
        number=int(state.get(_FRAME_KEY, 0)),
        id=values["id"].astype(np.int64),
        position=values["position"],
        velocity=values["velocity"],
        rotation=values["rotation"],
        radius=values["radius"],
        alive=values["alive"].astype(np.uint8),
        attributes={name: _read(mesh, name, "value", np.float32, 1) for name in _shown_names(mesh)},
    )


def clear_state(state: bpy.types.Object) -> None:
    """Forget the agents; the modifier then shows the points of the crowd object at rest.

    Raises:
        SceneError: The state has lost its mesh.
    """
    mesh = _mesh_of(state)
    mesh.clear_geometry()
    mesh.update()
    if _FRAME_KEY in state:
        del state[_FRAME_KEY]


def remove_state(obj: bpy.types.Object) -> None:
    """Take the state from this crowd, and delete it unless another object uses it."""
    modifier = find_modifier(obj)
    state = None if modifier is None else get_input(modifier, "State")
    if modifier is None or state is None:
        return
    set_input(modifier, "State", None)
    # the count alone would not do: objects that are removed in 5.2 leave theirs behind
    if state.library is not None or (state.users > 0 and bpy.data.user_map(subset=[state])[state]):
        return
    _delete(state)


def remove_orphans(depsgraph: bpy.types.Depsgraph | None = None) -> None:
    """Delete the states of crowds that were deleted.

    Many ways to delete an object leave it in the file until that is saved, in no collection.

    Args:
        depsgraph: One whose handlers run: what it evaluates has to stay until they are done.
    """
    states = [o for o in bpy.data.objects if _OWNER_KEY in o or PLAYBACK_KEY in o]
    states = [state for state in states if state.library is None and not state.use_fake_user]
    if depsgraph is not None:
        states = [state for state in states if not state.evaluated_get(depsgraph).is_evaluated]
    if not states:
        return

    users = bpy.data.user_map(subset=states)
    there = {o.session_uid for scene in bpy.data.scenes for o in scene.objects}
    for state in states:
        used = users[state]
        # a live state is made again for a crowd that comes back, the choice of a bake is not
        if not used or not (is_playback(state) or any(_is_kept(user, there) for user in used)):
            _delete(state)


def _is_kept(user: bpy.types.ID, there: Container[int]) -> bool:
    """Whether a user of a state is more than an object that was deleted; `there` are all others."""
    if not isinstance(user, bpy.types.Object) or user.use_fake_user or user.session_uid in there:
        return True
    return any(collection.users for collection in user.users_collection)


def _delete(state: bpy.types.Object) -> None:
    data = state.data
    bpy.data.objects.remove(state)
    if data is not None and data.users == 0:
        bpy.data.batch_remove([data])


def _name(obj: bpy.types.Object) -> str:
    return f"{obj.name} State"


def _belongs_to_another(state: bpy.types.Object, obj: bpy.types.Object) -> bool:
    # the count answers nearly always; going through all objects would cost every frame
    if state.users <= 1:
        return False
    sharing = [other.name for other in bpy.data.objects if get_state(other) == state]
    others = [name for name in sharing if name != obj.name]
    # the one that the state was made for keeps it; when that was renamed, the first to ask leaves
    return bool(others) and state.get(_OWNER_KEY) != obj.name


def _mesh_of(state: bpy.types.Object) -> bpy.types.Mesh:
    mesh: bpy.types.Mesh | None = state.data
    if mesh is None:
        raise SceneError(
            f"State {state.name!r} has lost its mesh: remove the crowd and add it again"
        )
    return mesh

"""Keyframe bake: one object per agent with keyed location, rotation and `velocity`.

The result is plain Blender data that plays without the extension. Keys are written in bulk.

A dead agent has the size 0, which all children inherit, and *Show in Renders* is keyed off, held
until the next key. *Show in Viewports* stays on: Blender evaluates no hidden object, so exporters
of formats that know no hidden objects, as glTF and FBX, would write it as large as it was before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.errors import SceneError
from ...core.results.frames import Frame
from ...core.results.reduce import reduce_keys
from ...core.results.tracks import (
    POSITION,
    ROTATION,
    VELOCITY,
    TrackIndex,
    agent_names,
    continuous,
    index_frames,
    read_alive,
    read_attribute,
    read_radius,
    read_tracks,
    turned,
)
from ..characters.keys import fill, new_action, new_slot
from ..crowd.bake_settings import KeyframeBakeSettings
from ..display.look import F64, PLAIN, Look
from .copies import Source, Template, make_objects, make_template
from .removal import MARK, delete_bake, find_bakes

PATHS = (("location", 3), ("rotation_quaternion", 4), ('["velocity"]', 3))
"""Animated properties and their sizes, in the order of the channels of `tracks`."""

_BLOCK = 64


@dataclass(frozen=True)
class BakeResult:
    """Result of a bake.

    Attributes:
        collection: Collection of all baked objects.
        agent_count: Agents, each with an action, or a slot of the one action.
        object_count: Objects; more than agents if a hierarchy is copied.
        key_count: Keys on all curves.
        seconds: Time taken.
    """

    collection: bpy.types.Collection
    agent_count: int
    object_count: int
    key_count: int
    seconds: float


ROTATION_KEY = "steer_keyed_rotation"
"""Custom property of a bake's collection: the rotation of the copied object, which keys include."""
UNALIGNED_KEY = "steer_unaligned"
"""Custom property of a bake's collection whose keys do not turn to where agents head."""


@dataclass
class _Made:
    """All data-blocks made until now, so that a failure can remove them."""

    objects: list[bpy.types.Object] = field(default_factory=list)
    actions: list[bpy.types.Action] = field(default_factory=list)
    collections: list[bpy.types.Collection] = field(default_factory=list)
    complete: bool = False


@contextmanager
def _all_or_nothing() -> Iterator[_Made]:
    made = _Made()
    try:
        yield made
    finally:
        if not made.complete:
            bpy.data.batch_remove([*made.objects, *made.actions, *made.collections])


def _replaceable(
    name: str, parent: bpy.types.Collection, replace: bool
) -> list[bpy.types.Collection]:
    """The earlier bakes of a crowd, if a new one may take their place.

    Raises:
        SceneError: There is one that has to stay, or no place for a new one.
    """
    earlier = find_bakes(name)
    if earlier and not replace:
        raise SceneError(f"Crowd {name!r} is baked already: use Delete Bake, or replace it")
    if parent.library is not None:
        raise SceneError(
            f"collection {parent.name!r} is linked from another file: "
            "choose a collection of this file"
        )
    return earlier


def bake(
    frames: Sequence[Frame],
    *,
    name: str,
    collection_parent: bpy.types.Collection,
    settings: KeyframeBakeSettings | None = None,
    source: Source = None,
    look: Look = PLAIN,
    carried: Iterable[str] = (),
    replace: bool = False,
    progress: Callable[[float], bool] | None = None,
) -> BakeResult | None:
    """Bake frames to one keyed object per agent, in a new collection "<name> Bake".

    Agents are matched by id. An agent that is absent from some frames gets no keys there: it rests
    where it was last keyed. A dead agent has the size 0. On failure, what was made is removed.

    Args:
        frames: Frames to bake, with increasing frame numbers.
        name: Name of the crowd; objects are called "<name>.<id>".
        collection_parent: Parent of the new collection.
        settings: Settings of the keys to write.
        source: Object to make linked copies of, collection to instance, or None for empties, which
            are at the places of agents; bodies rise evenly on stairs, where agents jump.
        look: Size of copies and instances, and whether they turn to where agents head; empties
            have neither, and turn always.
        carried: Attributes that materials read of objects, too.
        replace: Delete an earlier bake of this crowd once the new one is complete.
        progress: Called with the completed share, 0 to 1; returns False to cancel.

    Returns:
        The result, or None after a cancel; then all of it is removed.

    Raises:
        SceneError: The frames or the source cannot be used, or there is a bake already.
        AgentError: A number in the frames is not finite.
    """
    begin = time.perf_counter()
    settings = settings or KeyframeBakeSettings()
    index = index_frames(frames)
    earlier = _replaceable(name, collection_parent, replace)
    template = make_template(source, collection_parent, look)
    names = agent_names(name, index.id)
    characters = index.first("character")
    read = {other: index.first(other) for other in carried}
    key_count, per_agent = 0, settings.actions == "PER_AGENT"
    shared: bpy.types.Action | None = None
    with _all_or_nothing() as made:
        collection = bpy.data.collections.new(f"{name} Bake")
        made.collections.append(collection)
        collection[MARK] = name
        mark_rotations(collection, template.keyed_rotation, look.aligned or not template.has_bodies)
        collection_parent.children.link(collection)
        for start in range(0, len(names), _BLOCK):
            if progress is not None and not progress(start / len(names)):
                return None
            agents = range(start, min(start + _BLOCK, len(names)))
            found = _keys(index, agents, template, look, settings)
            for i, (keys, shown) in zip(agents, found, strict=True):
                radius, own = float(index.radius[i]), int(characters[i])
                carrier = make_objects(template, names[i], radius, collection, made.objects, own)
                carrier["id"] = int(index.id[i])  # materials draw by it, and by these
                for other, values in read.items():
                    carrier[other] = float(values[i])
                if shared is None or per_agent:
                    action_name = names[i] if per_agent else f"{name} Bake"
                    shared = _new_action(action_name, name, made, index)
                curves = _animate(carrier, shared, keys, settings.interpolation)
                key_count += keys.shape[0] * keys.shape[1]
                key_count += _show_as_large(curves, carrier, template, *shown)
        for item in made.objects:
            item[MARK] = name
        if progress is not None and not progress(1.0):
            return None
        made.complete = True
    for old in earlier:
        delete_bake(old)
    if earlier:
        _rename(collection, made, template, name, names)
    seconds = time.perf_counter() - begin
    return BakeResult(collection, len(names), len(made.objects), key_count, seconds)


def mark_rotations(collection: bpy.types.Collection, first: Sequence[float], aligned: bool) -> None:
    """Note in the collection of a bake how its keys come from the rotations of agents.

    Args:
        collection: The collection.
        first: Quaternion (w, x, y, z) that acts before that of the agent.
        aligned: Whether keys turn to where agents head.
    """
    collection[ROTATION_KEY] = [float(part) for part in first]
    if not aligned:
        collection[UNALIGNED_KEY] = True


def _keys(
    index: TrackIndex,
    agents: range,
    template: Template,
    look: Look,
    settings: KeyframeBakeSettings,
) -> Iterator[tuple[NDArray[np.float32], tuple[NDArray[np.int64], NDArray[np.bool_], F64]]]:
    """Yield for each agent its keys, its frames, and whether it lives and how large it is there."""
    present, values = read_tracks(index, agents.start, agents.stop)
    alive = read_alive(index, agents.start, agents.stop)
    turns, sizes = values[:, :, ROTATION], np.ones(alive.shape)
    if template.has_bodies:
        turns = look.rotations(turns)
        sizes = look.sizes(read_radius(index, agents.start, agents.stop))
        # on stairs agents jump from step to step; bodies do not
        lift = read_attribute(index, agents.start, agents.stop, "lift")
        values[:, :, POSITION.stop - 1] += lift * sizes
    values[:, :, ROTATION] = turned(turns, template.keyed_rotation)
    for here, channels, lives, size in zip(present, values, alive, sizes, strict=True):
        numbers = index.numbers[here]
        keys = choose_keys(numbers, channels[here], settings)
        yield keys, (numbers, lives[here], np.where(lives, size, 0.0)[here])


def _new_action(action_name: str, name: str, made: _Made, index: TrackIndex) -> bpy.types.Action:
    """An action with one layer and one strip of the bake's length, as NLA strips need it."""
    frames = float(index.numbers[0]), float(index.numbers[-1])
    action = new_action(action_name, MARK, name, frames)
    made.actions.append(action)
    return action


def _rename(
    collection: bpy.types.Collection, made: _Made, template: Template, name: str, names: list[str]
) -> None:
    """Take over the names of the earlier bake."""
    collection.name = f"{name} Bake"
    carriers = made.objects[:: template.objects_per_agent]
    for text, carrier in zip(names, carriers, strict=True):
        carrier.name = text
        data: Any = carrier.animation_data
        data.action_slot.name_display = text
    if len(made.actions) == len(names):
        for text, action in zip(names, made.actions, strict=True):
            action.name = text
    else:
        made.actions[0].name = f"{name} Bake"


def choose_keys(
    numbers: NDArray[np.int64], values: NDArray[np.float32], settings: KeyframeBakeSettings
) -> NDArray[np.float32]:
    """The keys of one agent.

    Args:
        numbers: Frame numbers, shape (frame_count,).
        values: Channels of `tracks`, shape (frame_count, 10).
        settings: Settings of the keys to keep.

    Returns:
        Time and value of each key of each channel, shape (10, key_count, 2).
    """
    values = values.copy()
    values[:, ROTATION] = continuous(values[:, ROTATION])
    if settings.tolerance > 0.0:
        kept = reduce_keys(
            numbers,
            values[:, POSITION],
            settings.tolerance,
            rotation=values[:, ROTATION],
            rotation_tolerance=settings.rotation_tolerance,
            step=settings.step,
        )
    else:
        last = len(numbers) - 1
        kept = np.arange(0, last + 1, settings.step)
        if kept[-1] != last:
            kept = np.append(kept, last)
        if settings.step > 1:
            # keys far apart may be on opposite hemispheres again
            values[kept, ROTATION] = continuous(values[kept, ROTATION])
    keys = np.empty((values.shape[1], len(kept), 2), dtype=np.float32)
    keys[:, :, 0] = numbers[kept]
    keys[:, :, 1] = values[kept].T
    return keys


def _animate(
    carrier: bpy.types.Object,
    action: bpy.types.Action,
    keys: NDArray[np.float32],
    interpolation: str,
) -> Any:
    """Write the keys of one agent and place it at the first key; returns its curves.

    The action gets a slot for the object; the keys have the shape (10, key_count, 2).
    """
    slot, curves = new_slot(action, carrier.name)
    channels = [(path, i) for path, size in PATHS for i in range(size)]
    for (path, i), channel in zip(channels, keys, strict=True):
        _add_curve(curves, path, i, channel, interpolation)
    carrier.location = keys[POSITION, 0, 1].tolist()
    carrier.rotation_quaternion = keys[ROTATION, 0, 1].tolist()
    carrier["velocity"] = keys[VELOCITY, 0, 1].tolist()
    data = carrier.animation_data_create()
    data.action = action
    data.action_slot = slot
    return curves


def _show_as_large(
    curves: Any,
    carrier: bpy.types.Object,
    template: Template,
    numbers: NDArray[np.int64],
    alive: NDArray[np.bool_],
    sizes: F64,
) -> int:
    """Give an object the size of its agent, and key what of it changes; returns the number of keys.

    Args:
        curves: Curves of its action, to which the new ones are added.
        carrier: The object.
        template: What it was made from.
        numbers: Frame numbers, shape (frame_count,).
        alive: Whether the agent lives at these frames, shape (frame_count,).
        sizes: Its sizes, 0 while it is dead, shape (frame_count,).
    """
    carrier.scale = float(sizes[0]) * template.keyed_scale
    carrier.hide_render = not alive[0]
    channels = [("scale", i, part * sizes) for i, part in enumerate(template.keyed_scale)]
    channels.append(("hide_render", 0, np.where(alive, 0.0, 1.0)))
    count = 0
    for path, index, values in channels:
        kept = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
        if len(kept) > 1:
            keys = np.stack([numbers[kept], values[kept]], axis=1).astype(np.float32)
            _add_curve(curves, path, index, keys, "CONSTANT")
            count += len(kept)
    return count


def _add_curve(
    curves: Any, path: str, index: int, keys: NDArray[np.float32], interpolation: str
) -> None:
    """Add a curve with time and value of each key, shape (key_count, 2)."""
    fill(curves.new(path, index=index), keys, interpolation)

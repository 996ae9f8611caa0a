"""Fingerprints of the inputs of a bake, to find later by name which of them changed.

A cache keeps three things in addition to its frames: the settings of the crowd and of the crowds
that it steers by; digests of the animation of all their inputs, over all frames; and digests of the
inputs as they were perceived, at frames spread over the bake.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

import bpy
import numpy as np

from ...core.agents import Agents
from ...core.cache import CacheHeader
from ...core.cache.changes import MEETING
from ...core.characters.cast import Cast
from ...core.crowd.spread import SPREADS
from ...core.results.digests import (
    WorldPart,
    bodies_digest,
    digest,
    points_digest,
    world_parts,
)
from ..crowd.links import ROLES, linked_crowds, relations_of
from ..crowd.live_settings import LiveKey, describe, own_key, played_curves
from ..crowd.slots import SOURCES, source_use
from ..live.session import Session
from ..live.simulate import fps_of
from ..reading.scene_inputs import EXIT, ground_object, input_objects, needs_frames

SAMPLES = 24
"""Number of frames of a bake at which digests of the inputs are kept."""

_EVALUATIONS = 200_000
_NOUNS = {"targets": "target", "second_targets": "second target"}
Value = TypeVar("Value")
Names = dict[str, str]
Runs = dict[str, list[list[Any]]]
"""By name: the frames at which the digest changed, and the new digest."""


def sample_frames(frames: range) -> set[int]:
    """Frames spread evenly over a range, both ends included."""
    count = min(SAMPLES, len(frames))
    return {frames[int(place)] for place in np.linspace(0, len(frames) - 1, count).round()}


def settings_data(obj: bpy.types.Object, scene: bpy.types.Scene, name: str) -> dict[str, Any]:
    """Settings of a crowd and of the crowds that it steers by: values by name, per crowd.

    The crowd itself has the name that it has in the cache.

    Raises:
        ParameterError: A setting is out of range.
    """
    members = linked_crowds(obj)
    found = {}
    for crowd in members:
        found[crowd.name_full] = _plain(own_key(crowd, fps_of(scene)), alone=len(members) == 1)
        if crowd != obj:
            # at its end a crowd stands still, and the others see that
            found[crowd.name_full]["values"]["frame_end"] = crowd.steer.frame_end
    if len(members) > 1:
        meeting = tuple(relation.tobytes() for relation in relations_of(members))
        found[obj.name_full]["values"][MEETING] = digest(meeting)
    return renamed(found, obj.name_full, name)


@lru_cache(maxsize=16)
def _cast_digest(cast: Cast) -> str:
    """Digest of characters; it is made once, as each has thousands of numbers."""
    return digest(cast)


def _plain(key: LiveKey, *, alone: bool) -> dict[str, Any]:
    settings = key.settings.to_dict()
    blocks = {name: value for name, value in settings.items() if isinstance(value, Mapping)}
    blocks |= {f"groups.{group['name']}": group for group in settings["groups"]}
    values = {f"{name}.{part}": v for name, block in blocks.items() for part, v in block.items()}
    for name in SPREADS.values():
        # bakes of before have none, and agents that are all alike
        if not values[f"agents.{name}"]:
            del values[f"agents.{name}"]
    births = key.settings.births
    if not births.emits:
        # nobody is born, and bakes of before say nothing of it
        lives = {"births.lifetime", "births.lifetime_spread"} if births.lifetime else set()
        values = {n: v for n, v in values.items() if not n.startswith("births.") or n in lives}
    if alone:
        # nobody is met, and bakes of before say nothing of it
        values = {n: v for n, v in values.items() if not n.startswith("meets.")}
        if not (key.settings.body_height and key.settings.bodies.collide_colliders):
            del values["bodies.height"]
    if key.settings.body:
        values["body"] = key.settings.body
    if key.settings.carried:
        values["attribute"] = ", ".join(key.settings.carried)
    if key.settings.cast:
        values["characters"] = _cast_digest(key.settings.cast)
    else:
        # nobody plays them
        values = {name: v for name, v in values.items() if not name.startswith("clips.")}
    stack = {
        entry.key: {"type": entry.definition.type, **_known_before(entry.to_dict())}
        for entry in key.settings.behaviors
    }
    curves: dict[str, list[Any]] = {}
    for curve in key.curves:
        curves.setdefault(curve[0].removeprefix("steer."), []).append(curve)
    return {
        "values": {
            "frame_start": key.frame_start,
            "fps": key.fps,
            "seed": key.settings.seed,
            **values,
        },
        "order": list(stack),
        "behaviors": stack,
        "animation": {name: digest(tuple(found)) for name, found in curves.items()},
    }


def _known_before(values: dict[str, Any]) -> dict[str, Any]:
    """Values of a behavior without those that bakes of before have none of, and that do nothing."""
    return {name: value for name, value in values.items() if value or name != "group"}


def settings_hash(data: Mapping[str, Any]) -> str:
    """A digest of the result of `settings_data`."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def animation_data(obj: bpy.types.Object, frames: range) -> Names:
    """Digests of the animation of a crowd's inputs, by the name of the animated data-block."""
    found: Names = {}
    for part in (*input_objects(obj), *linked_crowds(obj)):
        for owner in _animated(part):
            label = f"animation of {owner.name!r}"
            if owner.animation_data is not None and label not in found:
                text = _animation(owner.animation_data, frames)
                if text:
                    found[label] = text
    return found


def _animated(obj: bpy.types.Object) -> Iterator[Any]:
    """An object, its data, and its parents."""
    part: Any = obj
    while part is not None:
        yield part
        if part.data is not None:
            yield part.data
            keys = getattr(part.data, "shape_keys", None)
            if keys is not None:
                yield keys
        part = part.parent


def _animation(animation: bpy.types.AnimData, frames: range) -> str:
    curves = [c for c in played_curves(animation) if not c.data_path.startswith("steer.")]
    if not curves:
        return ""
    drivers = set(animation.drivers.values())
    plain = not animation.nla_tracks
    step = 1 + len(curves) * len(frames) // _EVALUATIONS
    rows = []
    for curve in curves:
        if plain and curve not in drivers and not curve.modifiers:
            # only animation within the frames of the bake counts
            values = [curve.evaluate(number) for number in frames[::step]]
            rows.append((curve.data_path, curve.array_index, np.array(values, np.float32)))
        else:
            rows.append((curve.data_path, curve.array_index, *describe(curve)))
    strips = [
        (s.name, s.frame_start, s.frame_end, s.scale, s.repeat, s.blend_type, s.influence, s.mute)
        for track in animation.nla_tracks
        for s in track.strips
    ]
    return digest((rows, strips))


def sampled(data: Any, stop: int) -> set[int]:
    """The frames before `stop` at which digests of the inputs were kept.

    The data are a result of `Inputs.data`, or unchecked data from a file.
    """
    found = data.get("sampled") if isinstance(data, Mapping) else None
    frames = found if isinstance(found, list) else []
    return {number for number in frames if isinstance(number, int) and number < stop}


@dataclass
class Inputs:
    """Digests of the perceived inputs, frame by frame."""

    main: bpy.types.Object
    wanted: set[int]
    name: str
    """Name of the main crowd."""
    points: Names = field(default_factory=dict)
    bodies: Names = field(default_factory=dict)
    parts: Runs = field(default_factory=dict)
    sampled: set[int] = field(default_factory=set)
    changed: bool = True
    """Whether anything was added since the last call of `data`."""
    _crowd_of: Names = field(default_factory=dict)
    _known: dict[tuple[str, WorldPart], tuple[Any, str]] = field(default_factory=dict)

    def add_session(self, crowd: bpy.types.Object, session: Session) -> None:
        """Add the inputs of a session's crowd at its frame, if the frame is a wanted one."""
        number = session.frame
        if self._name(crowd) not in self.points:
            self.begin(crowd, session.start_agents)
        elif number not in self.wanted:
            return
        self.add(crowd, number, session.world)

    def begin(self, crowd: bpy.types.Object, agents: Agents) -> None:
        """Add the agents of a crowd at its first frame."""
        name = self._name(crowd)
        self.points[name], self.bodies[name] = points_digest(agents), bodies_digest(agents)

    def _name(self, crowd: bpy.types.Object) -> str:
        return self.name if crowd == self.main else crowd.name_full

    def add(self, crowd: bpy.types.Object, number: int, world: Any) -> None:
        """Add the inputs of a crowd at a frame."""
        self.sampled.add(number)
        self.changed = True
        seen: Names = {}
        for part, value in world_parts(world).items():
            source = {"colliders": world.colliders, "exits": world.exits}.get(part[0], value)
            before = self._known.get((crowd.name_full, part))
            if before is None or before[0] is not source:
                before = self._known[crowd.name_full, part] = (source, digest(value))
            label = _label(crowd, self.main, part)
            seen[label] = digest((seen[label], before[1])) if label in seen else before[1]
        own = _suffix(crowd, self.main)
        for label in self.parts:
            if label not in seen and self._crowd_of[label] == own:
                seen[label] = ""
        for label, text in seen.items():
            self._crowd_of[label] = own
            run = self.parts.setdefault(label, [])
            if not run or run[-1][1] != text:
                run.append([number, text])

    def data(self) -> dict[str, Any]:
        """The digests as JSON data."""
        self.changed = False
        return {
            "points": dict(sorted(self.points.items())),
            "bodies": dict(sorted(self.bodies.items())),
            "parts": {name: [list(row) for row in run] for name, run in sorted(self.parts.items())},
            "sampled": sorted(self.sampled),
        }


def _suffix(crowd: bpy.types.Object, main: bpy.types.Object) -> str:
    return "" if crowd == main else f" of crowd {crowd.name_full!r}"


def _label(crowd: bpy.types.Object, main: bpy.types.Object, part: WorldPart) -> str:
    role, name = part
    text = role
    if role in ROLES:
        text = _chosen(_NOUNS[role], ROLES[role](crowd).get(name), "target")
    elif role in ("paths", "fields", "containers"):
        item = crowd.steer.behaviors.get(name)
        kind = SOURCES.get(source_use(item)) if item is not None else None
        text = _chosen(role[:-1] if kind is None else kind.noun, item, "source")
    elif role == "colliders":
        text = f"collider {name!r}"
    elif role == "exits":
        text = f"exit {name.removesuffix(EXIT)!r}"
    elif role == "areas":
        text = f"area {name!r}"
    elif role == "portals":
        text = f"portal {name!r}"
    elif role == "paint":
        text = "paint of the ground"
    elif role == "births":
        text = _chosen("source", crowd.steer, "births")
    elif role == "spheres":
        text = "spheres among the colliders"
    elif role == "ground":
        ground = ground_object(crowd)
        text = f"ground {ground.name!r}" if ground is not None else "ground"
    return text + _suffix(crowd, main)


def _chosen(noun: str, slot: Any, role: str) -> str:
    if slot is None:
        return noun
    many = getattr(slot, f"{role}_kind") == "COLLECTION"
    chosen = getattr(slot, f"{role}_collection" if many else f"{role}_object")
    return noun if chosen is None else f"{noun} {chosen.name!r}"


def known_data(
    obj: bpy.types.Object, scene: bpy.types.Scene, header: CacheHeader
) -> dict[str, Any]:
    """The fingerprints of a cache that need no evaluation: settings and animation.

    Raises:
        ParameterError: A setting is out of range.
    """
    return {
        "settings": settings_data(obj, scene, header.name),
        "animation": animation_data(obj, span(obj, header)),
        "moving": needs_frames(obj),
    }


def span(obj: bpy.types.Object, header: CacheHeader) -> range:
    """All frames that have to be simulated for the frames of a cache."""
    return range(min(obj.steer.frame_start, header.frame_start), header.frame_end + 1)


def renamed(values: Mapping[str, Value], name: str, wanted: str) -> dict[str, Value]:
    """Values of crowds by name, with another name for one of the crowds."""
    return {wanted if key == name else key: value for key, value in values.items()}

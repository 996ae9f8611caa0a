"""Scenes to learn from, one data file each: `steer demo NAME` makes a .blend of it.

A file of presets/demos lists the objects of a scene with their places, keys and crowds;
a new file there is enough for a new scene. Names in it are of objects, collections and crowds of
the scene. A crowd has the settings of its `preset`, by default the preset with the scene's name.
Lengths are in m, angles in degrees, frames count from 1.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...core.crowd.overrides import with_override
from ...core.crowd.presets import builtin_folder, load_preset
from ...core.crowd.settings import CrowdSettings, make_behavior
from ...core.errors import UsageError, short
from . import distribute, path_curves
from .figures import standing
from .scene_look import set_render
from .staging import Stage, choose, empty_scene, find_named

FRAMES = range(1, 241)

Placed = tuple[Any, Any, dict[str, Any]]
"""Points, headings and point attributes of a crowd."""


def demo_folder() -> Path:
    """Folder of the scenes."""
    return builtin_folder() / "demos"


def demo_names() -> list[str]:
    """Names of all scenes, sorted."""
    return sorted(path.stem for path in demo_folder().glob("*.json"))


def read_demo(name: str) -> Mapping[str, Any]:
    """Data of a scene's file; missing keys come from the scene that `like` names."""
    data = json.loads((demo_folder() / f"{name}.json").read_text(encoding="utf-8"))
    return {**read_demo(data["like"]), **data} if "like" in data else data


def summary(name: str) -> str:
    """Summary of a scene, one sentence."""
    return str(read_demo(name)["summary"])


def check_name(name: str) -> None:
    """Check that a scene is there.

    Raises:
        UsageError: There is no such scene.
    """
    if name not in demo_names():
        raise UsageError(f"There is no demo {short(name)}: known are {', '.join(demo_names())}")


def make_demo(name: str, frames: range | None = None) -> list[bpy.types.Object]:
    """Fill a new file with a scene; returns its crowds.

    Args:
        name: One of `demo_names`.
        frames: Frame range; None takes the range of the scene's file.

    Raises:
        UsageError: There is no such scene.
        SteerError: Its preset cannot be used.
    """
    check_name(name)
    data = read_demo(name)
    first, last = data.get("frames", (FRAMES[0], FRAMES[-1]))
    scene = empty_scene(frames or range(first, last + 1))
    stage = Stage(scene)
    _add_scenery(stage, data)
    _add_goals(stage, data)
    made = [_add_crowd(stage, crowd, crowd.get("preset", name)) for crowd in data["crowds"]]
    for crowd, row in zip(made, data["crowds"], strict=True):
        _connect(crowd, row)
    view = data["camera"]
    stage.camera(view["from"], view["at"], view["lens"])
    stage.tidy()
    set_render(scene)
    scene.frame_set(scene.frame_start)
    return made


def _add_scenery(stage: Stage, data: Mapping[str, Any]) -> None:
    """Add the ground, still and moving objects, and containers of agents."""
    if "ground" in data:
        stage.ground(**data["ground"])
    for thing in data.get("things", []):
        sizes = _without(thing, "at", "flag", "keys", "run")
        for place in thing["at"]:
            obj = _add_thing(stage, place, **sizes)
        if "flag" in thing:
            stage.flag(obj, thing["flag"])
        _add_motion(stage, obj, thing)
    for sphere in data.get("spheres", []):
        for place in sphere["at"]:
            stage.sphere(place, sphere["radius"])
    for space in data.get("spaces", []):
        stage.space(**space)


def _add_thing(stage: Stage, place: Any, kind: str, **options: Any) -> bpy.types.Object:
    if kind != "person":
        return stage.solid(kind, place, **options)
    person = standing("man", options["name"], options["color"])
    stage.set.objects.link(person)
    return person


def _add_motion(stage: Stage, obj: bpy.types.Object, data: Mapping[str, Any]) -> None:
    if "keys" in data:
        stage.move(obj, {int(frame): place for frame, place in data["keys"].items()})
    if "run" in data:
        stage.run(obj, **data["run"])


def _add_goals(stage: Stage, data: Mapping[str, Any]) -> None:
    """Add targets, numbered ones in a collection, and paths."""
    for target in data.get("targets", []):
        obj = stage.target(target["at"], target["name"])
        if "flag" in target:
            stage.flag(obj, target["flag"])
        _add_motion(stage, obj, target)
    for goals in data.get("goals", []):
        collection = stage.collection(f"{goals['name']}s")
        for number, place in enumerate(goals["at"]):
            stage.target(place, f"{goals['name']} {number:02d}", collection=collection)
    for path in data.get("paths", []):
        parent, cyclic = None, path.get("cyclic", False)
        if "collection" in path:
            group = path["collection"]
            parent = bpy.data.collections.get(group) or stage.collection(group)
        stage.path(_line(path), name=path["name"], cyclic=cyclic, collection=parent)


def _line(path: Mapping[str, Any]) -> Any:
    """Points of a path, shape (n, 3): listed ones, a circle or a wave."""
    if "circle" in path:
        return path_curves.circle(path["circle"])
    if "wave" in path:
        return path_curves.wave(**path["wave"])
    return np.array(path["points"], np.float64)


def _add_crowd(stage: Stage, data: Mapping[str, Any], preset: str) -> bpy.types.Object:
    kind = next(kind for kind in _PLACEMENTS if kind in data)
    points, headings, attributes = _PLACEMENTS[kind](data[kind])
    crowd = stage.crowd(
        _settings(data, preset),
        points,
        name=data["name"],
        headings=data.get("heading", headings),
        attributes={**attributes, **data.get("attributes", {})},
    )
    for behavior, weights in data.get("weights", {}).items():
        stage.key(crowd, behavior, {int(frame): weight for frame, weight in weights.items()})
    stage.show(crowd, **data.get("show", {"kind": "people"}))
    return crowd


def _settings(data: Mapping[str, Any], preset: str) -> CrowdSettings:
    """Those of a preset, with what the data of a crowd have in place of it, and more."""
    settings = load_preset(preset).settings
    behaviors = [
        replace(entry, enabled=entry.key in data["only"]) if "only" in data else entry
        for entry in settings.behaviors
    ]
    behaviors += map(make_behavior, data.get("more_behaviors", []))
    settings = replace(settings, behaviors=tuple(behaviors))
    for setting, value in data.get("settings", {}).items():
        settings = with_override(settings, f"{setting}={value}")
    return settings


def _connect(crowd: bpy.types.Object, data: Mapping[str, Any]) -> None:
    """Set the targets and paths of a crowd, and the source at which agents are born."""
    for behavior, name in data.get("steers_by", {}).items():
        owner: Any = crowd.steer if behavior == "all" else crowd.steer.behaviors[behavior]
        if behavior != "all":
            owner.use_own_target = True
        choose(owner, "target", find_named(name))
    for behavior, name in data.get("sources", {}).items():
        choose(crowd.steer.behaviors[behavior], "source", find_named(name))
    if "births" in data:
        choose(crowd.steer, "births", find_named(data["births"]))


def _without(data: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in names}


def _scattered(data: Mapping[str, Any]) -> Placed:
    """Random points on a rectangle; the first `keep` of those clear of the areas in `off`."""
    points = distribute.scatter(**_without(data, "keep", "off", "gap"))
    off, gap = data.get("off", []), data.get("gap", 0.0)
    free = [point for point in points if all(math.dist(point[:2], spot) > gap for spot in off)]
    return free[: data.get("keep", len(free))], None, {}


def _ball(data: Mapping[str, Any]) -> Placed:
    """Random points in an ellipsoid."""
    points = distribute.ball_of_points(data["count"], 1.0, data["seed"])
    return points * data["size"] + data["center"], None, {}


def _column(data: Mapping[str, Any]) -> Placed:
    """A column on a closed path, row by row from its head, with one file per lane."""
    line = _line(data)
    line = np.concatenate([line, line[:1]])
    total, lanes, rows = path_curves.length_of(line), data["lanes"], data["rows"]
    along = data["head"] * total - np.repeat(data["spacing"] * np.arange(rows), len(lanes))
    lane = np.tile(lanes, rows)
    points, ways = path_curves.places(line, along, lane)
    # a full turn lengthens the way of an outer file by its offset times 2π
    pace = data["pace"] * (1.0 + 2.0 * np.pi * lane / total)
    return points, ways, {"lane": lane, "max_speed": pace}


def _passersby(data: Mapping[str, Any]) -> Placed:
    """People on lanes of a path, in both directions, each at its own pace."""
    line, lanes, count = _line(data), data["lanes"], data["per_lane"]
    random = np.random.default_rng(data["seed"])
    total = path_curves.length_of(line)
    along, beside, directions = [], [], []
    for direction in (1, -1):
        for lane in lanes:
            # the last agents have the whole path ahead of them, the first ones enough of it
            walked = np.linspace(data["first"], total - data["left"], count)
            walked = walked + random.uniform(-data["loose"], data["loose"], count)
            along.append(walked if direction > 0 else total - walked)
            beside.append(lane + random.uniform(-data["aside"], data["aside"], count))
            directions += [direction] * count
    sides, signs = np.concatenate(beside), np.array(directions)
    points, ways = path_curves.places(line, np.concatenate(along), sides * signs)
    slowest, fastest = data["pace"]
    pace = random.uniform(slowest, fastest, len(points))
    attributes = {"lane": sides, "direction": signs, "max_speed": pace}
    return points, ways * signs[:, None], attributes


_PLACEMENTS: dict[str, Callable[[Any], Placed]] = {
    "points": lambda points: (points, None, {}),
    "scatter": _scattered,
    "ball": _ball,
    "column": _column,
    "passersby": _passersby,
}

"""Every behavior in each of its variants, and a world in which any of them has something to do.

A new behavior is covered by being in the REGISTRY; a new kind of input needs a place in `Scene`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pytest
from crowdtools import box, crowd, place

from steer_addon.core.agents import Agents
from steer_addon.core.behaviors import REGISTRY, Behavior, own_parameters
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.crowd.settings import CrowdSettings
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.containers import make_container
from steer_addon.core.inputs.fields import make_field
from steer_addon.core.inputs.paths import Path
from steer_addon.core.inputs.spheres import make_spheres
from steer_addon.core.inputs.world import Targets, World, make_targets, make_world
from steer_addon.core.step.simulation import Simulation

FPS = 24.0
MOTIONS = ("GROUND", "FLY")
SIZE = 3.0
"""Agents start within this distance of the origin along each axis [m]."""

TUNED = {
    "offset_pursue": {"offset_x": 0.8, "offset_y": -0.6, "offset_z": 0.3},
    "follow_path": {"lane": 0.4},
    "obstacle_zones": {"push_speed": 0.2},
    "separation": {"max_neighbors": 30},
}
"""Values that let a behavior show what its defaults leave out."""

HANDED = ("offset_x", "lane")
"""Parameters that count to the right: they change their sign in a mirror."""

SIDE = "side"
OTHER_SIDE = {"RIGHT": "LEFT", "LEFT": "RIGHT", "NONE": "NONE"}
"""A choice of a side becomes the other one in a mirror."""


def label(entry: Behavior) -> str:
    """A behavior's type and the choices that make it a variant."""
    infos = own_parameters(type(entry)).values()
    words = [getattr(entry, info.name) for info in infos if info.kind == "choice"]
    return "-".join([entry.definition.type, *words])


def variants_of(cls: type[Behavior]) -> list[Behavior]:
    """A behavior with each combination of its choices that makes a difference.

    How a target is chosen is common to all, and is combined with no other choice.
    """
    infos = [info for info in own_parameters(cls).values() if info.kind == "choice"]
    tuned = TUNED.get(cls.definition.type, {})
    found = {}
    for values in itertools.product(*(info.choices for info in infos)):
        entry = cls(**dict(zip((info.name for info in infos), values, strict=True)), **tuned)
        idle = {info.name: info.default for info in infos if not info.counts(entry)}
        entry = replace(entry, **idle)
        changed = {i.name for i in infos if getattr(entry, i.name) != i.default}
        if "target_choice" not in changed or len(changed) == 1:
            found[label(entry)] = entry
    return list(found.values())


VARIANTS = {label(entry): entry for cls in REGISTRY.values() for entry in variants_of(cls)}
"""Every behavior in every variant, by label."""


def _shown_by_others() -> set[str]:
    """Labels of variants of which others show each choice: they run with --long only.

    Each choice of each behavior is left once, and each way to choose targets, which is common to
    all behaviors, once among them all.
    """
    shown: set[tuple[str, ...]] = set()
    found = set()
    for name, entry in VARIANTS.items():
        kind = entry.definition.type
        infos = [i for i in own_parameters(type(entry)).values() if i.kind == "choice"]
        choices = {(kind, i.name, getattr(entry, i.name)) for i in infos}
        choices = {c[1:] if c[1] == "target_choice" else c for c in choices} | {(kind,)}
        if choices <= shown:
            found.add(name)
        shown |= choices
    return found


SHOWN_BY_OTHERS = _shown_by_others()


def is_among(entry: Behavior, motion: str, table: Mapping[str, str]) -> str:
    """Entry of a table for a variant, by words of its label or its motion; "" for none."""
    words = {motion, *label(entry).split("-")}
    return next((text for key, text in table.items() if set(key.split("-")) <= words), "")


def variants_in_turns(
    first: str, table: Mapping[str, str] | None = None, *, one_each: bool = False
) -> pytest.MarkDecorator:
    """Every variant walking and flying: each time one of them, in turns, and both with --long.

    Those that are `SHOWN_BY_OTHERS` run with --long only.

    Args:
        first: Motion of the first variant.
        table: Variants that are skipped, with the reason.
        one_each: Of each behavior one variant alone runs each time.
    """
    found, types, number = [], set(), 0
    for name, entry in VARIANTS.items():
        reason = is_among(entry, "", table) if table else ""
        is_rare = name in SHOWN_BY_OTHERS or (one_each and entry.definition.type in types)
        if not reason:
            types.add(entry.definition.type)
        number += not is_rare
        for motion in MOTIONS:
            is_long = is_rare or (motion == first) != bool(number % 2)
            marks = [pytest.mark.skip(reason=reason)] if reason else [pytest.mark.long] * is_long
            found.append(pytest.param(entry, motion, id=f"{name}-{motion}", marks=marks))
    return pytest.mark.parametrize(("entry", "motion"), found)


def mirrored(entry: Behavior) -> Behavior:
    """The behavior of a mirrored agent."""
    names = [name for name in HANDED if name in own_parameters(type(entry))]
    values = {name: -getattr(entry, name) for name in names}
    if hasattr(entry, SIDE):
        values[SIDE] = OTHER_SIDE[getattr(entry, SIDE)]
    return replace(entry, **values)


def unhanded(entry: Behavior) -> Behavior:
    """The same behavior without what counts to the right, as seen from above."""
    names = [name for name in HANDED if name in own_parameters(type(entry))]
    return replace(entry, **dict.fromkeys(names, 0.0))


def varied(entry: Behavior, seed: int) -> Behavior:
    """The behavior as it is for even seeds, else with two numbers from within their soft ranges."""
    rng = np.random.default_rng([seed, 1])
    infos = [
        info
        for info in own_parameters(type(entry)).values()
        if info.kind in ("float", "int") and info.counts(entry)
    ]
    values = {}
    for k in rng.permutation(len(infos))[: 2 * (seed % 2)]:
        info = infos[k]
        value = rng.uniform(info.minimum, info.soft_maximum)
        values[info.name] = round(value) if info.kind == "int" else value
    return replace(entry, **values)


def settings_for(entry: Behavior | None, motion: str, **solver) -> CrowdSettings:
    """A crowd that has somewhere to go, and a behavior to be tested."""
    stack = (Seek(name="go", weight=0.5), *(() if entry is None else (entry,)))
    return crowd(*stack, motion=motion, agents={"max_force": 20.0}, **solver)


def turned_mesh(mesh: Mesh, turn: np.ndarray) -> Mesh:
    """A mesh after a turn or a mirror, its normals still outward."""
    triangles = mesh.triangles @ turn.T
    if np.linalg.det(turn) < 0.0:
        triangles = triangles[:, ::-1]
    return Mesh(mesh.name, np.ascontiguousarray(triangles, dtype=np.float32))


def turn_about(axis, angle: float) -> np.ndarray:
    """Rotation matrix about an axis [rad]."""
    x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


MIRROR = np.diag([-1.0, 1.0, 1.0])


@dataclass(frozen=True)
class Scene:
    """Agents, and a world with moving targets."""

    agents: Agents
    start: World

    def at(self, time: float) -> World:
        """The world at a time [s]."""
        return replace(
            self.start,
            targets=moved(self.start.targets, time),
            second_targets=moved(self.start.second_targets, time),
        )


def moved(targets: Mapping[str, Targets], time: float) -> dict[str, Targets]:
    """Targets that went straight on for some time [s]."""
    return {
        name: replace(t, position=(t.position + t.velocity * time).astype(np.float32))
        for name, t in targets.items()
    }


def make_scene(
    seed: int,
    settings: CrowdSettings,
    turn: np.ndarray | None = None,
    count: int = 24,
    spread: float = SIZE,
) -> Scene:
    """A scene at generic places: no two things are at equal distances or exactly in line.

    Args:
        seed: Each makes another scene.
        settings: Whether agents walk or fly, and their bodies.
        turn: Rotation or mirror of everything, shape (3, 3).
        count: Number of agents.
        spread: They start within this distance of the origin along each axis [m].
    """
    turn = np.eye(3) if turn is None else turn
    rng = np.random.default_rng(seed)
    flat = settings.motion.motion == "GROUND"
    level = np.array([1.0, 1.0, 0.0 if flat else 1.0])
    position = rng.uniform(-spread, spread, (count, 3)) * level
    velocity = rng.normal(0.0, 0.9, (count, 3)) * level
    for k, side in enumerate((1.0, -1.0, -1.0, 1.0)):
        # on their way out of the container
        position[k, k % 2], velocity[k, k % 2] = 0.99 * spread * side, 1.2 * side
    agents = place(
        settings, position @ turn.T, velocity @ turn.T, ids=rng.permutation(3 * count)[:count]
    )
    key = seed, flat, count, spread, turn.tobytes()
    if key not in _worlds:
        if len(_worlds) == MOST_WORLDS:
            _worlds.clear()
        _worlds[key] = _surroundings(rng, level, turn)
    return Scene(agents, _worlds[key])


MOST_WORLDS = 500
_worlds: dict[tuple[object, ...], World] = {}
"""Surroundings that were made before: most tests ask for the same few of them."""


def _surroundings(rng: np.random.Generator, level: np.ndarray, turn: np.ndarray) -> World:
    """Targets, colliders, spheres, paths, a field and a container, somewhat off the axes."""
    targets = []
    for _ in range(2):
        places = rng.uniform(-1.5 * SIZE, 1.5 * SIZE, (3, 3)) * level
        motion = rng.normal(0.0, 0.5, (3, 3)) * level
        up = np.array([0.0, 0.0, 1.0]) + rng.normal(0.0, 0.1, (3, 3)) * level[2]
        targets.append(make_targets(places @ turn.T, motion @ turn.T, up=up @ turn.T))
    meshes = []
    for number, size in enumerate(((1.0, 1.3, 3.0), (1.6, 0.9, 2.5), (0.8, 0.8, 2.2))):
        tilt = turn_about(rng.normal(size=3) * 0.2 + [0, 0, 1], rng.uniform(0, 3))
        shift = rng.uniform(-SIZE, SIZE, 3) * level
        mesh = turned_mesh(box((0, 0, 0), size, f"block {number}"), tilt)
        mesh = Mesh(mesh.name, mesh.triangles + shift.astype(np.float32))
        meshes.append(turned_mesh(mesh, turn))
    sphere_centers = rng.uniform(-SIZE, SIZE, (3, 3)) * level
    lines = [rng.uniform(-SIZE, SIZE, (5, 3)) * level for _ in range(2)]
    corners = np.array([[-4, -4, 0], [4, -4, 0], [4, 4, 0], [-4, 4, 0]]) + rng.normal(
        0, 0.2, (4, 3)
    )
    arrows = rng.normal(0.0, 1.0, (4, 3)) * level
    # all start inside: outside, the nearest place may be an edge, where two faces are equally near
    axes = turn_about([0.1, 0.2, 1.0] * (level + [0, 0, 1]), 0.01)
    hull = turned_mesh(
        turned_mesh(box((0, 0, 0), (6.1, 6.12, 6.1)), turn_about([0, 0, 1], 0.01)), turn
    )
    center = np.array([0.01, -0.008, 0.01])
    return make_world(
        targets={"": targets[0]},
        second_targets={"": targets[1]},
        colliders=meshes,
        spheres=make_spheres(sphere_centers @ turn.T, [0.5, 0.7, 0.3]),
        paths=[Path(line @ turn.T, cyclic=k == 1) for k, line in enumerate(lines)],
        fields=make_field(corners @ turn.T, arrows @ turn.T, faces=[[0, 1, 2], [0, 2, 3]]),
        containers=make_container(
            center @ turn.T, (3.06, 3.05, 3.07), axes=axes @ turn.T, radius=2.9, mesh=hull
        ),
    )


def play(
    scene: Scene,
    settings: CrowdSettings,
    steps: int,
    fps: float = FPS,
    look: Callable[[Simulation], None] = lambda simulation: None,
) -> Simulation:
    """Run a scene for some steps; `look` is called after each of them."""
    simulation = Simulation(settings, scene.agents, frame=1, fps=fps)
    for step in range(1, steps + 1):
        simulation.advance(scene.at(step / fps))
        look(simulation)
    return simulation


def track(scene: Scene, settings: CrowdSettings, steps: int, fps: float = FPS) -> np.ndarray:
    """Positions after each step, in the order of the agents, shape (steps, agents, 3)."""
    found: list[np.ndarray] = []
    play(scene, settings, steps, fps, lambda s: found.append(s.agents.position.astype(float)))
    return np.array(found)


def with_other_ids(scene: Scene) -> Scene:
    """The scene with the parity of every id changed."""
    agents = replace(scene.agents, id=scene.agents.id ^ 1)
    return replace(scene, agents=agents)


LOST = 1.0e-3
"""Rounding error [m] at which an agent may be on either side of an edge: no rule holds for it."""


def rounding(seed: int, settings: CrowdSettings, turn: np.ndarray, steps: int) -> np.ndarray:
    """How far what 32 bits round off may take paths [m], shape (steps, agents, 1).

    Each step rounds places and velocities again, by up to an ulp of the largest of them, and so was
    everything in the world when it was turned. What one such error grows to is seen by playing the
    scene with starts moved by an ulp and a world that is sheared by one, in random directions; the
    errors of all steps together are at most `steps` of the largest of those, and twice as many
    where two runs are compared that both were rounded. Infinite for `LOST` agents.
    """
    scene = make_scene(seed, settings, turn)
    plain = track(scene, settings, steps)
    most = np.zeros_like(plain[..., :1])
    rng = np.random.default_rng(0)
    ulp = np.finfo(np.float32).eps
    level = np.array([1.0, 1.0, 0.0 if settings.motion.motion == "GROUND" else 1.0])
    for _ in range(8):
        shear = rng.uniform(-ulp, ulp, (3, 3)) * np.outer(level, level)
        shaken = make_scene(seed, settings, (np.eye(3) + shear) @ turn)
        starts = {}
        for name in ("position", "velocity"):
            value = getattr(shaken.agents, name)
            errors = rng.choice([-ulp, ulp], value.shape) * np.abs(value).max() * level
            starts[name] = (value + errors).astype(np.float32)
        shaken = replace(shaken, agents=replace(shaken.agents, **starts))
        apart = np.abs(track(shaken, settings, steps) - plain).max(axis=2, keepdims=True)
        most = np.maximum(most, apart)
    most = np.maximum.accumulate(2 * steps * most)
    return np.where(most > LOST, np.inf, most)

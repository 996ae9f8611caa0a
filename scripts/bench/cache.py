"""Benchmarks of baking to caches: in turns with the bare solver, and beside a heavy scene."""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import bpy

from scripts.bench.blender import FPS, MANY
from scripts.bench.crowds import flock
from scripts.bench.scenes import add_crowd, add_object, fresh_file, move
from scripts.bench.table import Row
from steer_addon.blender.bake import cached
from steer_addon.blender.reading.scene_agents import read_agents
from steer_addon.core.cache import CacheHeader, CacheWriter, open_cache
from steer_addon.core.crowd.settings import CrowdSettings
from steer_addon.core.inputs.world import World
from steer_addon.core.step.simulation import Simulation

FRAMES = 250
BURST = 25
"""Frames per turn: one chunk."""


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="steer-bench-cache-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def writing() -> Iterator[Row]:
    """Frames of a flock written to disk safely, and read back."""
    settings, agents = flock(MANY, 10)
    simulation = Simulation(settings, agents, frame=1, fps=FPS)
    frames = [simulation.current(), *(simulation.step(World()) for _ in range(FRAMES - 1))]
    with _folder() as folder:
        start = time.perf_counter()
        with CacheWriter(folder, CacheHeader("Flock", FPS, 1, FRAMES)) as writer:
            for frame in frames:
                writer.add(frame, {"Flock": simulation.agents})
            writer.finish()
        taken, size = time.perf_counter() - start, _size(folder)
        note = f"{size / 1e6:.0f} MB, with checksums, and waiting until the disk has it"
        yield Row("write a cache", size / taken / 1e6, "MB/s", 100.0, at_least=True, note=note)
        start = time.perf_counter()
        for frame in open_cache(folder):
            frame.position.sum()
        rate = size / (time.perf_counter() - start) / 1e6
        yield Row("read it, checksums compared", rate, "MB/s")


def _bake(
    scene: bpy.types.Scene, settings: CrowdSettings, points: object, folder: Path
) -> cached.CacheBake:
    """A bake of a flock with a moving object, so that every frame is evaluated."""
    crowd = add_crowd(scene, points, settings, FRAMES)
    goal = add_object(scene, f"Goal {scene.name}", None)
    move([goal])
    crowd.steer.target_object = goal
    return cached.begin(crowd, scene, folder)


class _Turns:
    """Two ways to run equal numbers of frames, in bursts with alternating order."""

    def __init__(self) -> None:
        self.wall: list[list[float]] = [[], []]
        self.cpu = [0.0, 0.0]

    def take(self, calls: Sequence[Callable[[], object]]) -> None:
        """A burst of each."""
        order = (0, 1) if len(self.wall[0]) % 2 else (1, 0)
        for number in order:
            wall, cpu = time.perf_counter(), time.process_time()
            calls[number]()
            self.wall[number].append(time.perf_counter() - wall)
            self.cpu[number] += time.process_time() - cpu

    @property
    def ratio(self) -> float:
        """Time of the first relative to the second: median of the bursts, robust to other load."""
        return statistics.median(a / b for a, b in zip(*self.wall, strict=True))

    @property
    def note(self) -> str:
        """The sums."""
        first, second = map(sum, self.wall)
        cpu = self.cpu[0] / self.cpu[1]
        return f"{first:.2f} s against {second:.2f} s in turns; {cpu:.2f}× of processor time"


def _frames(bake: cached.CacheBake) -> Callable[[], object]:
    """Does a burst of frames of a bake."""
    return lambda: [next(bake.steps) for _ in range(BURST)]


def solver() -> Iterator[Row]:
    """A whole bake and as many steps of the bare solver, in turns."""
    settings, agents = flock(MANY, 10)
    turns = _Turns()
    with _folder() as folder, fresh_file() as scene:
        bake = _bake(scene, settings, agents.position, folder)
        # the same agents: the density of a flock decides the time of a step
        crowd = bpy.data.objects["Crowd"]
        start = read_agents(crowd, scene.view_layers[0].depsgraph, settings)
        simulation = Simulation(settings, start, frame=1, fps=FPS)

        def steps() -> None:
            for _ in range(BURST):
                simulation.step(World())

        for _ in range(FRAMES // BURST):
            turns.take([_frames(bake), steps])
        list(bake.steps)
        size = _size(folder)
    yield Row(
        f"bake {MANY:,} agents over {FRAMES} frames: time of the bare solver",
        turns.ratio,
        "×",
        1.15,
        note=f"{turns.note}; {size / 1e6:.0f} MB",
    )


def _spheres(scene: bpy.types.Scene, count: int = 200) -> None:
    """Spheres with two modifiers each, keyed: a scene that takes a second per frame."""
    import bmesh

    data = bpy.data.meshes.new("Sphere")
    shape = bmesh.new()
    bmesh.ops.create_uvsphere(shape, u_segments=16, v_segments=8, radius=1.0)
    shape.to_mesh(data)
    shape.free()
    for number in range(count):
        obj = add_object(scene, f"Sphere {number}", data)
        obj.modifiers.new("Subdivision", "SUBSURF").levels = 3
        wave = obj.modifiers.new("Wave", "WAVE")
        wave.height = 0.2


def beside() -> Iterator[Row]:
    """The same bake in an empty scene and beside 200 subdivided spheres that move."""
    settings, agents = flock(MANY, 10)
    turns = _Turns()
    with _folder() as folder, fresh_file() as scene:
        scene.name = "Empty"
        heavy = bpy.data.scenes.new("Heavy")
        _spheres(heavy)
        start = time.perf_counter()
        heavy.frame_set(2)
        frame = time.perf_counter() - start
        scenes = (heavy, scene)
        bakes = [_bake(s, settings, agents.position, folder / s.name) for s in scenes]
        for _ in range(FRAMES // BURST):
            turns.take([_frames(bake) for bake in bakes])
        for bake in bakes:
            bake.close()
    yield Row(
        "bake beside 200 subdivided modifiers: time of the same in an empty scene",
        turns.ratio,
        "×",
        1.05,
        note=f"{turns.note}; a frame of that scene {frame:.2f} s",
    )


def caches() -> Iterator[Row]:
    """All benchmarks of caches."""
    yield from writing()
    yield from solver()
    yield from beside()

"""Benchmarks of delays in Blender."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import bpy
import numpy as np

from scripts.bench.core import stepper
from scripts.bench.crowds import flock
from scripts.bench.scenes import add_boids, add_crowd, add_preset_crowd, fresh_file, move, player
from scripts.bench.table import Row, median, medians, seconds_of, skipped, timed
from steer_addon.blender.bake import keyframes
from steer_addon.blender.crowd.state import ensure_state, write_state
from steer_addon.blender.playback import linking
from steer_addon.blender.reading.scene import WorldReader
from steer_addon.blender.writing.files import Header
from steer_addon.blender.writing.usd_points import has_usd
from steer_addon.core.crowd.settings import CrowdSettings
from steer_addon.core.inputs.world import World
from steer_addon.core.results.frames import Frame
from steer_addon.core.step.simulation import Simulation

MANY = 10_000
FPS = 24.0


def _particles(obj: bpy.types.Object) -> np.ndarray:
    system = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).particle_systems[0]
    places = np.empty(3 * len(system.particles), np.float32)
    system.particles.foreach_get("location", places)
    return places.reshape(-1, 3)


def boids() -> Iterator[Row]:
    """A flock against Blender's boids: equal count and density, in one process, by turns."""
    settings, agents = flock(MANY, 10)
    with fresh_file() as scene:
        empty = bpy.data.scenes.new("Empty")
        obj = add_boids(scene, agents.position)
        scene.frame_end = 1000
        scene.frame_set(1)
        before = _particles(obj)
        frames = range(2, 100)
        calls = [stepper(settings, agents), player(scene, frames), player(empty, frames)]
        # several frames at a time, as in a bake: after a frame Blender's idle threads keep the
        # cores busy for some milliseconds, and would slow down a single step alone
        ours, theirs, nothing = medians(calls, 8, 3, in_a_row=8)
        moved = np.linalg.norm(_particles(obj) - before, axis=1)
    if len(moved) != MANY or not (moved > 0.0).mean() > 0.9:
        raise RuntimeError(f"{int((moved > 0.0).sum())} of {len(moved)} boids moved: no comparison")
    frame = theirs - nothing
    yield Row(
        "flock of 10,000: Blender's boids in our time",
        frame / ours,
        "×",
        10.0,
        at_least=True,
        note=f"a step {ours * 1e3:.1f} ms, a frame of boids {frame * 1e3:.0f} ms",
    )


def _drawn(scene: bpy.types.Scene) -> int:
    return sum(item.is_instance for item in scene.view_layers[0].depsgraph.object_instances)


def live() -> Iterator[Row]:
    """Scrubbing through stored frames, and playing."""
    settings, agents = flock(MANY, 10)
    last = 40
    with fresh_file() as scene:
        empty = bpy.data.scenes.new("Empty")
        crowd = add_crowd(scene, agents.position, settings)
        times = [seconds_of(lambda n=n: scene.frame_set(n)) for n in range(1, last + 1)]
        yield timed(
            "play a flock of 10,000 live: one frame",
            statistics.median(times[2:]),
            "ms",
            20.0,
            "solver, handler and evaluation",
        )
        order = [*range(1, last + 1), *range(last, 0, -1)]
        shown, nothing = medians([player(scene, order), player(empty, order)], 2 * last)
        yield timed(
            "live handler without the solver, 10,000 agents: one frame",
            shown - nothing,
            "ms",
            3.0,
            f"a stored frame shown and evaluated; an empty scene takes {nothing * 1e3:.2f} ms",
        )
        if _drawn(scene) != MANY:
            raise RuntimeError(f"{_drawn(scene)} agents are shown instead of {MANY}")
        state, frame = ensure_state(crowd), _frames(settings, agents, 2)[-1]
        yield timed(
            "… of it writing the state", median(lambda: write_state(state, frame), 50), "ms"
        )


def _frames(settings: CrowdSettings, agents: object, count: int) -> list[Frame]:
    simulation = Simulation(settings, agents, frame=1, fps=FPS)
    return [simulation.current(), *(simulation.step(World()) for _ in range(count - 1))]


def playback() -> Iterator[Row]:
    """A baked crowd that Blender plays by itself: writing its file, and playing it."""
    settings, agents = flock(MANY, 10)
    if not has_usd():
        yield skipped("baked playback of 10,000: one frame", "this build of Blender has no USD")
        return
    few = _frames(settings, agents, 10)
    frames = [replace(few[k % 10], number=k + 1) for k in range(100)]
    with fresh_file() as scene, TemporaryDirectory() as folder:
        crowd = add_crowd(scene, agents.position, settings)
        empty = bpy.data.scenes.new("Empty")
        header = Header(crowd.name, FPS, 1, len(frames))
        times = []
        for _ in range(5):
            start = time.process_time()
            played = linking.write(iter(frames), Path(folder), header)
            times.append(time.process_time() - start)
        size = played.path.stat().st_size / 1e6
        yield timed(
            "write 100 frames of 10,000 for playback",
            statistics.median(times),
            "s",
            0.5,
            f"{size:.0f} MB of USD; time of the processor",
        )
        linking.show(crowd, played)
        order = range(1, len(frames) + 1)
        shown, nothing = medians([player(scene, order), player(empty, order)], 2 * len(frames))
        if _drawn(scene) != MANY:
            raise RuntimeError(f"{_drawn(scene)} agents are shown instead of {MANY}")
        yield timed(
            "baked playback of 10,000: one frame",
            shown - nothing,
            "ms",
            2.0,
            "USD read, cones placed; no Steer in it",
        )


def keys() -> Iterator[Row]:
    """Keyframe bake of 1,000 agents over 250 frames."""
    settings, agents = flock(1000, 10)
    frames = _frames(settings, agents, 250)
    rates, taken = [], []
    for _ in range(5):
        with fresh_file() as scene:
            made = keyframes.bake(frames, name="Crowd", collection_parent=scene.collection)
            rates.append(made.key_count / made.seconds / 1e6)
            taken.append(seconds_of(lambda made=made: keyframes.delete_bake(made.collection)))
    note = f"{made.key_count:,} keys on {made.object_count:,} objects; median of 5"
    rate = statistics.median(rates)
    yield Row("keyframe bake", rate, "million keys/s", 1.5, at_least=True, note=note)
    yield timed("delete that bake", statistics.median(taken), "s")


def _read_times(moving: bool) -> list[float]:
    """Times to read the world [s], frame by frame."""
    with fresh_file() as scene:
        crowd = add_preset_crowd(scene, "pedestrians", 100)
        if moving:
            move(crowd.steer.colliders.objects)
        reader = WorldReader()

        def read() -> None:
            reader.read(crowd, scene.view_layers[0].depsgraph, FPS)

        times = []
        for number in range(1, 23):
            scene.frame_set(number)
            times.append(seconds_of(read))
        return times


def reading() -> Iterator[Row]:
    """Time of the scene reader for 50 colliders of 16,000 triangles in all, and the ground."""
    for moving in (False, True):
        first, *others = _read_times(moving)
        yield timed(
            f"read 50 {'moving' if moving else 'still'} colliders, 16,000 triangles: one frame",
            statistics.median(others),
            "ms",
            note=f"the first time {first * 1e3:.0f} ms, trees included",
        )

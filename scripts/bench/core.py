"""Benchmarks of the solver and its foundations, without Blender."""

from __future__ import annotations

import statistics
import tracemalloc
from collections.abc import Callable, Iterator

import numpy as np

from scripts.bench.crowds import DT, REACH, balls, flock, houdini, pedestrians, scatter
from scripts.bench.references import c_flock, numpy_step
from scripts.bench.table import Row, median, medians, seconds_of, skipped, timed
from steer_addon.core.agents import Agents
from steer_addon.core.crowd.settings import CrowdSettings
from steer_addon.core.geometry import bvh, neighbors
from steer_addon.core.inputs.world import CollidersBuilder, World
from steer_addon.core.results.frames import make_frame
from steer_addon.core.step.simulation import Simulation, Taking, advance_together
from steer_addon.core.step.solver import Solver
from steer_addon.core.step.together import everyone

MANY = 100_000
ROUNDS = 15
FRAMES = 100


def stepper(
    settings: CrowdSettings, agents: Agents, world: World | None = None
) -> Callable[[], Agents]:
    """One step, the same one every time."""
    solver, here = Solver(settings), world or World()
    return lambda: solver.step(agents, here, DT, number=0).agents


def flocks() -> Iterator[Row]:
    """100,000 agents against NumPy and C, which must give the same results."""
    settings, agents = flock(MANY)
    ours = stepper(settings, agents)
    with c_flock() as c:
        name = "flock of 100,000, about 9 neighbors: one step"
        calls = [ours] if c is None else [ours, lambda: c.step(agents, settings)]
        seconds, *limit = medians(calls, ROUNDS)
        yield timed(name, seconds, "ms", note="separation, cohesion, alignment")
        plain = median(lambda: numpy_step(agents, settings), 3, 1)
        yield Row(
            "… NumPy's time in ours",
            plain / seconds,
            "×",
            note=f"the same step in NumPy, vectorized over pairs: {plain * 1e3:,.0f} ms",
        )
        references = [numpy_step(agents, settings)]
        if c is None:
            yield skipped("… our time in that of C", "no C compiler")
        else:
            references.append(c.step(agents, settings))
            note = f"by hand, OpenMP, without lists of neighbors: {limit[0] * 1e3:.1f} ms"
            yield Row("… our time in that of C", seconds / limit[0], "×", note=note)
    after = ours()
    for position, velocity in references:
        np.testing.assert_allclose(after.position, position, atol=1e-4)
        np.testing.assert_allclose(after.velocity, velocity, atol=1e-4)
    seconds = median(stepper(*flock(MANY, 10)), ROUNDS)
    yield timed("flock of 100,000, the 10 nearest neighbors: one step", seconds, "ms")


def _run_times(settings: CrowdSettings, agents: Agents, world: World) -> list[float]:
    """Times of the steps of a run [s]; the crowd gets denser as it reaches its target."""
    simulation = Simulation(settings, agents, frame=1, fps=1.0 / DT, world=world)
    simulation.step(world)
    return [seconds_of(lambda: simulation.step(world)) for _ in range(FRAMES)]


def presets() -> Iterator[Row]:
    """Whole presets among obstacles of 16,000 triangles."""
    for make, wanted, what in (
        (houdini, 25.0, "preset houdini_vex, 10,000 agents, 16,000 triangles"),
        (pedestrians, None, "preset pedestrians on hills, 10,000 agents, 16,000 + 8,192 triangles"),
    ):
        times = _run_times(*make())
        note = f"median of {FRAMES} frames, slowest {max(times) * 1e3:.0f} ms"
        yield timed(f"{what}: one step", statistics.median(times), "ms", wanted, note)


def meeting() -> Iterator[Row]:
    """Ten crowds that meet, against one of as many agents."""
    settings, agents, world = pedestrians()
    options = {"frame": 1, "fps": 1.0 / DT, "world": world}
    whole = Simulation(settings, agents, **options)
    rows = [np.arange(k, agents.count, 10) for k in range(10)]
    parts = [Simulation(settings, agents.taken(own), **options) for own in rows]

    def together() -> None:
        advance_together([Taking(part, world) for part in parts], everyone(len(parts)))

    one, ten = medians([lambda: whole.advance(world), together], ROUNDS)
    name = "ten crowds of 1,000 that meet: time of a step over that of one crowd of 10,000"
    yield Row(name, ten / one, "×", 1.2, note=f"{ten * 1e3:.1f} over {one * 1e3:.1f} ms")


def searches() -> Iterator[Row]:
    """Neighbors, rays and trees."""
    settings, agents = flock(MANY)
    grid = neighbors.build_grid(agents.position, REACH)
    one = np.ones(1, np.float32)
    options = (agents.position, agents.heading, agents.id, one * REACH, one * 10, one * 360)
    seconds = median(lambda: neighbors.build_grid(agents.position, REACH), ROUNDS)
    yield timed("sort 100,000 agents into cells", seconds, "ms")
    seconds = median(lambda: neighbors.find(grid, *options), ROUNDS)
    yield timed("find their 10 nearest neighbors", seconds, "ms")

    meshes = balls(100.0)
    triangles = np.concatenate([mesh.triangles for mesh in meshes])
    yield timed("grow a tree over 16,000 triangles", median(lambda: bvh.build(triangles), 9), "ms")
    tree = bvh.build(triangles)
    moved = triangles + np.float32(0.1)
    yield timed("fit it to moved triangles", median(lambda: bvh.refit(tree, moved), ROUNDS), "ms")
    builder = CollidersBuilder()
    builder.build(meshes)
    seconds = median(lambda: builder.build(meshes), ROUNDS)
    yield timed("50 colliders that stand still, per frame", seconds, "ms")

    points = scatter(MANY, 1.0, seed=5)
    points *= 100.0 / np.float32(np.ptp(points))
    direction = np.random.default_rng(6).normal(size=points.shape)
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    seconds = median(lambda: bvh.ray_cast_many(tree, points, direction), ROUNDS)
    note = f"{seconds / MANY * 1e6:.2f} µs a ray on all cores"
    yield Row("rays against 16,000 triangles", MANY / seconds / 1e6, "million/s", note=note)
    seconds = median(lambda: bvh.nearest_many(tree, points), 5)
    yield Row("nearest points on them", MANY / seconds / 1e6, "million/s")


def _peak(settings: CrowdSettings, agents: Agents, world: World) -> float:
    """Most memory held at once during some steps [bytes/agent], the crowd itself included."""
    tracemalloc.start()
    try:
        simulation = Simulation(settings, agents, frame=1, fps=1.0 / DT, world=world)
        for _ in range(5):
            simulation.step(world)
        return tracemalloc.get_traced_memory()[1] / agents.count
    finally:
        tracemalloc.stop()


def memory() -> Iterator[Row]:
    """Memory per agent while stepping."""
    for count in (10_000, MANY):
        for what, crowd in (
            ("flock", (*flock(count, 10), World())),
            ("houdini_vex", houdini(count)),
        ):
            Solver(crowd[0]).step(crowd[1], crowd[2], DT, number=0)
            yield Row(
                f"memory of a step, {what}, {count:,} agents", _peak(*crowd), "B/agent", 1024.0
            )
    settings, agents = flock(10_000)
    frame = make_frame(1, agents, settings.motion)
    held = sum(value.nbytes for value in vars(frame).values() if isinstance(value, np.ndarray))
    yield Row("a kept frame of the live simulation", held / agents.count, "B/agent")

"""Random scenes of closed convex meshes, some of them moving, and agents that enter them.

The check knows nothing of cells and rays: meshes are convex, so planes tell what is inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from crowdtools import box, crowd, place
from hypothesis import strategies as st
from solids import ball, beyond_convex, rotation

from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.crowd.settings import BodiesSettings
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.world import CollidersBuilder, World, make_world
from steer_addon.core.step.simulation import Simulation

EYE = 0.35
"""Where walkers' rays start [m], the step height."""
INSIDE = -1.0e-6
"""Deeper than this [m] is inside."""


@dataclass
class Solid:
    """A convex mesh with a motion of its own."""

    triangles: np.ndarray
    center: np.ndarray
    swing: np.ndarray
    """How far it swings to and fro [m]; its fastest speed [m/s] too."""
    spin: float
    """[rad/s] about the vertical."""
    growth: float
    """Share by which it grows and shrinks."""

    @property
    def moves(self) -> bool:
        """Whether it does not stay as it is."""
        return bool(self.swing.any() or self.spin or self.growth)

    def at(self, name: str, time: float) -> Mesh:
        """The mesh at a time [s]."""
        turn, size, center = self._pose(time)
        return Mesh(name, (self.triangles @ turn * size + center).astype(np.float32), self.moves)

    def seen(self, points: np.ndarray, time: float) -> np.ndarray:
        """Points in the coordinates of the moving mesh."""
        turn, size, center = self._pose(time)
        return (points - center) / size @ turn.T

    def _pose(self, time: float) -> tuple[np.ndarray, float, np.ndarray]:
        c, s = np.cos(self.spin * time), np.sin(self.spin * time)
        turn = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
        size = 1.0 + self.growth * np.sin(2.0 * time)
        return turn, size, self.center + self.swing * np.sin(time)


@st.composite
def solids(draw: st.DrawFn, moving: bool) -> Solid:
    """A box or a ball, anyhow turned; with some chance it moves."""
    size = draw(st.tuples(*[st.floats(0.3, 4.0)] * 3))
    base = box((0, 0, 0), size) if draw(st.booleans()) else ball(radius=size[0] / 2, rounds=1)
    axes = rotation(draw(st.integers(0, 20)))
    center = np.array(draw(st.tuples(*[st.floats(-6.0, 6.0)] * 2, st.floats(-2.0, 2.0))))
    swing, spin, growth = np.zeros(3), 0.0, 0.0
    if moving and draw(st.booleans()):
        swing = np.array(draw(st.tuples(*[st.floats(-30.0, 30.0)] * 2, st.just(0.0))))
        spin = draw(st.sampled_from([0.0, 3.0, -8.0]))
        growth = draw(st.sampled_from([0.0, 0.0, 0.3]))
    return Solid(base.triangles.astype(np.float64) @ axes, center, swing, spin, growth)


@dataclass
class ContactScene:
    """Agents that run about at random between solids."""

    solids: list[Solid]
    motion: str
    speed: float
    radius: float
    fps: float
    together: bool
    seed: int

    def meshes(self, frame: int) -> list[Mesh]:
        """The solids at a frame, counted from 0."""
        return [solid.at(f"solid {k}", frame / self.fps) for k, solid in enumerate(self.solids)]

    def start(self, count: int = 16) -> np.ndarray:
        """Places outside of all solids."""
        points = np.random.default_rng(self.seed).uniform(-8, 8, (400, 3))
        if self.motion == "GROUND":
            points[:, 2] = 0.0
        free = np.ones(len(points), bool)
        for mesh in self.meshes(0):
            free &= beyond_convex(self.eyes(points), mesh) > 0.01
        return points[free][:count].astype(np.float32)

    def eyes(self, position: np.ndarray) -> np.ndarray:
        """Points of the agents that may not be inside of anything."""
        lift = EYE if self.motion == "GROUND" else 0.0
        return position.astype(np.float64) + [0.0, 0.0, lift]

    def penetrations(self, steps: int = 20) -> int:
        """Agent-steps inside of a solid, or through one that stands, when all is played."""
        settings = crowd(
            Seek(target_choice="BY_ID"), motion=self.motion, relaxation_time=0.02,
            agents={"radius": self.radius, "max_force": 1e5, "max_speed": self.speed},
        )  # fmt: skip
        bodies = BodiesSettings(collide_agents=self.together, collide_colliders=True)
        settings, builder = replace(settings, bodies=bodies), CollidersBuilder()
        world = World(colliders=builder.build(self.meshes(0)))
        agents = place(settings, self.start())
        simulation = Simulation(settings, agents, frame=0, fps=self.fps, world=world)
        random, found = np.random.default_rng(self.seed + 1), 0
        for frame in range(1, steps + 1):
            goals = random.uniform(-8, 8, (agents.count, 3))
            goals[:, 2] *= self.motion == "FLY"
            before, meshes = self.eyes(simulation.agents.position), self.meshes(frame)
            simulation.step(replace(make_world(targets=goals), colliders=builder.build(meshes)))
            after = self.eyes(simulation.agents.position)
            assert np.isfinite(after).all()
            found += count_penetrations(before, after, meshes, [s.moves for s in self.solids])
            found += self._swept(before, after, frame)
        return found

    def _swept(self, before: np.ndarray, after: np.ndarray, frame: int) -> int:
        """Agents that a moving solid has swept over; between several there may be no way out.

        What grows in front of walkers also grows upward, which they cannot evade.
        """
        solid = self.solids[0]
        if len(self.solids) > 1 or not solid.moves or (solid.growth and self.motion == "GROUND"):
            return 0
        start = solid.seen(before, (frame - 1) / self.fps)
        stop = solid.seen(after, frame / self.fps)
        mesh = Mesh("solid", solid.triangles.astype(np.float32))
        return int(passes_through(start, stop, mesh).sum())


@st.composite
def contact_scenes(draw: st.DrawFn, moving: bool = True) -> ContactScene:
    """Any such scene with up to 50 m/s and steps of up to 1/12 s."""
    return ContactScene(
        solids=draw(st.lists(solids(moving), min_size=1, max_size=4)),
        motion=draw(st.sampled_from(["GROUND", "FLY"])),
        speed=draw(st.sampled_from([1.4, 10.0, 50.0])),
        radius=draw(st.sampled_from([0.0, 0.05, 0.25, 0.6])),
        fps=draw(st.sampled_from([12.0, 24.0, 60.0])),
        together=draw(st.booleans()),
        seed=draw(st.integers(0, 1000)),
    )


def passes_through(start: np.ndarray, stop: np.ndarray, mesh: Mesh) -> np.ndarray:
    """Which straight ways lead through the inside of a convex mesh."""
    corners = mesh.triangles.astype(np.float64)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    height = np.einsum("ij,ij->i", normals, corners[:, 0])
    first, last = start @ normals.T - height, stop @ normals.T - height
    change = last - first
    with np.errstate(divide="ignore", invalid="ignore"):
        share = -first / change
    enter = np.where(change < 0.0, share, -np.inf).max(axis=1, initial=0.0)
    leave = np.where(change > 0.0, share, np.inf).min(axis=1, initial=1.0)
    beside = ((change == 0.0) & (first >= 0.0)).any(axis=1)
    return ~beside & (enter < leave - 1.0e-6)


def count_penetrations(
    before: np.ndarray, after: np.ndarray, meshes: Sequence[Mesh], moving: Sequence[bool]
) -> int:
    """Agents inside of a mesh after a step, or whose straight step led through one that stands."""
    count = 0
    for mesh, moves in zip(meshes, moving, strict=True):
        bad = beyond_convex(after, mesh) < INSIDE
        if not moves:
            bad |= passes_through(before, after, mesh)
        count += int(bad.sum())
    return count


def crossed(start: np.ndarray, stop: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Which straight ways meet which triangles, (ways, triangles).

    Source: Möller and Trumbore 1997, "Fast, minimum storage ray-triangle intersection".
    """
    corners, way = triangles.astype(np.float64), stop - start
    a, b = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    side = np.cross(way[:, None], b[None])
    area = np.einsum("tj,ntj->nt", a, side)
    offset = start[:, None] - corners[None, :, 0]
    lifted = np.cross(offset, a[None])
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.einsum("ntj,ntj->nt", offset, side) / area
        v = np.einsum("nj,ntj->nt", way, lifted) / area
        share = np.einsum("tj,ntj->nt", b, lifted) / area
        within = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (share >= 0.0) & (share <= 1.0)
    return within & (np.abs(area) > 1.0e-12)


@dataclass
class SoupScene:
    """Agents that run about between triangles that have nothing to do with one another."""

    count: int
    size: float
    snapped: bool
    shift: float
    motion: str
    speed: float
    radius: float
    fps: float
    together: bool
    seed: int

    def crossings(self, steps: int = 20) -> int:
        """Agent-steps whose straight way meets a triangle, when all is played."""
        random, flat = np.random.default_rng(self.seed), self.motion == "GROUND"
        center = random.uniform(-8, 8, (self.count, 1, 3)) * [1.0, 1.0, 0.2]
        corners = center + random.normal(size=(self.count, 3, 3)) * self.size
        corners = np.round(corners * 2.0) / 2.0 if self.snapped else corners
        mesh = Mesh("soup", (corners + self.shift).astype(np.float32))
        settings = crowd(
            Seek(target_choice="BY_ID"), motion=self.motion, relaxation_time=0.02,
            agents={"radius": self.radius, "max_force": 1e5, "max_speed": self.speed},
        )  # fmt: skip
        bodies = BodiesSettings(collide_agents=self.together, collide_colliders=True)
        spread = [1.0, 1.0, 0.0 if flat else 1.0]
        start = random.uniform(-9, 9, (16, 3)) * spread + self.shift
        colliders = CollidersBuilder().build([mesh])
        settings = replace(settings, bodies=bodies)
        simulation = Simulation(settings, place(settings, start), frame=0, fps=self.fps)
        lift, found = [0.0, 0.0, EYE if flat else 0.0], 0
        for _ in range(steps):
            goals = random.uniform(-9, 9, (16, 3)) * spread + self.shift
            before = simulation.agents.position.astype(np.float64) + lift
            simulation.step(replace(make_world(targets=goals), colliders=colliders))
            after = simulation.agents.position.astype(np.float64) + lift
            assert np.isfinite(after).all()
            found += int(crossed(before, after, mesh.triangles).any(axis=1).sum())
        return found


soup_scenes = st.builds(
    SoupScene,
    count=st.integers(1, 50),
    size=st.sampled_from([0.1, 1.0, 5.0]),
    snapped=st.booleans(),
    shift=st.sampled_from([0.0, 0.0, 1000.0]),
    motion=st.sampled_from(["GROUND", "FLY"]),
    speed=st.sampled_from([1.4, 10.0, 50.0]),
    radius=st.sampled_from([0.0, 0.05, 0.25, 0.6]),
    fps=st.sampled_from([12.0, 24.0, 60.0]),
    together=st.booleans(),
    seed=st.integers(0, 1000),
)

"""Whole walks of a character, frame by frame: where its vertices are in the world, and what pops.

The poses are those that nodes pick: the nearest ones to the phase. What a pose says is how fast
each of its vertices moves, as its `velocity` does: by the poses before and after it, at the rate of
the phase, and with the body, which goes on and turns. Between two frames a foot may swing past many
poses, so those on the way there count too.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from steer_addon.core.agents import make_agents
from steer_addon.core.characters.cast import MEMORY, POSTURE, Cast
from steer_addon.core.characters.picking import SHEARS, stances
from steer_addon.core.characters.pose_space import PoseSpace, split_clips
from steer_addon.core.crowd.settings import CrowdSettings
from steer_addon.core.step.gaits import gait
from steer_addon.core.step.gaits.landing import LIMBS, RATE

FPS = 24.0
LANDING = 0.36
"""Speed from which feet go as the body does [m/s]."""
PHASE, GAIT = POSTURE.index("phase"), POSTURE.index("gait")


@dataclass(frozen=True)
class Walk:
    """What a character did.

    Attributes:
        space: Its poses.
        places: Where it was at each frame [m], shape (frame_count, 2).
        yaws: Its heading [rad], 0 is along -Y, shape (frame_count,).
        gaits: Number of its gait, shape (frame_count,).
        phases: Its phase, shape (frame_count,).
        poses: Number of its pose, shape (frame_count,).
        moves: Its twist [rad], and its shifts ahead, to the right and up [m], shape
            (frame_count, 4).
        slopes: The rise of the ground ahead and to the right, and how far it leans to both, as its
            body takes them up, shape (frame_count, 4).
        rates: How fast it leans ahead and to the right [1/s], but for what it does at once as its
            gait changes, shape (frame_count, 2).
        scale: Its size.
        heights: How high the ground is below it [m], shape (frame_count,), or 0 at all.
    """

    space: PoseSpace
    places: np.ndarray
    yaws: np.ndarray
    gaits: np.ndarray
    phases: np.ndarray
    poses: np.ndarray
    slopes: np.ndarray
    moves: np.ndarray
    rates: np.ndarray
    scale: float = 1.0
    heights: np.ndarray | float = 0.0

    def vertices(self) -> np.ndarray:
        """Places of all vertices in the world [m], shape (frame_count, vertex_count, 3)."""
        return self.placed(
            self.space.positions[self.poses].astype(float), np.arange(len(self.yaws))
        )

    def placed(
        self, points: np.ndarray, frames: np.ndarray, more: np.ndarray | float = 0.0
    ) -> np.ndarray:
        """Points of poses in the world, each pose as the body stands in one of the frames.

        Args:
            points: Points of a pose for each [m], shape (n, point_count, 3).
            frames: The frames, shape (n,).
            more: What the bodies are leaned, turned and shifted further, see `_stands`.
        """
        lean_ahead, lean_side, twist, ahead, side, lift = (self._stands()[frames] + more).T
        points = turned(points.copy(), twist)
        points[..., 0] -= side[:, None]
        points[..., 1] -= ahead[:, None]
        points[..., 0] -= lean_side[:, None] * points[..., 2]
        points[..., 1] -= lean_ahead[:, None] * points[..., 2]
        points[..., 2] += lift[:, None]
        points = self.scale * turned(points, self.yaws[frames])
        points[..., :2] += self.places[frames][:, None]
        points[..., 2] += np.broadcast_to(self.heights, len(self.yaws))[frames][:, None]
        return points

    def _stands(self) -> np.ndarray:
        """How it leans, and its moves, shape (frame_count, 6)."""
        return np.hstack([self.slopes[:, 2:], self.moves])

    def said(self) -> np.ndarray:
        """How far poses say that vertices move in a frame [m]: the most of those passed by."""
        rows = [self.space.rows[number] for number in self.gaits]
        first, count = (np.array([getattr(r, k) for r in rows]) for k in ("first", "count"))
        # rates of neighboring gaits are alike in cycles of steps: first steps have two in a row
        steps = np.array([2.0 if row.both_sides else 1.0 for row in rows])
        rate = np.diff(self.phases) * steps[:-1]
        changed = np.flatnonzero(np.diff(self.gaits) != 0)
        # the phase jumps where the gait changes
        known = np.delete(np.arange(len(rate)), changed)
        at = np.arange(len(self.poses))
        steps_before = known[np.clip(np.searchsorted(known, at) - 1, 0, len(known) - 1)]
        steps_after = known[np.clip(np.searchsorted(known, at), 0, len(known) - 1)]
        before, after = rate[steps_before], rate[steps_after]
        # but one that goes along, or lands, goes on at the rate of its way there, or as before
        strides = np.array([row.stride for row in rows])
        way = np.linalg.norm(np.diff(self.places, axis=0), axis=1) / self.scale
        most = np.maximum(way, LANDING / FPS) * steps[:-1] / np.maximum(strides[:-1], 1.0e-9)
        own = np.clip(rate, -most, most)
        walks = (strides[:-1] > 0.0) & (strides[1:] > 0.0)
        for found, step in ((before, np.maximum(at - 1, 0)), (after, np.minimum(at, at[-1] - 1))):
            there = walks[step] & (np.abs(own[step]) > np.abs(found))
            found[there] = own[step][there]
        # the body goes on and turns; seen from each body, as its poses are
        points, later = self.space.positions, np.minimum(at + 1, at[-1])
        shown, former = points[self.poses].astype(float), np.maximum(at - 1, 0)
        # so it is leaned and shifted; what it is as its gait changes, no pose says
        moves = np.diff(self._stands(), axis=0)
        moves[:, :2] = 0.5 * (self.rates[1:] + self.rates[:-1]) / FPS
        shifted = np.isin(np.arange(6), (3, 4))
        to = np.where(shifted, moves[steps_after], moves[np.minimum(at, at[-1] - 1)])
        since = -np.where(shifted, moves[steps_before], moves[former])
        own = self.placed(shown, at)
        going = self.placed(shown, later, self._to(at, later, to)) - own
        going += own - self.placed(shown, former, self._to(at, former, since))
        going = turned(going / (later - former)[:, None, None], -self.yaws - self.moves[:, 0])
        most = np.zeros(going.shape[:2])
        for share, rate in product((-1.0, -0.5, 0.0, 0.5, 1.0), (before, after)):
            within = self.poses - first + np.rint(share * rate / steps * count).astype(int)
            moved = points[first + (within + 1) % count] - points[first + (within - 1) % count]
            moved = moved * (0.5 * self.scale * count * rate / steps)[:, None, None] + going
            most = np.maximum(most, np.einsum("nvi,nvi->nv", moved, moved))
        return np.asarray(np.sqrt(most))

    def _to(self, at: np.ndarray, other: np.ndarray, moves: np.ndarray) -> np.ndarray:
        """What makes the stands of other frames those of some, moved further."""
        stands = self._stands()
        return stands[at] + np.where((at == other)[:, None], 0.0, moves) - stands[other]

    def pops(self) -> np.ndarray:
        """How far a vertex moves at most in each frame beyond twice what poses say [mm]."""
        step = np.linalg.norm(np.diff(self.vertices(), axis=0), axis=-1)
        said = self.said()
        return 1000.0 * (step - 2.0 * np.maximum(said[1:], said[:-1])).max(axis=1)

    def slips(self, low: float, start: int = 0) -> np.ndarray:
        """Ways that soles below a height [m] move in a frame [mm], from a frame on."""
        points = self.vertices()[start:]
        down = points[..., 2] < low
        moved = np.linalg.norm(np.diff(points[..., :2], axis=0), axis=-1)
        return 1000.0 * moved[down[1:] & down[:-1]]


def finished(steps: Generator) -> Any:
    """The result of work that is done in one go."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def on_slope(went: Walk, rise: Iterable[float], upright: float = 1.0) -> np.ndarray:
    """Places of all vertices of a body that goes along -Y on a slope, as the slope has it [m].

    Args:
        went: What it did.
        rise: How much the ground rises along x and y.
        upright: Share of that by which its body is not tilted.

    Returns:
        To the left and back along the slope, and above it, shape (frame_count, vertex_count, 3).
    """
    rise = np.array(rise)
    matrices = stances(np.hstack([went.slopes, went.moves]), upright)
    points = went.space.positions[went.poses].astype(float)
    points = np.einsum("nij,nvj->nvi", matrices[:, :3, :3], points) + matrices[:, None, :3, 3]
    points *= went.scale
    points[..., :2] += went.places[:, None]
    points[..., 2] += (went.places @ rise)[:, None]
    up = np.array([-rise[0], -rise[1], 1.0])
    back = np.array([0.0, 1.0, rise[1]])
    axes = np.stack([np.cross(back, up), back, up])
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    seen: np.ndarray = points @ axes.T
    return seen


def planted_slips(points: np.ndarray, yaws: np.ndarray, speed: float, band: float) -> np.ndarray:
    """How far the soles of planted feet move on the ground in a frame [mm].

    It is the median over the vertices that are near the ground in both frames and go back, by 45
    degrees or less, where one of them is nearer than half of that: a foot that turns round 6 cm
    above the ground is not planted.

    Args:
        points: Places of vertices over the ground, shape (frame_count, vertex_count, 3).
        yaws: Heading in each frame, 0 is along -y [rad].
        speed: Speed of the body [m/s].
        band: Height below which a vertex is near the ground [m].

    Returns:
        One for each step in which a foot is planted.
    """
    moved = turned(np.diff(points, axis=0), -yaws[:-1])[..., :2]
    back = moved[..., 1] + speed / FPS
    high = np.maximum(points[1:, :, 2], points[:-1, :, 2])
    planted = (high < band) & (back > np.abs(moved[..., 0]))
    slips = np.hypot(moved[..., 0], moved[..., 1])
    result = []
    for a, b, down, slip in zip(points[:-1, :, 2], points[1:, :, 2], planted, slips, strict=True):
        if (a[down] < band / 2).any() and (b[down] < band / 2).any():
            result.append(1000.0 * np.median(slip[down]))
    return np.array(result)


def turned(points: np.ndarray, yaws: np.ndarray) -> np.ndarray:
    """Points turned about z, each frame by its own angle."""
    cosine, sine = np.cos(yaws)[:, None], np.sin(yaws)[:, None]
    x, y = points[..., 0].copy(), points[..., 1].copy()
    points[..., 0], points[..., 1] = cosine * x - sine * y, sine * x + cosine * y
    return points


def walk(
    space: PoseSpace,
    speeds: Iterable[float],
    turns: Iterable[float],
    scale: float = 1.0,
    rise: tuple[float, float] = (0.0, 0.0),
    upright: float = 1.0,
    ground: Callable[[np.ndarray], float] | None = None,
) -> Walk:
    """Let a character go.

    Args:
        space: Its poses.
        speeds: Speed in each frame, along the ground [m/s].
        turns: How fast it turns in each [rad/s].
        scale: Its size.
        rise: How much the ground rises along x and y.
        upright: Share of that by which its body is not tilted.
        ground: How high the ground is at a place [m], where it is level but for its steps.
    """
    agents = make_agents(
        np.zeros((1, 3)), heading=[[0.0, -1.0, 0.0]], radius=0.25, mass=1.0, max_speed=10.0,
        max_force=100.0,
    )  # fmt: skip
    clips, rounds, lasts = split_clips(space.clips)
    cast = Cast(
        (space.gaits,),
        scale=scale,
        clips=(clips,),
        rounds=(rounds,),
        lasts=(lasts,),
        upright=(upright,),
    )
    settings = CrowdSettings(cast=cast)
    yaw, place, found, rise = 0.0, np.zeros(3), [], np.array(rise)
    agents.normal[:] = np.array([-rise[0], -rise[1], 1.0]) / np.sqrt(1.0 + np.dot(rise, rise))
    gait.begin(agents, settings)
    for speed, turn in zip(speeds, turns, strict=True):
        after = agents.copy()
        yaw += turn / FPS
        ahead = np.array([np.sin(yaw), -np.cos(yaw), 0.0])
        ahead[2] = rise @ ahead[:2]
        ahead /= np.linalg.norm(ahead)
        place = place + ahead * speed / FPS
        if ground is not None:
            place[2] = ground(place)
        after.heading[:], after.velocity[:], after.position[:] = ahead, ahead * speed, place
        gait.advance(agents, after, settings, 1.0 / FPS)
        posture = after.memory[MEMORY][0].astype(float)
        moves = [posture[POSTURE.index(name)] for name in SHEARS]
        rates = after.memory[LIMBS][0, RATE : RATE + 2].astype(float)
        found.append([*place, yaw, posture[GAIT], posture[PHASE], *moves, *rates])
        agents = after
    x, y, z, yaws, gaits, phases, *moves = np.array(found).T
    gaits = gaits.astype(int)
    first, count = (
        np.array([getattr(space.rows[g], k) for g in gaits]) for k in ("first", "count")
    )
    poses = first + np.floor(phases % 1.0 * count + 0.5).astype(int) % count
    way, moved = np.stack([x, y], axis=1), np.stack(moves, axis=1)
    heights = 0.0 if ground is None else z
    return Walk(
        space, way, yaws, gaits, phases, poses, moved[:, :4], moved[:, 4:8], moved[:, 8:], scale,
        heights,
    )  # fmt: skip


def random_journey(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Speeds and turns: nine speeds in turn, from standing to running, at random accelerations."""
    rng = np.random.default_rng(seed)
    speeds, turns, speed = [], [], 0.0
    for _ in range(9):
        wanted = rng.choice([0.0, 0.3, 0.6, 0.9, 1.3, 1.8, 2.4, 3.2])
        pull = rng.choice([1.0, 1.5, 2.5, 4.0])
        turn = rng.choice([0.0, 0.0, 0.0, 0.6, -1.0]) * (wanted > 0.0)
        for _ in range(int(FPS * (abs(wanted - speed) / pull + rng.uniform(0.3, 2.0)))):
            speed += float(np.clip(wanted - speed, -pull / FPS, pull / FPS))
            speeds.append(speed)
            turns.append(turn)
    return np.array(speeds), np.array(turns)


def changing(went: Walk, speeds: np.ndarray) -> np.ndarray:
    """In which steps a body speeds up, slows down or brings its feet down."""
    gaits, rows = went.gaits[1:], went.space.rows
    steps = (gaits > 0) & (gaits < len(went.space.gaits))
    lands = (speeds[1:] == 0.0) & (steps | np.array([rows[gait].last_steps for gait in gaits]))
    return np.asarray((np.abs(np.diff(speeds)) > 1.0e-6) | lands)


def frames_until_it_stands(space: PoseSpace, speed: float, after: int) -> int:
    """After how many frames a body stands that is stopped at once.

    Args:
        space: Its poses; one vertex will do.
        speed: Its speed before [m/s].
        after: For how many frames it has that speed.
    """
    speeds = np.concatenate([np.linspace(0.0, speed, 24), [speed] * after, [0.0] * 150])
    gaits = walk(space, speeds, 0.0 * speeds).gaits[24 + after :]
    return int(np.flatnonzero(gaits == 0)[0])


def journey(
    fastest: float = 3.2, pull: float = 1.5, spin: float = 1.5
) -> tuple[np.ndarray, np.ndarray]:
    """Speeds and turns: standing, walking, running, slowing, standing, turning on the spot.

    Args:
        fastest: Speed of the run [m/s].
        pull: Acceleration [m/s²].
        spin: How fast it turns on the spot [rad/s].
    """
    steps = [
        (0.0, 1.0, 0.0), (1.3, 3.0, 0.0), (fastest, 3.0, 0.0), (1.3, 2.0, 0.6), (0.0, 4.0, 0.0),
        (0.0, 2.0, spin), (0.0, 3.0, 0.0), (0.5, 3.0, 0.0), (0.0, 3.0, 0.0),
    ]  # fmt: skip
    speeds, turns, speed = [], [], 0.0
    for wanted, lasts, turn in steps:
        change = abs(wanted - speed) / pull
        for _ in range(int(FPS * (change + lasts))):
            speed += float(np.clip(wanted - speed, -pull / FPS, pull / FPS))
            speeds.append(speed)
            turns.append(turn)
    return np.array(speeds), np.array(turns)

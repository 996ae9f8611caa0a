"""Benchmarks of characters: showing crowds of them, making them, and what both take."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import bpy
import numpy as np

from scripts.bench import start, walker
from scripts.bench.blender import FPS
from scripts.bench.crowds import DT, F32, pedestrians
from scripts.bench.scenes import add_plain_instances, fresh_file, player
from scripts.bench.table import Row, median, medians, timed
from steer_addon.blender.characters import library
from steer_addon.blender.crowd.casting import cast_of
from steer_addon.blender.crowd.state import ensure_state, write_state
from steer_addon.blender.display import display
from steer_addon.blender.making.staging import Stage
from steer_addon.blender.suspension import suspended
from steer_addon.commands.output import quiet_stdout
from steer_addon.core.agents import Agents, make_agents
from steer_addon.core.characters.cast import Cast
from steer_addon.core.characters.picking import pose_numbers
from steer_addon.core.crowd.presets import load_preset
from steer_addon.core.crowd.settings import CrowdSettings
from steer_addon.core.results.frames import Frame, make_frame
from steer_addon.core.step import arrival
from steer_addon.core.step.gaits import gait
from steer_addon.core.step.simulation import Simulation

AREA = 2.0
"""Ground for each person [m²]."""
STANDING, SLOWEST = 0.2, 0.25
"""Share of people who stand, and the least share of the preset's speed at which others walk."""
WARM, SHOWN = 150, 24
"""Frames before those that are shown, in which clips begin, and frames that are shown."""
TIMES, TURNS = 20, 5
EYES, AWAY, LENS = 1.6, 8.0, 50.0
"""Height of the camera, its way from the border of the crowd [m], and its lens [mm]."""
PLAIN, PLAIN_TIME = 384, {20_000: 4.2, 100_000: 7.0}
"""Poses that Blender's own node alone picks from, and how long it took for a frame of as many
people where the budgets are from [ms]."""
FEW = 50
"""Agents of the crowd whose file is measured."""


@dataclass(frozen=True)
class People:
    """A crowd of the built-in people.

    Attributes:
        crowd: The crowd object.
        settings: Its settings, with the cast.
        faces: Mean number of faces of a character.
        poses: Number of all poses.
        bytes: Size of the positions in all poses.
    """

    crowd: bpy.types.Object
    settings: CrowdSettings
    faces: float
    poses: int
    bytes: int


def _settings() -> CrowdSettings:
    """The preset `pedestrians`, with all clips for standing agents."""
    settings = load_preset("pedestrians").settings
    return replace(settings, clips=replace(settings.clips, idle="*"))


def _people(scene: bpy.types.Scene, points: F32) -> People:
    """A crowd of people on a square of ground, and a camera at its border that looks across it."""
    stage, settings = Stage(scene), _settings()
    side = float(np.sqrt(AREA * len(points)))
    stage.ground((side, side))
    crowd = stage.crowd(settings, points)
    stage.show(crowd, kind="people")
    border = 0.5 * side
    stage.camera((0.0, -border - AWAY, EYES), (0.0, border, EYES), LENS)
    members = library.among(display.shown_body(display.require_modifier(crowd)))
    counts = [sum(row.count for part in library.rows_of(m) for row in part) for m in members]
    sizes = [count * len(m.data.vertices) for count, m in zip(counts, members, strict=True)]
    faces = sum(len(m.data.polygons) for m in members) / len(members)
    cast = replace(settings, cast=cast_of(crowd))
    return People(crowd, cast, faces, sum(counts), 12 * sum(sizes))


def _walkers(count: int) -> Agents:
    """People who walk straight on, each at a speed of its own, or stand.

    They start so that they fill the square in the middle of the frames that are shown.
    """
    rng, body = np.random.default_rng(6), _settings().agents
    turn = rng.uniform(0.0, 2.0 * np.pi, count)
    heading = np.stack([np.cos(turn), np.sin(turn), 0.0 * turn], axis=1)
    speed = body.max_speed * rng.uniform(SLOWEST, 1.0, count)
    speed[rng.uniform(size=count) < STANDING] = 0.0
    border = 0.5 * np.sqrt(AREA * count)
    middle = rng.uniform(-border, border, (count, 3)) * (1.0, 1.0, 0.0)
    velocity = heading * speed[:, None]
    return make_agents(
        middle - velocity * (DT * (WARM + 0.5 * SHOWN)),
        radius=body.radius,
        mass=body.mass,
        max_speed=body.max_speed,
        max_force=body.max_force,
        velocity=velocity,
        heading=heading,
    )


def _frames(settings: CrowdSettings, agents: Agents) -> list[Frame]:
    """Frames of people who walk straight on, with their gaits and clips."""
    found = []
    gait.begin(agents, settings)
    for number in range(WARM + SHOWN):
        after = agents.copy()
        after.position += np.float32(DT) * after.velocity
        gait.advance(agents, after, settings, DT)
        agents = after
        if number >= WARM:
            arriving = arrival.acts(settings)
            stack = settings.behaviors
            found.append(make_frame(number, agents, settings.motion, stack, arriving=arriving))
    return found


def _poses_of(cast: Cast, frame: Frame) -> tuple[int, float]:
    """How many different poses a frame shows, and the share of agents that play clips."""
    shown, in_clip = 0, 0
    for number, (gaits, clips) in enumerate(zip(cast.gaits, cast.clips, strict=True)):
        own = frame.attributes["character"] == number
        rows = frame.attributes["gait"][own], frame.attributes["phase"][own]
        shown += len(np.unique(pose_numbers((*gaits, *clips), *rows)))
        in_clip += int((rows[0] >= len(gaits)).sum())
    return shown, in_clip / len(frame.id)


def _drawn(scene: bpy.types.Scene) -> tuple[int, int]:
    """How many instances are drawn, and of how many different meshes."""
    items = scene.view_layers[0].depsgraph.object_instances
    meshes = [item.object.data.as_pointer() for item in items if item.is_instance]
    return len(meshes), len(set(meshes))


def _played(
    scenes: Sequence[bpy.types.Scene], changes: Sequence[Callable[[], None] | None]
) -> list[float]:
    """Median times of a frame of some scenes [s], each of which plays for a while in its turn.

    By turns at every frame each would find the processor's caches full of what the others need, and
    take a quarter longer than in anybody's viewport.

    Args:
        scenes: The scenes.
        changes: What changes each before every frame, which is not timed.
    """
    calls = [player(scene, range(1, 250)) for scene in scenes]
    pairs = list(zip(calls, changes, strict=True))
    found = [
        [medians([call], TIMES, 3, between=change)[0] for call, change in pairs]
        for _turn in range(TURNS)
    ]
    return [float(np.median(each)) for each in zip(*found, strict=True)]


def _evaluation(count: int, wanted: float) -> Iterator[Row]:
    """Frames of a crowd of people: evaluation of the nodes, and writing the state before it."""
    agents = _walkers(count)
    with fresh_file() as scene, suspended():
        people = _people(scene, agents.position)
        empty = bpy.data.scenes.new("Empty")
        frames = _frames(people.settings, agents)
        state = ensure_state(people.crowd)
        following = itertools.cycle(frames)

        def write() -> None:
            write_state(state, next(following))

        plain = bpy.data.scenes.new("Plain")
        body = display.shown_body(display.require_modifier(people.crowd))
        pick = add_plain_instances(plain, agents.position, library.among(body)[0], PLAIN)

        scenes, changes = (scene, plain, empty), (write, pick, None)
        shown, alone, nothing = _played(scenes, changes)
        write_state(state, frames[0])
        scene.frame_set(1)
        poses, in_clip = _poses_of(people.settings.cast, frames[0])
        drawn, different = _drawn(scene)
        # small ones in the picture share poses
        if drawn != count or not 300 <= different <= poses:
            raise RuntimeError(f"{drawn} people in {different} poses are shown, of {poses} poses")
        written = median(write, TIMES)
    yield timed(
        f"{count:,} people: evaluation of one frame",
        shown - nothing,
        "ms",
        wanted,
        f"{different:,} different poses of {people.poses:,}; {people.faces:,.0f} faces a person; "
        f"{STANDING:.0%} stand, of all {in_clip:.0%} in clips",
    )
    yield Row(
        "… against Instance on Points alone",
        (shown - nothing) / (alone - nothing),
        "×",
        wanted / PLAIN_TIME[count],
        note=f"which picks from {PLAIN} poses, without gaits, slopes or turns on curves",
    )
    yield timed("… before it, writing the state", written, "ms")


def _making() -> Iterator[Row]:
    """Memory and time of characters that are made of rigs."""
    with start.folder() as bytecode:
        found = start.measured(bytecode=bytecode, script=walker.__file__)
    poses, faces = found["poses"][0], found["faces"]
    what = f"{len(found['poses'])} characters of {faces:,} faces, {poses} poses each"
    note = f"by Blender's own count, {found['stored'] / 1e9:.2f} GB of it in the file"
    if found["resident"]:
        note += f"; the resident set grows by {found['resident'] / 1e9:.1f} GB"
    yield Row(f"{what}: memory", found["shown"] / 1e9, "GB", 1.0, note=note)
    note = f"a rig of {found['bones']} bones; the slowest of {len(found['seconds'])}"
    yield timed("… to make each", max(found["seconds"]), "s", 60.0, note)


def _phase() -> Iterator[Row]:
    """Gaits and clips of a step, against the whole step."""
    settings, agents, world = pedestrians(20_000)
    with fresh_file() as scene, suspended():
        cast = _people(scene, agents.position[:FEW]).settings.cast
    settings = replace(settings, cast=cast, clips=replace(settings.clips, idle="*"))
    simulation = Simulation(settings, agents, frame=1, fps=FPS, world=world)
    before = [simulation.agents]

    def step() -> None:
        before[0] = simulation.agents
        simulation.advance(world)

    def phase() -> None:
        gait.advance(before[0], simulation.agents, settings, DT)

    whole, part = medians([step, phase], TIMES, 24)
    yield Row(
        "phases of 20,000 pedestrians: share of a step",
        100.0 * part / whole,
        "%",
        5.0,
        note=f"{part * 1e3:.2f} of {whole * 1e3:.0f} ms; with clips, by turns",
    )


def _size(folder: Path, name: str, compress: bool) -> int:
    """Size of this file [bytes]."""
    path = str(folder / f"{name}.blend")
    # Blender says on stdout what it has saved
    with quiet_stdout(debug=False, keep=False):
        bpy.ops.wm.save_as_mainfile(
            filepath=path, compress=compress, copy=True, check_existing=False
        )
    return Path(path).stat().st_size


def _growth() -> Iterator[Row]:
    """A file with the people against one without."""
    points = _walkers(FEW).position
    grown = {}
    with tempfile.TemporaryDirectory(prefix="steer-bench-") as path:
        folder = Path(path)
        for compress in (False, True):
            with fresh_file() as scene, suspended():
                stage = Stage(scene)
                stage.show(stage.crowd(_settings(), points), kind="cones", color="#C8502F")
                without = _size(folder, "without", compress)
            with fresh_file() as scene, suspended():
                people = _people(scene, points)
                grown[compress] = _size(folder, "with", compress) - without
    yield Row(
        "a file with the people: growth relative to the positions of their poses",
        grown[False] / people.bytes,
        "×",
        1.05,
        note=f"{grown[False] / 1e6:.1f} MB of {people.bytes / 1e6:.1f}; "
        f"{grown[True] / 1e6:.1f} MB compressed",
    )


def characters() -> Iterator[Row]:
    """All benchmarks of characters."""
    yield from _evaluation(20_000, 10.0)
    yield from _evaluation(100_000, 40.0)
    yield from _making()
    yield from _phase()
    yield from _growth()

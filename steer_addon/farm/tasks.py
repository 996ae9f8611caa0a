"""Tasks: the commands that make the results of a batch, what each needs, and what it leaves.

A task writes into one folder. While it runs, that is a new one beside the goal; so `words` hold a
mark in place of it.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.crowd import presets
from ..core.errors import short
from ..version import __version__
from .errors import JobError
from .job import MOST_TASKS, Batch
from .variations import SHARED, Scene, Variation, frames_of, variations_of

HERE = "\0"
"""In words: the folder that a task writes to."""
_SHOW_IMAGES = ("render", "usd")
"""Kinds of tasks that read images; USD takes copies of textures along."""
BAKED = "baked.blend"
BAKE = "bake"
"""Kind of the tasks that bake, and their folder."""
CACHES = "cache"
"""Folder of the caches of crowds, below that of a bake."""
SIMULATION = "simulation"
"""Folder of arrays and reports, below that of a bake where there is one."""
WORLD = "world"
"""Folder of what `steer extract` reads from a scene."""
ABOUT = "scene.json"
"""File of what it says of the scene, beside that folder."""
KERNELS = "kernels"
"""Kind and name of the task that compiles what all others use."""
EXTRACT = "extract"
"""Kind of tasks that read what several variations simulate."""


@dataclass(frozen=True)
class Task:
    """One command.

    Attributes:
        name: Name in the batch, such as "plaza-seed1/bake".
        kind: What it makes.
        folder: Folder that it writes to, below that of the batch.
        words: The command without the program's name, with `HERE` for that folder.
        digest: What its results depend on; they are out of date when it changes.
        needs: Names of tasks whose results it reads.
        after: Names of tasks that it waits for, however they end.
        shares: Whether other tasks write pictures into the same folder.
    """

    name: str
    kind: str
    folder: str
    words: tuple[str, ...]
    digest: str
    needs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    shares: bool = False

    def command(self, out: Path, folder: Path | None = None) -> list[str]:
        """The words of the command.

        Args:
            out: Folder of the batch.
            folder: Folder to write to; None for the goal.
        """
        goal = str(out / self.folder if folder is None else folder)
        return [word.replace(HERE, goal) for word in self.words]


def tasks_of(
    batch: Batch,
    variations: Sequence[Variation],
    blender: str,
    kernels: Path | None = None,
    *,
    compiles: bool = True,
    extracts: bool = False,
) -> list[Task]:
    """All tasks of a batch, each after those that it needs.

    Args:
        batch: The batch.
        variations: Its variations.
        blender: Version of the Blender that runs them.
        kernels: Folder of kernels that all share; None for the user's own.
        compiles: Whether a first task compiles what all others call.
        extracts: Whether what several variations simulate is read from its scene once, so that
            their simulations need no Blender.

    Raises:
        JobError: There are too many.
    """
    scenes = {one.scene.path: one.scene for one in variations}.values()
    chunks = sum(-(-len(frames_of(batch, scene)) // batch.job.render.chunk) for scene in scenes)
    per_scene = len(variations) // max(1, len(scenes))
    count = per_scene * (chunks if "render" in batch.job.make else 0) + 5 * len(variations)
    if count > MOST_TASKS:
        raise JobError(
            f"the job has {short(count)} tasks: give fewer variations, or a larger chunk in "
            f"[render], for at most {MOST_TASKS}"
        )
    digests = sorted({one.scene.digest for one in variations})
    found = [_kernels_task(batch, kernels, digests)] if compiles else []
    first = tuple(task.name for task in found)
    sharing = Counter((one.scene.path, one.preset) for one in variations)
    worlds: dict[tuple[Path, str | None], Task] = {}
    for variation in variations:
        key = variation.scene.path, variation.preset
        maker = _Maker(batch, variation, blender, first)
        if extracts and sharing[key] > 1 and not (variation.scene.plays or maker.bakes):
            if key not in worlds:
                worlds[key] = maker.world_task()
                found.append(worlds[key])
            maker.read_from(worlds[key])
        found += maker.tasks()
    return found


def first_tasks(batch: Batch, digests: Mapping[Path, str], blender: str) -> dict[Path, Task]:
    """The tasks that read scenes, which do not depend on what is in these: one for each scene.

    Args:
        batch: The batch.
        digests: SHA-256 of the files of scenes that nobody has looked at.
        blender: Version of the Blender that runs them.

    Returns:
        The tasks by scene; scenes that are not read for simulations have none.
    """
    unseen = [Scene(path, digest, (), camera=False) for path, digest in digests.items()]
    found: dict[Path, Task] = {}
    for task in tasks_of(
        batch, variations_of(batch, unseen), blender, compiles=False, extracts=True
    ):
        if task.kind == EXTRACT:
            found.setdefault(Path(task.words[1]), task)
    return found


def _kernels_task(batch: Batch, kernels: Path | None, scenes: list[str]) -> Task:
    into = [] if kernels is None else [f"--into={kernels}"]
    words = ("compile", f"--for={batch.out / 'batch.json'}", *into, "--json", "--quiet")
    chosen = [digest_of_preset(preset) for preset in batch.presets]
    digest = _digest([KERNELS, __version__, scenes, chosen, batch.job.set, into])
    return Task(KERNELS, KERNELS, f"{SHARED}/{KERNELS}", words, digest)


def _digest(parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()


class _Maker:
    """Makes the tasks of a variation."""

    def __init__(
        self, batch: Batch, variation: Variation, blender: str, first: tuple[str, ...]
    ) -> None:
        self.batch, self.job, self.variation = batch, batch.job, variation
        self._blender, self._first = blender, first
        self._scene = str(variation.scene.path)
        self._world: Task | None = None
        self._made: dict[str, Task] = {}

    @property
    def bakes(self) -> bool:
        """Whether there is a bake, which holds the simulation too."""
        return bool({"cache", "render"} & set(self.job.make))

    def tasks(self) -> list[Task]:
        """All tasks, in order."""
        makes, scene = self.job.make, self._scene
        changes = [*self._crowds(), *self._given_frames(), *self._changes()]
        if self.bakes:
            to = ["--to=cache", f"--cache={HERE}/{CACHES}", f"--save={HERE}/{BAKED}"]
            to.append(f"--simulation={HERE}/{SIMULATION}")
            self._add(BAKE, BAKE, ["bake", scene, *to, *changes])
        else:
            self._add_simulation(changes)
        if "keyframes" in makes:
            to = ["--to=keyframes", f"--save={HERE}/keyframes.blend"]
            self._add("keyframes", "keyframes", ["bake", scene, *to, *changes])
        for kind in ("usd", "csv"):
            if kind in makes and self.bakes:
                # the bake is played, and nothing is simulated again
                rest = [*self._crowds(), *self._given_frames()]
                words = ["bake", self._baked(), f"--to={kind}", f"--out={HERE}", *rest]
                self._add(kind, kind, words, needs=[BAKE])
            elif kind in makes:
                words = ["bake", scene, f"--to={kind}", f"--out={HERE}", *changes]
                self._add(kind, kind, words)
        if "render" in makes:
            self._add_pictures()
        return list(self._made.values())

    def world_task(self) -> Task:
        """The task that reads what this variation, and others but for their seeds, simulate."""
        name = self.variation.name
        if self.variation.seed is not None:
            name = name.removesuffix(f"-seed{self.variation.seed}")
        words = ["extract", self._scene, f"--out={HERE}/{WORLD}", f"--about={HERE}/{ABOUT}"]
        words += [*self._crowds(), *self._given_frames(), *self._settings(), "--json"]
        digest = self._digest(words, [])
        name = f"world-{name}"
        return Task(f"{EXTRACT}/{name}", EXTRACT, f"{SHARED}/{name}", tuple(words), digest)

    def read_from(self, world: Task) -> None:
        """Let the simulation read what this task leaves."""
        self._world = world

    def _add_simulation(self, changes: list[str]) -> None:
        if self._world is None:
            words = ["simulate", self._scene, f"--out={HERE}", *changes]
            self._add("simulate", SIMULATION, words)
            return
        place = str(self.batch.out / self._world.folder / WORLD)
        words = ["simulate", place, f"--out={HERE}", *self._crowds()]
        words += [*self._given_frames(), *self._seed()]
        self._add("simulate", SIMULATION, words, needed=[self._world], after=self._first)

    def _add_pictures(self) -> None:
        look, frames = self.job.render, self.variation.frames
        for start in range(0, len(frames), look.chunk):
            part = frames[start : start + look.chunk]
            kind = f"render-{part[0]}-{part[-1]}"
            words = ["render", self._baked(), f"--out={HERE}", *self._crowds(), self._frames(part)]
            words += [f"--engine={look.engine}", f"--samples={look.samples}", f"--size={look.size}"]
            self._add(kind, "frames", words, needs=[BAKE], shares=True)

    def _add(
        self,
        kind: str,
        folder: str,
        words: list[str],
        needs: Iterable[str] = (),
        needed: Iterable[Task] = (),
        after: tuple[str, ...] = (),
        shares: bool = False,
    ) -> None:
        needed = [*needed, *(self._made[name] for name in needs)]
        whole, base = (*words, "--json"), kind.partition("-")[0]
        digest = self._digest(whole, needed, shows=base in _SHOW_IMAGES)
        self._made[kind] = Task(
            name=f"{self.variation.name}/{kind}",
            kind=base,
            folder=f"{self.variation.name}/{folder}",
            words=whole,
            digest=digest,
            needs=tuple(task.name for task in needed),
            after=after if needed else self._first,
            shares=shares,
        )

    def _digest(self, words: Iterable[str], needed: Iterable[Task], *, shows: bool = False) -> str:
        images = self.variation.scene.images if shows else ""
        return _digest(
            [
                [word.replace(str(self.batch.out), "out") for word in self._plain(words)],
                [self.variation.scene.digest, self._preset_digest(), __version__, self._blender],
                [task.digest for task in needed],
                *filter(None, [images]),
            ]
        )

    def _plain(self, words: Iterable[str]) -> list[str]:
        """Words without the places of the scene and the preset: their contents count."""
        preset = self.variation.preset
        places = {self._scene: "scene", f"--preset={preset}": "--preset"}
        return [places.get(word, word) for word in words]

    def _preset_digest(self) -> str:
        preset = self.variation.preset
        return "" if preset is None else digest_of_preset(preset)

    def _baked(self) -> str:
        return str(self.batch.out / self.variation.name / BAKE / BAKED)

    def _crowds(self) -> list[str]:
        return [f"--crowd={name}" for name in self.job.crowds]

    def _given_frames(self) -> list[str]:
        """The frames that the job names; else each crowd has its own range."""
        frames = self.job.frames
        return [] if frames is None else [self._frames(frames)]

    def _frames(self, frames: range) -> str:
        return f"--frames={frames[0]}-{frames[-1]}"

    def _changes(self) -> list[str]:
        return [*self._settings(), *self._seed()]

    def _settings(self) -> list[str]:
        preset = self.variation.preset
        words = [] if preset is None else [f"--preset={preset}"]
        return [*words, *(f"--set={text}" for text in self.job.set)]

    def _seed(self) -> list[str]:
        seed = self.variation.seed
        return [] if seed is None else [f"--seed={seed}"]


def digest_of_preset(name: str) -> str:
    """Digest of the settings of a preset."""
    return _digest(presets.load_preset(name).settings.to_dict())

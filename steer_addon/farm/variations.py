"""Variations of a batch: scenes by presets by seeds, each with a number and a folder of its own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..core.crowd import presets
from ..core.crowd.overrides import with_override
from ..core.crowd.settings import CrowdSettings
from ..core.errors import ParameterError, short
from .errors import JobError
from .job import Batch

_ODD = re.compile(r"[^\w.-]+")
SHARED = "shared"
"""Folder of what belongs to no variation."""
_LONGEST = 80
"""Characters of the part of a folder's name that comes from a scene or a preset."""


@dataclass(frozen=True)
class Crowd:
    """What has to be known of a crowd of a scene before it is simulated.

    Attributes:
        name: Its name.
        frames: Its own range.
        settings: Its settings, as plain data.
    """

    name: str
    frames: range
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class Scene:
    """What has to be known of a scene.

    Attributes:
        path: Its file.
        digest: SHA-256 of it, of all files that it links from, and of those that shape its objects.
        crowds: Its crowds.
        camera: Whether it can be rendered.
        plays: Whether a crowd plays a bake, which worlds cannot hold.
        images: SHA-256 of all images that only its pictures show; empty where there are none.
        files: The files that it reads, but for those that are gone, and the folders of its bakes.
    """

    path: Path
    digest: str
    crowds: tuple[Crowd, ...]
    camera: bool
    plays: bool = False
    images: str = ""
    files: tuple[Path, ...] = ()

    @classmethod
    def from_info(cls, path: Path, digest: str, info: Mapping[str, Any]) -> Scene:
        """Make it of what `steer info --json` says, and of the SHA-256 of its file.

        Raises:
            JobError: It says something else, or that something is lost that the scene links.
        """
        try:
            for lost in info.get("lost", ()):
                raise JobError(
                    f"{path} links from {lost}, which is not there: bring it back, or choose "
                    "another file in Blender (File > External Data > Find Missing Files)"
                )
            for lacking in info.get("lacking", ()):
                raise JobError(f"{path} is not whole. {lacking}")
            rows = tuple(
                Crowd(
                    row["crowd"],
                    range(row["frame_start"], row["frame_end"] + 1),
                    row["settings"],
                )
                for row in info["crowds"]
            )
            bakes = [row["bake"] for row in info["crowds"] if row.get("bake")]
            linked, images = info["linked"], info["images"]
            read = [file for file, there in {**linked, **images}.items() if there]
            read += [bake["folder"] for bake in bakes if bake.get("folder")]
            return cls(
                path,
                _with_files(digest, linked),
                rows,
                bool(info["camera"]),
                plays=bool(bakes),
                images=_with_files("", images),
                files=tuple(map(Path, read)),
            )
        except (AttributeError, KeyError, TypeError) as error:
            raise JobError(f"`steer info {path}` says nothing of {error}: run it by hand") from None


def _with_files(digest: str, files: Mapping[str, str]) -> str:
    """A digest together with those of files and their names, wherever they are."""
    # those of one name by their places: contents may change places, too
    places = sorted(files, key=lambda path: (Path(path).name, path))
    names = [f"{Path(path).name}:{files[path]}" for path in places]
    return hashlib.sha256("/".join([digest, *names]).encode()).hexdigest() if names else digest


@dataclass(frozen=True)
class Variation:
    """A scene with a preset and a seed.

    Attributes:
        number: Its number in the batch, from 1.
        name: Name of its folder, which does not change when others come or go.
        scene: Its scene.
        preset: Name or file of its preset; None for the settings of the scene.
        seed: Its seed; None for that of each crowd.
        frames: Frames to make.
    """

    number: int
    name: str
    scene: Scene
    preset: str | None
    seed: int | None
    frames: range

    @property
    def preset_label(self) -> str | None:
        """The preset as people call it."""
        return None if self.preset is None else Path(self.preset).stem


def variations_of(batch: Batch, scenes: Iterable[Scene]) -> list[Variation]:
    """All variations of the scenes that can be used, in the order of the job file.

    Numbers are those of the whole batch, also where scenes are left out.
    """
    known = {scene.path: scene for scene in scenes}
    seeds: list[int | None] = list(dict.fromkeys(n for each in batch.job.seeds for n in each))
    chosen: list[str | None] = list(batch.presets)
    found, number = list[Variation](), 0
    stems = _unique([path.stem for path in batch.scenes])
    labels = dict(zip(chosen, _unique([Path(name or "").stem for name in chosen]), strict=True))
    for path, stem in zip(batch.scenes, stems, strict=True):
        for preset in chosen or [None]:
            for seed in seeds or [None]:
                number += 1
                if path not in known:
                    continue
                parts = [stem, *([labels[preset]] if preset else [])]
                parts += [] if seed is None else [f"seed{seed}"]
                frames = frames_of(batch, known[path])
                name = "-".join(parts)
                found.append(Variation(number, name, known[path], preset, seed, frames))
    return found


def _unique(names: list[str]) -> list[str]:
    """Names as folders can have them, each one once, on systems too where case does not count."""
    found, taken = list[str](), {SHARED}
    for name in names:
        plain = first = _ODD.sub("_", name).strip("._-")[:_LONGEST] or "scene"
        number = 1
        while plain.lower() in taken:
            number += 1
            plain = f"{first}_{number}"
        found.append(plain)
        taken.add(plain.lower())
    return found


def chosen_crowds(batch: Batch, scene: Scene) -> list[Crowd]:
    """The crowds of a scene that the job names, or all."""
    return [one for one in scene.crowds if not batch.job.crowds or one.name in batch.job.crowds]


def frames_of(batch: Batch, scene: Scene) -> range:
    """Frames of a scene's variations."""
    if batch.job.frames is not None:
        return batch.job.frames
    rows = chosen_crowds(batch, scene)
    if not rows:
        # nobody has looked at it
        return range(0)
    return range(min(one.frames[0] for one in rows), max(one.frames[-1] for one in rows) + 1)


def check_scene(batch: Batch, scene: Scene) -> None:
    """Refuse a scene with which a task would fail for what the job says.

    Raises:
        JobError: The scene lacks a crowd, frames or a camera, or has no such settings.
    """
    job, name = batch.job, scene.path.name
    names = [one.name for one in scene.crowds]
    for wanted in job.crowds:
        if wanted not in names:
            raise JobError(f"{name} has no crowd {short(wanted)}: it has {', '.join(names)}")
    if "render" in job.make and not scene.camera:
        raise JobError(f"{name} has no camera: add one, or leave render out of make")
    for crowd in chosen_crowds(batch, scene):
        if not crowd.frames:
            raise JobError(f"{name}: crowd {short(crowd.name)} ends before it starts: give frames")
        if job.frames is not None and job.frames[0] < crowd.frames[0]:
            raise JobError(
                f"frames {job.frames[0]}-{job.frames[-1]} begin before crowd {short(crowd.name)} "
                f"of {name} does: give frames from {crowd.frames[0]} on"
            )
        for preset in batch.presets or (None,):
            try:
                settings_of(batch, crowd, preset)
            except ParameterError as error:
                by = f" with preset {short(Path(preset).stem)}" if preset else ""
                raise JobError(
                    f"[set] for crowd {short(crowd.name)} of {name}{by}: {error}"
                ) from None


def settings_of(batch: Batch, crowd: Crowd, preset: str | None) -> CrowdSettings:
    """The settings of a crowd in a variation, but for its seed.

    Raises:
        SteerError: The job changes what the crowd does not have.
    """
    if preset is None:
        settings = CrowdSettings.from_dict(crowd.settings)
    else:
        settings = replace(presets.load_preset(preset).settings, seed=crowd.settings["seed"])
    for text in batch.job.set:
        settings = with_override(settings, text)
    return settings


def differing(variations: Iterable[Variation]) -> dict[str, dict[str, Any]]:
    """For each variation, by name, what not all variations of the batch have in common."""
    rows = {
        one.name: {"scene": one.scene.path.name, "preset": one.preset_label, "seed": one.seed}
        for one in variations
    }
    differ = [
        key for key in ("scene", "preset", "seed") if len({r[key] for r in rows.values()}) > 1
    ]
    return {name: {key: row[key] for key in differ} for name, row in rows.items()}

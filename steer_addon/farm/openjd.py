"""Templates of Open Job Description, `jobtemplate-2023-09`.

Source:
    https://github.com/OpenJobDescription/openjd-specifications/wiki/2023-09-Template-Schemas

Each variation has a step for what needs Steer, and one for its pictures, which waits for the first:
one variation renders while others bake. Files are PATH parameters with their data flow, so that a
farm knows what travels where.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .errors import JobError
from .farms import PICTURES, Shot, blender_words, chunks_of
from .job import Batch

MOST_PARAMETERS = 50
MOST_VALUES = 1024
"""Entries of the longest list of a task parameter."""
_MOST_NAME = 128
_PROGRAMS = {
    "Blender": ("blender", "Blender's program, which renders"),
    "Steer": ("steer", "Steer's command, where bakes are missing"),
}
"""Parameters that name programs: default and meaning."""
_FRAME = "{{Task.Param.Frame}}"


def template_of(
    batch: Batch, job_file: Path, shots: Sequence[Shot], *, chunks: bool
) -> dict[str, Any]:
    """The template of a job.

    Args:
        batch: The batch.
        job_file: Its job file.
        shots: Its variations.
        chunks: Whether the farm may cut frames into tasks itself, by the extension TASK_CHUNKING.

    Raises:
        JobError: A limit of the specification is met.
    """
    steps = [step for shot in shots for step in _steps_of(batch, shot, chunks)]
    if not steps:
        raise JobError("nothing is left to do for a farm: add render to make, or another variation")
    return {
        "specificationVersion": "jobtemplate-2023-09",
        **({"extensions": ["TASK_CHUNKING"]} if chunks else {}),
        "name": f"Steer {job_file.stem}"[:_MOST_NAME],
        "parameterDefinitions": _definitions(batch, job_file, shots),
        "steps": steps,
    }


def parameters_of(batch: Batch, job_file: Path, shots: Sequence[Shot]) -> dict[str, str]:
    """The values of all PATH parameters: templates may hold relative paths only.

    Raises:
        JobError: There are too many.
    """
    return {name: str(path) for name, (path, _kind) in _paths(batch, job_file, shots).items()}


def _paths(batch: Batch, job_file: Path, shots: Sequence[Shot]) -> dict[str, tuple[Path, str]]:
    """The PATH parameters: their values, and whether each is a file or a folder."""
    given = [*batch.scenes, *(Path(p) for p in batch.presets if p.endswith(".json"))]
    most = MOST_PARAMETERS - len(_PROGRAMS) - 2
    read = {file for shot in shots for file in shot.variation.scene.files} - {job_file, *given}
    linked = _gathered(read, most - len(given))
    if len(given) + len(linked) > most:
        folders = f", which read files in {len(linked)} folders" if linked else ""
        raise JobError(
            f"the job reads {len(given)} scenes and presets{folders}: Open Job Description "
            f"has {MOST_PARAMETERS} parameters, so give at most {most} together"
        )
    found = {"Job": (job_file, "FILE")}
    found |= {f"Input{number}": (path, "FILE") for number, path in enumerate(given, 1)}
    for number, path in enumerate(linked, 1):
        found[f"Linked{number}"] = (path, "DIRECTORY" if path.is_dir() else "FILE")
    return {**found, "Out": (batch.out, "DIRECTORY")}


def _gathered(files: set[Path], most: int) -> list[Path]:
    """Files, or the folders that hold most of them where these are too many for parameters."""
    found = set(files)
    for folder, count in Counter(file.parent for file in files).most_common():
        if len(found) <= most or count == 1:
            break
        found = {file for file in found if file.parent != folder} | {folder}
    return sorted(found)


def _definitions(batch: Batch, job_file: Path, shots: Sequence[Shot]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for name, (_path, kind) in _paths(batch, job_file, shots).items():
        flow = "INOUT" if name == "Out" else "IN"
        found.append({"name": name, "type": "PATH", "objectType": kind, "dataFlow": flow})
    for name, (default, text) in _PROGRAMS.items():
        found.append({"name": name, "type": "STRING", "default": default, "description": text})
    return found


def _steps_of(batch: Batch, shot: Shot, chunks: bool) -> list[dict[str, Any]]:
    steps = []
    if shot.tasks:
        only = [word for task in shot.tasks for word in ("--only", task.name)]
        run = {
            "command": "{{Param.Steer}}",
            "args": ["batch", "{{Param.Job}}", "--out", "{{Param.Out}}", *only],
        }
        steps.append({"name": shot.name("bake"), "script": {"actions": {"onRun": run}}})
    if shot.renders:
        step = _pictures(batch, shot, chunks)
        if steps:
            step["dependencies"] = [{"dependsOn": steps[0]["name"]}]
        steps.append(step)
    return steps


def _pictures(batch: Batch, shot: Shot, chunks: bool) -> dict[str, Any]:
    look, frames = batch.job.render, shot.variation.frames
    out = "{{Param.Out}}/"
    given = blender_words(out + shot.baked, f"{out}{shot.variation.name}/{PICTURES}", look)
    if chunks:
        space: dict[str, Any] = {
            "taskParameterDefinitions": [
                {
                    "name": "Frame", "type": "CHUNK[INT]", "range": f"{frames[0]}-{frames[-1]}",
                    "chunks": {"defaultTaskCount": look.chunk, "rangeConstraint": "CONTIGUOUS"},
                }
            ]
        }  # fmt: skip
        # a chunk is a text such as 1-50, or 7 for one frame
        find = (
            f"import re;f=re.findall(r'(?<!\\d)-?\\d+','{_FRAME}');"
            "s.frame_start,s.frame_end=int(f[0]),int(f[-1])"
        )
        place = given.index("--python-expr") + 1
        given[place] += f";{find}"
    else:
        parts = chunks_of(frames, look.chunk)
        if len(parts) > MOST_VALUES:
            raise JobError(
                f"{shot.variation.name} has {len(parts)} chunks of frames: Open Job Description "
                f"has lists of at most {MOST_VALUES}, so give a larger chunk in [render]"
            )
        space = {
            "taskParameterDefinitions": [
                {"name": "Start", "type": "INT", "range": [part[0] for part in parts]},
                {"name": "End", "type": "INT", "range": [part[-1] for part in parts]},
            ],
            "combination": "(Start, End)",
        }
        given += ["-s", "{{Task.Param.Start}}", "-e", "{{Task.Param.End}}"]
    run = {"command": "{{Param.Blender}}", "args": [*given, "-a"]}
    return {
        "name": shot.name("render"),
        "parameterSpace": space,
        "script": {"actions": {"onRun": run}},
    }

"""Jobs for Flamenco 3: a job type, and a submission that names the tasks of a batch.

The job type is the script `steer-crowd.js` beside this module. It belongs into the folder `scripts`
of a Flamenco Manager; the submission is what its API takes at `/api/v3/jobs`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .errors import JobError
from .farms import PICTURES, Shot, blender_words, chunks_of
from .job import Batch

TYPE = "steer-crowd"
SCRIPT = Path(__file__).with_name("steer-crowd.js")
_PLATFORMS = {"linux": "linux", "darwin": "darwin", "win32": "windows"}


def submission_of(
    batch: Batch, job_file: Path, shots: Sequence[Shot], platform: str
) -> dict[str, Any]:
    """What is submitted.

    Args:
        batch: The batch.
        job_file: Its job file.
        shots: Its variations.
        platform: Name of this system, as Python has it.

    Raises:
        JobError: Nothing is left to do.
    """
    tasks = [task for shot in shots for task in _tasks_of(batch, job_file, shot)]
    if not tasks:
        raise JobError("nothing is left to do for a farm: add render to make, or another variation")
    return {
        "name": f"Steer {job_file.stem}",
        "type": TYPE,
        "priority": 50,
        "submitter_platform": _PLATFORMS.get(platform, platform),
        "settings": {"tasks": json.dumps(tasks, ensure_ascii=False), "steer": "steer"},
        "metadata": {"project": job_file.stem, "variations": str(len(shots))},
    }


def _tasks_of(batch: Batch, job_file: Path, shot: Shot) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for task in shot.tasks:
        found.append(
            {
                "name": task.name,
                "needs": list(task.needs),
                "steer": ["batch", str(job_file), "--out", str(batch.out), "--only", task.name],
            }
        )
    if not shot.renders:
        return found
    bake = f"{shot.variation.name}/bake"
    needs = [bake] if any(task.name == bake for task in shot.tasks) else []
    name = shot.variation.name
    given = blender_words(
        str(batch.out / shot.baked), str(batch.out / name / PICTURES), batch.job.render
    )
    for part in chunks_of(shot.variation.frames, batch.job.render.chunk):
        found.append(
            {
                "name": f"{name}/render-{part[0]}-{part[-1]}",
                "needs": needs,
                "blendfile": given[1],
                "blender": [*given[2:], "-s", str(part[0]), "-e", str(part[-1]), "-a"],
            }
        )
    return found

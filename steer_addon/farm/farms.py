"""What a farm runs of a batch: commands of Steer for what is missing, and Blender for pictures.

A bake plays by itself: rendering needs Blender and the files, and nothing of Steer. A farm sees to
the order of its tasks, and to who runs them again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from .. import words
from .job import Batch, RenderSettings
from .results import is_done
from .tasks import BAKED, EXTRACT, KERNELS, Task
from .variations import Variation

_ENGINES = {
    "CYCLES": "'CYCLES'",
    "WORKBENCH": "'BLENDER_WORKBENCH'",
    "EEVEE": "'BLENDER_EEVEE' if bpy.app.version>=(5,0) else 'BLENDER_EEVEE_NEXT'",
}
"""Blender's names, as Python."""
_WHOLE = (
    "import os",
    "lost=[i.name for l in bpy.data.libraries for i in l.users_id "
    "if i.is_missing and i.users and i.id_type not in ('BRUSH','TEXT')]",
    "lost+=[c.filepath for c in bpy.data.cache_files if c.users and "
    "os.path.basename(c.filepath)=='crowd.usdc' and "
    "not os.path.isfile(bpy.path.abspath(c.filepath,library=c.library))]",
    "assert not lost,'Steer: not found: '+', '.join(lost)+': bring back the files of the job'",
)
"""What Blender renders without a word, as Python: linked data and bakes that are not there."""
PICTURES = "frames/frame_####"
_MOST_NAME = 64


@dataclass(frozen=True)
class Shot:
    """A variation as farms make it.

    Attributes:
        variation: The variation.
        tasks: What is missing of it and needs Steer.
        renders: Whether pictures are made of it.
    """

    variation: Variation
    tasks: tuple[Task, ...]
    renders: bool

    @property
    def baked(self) -> str:
        """Its baked file, below the folder of the batch."""
        return f"{self.variation.name}/bake/{BAKED}"

    def name(self, kind: str) -> str:
        """Name of one of its steps, which no other step has."""
        return f"{self.variation.number:05d} {kind} {self.variation.name}"[:_MOST_NAME].strip()


def shots_of(batch: Batch, variations: Sequence[Variation], tasks: Sequence[Task]) -> list[Shot]:
    """All variations, with what is missing of them."""
    missing: dict[str, list[Task]] = {}
    for task in tasks:
        if task.kind not in (KERNELS, EXTRACT, "render") and not is_done(task, batch.out):
            missing.setdefault(task.name.partition("/")[0], []).append(task)
    renders = "render" in batch.job.make
    return [Shot(one, tuple(missing.get(one.name, ())), renders) for one in variations]


def chunks_of(frames: range, chunk: int) -> list[range]:
    """The frames of each task that renders."""
    return [frames[start : start + chunk] for start in range(0, len(frames), chunk)]


def look_of(settings: RenderSettings) -> str:
    """A line for Blender's --python-expr: engine, samples and size of a picture.

    It fails where the picture would not be whole, and takes all frames, whatever the file says.
    """
    size = words.picture_size(settings.size)
    lines = ["import bpy", "s=bpy.context.scene", "r=s.render", "r.use_persistent_data=True"]
    lines += [*_WHOLE, "s.frame_step=1", "r.use_overwrite=True"]
    lines.append(f"r.engine={_ENGINES[settings.engine]}")
    lines += [f"s.cycles.samples={settings.samples}"] if settings.engine == "CYCLES" else []
    lines.append(f"s.eevee.taa_render_samples={settings.samples}")
    if isinstance(size, float):
        lines.append(f"r.resolution_percentage={max(1, round(100 * size))}")
    else:
        lines.append(f"r.resolution_x,r.resolution_y={size[0]},{size[1]}")
        lines.append("r.resolution_percentage=100")
    return ";".join(lines)


def blender_words(baked: str, pictures: str, settings: RenderSettings) -> list[str]:
    """The arguments of Blender before those that name frames.

    Args:
        baked: The baked file.
        pictures: Where pictures go, with # for digits of frames.
        settings: How they look.
    """
    return ["-b", baked, "--python-exit-code", "1", "--python-expr", look_of(settings),
            "-F", "PNG", "-x", "1", "-o", pictures]  # fmt: skip


def as_json(data: object) -> bytes:
    """JSON as files hold it."""
    return (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode("utf-8")

"""Alembic: the crowd as a mesh of loose vertices with velocities, by Blender's own exporter."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import bpy

from ...core.errors import SceneError
from ...core.results.frames import Frame
from .. import playback
from ..display import display
from ..writing.files import Header, replacing, safe_name
from .staging import Staging, staging


def write_alembic(
    frames: Iterable[Frame], path: Path, header: Header, scene: bpy.types.Scene
) -> int:
    """Write frames to an Alembic file.

    They go through a temporary file that Blender plays while its exporter runs.

    Args:
        frames: Ascending frames without gaps.
        path: File to write.
        header: Header of the frames.
        scene: The user's scene, which stays as it is.

    Returns:
        How many frames were written.

    Raises:
        OutputError: The file cannot be written; an earlier one stays as it was.
        SceneError: This build has no Alembic, or there are no frames.
    """
    if not bpy.app.build_options.alembic:
        raise SceneError(
            "This build of Blender has no Alembic: choose another format, or use the Blender of "
            "blender.org"
        )
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="steer-export-"))
        played = playback.write(frames, Path(folder), header)
        partial = stack.enter_context(replacing(path))
        stage = stack.enter_context(staging(scene, header))
        _playing_object(stage, played)
        stage.run(
            bpy.ops.wm.alembic_export,
            partial,
            start=header.start,
            end=header.end,
            as_background_job=False,
            check_existing=False,
            uvs=False,
            normals=False,
            export_hair=False,
            export_particles=False,
            evaluation_mode="RENDER",
        )
    return header.count


def _playing_object(stage: Staging, played: playback.Played) -> None:
    """An object of the scratch scene that shows the points."""
    name = safe_name(played.header.name)
    obj = bpy.data.objects.new(name, bpy.data.meshes.new(name))
    stage.scene.collection.objects.link(obj)
    modifier = display.add_modifier(obj)
    display.set_input(modifier, "Display", "Points")
    display.set_input(modifier, "State", playback.make_state(f"{name} Points", played))

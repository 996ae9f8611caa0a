"""Alembic: the crowd as a mesh of loose vertices with velocities, by Blender's own exporter."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import bpy

from ...core.errors import SceneError
from ...core.files.staging import scratch
from ...core.results.frames import Frame
from .. import playback
from ..display import display
from ..writing.files import Header, replacing, safe_name
from .staging import named, staging

_AGENT_BYTES, _FRAME_BYTES, _FILE_BYTES = 64, 4_096, 100_000
"""More than an agent takes in a frame, a frame itself, and the file [bytes]."""


def _reserve(path: Path, size: int) -> None:
    """Make sure that the disk has room: Alembic ends Blender where it fills.

    Raises:
        OSError: It has not.
    """
    room = shutil.disk_usage(path.parent).free
    if room < size + _FILE_BYTES:
        raise OSError(
            errno.ENOSPC,
            f"it may take {(size + _FILE_BYTES) / 1e6:.1f} MB, and {room / 1e6:.1f} MB are free",
        )


def write_alembic(
    frames: Iterable[Frame], path: Path, header: Header, scene: bpy.types.Scene
) -> int:
    """Write frames to an Alembic file, see `writing`; the user's scene stays as it is.

    The frames, which have no gaps, go through a temporary file that Blender plays while its
    exporter runs.
    """
    if not bpy.app.build_options.alembic:
        raise SceneError(
            "This build of Blender has no Alembic: choose another format, or use the Blender of "
            "blender.org"
        )
    with ExitStack() as stack:
        folder = stack.enter_context(scratch())
        most = 0

        def counted() -> Iterator[Frame]:
            nonlocal most
            for frame in frames:
                most = max(most, len(frame.id))
                yield frame

        played = playback.write(counted(), folder, header)
        partial = stack.enter_context(replacing(path))
        _reserve(partial, header.count * most * _AGENT_BYTES + header.count * _FRAME_BYTES)
        stage = stack.enter_context(staging(scene, header))
        name = safe_name(header.name)
        obj = bpy.data.objects.new(name, bpy.data.meshes.new(name))
        stage.scene.collection.objects.link(obj)
        modifier = display.add_modifier(obj)
        display.set_input(modifier, "Display", "Points")
        display.set_input(modifier, "State", playback.make_state(f"{name} Points", played))
        stack.enter_context(named(obj, name, bpy.data.objects))
        stack.enter_context(named(obj.data, name, bpy.data.meshes))
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

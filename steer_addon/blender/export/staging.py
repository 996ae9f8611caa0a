"""A scratch scene in which Blender's own exporters see the crowd and nothing else.

Simulate before, not inside: data-blocks that are made while it exists are removed with it.
"""

from __future__ import annotations

import errno
import io
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy

from ..suspension import suspended
from ..writing.files import Header, reason_of

_KINDS = ("objects", "meshes", "collections", "actions", "materials", "cache_files", "pointclouds",
          "node_groups", "images", "armatures")  # fmt: skip


@dataclass
class Staging:
    """A scratch scene."""

    scene: bpy.types.Scene
    """The scene, with the frames and the frame rate of the export."""

    def run(self, operator: Any, path: Path, **options: Any) -> None:
        """Call one of Blender's exporters on the scene.

        Args:
            operator: The operator.
            path: The file that it writes.
            **options: Further arguments; those that this version lacks are left out.

        Raises:
            OSError: The exporter failed; `files.replacing` makes a sentence of it.
        """
        known = operator.get_rna_type().properties.keys()
        options = {name: value for name, value in options.items() if name in known}
        window, view_layer = bpy.context.window, self.scene.view_layers[0]
        before = None if window is None else (window.scene, window.view_layer)
        try:
            if window is not None:
                # the exporter of glTF reads no other scene
                window.scene = self.scene
            with (
                bpy.context.temp_override(scene=self.scene, view_layer=view_layer),
                # exporters that are add-ons print a traceback beside the error that they raise
                redirect_stderr(io.StringIO()),
            ):
                operator(filepath=str(path), **options)
        except (RuntimeError, OSError) as error:
            raise OSError(errno.EIO, reason_of(error)) from None
        finally:
            if window is not None and before is not None:
                window.scene, window.view_layer = before
        if not path.is_file():
            raise OSError(errno.EIO, "Blender's exporter left no file")


@contextmanager
def staging(original: bpy.types.Scene, header: Header) -> Iterator[Staging]:
    """A scratch scene; all data-blocks that are made while it exists are removed with it.

    Args:
        original: Scene with the frame rate.
        header: Frames of the export.
    """
    with ExitStack() as stack:
        stack.enter_context(suspended())
        scene = bpy.data.scenes.new("Steer Export")
        stack.callback(bpy.data.scenes.remove, scene)
        before = {kind: set(getattr(bpy.data, kind)) for kind in _KINDS}
        stack.callback(_remove_new, before)
        render, wanted = scene.render, original.render
        render.fps, render.fps_base = wanted.fps, wanted.fps_base
        scene.frame_start, scene.frame_end = header.start, header.end
        scene.frame_current = header.start
        yield Staging(scene)


@contextmanager
def named(item: Any, name: str, others: Any) -> Iterator[None]:
    """Give a data-block a name, which another one has back at the end: files tell it to readers."""
    other = others.get((name, None))
    item.rename(name, mode="ALWAYS")
    try:
        yield
    finally:
        if other is not None and other != item:
            other.rename(name, mode="ALWAYS")


def _remove_new(before: dict[str, set[Any]]) -> None:
    for kind in _KINDS:
        new = [item for item in getattr(bpy.data, kind) if item not in before[kind]]
        bpy.data.batch_remove(new)

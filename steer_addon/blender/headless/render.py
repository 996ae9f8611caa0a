"""Render frames of a scene to pictures, and pictures to a video, without a screen."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import bpy

from ...core.errors import OutputError, SceneError
from ...core.step.simulation import Progress, with_progress
from ..crowd import crowds
from ..crowd.state import plays_back
from ..live import live
from ..making.scene_look import can_denoise
from .batch import check_folder

ENGINES = {
    "CYCLES": ("CYCLES",),
    "WORKBENCH": ("BLENDER_WORKBENCH",),
    "EEVEE": ("BLENDER_EEVEE", "BLENDER_EEVEE_NEXT"),
}
"""What Blender calls an engine, the newest name first."""


@dataclass(frozen=True)
class RenderOptions:
    """What to render.

    Attributes:
        frames: Frame numbers.
        folder: Where the pictures go, as frame_0001.png.
        engine: A key of `ENGINES`.
        samples: Samples per pixel; None keeps the file's.
        size: Width and height [pixels], or a share of the file's own size, or None to keep it.
        video: Whether to make an .mp4 of the pictures too.
        name: Name of the video without its ending.
    """

    frames: range
    folder: Path
    engine: str = "CYCLES"
    samples: int | None = 16
    size: tuple[int, int] | float | None = (640, 360)
    video: bool = False
    name: str = "video"


@dataclass(frozen=True)
class RenderResult:
    """What was rendered.

    Attributes:
        pictures: The picture of each frame.
        video: The video, where there is one.
        seconds: Seconds that each frame took.
        size: Width and height [pixels].
        warnings: What the user may want to know.
    """

    pictures: list[Path]
    video: Path | None
    seconds: list[float]
    size: tuple[int, int]
    warnings: list[str] = field(default_factory=list)


def render_frames(
    scene: bpy.types.Scene, options: RenderOptions, progress: Callable[[Progress], bool]
) -> RenderResult:
    """Render; live crowds are simulated up to each frame first, baked ones play as they are.

    Args:
        scene: The scene; its render settings are changed.
        options: What to render.
        progress: Is told after each frame how far it is; False stops.

    Raises:
        SteerError: The scene has no camera, this build lacks the engine, a crowd cannot be
            simulated, or a picture cannot be written.
    """
    if scene.camera is None:
        raise SceneError(f"Scene {scene.name!r} has no camera: add one with Add > Camera")
    check_folder(options.folder)
    set_engine(scene, options)
    warnings: list[str] = []
    pictures: list[Path] = []
    seconds: list[float] = []
    for obj in crowds.crowds(scene):
        if not obj.hide_render and not plays_back(obj):
            live.catch_up(obj, scene, options.frames[-1])
    for number in with_progress(iter(options.frames), len(options.frames), progress):
        start = time.perf_counter()
        pictures.append(_render_frame(scene, number, options.folder))
        seconds.append(time.perf_counter() - start)
    render = scene.render
    share = render.resolution_percentage / 100.0
    size = (int(render.resolution_x * share), int(render.resolution_y * share))
    video = None
    if options.video and pictures:
        video = options.folder / f"{options.name}.mp4"
        problem = encode_video(pictures, video, size, render.fps / render.fps_base)
        if problem:
            warnings.append(f"No video was made ({problem}): the pictures are in {options.folder}")
            video = None
    return RenderResult(pictures, video, seconds, size, warnings)


def set_engine(scene: bpy.types.Scene, options: RenderOptions) -> None:
    """Set engine, samples, size and format of a scene.

    Raises:
        SceneError: This build of Blender lacks the engine.
    """
    render = scene.render
    for name in ENGINES[options.engine]:
        try:
            render.engine = name
            break
        except TypeError:
            continue
    else:
        raise SceneError(
            f"This Blender has no engine {options.engine}: give another one with --engine"
        )
    render.use_lock_interface = True
    render.use_persistent_data = True
    if options.engine == "CYCLES":
        scene.cycles.use_denoising = scene.cycles.use_denoising and can_denoise()
    if options.samples is not None:
        scene.cycles.samples = options.samples
        scene.eevee.taa_render_samples = options.samples
    if isinstance(options.size, float):
        render.resolution_percentage = max(1, round(100 * options.size))
    elif options.size is not None:
        render.resolution_x, render.resolution_y = options.size
        render.resolution_percentage = 100
    settings = render.image_settings
    if hasattr(settings, "media_type"):
        settings.media_type = "IMAGE"
    settings.file_format = "PNG"
    settings.color_mode = "RGB"
    render.use_file_extension = True


def _render_frame(scene: bpy.types.Scene, number: int, folder: Path) -> Path:
    sign = "-" if number < 0 else ""
    path = folder / f"frame_{sign}{abs(number):04d}.png"
    partial = folder / f".{path.stem}.partial.png"
    scene.frame_set(number)
    scene.render.filepath = str(partial.resolve())
    try:
        bpy.ops.render.render(write_still=True, scene=scene.name)
        os.replace(partial, path)
    except RuntimeError as error:
        reason = " ".join(str(error).removeprefix("Error: ").split())
        raise OutputError(f"Frame {number} cannot be rendered: {reason}") from None
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}") from None
    return path


def encode_video(pictures: list[Path], path: Path, size: tuple[int, int], fps: float) -> str:
    """Make an .mp4 of pictures with Blender's own encoder.

    Args:
        pictures: One per frame, all of one size.
        path: File to write.
        size: Width and height [pixels]; an odd one loses its last row or column.
        fps: Frames per second.

    Returns:
        Why there is no video, or an empty text when there is.
    """
    if not bpy.app.build_options.codec_ffmpeg:
        return "this Blender cannot write videos"
    scene = bpy.data.scenes.new("Steer Video")
    partial = path.with_name(f".{path.stem}.partial.mp4")
    try:
        _set_video(scene, size, fps)
        editor = scene.sequence_editor_create()
        strip = editor.strips.new_image("Pictures", str(pictures[0].resolve()), 1, 1)
        for picture in pictures[1:]:
            strip.elements.append(picture.name)
        scene.frame_start, scene.frame_end = 1, len(pictures)
        # the older name is there up to Blender 5, where using it warns
        known = strip.bl_rna.properties
        length = "duration" if "duration" in known else "frame_final_duration"
        setattr(strip, length, len(pictures))
        scene.render.filepath = str(partial.resolve())
        bpy.ops.render.render(animation=True, scene=scene.name)
        os.replace(partial, path)
    except (RuntimeError, TypeError, OSError) as error:
        return " ".join(str(error).removeprefix("Error: ").split())
    finally:
        bpy.data.scenes.remove(scene)
    return ""


def _set_video(scene: bpy.types.Scene, size: tuple[int, int], fps: float) -> None:
    render = scene.render
    render.resolution_x, render.resolution_y = (max(2, value - value % 2) for value in size)
    render.resolution_percentage = 100
    render.fps = max(1, round(fps))
    render.fps_base = render.fps / fps
    render.use_sequencer = True
    render.use_file_extension = False
    settings = render.image_settings
    if hasattr(settings, "media_type"):
        settings.media_type = "VIDEO"
    settings.file_format = "FFMPEG"
    render.ffmpeg.format = "MPEG4"
    render.ffmpeg.codec = "H264"
    render.ffmpeg.constant_rate_factor = "HIGH"
    render.ffmpeg.gopsize = 12
    # the pictures have their final colors already
    scene.view_settings.view_transform = "Standard"
    scene.view_settings.look = "None"

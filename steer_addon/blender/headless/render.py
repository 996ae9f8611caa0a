"""Render frames of a scene to pictures, and pictures to a video, without a screen."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

import bpy

from ...core.diagnoses import Diagnosis, diagnose
from ...core.errors import OutputError, SceneError
from ...core.files.marks import is_marked, mark_picture, mark_video
from ...core.files.staging import cannot_write
from ...core.step.simulation import Progress, with_progress
from ..bake import heroes, status
from ..bake.hero_parts import Parts
from ..checks import advice, character_checks
from ..crowd import baked_file, crowds, links
from ..crowd.state import playback_state, plays_back
from ..live import live
from ..making.scene_look import can_denoise
from ..writing.files import reason_of, replacing
from .batch import check_folder

ENGINES = {
    "CYCLES": ("CYCLES",),
    "WORKBENCH": ("BLENDER_WORKBENCH",),
    "EEVEE": ("BLENDER_EEVEE", "BLENDER_EEVEE_NEXT"),
}
"""Blender's names of an engine, the newest first."""


def prepare(
    scene: bpy.types.Scene,
    folder: Path,
    engine: str,
    samples: int | None,
    size: tuple[int, int] | float | None,
) -> None:
    """Set engine, samples, size and format of a scene.

    Args:
        scene: The scene.
        folder: Folder of the pictures.
        engine: A key of `ENGINES`.
        samples: Samples per pixel; None keeps the file's.
        size: Width and height [pixels], or a share of the file's own size, or None to keep it.

    Raises:
        SceneError: The scene has no camera, or this build of Blender lacks the engine.
        OutputError: The folder cannot be written to.
    """
    if scene.camera is None:
        raise SceneError(f"Scene {scene.name!r} has no camera: add one with Add > Camera")
    check_folder(folder)
    render = scene.render
    for name in ENGINES[engine]:
        try:
            render.engine = name
            break
        except TypeError:
            continue
    else:
        raise SceneError(f"This Blender has no engine {engine}: give another one with --engine")
    render.use_lock_interface = True
    render.use_persistent_data = True
    if engine == "CYCLES":
        scene.cycles.use_denoising = scene.cycles.use_denoising and can_denoise()
    if samples is not None:
        scene.cycles.samples = samples
        scene.eevee.taa_render_samples = samples
    if isinstance(size, float):
        render.resolution_percentage = max(1, round(100 * size))
    elif size is not None:
        render.resolution_x, render.resolution_y = size
        render.resolution_percentage = 100
    settings = render.image_settings
    if hasattr(settings, "media_type"):
        settings.media_type = "IMAGE"
    settings.file_format = "PNG"
    settings.color_mode = "RGB"
    render.use_file_extension = True


def show_only(scene: bpy.types.Scene, chosen: Collection[bpy.types.Object]) -> None:
    """Hide all other crowds in pictures, with their heroes, and the objects they were baked to."""
    for obj in crowds.crowds(scene):
        if obj in chosen:
            continue
        obj.hide_render = True
        if obj.steer.bake_collection is not None:
            obj.steer.bake_collection.hide_render = True
        carriers = heroes.carriers(obj).values()
        parts = Parts(carriers)
        for part in (part for carrier in carriers for part in parts.of(carrier)):
            part.hide_render = True


def picture_size(scene: bpy.types.Scene) -> tuple[int, int]:
    """Width and height of the pictures of a scene [pixels]."""
    share = scene.render.resolution_percentage / 100.0
    return int(scene.render.resolution_x * share), int(scene.render.resolution_y * share)


def told(scene: bpy.types.Scene, frames: range) -> list[Diagnosis]:
    """What is wrong with pictures that can be made all the same: bodies, or frames, that lack.

    Raises:
        ParameterError: A setting of a baked crowd is out of range.
    """
    found = list(advice.lost_libraries())
    for obj in _shown(scene):
        found += [one for one in character_checks.found(obj) if one.severity == "WARNING"]
        state = playback_state(obj)
        if state is None:
            continue
        first, last = state.get(baked_file.RANGE_KEY, (frames[0], frames[-1]))
        count = sum(not first <= number <= last for number in frames)
        if count:
            values = {"count": count, "first": first, "last": last}
            found.append(diagnose("FRAMES_OUTSIDE", obj.name, **values))
        baked = status.read_status(obj, scene)
        if baked is not None and baked.out_of_date is not None:
            values = dict(baked.out_of_date.values)
            found.append(diagnose("PICTURES_OUT_OF_DATE", obj.name, **values))
    return found


def render_frames(
    scene: bpy.types.Scene, frames: range, folder: Path, progress: Callable[[Progress], bool]
) -> tuple[list[Path], list[float]]:
    """Render; live crowds are simulated up to each frame first, baked ones play as they are.

    Args:
        scene: The scene, see `prepare`.
        frames: Frame numbers.
        folder: Folder of the pictures, such as frame_0001.png.
        progress: Called with the progress after each frame; False stops.

    Returns:
        The picture of each frame, and the time that it took [s].

    Raises:
        SteerError: A crowd cannot be simulated, its bake is not there or damaged, or a picture
            cannot be written.
    """
    pictures, seconds = [], []
    shown = _shown(scene)
    for obj in shown:
        fault = baked_file.problem(obj, thorough=True)
        if fault is not None:
            raise SceneError(fault)
    for obj in _longest_first(simulated(scene), frames[-1]):
        live.catch_up(obj, scene, frames[-1])
    for number in with_progress(iter(frames), len(frames), progress):
        start = time.perf_counter()
        pictures.append(_render_frame(scene, number, folder))
        seconds.append(time.perf_counter() - start)
    return pictures, seconds


def _longest_first(found: list[bpy.types.Object], last: int) -> list[bpy.types.Object]:
    """Crowds in an order in which the run of one gives as many of those after it as can be."""

    def reach(obj: bpy.types.Object) -> tuple[int, int]:
        return min(obj.steer.frame_end, last), len(links.linked_crowds(obj))

    return sorted(found, key=reach, reverse=True)


def simulated(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The crowds that pictures show, and that are simulated for them."""
    return [obj for obj in _shown(scene) if not plays_back(obj)]


def _shown(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    return [obj for obj in crowds.crowds(scene) if not obj.hide_render]


def picture_path(folder: Path, number: int) -> Path:
    """The picture of a frame."""
    sign = "-" if number < 0 else ""
    return folder / f"frame_{sign}{abs(number):04d}.png"


def check_pictures(paths: Iterable[Path]) -> None:
    """Refuse to replace pictures and videos that Steer did not make.

    Raises:
        OutputError: There is such a file.
    """
    for path in paths:
        if os.path.lexists(path) and not is_marked(path):
            raise OutputError(
                f"{path} is there already and does not bear Steer's mark (another program or an "
                "older Steer made it): choose another folder with --out, or move it away"
            )


def _render_frame(scene: bpy.types.Scene, number: int, folder: Path) -> Path:
    path = picture_path(folder, number)
    scene.frame_set(number)
    with replacing(path) as partial:
        scene.render.filepath = str(partial.resolve())
        try:
            bpy.ops.render.render(write_still=True, scene=scene.name)
        except RuntimeError as error:
            raise OutputError(f"Frame {number} cannot be rendered: {reason_of(error)}") from None
        mark_picture(partial)
    return path


def check_video() -> None:
    """Refuse a video where Blender has no encoder.

    Raises:
        SceneError: It has none.
    """
    if not bpy.app.build_options.codec_ffmpeg:
        raise SceneError("This Blender cannot write videos: leave --video out")


def encode_video(pictures: list[Path], path: Path, size: tuple[int, int], fps: float) -> None:
    """Make an .mp4 of pictures with Blender's own encoder.

    Args:
        pictures: A picture for each frame, all of one size.
        path: File to write.
        size: Width and height [pixels]; an odd one loses its last row or column.
        fps: Frames per second.

    Raises:
        OutputError: The file cannot be written.
    """
    scene = bpy.data.scenes.new("Steer Video")
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
        with replacing(path) as partial:
            scene.render.filepath = str(partial.resolve())
            bpy.ops.render.render(animation=True, scene=scene.name)
            mark_video(partial)
    except (RuntimeError, TypeError) as error:
        raise cannot_write(path, reason_of(error)) from None
    finally:
        bpy.data.scenes.remove(scene)


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

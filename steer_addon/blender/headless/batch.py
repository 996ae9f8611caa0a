"""Work on .blend files without a screen: open, find the crowds, change settings, save."""

from __future__ import annotations

import argparse
import atexit
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy

from ...core.crowd.overrides import GROUPS, full_path, with_override
from ...core.crowd.presets import load_preset
from ...core.crowd.scaling import scaled_crowd
from ...core.crowd.settings import BLOCKS, CrowdSettings
from ...core.errors import CharacterError, OutputError, SceneError, short
from ...core.files.plain import reason, rename, sync_file
from ...core.files.staging import as_output_errors, beside, cannot_write, check_stage, stage
from ...core.files.whole import is_blend, why_not_whole
from ...core.worlds.layout import is_world
from .. import registration
from ..characters import rigs
from ..checks import opened_files
from ..crowd import animation_paths, crowds
from ..crowd.properties import apply_settings, bake_settings_of, settings_of
from ..crowd.property_factory import write_settings
from ..scene_units import units_per_meter
from ..writing.files import check_no_input, files_read, reason_of


def ensure_registered() -> None:
    """Register Steer in Blender, unless it is enabled as an extension."""
    if not hasattr(bpy.types.Object, "steer"):
        registration.register()
        # Blender 4.5 crashes when its module goes while classes of ours are still registered
        atexit.register(_unregister)


def _unregister() -> None:
    if hasattr(bpy.types.Object, "steer"):
        registration.unregister()


def open_file(path: Path) -> bpy.types.Scene:
    """Open a .blend file; returns its active scene.

    Raises:
        SceneError: There is no such file, or Blender cannot read it.
    """
    if is_world(path):
        raise SceneError(
            f"{path} is a world that `steer extract` wrote, and no .blend file: `steer simulate` "
            "and `steer info` take it, all else needs the file that it came from"
        )
    if not path.is_file():
        raise SceneError(f"There is no file {path}: check the path")
    if not is_blend(path):
        raise SceneError(f"{path} is no .blend file: give one that Blender or `steer scene` saved")
    opened_files.check_opened(path)
    ensure_registered()
    try:
        bpy.ops.wm.open_mainfile(filepath=str(path.resolve()), load_ui=False, use_scripts=False)
    except RuntimeError as error:
        raise SceneError(f"{path} cannot be opened: {reason_of(error)}") from None
    return bpy.context.scene


def find_crowds(scene: bpy.types.Scene, names: Sequence[str]) -> list[bpy.types.Object]:
    """The crowds of a scene that have these names, or all where none is given.

    Raises:
        SceneError: There is no such crowd.
    """
    found = crowds.crowds(scene)
    known = ", ".join(repr(obj.name) for obj in found)
    if not found:
        raise SceneError(
            f"Scene {scene.name!r} has no crowd: make one with Add > Crowd or `steer scene`"
        )
    for name in names:
        if all(obj.name != name for obj in found):
            raise SceneError(f"There is no crowd {name!r}: the file has {known}")
    return [obj for obj in found if not names or obj.name in names]


def find_rig(scene: bpy.types.Scene, name: str | None) -> bpy.types.Object:
    """The object of a scene that has a name; where none is given the armature that moves meshes.

    Rigs of Rigify have an armature beside them that moves none: the one they were generated from.

    Raises:
        CharacterError: There is none, or one of several armatures has to be chosen.
    """
    # an override has the name of the linked object that it stands for
    below = {obj.override_library and obj.override_library.reference for obj in scene.objects}
    objects = [obj for obj in scene.objects if obj not in below]
    armatures = [obj for obj in objects if obj.type == "ARMATURE"]
    if len(armatures) > 1:
        armatures = [obj for obj in armatures if rigs.meshes(obj)] or armatures
    found = armatures if name is None else [obj for obj in objects if obj.name == name]
    for obj in found or objects:
        # in place of what is linked from a file that is not there Blender puts an empty
        if obj.is_missing:
            raise CharacterError(
                f"The file links {obj.name!r} from {obj.library.filepath}, which is not there: "
                "bring it back, or choose another file in Blender (File > External Data > Find "
                "Missing Files)"
            )
    if len(found) == 1:
        return found[0]
    known = ", ".join(repr(obj.name) for obj in armatures)
    if name is None and armatures:
        raise CharacterError(
            f"Scene {scene.name!r} holds {len(armatures)} armatures: choose the rig with --rig: "
            f"{known}"
        )
    for obj in bpy.data.objects:
        if obj.type == "ARMATURE" if name is None else obj.name == name:
            _refuse_elsewhere(obj, scene)
    if name is not None:
        raise CharacterError(
            f"There is no object {short(name)}: the armatures of the file are {known or 'none'}"
        )
    raise CharacterError(
        "The file holds no armature: choose the rig with --rig, by the name of the object that "
        "moves"
    )


def _refuse_elsewhere(obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Say where an object is that is not in a scene; nothing for one that is nowhere.

    Raises:
        CharacterError: It is in another scene, or in a collection that no scene holds.
    """
    for other in obj.users_scene:
        raise CharacterError(
            f"{obj.name!r} is in scene {other.name!r}, and the file opens with {scene.name!r}: "
            "show that scene in Blender, and save the file"
        )
    for collection in obj.users_collection:
        raise CharacterError(
            f"{obj.name!r} is in collection {collection.name!r}, which scene {scene.name!r} does "
            "not hold, or only as instances: link the collection to the scene in Blender, and "
            "save the file"
        )


def frames_of(crowd: bpy.types.Object, frames: range | None) -> range:
    """Frames to run: the given ones, which extend the range of the crowd at its end, or that range.

    Raises:
        SceneError: The frames begin before the crowd does, or its own range is backwards.
    """
    steer = crowd.steer
    if frames is None:
        if steer.frame_end < steer.frame_start:
            raise SceneError(
                f"Crowd {crowd.name!r} ends at frame {steer.frame_end}, before its start at "
                f"{steer.frame_start}: give --frames A-B with A <= B"
            )
        return range(steer.frame_start, steer.frame_end + 1)
    if frames[0] < steer.frame_start:
        raise SceneError(
            f"Frames {frames[0]}-{frames[-1]} begin before crowd {crowd.name!r} does: "
            f"give --frames from {steer.frame_start} on"
        )
    steer.frame_end = max(steer.frame_end, frames[-1])
    return frames


def override(
    crowd: bpy.types.Object,
    texts: Sequence[str],
    seed: int | None,
    preset: str | None = None,
    scene: bpy.types.Scene | None = None,
) -> CrowdSettings:
    """Change settings for a run; returns all settings.

    A changed setting is no longer animated.

    Args:
        crowd: The crowd.
        texts: Changes like "separation.weight=2".
        seed: Its seed; None leaves it.
        preset: Name or file of a preset that takes the place of its settings first; None for none.
        scene: Its scene, whose unit a preset is scaled to; needed with one.

    Raises:
        SteerError: There is no such preset or setting, or a value does not fit.
    """
    if preset is not None and scene is not None:
        _take_preset(crowd, preset, scene)
    changes = [*texts, *([] if seed is None else [f"seed={seed}"])]
    settings = settings_of(crowd)
    paths = []
    for text in changes:
        changed = with_override(settings, text)
        # by the names before: a behavior's own may be what changes
        paths.append(_data_path(settings, text.partition("=")[0].strip()))
        settings = changed
    for path in paths:
        animation_paths.drop(crowd, path)
    if changes:
        apply_settings(crowd, settings)
    return settings


def _take_preset(crowd: bpy.types.Object, name: str, scene: bpy.types.Scene) -> None:
    """Give a crowd the settings of a preset; its seed stays."""
    settings = load_preset(name, *crowds.user_preset_folders()).settings
    settings = replace(settings, seed=crowd.steer.seed)
    for block in (*BLOCKS, "behaviors", "groups"):
        animation_paths.drop(crowd, f"steer.{block}")
    apply_settings(crowd, scaled_crowd(settings, units_per_meter(scene)))


def _data_path(settings: CrowdSettings, name: str) -> str:
    """Data path of a setting, by its name in `--set`."""
    name = full_path(name)
    owner, _, parameter = name.rpartition(".")
    if not owner or owner in BLOCKS or owner.startswith(GROUPS):
        return f"steer.{name}"
    place = [behavior.key for behavior in settings.behaviors].index(owner)
    if parameter in ("enabled", "weight"):
        return f"{animation_paths.LIST}[{place}].{parameter}"
    type_name = settings.behaviors[place].definition.type
    return f"{animation_paths.LIST}[{place}].{type_name}.{parameter}"


def check_new_file(path: Path, suffix: str, inputs: Iterable[Path] = ()) -> None:
    """Check before any work that a file can be written.

    Args:
        path: The file.
        suffix: Its ending.
        inputs: Files that are read, and must stay as they are.

    Raises:
        OutputError: It cannot be written, or is one of the inputs.
    """
    if path.suffix.lower() != suffix:
        raise OutputError(f"{path} does not end in {suffix}: give a name that does")
    if path.is_dir():
        raise OutputError(f"{path} is a folder: give the name of a file")
    check_no_input(path, inputs)
    check_folder(path.parent)
    if path.exists() and not os.access(path, os.W_OK):
        raise OutputError(f"{path} cannot be written: it is read-only; give another name")


def check_folder(folder: Path) -> None:
    """Check that files can be written to a folder; where it is not there, it is not made yet.

    Raises:
        OutputError: They cannot be written.
    """
    try:
        check_stage(folder)
    except OSError as error:
        raise OutputError(
            f"Folder {folder} cannot be written: {reason(error)}; choose another one"
        ) from None


def save_file(path: Path) -> None:
    """Save the open file under a name; an old file is replaced only by a complete one.

    Raises:
        OutputError: It cannot be written.
    """
    check_new_file(path, ".blend", files_read())
    bpy.context.preferences.filepaths.save_version = 0
    path = path.resolve()
    with as_output_errors(path), stage(path.parent) as folder:
        # beside the goal, since paths in it are relative to its folder
        partial = beside(folder, ".blend")
        try:
            bpy.ops.wm.save_as_mainfile(
                filepath=str(partial), check_existing=False, compress=True, copy=True,
                relative_remap=True,
            )  # fmt: skip
        except RuntimeError as error:
            raise cannot_write(path, reason_of(error)) from None
        fault = why_not_whole(partial)
        if fault:
            raise cannot_write(path, fault)
        sync_file(partial)
        rename(partial, path)


def agent_count(scene: bpy.types.Scene, names: Sequence[str] = ()) -> int:
    """Number of agents at the start, of the crowds that have these names, or of all."""
    chosen = [obj for obj in crowds.crowds(scene) if not names or obj.name in names]
    return sum(len(obj.data.vertices) for obj in chosen)


def set_bake(
    crowd: bpy.types.Object,
    scene: bpy.types.Scene,
    options: argparse.Namespace,
    names: tuple[str, ...],
) -> None:
    """Write options of a keyframe bake to a crowd's properties, as in the panel.

    Args:
        crowd: The crowd.
        scene: Its scene, in whose unit the panel has what is in meters here.
        options: Names of the object or collection to copy, empties, and the options of `names`;
            None leaves what is there.
        names: Settings of the bake that are options.

    Raises:
        SceneError: The file has no such object or collection.
    """
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    if "tolerance" in given:
        given["tolerance"] *= units_per_meter(scene)
    write_settings(crowd.steer.bake, replace(bake_settings_of(crowd), **given))
    if options.empties or options.object is not None or options.collection is not None:
        crowd.steer.bake_source_object = _find("object", options.object, bpy.data.objects)
        crowd.steer.bake_source_collection = _find(
            "collection", options.collection, bpy.data.collections
        )


def _find(what: str, name: str | None, data: Any) -> Any:
    if name is None:
        return None
    if name in data:
        return data[name]
    known = ", ".join(repr(item.name) for item in list(data)[:20]) or "none"
    raise SceneError(f"There is no {what} {name!r}: the file has {known}")

"""glTF and FBX: one keyed object per agent, by Blender's own exporters."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import addon_utils
import bpy
import numpy as np

from ...core.errors import SceneError
from ...core.results.frames import Frame
from ...core.results.tracks import agent_names
from ..bake import keyframes
from ..bake.copies import Source
from ..bake.removal import find_bakes
from ..crowd.bake_settings import KeyframeBakeSettings
from ..display.look import PLAIN, Look
from ..writing.files import Header, replacing
from .staging import named, staging

_EXPORTERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    ".glb": (
        "io_scene_gltf2",
        "gltf",
        {
            "export_format": "GLB",
            "use_active_scene": True,
            "export_animations": True,
            "export_animation_mode": "SCENE",
            # one animation that moves all agents: players show one at a time
            "export_anim_scene_split_object": False,
            "export_anim_single_armature": False,
            "export_frame_range": True,
            "export_force_sampling": True,
            "export_optimize_animation_size": True,
            "export_extras": False,
            "check_existing": False,
        },
    ),
    ".fbx": (
        "io_scene_fbx",
        "fbx",
        {
            "use_selection": False,
            "bake_anim": True,
            "bake_anim_use_all_bones": False,
            "bake_anim_use_nla_strips": False,
            "bake_anim_use_all_actions": False,
            "bake_anim_simplify_factor": 0.0,
            # textures that are packed have no file that it could name
            "path_mode": "COPY",
            "embed_textures": True,
            "check_existing": False,
        },
    ),
}
"""Add-on, operator and options of each exporter of Blender's own, by the endings of files.

In .glb y is up, and times are in seconds.
"""


def _operator(addon: str, name: str) -> Any:
    """The operator of an exporter that is an add-on."""
    addon_utils.enable(addon, default_set=False)
    operator = getattr(bpy.ops.export_scene, name)
    try:
        operator.get_rna_type()
    except (AttributeError, KeyError):
        raise SceneError(
            f"This Blender has no exporter for {name.upper()}: choose another format"
        ) from None
    return operator


def _separate(collection: bpy.types.Collection) -> None:
    """Give each mesh that a rig deforms data of its own: in FBX a mesh has the rigs of all users.

    The data goes with the scratch scene.
    """
    for obj in collection.all_objects:
        if obj.type == "MESH" and any(m.type == "ARMATURE" for m in obj.modifiers):
            obj.data = obj.data.copy()


def _unlike_names(collection: bpy.types.Collection, crowd: str) -> list[tuple[Any, str]]:
    """Agents that could not be named by their ids, as heroes or a bake in the file are, and how."""
    agents = [obj for obj in collection.objects if obj.parent is None and "id" in obj]
    if not agents:
        return []
    names = agent_names(crowd, np.array([agent["id"] for agent in agents]))
    return [pair for pair in zip(agents, names, strict=True) if pair[0].name != pair[1]]


def write_keyed(
    frames: Sequence[Frame],
    path: Path,
    header: Header,
    scene: bpy.types.Scene,
    *,
    source: Source = None,
    look: Look = PLAIN,
    settings: KeyframeBakeSettings | None = None,
) -> int:
    """Write frames to a binary glTF file (.glb) or an FBX file (.fbx), see `writing`.

    Frames before 0 are left out: Blender's scenes, which its exporters read, have none.

    Args:
        frames: All frames, in memory.
        path: File to write.
        header: Header of the frames.
        scene: The user's scene, which stays as it is.
        source: Object or collection that each agent copies, see `keyframes.bake`.
        look: How large copies are, and whether they turn to where agents head.
        settings: Settings of the keys to write.
    """
    addon, operator, options = _EXPORTERS[path.suffix.lower()]
    kept = [frame for frame in frames if frame.number >= 0]
    if not kept:
        raise SceneError(
            f"Crowd {header.name!r} has no frames from 0 on, where scenes of Blender begin: choose "
            "another format, or later frames"
        )
    header = replace(header, start=kept[0].number)
    with replacing(path) as partial, staging(scene, header) as stage:
        # sizes in FBX are in meters
        units, wanted = stage.scene.unit_settings, scene.unit_settings
        units.system, units.scale_length = wanted.system, wanted.scale_length
        made = keyframes.bake(
            kept,
            name=f"{header.name} Export" if find_bakes(header.name) else header.name,
            collection_parent=stage.scene.collection,
            settings=settings,
            source=source,
            look=look,
        )
        assert made is not None  # only a cancel gives None, and nothing cancels here
        if path.suffix.lower() == ".fbx":
            _separate(made.collection)
        with ExitStack() as stack:
            for agent, label in _unlike_names(made.collection, header.name):
                stack.enter_context(named(agent, label, bpy.data.objects))
            stage.run(_operator(addon, operator), partial, **options)
    return len(kept)

"""Acts with files: bakes, Escape in one, saved and dropped files, another file while it works."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
from acts_first import sections
from driver import Step, area_of, window, within
from parts import MODULE, Tools, crowd, crowds, go_to_start, part, play

BAKED = 12
"""Frames of a short bake."""
LONG = 5000
"""Frames of one that nobody waits for."""


def keyframes(tools: Tools) -> Iterator[Step]:
    """Bake a few frames to keyframes, and delete the bake."""
    obj, driver = crowd(), tools.driver
    obj.steer.frame_end = BAKED
    with bpy.context.temp_override(window=window()):
        bpy.ops.object.steer_bake_keyframes()
    yield from driver.settled()
    driver.check("baked to keyframes", obj.steer.bake_collection is not None)
    with bpy.context.temp_override(window=window()):
        bpy.ops.object.steer_delete_bake()
    yield from driver.settled()
    driver.check("the bake is deleted", crowd().steer.bake_collection is None)
    crowd().steer.frame_end = 250


def save_and_reload(tools: Tools) -> Iterator[Step]:
    """Save, open the file again, play."""
    path, before = tools.folder / "session.blend", crowd().steer.behaviors[0].weight
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    yield from tools.driver.settled()
    bpy.ops.wm.open_mainfile(filepath=str(path))
    yield from tools.driver.settled()
    weight = crowd().steer.behaviors[0].weight
    tools.driver.check("the file has its crowd", weight == before, weight)
    go_to_start()
    yield from play(10)
    tools.driver.check("it plays", part("blender.live.live").status(crowd()).diagnosis is None)


def bake(tools: Tools) -> Iterator[Step]:
    """Bake to a cache, press Escape during the bake, continue, delete."""
    driver, status = tools.driver, part("blender.bake.status")
    crowd().steer.frame_end = LONG
    # what the panel tells of a bake is to be in the pictures
    for cls in (rest := [c for c in sections() if c.section not in ("bake", "cache")]):
        bpy.utils.unregister_class(cls)
    yield from begin_bake(tools, "bake")
    yield from some_frames()
    driver.shoot("baking")
    tools.hands.key("ESC")
    yield lambda: not status.busy
    yield from driver.settled()
    kept = len(found().frames)
    driver.check("Escape stops a bake and keeps its frames", 2 < kept < LONG, kept)
    driver.check("the bake can be continued", found().can_continue)
    yield from driver.picture("bake_stopped")
    crowd().steer.frame_end = kept + 20
    yield from begin_bake(tools, "continue")
    yield lambda: not status.busy
    yield from driver.settled()
    done = found()
    driver.check("and is complete then", done.complete, f"{len(done.frames)} frames")
    yield from driver.picture("bake_complete")
    for cls in rest:
        bpy.utils.register_class(cls)
    bpy.context.scene.frame_set(kept)
    yield from driver.settled()
    reason = part("blender.live.live").status(crowd()).diagnosis
    driver.check("it plays natively", part("blender.crowd.state").plays_back(crowd()), reason)
    with within("VIEW_3D"):
        bpy.ops.object.steer_cache_delete()
    yield from driver.settled()
    driver.check("the bake is deleted again", found() is None)


def some_frames() -> Iterator[Step]:
    """Wait until the bake that runs has some frames."""
    status = part("blender.bake.status")
    yield lambda: not status.busy or status.busy[0].writer.next_frame > 5


def found() -> Any:
    """Status of the crowd's bake."""
    return part("blender.bake.status").status(crowd(), bpy.context.scene)


def begin_bake(tools: Tools, kind: str) -> Iterator[Step]:
    """Press Bake, with the mouse in the view."""
    tools.hands.hover("VIEW_3D", 0.5, 0.95)
    yield from tools.driver.settled()
    with within("VIEW_3D"):
        getattr(bpy.ops.object, f"steer_cache_{kind}")("INVOKE_DEFAULT")
    tools.driver.check("a bake is running", bool(part("blender.bake.status").busy))
    yield None


def open_while_baking(tools: Tools) -> Iterator[Step]:
    """Open the saved file while a bake runs."""
    driver, status = tools.driver, part("blender.bake.status")
    crowd().steer.frame_end = LONG
    yield from begin_bake(tools, "bake")
    yield from some_frames()
    driver.check("it is at work", bool(status.busy))
    bpy.ops.wm.open_mainfile(filepath=str(tools.folder / "session.blend"))
    yield from driver.settled()
    driver.check("another file ends the bake", not status.busy)
    go_to_start()
    yield from play(5)
    driver.check(
        "the crowd of that file plays",
        part("blender.live.live").status(crowd()).diagnosis is None,
    )


def drop(tools: Tools) -> Iterator[Step]:
    """Drop a preset file onto the view: on a crowd, and where nothing is active."""
    driver = tools.driver
    path = part("core.crowd.presets").builtin_folder() / "street_lanes.json"
    obj = crowd()
    yield from drop_file(tools, path)
    types = [entry.type for entry in obj.steer.behaviors]
    driver.check("a dropped preset sets the active crowd", "follow_path" in types, types)
    bpy.context.view_layer.objects.active = None
    yield from drop_file(tools, path)
    driver.check("and starts a crowd where none is active", len(crowds()) == 2, len(crowds()))
    yield from driver.picture("dropped")


def drop_file(tools: Tools, path: object) -> Iterator[Step]:
    """Blender's action when a file is dropped on the 3D view."""
    tools.hands.hover("VIEW_3D")
    yield from tools.driver.settled()
    with within("VIEW_3D"):
        bpy.ops.wm.drop_import_file(
            "INVOKE_DEFAULT", directory=str(path.parent), files=[{"name": path.name}]
        )
    yield from tools.driver.settled()


def disable_and_uninstall(tools: Tools) -> Iterator[Step]:
    """Disable while kernels compile, enable, uninstall."""
    compiling, check = part("blender.live.compiling"), tools.driver.check
    processes = list(compiling._work.compilation._processes) if compiling.state() else []
    bpy.ops.preferences.addon_disable(module=MODULE)
    yield from tools.driver.settled()
    check("disabled", MODULE not in bpy.context.preferences.addons)
    check("no process stays", all(p.poll() is not None for p in processes), len(processes))
    check("no property stays", not hasattr(bpy.types.Object, "steer"))
    bpy.ops.preferences.addon_enable(module=MODULE)
    yield from tools.driver.settled()
    check("enabled again", hasattr(bpy.types.Object, "steer"))
    with within("VIEW_3D"):
        bpy.ops.object.steer_add_crowd()
    yield from tools.driver.settled()
    check("and of use", len(crowds()) == 1)
    repos = [repo.module for repo in bpy.context.preferences.extensions.repos]
    bpy.ops.extensions.package_uninstall(repo_index=repos.index("user_default"), pkg_id="steer")
    yield from tools.driver.settled()
    check("uninstalled", MODULE not in bpy.context.preferences.addons)
    left = [name for name in dir(bpy.types) if "steer" in name.lower()]
    check("no class stays", not left, left)
    area_of("PROPERTIES").tag_redraw()
    yield from tools.driver.picture("uninstalled")


ACTS = (keyframes, save_and_reload, bake, open_while_baking, drop)

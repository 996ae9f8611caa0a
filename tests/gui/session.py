"""What a new user does, in a real window: `blender -P tests/gui/session.py -- ZIP FOLDER`.

`scripts/test_gui.py` runs it. It installs the extension's zip, adds a crowd by its menu, plays,
changes a weight, undoes, bakes, saves, reloads, disables, enables and uninstalls, with a picture
of each panel on the way.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

FOLDER = Path(sys.argv[sys.argv.index("--") + 2]).resolve()
# kept from run to run: compiling takes most of the time, and one crowd below is always compiled
os.environ["STEER_CACHE_DIR"] = str(FOLDER.parent / "gui-kernels")

import bpy  # noqa: E402
from driver import Driver, Step, area_of, window, within, xdotool  # noqa: E402

MODULE = "bl_ext.user_default.steer"
ZIP = Path(sys.argv[sys.argv.index("--") + 1]).resolve()
TAB_WIDTH = 170
"""So many pixels are added to the Properties editor, which is narrow on a small screen."""

driver = Driver(FOLDER)
check, picture = driver.check, driver.picture


def part(name: str) -> Any:
    """A module of the installed extension."""
    return importlib.import_module(f"{MODULE}.steer_addon.{name}")


def crowd() -> bpy.types.Object:
    """The crowd."""
    return next(
        obj for obj in bpy.context.scene.objects if obj.type == "MESH" and obj.steer.is_crowd
    )


def simulated() -> int:
    """How many frames are stored."""
    return int(part("blender.live").status(crowd()).stored_count)


def install() -> Iterator[Step]:
    """Get Extensions > Install from Disk."""
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    start = time.perf_counter()
    bpy.ops.extensions.package_install_files(
        filepath=str(ZIP), repo="user_default", enable_on_install=True
    )
    check("installed and enabled", MODULE in bpy.context.preferences.addons,
          f"{time.perf_counter() - start:.2f} s")  # fmt: skip
    check("enabling loads no compiler", "numba" not in sys.modules)
    open_all()
    yield 0.5
    edge, middle = area_of("PROPERTIES").x - 1, window().height // 2
    xdotool("mousemove", edge, middle)
    yield 0.3
    xdotool("mousedown", 1)
    yield 0.3
    xdotool("mousemove", edge - TAB_WIDTH // 2, middle)
    yield 0.3
    xdotool("mousemove", edge - TAB_WIDTH, middle)
    yield 0.3
    xdotool("mouseup", 1)
    yield 0.5


def add_by_menu() -> Iterator[Step]:
    """Add > Crowd > Pedestrians: what the entry of the menu does, as keys may not arrive here."""
    xdotool("mousemove", 300, 200)
    yield 1.0
    with within("VIEW_3D"):
        bpy.ops.object.steer_start("INVOKE_DEFAULT", preset="pedestrians")
    yield 1.0
    made = [obj for obj in bpy.context.scene.objects if obj.type == "MESH" and obj.steer.is_crowd]
    check("Add > Crowd > Pedestrians makes a crowd", len(made) == 1)
    area_of("PROPERTIES").spaces[0].context = "PHYSICS"
    check("it plays", window().screen.is_animation_playing)


def compile_and_play() -> Iterator[Step]:
    """Kernels compile where they are not there yet; then the crowd moves by itself."""
    compiling = part("blender.compiling")
    yield 2.0
    waits = compiling.is_waiting(crowd())
    yield lambda: compiling.state() is None
    yield lambda: simulated() > 30
    note = "kernels compiled just now" if waits else "kernels compiled before"
    check("it goes on by itself", simulated() > 30, note)
    picture("playing", redraw=True)
    bpy.ops.screen.animation_cancel(restore_frame=False)


def edit() -> Iterator[Step]:
    """Change a weight, undo, redo."""
    scene = bpy.context.scene
    scene.frame_set(scene.frame_start)
    bpy.ops.ed.undo_push(message="Before")
    crowd().steer.behaviors[0].weight = 2.5
    bpy.ops.ed.undo_push(message="Weight")
    yield 0.5
    with bpy.context.temp_override(window=window()):
        bpy.ops.ed.undo()
    yield 0.5
    check("undo takes the weight back", crowd().steer.behaviors[0].weight == 1.0)
    with bpy.context.temp_override(window=window()):
        bpy.ops.ed.redo()
    yield 0.5
    check("redo brings it again", crowd().steer.behaviors[0].weight == 2.5)
    with bpy.context.temp_override(window=window()):
        bpy.ops.screen.animation_play()
    yield lambda: simulated() > 10
    bpy.ops.screen.animation_cancel(restore_frame=False)
    message = part("blender.live").status(crowd()).message
    check("it plays with the new weight", message == "", message)


def sections() -> list[Any]:
    """The panels inside of the Crowd panel."""
    return [
        cls for cls in part("blender.registration").CLASSES
        if issubclass(cls, bpy.types.Panel)
        and getattr(cls, "bl_parent_id", "") == "PHYSICS_PT_steer"
    ]  # fmt: skip


def open_all() -> None:
    """Open every panel; only before it is drawn for the first time can that be said."""
    found = sections()
    for cls in found:
        bpy.utils.unregister_class(cls)
        cls.bl_options = cls.bl_options - {"DEFAULT_CLOSED"}
    for cls in found:
        bpy.utils.register_class(cls)


def panels() -> Iterator[Step]:
    """A picture of each panel, alone under its parent."""
    registered = sections()
    bpy.context.view_layer.objects.active = crowd()
    for cls in registered:
        bpy.utils.unregister_class(cls)
    for cls in registered:
        bpy.utils.register_class(cls)
        area_of("PROPERTIES").tag_redraw()
        yield 0.8
        picture(f"panel_{cls.bl_label.lower().replace(' ', '_')}")
        bpy.utils.unregister_class(cls)
    for cls in registered:
        bpy.utils.register_class(cls)
    space = area_of("VIEW_3D").spaces[0]
    space.show_region_ui = True
    yield 0.5
    region = next(r for r in area_of("VIEW_3D").regions if r.type == "UI")
    region.active_panel_category = "Crowd"
    area_of("VIEW_3D").tag_redraw()
    yield 1.0
    picture("sidebar")
    space.show_region_ui = False
    for name in ("STEER_MT_add", "STEER_MT_presets", "STEER_MT_object", "STEER_MT_behavior_add"):
        xdotool("mousemove", 500, 200)
        yield 0.3
        with within("VIEW_3D"):
            bpy.ops.wm.call_menu(name=name)
        yield 1.0
        picture(name.lower())
        xdotool("key", "Escape")
        yield 0.5


def bake() -> Iterator[Step]:
    """Bake a few frames, and delete the bake."""
    obj = crowd()
    obj.steer.frame_end = 12
    with bpy.context.temp_override(window=window()):
        bpy.ops.object.steer_bake_keyframes()
    yield 0.5
    check("baked to keyframes", obj.steer.bake_collection is not None)
    picture("baked")
    with bpy.context.temp_override(window=window()):
        bpy.ops.object.steer_delete_bake()
    yield 0.5
    check("the bake is deleted", obj.steer.bake_collection is None)
    obj.steer.frame_end = 250


def save_and_reload() -> Iterator[Step]:
    """Save, open the file again, play."""
    path = FOLDER / "session.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    yield 0.5
    bpy.ops.wm.open_mainfile(filepath=str(path))
    yield 2.0
    check("the file has its crowd", crowd().steer.behaviors[0].weight == 2.5)
    bpy.context.scene.frame_set(bpy.context.scene.frame_start)
    with bpy.context.temp_override(window=window()):
        bpy.ops.screen.animation_play()
    yield lambda: simulated() > 10
    check("it plays", simulated() > 10)
    bpy.ops.screen.animation_cancel(restore_frame=False)
    path.unlink()


def open_while_compiling() -> Iterator[Step]:
    """A crowd that needs other kernels compiles, and the window lives; another file is opened."""
    compiling = part("blender.compiling")
    with within("VIEW_3D"):
        bpy.ops.object.steer_start("INVOKE_DEFAULT", preset="panic", count=20)
    yield 1.5
    made = bpy.context.object
    check("a crowd with other behaviors waits for its kernels", compiling.is_waiting(made))
    area_of("PROPERTIES").spaces[0].context = "PHYSICS"
    driver.forget_pauses()
    yield lambda: compiling.state() is None or compiling.state().total > 0
    yield 6.0
    check("the window lives while kernels compile", driver.longest_pause < 3.0,
          f"longest pause {driver.longest_pause:.2f} s")  # fmt: skip
    picture("compiling", redraw=True)
    bpy.ops.wm.read_homefile(use_empty=False)
    yield 2.0
    check("a new file waits for nothing", not compiling._work.waiting)


def disable_and_uninstall() -> Iterator[Step]:
    """Disable while kernels compile, enable, uninstall."""
    compiling = part("blender.compiling")
    processes = list(compiling._work.compilation._processes) if compiling.state() else []
    bpy.ops.preferences.addon_disable(module=MODULE)
    yield 1.0
    check("disabled", MODULE not in bpy.context.preferences.addons)
    check("no process stays", all(p.poll() is not None for p in processes), len(processes))
    check("no property stays", not hasattr(bpy.types.Object, "steer"))
    bpy.ops.preferences.addon_enable(module=MODULE)
    yield 1.0
    check("enabled again", hasattr(bpy.types.Object, "steer"))
    repos = [repo.module for repo in bpy.context.preferences.extensions.repos]
    bpy.ops.extensions.package_uninstall(repo_index=repos.index("user_default"), pkg_id="steer")
    yield 1.0
    check("uninstalled", MODULE not in bpy.context.preferences.addons)
    check("nothing stays", not [name for name in dir(bpy.types) if "steer" in name.lower()])
    picture("uninstalled")


def session() -> Iterator[Step]:
    """All of it."""
    for act in (
        install, add_by_menu, compile_and_play, edit, panels, bake, save_and_reload,
        open_while_compiling, disable_and_uninstall,
    ):  # fmt: skip
        print(f"== {act.__name__}", flush=True)
        yield from act()


bpy.context.preferences.view.show_splash = False
driver.start(session())

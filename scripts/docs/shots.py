"""The pictures of panels in docs/, taken in a real window: `blender -P scripts/docs/shots.py`.

`python scripts/docs/render.py --pictures` runs it. A crowd is started from a preset and played;
then every section of the Crowd panel is shown alone, and its picture is cut out. Needs
ImageMagick's `import` and `convert`, xdotool, and the numba of the program's Python. Kernels are
kept in build/kernels. `-- ways motion` behind the command takes the pictures of these sections
alone, of a crowd that is not played.
"""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("STEER_CACHE_DIR", str(ROOT / "build" / "kernels"))

import bpy  # noqa: E402
import numpy as np  # noqa: E402

import steer_addon  # noqa: E402
from steer_addon.blender.crowd.properties import add_group  # noqa: E402
from steer_addon.blender.live import compiling, live  # noqa: E402
from steer_addon.blender.ui import panels  # noqa: E402

Step = float | Callable[[], bool]
FOLDER = ROOT / "docs" / "images"
WIDTH = 440
"""Width of the Properties editor when panels are shot [pixels]."""
PLAYED = 60


def window() -> bpy.types.Window:
    """The first window."""
    return bpy.context.window_manager.windows[0]


def area_of(kind: str) -> bpy.types.Area:
    """The largest area of a type."""
    found = [area for area in window().screen.areas if area.type == kind]
    return max(found, key=lambda area: area.width * area.height)


def region_of(area: bpy.types.Area, kind: str = "WINDOW") -> bpy.types.Region:
    """A region of an area."""
    return next(region for region in area.regions if region.type == kind)


def draw() -> None:
    """Make Blender draw everything immediately."""
    with bpy.context.temp_override(window=window()):
        bpy.ops.wm.redraw_timer(type="DRAW_WIN_SWAP", iterations=2)


def save(name: str, box: Any, *, trim: bool = False, quality: int = 80, width: int = 0) -> None:
    """Take a part of the screen.

    Args:
        name: Name of the picture, below docs/images, without its suffix.
        box: Object with x, y, width and height in pixels from below, such as a region.
        trim: Cut off empty edges.
        quality: Quality of WebP.
        width: Width to shrink it to [px]; 0 leaves it unchanged.
    """
    path = FOLDER / f"{name}.webp"
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = ROOT / "out" / "shot.png"
    top = window().height - box.y - box.height
    crop = f"{box.width}x{box.height}+{box.x}+{top}"
    subprocess.run(["import", "-window", "root", "-crop", crop, str(raw)], check=True, timeout=60)
    # corners of editors are round
    change = ["-shave", "5x5", "-fuzz", "1%", "-trim", "+repage"] if trim else []
    change += ["-resize", f"{width}x>"] if width else []
    words = ["convert", str(raw), "+repage", *change, "-quality", str(quality), str(path)]
    subprocess.run(words, check=True, timeout=60)
    print(f"{path.relative_to(ROOT)}  {path.stat().st_size} bytes", flush=True)


def crowd() -> bpy.types.Object:
    """The crowd."""
    return next(o for o in bpy.context.scene.objects if o.type == "MESH" and o.steer.is_crowd)


def start(preset: str, **options: Any) -> None:
    """Add a crowd to an empty scene."""
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    area = area_of("VIEW_3D")
    with bpy.context.temp_override(window=window(), area=area, region=region_of(area)):
        bpy.ops.object.steer_start("INVOKE_DEFAULT", preset=preset, **options)
    area_of("PROPERTIES").spaces[0].context = "PHYSICS"


def stored() -> int:
    """Number of simulated frames."""
    return len(live.runs.ensure(crowd()).frames)


def stop(frame: int) -> None:
    """Stop playing, at a frame."""
    bpy.ops.screen.animation_cancel(restore_frame=False)
    bpy.context.scene.frame_set(frame)


def held_up() -> str:
    """The id of the slowest agent: others are in its way."""
    frame = live.get_frame(crowd(), PLAYED)
    return str(frame.id[np.argmin(np.linalg.norm(frame.velocity, axis=1))])


def sections(parent: str) -> list[type]:
    """The subpanels of a Crowd panel."""
    return [cls for cls in panels.classes if getattr(cls, "bl_parent_id", "") == parent]


def first_steps() -> Iterator[Step]:
    """Pictures for a new user: the menu, the playing crowd, the presets."""
    area = area_of("VIEW_3D")
    with bpy.context.temp_override(window=window(), area=area, region=region_of(area)):
        window().cursor_warp(area.x + 40, area.y + area.height - 60)
        yield 0.3
        # twice: Blender loads the pictures of presets while the menu is shown first
        for _ in range(2):
            xdotool("key", "Escape")
            yield 0.5
            bpy.ops.wm.call_menu(name="STEER_MT_add")
            yield 1.5
    save("first_steps/menu", area, width=800)
    xdotool("key", "Escape")
    yield 0.5
    start("pedestrians")
    # before anything is simulated, for the section of groups
    add_group(crowd(), "tourists")
    yield lambda: compiling.state() is None and stored() >= PLAYED
    stop(PLAYED)
    # selected objects are orange
    crowd().select_set(False)
    yield 1.0
    draw()
    whole = type("Box", (), {"x": 0, "y": 0, "width": window().width, "height": window().height})
    save("first_steps/playing", whole, width=1000)


def xdotool(*words: object) -> None:
    """Move the mouse or press keys."""
    subprocess.run(["xdotool", *map(str, words)], check=True, timeout=30)


def drag(start: tuple[int, int], end: tuple[int, int]) -> Iterator[Step]:
    """Drag an edge; places are counted from the lower left corner, as Blender does."""
    (x, y), (to_x, to_y), top = start, end, window().height
    xdotool("mousemove", x, top - y)
    yield 0.4
    xdotool("mousedown", 1)
    yield 0.3
    for part in (0.5, 1.0):
        xdotool("mousemove", round(x + part * (to_x - x)), round(top - (y + part * (to_y - y))))
        yield 0.3
    xdotool("mouseup", 1)
    yield 0.5


def enlarge() -> Iterator[Step]:
    """Give the Properties editor the right width, and the largest height of the window."""
    editor = area_of("PROPERTIES")
    middle = editor.y + editor.height // 2
    yield from drag((editor.x - 1, middle), (editor.x + editor.width - WIDTH, middle))
    editor = area_of("PROPERTIES")
    across, top = editor.x + editor.width // 2, editor.y + editor.height
    yield from drag((across, top), (across, window().height - 40))


def opened(cls: type) -> list[type]:
    """A section and its parts under other names, and open: Blender remembers closed panels."""
    kept = {k: v for k, v in vars(cls).items() if k.startswith("bl_") or k in ("section",)}
    name = f"{cls.__name__}_open"
    made = type(name, cls.__bases__, {**kept, "bl_idname": name, "bl_options": set()})
    parts = [part for below in sections(cls.__name__) for part in opened(below)]
    for part in parts:
        part.bl_parent_id = name
    return [made, *parts]


def hide_others() -> None:
    """Keep only Steer's panel in the Physics tab."""
    for cls in bpy.types.Panel.__subclasses__():
        if getattr(cls, "bl_context", "") == "physics" and cls.__module__.startswith("bl_ui"):
            bpy.utils.unregister_class(cls)


def panel_pictures(names: list[str]) -> Iterator[Step]:
    """Each section alone, open, in the Properties editor; all of them where none is named."""
    yield from enlarge()
    hide_others()
    obj = crowd()
    bpy.context.view_layer.objects.active = obj
    overlay = bpy.context.scene.steer_overlay
    if not names:
        overlay.show, overlay.agents = True, held_up()
    registered = sections("PHYSICS_PT_steer")
    parts = [part for cls in registered for part in sections(cls.__name__)]
    for cls in (*parts, *registered):
        bpy.utils.unregister_class(cls)
    for cls in registered:
        if names and cls.section not in names:
            continue
        shown = opened(cls)
        for part in shown:
            bpy.utils.register_class(part)
        yield 1.0
        draw()
        name = cls.__name__.removeprefix("PHYSICS_PT_steer_")
        save(f"panels/{name}", region_of(area_of("PROPERTIES")), trim=True)
        for part in reversed(shown):
            bpy.utils.unregister_class(part)
    if not names:
        yield from main_panel(obj)
    for cls in (*registered, *parts):
        bpy.utils.register_class(cls)
    overlay.show = False


def main_panel(obj: bpy.types.Object) -> Iterator[Step]:
    """The main panel with a message; nothing else is open."""
    target, obj.steer.target_object = obj.steer.target_object, None
    yield 1.0
    draw()
    save("panels/crowd", region_of(area_of("PROPERTIES")), trim=True)
    obj.steer.target_object = target


def presets_picture() -> Iterator[Step]:
    """The gallery of presets that the header opens."""
    area = area_of("VIEW_3D")
    window().cursor_warp(area.x + 80, area.y + area.height - 40)
    yield 0.3
    with bpy.context.temp_override(window=window(), area=area, region=region_of(area)):
        bpy.ops.wm.call_panel(name="STEER_PT_presets", keep_open=True)
    yield 2.0
    save("panels/presets", area, width=800)
    xdotool("key", "Escape")
    yield 0.5


def session() -> Iterator[Step]:
    """All pictures, or those of the sections that are named."""
    names = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
    if names:
        start("pedestrians")
        # what is seen of it when it counts
        crowd().steer.ways.ways = "AROUND"
        yield 1.0
        yield lambda: compiling.state() is None
        yield from panel_pictures(names)
        return
    yield from first_steps()
    yield from panel_pictures(names)
    yield from presets_picture()


def run(steps: Iterator[Step]) -> None:
    """Run the steps one by one, so that the window redraws between them; then quit."""

    def tick() -> float | None:
        nonlocal wait
        try:
            if wait is None or wait():
                step = next(steps)
                wait = step if callable(step) else None
                return 0.2 if callable(step) else float(step)
            return 0.2
        except StopIteration:
            code = 0
        except BaseException:  # noqa: BLE001 - no other code reports it
            traceback.print_exc()
            code = 1
        sys.stdout.flush()
        # immediately: quitting would ask whether to save
        os._exit(code)

    wait: Callable[[], bool] | None = None
    bpy.app.timers.register(tick, first_interval=4.0)


if __name__ == "__main__":
    (ROOT / "out").mkdir(exist_ok=True)
    bpy.context.preferences.view.show_splash = False
    bpy.context.preferences.view.show_tooltips = False
    steer_addon.register()
    run(session())

"""Acts of a new user: install, add a crowd by its menu, see it move, change, undo."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
from driver import Step, area_of, region_of, window
from parts import (
    MODULE,
    Tools,
    crowd,
    go_to_start,
    is_playing,
    part,
    play,
    show_physics,
    shown_frame,
    simulated,
)

WIDER = 170
"""Pixels to add to the Properties editor, which is narrow on a small screen."""
CHOSEN = "pedestrians"


def install(tools: Tools) -> Iterator[Step]:
    """Get Extensions > Install from Disk, in an empty scene."""
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    start = time.perf_counter()
    bpy.ops.extensions.package_install_files(
        filepath=str(tools.package), repo="user_default", enable_on_install=True
    )
    took = time.perf_counter() - start
    enabled = MODULE in bpy.context.preferences.addons
    tools.driver.check("installed and enabled", enabled, f"{took:.2f} s")
    tools.driver.check("enabling loads no compiler", "numba" not in sys.modules)
    open_all()
    yield from tools.driver.settled()
    before = area_of("PROPERTIES").width
    edge = (area_of("PROPERTIES").x - 1.0, window().height / 2)
    yield from tools.hands.drag(edge, (edge[0] - WIDER, edge[1]))
    wider = area_of("PROPERTIES").width
    tools.driver.check("the mouse is heeded", wider > before + WIDER / 2, f"{before} to {wider}")


def sections() -> list[Any]:
    """The panels inside of the Crowd panel, those inside of others after them."""
    return [
        cls for cls in part("blender.registration").CLASSES
        if issubclass(cls, bpy.types.Panel)
        and getattr(cls, "bl_parent_id", "").startswith("PHYSICS_PT_steer")
    ]  # fmt: skip


def open_all() -> None:
    """Open every panel; only before it is drawn for the first time can that be said."""
    found = sections()
    for cls in found:
        bpy.utils.unregister_class(cls)
        cls.bl_options = cls.bl_options - {"DEFAULT_CLOSED"}
    for cls in found:
        bpy.utils.register_class(cls)


def add_by_menu(tools: Tools) -> Iterator[Step]:
    """Add > Crowd > Pedestrians, from the keyboard as the menus allow it."""
    hands, driver = tools.hands, tools.driver
    hands.hover("VIEW_3D", 0.5, 0.95)
    yield from driver.settled()
    hands.key("A", shift=True)
    yield from driver.settled()
    hands.key("END")
    yield from driver.settled()
    hands.key("RIGHT_ARROW")
    yield from driver.settled()
    driver.shoot("menu_add")
    # the first entry of the first column is chosen already
    column = next(iter(part("blender.ui.previews").grouped_presets().values()))
    for _ in range([name for name, _ in column].index(CHOSEN)):
        hands.key("DOWN_ARROW")
        yield None
    driver.pauses.forget()
    start = time.perf_counter()
    hands.key("RET")
    yield lambda: bool(bpy.context.view_layer.objects.active)
    last = bpy.context.window_manager.operators[-1]
    named = last.bl_idname, getattr(last, "preset", "")
    driver.check("Add > Crowd > Pedestrians was chosen",
                 named == ("OBJECT_OT_steer_start", CHOSEN), named)  # fmt: skip
    driver.check("it plays at once", is_playing())
    yield lambda: simulated() > 1
    driver.took("first motion of the first crowd", time.perf_counter() - start)
    yield from show_physics()
    yield from driver.settled()
    check_framing(tools)


def check_framing(tools: Tools) -> None:
    """The crowd is no speck in the view, and what it goes to is seen too."""
    from bpy_extras.view3d_utils import location_3d_to_region_2d

    region, view = region_of("VIEW_3D"), area_of("VIEW_3D").spaces[0].region_3d
    obj = crowd()
    points = [obj.matrix_world @ vertex.co for vertex in obj.data.vertices]
    points.append(obj.steer.target_object.matrix_world.translation)
    seen = [location_3d_to_region_2d(region, view, point) for point in points]
    size = np.array([region.width, region.height])
    inside = all(p is not None and 0 < p[0] < size[0] and 0 < p[1] < size[1] for p in seen)
    tools.driver.check("crowd and target are in view", inside)
    span = np.ptp(np.array([p for p in seen if p is not None]), axis=0) / size
    tools.driver.check("they fill the view", max(span) > 0.4, f"{span.round(2)} of it")


def play_at_once(tools: Tools) -> Iterator[Step]:
    """The crowd moves by itself; its kernels came with the package."""
    driver = tools.driver
    yield lambda: simulated() > 12
    tell_pauses(tools, "the crowd sets off")
    begin = part("blender.live.live").get_frame(crowd(), 1).position
    moved = np.linalg.norm(shown_frame().position - begin, axis=1).mean()
    driver.check("the crowd moves by itself", moved > 0.1, f"{moved:.2f} m each")
    check_no_compiling(tools, "the first crowd")
    yield from driver.picture("playing")
    bpy.ops.screen.animation_cancel(restore_frame=False)


def check_no_compiling(tools: Tools, what: str) -> None:
    """All kernels until now came with the package."""
    asked = sorted(key[1] for key in part("blender.live.compiling")._work.asked)
    tools.driver.check(f"{what} compiles nothing", not asked, asked)


def tell_pauses(tools: Tools, when: str) -> None:
    """Log the time that the window stood still, and restart the measurement."""
    pauses = tools.driver.pauses
    tools.driver.say(pauses=when, longest=round(pauses.longest, 2), told=pauses.told)
    pauses.forget()


def edit(tools: Tools) -> Iterator[Step]:
    """Change a weight in the panel, undo and redo by their keys, play."""
    hands, driver = tools.hands, tools.driver
    go_to_start()
    before = crowd().steer.behaviors[0].weight
    yield from hands.find_field("behaviors[0].weight")
    hands.key("RET")
    yield from driver.settled()
    hands.write("2.5")
    yield None
    hands.key("RET")
    yield from driver.settled()
    driver.check("a weight is typed in", crowd().steer.behaviors[0].weight == 2.5,
                 crowd().steer.behaviors[0].weight)  # fmt: skip
    hands.hover("VIEW_3D", 0.5, 0.95)
    yield from driver.settled()
    hands.key("Z", ctrl=True)
    yield from driver.settled()
    now = crowd().steer.behaviors[0].weight
    driver.check("undo takes the weight back", now == before, now)
    hands.key("Z", ctrl=True, shift=True)
    yield from driver.settled()
    driver.check("redo brings it again", crowd().steer.behaviors[0].weight == 2.5)
    yield from play(10)
    found = part("blender.live.live").status(crowd()).diagnosis
    driver.check("it plays with the new weight", found is None, found)


ACTS = (install, add_by_menu, play_at_once, edit)

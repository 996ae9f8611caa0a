"""Acts of starting crowds: every preset and behavior at once, or after their kernels compiled."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import bpy
from acts_first import check_no_compiling, tell_pauses
from driver import Step, window, within
from parts import (
    MODULE,
    Tools,
    crowd,
    crowds,
    go_to_start,
    is_playing,
    part,
    play,
    show_physics,
    simulated,
)


def start_presets(tools: Tools) -> Iterator[Step]:
    """Add > Crowd with every preset: each sets off at once."""
    for name in part("core.crowd.presets").find_presets():
        bpy.ops.wm.read_homefile(use_empty=True)
        yield from tools.driver.settled()
        start = time.perf_counter()
        with within("VIEW_3D"):
            bpy.ops.object.steer_start("INVOKE_DEFAULT", preset=name)
        yield lambda: bool(crowds()) and simulated() > 1
        tools.driver.took(f"first motion of {name}", time.perf_counter() - start)
    check_no_compiling(tools, "every preset")


def add_behaviors(tools: Tools) -> Iterator[Step]:
    """Every behavior added to a crowd that plays: it goes on at once."""
    for name in part("core.behaviors").REGISTRY:
        start = time.perf_counter()
        with within("VIEW_3D"):
            bpy.ops.object.steer_behavior_add(type=name)
        go_to_start()
        yield lambda: simulated() > 1
        tools.driver.took(f"going on with {name}", time.perf_counter() - start)
    check_no_compiling(tools, "every behavior")
    bpy.ops.screen.animation_cancel(restore_frame=False)
    bpy.ops.wm.read_homefile(use_empty=True)
    yield from tools.driver.settled()


def open_while_compiling(tools: Tools) -> Iterator[Step]:
    """A crowd without its kernels waits with the animation, which another file ends."""
    compiling, driver = part("blender.live.compiling"), tools.driver
    bpy.ops.wm.read_homefile(use_empty=False)
    yield from driver.settled()
    hide_kernels()
    with within("VIEW_3D"):
        bpy.ops.object.steer_start("INVOKE_DEFAULT", preset="panic", count=20)
    yield lambda: bool(crowds())
    made = crowd()
    driver.pauses.forget()
    yield lambda: compiling.is_waiting(made) or simulated_now(made)
    driver.check("a crowd without its kernels waits for them", compiling.is_waiting(made))
    yield from show_physics()
    yield lambda: compiling.state() is None or compiling.state().total > 0
    told = compiling.text()
    driver.check("it is told how far compiling is", " of " in told, told)
    driver.check("the animation waits too", not is_playing())
    yield from driver.settled()
    tell_pauses(tools, "the view is drawn and kernels compile")
    yield from driver.picture("compiling_others")
    bpy.ops.wm.read_homefile(use_empty=False)
    yield from driver.settled()
    driver.check("a new file waits for nothing", not compiling._waits.by_uid())
    driver.check("and does not play", not is_playing())
    with bpy.context.temp_override(window=window()):
        bpy.ops.screen.animation_play()
    yield from driver.settled()
    yield from driver.settled()
    driver.check("but can be played, while the kernels go on compiling",
                 is_playing() and compiling.state() is not None)  # fmt: skip
    bpy.ops.screen.animation_cancel(restore_frame=False)


def wait_and_play(tools: Tools) -> Iterator[Step]:
    """A crowd without its kernels goes on, with the animation, when they are compiled."""
    bpy.ops.wm.read_homefile(use_empty=True)
    yield from tools.driver.settled()
    hide_kernels()
    with within("VIEW_3D"):
        bpy.ops.object.steer_start("INVOKE_DEFAULT", preset="seeker", count=20)
    yield lambda: bool(crowds()) and part("blender.live.compiling").is_waiting(crowd())
    start = time.perf_counter()
    yield lambda: simulated_now(crowd())
    tools.driver.took("compiling for one crowd", time.perf_counter() - start)
    tools.driver.check("the animation goes on", is_playing())
    yield from play(10)


def hide_kernels() -> None:
    """Forget the kernels that came with the package, as on a processor that they do not fit."""
    shipped = part("core.compiled.jit_store").SHIPPED
    if shipped.is_dir():
        shipped.rename(shipped.with_name("other_kernels"))
    kind = part("core.compiled.jit").Kernel
    ours = [module for name, module in sys.modules.items() if name.startswith(MODULE)]
    for kernel in {v for module in ours for v in vars(module).values() if isinstance(v, kind)}:
        kernel._target = kernel._part = None


def simulated_now(obj: bpy.types.Object) -> bool:
    """Whether it goes without waiting."""
    return len(part("blender.live.live").runs.ensure(obj).frames) > 3


ACTS = (start_presets, add_behaviors, wait_and_play, open_while_compiling)

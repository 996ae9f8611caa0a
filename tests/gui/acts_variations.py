"""Acts with variations: made by other processes of the same Blender while this one stays alive."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
from acts_first import sections
from driver import Step, within
from parts import Tools, crowd, part

END, COUNT = 20, 2


def variations(tools: Tools) -> Iterator[Step]:
    """Make two, show one, keep it, delete the rest."""
    driver, current = tools.driver, part("blender.variations.current")
    made = part("blender.variations.made")
    obj = crowd()
    obj.steer.frame_end, obj.steer.variations.count = END, COUNT
    for cls in (rest := [c for c in sections() if c.section not in ("bake", "variations")]):
        bpy.utils.unregister_class(cls)
    with within("VIEW_3D"):
        bpy.ops.object.steer_variations_make("INVOKE_DEFAULT")
    driver.check("variations are being made", current.run() is not None)
    yield from driver.picture("variations_begun")
    yield lambda: current.run() is None
    made.refresh(crowd())
    found, done = made.seen(crowd())
    driver.check("all are made", len(done) == COUNT, current.fault_of(crowd()))
    with within("VIEW_3D"):
        bpy.ops.object.steer_variation_show("INVOKE_DEFAULT", number=COUNT)
    bpy.context.scene.frame_set(END)
    driver.check("one is shown", part("blender.crowd.state").plays_back(crowd()))
    driver.check("with its seed", crowd().steer.seed == found[-1].seed)
    yield from driver.picture("variation_shown")
    with within("VIEW_3D"):
        bpy.ops.object.steer_variation_keep("INVOKE_DEFAULT")
    yield from driver.settled()
    bake = part("blender.bake.status").read_status(crowd(), bpy.context.scene)
    driver.check("it is kept as the bake", bake is not None and bake.complete)
    told = bake and bake.out_of_date
    driver.check("which is up to date", told is None, told)
    with within("VIEW_3D"):
        bpy.ops.object.steer_variations_delete()
        driver.check("the rest is deleted", not made.folder_of(crowd()).exists())
        bpy.ops.object.steer_cache_delete()
    for cls in rest:
        bpy.utils.register_class(cls)
    crowd().steer.frame_end = 250
    yield from driver.settled()


ACTS = (variations,)

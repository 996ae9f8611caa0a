"""Acts that look: each panel and menu, agents picked in the view, handles that are dragged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import bpy
from acts_first import sections
from driver import Step, area_of, redraw, region_of, within
from hands import place_in_view
from mathutils import Vector
from parts import Tools, crowd, part, shown_frame

MENUS = ("STEER_MT_presets", "STEER_MT_object", "STEER_MT_behavior_add", "STEER_MT_export")

BESIDE = 80.0
"""How far two bodies are apart in the view that do not hide each other [px]."""


def panels(tools: Tools) -> Iterator[Step]:
    """A picture of each section, alone under its parent, and of the sidebar."""
    registered = sections()
    for cls in registered:
        bpy.utils.unregister_class(cls)
    for cls in registered:
        # a part of a section is there below that section only
        shown = [c for c in registered if c is cls or c.__name__ == cls.bl_parent_id]
        for part_of in shown:
            bpy.utils.register_class(part_of)
        name = f"panel_{cls.bl_label.lower().replace(' ', '_')}"
        yield from tools.driver.picture(name)
        if cls.section == "keyframes":
            # longer than the editor is high
            scroll("down")
            yield from tools.driver.picture(f"{name}_below")
            scroll("up")
        for part_of in reversed(shown):
            bpy.utils.unregister_class(part_of)
    for cls in registered:
        bpy.utils.register_class(cls)
    space = area_of("VIEW_3D").spaces[0]
    space.show_region_ui = True
    yield from tools.driver.settled()
    region_of("VIEW_3D", "UI").active_panel_category = "Crowd"
    yield from tools.driver.picture("sidebar")
    space.show_region_ui = False
    yield from tools.driver.settled()


def scroll(way: str) -> None:
    """Scroll the Properties editor to its end, or back."""
    with within("PROPERTIES"):
        # each call goes as far as one turn of the wheel
        for _ in range(20):
            getattr(bpy.ops.view2d, f"scroll_{way}")()


def menus(tools: Tools) -> Iterator[Step]:
    """A picture of each menu and of the gallery of presets."""
    hands, driver = tools.hands, tools.driver
    for name in (*MENUS, "STEER_PT_presets"):
        hands.hover("VIEW_3D", 0.5, 0.5)
        yield from driver.settled()
        with within("VIEW_3D"):
            if name in MENUS:
                bpy.ops.wm.call_menu(name=name)
            else:
                bpy.ops.wm.call_panel(name=name, keep_open=True)
        yield from driver.settled()
        driver.shoot(name.lower())
        hands.key("ESC")
        yield from driver.settled()


def in_front(points: Sequence[Vector]) -> tuple[int, int]:
    """Rows of two points that no other one hides: the nearest, and the next one well beside it."""
    view = area_of("VIEW_3D").spaces[0].region_3d.view_matrix
    first, *rest = sorted(range(len(points)), key=lambda row: -(view @ points[row]).z)
    x, _ = place_in_view(points[first])
    return first, next(row for row in rest if abs(place_in_view(points[row])[0] - x) > BESIDE)


def pick(tools: Tools) -> Iterator[Step]:
    """Click an agent in the view, Shift-click another, Escape."""
    hands, driver, scene = tools.hands, tools.driver, bpy.context.scene
    frame = shown_frame()
    # a body is clicked, not its feet
    points = [Vector(place) + Vector((0.0, 0.0, 1.0)) for place in frame.position]
    rows = in_front(points)
    with within("VIEW_3D"):
        bpy.ops.object.steer_pick_agent("INVOKE_DEFAULT")
    for row in rows:
        x, y = place_in_view(points[row])
        yield from hands.click(x, y, shift=True)
    hands.key("ESC")
    yield from driver.settled()
    wanted = ", ".join(str(frame.id[row]) for row in rows)
    driver.check("agents are picked by clicks", scene.steer_overlay.agents == wanted,
                 f"{scene.steer_overlay.agents!r}, clicked {wanted!r}")  # fmt: skip
    found = part("blender.overlay.answers").get(crowd())
    driver.check("they are explained", found is not None and found.answer is not None,
                 "" if found is None else found.notes)  # fmt: skip
    for cls in (rest := [c for c in sections() if c.bl_label != "Debug"]):
        bpy.utils.unregister_class(cls)
    yield from driver.picture("overlay")
    for cls in rest:
        bpy.utils.register_class(cls)
    hands.hover("VIEW_3D", 0.5, 0.95)
    yield from driver.settled()
    with within("VIEW_3D"):
        bpy.ops.object.steer_pick_agent("INVOKE_DEFAULT")
    yield from driver.settled()
    hands.key("ESC")
    yield from driver.settled()
    driver.check("Escape ends picking", scene.steer_overlay.agents == wanted)
    scene.steer_overlay.show = False
    scene.steer_overlay.agents = ""


def handles(tools: Tools) -> Iterator[Step]:
    """Drag the target, see the wander circle, drag a face of a container."""
    hands, driver, obj = tools.hands, tools.driver, crowd()
    target = obj.steer.target_object
    before = target.matrix_world.translation.copy()
    x, y = place_in_view(before)
    yield from hands.drag((x, y), (x + 60, y + 20))
    moved = (target.matrix_world.translation - before).length
    driver.check("the target is dragged by its ring", moved > 0.2, f"{moved:.2f} m")
    hands.hover("VIEW_3D", 0.5, 0.95)
    yield from driver.settled()
    hands.key("Z", ctrl=True)
    yield from driver.settled()
    obj = crowd()
    away = (obj.steer.target_object.matrix_world.translation - before).length
    driver.check("undo takes that back", away < 1.0e-4, f"{away:.3f} m")
    bpy.ops.object.steer_behavior_add(type="wander")
    yield from driver.picture("handles_wander")
    yield from container(tools, obj)


def container(tools: Tools, obj: bpy.types.Object) -> Iterator[Step]:
    """Drag a face of a container by its arrow."""
    driver = tools.driver
    box = bpy.data.objects.new("Box", None)
    box.empty_display_type, box.location = "CUBE", (0.0, 1.0, 1.0)
    box.scale = (6.0, 6.0, 1.0)
    bpy.context.scene.collection.objects.link(box)
    bpy.ops.object.steer_behavior_add(type="containment")
    entry = obj.steer.behaviors[obj.steer.active_behavior]
    entry.source_kind, entry.source_object = "OBJECT", box
    yield from driver.picture("handles_container")
    gizmos = part("blender.overlay.gizmos")
    face, normal = gizmos.faces_of(box)[3]
    opposite = gizmos.faces_of(box)[2][0]
    start, further = place_in_view(face), place_in_view(face + normal)
    way = Vector(further) - Vector(start)
    # the arrow is as long as 1 m may seem from far away, or longer: take it near its middle
    start = Vector(start) + way.normalized() * 20
    yield from tools.hands.drag(tuple(start), tuple(start + way.normalized() * 40))
    grown, stays = gizmos.faces_of(box)[3][0] - face, gizmos.faces_of(box)[2][0] - opposite
    driver.check("a face of the container is dragged, the one opposite stays",
                 grown.length > 0.1 and stays.length < 1.0e-3,
                 f"{grown.length:.2f} and {stays.length:.3f} m")  # fmt: skip
    for _ in range(2):
        bpy.ops.object.steer_behavior_remove()
    bpy.data.objects.remove(box)
    redraw("VIEW_3D")
    yield from driver.settled()


ACTS = (panels, menus, pick, handles)

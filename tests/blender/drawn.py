"""Panels and menus drawn without a window, on a layout that records and checks."""

from __future__ import annotations

from types import SimpleNamespace

import bpy

from steer_addon.blender.ui import menus, panels
from tests.blender.fake_layout import FakeLayout

PANELS = [cls for cls in panels.classes if issubclass(cls, bpy.types.Panel)]


def context(width=300):
    """The context of a panel that is `width` pixels wide."""
    return SimpleNamespace(
        object=bpy.context.view_layer.objects.active,
        scene=bpy.context.scene,
        region=SimpleNamespace(width=width),
        preferences=bpy.context.preferences,
        mode=bpy.context.mode,
    )


def draw(cls, **options):
    """Items that a panel or menu draws in the present context."""
    layout = FakeLayout()
    # a class made for the call: Blender makes no instances of panels without a window
    fake = type("Drawn", (), {k: getattr(cls, k) for k in ("section",) if hasattr(cls, k)})()
    if hasattr(cls, "section"):
        type(fake).section = staticmethod(cls.section)
    fake.layout = layout
    cls.draw(fake, context(**options))
    if hasattr(cls, "draw_header_preset"):
        cls.draw_header_preset(fake, context(**options))
    return layout


def draw_all():
    """Everything that is visible, as Blender decides by polling."""
    drawn = FakeLayout()
    for cls in PANELS:
        if not hasattr(cls, "poll") or cls.poll(context()):
            drawn.record += draw(cls).record
        # a redraw may come between a change and the next poll
        draw(cls)
    for cls in menus.classes:
        draw(cls)
    for _, entry in menus.ENTRIES:
        entry(SimpleNamespace(layout=FakeLayout()), context())
    return drawn

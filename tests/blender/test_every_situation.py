"""Every poll and every draw, whatever is active: nothing fails, and a grey button says why."""

from __future__ import annotations

import inspect
from types import SimpleNamespace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender import preferences, registration  # noqa: E402
from steer_addon.blender.overlay import (  # noqa: E402
    answers,
    gizmos,
)
from tests.blender import situations  # noqa: E402
from tests.blender.drawn import draw_all  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")
KINDS = ("Operator", "Panel", "Menu", "UIList", "GizmoGroup", "FileHandler", "AddonPreferences")
CLASSES = (*preferences.classes, *registration.CLASSES)
OPERATORS = [cls for cls in CLASSES if issubclass(cls, bpy.types.Operator)]


def subclasses(cls):
    """All classes below a class, at any depth."""
    for found in cls.__subclasses__():
        yield found
        yield from subclasses(found)


def test_every_class_of_steer_is_registered():
    found = set()
    for kind in KINDS:
        for cls in subclasses(getattr(bpy.types, kind)):
            is_base = not hasattr(cls, "bl_idname") and not cls.__name__.startswith("STEER_UL")
            if cls.__module__.startswith("steer_addon") and not is_base:
                found.add(cls)
    records = {cls for cls in CLASSES if issubclass(cls, bpy.types.PropertyGroup)}
    assert found == set(CLASSES) - records
    assert len(OPERATORS) > 25


def operator(cls):
    module, name = cls.bl_idname.split(".")
    return getattr(getattr(bpy.ops, module), name)


def grey_text(cls):
    """Tooltip of a grey button; running the operator anyway reports the same text."""
    with pytest.raises(RuntimeError) as found:
        operator(cls)()
    text = str(found.value)
    start = f"Operator bpy.ops.{cls.bl_idname}.poll() "
    assert start in text, text
    return text.partition(start)[2].strip()


@pytest.mark.parametrize("situation", situations.SITUATIONS, ids=lambda s: s.__name__)
def test_nothing_fails_and_grey_buttons_say_why(situation, tmp_path):
    answers.forget()
    situation(tmp_path)
    draw_all()
    for cls in OPERATORS:
        if operator(cls).poll():
            continue
        # without a message Blender says "failed, context is incorrect"
        told = grey_text(cls)
        assert "context is incorrect" not in told, cls.bl_idname
        assert len(told) > 10, (cls.bl_idname, told)
        reason = getattr(cls, "why_not", lambda context: "")(bpy.context)
        assert reason in told, (cls.bl_idname, told, reason)
    draw_all()


@pytest.mark.parametrize("situation", situations.SITUATIONS, ids=lambda s: s.__name__)
def test_what_can_be_drawn_can_be_explained(situation, tmp_path):
    situation(tmp_path)
    scene = bpy.context.scene
    scene.steer_overlay.show = True
    answers.refresh(scene, bpy.context.evaluated_depsgraph_get())
    draw_all()
    active = bpy.context.view_layer.objects.active
    if active is not None:
        for handled in (gizmos.target_of(active), gizmos.box_of(active)):
            assert handled is None or (handled.library is None and handled is not active)
        found = gizmos.place_and_heading(active, scene)
        if found is not None:
            place, ahead = found
            assert np.isfinite(place).all()
            assert ahead.length == pytest.approx(1.0, abs=1.0e-5)
    crowd = answers.crowd_of(scene)
    known = None if crowd is None else answers.get(crowd)
    if known is not None:
        assert known.answer is not None or known.notes
    answers.forget()
    assert crowd is None or answers.get(crowd) is None


def test_every_button_and_field_says_what_it_does():
    known = [*bpy.types.PropertyGroup.__subclasses__(), *OPERATORS]
    mine = [cls for cls in known if cls.__module__.startswith("steer_addon")]
    lacking = []
    for cls in mine:
        rna = cls.bl_rna if not issubclass(cls, bpy.types.Operator) else None
        rna = operator(cls).get_rna_type() if rna is None else rna
        for prop in rna.properties:
            own = prop.identifier in inspect.get_annotations(cls)
            own = own or prop.identifier in cls.__annotations__
            shown = not prop.is_hidden and prop.type not in ("POINTER", "COLLECTION")
            if own and shown and not prop.description.strip():
                lacking.append(f"{cls.__name__}.{prop.identifier}")
            if own and prop.description.endswith("."):
                lacking.append(f"{cls.__name__}.{prop.identifier} ends with a period")
    assert lacking == []
    assert len(mine) > 40


def test_operators_draw_their_own_panels():
    from tests.blender.fake_layout import FakeLayout

    situations.crowd(None)
    for cls in OPERATORS:
        if "draw" not in vars(cls):
            continue
        values = {p.identifier: getattr(p, "default", "") for p in operator_properties(cls)}
        drawn = SimpleNamespace(layout=AnyProperty(FakeLayout()), **values)
        drawn._memory = lambda context: "About 9 MB"
        cls.draw(drawn, bpy.context)


def operator_properties(cls):
    return [p for p in operator(cls).get_rna_type().properties if p.identifier != "rna_type"]


class AnyProperty:
    """A layout of an operator's own panel: the operator stands for itself."""

    def __init__(self, layout):
        self.layout = layout

    def column(self, align=False):
        return self

    def prop(self, data, name, **options):
        assert hasattr(data, name), name

    def prop_search(self, data, name, owner, collection):
        assert hasattr(data, name) and hasattr(owner, collection), name

    def __getattr__(self, name):
        return getattr(self.layout, name)

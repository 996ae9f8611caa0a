"""Hide without anything to hide behind: it evades, and the panel says so. No look ahead is said."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.checks import advice  # noqa: E402
from steer_addon.blender.live import live  # noqa: E402
from steer_addon.blender.ui import drawing  # noqa: E402
from steer_addon.core.behaviors import REGISTRY  # noqa: E402
from steer_addon.core.diagnoses import diagnose  # noqa: E402
from steer_addon.core.parameters import parameters  # noqa: E402
from tests.blender.fake_layout import FakeLayout  # noqa: E402
from tests.blender.live_scenes import (  # noqa: E402
    code_of,
    make_box,
    make_colliders,
    make_crowd,
    make_target,
    play,
    seekers,
    stored,
)
from tests.blender.source_makers import make_shape  # noqa: E402
from tests.diagnosed import codes, says  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

NONE = "COLLIDERS_NOT_CHOSEN"
INSTEAD = "WITHOUT_COLLIDERS"


def players(type_name="hide"):
    """Two agents between a threat and nothing."""
    obj = make_crowd([(0, 0, 0), (3, 1, 0)], settings=seekers({"type": type_name}))
    make_target(obj, (-4, 0, 0))
    return obj


def notes(obj):
    layout = FakeLayout()
    drawing.draw_entry(layout, None, obj.steer.behaviors[0])
    return [code for code in (NONE, INSTEAD) if says(layout.texts(), code)]


@pytest.mark.parametrize("empty", [False, True])
def test_hide_evades_without_obstacles(empty):
    hiding, evading = players(), players("evade")
    evading.steer.behaviors[0].evade.panic_radius = 0.0
    if empty:
        make_colliders(hiding)
    play(1, 40)
    for number in (2, 20, 40):
        there, here = (live.get_frame(obj, number) for obj in (evading, hiding))
        np.testing.assert_array_equal(here.position, there.position)
        assert not here.attributes["hidden"].any()
    assert (here.position - [(0, 0, 0), (3, 1, 0)])[:, 0].min() > 1.0
    assert stored(hiding) == (1, 40) and code_of(hiding) == ""


def test_with_a_collider_it_hides():
    obj = players()
    make_colliders(obj, make_box(location=(0, 6, 0)))
    obj.steer.frame_end = 240
    play(1, 240)
    assert live.get_frame(obj, 240).attributes["hidden"].all()


def test_the_panel_says_what_agents_do_without_obstacles():
    obj = players()
    assert notes(obj) == [NONE, INSTEAD] and advice.diagnoses(obj) == []
    colliders = make_colliders(obj)
    # an empty collection is said at the top of the panel
    assert notes(obj) == [INSTEAD]
    assert codes(advice.diagnoses(obj)) == ["NO_COLLIDERS_IN_COLLECTION"]
    ball = make_shape("SPHERE", location=(0, 6, 0))
    colliders.objects.link(ball)
    assert notes(obj) == []
    colliders.objects.unlink(ball)
    colliders.objects.link(make_box(location=(0, 6, 0)))
    assert notes(obj) == []


def test_others_do_nothing_instead():
    obj = players("obstacle_avoidance")
    assert notes(obj) == [NONE]
    make_colliders(obj)
    assert notes(obj) == []


@pytest.mark.parametrize(
    ("type_name", "name", "unit"),
    [
        ("obstacle_avoidance", "look_ahead", "m"),
        ("obstacle_zones", "look_ahead", "m"),
        ("follow_wall", "anticipation_time", "s"),
        ("containment", "anticipation_time", "s"),
    ],
)
def test_looking_nowhere_is_said_while_playing(type_name, name, unit):
    obj = players(type_name)
    make_colliders(obj, make_box(location=(0, 6, 0)))
    group = getattr(obj.steer.behaviors[0], type_name)
    play(1, 3)
    assert "NO_LOOK_AHEAD" not in codes(live.status(obj).warnings)
    setattr(group, name, 0.0)
    play(1, 3)
    cls = REGISTRY[type_name]
    values = {"parameter": parameters(cls)[name].label, "unit": unit}
    said = diagnose("NO_LOOK_AHEAD", cls.definition.label, **values)
    assert said in live.status(obj).warnings

"""Crowds that chase and dodge one another: each reads the other as it was at the frame before."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd import crowds  # noqa: E402
from steer_addon.blender.live import live, simulate  # noqa: E402
from steer_addon.core.behaviors import REGISTRY  # noqa: E402
from steer_addon.core.diagnoses import diagnose  # noqa: E402
from steer_addon.core.sensing.declare import TARGETS  # noqa: E402
from tests.blender.live_scenes import (  # noqa: E402
    code_of,
    frame_set,
    make_box,
    make_colliders,
    make_crowd,
    make_target,
    move,
    play,
    seekers,
    told,
    update,
)
from tests.diagnosed import codes  # noqa: E402
from tests.often import often  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

PREY = ((0, 0, 0), (1, 2, 0), (-2, 1, 0))
HUNTERS = ((9, 0, 0), (8, 5, 0))


def chase(prey_name="Prey", hunter_name="Hunters"):
    """Two crowds: hunters seek the nearest prey, which flees from the nearest hunter."""
    fear = {"type": "flee", "panic_radius": 0.0}
    prey = make_crowd(PREY, prey_name, seekers(fear, speed=1.0))
    hunters = make_crowd(HUNTERS, hunter_name, seekers(speed=2.0))
    for crowd, other in ((prey, hunters), (hunters, prey)):
        crowd.steer.target_kind, crowd.steer.target_object = "CROWD", other
    return prey, hunters


def offline(obj, last=30):
    scene = bpy.context.scene
    return [f.position for f in simulate.run(obj, scene, range(obj.steer.frame_start, last + 1))]


def lived(obj, last=30):
    return [live.get_frame(obj, n).position for n in range(obj.steer.frame_start, last + 1)]


def test_hunters_come_nearer_and_prey_runs():
    prey, hunters = chase()
    play(1, 60)
    a, b = live.get_frame(prey, 60).position, live.get_frame(hunters, 60).position
    before, after = (
        np.linalg.norm(np.asarray(x)[:, None] - y, axis=2).min()
        for x, y in ((np.array(PREY, float), np.array(HUNTERS, float)), (a, b))
    )
    assert code_of(prey) == code_of(hunters) == ""
    assert after < before - 1.5
    assert np.linalg.norm(a - np.array(PREY), axis=1).min() > 1.5


def test_one_step_reads_the_other_as_it_was():
    prey, hunters = chase()
    steps = offline(hunters, 3)
    # from rest at frame 1, hunters aim at where the prey stood at frame 1, then at frame 2
    start = np.array(HUNTERS, float)
    aim = np.array([PREY[0], PREY[1]], float) - start
    way = (steps[1] - start) / np.linalg.norm(steps[1] - start, axis=1, keepdims=True)
    nearest = [np.linalg.norm(np.array(PREY) - h, axis=1).argmin() for h in start]
    aim = np.array(PREY, float)[nearest] - start
    np.testing.assert_allclose(way, aim / np.linalg.norm(aim, axis=1, keepdims=True), atol=1e-4)


def test_live_is_what_offline_gives():
    prey, hunters = chase()
    play(1, 30)
    for obj in (prey, hunters):
        np.testing.assert_array_equal(lived(obj), offline(obj))


NAMING = [kind for kind, cls in REGISTRY.items() if TARGETS in cls.definition.uses]
"""All behaviors that can name another crowd."""


def rivals(kind, role, names, hunters_first):
    """Two crowds whose behavior of one kind names the other one: the results of both, as bytes.

    As its target, or as its second target.
    """
    bpy.ops.wm.read_homefile(use_empty=True)
    boxes = [make_box("Box", (4, 2, 0), 0.7), make_box("Block", (-3, 4, 0), 0.7)]
    around = make_target(None, (3, 9, 0))
    rows = [(PREY, names[0], 1.0), (HUNTERS, names[1], 2.0)]
    made = {}
    for points, name, speed in rows[::-1] if hunters_first else rows:
        stack = ({"type": kind, "name": "it"}, {"type": "seek", "name": "go", "weight": 0.5})
        made[name] = make_crowd(points, name, seekers(*stack, speed=speed))
        make_colliders(made[name], *boxes, name=f"{name} Colliders")
    pair = [made[name] for name in names]
    for obj, other in (pair, pair[::-1]):
        first, second = ("CROWD", other), ("OBJECT", around)
        if role == "second target":
            first, second = second, first
        item = obj.steer.behaviors[0]
        obj.steer.target_kind, obj.steer.target_object = first
        item.second_target_kind, item.second_target_object = second
    play(1, 16)
    assert code_of(pair[0]) == code_of(pair[1]) == ""
    shown = [live.get_frame(obj, n) for obj in pair for n in range(1, 17)]
    alone = [frame for obj in pair for frame in simulate.run(obj, bpy.context.scene, range(1, 17))]
    return [
        [getattr(frame, name).tobytes() for name in ("position", "velocity", "rotation")]
        for frame in (*shown, *alone)
    ], np.ptp([frame.position for frame in shown[:16]], axis=0)


@pytest.mark.parametrize(
    ("kind", "role"),
    often(
        [*((kind, "target") for kind in NAMING), ("interpose", "second target")],
        *((kind, "target") for kind in ("seek", "evade")),
        ("interpose", "second target"),
    ),
)
def test_no_order_of_crowds_changes_a_bit(kind, role):
    """Neither that of their names, nor that in which they are in the scene and are stepped."""
    expected, moved = rivals(kind, role, ("A", "B"), False)
    assert moved.max() > 0.05
    for names, hunters_first in ((("A", "B"), True), (("B", "A"), False), (("B", "A"), True)):
        assert rivals(kind, role, names, hunters_first)[0] == expected


def test_a_chain_of_crowds_is_simulated_as_a_whole():
    prey, hunters = chase()
    last = make_crowd(((20, 0, 0),), "Last", seekers())
    last.steer.target_kind, last.steer.target_object = "CROWD", hunters
    make_target(prey, (0, 50, 0))
    prey.steer.target_kind = "OBJECT"
    play(1, 30)
    np.testing.assert_array_equal(lived(last), offline(last))


@pytest.mark.parametrize(("early", "late"), [(1, 11), (11, 1)])
def test_before_its_start_a_crowd_stands_where_it_will_begin(early, late):
    prey, hunters = chase()
    prey.steer.frame_start, hunters.steer.frame_start = early, late
    play(1, 30)
    assert code_of(prey) == code_of(hunters) == ""
    for obj in (prey, hunters):
        np.testing.assert_array_equal(lived(obj), offline(obj))


def test_after_its_end_a_crowd_stands_where_it_ended():
    prey, hunters = chase()
    prey.steer.frame_end = 12
    play(1, 30)
    np.testing.assert_array_equal(lived(hunters), offline(hunters))


def test_a_crowd_may_chase_itself_but_nobody_chases_himself():
    obj = make_crowd(((0, 0, 0), (10, 0, 0), (14, 0, 0)), settings=seekers())
    obj.steer.target_kind, obj.steer.target_object = "CROWD", obj
    play(1, 30)
    assert code_of(obj) == ""
    moved = live.get_frame(obj, 30).position - live.get_frame(obj, 1).position
    assert moved[0, 0] > 0.5 and moved[1, 0] > 0.5 and moved[2, 0] < -0.5
    np.testing.assert_array_equal(lived(obj), offline(obj))


def test_alone_in_its_crowd_an_agent_has_nobody_to_chase():
    obj = make_crowd(((1, 2, 0),), settings=seekers())
    obj.steer.target_kind, obj.steer.target_object = "CROWD", obj
    play(1, 10)
    np.testing.assert_array_equal(live.get_frame(obj, 10).position, [(1, 2, 0)])


def test_points_of_a_crowd_are_its_agents():
    prey, hunters = chase()
    wanted = offline(hunters)
    hunters.steer.target_kind = "POINTS"
    np.testing.assert_array_equal(offline(hunters), wanted)


def test_a_behavior_can_name_a_crowd_of_its_own():
    prey, hunters = chase()
    wanted = offline(hunters)
    make_target(hunters, (0, -50, 0))
    hunters.steer.target_kind = "OBJECT"
    item = hunters.steer.behaviors[0]
    item.use_own_target, item.target_kind, item.target_object = True, "CROWD", prey
    np.testing.assert_array_equal(offline(hunters), wanted)


def beside_a_walker(kind):
    """A walker along Y, and an agent beside it with one behavior that names its crowd."""
    walker = make_crowd(((3, 0, 0),), "Walker", seekers(speed=0.5))
    make_target(walker, (3, 50, 0))
    obj = make_crowd(((0, 0, 0),), "Beside", seekers({"type": kind}))
    item = obj.steer.behaviors[0]
    item.use_own_target, item.target_kind, item.target_object = True, "CROWD", walker
    play(1, 60)
    assert code_of(obj) == code_of(walker) == ""
    np.testing.assert_array_equal(lived(obj, 60), offline(obj, 60))
    return obj, walker


@pytest.mark.parametrize(
    ("kind", "nearer"),
    often(
        [
            *product(("pursue", "follow_leader"), [True]),
            *product(("evade", "flee", "hide"), [False]),
        ],
        ("follow_leader", True),
        ("hide", False),
    ),
)
def test_any_goal_can_name_a_crowd(kind, nearer):
    obj, walker = beside_a_walker(kind)
    first, last = (
        np.linalg.norm(live.get_frame(obj, n).position - live.get_frame(walker, n).position)
        for n in (1, 60)
    )
    assert last < first - 0.3 if nearer else last > first + 0.3


def test_the_velocity_of_a_crowd_is_matched_as_it_was_at_the_frame_before():
    own, his = (
        np.array([live.get_frame(obj, n).velocity for n in range(1, 61)])
        for obj in beside_a_walker("match_velocity")
    )
    expected = own[:-1] + (his[:-1] - own[:-1]) / 24.0 / 0.5
    np.testing.assert_allclose(own[1:], expected, atol=1e-6)
    assert own[-1, 0, 1] > 0.4


def test_moving_inputs_of_the_other_crowd_are_read_too():
    prey, hunters = chase()
    prey.steer.target_kind = "OBJECT"
    move(make_target(prey, (0, 20, 0)), {1: (0, 20, 0), 30: (40, -20, 0)})
    play(1, 30)
    for obj in (prey, hunters):
        np.testing.assert_array_equal(lived(obj), offline(obj))


def test_a_change_of_one_crowd_outdates_the_other():
    prey, hunters = chase()
    play(1, 20)
    prey.steer.agents.max_speed = 0.1
    assert told(hunters).values["reason"] == diagnose("SETTINGS_CHANGED")
    play(1, 20)
    assert code_of(hunters) == ""
    np.testing.assert_array_equal(lived(hunters, 20), offline(hunters, 20))


def test_a_crowd_without_frames_of_the_other_says_what_to_do():
    prey, hunters = chase()
    prey.steer.frame_start, hunters.steer.frame_start = 1, 10
    frame_set(10)
    frame_set(11)
    far = diagnose("OTHER_CROWD_NOT_SIMULATED", "Hunters", other="Prey", start=1)
    assert told(hunters) == far and far.remedy == "PLAY"


def test_a_baked_crowd_is_still_chased():
    prey, hunters = chase()
    wanted = offline(hunters)
    crowds.hide(prey)
    play(1, 30)
    np.testing.assert_array_equal(lived(hunters), wanted)


def test_a_deleted_crowd_leaves_the_other_without_targets():
    prey, hunters = chase()
    play(1, 5)
    bpy.context.scene.collection.objects.unlink(prey)
    update()
    play(1, 10)
    start, end = (live.get_frame(hunters, n).position for n in (1, 10))
    np.testing.assert_array_equal(start, end)
    assert codes(live.status(hunters).warnings) == ["INPUT_LOST"]
    np.testing.assert_array_equal(lived(hunters, 10), offline(hunters, 10))


def test_catching_up_brings_both():
    prey, hunters = chase()
    wanted = offline(prey, 20)
    live.catch_up(prey, bpy.context.scene, 20)
    np.testing.assert_array_equal(lived(prey, 20), wanted)
    frame_set(21)
    assert code_of(prey) == code_of(hunters) == ""
    np.testing.assert_array_equal(live.get_frame(hunters, 21).position, offline(hunters, 21)[-1])

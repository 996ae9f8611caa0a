"""The overlay: what it tells of stored frames, what it draws, and that nothing of it stays."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.live import live  # noqa: E402
from steer_addon.blender.operators import picking  # noqa: E402
from steer_addon.blender.overlay import (  # noqa: E402
    answers,
    handlers,
    settings,
    strokes,
    view,
)
from steer_addon.blender.ui import overlay_table as table  # noqa: E402
from steer_addon.core.diagnoses import diagnose  # noqa: E402
from tests.blender.fake_layout import FakeLayout  # noqa: E402
from tests.blender.live_scenes import (  # noqa: E402
    deps,
    frame_set,
    make_box,
    make_colliders,
    make_crowd,
    make_target,
    move,
    play,
    seekers,
)
from tests.diagnosed import says  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture(autouse=True)
def nothing_known():
    answers.forget()
    yield
    answers.forget()


def make_scene():
    stack = (
        {"type": "seek"},
        {"type": "separation"},
        {"type": "wander", "weight": 0.2},
        {"type": "obstacle_avoidance", "look_ahead": 5.0},
    )
    crowd = make_crowd(settings=seekers(*stack))
    make_target(crowd)
    make_colliders(crowd, make_box(location=(0, 4, 0)))
    bpy.context.view_layer.objects.active = crowd
    return crowd


def explained(crowd):
    answers.refresh(bpy.context.scene, deps())
    return answers.get(crowd)


def test_a_stored_frame_tells_what_the_next_one_did():
    crowd = make_scene()
    play(1, 12)
    for number in (11, 4, 1):
        frame_set(number)
        found = explained(crowd)
        assert (found.frame, found.notes) == (number, ())
        after = live.get_frame(crowd, number + 1)
        np.testing.assert_array_equal(found.answer.after.velocity, after.velocity)


def test_it_is_computed_again_only_where_something_changed():
    crowd = make_scene()
    play(1, 5)
    found = explained(crowd)
    revision, answer = found.revision, found.answer
    assert not answers.refresh(bpy.context.scene, deps())
    crowd.steer.target_object.location.x = 9.0
    assert explained(crowd).revision > revision
    told = found.answer.agent(0).parts[0].value
    assert told[0] > answer.agent(0).parts[0].value[0] + 0.1
    revision = found.revision
    crowd.steer.behaviors[0].weight = 2.0
    assert explained(crowd).revision > revision
    assert found.answer.agent(0).parts[0].weight == 2.0


def test_a_frame_that_came_with_a_file_is_told_without_what_was_remembered():
    crowd = make_scene()
    play(1, 8)
    seen = live.get_frame(crowd, 8)
    live.runs.clear()
    found = explained(crowd)
    assert found.frame == 8
    (note,) = found.notes
    assert (note.code, note.values["behaviors"]) == ("MEMORY_UNKNOWN", "'Wander'")
    np.testing.assert_allclose(found.answer.agents.position, seen.position, atol=1e-6)
    assert found.answer.agent(0).parts[0].active


def test_it_says_why_there_is_nothing_to_tell():
    crowd = make_scene()
    frame_set(30)
    live.clear(crowd)
    found = explained(crowd)
    assert found.answer is None
    assert found.notes == (diagnose("NOT_SIMULATED", start=1),)
    crowd.steer.hidden_by_bake = {"VIEWPORT"}
    assert "baked to objects that are gone" in explained(crowd).notes[0].values["reason"]


def test_a_crowd_that_is_deleted_or_no_crowd_any_more_is_let_go():
    crowd = make_scene()
    play(1, 3)
    scene = bpy.context.scene
    scene.steer_overlay.crowd = crowd
    assert explained(crowd).answer is not None
    uid = crowd.session_uid
    bpy.data.objects.remove(crowd)
    answers.refresh(scene, deps())
    assert answers.crowd_of(scene) is None
    assert uid not in answers._explained.by_uid()
    draw_table()


def lines_of(crowd, number, parts=None):
    shown = {part[0] for part in settings.PARTS} if parts is None else parts
    return strokes.looks(answers.agent(answers.get(crowd), number, looks=True), shown)


def test_lines_are_made_of_what_is_asked_and_seen():
    crowd = make_scene()
    play(1, 6)
    found = explained(crowd)
    rows = np.arange(3)
    arrows = strokes.crowd_arrows(found.answer, rows, 1.0)
    shafts, heads = arrows.shafts, arrows.heads
    assert len(shafts.points) // 2 == len(heads.points) // 3 == len(heads.colors) // 3 > 3
    start = strokes.starts_of(found.answer, rows)
    velocity = found.answer.agents.velocity
    # the first arrow is the first agent's velocity
    np.testing.assert_allclose(shafts.points[0], start[0], atol=1e-6)
    np.testing.assert_allclose(heads.points[0], start[0] + velocity[0], atol=1e-6)
    half = strokes.crowd_arrows(found.answer, rows, 0.5, [0])
    assert half.shafts.colors[:, 3].min() == pytest.approx(0.5)
    everything = lines_of(crowd, 0)
    assert len(everything.points) == len(everything.colors)
    rays = lines_of(crowd, 0, {"RAYS"})
    assert 0 < len(rays.points) < len(everything.points)
    assert np.linalg.norm(rays.points[1] - rays.points[0]) <= 5.0 + 1e-5
    names = strokes.labels_of(answers.agent(found, 0), start[0], 1.0)
    assert names[0].text.startswith(("Seek", "Separation", "Obstacle"))
    assert [text for text, _ in strokes.legend(found.answer)] == [
        "Velocity",
        "Goals",
        "Neighbors",
        "Obstacles",
    ]


def test_every_role_and_group_has_a_color():
    from steer_addon.core.behaviors import REGISTRY
    from steer_addon.core.explain import ROLES

    assert ROLES.keys() == strokes.SHAPES.keys()
    assert {switch for switch, _ in strokes.SHAPES.values()} <= {part[0] for part in settings.PARTS}
    assert {cls.definition.group for cls in REGISTRY.values()} >= strokes.GROUPS.keys()


def test_names_never_lie_on_each_other():
    rng = np.random.default_rng(0)
    tips = [tuple(tip) for tip in rng.uniform(0, 200, (60, 2))]
    places = strokes.placed(tips, [(80.0, 14.0)] * 60, 40)
    boxes = np.array([(x, y, x + 80, y + 14) for x, y in (p for p in places if p is not None)])
    assert 10 < len(boxes) <= 40
    for row, (left, low, right, high) in enumerate(boxes):
        others = np.delete(boxes, row, axis=0)
        apart = (others[:, 2] <= left) | (others[:, 0] >= right)
        assert (apart | (others[:, 3] <= low) | (others[:, 1] >= high)).all()


def test_the_nearest_in_view_are_taken():
    # looks down -Z, as an orthographic view 10 m wide
    matrix = np.diag([0.2, 0.2, -0.1, 1.0])
    points = np.array([[0, 0, 0], [9, 0, 0], [1, 1, 3], [-2, 0, -4]], np.float32)
    assert strokes.in_view(points, matrix, 10).tolist() == [2, 0, 3]
    assert strokes.in_view(points, matrix, 1).tolist() == [2]


def test_the_agent_under_the_cursor_is_picked():
    matrix = np.diag([0.2, 0.2, -0.1, 1.0])
    points = np.array([[0, 0, 0], [1, 0, 0], [1, 0, 3]])
    size = (1000.0, 1000.0)
    # 1 m is 100 pixels; of two that are seen at one place the one in front is taken
    assert picking.nearest_on_screen(points, matrix, size, (604, 500), 30.0)[0] == 2
    assert picking.nearest_on_screen(points, matrix, size, (510, 505), 30.0)[0] == 0
    assert picking.nearest_on_screen(points, matrix, size, (550, 700), 30.0)[0] == -1
    # all of a body counts, as wide as it is, and not only where its feet are
    side = np.array([[0.2, 0, 0, 0], [0, 0, 0.2, 0], [0, 0.1, 0, 0], [0, 0, 0, 1]])
    body = {"height": 1.8, "radius": 0.25}
    assert picking.nearest_on_screen(points, side, size, (505, 660), 30.0, **body)[0] == 0
    assert picking.nearest_on_screen(points, side, size, (505, 660), 30.0)[0] == -1
    assert picking.nearest_on_screen(points, side, size, (650, 960), 30.0, **body)[0] == 2
    assert picking.nearest_on_screen(points, side, size, (600, 740), 30.0, **body)[0] == -1
    # of two bodies that the cursor is on, the one in front, however far from the middle of it
    rows = np.array([[0, 1, 0], [0.2, 0, 0]])
    assert picking.nearest_on_screen(rows, side, size, (505, 600), 30.0, **body)[0] == 1
    behind = np.diag([0.2, 0.2, -0.1, -1.0])
    assert picking.nearest_on_screen(points, behind, size, (500, 500), 30.0)[0] == -1


def test_picked_agents_are_chosen_added_and_let_go():
    crowd, scene = make_scene(), bpy.context.scene
    play(1, 2)
    for number, add, expected in ((2, False, [2]), (0, True, [2, 0]), (2, True, [0])):
        picking.choose(scene, crowd, number, add=add)
        assert answers.chosen_ids(scene) == expected
    assert scene.steer_overlay.show and scene.steer_overlay.crowd == crowd
    assert settings.parse_ids("412; 17,x 17 -3 9e9 99999999999999999999") == [412, 17, -3]
    ids, places = picking.agents_of(crowd, scene)
    assert ids.tolist() == [0, 1, 2] and places.shape == (3, 3)
    assert "window" in picking.why_no_picking(bpy.context)
    with pytest.raises(RuntimeError, match="picked in a window"):
        bpy.ops.object.steer_pick_agent("INVOKE_DEFAULT")


def draw_table():
    layout = FakeLayout()
    context = SimpleNamespace(
        scene=bpy.context.scene,
        region=SimpleNamespace(width=400),
        preferences=bpy.context.preferences,
    )
    table.draw_debug(layout, context, None)
    return layout.of("label")


def test_the_table_tells_what_moves_an_agent():
    crowd, scene = make_scene(), bpy.context.scene
    scene.steer_overlay.show = True
    assert draw_table() == []
    bpy.context.view_layer.objects.active = None
    assert " ".join(draw_table()) == diagnose("NO_CROWD_CHOSEN").sentence
    bpy.context.view_layer.objects.active = crowd
    play(1, 6)
    explained(crowd)
    assert says(" ".join(draw_table()), "NO_AGENT_CHOSEN")
    scene.steer_overlay.agents = "1"
    explained(crowd)
    texts = draw_table()
    assert "Agent 1 of Crowd, frame 6" in texts
    assert {"Seek", "Separation", "Wander", "Obstacle Avoidance"} <= set(texts)
    assert any(text.startswith("Neighbors 0, 2") for text in texts)
    assert any("m/s × 1" in text for text in texts)
    scene.steer_overlay.agents = "77"
    explained(crowd)
    assert says(" ".join(draw_table()), "AGENT_UNKNOWN")


def test_in_background_nothing_is_drawn_and_no_handler_stays():
    crowd = make_scene()
    bpy.context.scene.steer_overlay.crowd = crowd
    bpy.context.scene.steer_overlay.show = True
    play(1, 3)
    assert not view._handles
    assert answers.get(crowd) is None
    for name, handler in handlers.WHILE_SHOWN:
        assert handler not in getattr(bpy.app.handlers, name)


def test_the_choice_is_saved_with_the_scene(tmp_path):
    crowd = make_scene()
    overlay = bpy.context.scene.steer_overlay
    overlay.show, overlay.agents, overlay.crowd, overlay.limit = True, "2, 1", crowd, 50
    overlay.parts = {"ARROWS", "RAYS"}
    path = str(tmp_path / "crowd.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    assert not bpy.context.scene.steer_overlay.show
    bpy.ops.wm.open_mainfile(filepath=path)
    overlay = bpy.context.scene.steer_overlay
    assert (overlay.show, overlay.agents, overlay.limit) == (True, "2, 1", 50)
    assert overlay.crowd.name == "Crowd" and overlay.parts == {"ARROWS", "RAYS"}


def test_crowds_that_steer_by_crowds_are_told_as_they_were_stepped():
    hunter = make_crowd(name="Hunter", settings=seekers({"type": "pursue"}))
    prey = make_crowd(points=((0, 9, 0), (3, 9, 0)), name="Prey")
    make_target(prey, location=(30, 9, 0))
    hunter.steer.target_kind, hunter.steer.target_object = "CROWD", prey
    bpy.context.view_layer.objects.active = hunter
    play(1, 9)
    for number in (8, 3):
        frame_set(number)
        after = live.get_frame(hunter, number + 1)
        np.testing.assert_array_equal(explained(hunter).answer.after.velocity, after.velocity)


def test_moving_targets_keep_their_motion_at_any_frame():
    crowd = make_crowd(settings=seekers({"type": "pursue"}))
    bpy.context.view_layer.objects.active = crowd
    target = make_target(crowd, location=(0, 9, 0))
    move(target, {1: (0, 9, 0), 31: (30, 9, 0)})
    play(1, 20)
    for number in (20, 12, 17):
        frame_set(number)
        found = explained(crowd)
        kept = live.get_kept(crowd, number)
        told = found.answer.world.targets[""]
        np.testing.assert_array_equal(told.velocity, kept.targets[""].velocity)
        assert told.velocity[0, 0] > 1.0

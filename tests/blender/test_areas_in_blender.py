"""Areas in Blender: objects and paint that a crowd goes round, live and from the shell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.live import live, simulate  # noqa: E402
from steer_addon.blender.overlay import answers  # noqa: E402
from steer_addon.core.crowd.overrides import with_override  # noqa: E402
from steer_addon.core.crowd.settings import CrowdSettings  # noqa: E402
from steer_addon.core.crowd.ways_settings import WaysSettings  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

LAST = 50
GOAL = (3.0, 0.0, 0.0)


def make_lawn(kind="FORBIDDEN", ways="AROUND", z=0.5):
    """A walker on a ground whose way to the target leads over a lawn, 2 × 6 m, its end at y = 5."""
    told = replace(scenes.seekers(speed=2.8), ways=WaysSettings(ways=ways))
    crowd = scenes.make_crowd(((-3, 0, 0),), settings=told)
    scenes.make_target(crowd, GOAL)
    crowd.steer.ground = scenes.make_ground(half=8.0)
    lawn = scenes.make_box("Lawn", (0, 2, z))
    lawn.scale = (1.0, 3.0, 0.5)
    areas = bpy.data.collections.new("Areas")
    areas.objects.link(lawn)
    crowd.steer.areas = areas
    lawn.steer_area.kind = kind
    crowd.steer.frame_end = LAST
    bpy.context.scene.render.fps = 12
    bpy.context.view_layer.objects.active = crowd
    scenes.update()
    return crowd, lawn


def side(crowd):
    """How far to one side the walker goes round, -y [m]; 0 for straight on."""
    scenes.update()
    aside = 0.0
    for number in range(1, LAST + 1):
        scenes.frame_set(number)
        place = live.get_frame(crowd, number).position[0]
        aside = max(aside, -float(place[1]))
        if np.linalg.norm(place - GOAL) < 0.5:
            return aside
    raise AssertionError(f"at {place} in the end")


@pytest.mark.slow
def test_a_marked_object_is_gone_round_and_changes_count_at_once():
    crowd, lawn = make_lawn()
    # its end is at y = -1, and people keep their bodies out of it
    assert side(crowd) > 1.2
    live_frame = live.get_frame(crowd, 15)
    offline = list(simulate.run(crowd, bpy.context.scene, range(1, 16)))
    assert np.array_equal(offline[-1].position, live_frame.position)
    crowd.steer.ways.ways = "NONE"
    assert side(crowd) < 0.1
    crowd.steer.ways.ways = "AROUND"
    lawn.steer_area.kind = "COST"
    lawn.steer_area.cost = 4.0
    assert side(crowd) < 0.1
    crowd.steer.ways.ways = "SAFE"
    assert side(crowd) > 0.8
    lawn.steer_area.cost = 1.02
    assert side(crowd) < 0.3
    lawn.location.y = -2.0
    lawn.steer_area.kind = "FORBIDDEN"
    scenes.update()
    # now the nearer end is at y = 1
    assert side(crowd) < 0.1


@pytest.mark.slow
def test_one_way_areas_lead_along_an_axis_of_their_object():
    crowd, lawn = make_lawn("ONE_WAY")
    lawn.steer_area.direction = "NEG_X"
    assert side(crowd) > 0.8
    lawn.rotation_euler = (0.0, 0.0, np.pi)
    scenes.update()
    lawn.location.y = -2.0
    scenes.update()
    assert side(crowd) < 0.1


def test_paint_of_the_ground_counts_and_edits_of_it_do():
    crowd, lawn = make_lawn()
    crowd.steer.areas = None
    mesh = bpy.data.meshes.new("Tiles")
    n = 17
    points = [(x - 8.0, y - 8.0, 0.0) for y in range(n) for x in range(n)]
    faces = [
        (y * n + x, y * n + x + 1, (y + 1) * n + x + 1, (y + 1) * n + x)
        for y in range(n - 1)
        for x in range(n - 1)
    ]
    mesh.from_pydata(points, [], faces)
    ground = crowd.steer.ground
    ground.data = mesh
    at = np.array(points)
    inside = (abs(at[:, 0]) <= 1.0) & (at[:, 1] >= -1.0) & (at[:, 1] <= 5.0)
    paint = mesh.attributes.new("cost", "FLOAT", "POINT")
    scenes.update()
    # a new attribute is 0, which changes nothing
    assert side(crowd) < 0.1
    paint.data.foreach_set("value", np.where(inside, -1.0, 0.0).astype(np.float32))
    mesh.update()
    scenes.update()
    assert side(crowd) > 1.2
    paint.data.foreach_set("value", np.where(inside, 5.0, 0.0).astype(np.float32))
    mesh.update()
    scenes.update()
    assert side(crowd) < 0.1
    crowd.steer.ways.ways = "SAFE"
    assert side(crowd) > 0.8


def warned(crowd):
    return " ".join(told.sentence for told in live.status(crowd).warnings)


def test_what_is_wrong_with_areas_is_told():
    crowd, lawn = make_lawn(z=9.0)
    scenes.play(1, 25)
    assert "Area 'Lawn' marks nothing" in warned(crowd)
    lawn.location.z = 0.5
    lawn.steer_area.kind = "ONE_WAY"
    lawn.rotation_euler = (np.pi / 2, 0.0, 0.0)
    scenes.update()
    scenes.play(1, 25)
    assert "leads straight up or down" in warned(crowd)
    lawn.rotation_euler = (0.0, 0.0, 0.0)
    lawn.steer_area.kind = "FORBIDDEN"
    lawn.scale = (30.0, 30.0, 0.5)
    scenes.update()
    scenes.play(1, 25)
    assert "no way leads to" in warned(crowd)


def test_of_an_area_without_faces_only_that_is_said():
    crowd, lawn = make_lawn()
    lawn.data.clear_geometry()
    lawn.data.from_pydata([(0, 0, 0), (1, 0, 0)], [(0, 1)], [])
    scenes.update()
    scenes.play(1, 2)
    assert [(w.code, w.subject) for w in live.status(crowd).warnings] == [
        ("SOURCE_IGNORED", "Lawn")
    ]


def test_the_command_line_chooses_safe_ways():
    settings = with_override(CrowdSettings(), "ways=SAFE")
    assert settings.ways.ways == "SAFE"


def test_the_overlay_shows_forbidden_and_costly_cells_in_other_colors():
    crowd, lawn = make_lawn()
    answers.forget()
    overlay = bpy.context.scene.steer_overlay
    overlay.agents = "0"
    overlay.parts |= {"SURFACE"}
    scenes.play(1, 3)
    answers.refresh(bpy.context.scene, scenes.deps())
    cells = answers.get(crowd).floor.cells
    colors = np.unique(cells.colors, axis=0)
    assert len(colors) == 2
    lawn.steer_area.kind = "COST"
    crowd.steer.ways.ways = "SAFE"
    scenes.update()
    scenes.play(1, 3)
    answers.refresh(bpy.context.scene, scenes.deps())
    costly = np.unique(answers.get(crowd).floor.cells.colors, axis=0)
    assert len(costly) == 2 and not np.array_equal(colors, costly)
    answers.forget()

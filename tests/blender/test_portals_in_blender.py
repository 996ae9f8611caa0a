"""Portals in Blender: a curve or an edge joins two floors, live, offline, stored and drawn."""

from __future__ import annotations

import json

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import inputs  # noqa: E402
from steer_addon.blender.crowd.properties import settings_of  # noqa: E402
from steer_addon.blender.headless import surfaces  # noqa: E402
from steer_addon.blender.live import live, simulate  # noqa: E402
from steer_addon.blender.overlay import answers  # noqa: E402
from steer_addon.blender.reading.scene import WorldReader  # noqa: E402
from steer_addon.core.crowd.settings import CrowdSettings  # noqa: E402
from steer_addon.core.crowd.ways_settings import WaysSettings  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.often import often  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

FOOT, HEAD, GOAL = (-0.5, 0.0, 0.0), (-0.5, 0.0, 3.0), (5.0, 0.0, 3.0)
LAST = 260


def make_line(kind, name="Ladder"):
    """The ladder as a mesh of one edge, or as a curve."""
    if kind == "MESH":
        data = bpy.data.meshes.new(name)
        data.from_pydata([FOOT, HEAD], [(0, 1)], [])
    else:
        data = bpy.data.curves.new(name, "CURVE")
        data.dimensions = "3D"
        spline = data.splines.new("POLY")
        spline.points.add(1)
        for point, place in zip(spline.points, (FOOT, HEAD), strict=True):
            point.co = (*place, 1.0)
    return bpy.data.objects.new(name, data)


def make_tower(kind="CURVE"):
    """A walker below, whose target is on a floor 3 m above that only a ladder leads to."""
    told = CrowdSettings(behaviors=scenes.seekers().behaviors, ways=WaysSettings(ways="AROUND"))
    crowd = scenes.make_crowd(((-4, 0, 0),), settings=told)
    scenes.make_target(crowd, GOAL)
    corners = [(x, y, z) for z in (0, 3) for x, y in ((-8, -4), (8, -4), (8, 4), (-8, 4))]
    corners[4], corners[7] = (0, -4, 3), (0, 4, 3)
    mesh = bpy.data.meshes.new("Floors")
    mesh.from_pydata(corners, [], [(0, 1, 2, 3), (4, 5, 6, 7)])
    crowd.steer.ground = bpy.data.objects.new("Floors", mesh)
    bpy.context.scene.collection.objects.link(crowd.steer.ground)
    ladder = make_line(kind)
    areas = bpy.data.collections.new("Areas")
    bpy.context.scene.collection.children.link(areas)
    areas.objects.link(ladder)
    crowd.steer.areas = areas
    ladder.steer_area.kind = "PORTAL"
    crowd.steer.frame_end = LAST
    bpy.context.view_layer.objects.active = crowd
    scenes.update()
    return crowd, ladder


def played(crowd, last=LAST):
    scenes.update()
    scenes.play(1, last)
    frames = [live.get_frame(crowd, number) for number in range(1, last + 1)]
    return np.array([frame.position[0] for frame in frames])


@pytest.mark.slow
@pytest.mark.parametrize("kind", often(["MESH", "CURVE"], "MESH"))
def test_a_line_joins_two_floors(kind):
    crowd, _ladder = make_tower(kind)
    places = played(crowd)
    assert np.linalg.norm(places[-1] - GOAL) < 1.0
    climbing = (places[:, 2] > 0.1) & (places[:, 2] < 2.9)
    assert 1.4 < climbing.sum() / 24.0 < 2.3
    offline = list(simulate.run(crowd, bpy.context.scene, range(1, 121)))
    assert np.array_equal(offline[-1].position, live.get_frame(crowd, 120).position)


@pytest.mark.slow
def test_the_time_and_the_direction_of_a_line_count():
    crowd, ladder = make_tower()
    ladder.steer_area.seconds = 4.0
    places = played(crowd)
    climbing = (places[:, 2] > 0.1) & (places[:, 2] < 2.9)
    assert 2.5 < climbing.sum() / 24.0 < 3.5
    ladder.steer_area.both_ways = False
    ladder.scale.z = -1.0
    ladder.location.z = 3.0
    # now it leads down only; before, all were above by then
    assert places[170, 2] > 2.9
    assert played(crowd, 171)[:, 2].max() < 0.1


@pytest.mark.slow
def test_what_is_no_portal_is_told_and_where_its_ends_are():
    crowd, ladder = make_tower()
    ladder.location.z = 1.3
    played(crowd, 30)
    warned = " ".join(told.sentence for told in live.status(crowd).warnings)
    assert "Portal 'Ladder' joins nothing, as nobody can stand within 1 m of its first" in warned
    ladder.scale = (0.0, 0.0, 0.0)
    scenes.update()
    scenes.play(1, 30)
    warned = " ".join(told.sentence for told in live.status(crowd).warnings)
    assert "both ends at one place" in warned


def test_it_is_counted_drawn_and_part_of_what_a_bake_compares():
    crowd, ladder = make_tower()
    scene = bpy.context.scene
    row = surfaces.surface_of(crowd, scene, settings_of(crowd))
    assert row["portals"] == 1 and row["surface"]["classes"][0]["portals"] == 1
    assert row["surface"]["classes"][0]["islands"] == 1
    json.dumps(row)
    world = WorldReader().read(crowd, scenes.deps(), 24.0)
    assert [each.name for each in world.areas.portals] == ["Ladder"]
    assert inputs._label(crowd, crowd, ("portals", "Ladder")) == "portal 'Ladder'"
    answers.forget()
    overlay = scene.steer_overlay
    overlay.agents = "0"
    overlay.parts |= {"SURFACE"}
    scenes.play(1, 3)
    answers.refresh(scene, scenes.deps())
    with_it = len(answers.get(crowd).floor.cells.points)
    ladder.steer_area.both_ways = False
    scenes.update()
    scenes.play(1, 3)
    answers.refresh(scene, scenes.deps())
    points = answers.get(crowd).floor.cells.points[-18:]
    assert len(answers.get(crowd).floor.cells.points) == with_it
    assert points[:, 2].max() == pytest.approx(3.0) and points[:, 2].min() == pytest.approx(0.0)
    answers.forget()

"""Low colliders are stepped onto, as ground is; high ones never are."""

from __future__ import annotations

import numpy as np
import pytest
import way_scenes as scenes
from waytools import SHAPE, Walk

from steer_addon.core.geometry import bvh
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.world import CollidersBuilder
from steer_addon.core.ways.lattice import middles_of
from steer_addon.core.ways.surface import bounds_of, make_surface

GROUND = scenes.floor(-9.0, -9.0, 20.0, 9.0)


def scene_of(*colliders):
    return scenes.Scene(ground=GROUND, colliders=colliders, places={}, outlines=())


def slab(top, low=(5.0, -9.0), high=(7.0, 9.0), bottom=0.0, name="slab", **options):
    made = scenes.boxes([[*low, bottom]], [[*high, top]])
    return Mesh(name, made.triangles, **options)


def footing(*colliders, builder=None, ground=None):
    """The heights of the faces that join the ground, in order."""
    ground = ground or bvh.build(GROUND.triangles)
    found = (builder or CollidersBuilder()).build(colliders).footing(ground, 0.35, 45.0)
    return found.triangles[len(GROUND.triangles) :, :, 2].max(axis=1).tolist()


@pytest.mark.slow
@pytest.mark.parametrize(("top", "bottom"), [(0.1, 0.0), (0.34, -0.2), (0.3, 0.2)])
def test_people_step_onto_what_is_lower_than_the_step_height(top, bottom):
    places = Walk(scene_of(slab(top, bottom=bottom)), [3.0, 0.0, 0.0], [9.0, 0.0, 0.0]).on(160)
    x, z = places[:, 0, 0], places[:, 0, 2]
    assert x[-1] > 8.0
    assert z[(x > 5.3) & (x < 6.7)] == pytest.approx(top, abs=1e-3)
    assert z[(x < 4.7) | (x > 7.3)] == pytest.approx(0.0, abs=1e-3)


@pytest.mark.slow
def test_people_go_up_two_slabs_and_down_a_ramp():
    ramp = scenes.quad((9.0, -2.0, 0.6), (12.0, -2.0, 0.0), (12.0, 2.0, 0.0), (9.0, 2.0, 0.6))
    scene = scene_of(
        slab(0.3, (4.0, -2.0), (6.0, 2.0), name="low"),
        slab(0.6, (6.0, -2.0), (9.0, 2.0), name="high"),
        Mesh("ramp", ramp.astype(np.float32)),
        slab(1.0, (3.9, -2.2), (12.0, -2.0), name="rail"),
        slab(1.0, (3.9, 2.0), (12.0, 2.2), name="other rail"),
    )
    places = Walk(scene, [2.5, 0.0, 0.0], [14.0, 0.0, 0.0]).on(280)
    x, z = places[:, 0, 0], places[:, 0, 2]
    assert x[-1] > 12.5
    assert z[(x > 6.3) & (x < 8.7)] == pytest.approx(0.6, abs=1e-3)
    on = (x > 9.2) & (x < 11.8)
    assert z[on] == pytest.approx(0.2 * (12.0 - x[on]), abs=0.02)


def test_the_walkable_surface_has_low_tops():
    colliders = CollidersBuilder().build([slab(0.3), slab(0.75, (0.0, 0.0), (2.0, 2.0), name="b")])
    ground = colliders.footing(bvh.build(GROUND.triangles), 0.35, 45.0)
    bounds = bounds_of(ground, colliders.bvh, np.zeros((0, 3), np.float32))
    view = make_surface(SHAPE, ground, colliders.bvh, bounds).view
    x = middles_of(view, np.arange(len(view.z)))[:, 0]
    assert view.z[(x > 5.0) & (x < 7.0)] == pytest.approx(0.3)
    assert view.z[(x < 5.0) | (x > 7.0)] == pytest.approx(0.0)


def test_which_faces_are_stepped_onto():
    low, table = slab(0.3), slab(0.75, (0.0, 0.0), (2.0, 2.0), bottom=0.7, name="table")
    assert footing(low) == pytest.approx([0.3, 0.3])
    assert footing(table, slab(5.0, name="house")) == []
    # what is steeper than people climb, what lies in the ground, and what is there already
    steep = scenes.quad((0, 0, 0), (0.2, 0, 0.3), (0.2, 2, 0.3), (0, 2, 0)).astype(np.float32)
    buried, same = slab(-0.1, bottom=-0.5), Mesh("same", GROUND.triangles)
    assert footing(Mesh("steep", steep), buried, same) == []
    # from step to step; not from a step to a table beside it
    stair = [slab(0.3 * k, (k, 0.0), (k + 1.0, 2.0), name=f"step {k}") for k in (1, 2, 3)]
    assert footing(*stair) == pytest.approx(np.repeat([0.3, 0.6, 0.9], 2))
    high = slab(0.9, (2.0, 0.0), (3.0, 2.0), name="too high")
    assert footing(stair[0], high) == pytest.approx([0.3, 0.3])
    # one without thickness
    sheet = low.triangles[low.triangles[:, :, 2].min(axis=1) > 0.2]
    assert footing(Mesh("sheet", sheet)) == pytest.approx([0.3, 0.3])


def test_moving_colliders_are_no_ground():
    assert footing(slab(0.3, moving=True)) == []


def test_what_stays_is_found_once():
    builder, ground = CollidersBuilder(), bvh.build(GROUND.triangles)
    low = slab(0.3)
    found = []
    for x in (0.0, 1.0):
        passing = slab(2.0, (x, 0.0), (x + 1.0, 1.0), name="passing", moving=True)
        found.append(builder.build([low, passing]).footing(ground, 0.35, 45.0))
    assert found[0] is found[1] is not ground
    assert builder.build([slab(2.0)]).footing(ground, 0.35, 45.0) is ground


@pytest.mark.slow
def test_without_collisions_low_colliders_are_walked_through():
    scene = scene_of(slab(0.3))
    walk = Walk(scene, [0.0, 0.0, 0.0], [12.0, 0.0, 0.0], "NONE", "bodies.collide_colliders=off")
    assert np.abs(walk.on(200)[:, 0, 2]).max() < 1e-9

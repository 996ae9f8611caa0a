"""Who runs away goes by ways: out of a pocket with another exit, and round walls to hide."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import way_scenes as scenes
from waytools import Walk

from steer_addon.core.behaviors.flee import Flee
from steer_addon.core.behaviors.hide import Hide
from steer_addon.core.compiled import jit
from steer_addon.core.inputs.spheres import make_spheres


def walk(scene, starts, threat, ways, behavior, spheres=None):
    found = Walk(scene, starts, threat, ways)
    found.simulation.settings = replace(found.simulation.settings, behaviors=(behavior,))
    found._base = replace(found._base, spheres=spheres)
    return found


def pocket():
    """A dead end from x = 9 to 12 m that opens to the side near its end."""
    walls = [
        scenes.rectangle(9.0, 8.8, 12.2, 9.0),
        scenes.rectangle(12.0, 9.0, 12.2, 11.2),
        scenes.rectangle(9.0, 11.0, 10.8, 11.2),
    ]
    return scenes.on_plane(walls, (24.0, 20.0))


def test_who_is_cornered_leaves_the_pocket_by_its_side():
    threat, start = np.array([5.0, 10.0, 0.0]), [8.0, 10.0, 0.0]
    flee = Flee(panic_radius=10.0, falloff="NONE")
    cornered = walk(pocket(), start, threat, "NONE", flee).on(300)[-1, 0]
    assert 11.0 < cornered[0] < 12.0 and 9.0 < cornered[1] < 11.0
    places = walk(pocket(), start, threat, "AROUND", flee).on(300)[:, 0]
    # as far as it looks around, it is out of the threat's reach there
    assert np.linalg.norm(places[-1] - threat) > 10.0
    # and it was in the pocket before, not on some other way
    assert ((places[:, 0] > 10.0) & (places[:, 1] < 11.0)).any()


def test_who_has_no_way_out_stays_in_its_corner():
    closed = [*pocket().outlines[:2], scenes.rectangle(9.0, 11.0, 12.2, 11.2)]
    scene = scenes.on_plane(closed, (24.0, 20.0))
    flee = Flee(panic_radius=10.0, falloff="NONE")
    places = walk(scene, [9.6, 10.0, 0.0], [8.6, 10.0, 0.0], "AROUND", flee).on(200)[:, 0]
    assert places[-1, 0] > 11.0 and np.ptp(places[-40:, 0]) < 0.1


def test_who_hides_gets_round_an_l_of_walls():
    # the ball hides from the threat at (12, 10)
    ball, threat = make_spheres([[10.0, 10.0, 0.0]], 1.0), np.array([3.0, 10.0, 0.0])
    walls = [scenes.rectangle(13.0, 8.0, 13.2, 13.0), scenes.rectangle(9.5, 8.0, 13.2, 8.2)]
    scene = scenes.on_plane(walls, (24.0, 20.0))
    gap = {}
    for ways in ("NONE", "AROUND"):
        places = walk(scene, [15.0, 7.0, 0.0], threat, ways, Hide(), ball).on(400)[:, 0]
        gap[ways] = float(np.linalg.norm(places[-1] - [12.0, 10.0, 0.0]))
    assert gap["AROUND"] < 0.3 < 1.4 < gap["NONE"]


def test_threads_and_resuming_change_no_bit():
    rng, threat = np.random.default_rng(4), np.array([5.0, 10.0, 0.0])
    starts = np.column_stack([rng.uniform(9.5, 11.5, 8), rng.uniform(9.4, 10.6, 8), np.zeros(8)])
    flee = Flee(panic_radius=10.0, falloff="NONE")
    whole = walk(pocket(), starts, threat, "AROUND", flee)
    before = jit.set_threads(1)
    try:
        expected = whole.on(80)[-1]
        jit.set_threads(3)
        part = walk(pocket(), starts, threat, "AROUND", flee)
        part.on(40)
        again = walk(pocket(), starts, threat, "AROUND", flee)
        again.simulation.skip(again._world(()))
        for _frame in range(39):
            again.simulation.skip(again._world(()))
        again.simulation.adopt(part.simulation.agents)
        again.places = list(part.places)
        assert np.array_equal(again.on(40)[-1], expected)
    finally:
        jit.set_threads(before)

"""Stairs of the ground are no walls to those who climb them."""

from __future__ import annotations

import numpy as np
import pytest
import way_buildings as buildings
import way_scenes as scenes
from waytools import Walk


@pytest.mark.slow
def test_people_climb_stairs_of_box_steps():
    scene = buildings.three_storeys(16)
    goal = scene.places["goal"]
    places = Walk(scene, [[27.0, 4.0, 0.0], [3.0, 3.0, 0.0]], goal, fps=12.0).on(650)
    assert (np.linalg.norm(places[-1] - goal, axis=1) < 1.0).all()
    assert places[-1, :, 2] == pytest.approx(goal[2], abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("height", "passes"), [(0.2, True), (0.34, True), (0.45, False)])
def test_a_step_of_the_ground_is_climbed_up_to_the_step_height(height, passes):
    kerb = scenes.boxes([[5.0, -9.0, -1.0]], [[6.0, 9.0, height]])
    ground = scenes.joined("ground", scenes.floor(-9.0, -9.0, 20.0, 9.0), kerb)
    scene = scenes.Scene(ground=ground, colliders=(), places={}, outlines=())
    places = Walk(scene, [2.0, 0.0, 0.0], [12.0, 0.0, 0.0], "NONE").on(250)
    assert (places[-1, 0, 0] > 11.0) == passes
    assert (places[:, 0, 2].max() > 0.9 * height) == passes

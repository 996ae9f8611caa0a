"""The preset unity_zones against its restatement: 1e-4 of the path in 200 steps."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import pytest
import restated_zones
from restated_forces import Arrive, Body, ForcesCrowd, Scene, Seek, Sight, Target
from restated_runs import OF_PATH, STEPS, Outcome, box_triangles, only_enabled, run_preset
from restated_zones import FREE, PULLED, PUSHED, SLIDING, TURNING, Zones, ray, tangent
from restatements import Vector, times
from tried import half_of

from tests.often import often

BODY = Body(radius=0.5, mass=1.0, max_speed=10.0, max_force=40.0)


WALLS = [
    box_triangles((0.0, 0.0, 0.0), (2.0, 14.0, 8.0)),
    box_triangles((22.0, -14.0, 0.0), (2.0, 12.0, 8.0)),
    box_triangles((-24.0, 20.0, 0.0), (12.0, 3.0, 8.0)),
]
"""Walls with ends to go around, far from one another."""


def run(goal="arrive", *, flat=True, **changes) -> tuple[Zones, Outcome]:
    """The crowd comes from the left, and from above, and wants to the other side."""
    zones = Zones(**changes)
    rules = {"zones": zones, goal: Seek() if goal == "seek" else Arrive(slow_radius=5.0)}
    crowd = ForcesCrowd(rules=rules, body=BODY, flat=flat)
    settings = only_enabled("unity_zones", rules)
    motion = replace(settings.motion, motion="GROUND" if flat else "FLY")
    rng = random.Random(3)
    positions = [
        [rng.uniform(-34.0, -20.0), rng.uniform(-14.0, 14.0), 0.0 if flat else rng.uniform(-2, 2)]
        for _ in range(half_of(12))
    ]
    velocities = [[5.0, 0.0, 0.0]] * len(positions)
    targets = [Target.at((50.0, 3.0, 0.0)), Target.at((-24.0, 60.0, 0.0))]
    scene = Scene(targets=targets, meshes=WALLS)
    settings = replace(settings, motion=motion)
    return zones, run_preset(settings, crowd, (positions, velocities), [scene] * STEPS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("goal", "flat"),
    often(product(("arrive", "seek"), (True, False)), ("arrive", True), ("seek", False)),
)
def test_unity_zones_follow_their_restatement(goal, flat):
    zones, outcome = run(goal, flat=flat)
    assert outcome.spoke(100) == {"zones", goal}
    for visited in zones.visited.values():
        assert list(dict.fromkeys(visited)) == [FREE, PUSHED, PULLED, SLIDING, TURNING]
        # slides from farther than 2·r end at once: turns bring the body nearer until one lasts
        assert visited.count(SLIDING) >= 2
        assert visited[-1] == FREE
    assert outcome.paths.min() > 10.0
    assert outcome.of_path <= OF_PATH


def wrong_way(sight: Sight, motion: Vector, n: Vector) -> Vector:
    """Goes along the wall against the motion."""
    return times(tangent(sight, motion, n), -1.0)


def short_sighted(sight: Sight, way: Vector) -> tuple[float, Vector]:
    """Takes walls for 1 % farther than they are."""
    d, n = ray(sight, way)
    return 1.01 * d, n


@pytest.mark.parametrize(("formula", "error"), [("tangent", wrong_way), ("ray", short_sighted)])
def test_errors_in_the_formulas_are_noticed(monkeypatch, formula, error):
    monkeypatch.setattr(restated_zones, formula, error)
    assert run()[1].of_path > 10 * OF_PATH


def test_a_longer_ray_toward_the_wall_is_noticed(monkeypatch):
    """It is 2·r long: r + slide_distance would hold the slide from where it begins."""

    def held(self, sight):
        slide = self.slides[sight.i]
        found = ray(sight, slide.wall)[0] <= sight.body.radius + self.slide_distance
        return SLIDING if found else TURNING, self.set_to(sight, slide.way)

    monkeypatch.setattr(Zones, "slide", held)
    assert run()[1].of_path > 10 * OF_PATH


# with 1 % more weight all slides begin at the same steps: it takes 2 % to change the paths
@pytest.mark.parametrize("wrong", [{"turn_rate": 9.0}, {"push_speed": 7.5}, {"weight": 1.02}])
def test_other_numbers_are_noticed(wrong):
    assert run(**wrong)[1].of_path > 10 * OF_PATH

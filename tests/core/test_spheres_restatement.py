"""The presets ahead_spheres and lateral_spheres against their restatement, over 200 steps."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
import restated_obstacles
from restated_crowds import exact
from restated_forces import Arrive, Body, ForcesCrowd, Scene, Seek, Sight, Sphere, Target
from restated_obstacles import AheadSpheres, LateralSpheres
from restated_runs import OF_PATH, STEPS, only_enabled, run_preset, spread
from restatements import Vector, f32, minus, plus, size, stored, times

from tests.often import often, pairs_of

BODY = Body(radius=0.25, mass=1.0, max_speed=2.0, max_force=12.0)
PRESETS = {"ahead_spheres": AheadSpheres, "lateral_spheres": LateralSpheres}
GOALS = ["seek", "arrive"]


def field(flat: bool) -> list[Sphere]:
    """Spheres of many sizes between the crowd and its targets; some overlap."""
    rng = random.Random(5)
    spheres = []
    for _ in range(24 if flat else 80):
        height = rng.uniform(-1.0, 1.0) * (1.0 if flat else 7.0)
        center = (rng.uniform(-7.0, 7.0), rng.uniform(-7.0, 7.0), height)
        spheres.append(Sphere(stored(center), f32(rng.uniform(0.3, 1.2) * (1.0 if flat else 2.0))))
    return spheres


def run(name: str, goal: str, *, flat=True, weight=1.0, keep=f32, one_by_one=False):
    rules = {
        "avoid": PRESETS[name](weight=weight, look_ahead=3.0, max_avoid=4.0),
        goal: Seek() if goal == "seek" else Arrive(slow_radius=3.0),
    }
    settings = only_enabled(name, rules)
    motion = replace(settings.motion, motion="GROUND" if flat else "FLY")
    targets = [Target.at((9.0, -8.0, 0.0)), Target.at((-9.0, 8.0, 0.0 if flat else 2.0))]
    scene = Scene(targets=targets, spheres=field(flat))
    crowd = ForcesCrowd(keep=keep, rules=rules, body=BODY, flat=flat)
    start = spread(16, 16.0, 2, flat)
    return run_preset(replace(settings, motion=motion), crowd, start, [scene] * STEPS, one_by_one)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "goal", "flat"), pairs_of([*PRESETS], GOALS, (True, False)))
def test_spheres_follow_their_restatement(name, goal, flat):
    outcome = run(name, goal, flat=flat)
    assert outcome.spoke(100) == {"avoid", goal}
    assert outcome.paths.min() > 1.0
    assert outcome.of_path <= OF_PATH


@pytest.mark.parametrize("name", PRESETS)
def test_every_single_step_is_its_formula(name):
    assert run(name, "arrive", keep=exact, one_by_one=True).velocity_error <= 1e-5


@pytest.mark.parametrize("name", PRESETS)
def test_one_percent_more_of_a_push_is_noticed(name):
    assert run(name, "seek", weight=1.01).of_path > 10 * OF_PATH


def only_ahead(sphere: Sphere, center: Vector, p: Vector, ahead: Vector) -> bool:
    """Forgets the point half-way and the agent."""
    return size(minus(ahead, center)) <= sphere.radius


def at_full_speed(sight: Sight, look_ahead: float) -> Vector:
    """Looks as far ahead at any speed."""
    return plus(sight.p, times(sight.h, look_ahead))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "formula", "error"),
    often(
        [
            (name, *wrong)
            for name in PRESETS
            for wrong in (("held", only_ahead), ("point_ahead", at_full_speed))
        ],
        ("ahead_spheres", "held", only_ahead),
        ("lateral_spheres", "point_ahead", at_full_speed),
    ),
)
def test_errors_in_the_formulas_are_noticed(monkeypatch, name, formula, error):
    monkeypatch.setattr(restated_obstacles, formula, error)
    assert run(name, "arrive").of_path > 10 * OF_PATH

"""The preset cocos_steering against its restatement: 1e-4 of the path in 200 steps."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import restated_goals
from restated_crowds import PUSH, exact
from restated_forces import Arrive, Body, Flee, Flocking, ForcesCrowd, Rule, Scene, Seek, Target
from restated_goals import Evade, OffsetPursue, Pursue, place_beside
from restated_runs import FPS, OF_PATH, STEPS, only_enabled, run_preset, spread
from restatements import (
    Neighbor,
    State,
    Vector,
    alignment,
    cohesion,
    direction,
    dot,
    f32,
    fade,
    minus,
    plus,
    size,
    times,
    total,
)
from tried import half_of

from tests.often import often

BODY = Body(radius=0.25, mass=1.0, max_speed=3.0, max_force=12.0)


def nearer_harder(i: int, state: State, near: list[Neighbor], reach: float, strength: float):
    """Repulsions that grow as the distance shrinks, added up, as in the source."""
    pushes = [
        times(direction(minus(state.p[i], state.p[q.row])), fade(q.distance, reach)) for q in near
    ]
    return times(total(pushes), strength)


def rules(names: list[str]) -> dict[str, Rule]:
    """The preset's numbers once more."""
    sight = {"strength": 3.0, "most": 10, "view": 240.0}
    known = {
        "seek": Seek(),
        "flee": Flee(panic_radius=6.0, linear=False),
        "arrive": Arrive(weight=0.5, slow_radius=3.0),
        "pursue": Pursue(),
        "evade": Evade(panic_radius=6.0, linear=False),
        "offset_pursue": OffsetPursue(offset=(1.0, -2.0, 0.0), slow_radius=3.0),
        "too_close": Flocking(1.5, PUSH, nearer_harder, reach=3.0, **sight),
        "cohesion": Flocking(weight=0.5, formula=cohesion, reach=5.0, **sight),
        "alignment": Flocking(weight=0.5, formula=alignment, reach=5.0, **sight),
    }
    return {name: known[name] for name in known if name in names}


FLOCK = ["arrive", "too_close", "cohesion", "alignment"]
GROUPS = [["seek"], ["flee"], ["arrive"], ["pursue"], ["evade"], ["offset_pursue"], FLOCK]


def hunted(step: int, up: float) -> Scene:
    """One target walks to and fro through the crowd, one circles around it."""
    way = 2.0 * step / FPS
    turns, rest = divmod(way, 10.0)
    there = turns % 2 == 0
    x = rest - 5.0 if there else 5.0 - rest
    to_and_fro = Target.at((x, 0.5, up), (2.0 if there else -2.0, 0.0, 0.0))
    angle = way / 6.0
    place = (6.0 * math.cos(angle), 6.0 * math.sin(angle), up * math.sin(way))
    motion = (-2.0 * math.sin(angle), 2.0 * math.cos(angle), 2.0 * up * math.cos(way))
    return Scene(targets=[to_and_fro, Target.at(place, motion)])


def run(names: list[str], *, flat=True, weight=1.0, keep=f32, one_by_one=False):
    crowd = ForcesCrowd(keep=keep, rules=rules(names), body=BODY, flat=flat)
    first = crowd.rules[names[0]]
    first.weight *= weight
    settings = only_enabled("cocos_steering", names)
    motion = replace(settings.motion, motion="GROUND" if flat else "FLY")
    scenes = [hunted(step, 0.0 if flat else 1.0) for step in range(1, STEPS + 1)]
    start = spread(half_of(16), 12.0, 2, flat)
    return run_preset(replace(settings, motion=motion), crowd, start, scenes, one_by_one)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "flat"),
    [
        pytest.param(
            *(names, flat),
            id=f"{'GROUND' if flat else 'FLY'}-{'+'.join(names)}",
            marks=[pytest.mark.long] * (flat == bool(number % 2)),
        )
        for number, names in enumerate(GROUPS)
        for flat in (True, False)
    ],
)
def test_cocos_steering_follows_its_restatement(names, flat):
    outcome = run(names, flat=flat)
    assert outcome.spoke(100) == set(names)
    assert outcome.paths.min() > 1.0
    assert outcome.of_path <= OF_PATH


@pytest.mark.parametrize("names", often(GROUPS, *GROUPS[::2]), ids="+".join)
def test_every_single_cocos_step_is_its_formula(names):
    assert run(names, keep=exact, one_by_one=True).velocity_error <= 1e-5


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    often([name for group in GROUPS for name in group], *[group[-1] for group in GROUPS[::2]]),
)
def test_one_percent_more_of_a_behavior_is_noticed(name):
    group = next(group for group in GROUPS if name in group)
    others = [other for other in group if other != name]
    assert run([name, *others], weight=1.01).of_path > 10 * OF_PATH


def late(target: Target, place: Vector, p: Vector, v_max: float) -> Vector:
    """Looks ahead as if the target stood."""
    return plus(place, times(target.v, size(minus(place, p)) / v_max))


def mirrored(target: Target, offset: Vector) -> Vector:
    """Takes left for right."""
    return place_beside(target, (-offset[0], offset[1], offset[2]))


@pytest.mark.parametrize(
    ("name", "formula", "error"),
    [
        ("pursue", "moved_ahead", late),
        ("evade", "moved_ahead", late),
        ("offset_pursue", "moved_ahead", late),
        ("pursue", "comes_head_on", lambda target, p, h: False),
        ("pursue", "comes_head_on", lambda target, p, h: dot(h, target.h) < -0.95),
        ("offset_pursue", "place_beside", mirrored),
    ],
)
def test_errors_in_the_formulas_are_noticed(monkeypatch, name, formula, error):
    monkeypatch.setattr(restated_goals, formula, error)
    assert run([name]).of_path > 10 * OF_PATH

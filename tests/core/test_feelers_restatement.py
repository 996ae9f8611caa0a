"""The preset feelers_hide_path against its restatement: 1e-4 of the path in 200 steps."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace

import pytest
import restated_goals
import restated_walls
from restated_forces import Body, ForcesCrowd, Rule, Scene, Sight, Sphere, Target
from restated_goals import FollowWaypoints, Hide, hiding_spot
from restated_runs import FPS, OF_PATH, STEPS, box_triangles, only_enabled, run_preset
from restated_walls import Feelers, pressed
from restatements import Vector
from tried import half_of

from tests.often import often

BODY = Body(radius=0.25, mass=1.0, max_speed=2.0, max_force=12.0)


def rules(names: tuple[str, ...]) -> dict[str, Rule]:
    """The preset's numbers once more."""
    known = {
        "wall_avoidance": Feelers(stiffness=16.0),
        "hide": Hide(weight=2.0, sight_distance=8.0),
        "follow_path": FollowWaypoints(weight=0.5, waypoint_radius=1.0, slow_radius=2.0),
    }
    return {name: known[name] for name in known if name in names}


ROOM = [
    box_triangles((0.0, 0.0, 0.0), (12.0, 12.0, 12.0)),
    box_triangles((3.0, 1.0, 1.0), (2.0, 3.0, 8.0)),
    box_triangles((-3.0, -2.0, 0.0), (3.0, 1.0, 8.0)),
]
"""Walls all around, and two blocks that stand between them."""


def inside(flat: bool, seed: int) -> tuple[list, list]:
    """Places in the room away from the blocks, and velocities to all sides."""
    rng = random.Random(seed)
    positions, velocities = [], []
    while len(positions) < half_of(12):
        x, y = rng.uniform(-5.0, 5.0), rng.uniform(-5.0, 5.0)
        if abs(x - 3.0) < 1.5 and abs(y - 1.0) < 2.0 or abs(x + 3.0) < 2.0 and abs(y + 2.0) < 1.0:
            continue
        turn, climb = rng.uniform(0.0, 2.0 * math.pi), 0.0 if flat else rng.uniform(-1.0, 1.0)
        positions.append([x, y, 0.0 if flat else rng.uniform(-3.0, 3.0)])
        level = 2.0 * math.cos(climb)
        velocities.append([level * math.cos(turn), level * math.sin(turn), 2.0 * math.sin(climb)])
    return positions, velocities


PATHS = [
    [(5.0, -4.0, 0.0), (5.0, -1.0, 0.0), (1.0, 3.0, 0.0)],
    [(-4.0, 4.0, 0.0), (-4.0, 1.0, 0.0), (-1.0, 1.0, 0.0), (-1.0, 4.0, 0.0)],
]
"""Two paths; a block stands in the way of the first one."""


def haunted(step: int, **scene) -> Scene:
    """A threat that walks in a circle through the room, and one that waits outside."""
    turn = step / FPS
    place = (4.0 * math.cos(turn / 2.0), 4.0 * math.sin(turn / 2.0), 0.0)
    motion = (-2.0 * math.sin(turn / 2.0), 2.0 * math.cos(turn / 2.0), 0.0)
    return Scene(targets=[Target.at(place, motion), Target.at((30.0, 0.0, 0.0))], **scene)


@dataclass(frozen=True)
class Case:
    """The acting agents, and their surroundings."""

    names: tuple[str, ...]
    flat: bool = True
    cyclic: bool = True
    sight_distance: float = 8.0
    obstacles: bool = True

    def run(self, **changes):
        crowd = ForcesCrowd(rules=rules(self.names), body=BODY, flat=self.flat)
        settings = only_enabled("feelers_hide_path", self.names)
        motion = replace(settings.motion, motion="GROUND" if self.flat else "FLY")
        stack = list(settings.behaviors)
        if "hide" in self.names:
            crowd.rules["hide"].sight_distance = self.sight_distance
            stack[1] = replace(stack[1], sight_distance=self.sight_distance)
        for name, factor in changes.items():
            crowd.rules[name].weight *= factor
        settings = replace(settings, motion=motion, behaviors=tuple(stack))
        # nobody hides behind the walls of the very room
        walls = ROOM if "wall_avoidance" in self.names else ROOM[1:]
        spheres = [Sphere((-3.0, 4.0, 0.0), 1.0), Sphere((0.0, -4.0, 0.25), 0.5)]
        around = {"paths": PATHS, "cyclic": self.cyclic}
        if self.obstacles:
            around |= {"meshes": walls, "spheres": spheres}
        scenes = [haunted(step, **around) for step in range(1, STEPS + 1)]
        return run_preset(settings, crowd, inside(self.flat, 4), scenes)


CASES = {
    "feelers": Case(("wall_avoidance",)),
    "feelers of flyers": Case(("wall_avoidance",), flat=False),
    "round path": Case(("follow_path",)),
    "open path": Case(("follow_path",), cyclic=False),
    "open path of flyers": Case(("follow_path",), flat=False, cyclic=False),
    "hide in sight": Case(("hide",)),
    "hide always": Case(("hide",), sight_distance=0.0),
    "hide always, flying": Case(("hide",), sight_distance=0.0, flat=False),
    "nowhere to hide": Case(("hide",), obstacles=False),
    "all of it": Case(("wall_avoidance", "hide", "follow_path")),
    "all of it, flying": Case(("wall_avoidance", "hide", "follow_path"), flat=False),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    often(
        CASES,
        *("feelers", "round path", "open path of flyers", "hide in sight"),
        *("nowhere to hide", "all of it, flying"),
    ),
)
def test_feelers_hide_path_follows_its_restatement(name):
    outcome = CASES[name].run()
    assert outcome.spoke(100) == set(CASES[name].names)
    assert outcome.paths.min() > 0.5
    assert outcome.of_path <= OF_PATH


@pytest.mark.slow
@pytest.mark.parametrize("name", often(["wall_avoidance", "hide", "follow_path"], "hide"))
def test_one_percent_more_of_a_behavior_is_noticed(name):
    assert CASES["all of it"].run(**{name: 1.01}).of_path > 10 * OF_PATH


def only_straight(sight: Sight, ahead: Vector, length: float) -> list[tuple[Vector, float]]:
    """Has no feelers to the sides."""
    return [(ahead, length)]


def touched_only(q: float, s: float, stiffness: float, room: float, dt: float):
    """Does not feel a spring that is touched within the step."""
    return (q + s * dt, s) if q < 0.0 else pressed(q, s, stiffness, room, dt)


def in_front(sphere: Sphere, threat: Vector, beyond: float) -> Vector:
    """Stands before the obstacle."""
    return hiding_spot(sphere, threat, -2.0 * sphere.radius - beyond)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "module", "formula", "error"),
    [
        ("feelers", restated_walls, "feelers", only_straight),
        ("hide in sight", restated_goals, "out_of_sight", lambda sight, threat: False),
        *(
            pytest.param(*values, marks=pytest.mark.long)
            for values in (
                ("feelers", restated_walls, "pressed", touched_only),
                ("hide always", restated_goals, "hiding_spot", in_front),
                ("round path", restated_goals, "nearest_path", lambda sight: 1),
            )
        ),
    ],
)
def test_errors_in_the_formulas_are_noticed(monkeypatch, name, module, formula, error):
    monkeypatch.setattr(module, formula, error)
    assert CASES[name].run().of_path > 10 * OF_PATH

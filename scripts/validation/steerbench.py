"""SteerBench test cases as scenarios.

Agents that reach the last goal are removed, as in SteerSuite. The files leave the distance open,
and SteerSuite's own solvers use from 1 to 2.5 radii; here it is 1.5: bodies that come from three
sides hold each other 1.16 radii away from a goal that they share. The clock is SteerSuite's, 20
steps a second. Random places are drawn from the seed, and touch neither obstacles nor others.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from steer_addon.core.errors import SteerError
from steer_addon.core.geometry import bvh
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.views import BvhView

from .placing import Room
from .scenario import F64, Route, Scenario, Stage, block
from .steerbench_file import Box, Person, Reader, ScenarioError, TestCase

DT = 0.05
REACH = 1.5
"""Distance from a goal at which an agent has reached it, in radii."""
ENOUGH = 5.0
"""Duration of runs relative to the time of the longest way, if the file gives less than that."""


def load(path: Path, seed: int = 0) -> Scenario:
    """Read a test case and place its crowd.

    Args:
        path: The XML file.
        seed: Random seed of places and directions.

    Raises:
        ScenarioError: The file cannot be used; the message names it and the element.
    """
    case = Reader(path).read()
    try:
        return make_scenario(case, seed)
    except SteerError as error:
        raise ScenarioError(f"{path.name}: {error}") from None


def make_scenario(case: TestCase, seed: int) -> Scenario:
    """Place a test case's crowd: first the obstacles, then those with a place, then the others."""
    rng = np.random.default_rng([seed, 47])
    obstacles = list(case.obstacles)
    for number, box, size in case.regions:
        obstacles += _strewn(number, box, size, case, rng)
    walls = _tree(obstacles)
    room = Room(walls)
    people = case.people
    n = len(people)
    radius = np.array([person.radius for person in people])
    place = np.zeros((n, 2))
    drawn = []
    for row, person in enumerate(people):
        if person.position is not None and len(person.position) == 2:
            place[row] = person.position
            room.take(*place[row], person.radius)
        else:
            drawn.append(row)
    for box in dict.fromkeys(people[row].position or case.bounds for row in drawn):
        rows = np.array([row for row in drawn if (people[row].position or case.bounds) == box])
        place[rows] = room.fill(box[:2], box[2:], radius[rows], rng, "agentRegion")
    headings = _headings(people, rng)
    routes, speeds = _routes(people, case, walls, rng)
    return Scenario(
        name=case.name,
        position=np.column_stack([place, np.zeros(n)]),
        radius=radius,
        speed=speeds,
        routes=routes,
        route=np.arange(n),
        dt=DT,
        duration=_duration(place, routes, speeds, people),
        colliders=tuple(obstacles),
        heading=headings,
        velocity=headings * np.array([person.speed for person in people])[:, None],
        patience=120.0,
    )


def _duration(place: F64, routes: tuple[Route, ...], speeds: F64, people: list[Person]) -> float:
    """Longest duration of a run [s]; it ends earlier if no agent makes progress any more.

    The time that the file gives, or a minute more than twice what the longest way takes. Where the
    file gives less than that way takes alone, its time means nothing: ENOUGH times the way's.
    """
    longest = 0.0
    for start, route, speed in zip(place, routes, speeds, strict=True):
        way = np.array([start, *(stage.points[0, :2] for stage in route)])
        length = float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())
        longest = max(longest, length / max(speed, 0.01))
    given = max(min(person.time, 1000.0) for person in people)
    return max(given, 2.0 * longest + 60.0) if given >= longest else ENOUGH * longest


def _tree(meshes: list[Mesh]) -> BvhView:
    if not meshes:
        return bvh.empty()
    return bvh.build(np.concatenate([mesh.triangles for mesh in meshes]))


def _strewn(
    number: int, box: Box, size: float, case: TestCase, rng: np.random.Generator
) -> list[Mesh]:
    """Square obstacles at random places, clear of the agents that have one."""
    taken = Room()
    for person in case.people:
        if person.position is not None and len(person.position) == 2:
            taken.take(*person.position, person.radius)
    half, found = size / 2.0, []
    corner = half * math.sqrt(2.0)
    for _try in range(100 * number):
        x, y = rng.uniform(box[:2], box[2:])
        if len(found) < number and taken.is_free(x, y, corner):
            name = f"strewn {len(case.obstacles) + len(found)}"
            found.append(block(name, (x - half, y - half), (x + half, y + half)))
    return found


def _headings(people: list[Person], rng: np.random.Generator) -> F64:
    found = np.zeros((len(people), 3))
    for row, person in enumerate(people):
        angle = rng.uniform(0.0, 2.0 * np.pi)
        ahead = person.heading or (0.0, 0.0)
        if math.hypot(*ahead) < 1.0e-9:
            ahead = math.cos(angle), math.sin(angle)
        found[row, :2] = np.array(ahead) / math.hypot(*ahead)
    return found


def _routes(
    people: list[Person], case: TestCase, walls: BvhView, rng: np.random.Generator
) -> tuple[tuple[Route, ...], F64]:
    """Each agent's goals, random ones drawn where it has room, and its wished speed."""
    free, routes, speeds = Room(walls), [], np.zeros(len(people))
    for row, person in enumerate(people):
        stages = []
        for aim in person.goals:
            point = aim.point
            if point is None:
                body = np.array([person.radius])
                place = free.dart(case.bounds[:2], case.bounds[2:], float(body[0]), rng)
                if place is None:
                    raise ScenarioError("<targetLocation> finds no free place: enlarge worldBounds")
                point = place
            stages.append(Stage(np.array([[*point, 0.0]]), REACH * person.radius, aim.speed))
        routes.append(tuple(stages))
        speeds[row] = person.goals[0].speed
    return tuple(routes), speeds

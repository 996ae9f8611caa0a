"""SteerBench test cases as scenarios.

Agents that reach the last goal are removed, as in SteerSuite. The files leave the distance open,
and SteerSuite's own solvers use from 1 to 2.5 radii; here it is 1.5: bodies that come from three
sides hold each other 1.16 radii away from a goal that they share. A region is reached anywhere
inside it, an agent that is sought where the bodies are as near to each other. Who flees, flows or
idles does it for the time that the goal gives. The clock is SteerSuite's, 20 steps a second.
Random places are drawn from the seed, and touch neither obstacles nor others.
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
from .scenario import F64, Moves, Route, Scenario, Stage, block
from .steerbench_file import Box, Goal, Person, Reader, ScenarioError, TestCase

DT = 0.05
REACH = 1.5
"""Distance from a goal at which an agent has reached it, in radii."""
ENOUGH = 5.0
"""Duration of runs relative to the time of the longest way, if the file gives less than that."""
LONGEST = 1000.0
"""Longest time that a goal or a file gives [s]: many say it, and some give ages."""
_MOVES = {
    "seekDynamicTarget": "SEEK",
    "fleeStaticTarget": "FLEE",
    "fleeDynamicTarget": "FLEE",
    "flowStaticDirection": "FLOW",
    "flowDynamicDirection": "FLOW",
    "idle": "STAY",
}
WAYS = "AROUND"
"""How agents of the files find their ways: the setting `ways` of a crowd."""


def load(path: Path, seed: int = 0, ways: str = WAYS) -> Scenario:
    """Read a test case and place its crowd.

    Args:
        path: The XML file.
        seed: Random seed of places and directions.
        ways: How agents find their ways; NONE goes straight at the goals.

    Raises:
        ScenarioError: The file cannot be used; the message names it and the element.
    """
    case = Reader(path).read()
    try:
        return make_scenario(case, seed, ways)
    except SteerError as error:
        raise ScenarioError(f"{path.name}: {error}") from None


def make_scenario(case: TestCase, seed: int, ways: str = WAYS) -> Scenario:
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
    routes = _routes(people, place, case, walls, rng)
    speeds = np.array([person.goals[0].speed for person in people])
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
        # ways that lead round lead away from the goal too, for as long as they like
        patience=120.0 if ways == "NONE" else np.inf,
        stated=() if ways == "NONE" else (f"ways.ways={ways}",),
    )


def _duration(place: F64, routes: tuple[Route, ...], speeds: F64, people: list[Person]) -> float:
    """Longest duration of a run [s]; it ends earlier if no agent makes progress any more.

    The time that the file gives, or a minute more than twice what the longest way takes. Where the
    file gives less than that way takes alone, its time means nothing: ENOUGH times the way's.
    """
    longest = 0.0
    for start, route, speed in zip(place, routes, speeds, strict=True):
        timed = [stage.lasts for stage in route if np.isfinite(stage.lasts)]
        way = [stage.points[0, :2] for stage in route if not np.isfinite(stage.lasts)]
        length = float(np.linalg.norm(np.diff([start, *way], axis=0), axis=1).sum())
        longest = max(longest, length / max(speed, 0.01) + sum(timed))
    given = max(min(person.time, LONGEST) for person in people)
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
    people: list[Person], place: F64, case: TestCase, walls: BvhView, rng: np.random.Generator
) -> tuple[Route, ...]:
    """Each agent's goals; random ones are drawn where it has room."""
    free, routes = Room(walls), []
    for row, person in enumerate(people):
        route: list[Stage] = []
        for aim in person.goals:
            here = route[-1].points[0, :2] if route else place[row]
            if aim.kind in ("seekStaticTarget", "seekAxisAlignedBoxRegion"):
                route.append(_place(aim, person.radius, here, case, free, rng))
            else:
                route.append(_moving(aim, row, here, people, case, rng))
        routes.append(tuple(route))
    return tuple(routes)


def _place(
    aim: Goal, radius: float, here: F64, case: TestCase, free: Room, rng: np.random.Generator
) -> Stage:
    """A goal that stays: a point, or the place of a region that is nearest to the goal before."""
    reach, point = 0.0 if aim.box else REACH * radius, aim.point
    if aim.box is not None:
        low, high = np.array(aim.box).reshape(2, 2)
        inset = np.minimum(radius, (high - low) / 2.0)
        nearest = np.clip(here, low + inset, high - inset)
        if free.clear_of_walls(nearest[None], radius)[0]:
            point = float(nearest[0]), float(nearest[1])
    if point is None:
        box = aim.box or case.bounds
        point = free.dart(box[:2], box[2:], radius, rng)
    if point is None:
        what = "goalRegionBounds" if aim.box else "targetLocation"
        where = "the region" if aim.box else "worldBounds"
        raise ScenarioError(f"<{what}> finds no free place: enlarge {where}")
    return Stage(np.array([[*point, 0.0]]), reach, aim.speed, box=aim.box)


def _moving(
    aim: Goal, row: int, here: F64, people: list[Person], case: TestCase, rng: np.random.Generator
) -> Stage:
    """A goal without a fixed place."""
    lasts, reach, agent, to = min(aim.time, LONGEST), 0.0, None, aim.point
    if aim.kind.endswith("DynamicTarget"):
        agent = _agent(aim, row, people, rng)
        if aim.kind.startswith("seek"):
            lasts, reach = math.inf, REACH * people[row].radius + people[agent].radius
    elif aim.kind == "fleeStaticTarget" and to is None:
        x, y = rng.uniform(case.bounds[:2], case.bounds[2:])
        to = float(x), float(y)
    elif aim.kind == "flowStaticDirection" and to is None:
        angle = rng.uniform(0.0, 2.0 * np.pi)
        to = math.cos(angle), math.sin(angle)
    start, moves = np.array([[*here, 0.0]]), Moves(_MOVES[aim.kind], agent, to)
    return Stage(start, reach, aim.speed, moves=moves, lasts=lasts)


def _agent(aim: Goal, row: int, people: list[Person], rng: np.random.Generator) -> int:
    """Row of the agent that a goal names, or of any other."""
    others = [k for k in range(len(people)) if k != row and aim.agent in (None, people[k].name)]
    if not others:
        name = "other agent" if aim.agent is None else f"agent {aim.agent[:40]!r}"
        raise ScenarioError(f"<{aim.kind}> finds no {name}: add it, or give another targetName")
    return int(rng.choice(others)) if aim.agent is None else others[0]

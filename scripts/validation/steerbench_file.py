"""Reads SteerBench test cases: XML files of SteerSuite's schema.

The plane is x-z with y up there; here (x, -z) is the ground and z is up, which keeps left and
right. Obstacles are solid from below the feet to above the heads, whatever height they have:
many say 0. Read with Python's own parser; files that declare entities are refused, and so are
large ones.
"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from steer_addon.core.errors import SteerError
from steer_addon.core.geometry.meshes import Mesh

from .scenario import block, cylinder

MAX_BYTES = 10_000_000
MAX_AGENTS = 20_000
MAX_OBSTACLES = 20_000
LIMIT = 1.0e6
"""Coordinates, sizes and speeds beyond are refused."""
LEAST_RADIUS = 0.01

Box = tuple[float, float, float, float]
"""Low x, low y, high x, high y on the ground [m]."""


class ScenarioError(SteerError):
    """A scenario file cannot be read: not there, too large, unsafe, or not as the schema says."""


@dataclass(frozen=True)
class Goal:
    """A goal. What it does not need is None, and so is what is drawn at random."""

    kind: str
    """The name of its element, such as seekStaticTarget."""
    speed: float
    time: float
    """Its timeDuration [s]."""
    point: tuple[float, float] | None = None
    """The target, or the direction of a flow."""
    box: Box | None = None
    agent: str | None = None
    """Name of the agent that is sought or fled from."""


@dataclass(frozen=True)
class Person:
    """An agent, or one of a region; None for random."""

    name: str
    position: tuple[float, float] | Box | None
    heading: tuple[float, float] | None
    radius: float
    speed: float
    goals: tuple[Goal, ...]
    time: float


@dataclass
class TestCase:
    """Contents of a file."""

    name: str
    bounds: Box
    people: list[Person] = field(default_factory=list)
    obstacles: list[Mesh] = field(default_factory=list)
    regions: list[tuple[int, Box, float]] = field(default_factory=list)


class Reader:
    """Reads one file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> TestCase:
        """Read the contents of the file.

        Raises:
            ScenarioError: The file cannot be used.
        """
        root = self._root()
        if _tag(root) != "SteerBenchTestCase":
            raise self._error(_tag(root), "is no SteerBench test case", "give <SteerBenchTestCase>")
        header = self._child(root, "header")
        bounds = self._box(self._child(header, "worldBounds"))
        case = TestCase(self.path.stem, bounds)
        for element in root:
            self._take(case, element)
        if not case.people:
            raise self._error("SteerBenchTestCase", "has no agents", "add <agent> or <agentRegion>")
        return case

    def _root(self) -> ElementTree.Element:
        try:
            size = self.path.stat().st_size
            if size > MAX_BYTES:
                raise ScenarioError(
                    f"{self.path.name} has {size} bytes: at most {MAX_BYTES} are read"
                )
            text = self.path.read_text(encoding="utf-8")
        except OSError as error:
            raise ScenarioError(
                f"{self.path} cannot be read: {error.strerror}; check the path"
            ) from None
        except UnicodeDecodeError:
            raise ScenarioError(f"{self.path.name} is no UTF-8 text: save it as one") from None
        if re.search(r"<!(DOCTYPE|ENTITY)", text, re.IGNORECASE):
            raise ScenarioError(
                f"{self.path.name} declares a document type: files with <!DOCTYPE> or <!ENTITY> "
                "are not read; remove the declaration"
            )
        # some files of SteerSuite have their license above the declaration
        plain = re.sub(r"<\?xml.*?\?>", "", text, count=1, flags=re.DOTALL).strip()
        try:
            return ElementTree.fromstring(plain)
        except ElementTree.ParseError as error:
            raise ScenarioError(f"{self.path.name} is not well-formed XML: {error}") from None

    def _error(self, element: str, wrong: str, way_out: str) -> ScenarioError:
        return ScenarioError(f"{self.path.name}: <{element}> {wrong}: {way_out}")

    def _take(self, case: TestCase, element: ElementTree.Element) -> None:
        tag = _tag(element)
        if tag == "agent":
            case.people.append(self._person(element, None))
        elif tag == "agentRegion":
            number = self._count(element, "numAgents", MAX_AGENTS - len(case.people))
            box = self._box(self._child(element, "regionBounds"))
            case.people += [self._person(element, box)] * number
        elif tag == "obstacle":
            x0, y0, x1, y1 = self._box(element)
            if x1 > x0 and y1 > y0:
                name = f"obstacle {len(case.obstacles)}"
                case.obstacles.append(block(name, (x0, y0), (x1, y1)))
        elif tag == "circleObstacle":
            center = self._point(self._child(element, "position"))
            radius = self._size(element, "radius")
            name = f"obstacle {len(case.obstacles)}"
            case.obstacles.append(cylinder(name, center, radius))
        elif tag == "orientedBoxObstacle":
            case.obstacles.append(self._oriented(element, len(case.obstacles)))
        elif tag == "obstacleRegion":
            number = self._count(element, "numObstacles", MAX_OBSTACLES)
            box = self._box(self._child(element, "regionBounds"))
            case.regions.append((number, box, self._size(element, "obstacleSize")))
        elif tag not in ("header", "suggestedCameraView"):
            raise self._error(tag, "is not known", "see TestCaseSchema.xsd for what there is")
        if len(case.people) > MAX_AGENTS or len(case.obstacles) > MAX_OBSTACLES:
            raise self._error(tag, "is one too many", f"at most {MAX_AGENTS} are read")

    def _oriented(self, element: ElementTree.Element, number: int) -> Mesh:
        center = np.array(self._point(self._child(element, "position")))
        size = self._child(element, "size")
        half = np.array([self._size(size, "x"), self._size(size, "z")]) / 2.0
        turn = math.radians(self._number(element, "thetaY"))
        return block(f"obstacle {number}", center - half, center + half, turn)

    def _person(self, element: ElementTree.Element, region: Box | None) -> Person:
        start = self._child(element, "initialConditions")
        place = region or self._point_or_random(self._child(start, "position"))
        sequence = self._child(element, "goalSequence")
        goals = [self._goal(goal) for goal in sequence]
        if not goals:
            raise self._error("goalSequence", "is empty", "add <seekStaticTarget>")
        return Person(
            name=next((_text(child) for child in element if _tag(child) == "name"), ""),
            position=place,
            heading=self._point_or_random(self._child(start, "direction")),
            radius=max(self._size(start, "radius"), LEAST_RADIUS),
            speed=self._number(start, "speed"),
            goals=tuple(goals),
            time=sum(goal.time for goal in goals),
        )

    def _goal(self, element: ElementTree.Element) -> Goal:
        kind = _tag(element)
        speed, time = self._number(element, "desiredSpeed"), self._number(element, "timeDuration")
        if not 0.0 <= speed <= LIMIT:
            raise self._error("desiredSpeed", f"is {speed:g}", f"give 0 to {LIMIT:g}")
        if time < 0.0:
            raise self._error("timeDuration", f"is {time:g}", "give a time from 0 up")
        if kind in ("seekStaticTarget", "fleeStaticTarget", "flowStaticDirection"):
            what = "targetDirection" if kind == "flowStaticDirection" else "targetLocation"
            drawn = _is_random(element)
            point = None if drawn else self._point_or_random(self._child(element, what))
            return Goal(kind, speed, time, point=point)
        if kind == "seekAxisAlignedBoxRegion":
            box = self._box(self._child(element, "goalRegionBounds"))
            return Goal(kind, speed, time, box=box)
        if kind in ("seekDynamicTarget", "fleeDynamicTarget"):
            name = None if _is_random(element) else _text(self._child(element, "targetName"))
            return Goal(kind, speed, time, agent=name)
        if kind in ("flowDynamicDirection", "idle"):
            return Goal(kind, speed, time)
        raise self._error(kind, "is a goal that is not run", "see the schema for what there is")

    def _child(self, element: ElementTree.Element, tag: str) -> ElementTree.Element:
        for child in element:
            if _tag(child) == tag:
                return child
        raise self._error(_tag(element), f"has no <{tag}>", "add it")

    def _number(self, element: ElementTree.Element, tag: str) -> float:
        text = _text(self._child(element, tag))
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise self._error(f"{_tag(element)}/{tag}", f"is {text[:40]!r}", "give a finite number")
        return value

    def _coordinate(self, element: ElementTree.Element, tag: str) -> float:
        value = self._number(element, tag)
        if abs(value) > LIMIT:
            raise self._error(
                f"{_tag(element)}/{tag}", f"is {value:g}", f"give -{LIMIT:g} to {LIMIT:g}"
            )
        return value

    def _size(self, element: ElementTree.Element, tag: str) -> float:
        value = self._coordinate(element, tag)
        if value < 0.0:
            raise self._error(f"{_tag(element)}/{tag}", f"is {value:g}", "give a size from 0 up")
        return value

    def _count(self, element: ElementTree.Element, tag: str, most: int) -> int:
        value = self._number(element, tag)
        if value != int(value) or not 0 <= value <= most:
            raise self._error(f"{_tag(element)}/{tag}", f"is {value:g}", f"give 0 to {most}")
        return int(value)

    def _point(self, element: ElementTree.Element) -> tuple[float, float]:
        return self._coordinate(element, "x"), -self._coordinate(element, "z")

    def _point_or_random(self, element: ElementTree.Element) -> tuple[float, float] | None:
        if any(_tag(child) == "random" for child in element):
            return None
        return self._point(element)

    def _box(self, element: ElementTree.Element) -> Box:
        x = sorted((self._coordinate(element, "xmin"), self._coordinate(element, "xmax")))
        y = sorted((-self._coordinate(element, "zmin"), -self._coordinate(element, "zmax")))
        return x[0], y[0], x[1], y[1]


def _tag(element: ElementTree.Element) -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _text(element: ElementTree.Element) -> str:
    return (element.text or "").strip()


def _is_random(element: ElementTree.Element) -> bool:
    """Whether a goal draws its target: it says `<random>true</random>` itself."""
    return any(_tag(child) == "random" and _text(child) in ("true", "1") for child in element)

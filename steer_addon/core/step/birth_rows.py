"""Birth rows: what agents remember of their birth, and the rows that sources fill.

A crowd with sources has as many further rows as its capacity. Each has an id from the start, and is
used once with it; when all have been used, rows of agents that are gone are used again, with ids
that nobody had before. An agent has its row, its place and all that is its own from one step before
its birth on, so that nothing flies in from anywhere when it is shown in between.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..agents import HEIGHT, Agents, make_agents
from ..behaviors import own_parameters
from ..bounds import LARGEST
from ..characters.cast import CLIP, GIVEN, PARTS, TEMPO
from ..crowd.birth_memory import (
    FRESH,
    KIND,
    LEFT_OVER,
    MEMORY,
    OWN,
    SINCE,
    VELOCITY,
    WAITS,
    WIDTH,
)
from ..crowd.births import BIRTH
from ..crowd.settings import CrowdSettings
from ..crowd.spread import spread
from ..inputs.emitters import Emitters
from ..numeric.rng import drawn_words, random_purpose
from ..parameters import parameters
from .born_together import SPACING, company_of, introduce
from .gaits import characters, clips, gait

I64 = NDArray[np.int64]
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]

_PLACE, _FACING = random_purpose("place of birth"), random_purpose("facing at birth")
_LIFE = random_purpose("lifetime")
_UNIT = 2.0**32


def with_rows(agents: Agents, settings: CrowdSettings, frame: int) -> Agents:
    """The crowd at its start, with rows for those that will be born.

    Args:
        agents: The agents that it starts with; they are changed.
        settings: Settings of the crowd.
        frame: Its first frame.
    """
    births = settings.births
    later = agents.attributes.get(BIRTH, np.zeros(0, np.float32)) > frame
    if MEMORY in agents.memory or not (births.emits or later.any()):
        return agents
    memory = np.zeros((agents.count, WIDTH), np.float32)
    if later.any():
        waits = later & (agents.alive != 0)
        memory[waits, WAITS] = 1.0
        memory[waits, VELOCITY:] = agents.velocity[waits]
        agents.velocity[waits], agents.alive[waits] = 0.0, 0
    memory[:, LEFT_OVER] = 0.5
    agents.memory[MEMORY] = memory
    if not births.emits:
        return agents
    count, first = births.capacity, int(agents.id.max(initial=-1)) + 1
    ids = first + np.arange(count)
    middle = agents.position.mean(axis=0) if agents.count else np.zeros(3, np.float32)
    more = newly(ids, np.tile(middle, (count, 1)), None, agents, settings)
    columns = np.zeros((count, WIDTH), np.float32)
    columns[:, KIND], columns[:, LEFT_OVER] = FRESH, 0.5
    more.memory[MEMORY] = columns
    return _joined(agents, more)


def newly(
    ids: I64, place: F32, heading: F32 | None, like: Agents, settings: CrowdSettings
) -> Agents:
    """Agents that are not born yet, each with what it draws by its id.

    Args:
        ids: Their ids, shape (agent_count,).
        place: Their places [m], shape (agent_count, 3).
        heading: Where they look, shape (agent_count, 3); None for -Y.
        like: The crowd, whose point attributes they have too.
        settings: Settings of the crowd.
    """
    body = settings.agents
    made = make_agents(
        place,
        radius=body.radius,
        mass=body.mass,
        max_speed=body.max_speed,
        max_force=body.max_force,
        heading=heading,
        ids=ids,
        attributes={
            **spread(settings, ids),
            **{name: _usual(name, ids, settings) for name in like.attributes},
        },
    )
    made.alive[:] = 0
    if GIVEN in made.attributes and settings.cast:
        # no point says which character they are: they take one as others do without the attribute
        free = {name: values for name, values in made.attributes.items() if name != GIVEN}
        drawn = characters.chosen(replace(made, attributes=free), settings)
        made.attributes[GIVEN] = drawn.astype(np.float32)
    return made


def _usual(name: str, ids: I64, settings: CrowdSettings) -> F32:
    """What an agent without a point attribute has for it: what the settings say, or a draw."""
    count = len(ids)
    fixed = {CLIP: -2.0, TEMPO: 1.0, PARTS: 0.0, "group_id": -1.0, BIRTH: -LARGEST}
    fixed[HEIGHT] = settings.bodies.height
    if name in fixed:
        return np.full(count, fixed[name], np.float32)
    owner, _, parameter = name.rpartition(".")
    for entry in settings.behaviors:
        known = parameters(entry) if owner else own_parameters(type(entry))
        if parameter in known and owner in ("", entry.key, entry.definition.type):
            return np.full(count, getattr(entry, parameter), np.float32)
    return np.zeros(count, np.float32)


def _joined(agents: Agents, more: Agents) -> Agents:
    """The rows of both; what one of them does not remember is 0."""
    arrays: dict[str, Any] = {
        name: np.concatenate([value, getattr(more, name)])
        for name, value in vars(agents).items()
        if isinstance(value, np.ndarray)
    }
    attributes = {k: np.concatenate([v, more.attributes[k]]) for k, v in agents.attributes.items()}
    memory = {}
    for key, rows in agents.memory.items():
        other = more.memory.get(key, np.zeros((more.count, *rows.shape[1:]), np.float32))
        memory[key] = np.concatenate([rows, other])
    whole = replace(agents, **arrays, attributes=attributes, memory=memory)
    # who is in which group is found anew
    return replace(whole, membership=None)


def begin_life(agents: Agents, rows: I64, settings: CrowdSettings, number: int) -> None:
    """Let agents that waited live, with the velocity that they were given.

    Args:
        agents: The crowd; it is changed.
        rows: Which of them.
        settings: Settings of the crowd.
        number: Steps of the crowd until now.
    """
    kept = agents.memory[MEMORY]
    kept[rows, WAITS], kept[rows, SINCE] = 0.0, number
    agents.alive[rows] = 1
    agents.velocity[rows] = kept[rows, VELOCITY:]
    forget(agents, rows, settings)
    introduce(agents, rows[kept[rows, KIND] != OWN], settings)


def forget(agents: Agents, rows: I64, settings: CrowdSettings) -> None:
    """Let agents remember nothing but their birth, and stand as they move.

    Args:
        agents: The crowd; its memory is changed.
        rows: Which of them.
        settings: Settings of the crowd.
    """
    for key in agents.memory.keys() - {MEMORY}:
        # the step before may share what did not change
        agents.memory[key] = agents.memory[key].copy()
        agents.memory[key][rows] = 0.0
    part = agents.taken(rows)
    part.memory = {}
    gait.begin(part, settings)
    for key, columns in (part.memory | clips.at_birth(part, settings)).items():
        if key in agents.memory:
            agents.memory[key][rows] = columns


def lifetimes(agents: Agents, settings: CrowdSettings) -> F64:
    """How long each agent stays [s], shape (agent_count,); inf without a limit."""
    births = settings.births
    if births.lifetime <= 0.0 or births.lifetime_spread == 0.0:
        return np.full(agents.count, births.lifetime or np.inf)
    share = drawn_words(settings.seed, agents.id, _LIFE)[0] / 2.0**31 - 1.0
    found: F64 = births.lifetime * (1.0 + births.lifetime_spread * share)
    return found


def places(
    ids: I64, number: int, waited: F64, emitters: Emitters, settings: CrowdSettings
) -> tuple[F32, F32]:
    """Where agents would be born in a step, and where they look.

    Args:
        ids: Their ids, shape (agent_count,).
        number: Number of the step: in another one they draw another place.
        waited: How long each has waited [s], shape (agent_count,): people who are born together
            draw another place when they have waited for a whole second.
        emitters: The sources.
        settings: Settings of the crowd.

    Returns:
        Places [m] and unit vectors, both of shape (agent_count, 3).
    """
    births, flat = settings.births, settings.motion.motion == "GROUND"
    company = company_of(ids, settings)
    if company is not None:
        # a group has the place and the direction of its first one
        ids = company.first
    draw = number % 2**32 if company is None else waited.astype(np.int64)
    draws = drawn_words(settings.seed, ids, _PLACE, draw)
    part, along, across, _ = (np.asarray(word, np.float64) / _UNIT for word in draws)
    row = np.minimum(np.searchsorted(emitters.share, part, side="right"), emitters.count - 1)
    # the half of a parallelogram beyond its diagonal is turned back onto the triangle
    beyond = along + across > 1.0
    u, v = np.where(beyond, 1.0 - along, along), np.where(beyond, 1.0 - across, across)
    corner = emitters.corner[row].astype(np.float64)
    # of an edge the second corner is there twice: along it only one of the numbers counts
    line = (corner[:, 1] == corner[:, 2]).all(axis=1)
    u, v = np.where(line, along, u), np.where(line, 0.0, v)
    place = corner[:, 0]
    place = place + u[:, None] * (corner[:, 1] - place) + v[:, None] * (corner[:, 2] - corner[:, 0])
    ways = {"FORWARD": emitters.ahead, "NORMAL": emitters.normal, "ALONG": emitters.along}
    heading = ways.get(births.facing, emitters.ahead)[row].astype(np.float64)
    turn = drawn_words(settings.seed, ids, _FACING)
    angle, up = turn[0] / 2.0**31 - 1.0, turn[1] / 2.0**31 - 1.0
    spread_angle = np.radians(births.facing_spread) / 2.0 * angle
    if births.facing == "RANDOM":
        spread_angle = np.pi * angle
        lift = np.zeros(len(ids)) if flat else up
        ring = np.sqrt(1.0 - lift * lift)
        heading = np.stack([ring, np.zeros(len(ids)), lift], axis=1)
    if flat:
        heading[:, 2] = 0.0
    heading = _turned(heading, spread_angle).astype(np.float64)
    if company is not None:
        aside = SPACING * (company.place - 0.5 * (company.size - 1))
        place = place + aside[:, None] * np.cross(heading, [0.0, 0.0, 1.0])
    return place.astype(np.float32), heading.astype(np.float32)


def _turned(heading: F64, angle: F64) -> F32:
    """Directions turned about the vertical [rad]; one that is vertical, or 0, becomes -Y."""
    x, y, z = heading.T
    c, s = np.cos(angle), np.sin(angle)
    ways = np.stack([c * x - s * y, s * x + c * y, z], axis=1)
    size = np.sqrt((ways * ways).sum(axis=1, keepdims=True))
    down = np.array([0.0, -1.0, 0.0])
    found: F32 = np.where(size > 1.0e-6, ways / np.maximum(size, 1.0e-6), down).astype(np.float32)
    return found

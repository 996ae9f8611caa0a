"""Rules that hold for every behavior; a new one is covered by being registered."""

from __future__ import annotations

import functools
import itertools
import os
from dataclasses import replace

import numpy as np
import pytest
from any_world import (
    FPS,
    MIRROR,
    MOTIONS,
    SHOWN_BY_OTHERS,
    VARIANTS,
    is_among,
    make_scene,
    mirrored,
    play,
    rounding,
    settings_for,
    track,
    turn_about,
    unhanded,
    variants_in_turns,
    varied,
    with_other_ids,
)
from crowdtools import same_bits
from hypothesis import example, given
from hypothesis import settings as profile
from hypothesis import strategies as st
from tried import LONG

from steer_addon.core.agents import Agents
from steer_addon.core.compiled import jit
from steer_addon.core.inputs.targets import Targets
from steer_addon.core.sensing.declare import TARGETS
from steer_addon.core.step.simulation import Simulation
from tests.often import often

STEPS, LONGER = 6, 10
SEEDS = (2, 3)
FINE_SEEDS = SEEDS if LONG else SEEDS[:1]
"""Of the worlds for finer steps, more with --long: the median is one over all their agents."""

HANDED = {
    "wander-RANDOM_WALK": "its random numbers turn to the same side",
    "wander-POSITION_NOISE": "the noise is another one at mirrored places",
    "FLY-obstacle_avoidance-RAY": "(x - p) × n of the Houdini node points to one side",
    "FLY-obstacle_avoidance-CENTER_RAY": "(x - p) × n of the Houdini node points to one side",
}
"""Variants that are not the same in a mirror, and why."""

PLACED = {"wander-POSITION_NOISE": "the noise is another one at turned places"}
"""Variants that change when the world turns about Z, and why."""

UPRIGHT = {
    **PLACED,
    "wander-RANDOM_WALK": "the axes that its random numbers refer to are those of the world",
    "obstacle_avoidance-WHISKERS": "the whiskers lie in rings that begin at the world's up",
    "wall_avoidance": "the feelers lie to the sides and above, as the world's up says",
    "avoid_neighbors": "the ways lie to the sides, above and below, as the world's up says",
}
"""Variants that change when the world turns about any axis, and why."""

ROUGH = {
    "wander-RANDOM_WALK": "every step draws a number: finer steps walk another way",
    "wander-POSITION_NOISE": "the noise is another one 3 cm farther: steps skip over it",
}
"""Variants without a limit for ever finer steps, and why."""

BY_PARITY = ("follow_wall", "obstacle_zones")
"""Behaviors where an agent straight at a wall goes to one side by an even id, else to the other.

Both ways are alike, and something has to decide. Such agents are mirrored by ids of other parity.
"""

ORDERED = ("GROUND", True), ("FLY", False)
"""Motion, and whether the crowd is its own target, of the crowds whose order changes each time."""

INTO_CORNER = 292
"""A world where flyers slide into a right angle between two walls."""

WORLDS = int(os.environ.get("STEER_WORLDS", "2"))
any_world = given(st.integers(0, 2**32 - 1))
"""The worlds of any seed; in those of odd ones two parameters are anywhere in their soft ranges."""
few = profile(max_examples=WORLDS, derandomize=True)
"""The same worlds in every run; `make test-long` tries more of them, by STEER_WORLDS."""
OFTEN = [entry for name, entry in VARIANTS.items() if name not in SHOWN_BY_OTHERS]
every_variant = pytest.mark.parametrize("entry", often(VARIANTS.values(), *OFTEN), ids=VARIANTS)


def exempt(entry, motion, table):
    """Skip what cannot hold by definition, with the reason."""
    found = is_among(entry, motion, table)
    if found:
        pytest.skip(found)


@pytest.mark.slow
@variants_in_turns("GROUND")
def test_the_world_gives_it_something_to_do(entry, motion):
    """Or else all that follows would say nothing."""
    spoken, settings = 0, settings_for(entry, motion)
    for seed in SEEDS:
        found = track(make_scene(seed, settings), settings, STEPS)
        spoken += int((found != without(seed, motion)).any(axis=(0, 2)).sum())
        if spoken >= 2:
            return
    raise AssertionError(spoken)


@functools.cache
def without(seed, motion):
    """Paths where no behavior is tested."""
    settings = settings_for(None, motion)
    return track(make_scene(seed, settings), settings, STEPS)


def assert_same_paths(found, expected, seed, scenes, others=None):
    """Paths are equal to 1e-5 m, or to what rounding makes of one of the scenes where that is more.

    Args:
        found: Positions, shape (steps, agents, 3) [m].
        expected: Expected positions.
        seed, scenes: Settings and turn of each of the two scenes, see `make_scene`.
        others: Paths that are right as well, of the same shape, or None.
    """
    apart = np.abs(found - expected).max(axis=2, keepdims=True)
    if others is not None:
        apart = np.minimum(apart, np.abs(others - expected).max(axis=2, keepdims=True))
    if (apart > 1e-5).any():
        rounded = [rounding(seed, *scene, len(found)) for scene in scenes]
        allowed = np.maximum(1e-5, np.maximum(*rounded))
        worst = np.unravel_index(np.argmax(apart / allowed), apart.shape)
        assert apart[worst] <= allowed[worst], worst
        # a world where rounding decides about many would say nothing
        assert np.isinf(allowed[-1]).mean() < 0.25


@pytest.mark.slow
@variants_in_turns("GROUND")
@few
@any_world
def test_mirrored_worlds_give_mirrored_motion(entry, motion, seed):
    exempt(entry, motion, HANDED)
    entry = varied(entry, seed)
    settings, turned = settings_for(entry, motion), settings_for(mirrored(entry), motion)
    plain = track(make_scene(seed, settings), settings, STEPS)
    scene = make_scene(seed, turned, MIRROR)
    found, others = track(scene, turned, STEPS), None
    if entry.definition.type in BY_PARITY:
        others = track(with_other_ids(scene), turned, STEPS)
    scenes = (settings, np.eye(3)), (turned, MIRROR)
    assert_same_paths(found, plain @ MIRROR, seed, scenes, others)


@pytest.mark.slow
@variants_in_turns("FLY", PLACED)
@few
@any_world
@example(INTO_CORNER)
def test_turned_worlds_give_turned_motion(entry, motion, seed):
    if seed == INTO_CORNER and motion == "GROUND":
        return
    entry = varied(entry, seed)
    about_any = motion == "FLY" and not is_among(entry, motion, UPRIGHT)
    cases = [(unhanded(entry), turn_about([1, 2, 3], 1.7))] if about_any else []
    if not about_any or unhanded(entry) != entry:
        # else such turns are among those about any axis
        cases.append((entry, turn_about([0, 0, 1], 0.7)))
    for used, turn in cases:
        settings = settings_for(used, motion)
        plain = track(make_scene(seed, settings), settings, LONGER)
        found = track(make_scene(seed, settings, turn), settings, LONGER)
        scenes = (settings, np.eye(3)), (settings, turn)
        assert_same_paths(found, plain @ turn.T, seed, scenes)


def reordered(agents: Agents, order: np.ndarray) -> Agents:
    """The same agents in other rows."""
    arrays = {
        name: np.ascontiguousarray(value[order])
        for name, value in vars(agents).items()
        if isinstance(value, np.ndarray)
    }
    memory = {name: np.ascontiguousarray(value[order]) for name, value in agents.memory.items()}
    return replace(agents, **arrays, memory=memory)


def as_targets(agents: Agents) -> Targets:
    """The crowd as its own targets."""
    up = np.tile(np.array([0.0, 0.0, 1.0], np.float32), (agents.count, 1))
    return Targets(agents.position, agents.velocity, agents.heading, up, own=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("motion", "own"), often([*itertools.product(MOTIONS, (True, False))], *ORDERED)
)
@every_variant
@few
@any_world
def test_the_order_of_agents_does_not_change_a_bit(entry, motion, own, seed):
    counting = {"BY_ID", "RANDOM", "BY_WEIGHT"} & set(map(str, vars(entry).values()))
    if own and (TARGETS not in entry.definition.uses or counting):
        # these count the targets: their order is part of the input
        pytest.skip("reads no targets, or counts them")
    settings = settings_for(varied(entry, seed), motion)
    scene = make_scene(seed, settings)
    order = np.random.default_rng(seed).permutation(scene.agents.count)
    plain = Simulation(settings, scene.agents, frame=1, fps=FPS)
    shuffled = Simulation(settings, reordered(scene.agents, order), frame=1, fps=FPS)
    for step in range(STEPS):
        for simulation in (plain, shuffled):
            world = scene.at(step / FPS)
            if own:
                world = replace(world, targets={"": as_targets(simulation.agents)})
            simulation.step(world)
    assert same_bits(reordered(plain.agents, order), shuffled.agents)


def same_motion(a: Agents, b: Agents) -> bool:
    """Whether two crowds are equal to the last bit, whatever behaviors remember."""
    return same_bits(replace(a, memory={}), replace(b, memory={}))


def ways_of_combining():
    """Every variant walking and flying, and in both ways of combining.

    Each time one of four, and none of those that are `SHOWN_BY_OTHERS`.
    """
    number = 0
    for name, entry in VARIANTS.items():
        pairs = itertools.product(MOTIONS, ("WEIGHTED_SUM", "PRIORITY"))
        number += name not in SHOWN_BY_OTHERS
        for place, (motion, combine) in enumerate(pairs):
            is_long = name in SHOWN_BY_OTHERS or place != number % 4
            marks = [pytest.mark.long] * is_long
            yield pytest.param(entry, motion, combine, id=f"{combine}-{name}-{motion}", marks=marks)


@functools.lru_cache(maxsize=64)
def absence(seed, motion, combine):
    """A scene, and its agents after some steps where no behavior is tested."""
    settings = settings_for(None, motion, combine=combine)
    scene = make_scene(seed, settings)
    return scene, play(scene, settings, 4).agents


@pytest.mark.slow
@pytest.mark.parametrize(("entry", "motion", "combine"), [*ways_of_combining()])
@few
@any_world
def test_without_weight_or_disabled_it_is_as_if_absent(entry, motion, combine, seed):
    entry = varied(entry, seed)
    scene, plain = absence(seed, motion, combine)
    for idle in (replace(entry, weight=0.0), replace(entry, enabled=False)):
        assert same_bits(play(scene, settings_for(idle, motion, combine=combine), 4).agents, plain)
    named = replace(entry, name="it")
    zeros = {"it.weight": np.zeros(plain.count, np.float32)}
    weightless = replace(scene, agents=replace(scene.agents, attributes=zeros))
    found = play(weightless, settings_for(named, motion, combine=combine), 4).agents
    assert same_motion(found, plain)


@variants_in_turns("FLY")
def test_going_on_from_a_copy_changes_no_bit(entry, motion):
    settings = settings_for(entry, motion)
    scene = make_scene(SEEDS[0], settings)
    whole = play(scene, settings, 5)
    resumed = Simulation(settings, scene.agents, frame=1, fps=FPS)
    resumed.agents, resumed.frame = whole.agents.copy(), whole.frame
    for simulation in (whole, resumed):
        for step in range(6, 10):
            simulation.step(scene.at(step / FPS))
    assert same_bits(whole.agents, resumed.agents)


@pytest.mark.slow
@variants_in_turns("FLY")
def test_the_number_of_threads_changes_no_bit(entry, motion):
    if not jit.status().compiled:
        pytest.skip("kernels that run uncompiled use one thread")
    settings = settings_for(entry, motion)
    scene = make_scene(SEEDS[0], settings, count=3 * jit.CHUNK + 100, spread=20.0)
    found = []
    for threads in (1, 3):
        jit.set_threads(threads)
        found.append(play(scene, settings, 2).agents)
    assert same_bits(*found)


def jumps(entry):
    """Whether a behavior sets velocities or positions, at the step where something happens."""
    if entry.definition.constraint is None:
        return False
    return getattr(entry, "method", "") != "AVOID"  # of containment, it corrects nothing


@pytest.mark.slow
@variants_in_turns("GROUND", ROUGH, one_each=True)
def test_finer_steps_converge_at_first_order(entry, motion):
    if jumps(entry):
        pytest.skip("jumps: velocities or positions are set at the step where it happens")
    settings = settings_for(entry, motion)
    ends = []
    scenes = [make_scene(seed, settings, count=96) for seed in FINE_SEEDS]
    for fps in (12, 24, 48, 96):
        crowds = [play(scene, settings, fps // 2, fps).agents for scene in scenes]
        ends.append(np.concatenate([c.position for c in crowds]).astype(float))
    # Halving the step halves the gap. The typical agent's: a few pass an edge of what their
    # behavior sees one step earlier or later. Not quite by 2: a step of 1/12 s is long enough for
    # the next order to show, some 6 % of the gap at most, and it may have the other sign.
    gaps = [np.median(np.linalg.norm(a - b, axis=1)) for a, b in itertools.pairwise(ends)]
    assert gaps[0] > 1.85 * gaps[1] > 1.85**2 * gaps[2], gaps

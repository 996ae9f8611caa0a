"""Whole runs against an independent restatement of the formulas: 1e-4 of the path in 200 steps."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from crowdtools import box, place
from restated_crowds import HoudiniNode, ReynoldsCrowd, exact
from restated_runs import FPS, OF_PATH, STEPS, compare, spread
from restatements import State, Triangle, Vector, f32, stored
from tried import half_of

from steer_addon.core.behaviors.arrive import Arrive
from steer_addon.core.behaviors.flee import Flee
from steer_addon.core.behaviors.flock import Alignment, Cohesion, Separation
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.crowd.presets import load_preset
from steer_addon.core.crowd.settings import (
    AgentsSettings,
    CrowdSettings,
    MotionSettings,
    SolverSettings,
)
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.simulation import Simulation
from tests.often import often


def round_mesh(center: Vector, radius: float, rings: int = 6) -> list[Triangle]:
    """Triangles of a closed sphere."""

    def corner(ring: int, part: int) -> Vector:
        down, around = math.pi * ring / rings, math.pi * part / rings
        flat = math.sin(down)
        way = (flat * math.cos(around), flat * math.sin(around), math.cos(down))
        return stored(tuple(c + radius * w for c, w in zip(center, way, strict=True)))

    triangles = []
    for ring in range(rings):
        for part in range(2 * rings):
            a, d = corner(ring, part), corner(ring, (part + 1) % (2 * rings))
            b, c = corner(ring + 1, part), corner(ring + 1, (part + 1) % (2 * rings))
            triangles += [(a, b, c)] if ring < rings - 1 else []
            triangles += [(a, c, d)] if ring > 0 else []
    return triangles


def listed(mesh: Mesh) -> list[Triangle]:
    return [tuple(tuple(map(float, corner)) for corner in t) for t in mesh.triangles]


# --- the preset houdini_vex -------------------------------------------------------------------


def chased(step: int) -> list[Vector]:
    """Two targets that fly in circles at 12 m/s; one goes through the obstacles."""
    way = 12.0 * step / FPS
    a = (18 * math.cos(way / 18), 18 * math.sin(way / 18), 2 * math.sin(way / 7))
    b = (-25 * math.cos(way / 25), -25 * math.sin(way / 25), -1.0)
    return [stored(a), stored(b)]


def obstacles(center_rays: bool) -> list[Mesh]:
    if center_rays:
        # one alone, since the formula does not say which colliders a ray to a center may hit
        return [box((13.0, 13.0, 0.0), (5.0, 4.0, 6.0))]
    sphere = np.array(round_mesh((-12.0, -20.0, -1.0), 3.0), np.float32)
    return [box((13.0, 13.0, 0.0), (5.0, 4.0, 6.0)), Mesh("sphere", sphere)]


def houdini_run(*, fleeing: bool, center_rays: bool, seed: int, one_by_one: bool):
    settings = load_preset("houdini_vex").settings
    enabled = {"flee": fleeing, "avoid_centers": center_rays}
    stack = [replace(b, enabled=enabled.get(b.key, b.enabled)) for b in settings.behaviors]
    settings = replace(settings, behaviors=tuple(stack))
    meshes = obstacles(center_rays)
    node = HoudiniNode(
        keep=exact if one_by_one else f32,
        meshes=[listed(mesh) for mesh in meshes],
        fleeing=fleeing,
        center_rays=center_rays,
    )
    positions, velocities = spread(half_of(28), 36.0, seed)
    simulation = Simulation(settings, place(settings, positions, velocities), frame=1, fps=FPS)
    targets = [chased(step) for step in range(1, STEPS + 1)]
    worlds = [make_world(targets=t, colliders=meshes) for t in targets]
    state = State.start(positions, velocities)
    return node.seen, *compare(simulation, node, state, worlds, targets, one_by_one)


HOUDINI = (False, False, 1), (True, False, 2), (True, True, 3)
"""Whether agents flee, whether they look at centers of obstacles, and a seed."""


def assert_all_seen(seen, fleeing, center_rays):
    """A run must have something of everything."""
    expected = {"seek", "wander", "separation", "cohesion", "alignment", "avoid"}
    expected |= {"flee"} if fleeing else set()
    expected |= {"avoid center 0"} if center_rays else set()
    assert {name for name, times in seen.items() if times >= 10} == expected


@pytest.mark.slow
@pytest.mark.parametrize(("fleeing", "center_rays", "seed"), often(HOUDINI, HOUDINI[0]))
def test_houdini_preset_follows_its_restatement(fleeing, center_rays, seed):
    seen, paths, deviations, _ = houdini_run(
        fleeing=fleeing, center_rays=center_rays, seed=seed, one_by_one=False
    )
    assert_all_seen(seen, fleeing, center_rays)
    assert paths.min() > 50.0
    assert (deviations.max(axis=0) / paths).max() <= OF_PATH


@pytest.mark.slow
@pytest.mark.parametrize(("fleeing", "center_rays", "seed"), often(HOUDINI, HOUDINI[2]))
def test_every_single_houdini_step_is_its_formula(fleeing, center_rays, seed):
    # without the chaos of a whole run there is no need to round where the solver does
    seen, _, _, velocity_error = houdini_run(
        fleeing=fleeing, center_rays=center_rays, seed=seed, one_by_one=True
    )
    assert_all_seen(seen, fleeing, center_rays)
    assert velocity_error <= 2e-5


# --- the solver REYNOLDS ----------------------------------------------------------------------

WEIGHTS = {
    "flee": 2.0,
    "separation": 1.5,
    "seek": 0.5,
    "arrive": 1.0,
    "cohesion": 0.75,
    "alignment": 0.5,
}


def reynolds_settings(crowd: ReynoldsCrowd) -> CrowdSettings:
    flock = {
        "strength": crowd.strength,
        "neighbor_distance": crowd.reach,
        "max_neighbors": crowd.points,
        "field_of_view": crowd.view,
    }
    entries = {
        "seek": Seek(weight=WEIGHTS["seek"], target="seek"),
        "arrive": Arrive(
            weight=WEIGHTS["arrive"],
            target="arrive",
            slow_radius=crowd.slow_radius,
            stop_radius=crowd.stop_radius,
        ),
        "flee": Flee(weight=WEIGHTS["flee"], target="flee", panic_radius=crowd.panic_radius),
        "separation": Separation(weight=WEIGHTS["separation"], **flock),
        "cohesion": Cohesion(weight=WEIGHTS["cohesion"], **flock),
        "alignment": Alignment(weight=WEIGHTS["alignment"], **flock),
    }
    return CrowdSettings(
        agents=AgentsSettings(
            mass=crowd.mass, max_speed=crowd.max_speed, max_force=crowd.max_force
        ),
        motion=MotionSettings(motion="GROUND" if crowd.flat else "FLY", min_turn_speed=0.0),
        solver=SolverSettings(
            solver="REYNOLDS",
            combine="PRIORITY" if crowd.priority else "WEIGHTED_SUM",
            relaxation_time=crowd.relaxation_time,
        ),
        behaviors=tuple(entries[name] for name in WEIGHTS),
    )


def goals(step: int, flat: bool) -> dict[str, list[Vector]]:
    """Far goals to seek and to arrive at, and a threat that circles through the crowd."""
    up = 0.0 if flat else 1.0
    turn = step / FPS
    return {
        "seek": [(30.0, 5.0, 3.0 * up), (-30.0, 10.0, -2.0 * up)],
        "arrive": [(6.0, 0.0, up), (-4.0, 4.0, 0.0)],
        "flee": [stored((3 * math.cos(turn), 3 * math.sin(turn), up))],
    }


def reynolds_run(*, flat: bool, priority: bool, keep):
    crowd = ReynoldsCrowd(keep=keep, flat=flat, priority=priority, weights=WEIGHTS, mass=1.5)
    settings = reynolds_settings(crowd)
    positions, velocities = spread(half_of(28), 14.0, 5, flat)
    simulation = Simulation(settings, place(settings, positions, velocities), frame=1, fps=FPS)
    targets = [goals(step, flat) for step in range(1, STEPS + 1)]
    worlds = [make_world(targets=t) for t in targets]
    state = State.start(positions, velocities)
    return crowd.seen, *compare(simulation, crowd, state, worlds, targets, keep is exact)


REYNOLDS = [
    pytest.param(True, False, id="GROUND-WEIGHTED_SUM"),
    pytest.param(True, True, id="GROUND-PRIORITY", marks=pytest.mark.long),
    pytest.param(False, False, id="FLY-WEIGHTED_SUM", marks=pytest.mark.long),
    pytest.param(False, True, id="FLY-PRIORITY"),
]


@pytest.mark.parametrize(("flat", "priority"), REYNOLDS)
def test_reynolds_follows_its_restatement(flat, priority):
    seen, paths, deviations, _ = reynolds_run(flat=flat, priority=priority, keep=f32)
    assert {name for name, times in seen.items() if times >= 100} == set(WEIGHTS)
    assert paths.min() > 1.0
    assert (deviations.max(axis=0) / paths).max() <= OF_PATH


@pytest.mark.parametrize(("flat", "priority"), REYNOLDS)
def test_every_single_reynolds_step_is_its_formula(flat, priority):
    _, _, _, velocity_error = reynolds_run(flat=flat, priority=priority, keep=exact)
    assert velocity_error <= 5e-5

"""Obstacle zones: the state machine along walls, its formulas, and that no wall is crossed."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from crowdtools import box, crowd, place, run, simulation, wall

from steer_addon.core.behaviors.arrive import Arrive
from steer_addon.core.behaviors.obstacle_zones import ObstacleZones
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.behaviors.wander import Wander
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.solver import Solver
from tests.often import often

DT = 1 / 24
FREE, PUSH, PULL, SLIDE, TURN = range(5)
LEGAL = {
    FREE: {PUSH, PULL, SLIDE},
    PUSH: {FREE, PULL, SLIDE},
    PULL: {FREE, PUSH, SLIDE},
    SLIDE: {TURN},
    TURN: {FREE, SLIDE},
}
L_WALL = [((0, 0), (8, 0)), ((0, 0), (0, 8))]
ARRIVE = (Arrive(),)
UNITY = {
    "look_ahead": 10.0,
    "pull_distance": 5.0,
    "slide_distance": 2.0,
    "cruise_speed": 10.0,
    "push_speed": 8.0,
    "push_strength": 10.0,
    "turn_rate": np.degrees(10.0),
}


def upright(segments):
    """Vertical walls over segments of the plan."""
    meshes = []
    for number, ((ax, ay), (bx, by)) in enumerate(segments):
        a, b, c, d = (ax, ay, -1), (bx, by, -1), (bx, by, 3), (ax, ay, 3)
        triangles = np.array([[a, b, c], [a, c, d]], np.float32)
        meshes.append(Mesh(f"wall{number}", triangles))
    return meshes


def outline(points):
    """The sides of a closed polygon."""
    return list(zip(points, [*points[1:], points[0]], strict=True))


def walk(zones, positions, steps, segments, target, velocity=None, others=ARRIVE, **more):
    """Positions and velocities (steps + 1, agents, 3) and zones (steps + 1, agents)."""
    sim = simulation(crowd(*others, zones, **more), positions, velocity)
    world = make_world(colliders=upright(segments), targets=target)
    path, speeds = [sim.agents.position.astype(float)], [sim.agents.velocity.astype(float)]
    states = [np.zeros(len(path[0]), int)]
    for _ in range(steps):
        frame = sim.step(world)
        path.append(frame.position.astype(float))
        speeds.append(frame.velocity.astype(float))
        states.append(frame.attributes["zone"].astype(int))
    return np.array(path), np.array(speeds), np.array(states)


def side(a, b, p):
    """Which side of the line from a to b points are on, in the plan."""
    return (b[0] - a[0]) * (p[..., 1] - a[1]) - (b[1] - a[1]) * (p[..., 0] - a[0])


def crossings(path, segments):
    """How many steps of the agents meet one of the segments in the plan."""
    start, stop = path[:-1], path[1:]
    count = 0
    for a, b in np.array(segments, float):
        across = side(a, b, start) * side(a, b, stop) <= 0.0
        d = stop - start
        of_a = d[..., 0] * (a[1] - start[..., 1]) - d[..., 1] * (a[0] - start[..., 0])
        of_b = d[..., 0] * (b[1] - start[..., 1]) - d[..., 1] * (b[0] - start[..., 0])
        moving = np.abs(d[..., :2]).sum(axis=-1) > 0.0
        count += int((across & (of_a * of_b <= 0.0) & moving).sum())
    return count


def changes(states):
    """The zones of one agent in order, each as often as it was entered."""
    return [int(z) for k, z in enumerate(states) if k == 0 or z != states[k - 1]]


def clearance(points, target, segments):
    """Distance along the straight way to the target at which a segment is met, inf for none."""
    d = np.asarray(target, float)[:2] - points[:, :2]
    reach = np.full(len(points), np.inf)
    for a, b in np.array(segments, float):
        e = b - a
        det = d[:, 0] * e[1] - d[:, 1] * e[0]
        to = a - points[:, :2]
        t = (to[:, 0] * e[1] - to[:, 1] * e[0]) / det
        u = (to[:, 0] * d[:, 1] - to[:, 1] * d[:, 0]) / det
        met = (t >= 0) & (t <= 1) & (u >= 0) & (u <= 1)
        reach = np.where(met, np.minimum(reach, t * np.linalg.norm(d, axis=1)), reach)
    return reach


@pytest.mark.parametrize(
    ("kind", "until"),
    often(
        itertools.product(("people", "unity"), ("IN_SIGHT", "TWO_RADII")),
        *(("people", "IN_SIGHT"), ("unity", "TWO_RADII")),
    ),
)
def test_the_machine_goes_through_its_zones_along_an_l_wall_and_never_crosses_it(kind, until):
    values, agents, scale = {
        "people": ({}, {}, 1.0),
        "unity": (UNITY, {"max_speed": 10.0, "radius": 0.5}, 2.5),
    }[kind]
    zones = ObstacleZones(slide_until=until, **values)
    segments = (np.array(L_WALL) * scale).tolist()
    target = np.array([-3.0, -3.0, 0.0]) * scale
    starts = np.random.default_rng(7).uniform(-1.0, 11.0, (2000, 3)) * [scale, scale, 0.0]
    seen = clearance(starts, target, segments)
    far = (seen > zones.look_ahead) & (seen < np.inf)
    # 80 who have the wall before them but do not see it yet, and 80 at any place
    starts, seen = (np.concatenate([a[far][:80], a[:80]]) for a in (starts, seen))
    path, _, states = walk(zones, starts, 24 * 32, segments, [target], agents=agents)
    assert crossings(path, segments) == 0
    assert (np.linalg.norm(path[-1] - target, axis=1) < 0.1 * scale).all()
    orders = [changes(states[:, i]) for i in range(160)]
    for order in orders:
        assert all(b in LEGAL[a] for a, b in zip(order, order[1:], strict=False)), order
        assert order[0] == order[-1] == FREE
    for order, distance in zip(orders, seen, strict=True):
        assert {SLIDE, TURN} <= set(order) or distance == np.inf, order
    for order in orders[:80]:
        assert list(dict.fromkeys(order)) == [FREE, PUSH, PULL, SLIDE, TURN], order


def step(zones, velocity, *, colliders, position=(0, 0, 0), others=(), target=None, **more):
    """One step of one agent: (agents after it, the proposal of the zones)."""
    agents = place(crowd(), [position], [velocity], ids=more.pop("ids", None))
    made = crowd(*others, zones, **more)
    world = make_world(colliders=colliders, targets=target)
    result = Solver(made).step(agents, world, DT, number=0)
    return result.agents, result.proposals[-1]


@pytest.mark.parametrize(("speed", "expected"), [(1.0, 0.3), (1.4, 0.5), (0.69, 0.0), (0.2, 0.0)])
def test_push_brakes_along_the_normal_what_is_above_the_push_speed(speed, expected):
    zones = ObstacleZones(push_speed=0.7, push_strength=0.5)
    direction = np.array([0.8, 0.6, 0.0])
    after, made = step(zones, direction * speed, colliders=[wall(x=3.0)])
    np.testing.assert_allclose(made.value[0], [-expected, 0, 0], atol=1e-6)
    assert made.active[0] == (expected > 0.0)
    assert after.memory["obstacle_zones"][0, 0] == PUSH


@pytest.mark.parametrize("sign", [-1, 1])
def test_pull_goes_along_the_tangent_on_the_side_of_the_motion(sign):
    zones = ObstacleZones(push_strength=0.5)
    after, made = step(zones, (0.4, sign * 0.1, 0), colliders=[wall(x=1.5)])
    np.testing.assert_allclose(made.value[0], [0, sign * 0.5, 0], atol=1e-6)
    assert after.memory["obstacle_zones"][0, 0] == PULL


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
@pytest.mark.parametrize("sign", [-1, 1])
def test_head_on_the_desired_velocity_decides_and_then_the_id(motion, sign):
    zones, ahead = ObstacleZones(), [wall(x=1.5)]
    _, made = step(
        zones,
        (1, 0, 0),
        colliders=ahead,
        motion=motion,
        others=[Seek()],
        target=[[5, sign * 9, 0]],
    )
    assert np.sign(made.value[0, 1]) == sign
    assert abs(made.value[0, 0]) < 1e-6
    even, odd = (step(zones, (1, 0, 0), colliders=ahead, motion=motion, ids=[n])[1] for n in (4, 5))
    np.testing.assert_allclose(even.value, -odd.value)
    assert np.linalg.norm(even.value) == pytest.approx(1.4)


@pytest.mark.parametrize(("cruise", "expected"), [(0.0, 1.4), (0.9, 0.9)])
def test_slide_sets_the_velocity_whatever_else_is_in_the_list(cruise, expected):
    zones = ObstacleZones(cruise_speed=cruise)
    after, made = step(
        zones,
        (0.8, 0.2, 0),
        colliders=[wall(x=0.6)],
        others=[Seek(weight=5.0)],
        target=[[9, -3, 0]],
    )
    np.testing.assert_allclose(after.velocity[0], [0, expected, 0], atol=1e-6)
    np.testing.assert_allclose(made.value[0], [0, expected, 0], atol=1e-6)


@pytest.mark.parametrize("goal", [(4, -9, 0), (40, 3, 0)], ids=["behind", "in sight"])
def test_a_slide_of_the_source_lasts_while_a_ray_of_two_radii_finds_the_wall(goal):
    zones = ObstacleZones(slide_until="TWO_RADII")
    for gap, lasts in ((0.49, True), (0.51, False)):
        path, speeds, states = walk(
            zones, [[2, gap, 0]], 3, L_WALL[:1], [goal], [[1, -1, 0]], agents={"radius": 0.25}
        )
        assert states[1:3, 0].tolist() == [SLIDE, SLIDE if lasts else TURN]
        np.testing.assert_allclose(speeds[1:3, 0], [[1.4, 0, 0]] * 2, atol=1e-6)
        np.testing.assert_allclose(path[1:3, 0, 1], gap, atol=1e-6)


def test_a_body_that_touches_the_wall_leans_away_from_it():
    zones = ObstacleZones()
    path, _, _ = walk(zones, [[1, 0.05, 0]], 24 * 4, L_WALL[:1], [[4, -3, 0]], [[1, -0.2, 0]])
    beside = (path[:, 0, 0] > 2.0) & (path[:, 0, 0] < 6.0)
    assert beside.sum() > 20
    # what is missing from the radius, 0.2 m, falls as exp(-t · 1.4 / 0.25) while it leans: below
    # 0.01 m within 0.54 s or 0.75 m
    assert path[beside, 0, 1].min() > 0.24


def test_an_inner_corner_is_taken_without_leaving_the_slide():
    room = outline([(0, 0), (9, 0), (9, 9), (0, 9)])
    path, speeds, states = walk(
        ObstacleZones(), [[4, 0.5, 0]], 24 * 20, room, [[4, -9, 0]], [[0.5, -0.5, 0]]
    )
    assert crossings(path, room) == 0
    assert set(states[1:, 0]) == {SLIDE}
    np.testing.assert_allclose(np.linalg.norm(speeds[1:, 0], axis=1), 1.4, atol=1e-5)
    # 20 s at 1.4 m/s are once around the room and no more than 2 m on: four quarter turns
    around = np.unwrap(np.arctan2(speeds[1:, 0, 1], speeds[1:, 0, 0]))
    assert (np.diff(around) > -1e-3).all()
    assert around[-1] - around[0] == pytest.approx(2.0 * np.pi, abs=1e-3)


def test_a_sharp_inner_corner_is_left_along_its_other_wall():
    wedge = [((0, 0), (-2, 8)), ((0, 0), (2, 8))]
    path, _, _ = walk(ObstacleZones(), [[0.2, 6, 0]], 24 * 30, wedge, [[0, -5, 0]])
    assert crossings(path, wedge) == 0
    assert np.linalg.norm(path[-1, 0] - [0, -5, 0]) < 0.1


def test_the_turn_is_no_faster_than_the_turn_rate():
    zones = ObstacleZones(turn_rate=120.0)
    path, speeds, states = walk(zones, [[4, 2, 0]], 24 * 12, L_WALL[:1], [[4, -4, 0]])
    turning = np.flatnonzero((states[1:, 0] == TURN) & (states[:-1, 0] == TURN)) + 1
    assert len(turning) > 5
    angle = np.arctan2(speeds[:, 0, 1], speeds[:, 0, 0])
    turned = np.abs(np.diff(np.unwrap(angle)))[turning - 1]
    np.testing.assert_allclose(turned, np.radians(120.0) * DT, rtol=1e-3)
    assert np.linalg.norm(path[-1, 0] - [4, -4, 0]) < 0.2


@pytest.mark.slow
def test_a_dead_end_is_left_around_its_arms():
    trap = [((-3, 6), (-3, 0)), ((-3, 0), (3, 0)), ((3, 0), (3, 6))]
    starts = [[0, 4, 0], [1, 8, 0], [-2, 3, 0], [2.5, 1, 0]]
    path, _, _ = walk(ObstacleZones(), starts, 24 * 60, trap, [[-6, -5, 0]])
    assert crossings(path, trap) == 0
    assert (np.linalg.norm(path[-1] - [-6, -5, 0], axis=1) < 0.1).all()


@pytest.mark.parametrize("others", [ARRIVE, (Seek(),)], ids=["arrive", "seek"])
@pytest.mark.parametrize("corners", [3, 4, 16])
def test_a_closed_obstacle_is_gone_around_even_when_the_goal_is_never_wholly_in_sight(
    corners, others
):
    angles = np.arange(corners) * 2 * np.pi / corners + 0.3
    pillar = outline([(2 * np.cos(a), 2 * np.sin(a)) for a in angles])
    # a screen far behind the pillar, in front of the goal
    screen = [((12, -9), (12, 9))]
    starts = [[-6, 0.01, 0], [-6, 1, 0], [-6, -1.5, 0], [-2.5, 0, 0]]
    path, _, states = walk(
        ObstacleZones(), starts, 24 * 12, pillar + screen, [[20, 0, 0]], others=others
    )
    assert crossings(path, pillar + screen) == 0
    assert (path[:, :, 0].max(axis=0) > 6.0).all()
    assert (states == SLIDE).any()


def test_a_goal_before_a_wall_is_reached_and_stayed_at():
    front = [((3, -3), (3, 3))]
    path, _, states = walk(
        ObstacleZones(), [[-3, 0.5, 0], [-3, -2, 0], [2.5, 2.5, 0]], 24 * 20, front, [[2.7, 0, 0]]
    )
    assert np.linalg.norm(path[-1] - [2.7, 0, 0], axis=1).max() < 1e-2
    assert not (states >= SLIDE).any()


def test_standing_agents_that_want_nothing_stay():
    after, made = step(ObstacleZones(), (0, 0, 0), colliders=[wall(x=0.5)])
    assert made.active[0] == 0
    np.testing.assert_array_equal(after.position, [[0, 0, 0]])


def test_without_targets_the_desired_velocity_is_the_goal():
    # only a wish to continue: the wall is slid along and forgotten at its end
    path, _, states = walk(
        ObstacleZones(),
        [[4, 3, 0]],
        24 * 20,
        L_WALL,
        None,
        [[0, -1, 0]],
        others=(Wander(jitter=0.0),),
    )
    assert crossings(path, L_WALL) == 0
    assert {PULL, SLIDE, TURN} <= set(states[:, 0])


@pytest.mark.parametrize("speed", [1.4, 14.0, 90.0])
def test_a_step_that_would_cross_is_shortened_at_any_speed(speed):
    room = outline([(0, 0), (6, 0), (6, 5), (3, 5), (3, 2), (0, 2)])
    starts = np.random.default_rng(1).uniform([0.2, 0.2, 0], [5.8, 1.8, 0], (20, 3))
    path, speeds, _ = walk(
        ObstacleZones(),
        starts,
        48,
        room,
        [[-30, 9, 0]],
        others=(Seek(),),
        agents={"max_speed": speed},
    )
    assert crossings(path, room) == 0
    np.testing.assert_allclose(np.diff(path, axis=0), speeds[1:] * DT, atol=1e-5)


def test_agents_that_another_behavior_puts_elsewhere_are_not_held_back(monkeypatch):
    definition = Seek.definition

    def put_behind_the_wall(start, stop, agents, world, p, memory, position, velocity):
        position[start:stop, 0] = 8.0

    constraint = SimpleNamespace(target=lambda: put_behind_the_wall)
    moved = definition._replace(constraint=constraint)
    monkeypatch.setattr(Seek, "definition", moved)
    after, _ = step(
        ObstacleZones(), (1, 0, 0), colliders=[wall(x=5.0)], others=[Seek()], target=[[20, 0, 0]]
    )
    assert after.position[0, 0] == 8.0


def test_flyers_go_around_a_box_without_touching_it():
    settings_ = crowd(Arrive(), ObstacleZones(), motion="FLY")
    starts = [[-5, 0, 0], [-5, 1, 1], [-5, -1.5, 0.5], [-2.4, 0.2, -0.3]]
    world = make_world(colliders=[box((0, 0, 0), (4, 4, 4))], targets=[[6, 0.5, 0.2]])
    positions, _ = run(settings_, starts, 24 * 20, world=world)
    assert not (np.abs(positions) < 2.0).all(axis=2).any()
    assert np.linalg.norm(positions[-1] - [6, 0.5, 0.2], axis=1).max() < 0.1


def test_mirrored_starts_go_mirrored_ways():
    zones, flip = ObstacleZones(), np.array([1.0, -1.0, 1.0])
    starts = np.array([[-5, 0.4, 0], [-4, 1.5, 0], [-5, -2, 0]])
    cross = [((0, -3), (0, 3)), ((-1, 3), (0, 3)), ((-1, -3), (0, -3))]
    target = np.array([[5, 1.0, 0]])
    path, _, states = walk(zones, starts, 24 * 12, cross, target)
    other, _, mirrored = walk(zones, starts * flip, 24 * 12, cross, target * flip)
    np.testing.assert_allclose(path, other * flip, atol=1e-4)
    np.testing.assert_array_equal(states, mirrored)


def test_on_a_slope_rays_go_along_the_ground():
    # 20° up along x, with a wall across: a level ray would meet the slope itself
    rise = np.tan(np.radians(20.0))
    a, b, c, d = ((x, y, x * rise) for x, y in ((-20, -20), (20, -20), (20, 20), (-20, 20)))
    hill = Mesh("hill", np.array([[a, b, c], [a, c, d]], np.float32))
    barrier = box((0, 0, 0), (1, 6, 30))
    world = make_world(colliders=[barrier], targets=[[8, 0.5, 8 * rise]], ground=hill)
    starts = [[x, y, x * rise] for x, y in ((-8, 0), (-6, 2), (-2, -1))]
    positions, _ = run(crowd(Arrive(), ObstacleZones()), starts, 24 * 24, world=world)
    np.testing.assert_allclose(positions[..., 2], positions[..., 0] * rise, atol=1e-3)
    assert not ((np.abs(positions[..., 0]) < 0.5) & (np.abs(positions[..., 1]) < 3.0)).any()
    assert np.abs(positions[-1, :, :2] - [8, 0.5]).max() < 0.1


def test_without_colliders_or_length_everybody_is_free():
    for zones, colliders in ((ObstacleZones(), []), (ObstacleZones(look_ahead=0.0), [wall(1.0)])):
        after, made = step(zones, (1, 0, 0), colliders=colliders)
        assert made.active[0] == 0
        assert after.memory["obstacle_zones"][0, 0] == FREE


@pytest.mark.parametrize("start", [[0, 0, 0], [0, 0.3, 0.1], [1, 0, 0]])
def test_inside_an_obstacle_and_on_its_face_agents_keep_moving(start):
    settings_ = crowd(Seek(), ObstacleZones())
    world = make_world(colliders=[box((0, 0, 0), (2, 2, 4))], targets=[[6, 0, 0]])
    positions, velocities = run(settings_, [start], 24 * 3, world=world)
    assert np.isfinite(positions).all()
    assert np.linalg.norm(np.diff(positions[:, 0], axis=0), axis=1).sum() > 1.0

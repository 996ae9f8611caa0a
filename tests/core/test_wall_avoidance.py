"""Wall avoidance: the spring in closed form, walls that hold, and advice when they cannot."""

from dataclasses import replace

import numpy as np
import pytest
from any_world import MIRROR, make_scene, settings_for, track
from crowdtools import box, crowd, place, run, wall
from hypothesis import given, settings
from hypothesis import strategies as st
from tried import tried

from steer_addon.core.agents import make_agents
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.behaviors.wall_avoidance.behavior import WallAvoidance
from steer_addon.core.behaviors.wall_avoidance.spring import spring_step
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.simulation import Simulation
from steer_addon.core.step.solver import Solver
from tests.often import often, pairs_of

BODY = {"mass": 2.0, "max_speed": 3.0}


def push(velocity, *, position=(0, 0, 0), colliders=None, motion="GROUND", fps=1e4, **more):
    """Proposal of one agent in a very short step: value and flag."""
    body = {**BODY, **more.pop("agents", {})}
    heading = more.pop("heading", None)
    solver = more.pop("solver", {})
    crowd_settings = crowd(WallAvoidance(**more), motion=motion, agents=body, **solver)
    agents = place(crowd_settings, position, velocity, heading=heading)
    world = make_world(colliders=[wall(2.0)] if colliders is None else colliders)
    made = Solver(crowd_settings).step(agents, world, 1 / fps, number=0).proposals[0]
    return made.value[0].astype(np.float64), bool(made.active[0])


def force(n, *, k, overshoot):
    """τ·k·overshoot·n for the first step, whose mean has felt the force for half of its time."""
    return 0.5 * k * overshoot * np.asarray(n) * 0.5


def test_a_short_step_gives_the_force_of_the_formula():
    value, _ = push((1, 0, 0), feeler_mode="FIXED", feeler_length=3.0, stiffness=4.0)
    np.testing.assert_allclose(value, force([-1, 0, 0], k=4.0, overshoot=1.0), rtol=2e-3, atol=1e-4)
    # AUTO: 3·√(2/0.5) = 6 m
    value, _ = push((1, 0, 0), stiffness=0.5)
    np.testing.assert_allclose(value, force([-1, 0, 0], k=0.5, overshoot=4.0), rtol=2e-3, atol=1e-4)


def test_later_steps_give_the_whole_force():
    fps = 2000.0
    crowd_settings = crowd(WallAvoidance(stiffness=0.5), agents=BODY)
    _, velocities = run(
        crowd_settings, (0, 0, 0), 20, (1, 0, 0), make_world(colliders=[wall(2.0)]), fps=fps
    )
    change = np.diff(velocities[:, 0, 0])[1:] * fps
    np.testing.assert_allclose(change, -0.5 * 4.0 / 2.0, rtol=2e-2)


def test_an_oblique_feeler_pushes_along_the_normal_by_what_is_behind():
    # 2 m in front of the wall at 30°: 4/√3 m along the straight feeler, farther along the others
    way = np.array([np.cos(np.pi / 6), np.sin(np.pi / 6), 0])
    value, _ = push(0.1 * way, feeler_mode="FIXED", feeler_length=3.0)
    overshoot = 3.0 - 4.0 / np.sqrt(3)
    np.testing.assert_allclose(value, force([-1, 0, 0], k=1, overshoot=overshoot), atol=1e-4)


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_side_feelers_are_half_as_long(motion):
    beside = {"position": (1.5, 0, 0), "feeler_mode": "FIXED", "feeler_length": 2.0}
    value, _ = push((0, 0.1, 0), motion=motion, **beside)
    overshoot = 1.0 - 0.5 * np.sqrt(2)
    np.testing.assert_allclose(value, force([-1, 0, 0], k=1, overshoot=overshoot), atol=1e-4)
    assert not push((0, 0.1, 0), motion=motion, **{**beside, "position": (1.2, 0, 0)})[1]
    assert not push((-1, 0, 0), motion=motion, **{**beside, "position": (1.2, 0, 0)})[1]


def test_flyers_feel_what_is_above_and_below():
    for side in (-1, 1):
        plate = [box((0, 0, side * 1.0), (20, 20, 1))]
        value, active = push(
            (1, 0, 0), colliders=plate, motion="FLY", feeler_mode="FIXED", feeler_length=2.0
        )
        assert active
        np.testing.assert_allclose(value[:2], 0.0, atol=1e-6)
        assert np.sign(value[2]) == -side


def test_hits_of_several_feelers_count_alike_at_the_right_and_at_the_left():
    # a world in which one agent has to be held by the hits of all of its feelers
    behavior, paths = WallAvoidance(feeler_mode="FIXED"), []
    settings = settings_for(behavior, "GROUND")
    for turn in (np.eye(3), MIRROR):
        paths.append(track(make_scene(1808, settings, turn), settings, 6) @ turn)
    np.testing.assert_allclose(paths[0], paths[1], atol=1e-5)


depths = st.floats(-2, 2)
speeds = st.floats(-20, 20)


@settings(max_examples=tried(300), deadline=None)
@given(depths, speeds, st.floats(0.01, 1e4), st.floats(0.01, 10), st.floats(1e-3, 1))
def test_the_spring_never_gains_energy_nor_gives_way(q, s, stiffness, room, dt):
    q = min(q, room)
    after, speed = spring_step(q, s, stiffness, room, dt)
    energy = [v * v + stiffness * max(d, 0.0) ** 2 for d, v in ((q, s), (after, speed))]
    assert energy[1] <= energy[0] * (1 + 1e-9) + 1e-12
    assert after <= max(q, room) + 1e-12
    if after > q:
        assert after - q <= s * dt * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize(("q", "s"), [(-0.1, 1.0), (0.2, 0.5), (0.3, -0.5), (0.3, 0.0), (-0.1, -1)])
def test_the_spring_follows_its_equation(q, s):
    stiffness, room, dt, parts = 9.0, 1.0, 0.3, 100_000
    depth, speed = q, s
    for _ in range(parts):
        speed -= stiffness * max(depth, 0.0) * dt / parts
        depth += speed * dt / parts
        if s > 0.0 and speed <= 0.0:
            speed = 0.0
            break
    assert spring_step(q, s, stiffness, room, dt) == pytest.approx((depth, speed), abs=1e-4)


def nearest_of_all(rng, count, dt, motion):
    """Head-on at full speed into a wall: the least distance of each agent as a share of L."""
    mass, stiffness = 10 ** rng.uniform(-1, 2, count), 10 ** rng.uniform(0, 3, count)
    speed = 10 ** rng.uniform(-1, 1.3, count)
    reach = speed * np.sqrt(mass / stiffness)
    # far enough to touch the wall at any part of a step
    away = reach + speed * dt * rng.uniform(0, 3, count)
    agents = make_agents(
        np.outer(-away, [1, 0, 0]),
        radius=0.25,
        mass=1.0,
        max_speed=1.0,
        max_force=1.0,
        velocity=np.outer(speed, [1, 0, 0]),
        attributes={
            "mass": mass,
            "max_speed": speed,
            "max_force": stiffness * reach,
            "stiffness": stiffness,
        },
    )
    sim = Simulation(crowd(WallAvoidance(), motion=motion), agents, frame=1, fps=1 / dt)
    world = make_world(colliders=[wall(0.0)])
    nearest = np.full(count, np.inf)
    # a quarter of the slowest oscillation, the way there, and some more to see them leave
    for _ in range(int((np.pi / 2 * np.sqrt(mass / stiffness).max()) / dt) + 30):
        frame = sim.step(world)
        nearest = np.minimum(nearest, -frame.position[:, 0])
    assert (frame.velocity[:, 0] <= 0.0).all()
    return nearest / reach


@pytest.mark.slow
@pytest.mark.parametrize("count", often([6, 250], 6))
@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_random_agents_stop_head_on_within_two_percent(motion, count):
    # other steps when flying, so that twice as many lengths of a step are tried, in a run each
    rng = np.random.default_rng(24 + (motion == "FLY"))
    steps = 1 / 24 * 10 ** rng.uniform(-1.5, 0, count)
    steps[0] = 1 / 24
    assert len(set(steps)) == count
    nearest = np.concatenate([nearest_of_all(rng, 2, dt, motion) for dt in steps])
    assert len(nearest) == 2 * count
    assert nearest.min() >= 0.0
    assert nearest.max() <= 0.02


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_feelers_that_start_inside_of_a_wall_keep_agents_there(motion):
    rng = np.random.default_rng(8)
    flat = np.array([1.0, 1.0, float(motion == "FLY")])
    start = rng.uniform(-0.19, 0.19, (100, 3)) * flat
    velocity = rng.uniform(-0.7, 0.7, (100, 3)) * flat
    world = make_world(colliders=[box((0, 0, 0), (0.4, 40, 40))], targets=[[5, 0, 0]])
    positions, velocities = run(
        crowd(Seek(), WallAvoidance(), motion=motion), start, 240, velocity, world
    )
    assert np.abs(positions[..., 0]).max() < 0.2
    assert np.linalg.norm(velocities, axis=2).max() <= 1.4 * (1 + 1e-5)


@pytest.mark.parametrize(
    ("feelers", "fps", "motion"),
    pairs_of(
        ({}, {"stiffness": 30.0}, {"feeler_mode": "FIXED", "feeler_length": 0.4}),
        (24, 60),
        ("GROUND", "FLY"),
    ),
)
def test_oblique_agents_never_pass_with_or_without_a_goal_behind(fps, motion, feelers):
    rng = np.random.default_rng(7)
    count = 100
    tilt, turn = rng.uniform(-1.5, 1.5, count), rng.uniform(0, 2 * np.pi, count)
    turn *= motion == "FLY"
    way = np.stack([np.cos(tilt), np.sin(tilt) * np.cos(turn), np.sin(tilt) * np.sin(turn)], 1)
    start = -way * rng.uniform(1.5, 3.0, (count, 1))
    speed = rng.uniform(0.3, 1.4, (count, 1))
    world = make_world(colliders=[wall(0.0, 100.0, 200.0)], targets=[[5, 0, 0]])
    for goals in ((), (Seek(),)):
        crowd_settings = crowd(*goals, WallAvoidance(**feelers), motion=motion)
        positions, velocities = run(
            crowd_settings, start, 6 * fps, way * speed, world=world, fps=float(fps)
        )
        assert positions[..., 0].max() < 0.0
        if not goals and "feeler_mode" in feelers:
            # no feeler reaches a wall before it is needed, so that none adds to the motion
            fastest = np.linalg.norm(velocities, axis=2).max(axis=0)
            assert (fastest <= speed[:, 0] * (1 + 1e-5)).all()


@pytest.mark.parametrize("fps", [24, 96])
def test_corners_hold_too(fps):
    rng = np.random.default_rng(3)
    first = wall(0.0, width=60.0)
    second = Mesh("second", first.triangles[:, :, [1, 0, 2]])
    start = rng.uniform(-4, -2, (200, 3)) * [1, 1, 0]
    way = rng.uniform(-0.7, 0, (200, 3)) * [1, 1, 0] - start
    velocity = 1.4 * way / np.linalg.norm(way, axis=1)[:, None]
    world = make_world(colliders=[first, second])
    positions, _ = run(crowd(WallAvoidance()), start, 6 * fps, velocity, world, fps=float(fps))
    assert positions[..., :2].max() < 0.0


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_agents_inside_a_box_stay_there_whatever_they_seek(motion):
    rng = np.random.default_rng(0)
    flat = np.array([1.0, 1.0, float(motion == "FLY")])
    goals = rng.normal(size=(100, 3)) * flat
    goals *= 12 / np.linalg.norm(goals, axis=1)[:, None]
    world = make_world(colliders=[box((0, 0, 0), (4, 4, 4))], targets=goals)
    start = rng.uniform(-1.8, 1.8, (100, 3)) * flat
    crowd_settings = crowd(Seek(target_choice="BY_ID"), WallAvoidance(), motion=motion)
    positions, _ = run(crowd_settings, start, 300, world=world)
    assert np.abs(positions).max() < 2.0


def test_what_others_do_to_the_velocity_counts():
    # slow agents turn early; one that is sped up on its way still stops where a fast one would
    settings_ = crowd(WallAvoidance(stiffness=4.0), agents={"mass": 1.0, "max_speed": 2.0})
    sim = Simulation(settings_, place(settings_, (-1.2, 0, 0), (1, 0, 0)), frame=1, fps=24.0)
    world = make_world(colliders=[wall(0.0)])
    nearest = 1.2
    for step in range(60):
        if step == 8:
            sim.agents.velocity[:] = (2, 0, 0)
        nearest = min(nearest, -float(sim.step(world).position[0, 0]))
    assert 0.0 <= nearest <= 0.02


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_extremes_make_no_proposal_or_a_finite_one(motion):
    assert not push((1, 0, 0), motion=motion, feeler_mode="FIXED", feeler_length=0.0)[1]
    assert not push((0, 0, 0), motion=motion, agents={"max_speed": 0.0})[1]
    assert not push((1, 0, 0), motion=motion, colliders=[])[1]
    # at rest in front of the wall, and facing away from it
    value, _ = push((0, 0, 0), motion=motion, heading=[[1, 0, 0]])
    assert value[0] < 0.0
    assert not push((0, 0, 0), motion=motion, heading=[[-1, 0, 0]])[1]
    # exactly on the wall, and faster than the step is long
    assert np.isfinite(push((1, 0, 0), motion=motion, position=(2, 0, 0))[0]).all()
    value, active = push((1e6, 0, 0), motion=motion, fps=24.0)
    assert active and np.isfinite(value).all()


number = st.floats(-1e6, 1e6, width=32)
vector = st.tuples(number, number, number)


@settings(max_examples=tried(60), deadline=None)
@given(
    st.sampled_from(["GROUND", "FLY"]),
    vector,
    vector,
    st.floats(0, 1e6),
    st.floats(1e-3, 1e6),
    st.floats(1e-3, 1e6),
    st.floats(1, 1e4),
)
def test_proposals_are_finite(motion, position, velocity, top, mass, stiffness, fps):
    for near in (position, (1.9, 0.0, 0.0)):
        value, _ = push(
            velocity,
            position=near,
            motion=motion,
            fps=fps,
            stiffness=stiffness,
            agents={"mass": mass, "max_speed": top},
            colliders=[wall(2.0), box((0, 0, 0), (9, 9, 9))],
        )
        assert np.isfinite(value).all()


def test_under_vex_agents_turn_back_and_stay_finite():
    solver = {"solver": "VEX", "acc_weight": 0.3}
    world = make_world(colliders=[wall(0.0)])
    positions, velocities = run(
        crowd(WallAvoidance(), **solver), (-2, 0, 0), 100, (1, 0.2, 0), world
    )
    assert np.isfinite(velocities).all()
    assert positions[..., 0].max() < 0.0


def advice(avoid, **body):
    settings_ = crowd(avoid, agents=body)
    said = settings_.behaviors[0].advice(settings_)
    assert settings_.advice() == said
    # an agent that does not act needs nothing
    resting = replace(settings_, behaviors=(replace(avoid, enabled=False),))
    assert resting.advice() == []
    return said


def told(avoid, attributes=None, count=3, **more):
    """Advice for agents with attributes of their own."""
    settings_ = crowd(avoid, agents={"mass": 4.0, "max_speed": 2.0, "max_force": 12.0, **more})
    agents = place(settings_, np.zeros((count, 3)), attributes=attributes)
    return settings_.advice(agents), agents, settings_


def test_attributes_count_before_the_settings():
    avoid = WallAvoidance(stiffness=9.0)
    assert told(avoid)[0] == []
    (said,) = told(avoid, {"max_force": [12.0, 11.0, 3.0]})[0]
    assert (said.code, said.subject) == ("WALL_FORCE_TOO_WEAK_FOR_SOME", "Wall Avoidance")
    assert said.values == {
        "lacking": 2, "total": 3, "needed": 12.0, "force": 3.0, "lower": "less stiffness"
    }  # fmt: skip
    # 3·√(4·9), √(16·9)·2 and 2·√(4·16): what the neediest need is enough for all
    for name, values, needed in (
        ("max_speed", [2, 2, 3], (18.0, 1)),
        ("mass", [4, 16, 1], (24.0, 1)),
        ("stiffness", [16, 9, 9], (16.0, 1)),
        ("wall_avoidance.stiffness", [16, 16, 16], (16.0, 3)),
    ):
        (said,) = told(avoid, {name: values})[0]
        assert (said.values["needed"], said.values["lacking"]) == needed
        assert (said.code == "WALL_FORCE_TOO_WEAK") == (needed[1] == 3)
    # settings that are too weak do not count where attributes give enough
    assert told(avoid, {"max_force": [12.0] * 3}, max_force=1.0)[0] == []


def test_the_dead_need_no_force():
    _, agents, settings_ = told(WallAvoidance(stiffness=9.0), {"max_force": [12.0, 1.0, 12.0]})
    assert len(settings_.advice(agents)) == 1
    agents.alive[1] = 0
    assert settings_.advice(agents) == []


def test_too_little_force_is_said_with_the_way_out():
    walker = {"mass": 4.0, "max_speed": 2.0}
    assert advice(WallAvoidance(stiffness=9.0), **walker, max_force=12.0) == []
    (said,) = advice(WallAvoidance(stiffness=9.0), **walker, max_force=11.5)
    assert (said.code, said.subject) == ("WALL_FORCE_TOO_WEAK", "Wall Avoidance")
    assert (said.values["needed"], said.values["force"]) == (12.0, 11.5)
    assert said.values["lower"] == "less stiffness"
    # half a meter for 4 kg at 2 m/s takes 4·2²/0.5 N
    short = WallAvoidance(feeler_mode="FIXED", feeler_length=0.5)
    (said,) = advice(short, **walker, max_force=30.0)
    assert (said.values["needed"], said.values["lower"]) == (32.0, "longer feelers")
    assert advice(short, **walker, max_force=32.0) == []
    assert advice(Seek(), **walker, max_force=0.0) == []
    vex = crowd(WallAvoidance(), solver="VEX", agents={"max_force": 0.0})
    assert vex.behaviors[0].advice(vex) == []

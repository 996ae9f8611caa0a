"""The quickest target: walking and waiting, agents that change the target or keep it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from crowdtools import crowd, place, run, same_bits, simulation

from steer_addon.core.agents import make_agents
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.inputs.targets import make_targets, remembered_target
from steer_addon.core.inputs.world import World, make_world
from steer_addon.core.step import quickest
from steer_addon.core.step.choosing import decided

BODY = {"radius": 0.2, "mass": 1.0, "max_speed": 1.0, "max_force": 1.0}
DOORS = make_targets([[0.0, 0, 0], [30.0, 0, 0]])
NONE = -1


def choose(points, held=None, number=0, flow=1.0, dt=1.0, targets=DOORS, **more):
    """Choices of agents at points; with dt 1 all agents choose in every step."""
    agents = make_agents(np.array(points, np.float32), **BODY, **more)
    held = np.full(agents.count, NONE) if held is None else np.array(held)
    flows = np.broadcast_to(flow, agents.count)
    return quickest.choose(targets, agents, held, flows, dt, number)


def queue(count, x=1.0):
    """Agents one behind the other, the first at x."""
    return [(x + 0.5 * k, 0.0, 0.0) for k in range(count)]


def test_alone_everybody_takes_the_nearest():
    assert choose([(14.0, 0, 0), (16.0, 0, 0)]).tolist() == [0, 1]


def test_those_without_a_target_count_one_another():
    # 100 in 10 m before the one door, one served per second: the farthest take the other one,
    # until both queues are as long
    line = [(0.1 * k, 0.0, 0.0) for k in range(100)]
    rows = choose(line)
    assert (np.diff(rows) >= 0).mean() > 0.95
    assert 45 <= rows.sum() <= 55
    # with a wide door nobody has to wait
    assert choose(line, flow=50.0).tolist() == [0] * 100


def test_who_walks_longer_than_others_wait_does_not_count_them():
    # five are served until it is there
    assert choose([*queue(5), (14.0, 0, 0)], held=[0] * 6)[-1] == 0


def test_the_last_of_a_long_queue_goes_to_the_other_door():
    people = [*queue(20), (10.5, 0.0, 0.0)]
    # 20 s of waiting against 19.5 m: not worth it; with 28 before it, it is
    assert choose(people, held=[0] * 21)[-1] == 0
    people = [*queue(20), *queue(8), (10.5, 0.0, 0.0)]
    assert choose(people, held=[0] * 29)[-1] == 1
    # those before the far door count too
    crowded = [*people, *((30.0 - 0.1 * k, 0.0, 0.0) for k in range(30))]
    assert choose(crowded, held=[0] * 29 + [1] * 30)[28] == 0


@pytest.mark.parametrize(("waiting", "moves"), [(23, False), (27, True)])
def test_it_has_to_be_sooner_by_a_fifth_of_the_time(waiting, moves):
    # the other one is reached in 20 s
    people = [(0.01 * k, 0.0, 0.0) for k in range(waiting)] + [(10.0, 0.0, 0.0)]
    assert choose(people, held=[0] * (waiting + 1))[-1] == int(moves)


def test_each_thinks_about_it_once_a_second_at_a_moment_of_its_own():
    people = [*((0.01 * k, 0.0, 0.0) for k in range(40)), *((10.0, k, 0.0) for k in range(4))]
    at = [[choose(people, held=[0] * 44, number=n, dt=0.25)[40 + k] for k in range(4)]
          for n in range(4)]  # fmt: skip
    assert np.sum(at, axis=0).tolist() == np.sum(at, axis=1).tolist() == [1] * 4


def test_who_has_arrived_waits_for_nothing():
    people = [(0.01 * k, 0.0, 0.0) for k in range(40)] + [(10.0, 0.0, 0.0)]
    agents = make_agents(np.array(people, np.float32), **BODY)
    agents.arrived[:40] = 1
    rows = quickest.choose(DOORS, agents, np.zeros(41, np.int64), np.ones(41), 1.0, 0)
    assert rows[-1] == 0


def test_the_attribute_target_index_wins_and_counts():
    people = [*((0.01 * k, 0.0, 0.0) for k in range(40)), (10.0, 0.0, 0.0)]
    index = [0] * 40 + [NONE]
    rows = choose(people, attributes={"target_index": index})
    assert rows.tolist() == [0] * 40 + [1]
    assert choose(people, attributes={"target_index": [5] * 41}).tolist() == [1] * 41


def test_the_order_of_agents_does_not_matter():
    rng = np.random.default_rng(1)
    points, ids = rng.uniform(0, 30, (200, 3)), rng.permutation(200)
    held = rng.integers(-1, 2, 200)
    plain = choose(points, held, ids=ids, dt=0.25)
    order = rng.permutation(200)
    assert choose(points[order], held[order], ids=ids[order], dt=0.25).tolist() == (
        plain[order].tolist()
    )


def test_targets_that_are_gone_are_chosen_anew():
    assert choose([(1.0, 0, 0)], held=[7]).tolist() == [0]


SEEK = Seek(target_choice="QUICKEST", target_flow=1.0)
WORLD = make_world(targets=DOORS.position)
LINE = np.array([(0.1 * k, 0.0, 0.0) for k in range(100)])


def test_behaviors_go_to_the_quickest_target_and_keep_to_it():
    settings = crowd(SEEK, agents={"max_speed": 1.0})
    sim = simulation(settings, LINE)
    sim.step(WORLD)
    first = remembered_target(SEEK, sim.agents)
    assert 40 < (first == 1).sum() < 60
    assert (sim.agents.velocity[first == 1, 0] > 0.0).all()
    for _ in range(48):
        sim.step(WORLD)
    # hardly anybody dithers
    assert (remembered_target(SEEK, sim.agents) != first).sum() <= 5


def test_going_on_from_any_frame_gives_the_same_bits():
    settings = crowd(SEEK, agents={"max_speed": 1.0})
    whole, part = simulation(settings, LINE), simulation(settings, LINE)
    for _ in range(10):
        part.step(WORLD)
    resumed = simulation(settings, LINE)
    resumed.agents, resumed.frame = part.agents.copy(), part.frame
    for _ in range(30):
        whole.step(WORLD)
    for _ in range(20):
        resumed.step(WORLD)
    assert same_bits(whole.agents, resumed.agents)


def test_nobody_s_choice_reaches_another_behavior():
    two = crowd(SEEK, replace(SEEK, name="other", target="other"), agents={"max_speed": 1.0})
    world = make_world(targets={"": DOORS.position, "other": [[5.0, 9.0, 0.0]]})
    sim = simulation(two, LINE)
    sim.step(world)
    assert (sim.agents.memory["seek.target"] != sim.agents.memory["other.target"]).any()


def test_no_targets_and_the_crowd_itself_are_no_trouble():
    settings = crowd(SEEK)
    positions, _ = run(settings, LINE[:3], 2, world=World())
    assert np.isfinite(positions).all()
    agents = place(settings, LINE[:3])
    own = make_targets(agents.position, own=True)
    assert "seek.target" not in (
        decided(agents, World(targets={"": own}), settings, 0.1, 0, 0).memory
    )

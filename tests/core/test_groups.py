"""Groups: who is in them, and behaviors, goals and speeds that are for some groups only."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from any_world import make_scene, play, settings_for, track, variants_in_turns
from crowdtools import crowd, place, run, same_bits, scatter, simulation
from hypothesis import given
from hypothesis import strategies as st

from steer_addon.core.agents import Agents
from steer_addon.core.behaviors import REGISTRY
from steer_addon.core.behaviors.arrive import Arrive
from steer_addon.core.behaviors.flee import Flee
from steer_addon.core.behaviors.flock.separation import Separation
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.behaviors.wander import Wander
from steer_addon.core.compiled import jit
from steer_addon.core.crowd.groups import GroupSettings
from steer_addon.core.crowd.membership import joined, members
from steer_addon.core.crowd.overrides import with_override
from steer_addon.core.crowd.settings import CrowdSettings
from steer_addon.core.crowd.spread import spread
from steer_addon.core.errors import ParameterError
from steer_addon.core.explain.explanation import ask
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.around import look_around
from steer_addon.core.step.simulation import Simulation
from tests.diagnosed import codes

MANY = 20_000


def by_share(**shares: float) -> tuple[GroupSettings, ...]:
    """Groups by share, by their names."""
    return tuple(GroupSettings(name=name, share=share) for name, share in shares.items())


def by_attribute(*names: str) -> tuple[GroupSettings, ...]:
    """Groups that point attributes of their names say."""
    return tuple(GroupSettings(name=name, source="ATTRIBUTE") for name in names)


def with_groups(settings: CrowdSettings, *groups: GroupSettings) -> CrowdSettings:
    return replace(settings, groups=groups)


def drawn(ids, seed=0, **shares):
    """Members of groups by share, by the names of the groups."""
    settings = with_groups(crowd(seed=seed), *by_share(**shares))
    return members(settings, np.asarray(ids), {})


def test_shares_divide_a_crowd():
    found = drawn(range(MANY), tourists=0.3, police=0.2)
    for name, share in {"tourists": 0.3, "police": 0.2}.items():
        expected = MANY * share
        assert abs(found[name].sum() - expected) < 5.0 * math.sqrt(expected * (1.0 - share))
    assert not (found["tourists"] & found["police"]).any()


@pytest.mark.parametrize(("share", "count"), [(0.0, 0), (1.0, 1000)])
def test_nobody_and_everybody(share, count):
    assert drawn(range(1000), all=share)["all"].sum() == count


def test_shares_beyond_all_agents_get_nobody():
    found = drawn(range(1000), first=0.75, second=0.5, third=0.5)
    assert (found["first"] ^ found["second"]).all()
    assert not found["third"].any()


@given(st.lists(st.integers(-(2**63), 2**63 - 1), unique=True, min_size=1, max_size=50))
def test_an_agent_stays_in_its_group_whatever_others_there_are(ids):
    found = drawn(ids, seed=5, tourists=0.4)["tourists"]
    alone = [drawn([number], seed=5, tourists=0.4)["tourists"][0] for number in ids]
    assert found.tolist() == alone


def test_seeds_draw_other_members_and_no_group_is_the_faster_one():
    first, second = (drawn(range(MANY), seed=k, half=0.5)["half"] for k in (1, 2))
    assert abs((first == second).mean() - 0.5) < 0.02
    # sizes and speeds are drawn independently
    speeds = spread(crowd(seed=1, agents={"speed_spread": 0.5}), np.arange(MANY))["max_speed"]
    assert abs(speeds[first].mean() - speeds[~first].mean()) < 0.02


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [1, 1, 1, 1]),
        ("a", [1, 1, 0, 0]),
        ("!a", [0, 0, 1, 1]),
        ("a,b", [1, 1, 1, 0]),
        (" b , a ", [1, 1, 1, 0]),
        ("a, !b", [1, 0, 0, 0]),
        ("!a, ! b", [0, 0, 0, 1]),
        ("nowhere", [0, 0, 0, 0]),
        ("!nowhere", [1, 1, 1, 1]),
        (", ,", [1, 1, 1, 1]),
        ("A", [0, 0, 0, 0]),
    ],
)
def test_lists_of_groups(text, expected):
    attributes = {"a": [1, 1, 0, 0], "b": [0, 0.51, 2, 0.5]}
    settings = with_groups(crowd(), *by_attribute("a", "b"))
    agents = joined(place(settings, scatter(4, 5), attributes=attributes), settings)
    assert agents.among(text).tolist() == [bool(value) for value in expected]
    rows = np.array([2, 0])
    assert agents.taken(rows).among(text).tolist() == [bool(expected[k]) for k in rows]


def halves(count: int) -> dict[str, np.ndarray]:
    """Every second agent is in the group `half`."""
    return {"half": np.arange(count) % 2.0}


def with_halves(agents: Agents) -> Agents:
    return replace(agents, attributes={**agents.attributes, **halves(agents.count)})


@variants_in_turns("GROUND")
def test_a_behavior_leaves_those_alone_that_it_is_not_for(entry, motion):
    entry = replace(entry, group="half")
    settings = with_groups(settings_for(entry, motion), *by_attribute("half"))
    scene = make_scene(2, settings)
    scene = replace(scene, agents=with_halves(scene.agents))
    inside = halves(scene.agents.count)["half"] > 0.5
    found = play(scene, settings, 10).agents
    without = play(scene, settings_for(None, motion), 10).agents
    for name in ("position", "velocity", "heading", "normal", "roll"):
        assert np.array_equal(getattr(found, name)[~inside], getattr(without, name)[~inside])
    # their part of the work is not done either
    assert not any(memory[~inside].any() for memory in found.memory.values())


@pytest.mark.parametrize("combine", ["WEIGHTED_SUM", "PRIORITY"])
@pytest.mark.parametrize("solver", ["REYNOLDS", "VEX"])
def test_for_its_members_a_behavior_is_what_it_is_without_groups(solver, combine):
    told = {"solver": solver, "combine": combine}
    entry = Separation(neighbor_distance=3.0)
    settings = with_groups(
        settings_for(replace(entry, group="all"), "GROUND", **told), *by_attribute("all")
    )
    scene = make_scene(3, settings)
    everyone = {"all": np.ones(scene.agents.count, np.float32)}
    plain = track(scene, settings_for(entry, "GROUND", **told), 10)
    scene = replace(scene, agents=replace(scene.agents, attributes=everyone))
    assert np.array_equal(track(scene, settings, 10), plain)


@pytest.mark.parametrize("solver", ["REYNOLDS", "VEX"])
def test_each_group_has_its_own_weight(solver):
    points, goal = scatter(40, 8), [[1.0, 2.0, 0.0]]
    half = halves(40)
    flee = {"panic_radius": 50.0}
    stack = (
        Seek(),
        Flee(group="half", weight=0.75, **flee),
        Flee(group="!half", weight=0.25, **flee),
    )
    settings = with_groups(crowd(*stack, solver=solver), *by_attribute("half"))
    found, _ = run(settings, points, 20, target=goal, attributes=half)
    weights = {"flee.weight": np.where(half["half"] > 0.5, 0.75, 0.25)}
    settings = crowd(Seek(), Flee(**flee), solver=solver)
    expected, _ = run(settings, points, 20, target=goal, attributes=weights)
    assert np.array_equal(found, expected)
    assert not np.array_equal(found[-1], found[0])


def test_weights_of_points_count_within_the_group():
    own = {"half": [0, 0, 1, 1], "seek.weight": [2.0, 0.0, 2.0, 0.0]}
    settings = with_groups(crowd(Seek(group="half")), *by_attribute("half"))
    found, _ = run(settings, scatter(4, 4), 5, target=[[9, 9, 0]], attributes=own)
    assert (found[-1] != found[0]).any(axis=1).tolist() == [False, False, True, False]


def test_neighbors_are_looked_for_by_members_only():
    settings = with_groups(crowd(Separation(group="half")), *by_attribute("half"))
    agents = joined(place(settings, scatter(60, 4), attributes=halves(60)), settings)
    (near,) = look_around(settings.stack, agents).lists.values()
    counts = near.count.reshape(-1, 2).sum(axis=0)
    assert counts[0] == 0 < counts[1]


def test_each_group_goes_to_its_own_target_and_arrives_there():
    names = ("left", "right")
    ways = [Arrive(name=name, group=name, target=name) for name in names]
    settings = crowd(*ways, agents={"radius": 0.2})
    settings = with_groups(settings, *by_attribute(*names))
    bodies = replace(settings.bodies, on_arrival="HOLD_AREA", collide_agents=True)
    settings = replace(settings, bodies=bodies)
    left = np.arange(12) < 6
    own = {"left": left, "right": ~left}
    points = scatter(12, 4)
    goals = {"left": [[-8, 0, 0]], "right": [[8, 0, 0]]}
    sim = simulation(settings, points, attributes=own)
    world = make_world(targets=goals)
    for _ in range(400):
        sim.step(world)
    assert sim.agents.arrived.all()
    for k, goal in enumerate([left, ~left]):
        away = np.linalg.norm(sim.agents.position[goal] - [(-8, 0, 0), (8, 0, 0)][k], axis=1)
        assert away.max() < 1.2
    assert np.linalg.norm(sim.agents.velocity, axis=1).max() == 0.0


def test_who_leaves_does_so_at_the_goal_of_its_group():
    stack = (Seek(group="out", target="door"), Seek(name="stay"))
    settings = with_groups(crowd(*stack), *by_attribute("out"))
    settings = replace(settings, bodies=replace(settings.bodies, on_arrival="LEAVE"))
    own = {"out": [1, 0, 1, 0]}
    points = [[0, 0, 0], [0, 1, 0], [0, 2, 0], [0, 3, 0]]
    sim = simulation(settings, points, attributes=own)
    world = make_world(targets={"door": [[3, 1, 0]], "": [[500, 0, 0]]})
    for _ in range(150):
        sim.step(world)
    assert sim.agents.alive.tolist() == [0, 1, 0, 1]


def test_posts_are_for_the_guards():
    guards = np.arange(10) >= 7
    entry = Seek(group="guards", target_choice="ASSIGNED")
    settings = with_groups(crowd(entry), *by_attribute("guards"))
    posts = [[x, 5.0, 0.0] for x in (-3.0, 0.0, 3.0)]
    sim = simulation(settings, scatter(10, 4), attributes={"guards": guards})
    for _ in range(200):
        sim.step(make_world(targets=posts))
    places = sim.agents.position
    away = np.linalg.norm(places[guards][:, None] - np.array(posts), axis=2)
    assert sorted(away.argmin(axis=1)) == [0, 1, 2]
    assert away.min(axis=1).max() < 1.0
    assert np.array_equal(places[~guards], scatter(10, 4)[~guards])
    assert codes(sim.warnings) == []


def test_only_members_walk_together():
    together = REGISTRY["keep_together"]
    entry = together(group="half", alone_share=0.0, pair_share=1.0, three_share=0.0, four_share=0.0)
    settings = with_groups(crowd(Seek(), entry), *by_attribute("half"))
    sim = simulation(settings, scatter(40, 4), attributes=halves(40))
    sim.step(make_world(targets=[[50, 0, 0]]))
    numbers = sim.agents.memory["keep_together"][:, 0]
    assert not numbers[::2].any()
    _, sizes = np.unique(numbers[1::2], return_counts=True)
    assert sizes.max() == 2 and (sizes == 2).sum() >= 5


def test_speeds_of_groups():
    slow = GroupSettings(name="slow", share=0.5, speed=0.5)
    late = GroupSettings(name="late", source="ATTRIBUTE", speed=2.0)
    settings = with_groups(crowd(agents={"max_speed": 1.5}), slow, late)
    ids = np.arange(100)
    inside = members(settings, ids, {})["slow"]
    plain = spread(settings, ids)
    assert set(plain) == {"max_speed"}
    assert np.array_equal(plain["max_speed"], np.where(inside, 0.75, 1.5).astype(np.float32))
    both = spread(settings, ids, {"late": ids < 50})["max_speed"]
    factor = np.where(ids < 50, 2.0, 1.0)
    assert np.array_equal(both, (np.where(inside, 0.75, 1.5) * factor).astype(np.float32))
    differing = replace(settings, agents=replace(settings.agents, speed_spread=0.2))
    without = spread(replace(differing, groups=()), ids)["max_speed"]
    mixed = spread(differing, ids)["max_speed"]
    assert np.allclose(mixed, without * np.where(inside, 0.5, 1.0), rtol=1e-6)
    assert spread(replace(settings, groups=by_share(slow=0.5)), ids) == {}


def test_what_is_wrong_is_said():
    stack = (Seek(group="turists, !guards"), Wander(group="nobody", enabled=False))
    groups = (*by_share(few=0.0), *by_attribute("guards", "rare"))
    groups = (*groups, GroupSettings(name="marked", source="VERTEX_GROUP"))
    settings = with_groups(crowd(*stack), *groups)
    own = {"rare": [0.5, 0.0], "guards": [1.0, 0.0]}
    points = [[0, 0, 0], [1, 0, 0]]
    sim = simulation(settings, points, attributes=own)
    told = {(found.code, found.subject) for found in sim.warnings}
    assert told == {
        ("GROUP_UNKNOWN", "Seek"),
        ("GROUP_EMPTY", "few"),
        ("GROUP_EMPTY", "rare"),
        ("GROUP_WITHOUT_SOURCE", "marked"),
    }
    sim.step(make_world(targets=[[9, 0, 0]]))
    assert np.array_equal(sim.agents.position, np.float32(points)), "nobody is in it"
    weights = {"vertex group marked": [0.4, 0.6]}
    sim = simulation(settings, points, attributes={**own, **weights})
    assert sim.agents.among("marked").tolist() == [False, True]


def test_neither_threads_nor_resuming_nor_order_change_a_bit():
    stack = (
        Seek(group="tourists"),
        Wander(group="!tourists"),
        Separation(group="police", neighbor_distance=3.0),
    )
    settings = with_groups(crowd(*stack), *by_share(tourists=0.5, police=0.3))
    points, world = scatter(600, 30), make_world(targets=[[0, 0, 0]])
    found = []
    for threads in (1, 3):
        jit.set_threads(threads)
        sim = simulation(settings, points)
        for _ in range(20):
            sim.step(world)
        found.append(sim.agents)
    half = simulation(settings, points)
    for _ in range(9):
        half.step(world)
    rest = Simulation(settings, half.agents, frame=1, fps=24.0, placed=True)
    rest.frame = half.frame
    for _ in range(11):
        rest.step(world)
    order = np.random.default_rng(1).permutation(600)
    mixed = Simulation(settings, place(settings, points).taken(order), frame=1, fps=24.0)
    for _ in range(20):
        mixed.step(world)
    assert same_bits(found[0], found[1])
    assert same_bits(found[0], rest.agents)
    assert same_bits(found[0].taken(order), mixed.agents)


def test_a_row_that_becomes_another_agent_is_in_the_groups_of_that_one():
    settings = with_groups(crowd(Seek(group="tourists")), *by_share(tourists=0.5))
    sim = simulation(settings, scatter(50, 10))
    sim.step(make_world(targets=[[0, 0, 0]]))
    sim.agents.id[:] = np.arange(1000, 1050)
    before = sim.agents.velocity.copy()
    sim.agents.velocity[:] = 0.0
    sim.step(make_world(targets=[[0, 0, 0]]))
    inside = drawn(range(1000, 1050), tourists=0.5)["tourists"]
    assert np.array_equal(np.linalg.norm(sim.agents.velocity, axis=1) > 0.0, inside)
    assert not np.array_equal(np.linalg.norm(before, axis=1) > 0.0, inside)


def test_answers_tell_who_is_in_which_group():
    settings = with_groups(crowd(Seek(group="half")), *by_attribute("half"))
    agents = place(settings, scatter(4, 4), attributes=halves(4))
    answer = ask(settings, agents, make_world(targets=[[9, 9, 0]]), 1 / 24, 0)
    assert [answer.agent(k).groups for k in range(4)] == [(), ("half",), (), ("half",)]
    assert [answer.agent(k).parts[0].active for k in range(4)] == [False, True, False, True]
    assert answer.agent(0).parts[0].share == 0.0


@pytest.mark.parametrize(
    "groups",
    [
        "tourists",
        {"name": "tourists"},
        ["tourists"],
        [{}],
        [{"name": ""}],
        [{"name": "a,b"}],
        [{"name": "!a"}],
        [{"name": " a"}],
        [{"name": 3}],
        [{"name": "a", "share": 1.1}],
        [{"name": "a", "share": float("nan")}],
        [{"name": "a", "share": "half"}],
        [{"name": "a", "speed": -1.0}],
        [{"name": "a", "source": "COLOR"}],
        [{"name": "a", "characters": ["Man"]}],
        [{"name": "a", "weight": 1.0}],
        [{"name": "a"}, {"name": "a"}],
        [{"name": str(k)} for k in range(101)],
    ],
)
def test_groups_that_cannot_be_are_refused(groups):
    with pytest.raises(ParameterError, match="group"):
        CrowdSettings.from_dict({"groups": groups})


def test_groups_are_kept_in_plain_data():
    groups = (
        GroupSettings(name="old people", share=0.125, speed=0.5, characters="Man, Woman"),
        GroupSettings(name="b", source="VERTEX_GROUP"),
    )
    settings = with_groups(crowd(Seek(group="old people, !b")), *groups)
    assert CrowdSettings.from_dict(settings.to_dict()) == settings


def test_settings_of_groups_on_the_command_line():
    settings = with_groups(crowd(Seek()), *by_share(**{"old": 0.1, "a.b": 0.2}))
    changed = with_override(settings, "groups.old.share=0.5")
    changed = with_override(changed, "groups.a.b.speed=2")
    changed = with_override(changed, "seek.group=!old")
    assert [(group.share, group.speed) for group in changed.groups] == [(0.5, 1.0), (0.2, 2.0)]
    assert changed.behaviors[0].group == "!old"
    for text in ("groups.young.share=1", "groups.old.age=80", "groups.old.share=2", "groups.x=1"):
        with pytest.raises(ParameterError):
            with_override(settings, text)

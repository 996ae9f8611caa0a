"""Which target an agent takes: the same from few, one by one, and from many, by the tree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steer_addon.core.agents import make_agents
from steer_addon.core.errors import WorldError
from steer_addon.core.inputs.targets import BY_ID, NEAREST, NO_TARGETS, make_targets

BODY = {"radius": 0.2, "mass": 1.0, "max_speed": 1.0, "max_force": 1.0}
whole = st.integers(-3, 3)
# whole numbers in a small room: many targets share a place or a distance
places = st.lists(st.tuples(whole, whole, whole), min_size=1, max_size=96)


def agents_at(points, **more):
    return make_agents(np.array(points, np.float32), **BODY, **more)


def nearest(points, targets, own):
    """The first of the nearest targets, by exact arithmetic on whole numbers."""
    rows = []
    for i, p in enumerate(points):
        squares = [
            (sum((a - b) ** 2 for a, b in zip(p, q, strict=True)), j)
            for j, q in enumerate(targets)
            if not (own and i == j)
        ]
        rows.append(min(squares)[1] if squares else -1)
    return rows


@given(places, places)
def test_the_nearest_target_is_that_of_brute_force_and_the_first_among_equals(points, targets):
    row = make_targets(targets).choose(agents_at(points), NEAREST)
    assert row.tolist() == nearest(points, targets, own=False)


@given(places)
def test_agents_among_themselves_never_choose_themselves(points):
    row = make_targets(points, own=True).choose(agents_at(points), NEAREST)
    assert row.tolist() == nearest(points, points, own=True)


@pytest.mark.parametrize("count", [32, 33, 1000])
@pytest.mark.parametrize("own", [False, True])
def test_few_and_many_agree_with_brute_force_anywhere(count, own):
    random = np.random.default_rng(count)
    targets = random.uniform(-50, 50, (count, 3)).astype(np.float32)
    points = targets if own else random.uniform(-60, 60, (300, 3)).astype(np.float32)
    found = make_targets(targets, own=own)
    assert (len(found.tree.triangles) > 0) == (count > 32)
    gaps = np.linalg.norm(points[:, None].astype(np.float64) - targets, axis=2)
    if own:
        np.fill_diagonal(gaps, np.inf)
    np.testing.assert_array_equal(found.choose(agents_at(points), NEAREST), gaps.argmin(axis=1))


@pytest.mark.parametrize("count", [1, 3, 40])
def test_by_id_counts_round_and_leaves_out_the_agent_itself(count):
    ids = np.array([0, 7, 41, 2, 1_000_003])
    agents = agents_at(np.zeros((5, 3)), ids=ids)
    points = np.zeros((count, 3))
    assert make_targets(points).choose(agents, BY_ID).tolist() == (ids % count).tolist()
    own = make_targets(points, own=True).choose(agents, BY_ID)
    expected = [n % count if n % count != i else (n + 1) % count for i, n in enumerate(ids)]
    assert own.tolist() == ([-1, 0, 0, 0, 0] if count == 1 else expected)


@pytest.mark.parametrize("how", [NEAREST, BY_ID])
@pytest.mark.parametrize("count", [4, 40])
def test_the_attribute_target_index_wins_over_either_choice(how, count):
    wanted = np.array([2, 0, count + 1, -1, -5])
    agents = agents_at(np.zeros((5, 3)), attributes={"target_index": wanted})
    points = np.ones((count, 3)) * np.arange(1, count + 1)[:, None]
    free = [0, 0] if how == NEAREST else [3 % count, 4 % count]
    assert make_targets(points).choose(agents, how).tolist() == [2, 0, 1, *free]
    # among themselves the one whose index names itself takes the next
    own = make_targets(points, own=True).choose(
        agents_at(np.zeros((5, 3)), attributes={"target_index": [0, 1, 1, 3, count]}), how
    )
    assert own.tolist() == [1, 2, 1, 4 % count, 0]


def test_without_targets_nobody_has_one():
    agents = agents_at(np.zeros((3, 3)), attributes={"target_index": [0, -1, 7]})
    for how in (NEAREST, BY_ID):
        assert NO_TARGETS.choose(agents, how).tolist() == [-1, -1, -1]


def test_targets_head_where_they_go_and_otherwise_where_they_look():
    velocity = [[3, 4, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    heading = [[1, 0, 0], [0, 0, 5], [0, 0, 0], [np.nan, 0, 0]]
    found = make_targets(np.zeros((4, 3)), velocity, heading)
    expected = [[0.6, 0.8, 0], [0, 0, 1], [0, -1, 0], [0, -1, 0]]
    np.testing.assert_allclose(found.heading, expected, atol=1e-6)
    np.testing.assert_allclose(found.up, [[0, 0, 1]] * 4)


def test_bad_targets_are_named():
    with pytest.raises(WorldError, match="not at a finite place"):
        make_targets([[0, 0, np.inf]])
    with pytest.raises(WorldError, match="not at a finite place"):
        make_targets([[0, 0, 0]], [[0, np.nan, 0]])
    with pytest.raises(WorldError, match=r"velocities have shape \(2, 3\): give \(1, 3\)"):
        make_targets([[0, 0, 0]], np.zeros((2, 3)))
    for bad in ([[1, 2]], ["a", "b", "c"], [[1, 2, 3], [4]]):
        with pytest.raises(WorldError, match="positions are no vectors: give numbers of shape"):
            make_targets(bad)

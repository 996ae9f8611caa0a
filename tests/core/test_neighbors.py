"""Neighbor lists: compared with a search through all pairs, to the last bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tried import tried

from steer_addon.core.compiled import jit
from steer_addon.core.geometry import neighbors


def one(value):
    return np.array([value], np.float32)


def headings(count, seed=0):
    raw = np.random.default_rng(seed).normal(size=(count, 3))
    return (raw / np.linalg.norm(raw, axis=1, keepdims=True)).astype(np.float32)


def brute(position, heading, ids, radius, most, view, k):
    """Every pair in 64-bit floats; nothing shared with the code under test."""
    p, h = position.astype(np.float64), heading.astype(np.float64)
    n = len(p)
    radius, most, view = (np.broadcast_to(a.astype(np.float64), n) for a in (radius, most, view))
    index = np.full((n, k), -1, np.int32)
    distance = np.zeros((n, k), np.float32)
    count = np.zeros(n, np.int32)
    for i in range(n):
        d = p - p[i]
        squared = d[:, 0] * d[:, 0] + d[:, 1] * d[:, 1] + d[:, 2] * d[:, 2]
        seen = squared <= radius[i] ** 2
        seen[i] = False
        if view[i] < 360.0:
            cosine = math.sin(math.radians(90.0 - 0.5 * view[i]))
            ahead = d[:, 0] * h[i, 0] + d[:, 1] * h[i, 1] + d[:, 2] * h[i, 2]
            seen &= (ahead >= cosine * np.sqrt(squared)) | (squared == 0.0)
        rows = np.flatnonzero(seen)
        rows = rows[np.lexsort((ids[rows], squared[rows]))][: min(k, int(most[i]))]
        count[i] = len(rows)
        index[i, : len(rows)] = rows
        distance[i, : len(rows)] = np.sqrt(squared[rows])
    return count, index, distance


def check(position, *, radius=1.0, most=10, view=360.0, k=None, cell=None, seed=0):
    """Compare `find` with `brute` and return what was found."""
    position = np.ascontiguousarray(position, np.float32)
    n = len(position)
    k = int(np.max(most)) if k is None else k
    ids = np.random.default_rng(seed).permutation(n).astype(np.int64) * 3 - 7
    heading = headings(n, seed)
    options = [np.atleast_1d(np.asarray(a, np.float32)) for a in (radius, most, view)]
    if cell is None:
        grid = neighbors.build_grid(position, float(options[0].max()), int(np.max(most)))
    else:
        grid = neighbors.build_grid(position, cell)
    found = neighbors.find(grid, position, heading, ids, *options, k)
    expected = brute(position, heading, ids, *options, k)
    for name, got, want in zip(found._fields, found, expected, strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want, err_msg=name)
    return found


def cloud(name, n=600):
    rng = np.random.default_rng(5)
    points = rng.uniform(-6.0, 6.0, (n, 3))
    if name == "flat":
        points[:, 2] = 0.0
    elif name == "wall":
        points[:, 0] = 3.0
    elif name == "line":
        points[:, :2] = -2.5
    elif name == "clusters":
        points = rng.normal(scale=0.3, size=(n, 3)) + rng.choice([-900.0, 0.0, 450.0], (n, 3))
    elif name == "outlier":
        points[17] = (1e9, -1e9, 3e8)
    elif name == "wild outliers":
        points[3], points[4], points[5] = (3e38, 0, 0), (-3e38, 3e38, -3e38), (1e20, 1e-30, -1e-45)
    elif name == "spots":
        points = rng.choice([0.0, 0.5, 1.0], (n, 3))
    elif name == "lattice":
        side = np.arange(9.0) - 4.0
        points = np.array(np.meshgrid(side, side, side)).reshape(3, -1).T
    elif name == "far away":
        points += 1.0e6
    return points


CLOUDS = [
    "even",
    "flat",
    "wall",
    "line",
    "clusters",
    "outlier",
    "wild outliers",
    "spots",
    "lattice",
    "far away",
]


@pytest.mark.parametrize("view", [360.0, 270.0, 180.0, 60.0, 0.0])
@pytest.mark.parametrize("name", CLOUDS)
def test_clouds(name, view):
    found = check(cloud(name), radius=1.0, view=view)
    if view == 360.0:
        assert found.count.max() > 1


@pytest.mark.parametrize("radius", [0.0, 0.01, 1.0, 5.0, 100.0, 1e9, np.inf])
@pytest.mark.parametrize("name", ["flat", "spots", "outlier"])
def test_radii(name, radius):
    cell = None if np.isfinite(radius) else 1.0
    check(cloud(name, 300), radius=radius, most=7, cell=cell)


@pytest.mark.parametrize("cell", [0.0, 1e-9, 0.1, 0.37, 0.5, 2.0, 1e12, np.inf])
@pytest.mark.parametrize("name", ["even", "clusters", "lattice"])
def test_the_result_does_not_depend_on_the_cells(name, cell):
    check(cloud(name, 300), radius=1.0, cell=cell)


@pytest.mark.parametrize("name", ["even", "flat", "spots", "clusters"])
def test_every_agent_has_its_own_options(name):
    points = cloud(name)
    rng = np.random.default_rng(8)
    radius = rng.choice([0.0, 0.3, 1.0, 4.0], len(points))
    most = rng.integers(0, 12, len(points))
    view = rng.choice([0.0, 45.0, 180.0, 359.0, 360.0, 400.0], len(points))
    check(points, radius=radius, most=most, view=view)
    check(points, radius=radius, most=most, view=view, k=5)


COORDINATE = st.one_of(
    st.floats(-4.0, 4.0, width=32),
    st.sampled_from([0.0, 0.5, 1.0, -1.0, 2.0, -1e-17, 1e-17, 1e9, -3e30]),
)


def test_cells_are_small_where_many_more_are_near_than_are_kept():
    points = np.random.default_rng(1).uniform(-50.0, 50.0, (2000, 3)).astype(np.float32)
    points[:, 2] = 0.0
    assert neighbors.build_grid(points, 20.0).cell == pytest.approx(20.0, rel=0.01)
    few = neighbors.build_grid(points, 20.0, 10)
    # 16 expected within a cell's size at 0.2 per square meter
    assert few.cell == pytest.approx(np.sqrt(16.0 / 0.2 / np.pi), rel=0.1)
    assert neighbors.build_grid(points, 20.0, 500).cell == pytest.approx(20.0, rel=0.01)
    check(points[:500], radius=20.0, most=10)


@settings(max_examples=tried(120), deadline=None)
@given(
    st.lists(st.tuples(COORDINATE, COORDINATE, COORDINATE), min_size=1, max_size=40),
    st.one_of(st.sampled_from([0.0, 0.5, 1.0, 2.0]), st.floats(0.0, 1e4, width=32)),
    st.integers(0, 12),
    st.floats(0.0, 400.0, width=32),
    st.one_of(st.none(), st.sampled_from([0.25, 0.5, 3.0])),
)
def test_any_points(points, radius, most, view, cell):
    check(points, radius=radius, most=most, view=view, cell=cell)


def test_noise_around_zero_is_not_lost_at_a_cell_border():
    # The difference of the two rounds to exactly 1: a pair in 64 bits, though 1e-17 too far.
    # The others make the grid long enough for a search not to visit all of it.
    others = [[10.0 + n, 0.0, 0.0] for n in range(90)]
    found = check([[1.0, 0.0, 0.0], [-1e-17, 0.0, 0.0], *others], radius=1.0, cell=0.5 / 1.001)
    assert found.count[:2].tolist() == [1, 1]


def test_more_candidates_than_are_collected_at_once():
    n = 1500 if jit.status().compiled else 340  # a search collects 256 at once
    points = np.random.default_rng(1).uniform(-0.4, 0.4, (n, 3))
    check(points, radius=1.0, most=10)
    check(points, radius=1.0, most=n // 2, view=200.0)


def test_ties_go_to_the_smaller_id():
    ring = np.array([[math.cos(a), math.sin(a), 0.0] for a in np.arange(8) * math.pi / 2])
    position = np.vstack([[0.0, 0.0, 0.0], np.round(ring)]).astype(np.float32)
    for seed in range(5):
        ids = np.random.default_rng(seed).permutation(9).astype(np.int64) - 2**40
        found = neighbors.find(
            neighbors.build_grid(position, 1.0),
            position,
            headings(9),
            ids,
            one(1.0),
            one(5),
            one(360.0),
            5,
        )
        assert ids[found.index[0]].tolist() == sorted(ids[1:])[:5]


def test_a_coincident_agent_is_inside_any_view():
    position = np.zeros((3, 3), np.float32)
    position[2] = (-1.0, 0.0, 0.0)
    heading = np.tile(np.float32([1.0, 0.0, 0.0]), (3, 1))
    ids = np.arange(3)
    found = neighbors.find(
        neighbors.build_grid(position, 2.0),
        position,
        heading,
        ids,
        one(2.0),
        one(4),
        one(0.0),
        4,
    )
    assert found.index.tolist() == [[1, -1, -1, -1], [0, -1, -1, -1], [0, 1, -1, -1]]
    assert found.distance.tolist() == [[0.0] * 4, [0.0] * 4, [1.0, 1.0, 0.0, 0.0]]


def test_exactly_sideways_is_inside_a_view_of_180():
    position = np.float32([[0, 0, 0], [0, 1, 0], [0, 0, -1], [-0.001, 1, 0]])
    heading = np.tile(np.float32([1.0, 0.0, 0.0]), (4, 1))
    found = neighbors.find(
        neighbors.build_grid(position, 2.0),
        position,
        heading,
        np.arange(4),
        one(2.0),
        one(3),
        one(180.0),
        3,
    )
    assert found.index[0].tolist() == [1, 2, -1]


def crowd(n=5000):
    position = np.random.default_rng(4).uniform(-20.0, 20.0, (n, 3)).astype(np.float32)
    position[:, 2] = 0.0
    position[: n // 10] = np.round(position[: n // 10])
    ids = np.random.default_rng(6).permutation(n).astype(np.int64)
    return position, headings(n), ids


def search(position, heading, ids, k=8):
    grid = neighbors.build_grid(position, 1.0)
    return neighbors.find(grid, position, heading, ids, one(1.0), one(k), one(270.0), k)


def test_the_same_bits_on_any_number_of_threads():
    arrays = crowd()
    before = jit.set_threads(1)
    try:
        results = []
        for threads in (1, 2, 3):
            jit.set_threads(threads)
            results.append(search(*arrays))
    finally:
        jit.set_threads(before)
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_the_order_of_agents_does_not_matter():
    arrays = crowd()
    found = search(*arrays)
    order = np.random.default_rng(9).permutation(len(arrays[0]))
    shuffled = search(*(np.ascontiguousarray(array[order]) for array in arrays))
    np.testing.assert_array_equal(shuffled.count, found.count[order])
    np.testing.assert_array_equal(shuffled.distance, found.distance[order])
    # Row r of the shuffled crowd is agent order[r]; the last entry stands for "none", -1.
    names = np.append(order, -1)
    np.testing.assert_array_equal(names[shuffled.index], found.index[order])


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_few_agents(n):
    position = np.zeros((n, 3), np.float32)
    found = neighbors.find(
        neighbors.build_grid(position, 1.0),
        position,
        headings(n),
        np.arange(n),
        one(1.0),
        one(4),
        one(360.0),
    )
    assert found.count.tolist() == [min(4, max(0, n - 1))] * n
    assert found.index.shape == found.distance.shape == (n, min(4, max(0, n - 1)))


def test_no_columns():
    position, heading, ids = crowd(50)
    grid = neighbors.build_grid(position, 1.0)
    asked = neighbors.find(grid, position, heading, ids, one(1.0), one(9), one(360.0), 0)
    none = neighbors.find(grid, position, heading, ids, one(1.0), one(0), one(360.0))
    for view in (asked, none, neighbors.empty(50)):
        assert view.index.shape == view.distance.shape == (50, 0)
        assert view.count.tolist() == [0] * 50
    for a, b in zip(asked, neighbors.empty(50), strict=True):
        assert a.dtype == b.dtype


def test_a_negative_radius_finds_nobody():
    check(cloud("spots", 50), radius=0.0)
    position, heading, ids = np.zeros((4, 3), np.float32), headings(4), np.arange(4)
    grid = neighbors.build_grid(position, 1.0)
    found = neighbors.find(grid, position, heading, ids, one(-1.0), one(3), one(360.0), 3)
    assert found.count.tolist() == [0] * 4


def test_from_other_places_than_the_grid_was_built_from():
    position, heading, ids = crowd(200)
    grid = neighbors.build_grid(position, 1.0)
    moved = position + np.float32([0.25, 0.0, 0.0])
    found = neighbors.find(grid, moved, heading, ids, one(3.0), one(1), one(360.0), 1)
    for i in range(200):
        d = np.linalg.norm(position.astype(float) - moved[i].astype(float), axis=1)
        d[i] = np.inf
        assert found.distance[i, 0] == np.float32(d.min()) or d.min() > 3.0


def test_everybody_on_one_spot_does_not_hang():
    n = 10_000 if jit.status().compiled else 100
    position = np.full((n, 3), 2.0, np.float32)
    ids = np.arange(n)
    found = neighbors.find(
        neighbors.build_grid(position, 1.0),
        position,
        headings(n),
        ids,
        one(1.0),
        one(3),
        one(90.0),
        3,
    )
    assert found.index[:5].tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2], [0, 1, 2]]
    assert (found.count == 3).all()
    assert not found.distance.any()


@pytest.mark.parametrize("name", [*CLOUDS, "sparse lattice", "lattice and outlier", "tiny radius"])
def test_cells_stay_few_and_even(name):
    """The time is what the grid is for: it shows in how many agents a cell holds."""
    n = 4096
    cell = 1.0
    side = np.arange(64.0) * 1.001 + 0.5
    lattice = np.array(np.meshgrid(side, side, 0.0)).reshape(3, -1).T
    if name == "sparse lattice":
        points = lattice * 16.0
    elif name == "lattice and outlier":
        points = np.vstack([lattice, [1e9, -1e9, 3e8]])
    elif name == "tiny radius":
        points, cell = np.random.default_rng(0).uniform(0, 1e3, (n, 3)), 0.0
    else:
        points = cloud(name, n)
    grid = neighbors.build_grid(np.ascontiguousarray(points, np.float32), cell)
    n = len(points)
    assert grid.nx * grid.ny * grid.nz == len(grid.start) - 1 <= max(64, 2 * n)
    assert sorted(grid.order) == list(range(n))
    sizes = np.diff(grid.start)
    # Agents per cell as the agents meet them, against those that truly share a cell.
    met = (sizes.astype(float) ** 2).sum() / n
    true_cells = np.floor(points / max(cell, 1e-6) / 1.001)
    own = np.unique(true_cells, axis=0, return_counts=True)[1]
    # Clusters far apart, in three directions, share what few cells there are.
    allowed = 5.0 if name == "clusters" else 2.0
    assert met <= allowed * (own.astype(float) ** 2).sum() / n

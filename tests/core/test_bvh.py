"""The tree of triangles: rays and nearest points against every triangle tried in turn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tried import tried

from steer_addon.core.compiled import jit
from steer_addon.core.errors import WorldError
from steer_addon.core.geometry import bvh
from steer_addon.core.views import BvhView


def soup(count: int, seed: int = 0, size: float = 1.0) -> np.ndarray:
    """Random triangles in a cube of 10 m, shape (count, 3, 3)."""
    rng = np.random.default_rng(seed)
    center = rng.uniform(-5, 5, (count, 1, 3))
    return (center + rng.normal(scale=size, size=(count, 3, 3))).astype(np.float32)


def grid(cells: int) -> np.ndarray:
    """A square of 2·cells² triangles in z = 0 from 0 to cells, shape (2 cells², 3, 3)."""
    x, y = np.meshgrid(np.arange(cells), np.arange(cells), indexing="ij")
    low = np.stack([x, y, np.zeros_like(x)], -1).reshape(-1, 1, 3)
    first = low + np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0]])
    second = low + np.array([[0, 0, 0], [1, 1, 0], [0, 1, 0]])
    return np.concatenate([first, second]).astype(np.float32)


def rays(count: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=(count, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return rng.uniform(-7, 7, (count, 3)).astype(np.float32), direction.astype(np.float32)


def brute_ray(triangles: np.ndarray, origin: np.ndarray, direction: np.ndarray) -> float:
    """Distance of the nearest hit by Möller and Trumbore's test, infinite for none."""
    a, b, c = (triangles[:, k].astype(np.float64) for k in range(3))
    o, d = origin.astype(np.float64), direction.astype(np.float64)
    p = np.cross(d, c - a)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = 1.0 / np.einsum("ij,ij->i", b - a, p)
        u = np.einsum("ij,ij->i", o - a, p) * scale
        q = np.cross(o - a, b - a)
        v = q @ d * scale
        t = np.einsum("ij,ij->i", q, c - a) * scale
        hit = (u >= 0) & (v >= 0) & (u + v <= 1) & (t >= 0)
    return float(t[hit].min(initial=np.inf))


def brute_nearest(triangles: np.ndarray, point: np.ndarray) -> float:
    """Distance of the nearest surface point: the planes' feet where they are inside, or edges."""
    corners, p = triangles.astype(np.float64), point.astype(np.float64)
    best = np.full(len(corners), np.inf)
    for k in range(3):
        a, b = corners[:, k], corners[:, (k + 1) % 3]
        along = b - a
        whole = np.maximum(np.einsum("ij,ij->i", along, along), 1e-300)
        share = np.clip(np.einsum("ij,ij->i", p - a, along) / whole, 0, 1)
        best = np.minimum(best, np.linalg.norm(a + along * share[:, None] - p, axis=1))
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.linalg.norm(normal, axis=1)
    normal /= np.maximum(size, 1e-300)[:, None]
    height = np.einsum("ij,ij->i", p - corners[:, 0], normal)
    foot = p - normal * height[:, None]
    inside = size > 0
    for k in range(3):
        a, b = corners[:, k], corners[:, (k + 1) % 3]
        inside &= np.einsum("ij,ij->i", np.cross(b - a, foot - a), normal) >= 0
    return float(np.where(inside, np.abs(height), best).min())


def check_tree(view: BvhView) -> int:
    """Assert that a tree is sound; returns its depth."""
    seen = np.zeros(len(view.order), int)
    depth, tasks = 0, [(0, 1)]
    while tasks:
        node, level = tasks.pop()
        depth = max(depth, level)
        count, first = int(view.link[node, 2]), int(view.link[node, 0])
        if count:
            leaf = view.order[first : first + count]
            seen[leaf] += 1
            inside = view.triangles[leaf].reshape(-1, 3)
        else:
            children = [first, int(view.link[node, 1])]
            assert min(children) > node
            inside = np.concatenate([view.box[children, :3], view.box[children, 3:]])
            tasks += [(child, level + 1) for child in children]
        assert (inside.min(axis=0) == view.box[node, :3]).all()
        assert (inside.max(axis=0) == view.box[node, 3:]).all()
    assert (seen == 1).all()
    return depth


def same_tree(one: BvhView, two: BvhView) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))


def test_rays_against_every_triangle() -> None:
    triangles = soup(300)
    view = bvh.build(triangles)
    origins, directions = rays(2000)
    triangle, distance = bvh.ray_cast_many(view, origins, directions)
    expected = np.array(
        [brute_ray(triangles, o, d) for o, d in zip(origins, directions, strict=True)]
    )
    assert ((triangle >= 0) == np.isfinite(expected)).all()
    hit = triangle >= 0
    assert hit.mean() > 0.3
    np.testing.assert_allclose(distance[hit], expected[hit], rtol=1e-5, atol=1e-6)
    assert np.isinf(distance[~hit]).all()


def test_nearest_points_against_every_triangle() -> None:
    triangles = soup(300)
    triangles[::10, 2] = triangles[::10, 1]  # some are only lines
    triangles[5, :] = triangles[5, 0]  # and one is a point
    view = bvh.build(triangles)
    points = rays(1000)[0]
    triangle, nearest, distance = bvh.nearest_many(view, points)
    expected = np.array([brute_nearest(triangles, point) for point in points])
    assert (triangle >= 0).all()
    np.testing.assert_allclose(distance, expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(np.linalg.norm(nearest - points, axis=1), expected, atol=1e-5)


def test_nearest_walls_are_those_of_the_steep_triangles_alone() -> None:
    triangles = soup(300)
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    steep = np.abs(normals[:, 2]) < 0.7 * np.linalg.norm(normals, axis=1)
    assert 50 < steep.sum() < 250
    view = bvh.build(triangles)
    for point in rays(100)[0].astype(float):
        triangle, nearest, distance = bvh.nearest_steep(view, tuple(point), math.inf, 0.7)
        assert steep[triangle]
        assert distance == pytest.approx(brute_nearest(triangles[steep], point), rel=1e-6, abs=1e-7)
        assert np.linalg.norm(nearest - point) == pytest.approx(distance, rel=1e-6, abs=1e-7)
    floor = bvh.build(triangles[~steep])
    assert bvh.nearest_steep(floor, (0.0, 0.0, 0.0), math.inf, 0.7)[0] == -1


@settings(max_examples=tried(40), deadline=None)
@given(st.integers(1, 60), st.integers(0, 2**31), st.booleans())
def test_results_do_not_depend_on_the_tree(count: int, seed: int, snapped: bool) -> None:
    """Same bits from one tree, from many joined ones, and from one refitted out of shape."""
    triangles = soup(count, seed)
    if snapped:  # many faces of equal distance, and many without area
        triangles = np.round(triangles)
    origins, directions = rays(200, seed)
    if snapped:
        origins, directions = np.round(origins), np.round(directions)
        sizes = np.maximum(np.linalg.norm(directions, axis=1, keepdims=True), 1e-9)
        directions = (directions / sizes).astype(np.float32)
    cuts = np.sort(np.random.default_rng(seed).integers(0, count + 1, 4))
    trees = [
        bvh.build(triangles),
        bvh.join([bvh.build(part) for part in np.split(triangles, cuts)]),
        bvh.refit(bvh.build(soup(count, seed + 1)), triangles),
    ]
    cast = [bvh.ray_cast_many(tree, origins, directions) for tree in trees]
    near = [bvh.nearest_many(tree, origins) for tree in trees]
    for other in (1, 2):
        for a, b in zip(cast[0] + near[0], cast[other] + near[other], strict=True):
            assert np.array_equal(a, b)


def test_rays_at_shared_edges_and_corners_do_not_slip_through() -> None:
    cells = 16
    view = bvh.build(grid(cells) * np.float32(0.1) + np.float32([0.3, 0.7, 0.0]))
    corners = np.unique(view.triangles[:, :, :2].reshape(-1, 2), axis=0)
    inner = corners[(corners > corners.min(axis=0)).all(1) & (corners < corners.max(axis=0)).all(1)]
    steps = np.float32([[0, 0], [0.05, 0], [0, 0.05], [0.05, 0.05]])
    targets = (inner[:, None] + steps).reshape(-1, 2)
    targets = np.c_[targets, np.zeros(len(targets))]
    for start in ([0.0, 0.0, 3.0], [1.1, 1.5, 0.5], [-50.0, 7.0, 200.0], [1.0, 1.5, -1000.0]):
        origins = np.tile(np.float32(start), (len(targets), 1))
        directions = targets - origins
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        triangle, _ = bvh.ray_cast_many(view, origins, directions)
        assert (triangle >= 0).all()
    down = np.tile(np.float32([0, 0, -1]), (len(targets), 1))
    triangle, distance = bvh.ray_cast_many(view, targets + [0, 0, 2], down)
    assert (triangle >= 0).all()
    assert (distance == 2).all()


def test_equal_distances_go_to_the_smaller_number() -> None:
    wall = np.tile(np.float32([[[0, -1, -1], [0, 1, -1], [0, 0, 1]]]), (40, 1, 1))
    for order in (slice(None), slice(None, None, -1)):
        view = bvh.build(np.concatenate([soup(20) + np.float32([50, 0, 0]), wall[order]]))
        assert bvh.ray_cast(view, (-1.0, 0.0, 0.0), (1.0, 0.0, 0.0), 9.0) == (20, 1.0)
        assert bvh.nearest_point(view, (-1.0, 0.0, 0.0), 9.0) == (20, (0.0, 0.0, 0.0), 1.0)


def test_faces_on_the_boundary_of_their_boxes_are_met() -> None:
    """Axis-parallel rays onto, along and beside faces that are as flat as their boxes."""
    view = bvh.build(grid(4))
    assert bvh.ray_cast(view, (0.25, 0.5, 1.0), (0.0, 0.0, -1.0), 1.0)[1] == 1.0
    assert bvh.ray_cast(view, (0.25, 0.5, -1.0), (0.0, 0.0, 1.0), math.inf)[1] == 1.0
    assert bvh.ray_cast(view, (0.0, 0.5, 1.0), (0.0, 0.0, -1.0), 9.0)[0] >= 0
    assert bvh.ray_cast(view, (4.0, 4.0, 1.0), (0.0, 0.0, -1.0), 9.0)[0] >= 0
    assert bvh.ray_cast(view, (-1.0, 0.5, 0.0), (1.0, 0.0, 0.0), 9.0)[0] == -1
    assert bvh.ray_cast(view, (4.001, 4.0, 1.0), (0.0, 0.0, -1.0), 9.0)[0] == -1


def test_both_sides_are_solid_and_the_length_counts() -> None:
    view = bvh.build(grid(1))
    for sign in (1.0, -1.0):
        origin, along = (0.25, 0.5, 2.0 * sign), (0.0, 0.0, -sign)
        assert bvh.ray_cast(view, origin, along, 2.0) == (1, 2.0)
        assert bvh.ray_cast(view, origin, along, 1.999) == (-1, 1.999)
        assert bvh.ray_cast(view, origin, (0.0, 0.0, sign), 9.0)[0] == -1


def test_a_ray_that_starts_on_a_face_meets_it() -> None:
    view = bvh.build(grid(1))
    assert bvh.ray_cast(view, (0.25, 0.5, 0.0), (0.0, 0.0, 1.0), 0.0) == (1, 0.0)


@pytest.mark.parametrize(
    ("origin", "direction", "length"),
    [
        ((0.2, 0.3, 1.0), (0.0, 0.0, 0.0), 9.0),
        ((0.2, 0.3, 1.0), (0.0, 0.0, -1.0), -1.0),
        ((0.2, 0.3, 1.0), (0.0, 0.0, -1.0), math.nan),
        ((0.2, math.nan, 1.0), (0.0, 0.0, -1.0), 9.0),
        ((0.2, 0.3, 1.0), (0.0, 0.0, math.nan), 9.0),
        ((0.2, math.inf, 1.0), (0.0, 0.0, -1.0), 9.0),
    ],
)
def test_senseless_rays_meet_nothing(
    origin: tuple[float, ...], direction: tuple[float, ...], length: float
) -> None:
    view = bvh.build(grid(2))
    assert bvh.ray_cast(view, origin, direction, length)[0] == -1


@pytest.mark.parametrize("point", [(math.nan, 0.0, 0.0), (math.inf, 0.0, 0.0)])
def test_senseless_points_are_near_nothing(point: tuple[float, float, float]) -> None:
    assert bvh.nearest_point(bvh.build(grid(2)), point, math.inf)[0] == -1


def test_nearest_point_stops_at_its_distance() -> None:
    view = bvh.build(grid(1))
    assert bvh.nearest_point(view, (0.25, 0.5, 2.0), 2.0) == (1, (0.25, 0.5, 0.0), 2.0)
    assert bvh.nearest_point(view, (0.25, 0.5, 2.0), 1.9) == (-1, (0.25, 0.5, 2.0), 1.9)


def test_blocking_rays_pass_walkable_faces() -> None:
    floor = np.float32([[[1, -5, -5], [1, 5, -5], [1.001, 0, 9]]])  # a wall at x = 1
    ramp = np.float32([[[0, -5, 0], [4, -5, 2], [0, 5, 0]]])
    view = bvh.build(np.concatenate([ramp, floor]))
    ray = ((-1.0, 0.0, 0.25), (1.0, 0.0, 0.0))
    assert bvh.ray_cast(view, *ray, 9.0)[0] == 0
    assert bvh.ray_cast_stops(view, *ray, 9.0, 0.7)[0] == 1
    assert bvh.ray_cast_stops(view, (0.9, 0.0, 0.1), (-1.0, 0.0, 0.0), 0.5, 0.7)[0] == -1
    # from the other side the same ramp comes down like a ceiling
    below = (0.9, -4.0, 0.2)
    assert bvh.ray_cast_stops(view, below, (-1.0, 0.0, 0.0), 9.0, 0.7)[0] == 0


@pytest.mark.parametrize("count", [1, 2, 3, 9, 500, 3000])
def test_trees_are_sound(count: int) -> None:
    depth = check_tree(bvh.build(soup(count, count)))
    assert depth <= 2 + 3 * math.log2(count)


@pytest.mark.parametrize("name", ["point", "line", "powers", "coplanar"])
def test_trees_of_odd_triangles_are_sound_and_shallow(name: str) -> None:
    count = 2000
    triangles = {
        "point": np.zeros((count, 3, 3)),
        "line": np.arange(9 * count).reshape(count, 9)[:, [0, 0, 0] * 3].reshape(count, 3, 3),
        "powers": (2.0 ** (-np.arange(count) / 10))[:, None, None] * np.eye(3)[None],
        "coplanar": grid(32)[:count],
    }[name].astype(np.float32)
    view = bvh.build(triangles)
    assert check_tree(view) <= 44
    assert view.link[:, 2].max() <= 8
    origins, directions = rays(100)
    bvh.ray_cast_many(view, origins, directions)
    _triangle, nearest, distance = bvh.nearest_many(view, origins)
    assert np.isfinite(nearest).all()
    assert np.isfinite(distance).all()


def test_building_twice_gives_the_same_tree() -> None:
    assert same_tree(bvh.build(soup(1000)), bvh.build(soup(1000)))


def test_no_triangles() -> None:
    for view in (bvh.build(np.zeros((0, 3, 3))), bvh.empty(), bvh.join([])):
        assert len(view.link) == 0
        assert bvh.ray_cast(view, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 5.0) == (-1, 5.0)
        assert bvh.nearest_point(view, (1.0, 2.0, 3.0), 5.0) == (-1, (1.0, 2.0, 3.0), 5.0)
        assert len(bvh.refit(view, np.zeros((0, 3, 3))).link) == 0


def test_refit_leaves_the_old_tree_alone() -> None:
    triangles = soup(200)
    view = bvh.build(triangles)
    before = [array.copy() for array in view]
    moved = bvh.refit(view, triangles + np.float32([100, 0, 0]))
    assert same_tree(view, BvhView(*before))
    check_tree(moved)
    assert moved.box[0, 0] > 80
    with pytest.raises(WorldError, match="had 200 triangles and now has 3"):
        bvh.refit(view, soup(3))


def test_join_numbers_triangles_on() -> None:
    parts = [soup(50, k) + np.float32([30 * k, 0, 0]) for k in range(7)]
    views = [bvh.build(part) for part in parts]
    joined = bvh.join([views[0], bvh.empty(), *views[1:]])
    check_tree(joined)
    assert np.array_equal(joined.triangles, np.concatenate(parts))
    check_tree(bvh.refit(joined, joined.triangles * 2))
    assert same_tree(bvh.join([bvh.empty(), views[3]]), views[3])
    check_tree(bvh.join([joined, *views]))


def test_joining_again_and_again_never_outgrows_the_queries() -> None:
    view = bvh.build(soup(20))
    for _ in range(100):
        view = bvh.join([view, bvh.build(soup(1))])
        assert check_tree(view) <= 56
    assert len(view.triangles) == 120


@pytest.mark.parametrize(
    ("triangles", "message"),
    [
        (np.zeros((4, 3)), r"shape \(4, 3\)"),
        (np.full((2, 3, 3), np.nan), "Triangle 0 has a corner that is not finite"),
    ],
)
def test_wrong_triangles_are_refused(triangles: np.ndarray, message: str) -> None:
    with pytest.raises(WorldError, match=message):
        bvh.build(triangles)


def test_normals() -> None:
    view = bvh.build(
        np.float32(
            [
                [[0, 0, 5], [2, 0, 5], [0, 3, 5]],
                [[0, 0, 0], [1, 1, 1], [2, 2, 2]],
                [[1, 1, 1], [1, 1, 1], [1, 1, 1]],
                [[0, 0, 0], [1e-4, 0, 0], [0, 0, 1e-4]],
            ]
        )
    )
    normals = [bvh.triangle_normal(view, i) for i in range(4)]
    assert normals == [(0, 0, 1), (0, 0, 0), (0, 0, 0), (0, -1, 0)]


def test_the_same_bits_on_any_number_of_threads() -> None:
    view = bvh.build(soup(500))
    origins, directions = rays(5000)
    results = []
    for count in (1, 2):
        jit.set_threads(count)
        results.append(
            (*bvh.ray_cast_many(view, origins, directions), *bvh.nearest_many(view, origins))
        )
    for one, two in zip(*results, strict=True):
        assert np.array_equal(one, two)

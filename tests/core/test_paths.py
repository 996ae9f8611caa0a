"""Paths: editing, the arrays that kernels read, and random ones."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steer_addon.core.diagnoses import diagnose
from steer_addon.core.errors import WorldError
from steer_addon.core.inputs.paths import NO_PATHS, Path, make_paths

SQUARE = [[0, 0, 0], [4, 0, 0], [4, 3, 0], [0, 3, 0]]
ROUNDING = float(np.finfo(np.float32).eps)
few = st.integers(-2, 2).map(float)
waypoints = st.lists(st.tuples(few, few, few), max_size=8)


def test_a_path_is_edited_point_by_point():
    path = Path([[0, 0, 0]])
    path.add((4, 0, 0))
    path.add(np.array([4, 3, 0]))
    np.testing.assert_array_equal(path.points, SQUARE[:3])
    assert len(path.segments()) == 2
    path.cyclic = True
    assert len(path.segments()) == 3
    path.cyclic = False
    assert len(path.segments()) == 2
    path.clear()
    assert path.points.shape == (0, 3) and path.segments() == []


@given(waypoints, st.booleans())
def test_segments_are_in_one_chain_without_empty_ones(points, cyclic):
    pieces = Path(points, cyclic=cyclic).segments()
    assert all((start != end).any() for start, end in pieces)
    ends = pieces[1:] + pieces[:1] if cyclic else pieces[1:]
    assert all((a[1] == b[0]).all() for a, b in zip(pieces, ends, strict=False))
    walked = [tuple(start) for start, _ in pieces] + [tuple(end) for _, end in pieces]
    wanted = set(points) if len(set(points)) > 1 else set()
    assert set(walked) == wanted


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Path([[0, 0, math.nan]], name="Street"), "'Street': waypoint 0 .* finite"),
        (lambda: Path([[0, 0, 0], [-math.inf, 0, 0]]), "waypoint 1 .* finite"),
        (lambda: Path([[0, 0], [1, 1]]), r"shape \(2, 2\): give \(point_count, 3\)"),
        (lambda: Path([0, 0, 0]), r"shape \(3,\): give \(point_count, 3\)"),
        (lambda: Path().add((1, 2)), r"shape \(2,\): give \(3,\)"),
    ],
)
def test_bad_waypoints_are_refused_in_one_sentence(make, words):
    with pytest.raises(WorldError, match=words):
        make()


def test_arrays_of_several_paths():
    paths = make_paths([Path(SQUARE, cyclic=True), Path(SQUARE[:3])])
    assert paths.count == 2 and paths.warnings == ()
    assert paths.first.tolist() == [0, 4, 7]
    assert paths.along.tolist() == [0, 4, 7, 11, 0, 4, 7]
    assert paths.length.tolist() == [14, 7]
    assert paths.cyclic.tolist() == [1, 0]
    np.testing.assert_array_equal(paths.point, SQUARE + SQUARE[:3])


@pytest.mark.parametrize("points", [[], [[1, 2, 3]], [[1, 2, 3]] * 3])
@pytest.mark.parametrize("cyclic", [False, True])
def test_paths_without_two_different_points_are_left_out_with_a_warning(points, cyclic):
    paths = make_paths([Path(points, cyclic=cyclic, name="Stub"), Path(SQUARE)])
    assert paths.count == 1 and len(paths.point) == 4
    assert paths.warnings == (diagnose("PATH_TOO_SHORT", "Stub"),)


def test_repeated_points_are_dropped_also_across_the_closing_piece():
    repeated = [[0, 0, 0], [0, 0, 0], [4, 0, 0], [4, 3, 0], [4, 3, 0], [0, 0, 0]]
    paths = make_paths([Path(repeated, cyclic=True), Path(repeated)])
    assert paths.first.tolist() == [0, 3, 7]
    assert paths.length.tolist() == [12, 12]


def test_a_cyclic_path_of_two_points_leads_there_and_back():
    path = Path([[0, 0, 0], [3, 4, 0]], cyclic=True)
    assert [(a.tolist(), b.tolist()) for a, b in path.segments()] == [
        ([0, 0, 0], [3, 4, 0]),
        ([3, 4, 0], [0, 0, 0]),
    ]
    assert make_paths([path]).length.tolist() == [10]


def test_no_paths():
    assert NO_PATHS.count == 0 and NO_PATHS.point.shape == (0, 3)


def test_lengths_at_the_largest_coordinates_are_finite():
    paths = make_paths([Path([[-3e38, 0, 0], [3e38, 3e38, 3e38]], cyclic=True)])
    assert np.isfinite(paths.length).all() and np.isfinite(paths.along).all()


places = st.floats(-1000, 1000)
sizes = st.floats(0, 100)


rooms = st.tuples(sizes, sizes, sizes, sizes)
"""Room to the left, below, to the right and above."""


@given(
    st.integers(1, 40),
    places,
    places,
    sizes,
    sizes,
    st.none() | rooms,
    st.integers(-(2**63), 2**63 - 1),
)
def test_random_paths_keep_sector_radius_and_rectangle(count, x, y, inner, more, room, seed):
    bounds = room and (x - room[0], y - room[1], x + room[2], y + room[3])
    outer = inner + more
    make = {"center": (x, y, 5), "inner": inner, "outer": outer, "bounds": bounds, "seed": seed}
    path = Path.random(count, **make)
    points = path.points.astype(np.float64)
    assert path.cyclic and len(points) == count
    np.testing.assert_array_equal(points[:, 2], 5)
    # rounded to 32 bits when stored
    slack = 4 * ROUNDING * (abs(x) + abs(y) + outer + 1)
    offset = points[:, :2] - [x, y]
    radius = np.hypot(*offset.T)
    on_edge = np.zeros(count, bool)
    if bounds is not None:
        inside = np.concatenate([points[:, :2] - bounds[:2], bounds[2:] - points[:, :2]], axis=1)
        assert (inside >= -slack).all()
        on_edge = (inside <= slack).any(axis=1)
    assert (radius <= outer + slack).all()
    assert ((radius >= inner - slack) | on_edge).all()
    # from the middle of its sector a waypoint is at most half a sector away
    middle = 2 * np.pi * (np.arange(count) + 0.5) / count
    turn = np.angle(np.exp(1j * (np.arctan2(offset[:, 1], offset[:, 0]) - middle)))
    assert ((np.abs(turn) - np.pi / count) * radius <= slack).all()
    np.testing.assert_array_equal(Path.random(count, **make).points, path.points)


def test_another_seed_makes_another_path():
    assert (Path.random(5, seed=1).points != Path.random(5, seed=2).points).any()


def test_radii_fill_what_is_between_the_bounds():
    points = Path.random(2000, inner=5, outer=10, seed=3).points.astype(np.float64)
    radius = np.hypot(points[:, 0], points[:, 1])
    # the mean of 2000 uniform draws has a standard error of 5 / sqrt(12 · 2000) = 0.032
    assert radius.mean() == pytest.approx(7.5, abs=0.15)
    assert radius.min() < 5.05 and radius.max() > 9.95


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"count": 0}, "0 waypoints"),
        ({"inner": 3, "outer": 2}, "inner radius"),
        ({"inner": -1}, "inner radius"),
        ({"outer": math.inf}, "inner radius"),
        ({"bounds": (5, 0, -5, 0)}, "x_min, y_min"),
        ({"center": (9, 0, 0), "bounds": (-5, -5, 5, 5)}, "outside of its rectangle"),
        ({"center": (math.nan, 0, 0)}, "finite"),
        ({"seed": 2**63}, "up to 18 digits"),
    ],
)
def test_random_paths_out_of_range_are_refused(arguments, words):
    with pytest.raises(WorldError, match=words):
        Path.random(**{"count": 4, **arguments})

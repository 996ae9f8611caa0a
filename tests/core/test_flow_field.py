"""Flow fields: what is between the corners, along guide curves, and where nothing flows."""

import math

import numpy as np
import pytest
from crowdtools import crowd, place, run
from hypothesis import given
from hypothesis import strategies as st

from steer_addon.core.behaviors.flow_field import FlowField, barycentric
from steer_addon.core.errors import WorldError
from steer_addon.core.inputs.fields import NO_FIELD, field_of_curves, make_field
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.solver import Solver

SPEED = 2.0
CORNERS = [[0, 0, 0], [4, 0, 0], [0, 4, 0]]
AXES = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


def proposal(field, points, motion="FLY", **how):
    """Proposals of agents [m/s], and their flags."""
    stack = crowd(FlowField(**how), motion=motion, agents={"max_speed": SPEED})
    world = make_world(fields=field)
    made = Solver(stack).step(place(stack, points), world, 1 / 24, number=0).proposals[0]
    return made.value.astype(np.float64), made.active.tolist()


def wish(field, point, **how):
    """The direction that one agent wishes to go, at full speed."""
    value, active = proposal(field, [point], **how)
    assert active == [1]
    return value[0] / SPEED


def toward(x, y, z=0.0):
    return np.array([x, y, z]) / math.sqrt(x * x + y * y + z * z)


def test_between_corners_vectors_are_weighted():
    field = make_field(CORNERS, AXES, faces=[[0, 1, 2]])
    # the point below is (1, 2): 1/4, 1/4 and 2/4 of the corners
    for height in (0.0, 3.0, -50.0):
        np.testing.assert_allclose(wish(field, (1, 2, height)), toward(1, 1, 2), atol=1e-6)
    # beside the triangle the nearest point of its edge counts
    np.testing.assert_allclose(wish(field, (1, -7, 0)), toward(3, 1, 0), atol=1e-6)


def test_only_directions_count():
    small = make_field(CORNERS, 1e-3 * np.array(AXES), faces=[[0, 1, 2]])
    np.testing.assert_allclose(wish(small, (1, 2, 0)), toward(1, 1, 2), atol=1e-6)


def test_lines_are_linear_and_points_stand_for_themselves():
    line = make_field([[0, 0, 0], [10, 0, 0]], AXES[:2], edges=[[0, 1]])
    np.testing.assert_allclose(wish(line, (2.5, 3, 1)), toward(3, 1), atol=1e-6)
    np.testing.assert_allclose(wish(line, (-4, 3, 1)), [1, 0, 0], atol=1e-6)
    points = make_field(CORNERS, AXES)
    for point, axis in zip(CORNERS, AXES, strict=True):
        np.testing.assert_allclose(wish(points, np.array(point) + 0.5), axis, atol=1e-6)


def test_far_from_the_field_nobody_follows_it():
    field = make_field(CORNERS, AXES, faces=[[0, 1, 2]])
    points = [[1, 1, 1.9], [1, 1, 2.1]]
    assert proposal(field, points, max_distance=2.0)[1] == [1, 0]
    assert proposal(field, points)[1] == [1, 1]


def test_walkers_go_level():
    field = make_field(CORNERS, [[3, 0, 40]] * 3, faces=[[0, 1, 2]])
    np.testing.assert_allclose(wish(field, (1, 1, 0), motion="GROUND"), [1, 0, 0], atol=1e-6)
    upward = make_field(CORNERS, [[0, 0, 1]] * 3, faces=[[0, 1, 2]])
    assert proposal(upward, [[1, 1, 0]], motion="GROUND")[1] == [0]


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
@pytest.mark.parametrize(
    "field",
    [
        None,
        NO_FIELD,
        make_field(CORNERS, np.zeros((3, 3)), faces=[[0, 1, 2]]),
        # in the middle of this line both ends cancel out
        make_field([[-1, 0, 0], [1, 0, 0]], [[0, 1, 0], [0, -1, 0]], edges=[[0, 1]]),
    ],
    ids=["none", "empty", "zero", "opposite"],
)
def test_without_vectors_agents_go_on_as_they_did(field, motion):
    point, velocity = [[0, 3, 0]], [[0, 1, 0]]
    assert proposal(field, point, motion)[1] == [0]
    stack, world = crowd(FlowField(), motion=motion), make_world(fields=field)
    _, velocities = run(stack, point, 5, velocity, world)
    np.testing.assert_allclose(velocities[:, 0], velocity * 6, atol=1e-6)


def test_guide_curves_lead_along_and_around_their_corners():
    field = field_of_curves([([[0, 0, 0], [4, 0, 0], [4, 4, 0]], False)])
    np.testing.assert_allclose(wish(field, (-1, -1, 0)), [1, 0, 0], atol=1e-6)
    np.testing.assert_allclose(wish(field, (5, -1, 0)), toward(1, 1), atol=1e-6)
    np.testing.assert_allclose(wish(field, (5, 9, 0)), [0, 1, 0], atol=1e-6)
    between = np.array([1, 0, 0]) + toward(1, 1)
    np.testing.assert_allclose(wish(field, (2, -1, 0)), toward(*between), atol=1e-6)


def test_a_closed_guide_curve_leads_round_and_round():
    square = [[0, 0, 0], [4, 0, 0], [4, 4, 0], [0, 4, 0]]
    field = field_of_curves([(square, True)])
    np.testing.assert_allclose(wish(field, (-1, -1, 0)), toward(1, -1), atol=1e-6)
    np.testing.assert_allclose(wish(field, (-1, 2, 0)), [0, -1, 0], atol=1e-6)


def test_guide_curves_without_a_direction():
    assert field_of_curves([]) is NO_FIELD
    assert field_of_curves([([], False), ([[1, 2, 3]], True), ([[1, 2, 3]] * 4, True)]) is NO_FIELD
    # two points are one way, closed or not; where a curve turns straight back it has none
    for cyclic in (False, True):
        field = field_of_curves([([[0, 0, 0], [4, 0, 0]], cyclic)])
        np.testing.assert_allclose(wish(field, (1, 1, 0)), [1, 0, 0], atol=1e-6)
    there_and_back = field_of_curves([([[0, 0, 0], [4, 0, 0], [0, 0, 0]], False)])
    assert proposal(there_and_back, [[5, 0, 0]])[1] == [0]


def test_agents_stream_along_a_guide_curve():
    angle = np.linspace(0, np.pi, 60)
    arc = np.c_[10 * np.cos(angle), 10 * np.sin(angle), 0 * angle]
    world = make_world(fields=field_of_curves([(arc, False)]))
    stack = crowd(FlowField(), agents={"max_speed": SPEED}, relaxation_time=0.1)
    positions, velocities = run(stack, [[9, 0, 0], [12, 0, 0]], 24 * 10, world=world)
    # parallel to the arc: the first piece leans inward by π/118 and no farther than its length, and
    # the wish of τ ago leads outward, by v²·τ/r
    outward = np.linalg.norm(positions, axis=2) - [9, 12]
    assert outward.min() > -0.01
    assert outward.max() < SPEED**2 * 0.1 / 9 * 10
    np.testing.assert_allclose(np.linalg.norm(velocities[48:], axis=2), SPEED, rtol=1e-2)
    assert (positions[-1, :, 0] < 0.0).all()


eighths = st.integers(-40, 40).map(lambda k: k / 8.0)
corner = st.tuples(eighths, eighths, eighths)
share = st.integers(0, 4)


@given(corner, corner, corner, share, share, share)
def test_weights_of_corners_make_up_the_point_also_of_folded_triangles(a, b, c, i, j, k):
    whole = max(i + j + k, 1)
    mixed = np.array([i, j, k]) / whole if i + j + k else np.array([1.0, 0.0, 0.0])
    corners = np.array([a, b, c])
    point = mixed @ corners
    weights = np.array(barycentric(a, b, c, tuple(map(float, point))))
    assert weights.min() >= 0.0 and weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(weights @ corners, point, atol=1e-3)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: make_field(CORNERS, AXES[:2]), r"shape \(2, 3\): give \(3, 3\)"),
        (lambda: make_field([[0, 0]], [[0, 0]]), r"shape \(1, 2\): give \(point_count, 3\)"),
        (lambda: make_field([[0, 0, math.inf]], AXES[:1]), r"point 0 at \(0.0, 0.0, inf\)"),
        (lambda: make_field(CORNERS, AXES[:2] + [[0, math.nan, 0]]), r"point 2 .* not finite"),
        (lambda: make_field(CORNERS, AXES, faces=[[0, 1, 3]]), "0 to 3: give numbers from 0 to 2"),
        (lambda: make_field(CORNERS, AXES, edges=[[-1, 2]]), "-1 to 2: give numbers from 0 to 2"),
        (lambda: field_of_curves([([[0, 0, math.nan], [1, 0, 0]], False)]), "guide curve"),
    ],
)
def test_bad_fields_are_refused_in_one_sentence(make, words):
    with pytest.raises(WorldError, match=words):
        make()

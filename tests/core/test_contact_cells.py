"""The nearest place in a cell, against what the theory of projections says about it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from steer_addon.core.contacts.cells import COLUMNS, PLANES, nearest_in_cell


@st.composite
def cells(draw, axes):
    """Planes around the origin, some of them parallel, opposite or through it."""
    seed = draw(st.integers(0, 10_000))
    random = np.random.default_rng(seed)
    count = draw(st.integers(0, 12))
    normal = np.zeros((count, 3))
    normal[:, :axes] = random.normal(size=(count, axes))
    for k in range(1, count):
        if random.random() < 0.2:
            normal[k] = normal[k - 1] * random.choice([-1.0, 1.0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
    bound = random.uniform(0, 1, count) * (random.random(count) < 0.7)
    wish = np.zeros(3)
    wish[:axes] = random.uniform(-3, 3, axes)
    return normal, bound, wish


def found(normal, bound, wish, flat):
    plane = np.zeros((PLANES, COLUMNS))
    plane[: len(normal), :3], plane[: len(bound), 3] = normal, bound
    return np.array(nearest_in_cell(plane, len(bound), tuple(wish), flat))


def check(cell, flat):
    normal, bound, wish = cell
    place = found(normal, bound, wish, flat)
    assert (normal @ place <= bound + 1e-9).all()
    # the way on to the wish leads away from every place in the cell: that is what nearest means
    random = np.random.default_rng(0)
    others = random.normal(size=(200, 3)) * [1, 1, 0 if flat else 1]
    reach = normal @ others.T
    with np.errstate(divide="ignore"):
        most = np.where(reach > 1e-12, bound[:, None] / reach, np.inf).min(axis=0, initial=10.0)
    inside = others * most[:, None]
    assert ((inside - place) @ (wish - place)).max() <= 1e-6


@given(cells(2))
def test_in_the_plane(cell):
    check(cell, flat=True)


@given(cells(3))
def test_in_space(cell):
    check(cell, flat=False)


def test_a_wish_inside_of_the_cell_is_kept_to_the_bit():
    normal, bound = np.eye(3), np.ones(3)
    wish = np.array([0.3, -0.7, 0.1])
    assert (found(normal, bound, wish, False) == wish).all()


def test_corners_of_a_cube():
    normal = np.concatenate([np.eye(3), -np.eye(3)])
    for wish in ([2, 3, 4], [-2, 0.5, 9], [0.1, -5, 0.2]):
        place = found(normal, np.ones(6), np.array(wish, float), False)
        assert np.allclose(place, np.clip(wish, -1, 1), atol=1e-12)

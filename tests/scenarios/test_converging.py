"""A crowd that wants one point: `make validate` runs it with 10,000."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scripts.validation.converging import converging
from scripts.validation.runner import run
from tests.often import often


@pytest.mark.parametrize(
    ("count", "stated"),
    often([(200, ("bodies.on_arrival=STAY",)), (200, ()), (100, ())], (100, ())),
)
def test_a_crowd_that_converges_neither_overlaps_nor_explodes(count, stated):
    result = run(replace(converging(count), stated=stated)).result
    assert result["short"] == []
    assert result["energy_left"] < 0.02


def test_it_starts_apart_and_all_over_a_disc():
    place = converging(400).position[:, :2]
    away = np.linalg.norm(place[:, None] - place[None], axis=2) + 9.0 * np.eye(400)
    assert away.min() > 0.5
    assert np.linalg.norm(place, axis=1).max() < np.sqrt(400 / np.pi) + 1.0

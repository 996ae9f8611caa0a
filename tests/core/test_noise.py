"""Noise: compared with a restatement in plain Python, and smooth, bounded and finite everywhere."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tried import tried

from steer_addon.core.numeric.noise import value_noise

ROOT = Path(__file__).parents[2]
FINITE = st.floats(allow_nan=False, allow_infinity=False)
NEAR = st.floats(-1.0e4, 1.0e4)


def mix(h):
    h = ((h ^ (h >> 16)) * 0x85EBCA6B) % 2**32
    h = ((h ^ (h >> 13)) * 0xC2B2AE35) % 2**32
    return h ^ (h >> 16)


def lattice(i, j, k):
    h = 0
    for whole in (i, j, k):
        h = mix((h + whole % 2**32 + 0x9E3779B9) % 2**32)
    return h / 2**32


def restated(x, y, z):
    cells = [math.floor(value) for value in (x, y, z)]
    u, v, w = (
        t**3 * (6 * t**2 - 15 * t + 10)
        for t in (a - b for a, b in zip((x, y, z), cells, strict=True))
    )
    total = 0.0
    for a in (0, 1):
        for b in (0, 1):
            for c in (0, 1):
                share = (u if a else 1 - u) * (v if b else 1 - v) * (w if c else 1 - w)
                total += share * lattice(cells[0] + a, cells[1] + b, cells[2] + c)
    return total


@settings(max_examples=tried(300), deadline=None)
@given(NEAR, NEAR, NEAR)
def test_noise_is_what_its_definition_says(x, y, z):
    assert value_noise(x, y, z) == pytest.approx(restated(x, y, z), abs=1e-12)


@settings(max_examples=tried(100), deadline=None)
@given(st.tuples(*[st.integers(-(2**40), 2**40)] * 3))
def test_lattice_points_carry_the_lattice_values(cell):
    assert value_noise(*map(float, cell)) == lattice(*cell)


def test_known_value():
    # Kept from the first version: a changed noise would change the animation of finished scenes.
    assert value_noise(0.0, 0.0, 0.0) == lattice(0, 0, 0) == 0.33125751791521907


@settings(max_examples=tried(500), deadline=None)
@given(FINITE, FINITE, FINITE)
def test_any_finite_point_gives_a_value_from_0_to_1(x, y, z):
    assert 0.0 <= value_noise(x, y, z) <= 1.0


@pytest.mark.parametrize(
    "x", [1e9, -1e9, 1e9 + 0.37, 2.0**52, 1e300, -1.7e308, 5e-324, -5e-324, -1e-20, -0.0]
)
def test_extreme_coordinates(x):
    for point in ((x, 0.25, 0.75), (0.25, x, 0.75), (0.25, 0.75, x), (x, x, x)):
        assert value_noise(*point) == pytest.approx(restated(*point), abs=1e-12)


def test_noise_is_continuous_with_two_derivatives():
    h = 1.0e-3
    for axis in range(3):
        line = np.full((int(6 / h) + 1, 3), 0.3)
        line[:, axis] = np.arange(len(line)) * h - 3.0  # crosses lattice planes, on both sides of 0
        values = np.array([value_noise(*map(float, point)) for point in line])
        # Largest derivatives of the fade: 15/8, about 5.8, and 60.
        assert np.abs(np.diff(values)).max() <= 15.0 / 8.0 * h
        assert np.abs(np.diff(values, 2)).max() <= 5.9 * h**2
        assert np.abs(np.diff(values, 3)).max() <= 121.0 * h**3


def test_values_spread_over_the_range_without_bias():
    points = np.random.default_rng(2).uniform(-500.0, 500.0, (20000, 3))
    values = np.array([value_noise(*map(float, point)) for point in points])
    assert abs(values.mean() - 0.5) < 0.01
    assert values.min() < 0.1
    assert values.max() > 0.9
    lattice_values = [value_noise(float(i), float(j), 7.0) for i in range(100) for j in range(100)]
    observed = np.histogram(lattice_values, bins=50, range=(0.0, 1.0))[0]
    assert ((observed - 200) ** 2 / 200).sum() < 105.0  # 49 degrees of freedom, 1e-5
    table = np.array(lattice_values).reshape(100, 100)
    assert abs(np.corrcoef(table[:-1].ravel(), table[1:].ravel())[0, 1]) < 0.05
    assert abs(np.corrcoef(table[:, :-1].ravel(), table[:, 1:].ravel())[0, 1]) < 0.05


@pytest.mark.slow
def test_noise_gives_the_same_bits_in_a_process_without_compiler():
    points = np.random.default_rng(3).uniform(-1e3, 1e3, (50, 3)).tolist()
    points += [[1e9, -1e9, 1e300], [-1e-20, 0.0, -0.0], [4294967296.5, -4294967296.5, 0.5]]
    code = (
        "import json, sys\n"
        "from steer_addon.core.numeric.noise import value_noise\n"
        "print(json.dumps([float(value_noise(*p)).hex() for p in json.loads(sys.argv[1])]))\n"
        "assert 'numba' not in sys.modules\n"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, json.dumps(points)],
        cwd=ROOT,
        env=os.environ | {"STEER_JIT": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == [float(value_noise(*point)).hex() for point in points]

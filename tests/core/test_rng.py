"""Random numbers: the published generator, the same bits everywhere, and no order in them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tried import tried

from steer_addon.core.behaviors import wander
from steer_addon.core.contacts import passes
from steer_addon.core.errors import ParameterError
from steer_addon.core.inputs import paths
from steer_addon.core.numeric import rng
from steer_addon.core.sensing import seen_neighbors

ROOT = Path(__file__).parents[2]
INT64 = st.integers(-(2**63), 2**63 - 1)
WORD = st.integers(0, 2**32 - 1)

KNOWN = [  # Random123, kat_vectors, philox4x32 10
    ([0] * 6, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ([0xFFFFFFFF] * 6, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0],
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
]

CASES = [
    (0, 0, 0, 1),
    (1, 2, 3, 4),
    (-1, -1, -1, 1),
    (2**63 - 1, -(2**63), 2**32 - 1, 65535),
    (2**32, 2**32, 2**32, 2),
    (7, 2**40 + 5, 100, 3),
]

# Runs where nothing is compiled; prints the draws as exact hexadecimal floats.
UNCOMPILED = """
import json, sys
import numpy as np
from steer_addon.core.numeric import rng
rows = []
for case in json.loads(sys.argv[1]):
    for arguments in (case, [np.int64(value) for value in case]):
        for draw in (rng.uniform4, rng.unit_vector):
            rows.append([float(v).hex() for v in draw(*arguments)])
assert "numba" not in sys.modules
print(json.dumps(rows))
"""


def hexed(values):
    return [float(value).hex() for value in values]


@pytest.mark.parametrize(("words", "expected"), KNOWN)
def test_philox_gives_the_published_answers(words, expected):
    for call in (rng.philox, rng.philox.function):
        assert " ".join(f"{word:08x}" for word in call(*words)) == expected


@settings(max_examples=tried(200), deadline=None)
@given(st.tuples(*[WORD] * 6))
def test_philox_gives_the_same_bits_compiled_and_not(words):
    assert tuple(rng.philox(*words)) == tuple(rng.philox.function(*words))


def test_draws_give_the_same_bits_in_a_process_without_compiler():
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", UNCOMPILED, json.dumps(CASES)],
        cwd=ROOT,
        env=os.environ | {"STEER_JIT": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    expected = []
    for case in CASES:
        expected += [hexed(rng.uniform4(*case)), hexed(rng.unit_vector(*case))] * 2
    assert json.loads(result.stdout) == expected


@settings(max_examples=tried(200), deadline=None)
@given(INT64, INT64, INT64, st.integers(0, 65535))
def test_any_seed_id_and_step_are_legal(seed, agent_id, step, purpose):
    four = rng.uniform4(seed, agent_id, step, purpose)
    assert all(0.0 <= value < 1.0 for value in four)
    assert all(value * 2**32 == int(value * 2**32) for value in four)
    assert rng.uniform(seed, agent_id, step, purpose) == four[0]
    assert abs(np.linalg.norm(rng.unit_vector(seed, agent_id, step, purpose)) - 1.0) < 1e-12


@pytest.mark.parametrize("position", range(4))
def test_each_argument_counts_in_both_halves(position):
    base = [11, 12, 13, 14]
    changes = [1, -1] if position > 1 else [1, -1, 2**32, -(2**40)]
    for change in changes:
        other = list(base)
        other[position] += change
        assert rng.uniform4(*base) != rng.uniform4(*other)


def test_draws_do_not_depend_on_the_order_of_calls():
    names = [(3, i, s, p) for i in range(10) for s in range(10) for p in (1, 2)]
    forward = {name: rng.uniform4(*name) for name in names}
    shuffled = np.random.default_rng(0).permutation(len(names))
    assert all(rng.uniform4(*names[n]) == forward[names[n]] for n in shuffled)


@pytest.mark.parametrize("axis", ["seed", "agent", "step", "purpose"])
def test_numbers_are_uniform_along_every_argument(axis):
    count = 16384
    place = ["seed", "agent", "step", "purpose"].index(axis)
    draws = np.empty((count, 4))
    for n in range(count):
        name = [5, 6, 7, 8]
        name[place] = n
        draws[n] = rng.uniform4(*name)
    # Mean of n uniform numbers: deviation 1/sqrt(12 n); fixed input, so no chance of a stray fail.
    assert np.abs(draws.mean(axis=0) - 0.5).max() < 5.0 / np.sqrt(12.0 * count)
    for column in draws.T:
        observed = np.bincount((column * 64).astype(int), minlength=64)
        chi_square = ((observed - count / 64) ** 2 / (count / 64)).sum()
        assert 25.0 < chi_square < 120.0  # 63 degrees of freedom, both tails below 1e-5
    columns = np.corrcoef(draws.T) - np.eye(4)
    assert np.abs(columns).max() < 5.0 / np.sqrt(count)
    neighbors = np.corrcoef(draws[:-1, 0], draws[1:, 0])[0, 1]
    assert abs(neighbors) < 5.0 / np.sqrt(count)


def test_unit_vectors_are_uniform_on_the_sphere():
    count = 20000
    points = np.array([rng.unit_vector(1, n, 0, 2) for n in range(count)])
    assert np.abs(np.linalg.norm(points, axis=1) - 1.0).max() < 1e-12
    assert np.abs(points.mean(axis=0)).max() < 5.0 / np.sqrt(3.0 * count)
    # Archimedes: every coordinate of such a point is uniform on -1 to 1.
    for column in points.T:
        observed = np.histogram(column, bins=40, range=(-1.0, 1.0))[0]
        assert ((observed - count / 40) ** 2 / (count / 40)).sum() < 90.0  # 39 degrees, 1e-5
    second = points.T @ points / count
    assert np.abs(second - np.eye(3) / 3.0).max() < 0.02


def test_purposes_keep_the_numbers_that_crowds_were_simulated_with():
    used = (wander.WANDER, seen_neighbors.PARTING, paths.PATH, passes.CONTACT)
    assert used == (1, 2, 6, 7)


def test_a_purpose_is_derived_from_its_name():
    # the same in all processes, and beyond those that were numbered by hand
    assert rng.random_purpose("follow_beat") == rng.random_purpose("follow_beat") == 8641
    names = [f"behavior {n}" for n in range(40)]
    numbers = [rng.random_purpose(name) for name in names]
    assert len(set(numbers)) == len(names)
    # attempts count from bit 16 on
    assert all(256 <= number < 65536 for number in numbers)


def test_names_with_one_number_are_told_apart():
    assert rng.random_purpose("dance_285") == 56448
    with pytest.raises(ParameterError, match="'dance_328' has the number 56448 of 'dance_285'"):
        rng.random_purpose("dance_328")
    with pytest.raises(ParameterError, match="choose another name"):
        rng.random_purpose("other", 1)

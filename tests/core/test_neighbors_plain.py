"""Neighbor lists without a compiler: the same bits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from steer_addon.core.geometry import neighbors

ROOT = Path(__file__).parents[2]


def crowd():
    """Positions, headings and ids of 150 agents."""
    rng = np.random.default_rng(3)
    position = rng.uniform(-10.0, 10.0, (150, 3)).astype(np.float32)
    heading = rng.normal(size=(150, 3))
    heading /= np.linalg.norm(heading, axis=1, keepdims=True)
    return position, heading.astype(np.float32), rng.permutation(150).astype(np.int64)


@pytest.mark.slow
def test_the_same_bits_in_a_process_without_compiler():
    position, heading, ids = crowd()
    code = (
        "import json, sys, numpy as np\n"
        "from steer_addon.core.geometry import neighbors\n"
        "p, h, ids = json.loads(sys.stdin.read())\n"
        "p, h = np.array(p, np.float32), np.array(h, np.float32)\n"
        "one = [np.array([v], np.float32) for v in (9.0, 8, 270.0)]\n"
        "grid = neighbors.build_grid(p, 9.0)\n"
        "found = neighbors.find(grid, p, h, np.array(ids), *one, 8)\n"
        "assert 'numba' not in sys.modules\n"
        "print(json.dumps([a.tolist() for a in found]))\n"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        input=json.dumps([position.tolist(), heading.tolist(), ids.tolist()]),
        cwd=ROOT,
        env=os.environ | {"STEER_JIT": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    options = [np.array([value], np.float32) for value in (9.0, 8, 270.0)]
    grid = neighbors.build_grid(position, 9.0)
    found = neighbors.find(grid, position, heading, ids, *options, 8)
    assert json.loads(result.stdout) == [array.tolist() for array in found]

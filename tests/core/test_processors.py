"""People who find their ways go the same on an older processor, bit by bit."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from steer_addon.core.compiled import jit

ROOT = Path(__file__).resolve().parents[2]
OLDER = "nocona"
"""A processor without AVX, and without multiplications that add in one."""

RUN = """
import hashlib, sys
import numpy as np
import way_scenes as scenes
from waytools import Walk
walls = [scenes.rectangle(9.8, 0.0, 10.2, 9.3), scenes.rectangle(9.8, 10.6, 10.2, 17.0)]
scene = scenes.on_plane(walls, (20.0, 20.0))
x, y = np.meshgrid(np.arange(3.0, 8.0, 0.8), np.arange(5.0, 15.0, 0.8))
starts = np.column_stack([x.ravel(), y.ravel(), 0.0 * x.ravel()])
walk = Walk(scene, starts, [15.0, 10.0, 0.0], sys.argv[1])
digest = hashlib.blake2b(walk.on(240).tobytes())
digest.update(walk.simulation.agents.heading.tobytes())
print(digest.hexdigest())
"""


def gone(ways: str, folder: Path, **environment: str) -> str:
    """Digest of where people were in each frame, and of their headings."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "core")])
    told = {"STEER_JIT": "1", "PYTHONPATH": paths, "STEER_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", RUN, ways],
        env={**os.environ, **told, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(not jit.status().compiled, reason="needs numba")
@pytest.mark.skipif(platform.machine().lower() not in {"x86_64", "amd64"}, reason="needs x86-64")
def test_people_go_the_same_on_an_older_processor(tmp_path: Path) -> None:
    for ways in ("AROUND", "QUICKEST"):
        usual = gone(ways, tmp_path / "usual")
        assert gone(ways, tmp_path / "older", NUMBA_CPU_NAME=OLDER, STEER_THREADS="1") == usual
    assert list((tmp_path / "older").rglob(f"*{OLDER}*"))

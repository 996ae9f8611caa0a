"""The flock in NumPy and in C, to which the kernels are compared.

Both compute the step that `crowds.flock` describes: separation, cohesion and alignment of all
agents within the radius, REYNOLDS solver, FLY motion.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scripts.bench.crowds import DT, REACH, STRENGTH
from steer_addon.core.agents import Agents
from steer_addon.core.crowd.settings import CrowdSettings

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
Moved = tuple[F32, F32]

SOURCE = Path(__file__).with_name("flock.c")
# No -ffast-math: a library made with it changes how the whole process rounds denormal numbers.
FLAGS = (
    "-O3",
    "-march=native",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-signed-zeros",
    "-fassociative-math",
    "-freciprocal-math",
    "-fopenmp",
    "-shared",
    "-fPIC",
)


def _unit(v: F64) -> F64:
    size = np.linalg.norm(v, axis=1, keepdims=True)
    return np.where(size < 1e-6, 0.0, v / np.maximum(size, 1e-6))


def _pairs(position: F64, reach: float) -> tuple[I64, I64]:
    """All pairs (i, j) within reach, i ≠ j, from sorted cells and without a loop over agents."""
    cell = np.floor(position / reach).astype(np.int64)
    cell -= cell.min(axis=0) - 1
    size = cell.max(axis=0) + 2
    key = (cell[:, 2] * size[1] + cell[:, 1]) * size[0] + cell[:, 0]
    order = np.argsort(key, kind="stable")
    start = np.searchsorted(key[order], np.arange(size.prod() + 1))
    sources, others = [], []
    for dz in (-1, 0, 1):
        for dy in (-1, 0, 1):
            middle = key + (dz * size[1] + dy) * size[0]
            first, last = start[middle - 1], start[middle + 2]
            count = last - first
            i = np.repeat(np.arange(len(position)), count)
            j = order[np.arange(len(i)) - np.repeat(np.cumsum(count) - count - first, count)]
            offset = position[i] - position[j]
            near = (np.einsum("ij,ij->i", offset, offset) <= reach * reach) & (i != j)
            sources.append(i[near])
            others.append(j[near])
    return np.concatenate(sources), np.concatenate(others)


def _sums(rows: I64, values: F64, count: int) -> F64:
    return np.stack([np.bincount(rows, values[:, k], count) for k in range(3)], axis=1)


def numpy_step(agents: Agents, settings: CrowdSettings) -> Moved:
    """One step in NumPy, as it is written without a compiler.

    Returns:
        Positions [m] and velocities [m/s] after the step, each of shape (agent_count, 3).
    """
    p, v = agents.position.astype(np.float64), agents.velocity.astype(np.float64)
    count = len(p)
    i, j = _pairs(p, REACH)
    offset = p[i] - p[j]
    distance = np.linalg.norm(offset, axis=1)
    weight = np.maximum(0.0, 1.0 - distance / REACH) ** 2
    seen = np.bincount(i, minlength=count)[:, None]
    away = _unit(_sums(i, _unit(offset) * weight[:, None], count))
    middle = _sums(i, -offset, count) / np.maximum(seen, 1)
    near = np.maximum(0.0, 1.0 - np.linalg.norm(middle, axis=1, keepdims=True) / REACH) ** 2
    along = _unit(_sums(i, _unit(v)[j] * weight[:, None], count))
    wished = STRENGTH[0] * away
    wished += np.where(seen > 0, STRENGTH[1] * near * _unit(middle) - v, 0.0)
    wished += np.where(np.abs(along).max(axis=1, keepdims=True) > 0.0, STRENGTH[2] * along - v, 0.0)
    force = wished / settings.solver.relaxation_time
    size = np.linalg.norm(force, axis=1)
    force *= np.minimum(1.0, agents.max_force / np.maximum(size, 1e-12))[:, None]
    v = v + force * (DT / agents.mass)[:, None]
    speed = np.linalg.norm(v, axis=1)
    v *= np.minimum(1.0, agents.max_speed / np.maximum(speed, 1e-12))[:, None]
    return (p + v * DT).astype(np.float32), v.astype(np.float32)


class CFlock:
    """One step in C on all cores."""

    def __init__(self, library: Path) -> None:
        # threads that spin while waiting would slow down the other side
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        self._flock = ctypes.CDLL(str(library)).flock

    def step(self, agents: Agents, settings: CrowdSettings) -> Moved:
        """Positions [m] and velocities [m/s] after the step, each of shape (agent_count, 3)."""
        values = (
            REACH,
            *STRENGTH,
            settings.solver.relaxation_time,
            float(agents.max_force[0]),
            float(agents.max_speed[0]),
            float(agents.mass[0]),
            DT,
        )
        position, velocity = np.empty_like(agents.position), np.empty_like(agents.velocity)
        given = np.array(values, np.float32)
        arrays = (agents.position, agents.velocity, given, position, velocity)
        pointers = (ctypes.c_void_p(array.ctypes.data) for array in arrays)
        if self._flock(ctypes.c_int(agents.count), *pointers):
            raise MemoryError("no memory for the flock in C")
        return position, velocity


@contextmanager
def c_flock() -> Iterator[CFlock | None]:
    """The step in C, compiled now; None without a compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="steer-bench-") as folder:
        library = Path(folder) / "flock.so"
        command = [compiler, *FLAGS, str(SOURCE), "-o", str(library), "-lm"]
        built = subprocess.run(command, capture_output=True, check=False)
        yield CFlock(library) if built.returncode == 0 else None

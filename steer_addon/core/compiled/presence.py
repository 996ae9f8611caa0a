"""Whether kernels can be compiled here, asked without loading numba."""

from __future__ import annotations

import importlib.util
import os


def can_compile() -> bool:
    """Whether numba is there, and STEER_JIT does not say no."""
    return os.environ.get("STEER_JIT", "1") != "0" and importlib.util.find_spec("numba") is not None

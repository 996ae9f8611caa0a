"""Proposals: how the kernel of a behavior writes what it asks for."""

from __future__ import annotations

from ..compiled.jit import kernel
from ..numeric.vec import store
from .declare import ASKED


@kernel
def store_proposal(out, active, i, v):
    """Write the proposal of agent i [m/s]."""
    store(out, i, v)
    active[i] = ASKED

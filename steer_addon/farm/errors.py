"""The error of batches; typed errors of all else are in `core.errors`."""

from __future__ import annotations

from ..core.errors import SteerError


class JobError(SteerError):
    """A job file of a batch cannot be used as it is, or a task of it cannot be run."""

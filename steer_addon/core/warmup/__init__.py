"""Kernels compiled ahead of their first use, in processes of their own."""

from __future__ import annotations

from ..doors import load_on_use

load_on_use(__name__, "dry_run", "everything", "processes")

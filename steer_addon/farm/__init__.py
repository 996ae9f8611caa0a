"""Batches: a job file becomes variations and tasks, and engines run these on processes or farms.

A task is a command of Steer, as anybody could type it, with what it needs and what it leaves. No
task knows which engine runs it, and no engine knows what a task does. Nothing here needs Blender:
commands that do run in processes of their own.
"""

from __future__ import annotations

from ..core.doors import load_on_use

load_on_use(__name__, "dask_engine")

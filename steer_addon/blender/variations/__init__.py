"""Variations of a crowd: bakes by other seeds, made in the background, shown and kept.

They are the tasks of a batch (see `farm`), made from a copy of the file in processes of their own.
A variation that is shown is a bake like any other; the crowd remembers what it showed before.
"""

from __future__ import annotations

from ...core.doors import load_on_use

load_on_use(__name__, "made", "running", "showing")

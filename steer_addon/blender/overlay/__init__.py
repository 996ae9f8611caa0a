"""Explanation of an agent's turns in the viewport: arrows, rays, names, a table and handles.

`answers` keeps the proposals of the behaviors at the shown frame, `strokes` turns them into lines,
and `view` draws the lines. `timeline` draws which frames are stored.
"""

from __future__ import annotations

from ...core.doors import load_on_use

load_on_use(__name__, "answers", "seen", "strokes", "timeline", "view")

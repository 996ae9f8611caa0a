"""Why an agent turned, in the viewport: arrows, rays and names, a table, and handles.

`answers` keeps what the behaviors ask for at the frame that is seen, `strokes` makes lines of it,
`view` draws them.
"""

from __future__ import annotations

from ...core.doors import load_on_use

load_on_use(__name__, "answers", "seen", "view")

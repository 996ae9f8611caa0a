"""Files: read only as plain files, written whole or not at all, never those of another program."""

from __future__ import annotations

from ..doors import load_on_use

load_on_use(__name__, "lock")

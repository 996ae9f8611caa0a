"""Writers: frames of a crowd as files of other programs. They know nothing of caches or scenes."""

from __future__ import annotations

from ...core.doors import load_on_use

load_on_use(__name__, "alembic", "formats", "keyed", "trajectories", "usd_instancer")

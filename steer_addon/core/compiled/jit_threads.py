"""How many threads loops over agents may use, as the environment says."""

from __future__ import annotations

import os

from ..errors import short, warn


def wanted() -> int:
    """Threads by the variable STEER_THREADS; as many as there are cores without it."""
    text = os.environ.get("STEER_THREADS", "")
    if text.isdecimal() and len(text) < 6 and int(text) > 0:
        return int(text)
    if text not in ("", "0"):
        problem = "STEER_THREADS is %s: give a whole number to 99999; all cores are used"
        warn(__name__, problem, short(text))
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

"""Digests by which it is known that the same was asked for before."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np


def digest_of(wanted: Any) -> bytes:
    """A digest of arrays in tuples; None stands for no array."""
    if isinstance(wanted, tuple):
        return b"".join(map(digest_of, wanted))
    told = b"" if wanted is None else np.ascontiguousarray(wanted).data
    return hashlib.blake2b(told, digest_size=16).digest()

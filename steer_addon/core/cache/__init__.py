"""Caches: baked frames as plain files that `numpy.load(allow_pickle=False)` reads."""

from __future__ import annotations

from . import changes
from .cleaning import delete_cache
from .layout import MANIFEST, NEXT, VERSION, CacheHeader, folder_name
from .reader import Cache, open_cache
from .writer import CacheWriter

__all__ = [
    "MANIFEST",
    "NEXT",
    "VERSION",
    "Cache",
    "CacheHeader",
    "CacheWriter",
    "changes",
    "delete_cache",
    "folder_name",
    "open_cache",
]

"""Caches: baked frames as plain files that `numpy.load(allow_pickle=False)` reads."""

from __future__ import annotations

from . import changes
from .cleaning import check_own, delete_cache, record_played
from .layout import MANIFEST, NEXT, PLAYED, VERSION, CacheHeader, folder_name
from .reader import Cache, open_cache
from .writer import CacheWriter

__all__ = [
    "MANIFEST",
    "NEXT",
    "PLAYED",
    "VERSION",
    "Cache",
    "CacheHeader",
    "CacheWriter",
    "changes",
    "check_own",
    "delete_cache",
    "folder_name",
    "open_cache",
    "record_played",
]

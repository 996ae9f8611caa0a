"""Caches: baked frames as plain files that `numpy.load(allow_pickle=False)` reads."""

from __future__ import annotations

from . import changes
from .cleaning import check_own, delete_cache, is_marked, make_bake_folder, record_played
from .layout import BAKE_MARK, MANIFEST, NEXT, PLAYED, VERSION, CacheHeader, folder_name
from .moving import move_cache
from .reader import Cache, open_cache
from .writer import CacheWriter

__all__ = [
    "BAKE_MARK",
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
    "is_marked",
    "make_bake_folder",
    "move_cache",
    "open_cache",
    "record_played",
]

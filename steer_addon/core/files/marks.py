"""Marks in pictures and videos: by them a later run knows which files are Steer's to replace."""

from __future__ import annotations

import os
import stat
import zlib
from pathlib import Path

from .whole import png_chunks

_TEXT = b"tEXtSoftware\x00Steer"
_END = bytes.fromhex("0000000049454e44ae426082")
"""The last chunk of every PNG file."""

_FREE = b"\x00\x00\x00\x0dfreeSteer"
"""A box that players of .mp4 skip."""


def mark_picture(path: Path) -> None:
    """Add the mark to a PNG file; one that is cut stays as it is.

    Raises:
        OSError: It cannot be written.
    """
    with path.open("r+b") as file:
        file.seek(0, 2)
        if file.tell() < len(_END):
            return
        file.seek(-len(_END), 2)
        if file.read() != _END:
            return
        file.seek(-len(_END), 2)
        length = len(_TEXT) - 4
        file.write(length.to_bytes(4, "big") + _TEXT + zlib.crc32(_TEXT).to_bytes(4, "big") + _END)


def mark_video(path: Path) -> None:
    """Add the mark to an .mp4 file.

    Raises:
        OSError: It cannot be written.
    """
    with path.open("ab") as file:
        file.write(_FREE)


def is_marked(path: Path) -> bool:
    """Whether a picture or video has the mark; a file that cannot be read has none."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return False
        with path.open("rb") as file:
            if path.suffix == ".png":
                return (_TEXT[:4], _TEXT[4:]) in png_chunks(file)
            file.seek(-len(_FREE), 2)
            return file.read() == _FREE
    except OSError:
        return False

"""Headers of .npy files, written and compared byte by byte.

The type and shape of an array are known before its file is opened, so no header of a stranger is
ever parsed: the expected header is made, and the file has to begin with exactly that.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

_START = b"\x93NUMPY\x01\x00"
_ALIGN = 64

Kind = str | Sequence[tuple[Any, ...]]
"""A type as NumPy writes it: "<f4", or the fields of a record with their types."""


def npy_header(shape: tuple[int, ...], kind: Kind = "<f4", size: int = 0) -> bytes:
    """Header of a .npy file (NumPy's format 1.0, in C order).

    Args:
        shape: Shape of the array.
        kind: Its type.
        size: Length of the header [bytes]; 0 takes the shortest that keeps the data aligned.
    """
    told = kind if isinstance(kind, str) else list(kind)
    text = repr({"descr": told, "fortran_order": False, "shape": shape}).encode("ascii")
    if not size:
        size = -(-(len(_START) + 3 + len(text)) // _ALIGN) * _ALIGN
    length = size - len(_START) - 2
    return _START + struct.pack("<H", length) + text.ljust(length - 1) + b"\n"

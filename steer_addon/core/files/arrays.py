"""Files of one array each, as NumPy writes them, opened without reading them whole."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError
from .plain import reason


def open_array(path: Path, kind: np.dtype[Any], shape: tuple[int | None, ...]) -> NDArray[Any]:
    """An array of a file, which may be anybody's; its pages are read when they are used.

    Args:
        path: A .npy file; a link is none.
        kind: The type that it has to have.
        shape: Its shape, None where any length will do.

    Raises:
        FileError: It is missing, holds something else, or is cut short.
    """
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise FileError(f"{path} is no plain file")
        found: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise FileError(f"{path} cannot be read: {reason(error)}") from None
    except (ValueError, EOFError, OverflowError):
        # an array of no length cannot be mapped, and is nothing to look at either
        raise FileError(f"{path} is no array, empty, or cut short") from None
    wanted = "×".join("any" if size is None else str(size) for size in shape)
    fits = found.ndim == len(shape) and all(
        size in (None, given) for size, given in zip(shape, found.shape, strict=True)
    )
    if found.dtype != kind or not fits:
        raise FileError(f"{path} holds {found.dtype} of {found.shape}: {kind} of {wanted} was due")
    return found

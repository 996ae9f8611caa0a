"""How large numbers may be: whatever finite ones come in, none becomes infinite on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = 2.0**100
"""Largest coordinate [m], speed [m/s] and size, about 1.27e30: what is larger counts as this.

Arrays hold 32 bits, up to 2¹²⁸, and kernels compute in 64, up to 2¹⁰²⁴: products of ten such
numbers fit.
"""


def bounded(values: Any) -> NDArray[np.float32]:
    """Numbers in 32 bits, those beyond `LARGEST` as that; what is not finite stays so.

    The same array where nothing has to change.
    """
    rows = np.asarray(values)
    if rows.dtype != np.float32:
        rows = rows.astype(np.float64)
    # not so where there is a NaN
    if rows.size and not (rows.min() >= -LARGEST and rows.max() <= LARGEST):
        rows = np.where(np.isfinite(rows), np.clip(rows, -LARGEST, LARGEST), rows)
    return np.ascontiguousarray(rows, dtype=np.float32)


def lengths(vectors: Any) -> NDArray[np.float64]:
    """Lengths of vectors, shape (vector_count,): squares of large ones do not fit 32 bits.

    Args:
        vectors: Shape (vector_count, n).
    """
    wide = np.asarray(vectors, np.float64)
    found: NDArray[np.float64] = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    return found

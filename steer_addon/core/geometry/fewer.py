"""Lists of neighbors with fewer of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..views import NeighborView


def only(found: NeighborView, keep: NDArray[np.bool_]) -> NeighborView:
    """Lists with some of their neighbors, in the same order.

    Args:
        found: The lists.
        keep: Whether each neighbor stays, shape (n, k); what is behind the end of a list does not.
    """
    order = np.argsort(~keep, axis=1, kind="stable")
    return NeighborView(
        keep.sum(axis=1).astype(np.int32),
        np.take_along_axis(found.index, order, axis=1),
        np.take_along_axis(found.distance, order, axis=1),
    )

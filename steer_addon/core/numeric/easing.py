"""Steps that begin and end gently."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def smoothstep(part: ArrayLike) -> Any:
    """From 0 to 1 with level ends, 3x² - 2x³; 0 below them and 1 above, of the same shape."""
    x: Any = np.clip(part, 0.0, 1.0)
    return x * x * (3.0 - 2.0 * x)

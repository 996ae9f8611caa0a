"""Settings as a .blend file keeps them: numbers of 32 bits, and angles in radians."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..errors import ParameterError
from ..parameters import ParameterInfo, parameters
from ..sensing.declare import TARGETS, Behavior
from .settings import BLOCKS, CrowdSettings

IN_RADIANS = ("deg", "deg/s")
"""Units of parameters that Blender keeps in radians."""


@lru_cache(maxsize=4096)
def meant(value: float, in_radians: bool) -> float:
    """The decimal number that the 32 bits of a property stand for.

    Args:
        value: What the property holds.
        in_radians: Whether that is an angle, which parameters have in degrees.
    """
    if in_radians:
        # a 32-bit number holds 7 digits; more would be the rounding of the conversion
        found = float(f"{math.degrees(value):.7g}")
    else:
        found = float(str(np.float32(value)))
    # never -0, which is equal to 0 and yet other bits
    return found + 0.0


def within(value: float, info: ParameterInfo) -> float:
    """The value of a parameter by what a property holds, in its range."""
    return min(max(meant(value, info.unit in IN_RADIANS), info.minimum), info.maximum)


def as_in_blender(settings: CrowdSettings) -> CrowdSettings:
    """Settings as Blender gives them back once they were set there: in 32 bits.

    Raises:
        ParameterError: The seed has more.
    """
    if not -(2**31) <= settings.seed < 2**31:
        raise ParameterError(f"seed is {settings.seed}: give a whole number of 32 bits")
    blocks = {name: _kept(getattr(settings, name)) for name in BLOCKS}
    return replace(
        settings,
        **blocks,
        behaviors=tuple(map(_kept_behavior, settings.behaviors)),
        groups=tuple(map(_kept, settings.groups)),
    )


def _kept(block: Any) -> Any:
    values = block.to_dict()
    for name, info in parameters(block).items():
        if info.kind == "float":
            value = values[name]
            radians = info.unit in IN_RADIANS
            held = np.float32(math.radians(value) if radians else value)
            values[name] = within(float(held), info)
    return type(block)(**values)


def _kept_behavior(entry: Behavior) -> Behavior:
    kept: Behavior = _kept(entry)
    kind = entry.definition.type
    own = bool(entry.target) and TARGETS in entry.definition.uses
    return replace(
        kept,
        name="" if kept.key == kind else kept.key,
        target=kept.key if own else "",
    )

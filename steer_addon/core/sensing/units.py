"""Parameters that are measured in meters, or in meters per second, from 0 up."""

from __future__ import annotations

from typing import Any

from ..parameters import param


def meters(default: float, *, doc: str, soft_maximum: float = 20.0, **options: Any) -> Any:
    """Declare a distance or a size [m] ≥ 0; `param` says what the options are."""
    return param(default, unit="m", minimum=0.0, soft_maximum=soft_maximum, doc=doc, **options)


def meters_per_second(default: float, *, doc: str, soft_maximum: float, **options: Any) -> Any:
    """Declare a speed [m/s] ≥ 0; `param` says what the options are."""
    return param(default, unit="m/s", minimum=0.0, soft_maximum=soft_maximum, doc=doc, **options)

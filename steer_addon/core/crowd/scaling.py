"""Settings in the length unit of a scene: presets and defaults are in meters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from ..parameters import Settings, parameters
from .settings import BLOCKS, CrowdSettings

LENGTHS = ("m", "m/s", "m/s²", "N")
"""Units that are proportional to a length; masses and times stay."""

SettingsT = TypeVar("SettingsT", bound=Settings)


def scaled(settings: SettingsT, factor: float) -> SettingsT:
    """A block of settings, or a behavior, with its lengths multiplied.

    Args:
        settings: The block.
        factor: Units of a scene in a meter; the inverse for the way back.
    """
    if factor == 1.0:
        return settings
    values = settings.to_dict()
    for name, info in parameters(settings).items():
        if info.unit in LENGTHS:
            value = float(f"{values[name] * factor:.7g}")
            values[name] = min(max(value, info.minimum), info.maximum)
    return type(settings)(**values)


def scaled_crowd(settings: CrowdSettings, factor: float) -> CrowdSettings:
    """All settings of a crowd with their lengths multiplied, as `scaled` does."""
    if factor == 1.0:
        return settings
    blocks: dict[str, Any] = {name: scaled(getattr(settings, name), factor) for name in BLOCKS}
    stack = tuple(scaled(entry, factor) for entry in settings.behaviors)
    return replace(settings, **blocks, behaviors=stack)

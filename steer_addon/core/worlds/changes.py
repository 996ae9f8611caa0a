"""Changes of the settings of a stored crowd for a run, and which of them need the scene."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..crowd.overrides import with_override
from ..crowd.settings import CrowdSettings
from ..errors import ParameterError
from ..parameters import parameters
from ..sensing.declare import CONTAINER


def changed(settings: CrowdSettings, texts: Sequence[str], seed: int | None) -> CrowdSettings:
    """Settings changed by texts like "separation.weight=2", and the seed.

    Raises:
        ParameterError: There is no such setting, or a value does not fit.
    """
    for text in texts:
        settings = with_override(settings, text)
    return settings if seed is None else replace(settings, seed=seed)


def what_is_read(settings: CrowdSettings, *, walls: bool, alone: bool) -> dict[str, Any]:
    """What decides which data of a scene is read, by the name of the setting.

    Args:
        settings: Settings of a crowd.
        walls: Whether it has colliders.
        alone: Whether other crowds of the scene are not stored with it.
    """
    births = settings.births
    found: dict[str, Any] = {"births.emission": births.emits}
    if births.emits:
        found["births.part"] = births.part
    if walls:
        found["motion.wall_height"] = settings.motion.wall_height
    if alone:
        found |= {f"meets.{name}": value for name, value in settings.meets.to_dict().items()}
        found["bodies.collide_agents"] = settings.bodies.collide_agents
    for entry in settings.behaviors:
        found[f"{entry.key}.name"] = entry.definition.type
        found[f"{entry.key}.target"] = bool(entry.target)
        if CONTAINER in entry.definition.uses:
            found[f"{entry.key}.shape"] = entry.container_shape(entry) == "MESH"
        if "attribute" in parameters(entry):
            found[f"{entry.key}.attribute"] = entry.to_dict()["attribute"]
    return found


def check_read(before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Refuse a change of what decides which data of a scene is read; see `what_is_read`.

    Behaviors may come and go, and have new names: as in Blender they have no inputs of their own
    then.

    Raises:
        ParameterError: There is one.
    """
    for name in sorted(before.keys() & after.keys()):
        if before[name] != after[name]:
            raise ParameterError(
                f"{name} decides what a crowd reads from its scene, which a world no longer has: "
                f"extract it with --set {name}=…, or simulate the .blend file"
            )

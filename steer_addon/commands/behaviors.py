"""List the behaviors with their parameters, as `--set` takes them."""

from __future__ import annotations

import argparse
from typing import Any

from ..core.behaviors import REGISTRY
from ..core.crowd.groups import GroupSettings
from ..core.crowd.settings import BLOCKS
from ..core.errors import ParameterError
from ..core.parameters import ParameterInfo, Settings, parameters
from .output import Result

NAME = "behaviors"
IN_BLENDER = False
_SETTINGS: dict[str, type[Settings]] = {**BLOCKS, "groups": GroupSettings}
_OF_THE_SCENE = ("name", "target")
"""Parameters of behaviors that the scene sets."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    blocks = ", ".join(_SETTINGS)
    parser.add_argument(
        "type", nargs="?", help=f"behavior, or block of settings ({blocks}), to show in full"
    )


def run(options: argparse.Namespace) -> Result:
    """List them all, or show one in full."""
    known: dict[str, type[Settings]] = {**REGISTRY, **_SETTINGS}
    if options.type is not None and options.type not in known:
        raise ParameterError(
            f"There is no behavior {options.type!r}: known are {', '.join(sorted(REGISTRY))}, "
            f"and the blocks {', '.join(_SETTINGS)}"
        )
    names = list(known) if options.type is None else [options.type]
    lines: list[str] = []
    for name in names:
        shown = f"{name}.NAME" if known[name] is GroupSettings else name
        lines += _lines(shown, known[name], full=options.type is not None)
    data = {
        "behaviors": [_behavior_data(name) for name in names if name in REGISTRY],
        "settings": {n: _parameter_data(_SETTINGS[n]) for n in names if n in _SETTINGS},
    }
    return Result(data, lines)


def _summary(cls: type[Settings]) -> str:
    return " ".join((cls.__doc__ or "").strip().partition("\n\n")[0].split())


def _lines(name: str, cls: type[Settings], full: bool) -> list[str]:
    lines = [f"{name}: {_summary(cls)}"]
    for parameter, info in parameters(cls).items():
        if parameter in _OF_THE_SCENE and cls not in _SETTINGS.values():
            continue
        lines.append(f"  {name}.{parameter} = {_range(info)}")
        if full:
            lines.append(f"      {info.doc}")
            lines += [f"      {choice}: {text}" for choice, text in info.choices.items()]
    return lines


def _range(info: ParameterInfo) -> str:
    if info.kind == "text":
        return str(info.default)
    if info.kind == "choice":
        return f"{info.default}  ({', '.join(info.choices)})"
    if info.kind == "bool":
        return f"{str(info.default).lower()}  (true, false)"
    unit = f" {info.unit}" if info.unit else ""
    low, high = _limit(info.minimum), _limit(info.maximum)
    if low is None and high is None:
        return f"{info.default:g}{unit}"
    if high is None:
        return f"{info.default:g}{unit}  (from {low:g} up)"
    return f"{info.default:g}{unit}  ({info.minimum:g} to {high:g})"


def _limit(value: float) -> float | None:
    return None if abs(value) >= 1.0e9 else value


def _behavior_data(name: str) -> dict[str, Any]:
    definition = REGISTRY[name].definition
    return {
        "type": name,
        "label": definition.label,
        "group": definition.group,
        "output": definition.output,
        "uses": list(definition.uses),
        "shows": list(definition.shows),
        "description": _summary(REGISTRY[name]),
        "parameters": _parameter_data(REGISTRY[name]),
    }


def _parameter_data(cls: type[Settings]) -> list[dict[str, Any]]:
    return [
        {
            "name": info.name,
            "label": info.label,
            "kind": info.kind,
            "default": info.default,
            "unit": info.unit,
            "minimum": _limit(info.minimum),
            "maximum": _limit(info.maximum),
            "choices": info.choices,
            "description": info.doc,
        }
        for info in parameters(cls).values()
    ]

"""List the presets, or show one."""

from __future__ import annotations

import argparse

from ..core.crowd import presets
from . import arguments
from .output import Result

NAME = "presets"
IN_BLENDER = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "name", nargs="?", help="name of a preset, or a .json file, to show with all its settings"
    )
    parser.add_argument(
        "--folder",
        type=arguments.path,
        action="append",
        default=[],
        help="look for presets in this folder too; may be given several times",
    )


def run(options: argparse.Namespace) -> Result:
    """List or show."""
    if options.name:
        return _show(presets.load_preset(options.name, *options.folder))
    found = [presets.read_preset(path) for path in presets.find_presets(*options.folder).values()]
    width = max((len(preset.name) for preset in found), default=0)
    rows = [{"name": p.name, "label": p.label, "description": p.description} for p in found]
    return Result(
        {"presets": rows},
        [f"{preset.name:<{width}}  {preset.description}" for preset in found]
        or ["There are no presets."],
    )


def _show(preset: presets.Preset) -> Result:
    settings = preset.settings.to_dict()
    lines = [f"{preset.label}: {preset.description}"]
    for block, values in settings.items():
        if block == "behaviors":
            for entry, behavior in zip(values, preset.settings.behaviors, strict=True):
                lines += [f"{behavior.key}.{k} = {v}" for k, v in entry.items() if k != "name"]
        elif isinstance(values, dict):
            lines += [f"{block}.{name} = {value}" for name, value in values.items()]
        else:
            lines.append(f"{block} = {values}")
    return Result(
        {
            "name": preset.name,
            "label": preset.label,
            "description": preset.description,
            "settings": settings,
        },
        lines,
    )

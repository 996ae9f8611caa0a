"""List the presets, or show one."""

from __future__ import annotations

import argparse
import os

from ..core.crowd import presets
from ..core.diagnoses import diagnose
from ..core.errors import PresetError, UsageError
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
    for folder in options.folder:
        if not os.path.isdir(folder):
            raise UsageError(f"There is no folder {folder}: give one with presets to --folder")
    if options.name:
        return _show(presets.load_preset(options.name, *options.folder))
    found, warnings = [], []
    for path in presets.find_presets(*options.folder).values():
        try:
            found.append(presets.read_preset(path))
        except PresetError as error:
            warnings.append(diagnose("PRESET_IGNORED", str(path), reason=str(error)))
    width = max((len(preset.name) for preset in found), default=0)
    rows = [{"name": p.name, "label": p.label, "description": p.description} for p in found]
    lines = [f"{preset.name:<{width}}  {preset.description}" for preset in found]
    return Result({"presets": rows, "warnings": warnings}, [*warnings, *lines])


def _show(preset: presets.Preset) -> Result:
    settings = preset.settings.to_dict()
    lines = [f"{preset.label}: {preset.description}"]
    for block, values in settings.items():
        if block == "behaviors":
            for entry, behavior in zip(values, preset.settings.behaviors, strict=True):
                lines += [f"{behavior.key}.{k} = {v}" for k, v in entry.items() if k != "name"]
        elif block == "groups":
            for group in values:
                lines += [f"groups.{group['name']}.{k} = {v}" for k, v in group.items()]
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

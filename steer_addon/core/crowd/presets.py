"""Presets: settings of a crowd in a JSON file, checked against the dataclasses when read.

A preset is data: nothing in it is executed, and it names no other file. Its form::

    {"format": "steer-preset", "version": 1, "label": "…", "description": "…", "group": "…",
     "settings": {"agents": {…}, "motion": {…}, "solver": {…},
                  "behaviors": [{"type": …}], "groups": [{"name": …}], "seed": 0},
     "start": {"agents": 80, "figure": "PERSON", …}}

`start` says what *Add ▸ Crowd* makes, and can be left out (see `start`).
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import (
    FileError,
    ParameterError,
    PresetError,
    printable,
    short,
    shortened,
)
from ..files.plain import read_file
from ..files.staging import as_output_errors, replace_file
from .settings import CrowdSettings
from .start import StartSettings

FORMAT = "steer-preset"
VERSION = 1
DEFAULT = "pedestrians"
"""Name of the preset of new crowds."""
MAX_BYTES = 1_000_000
_LONGEST = 300
"""Characters of a label, description or group: what is longer does not fit a menu."""
_TEXTS = ("label", "description", "group")


@dataclass(frozen=True)
class Preset:
    """A named set of settings.

    Attributes:
        name: File name without its ending.
        label: Name shown to people.
        description: One sentence.
        settings: The settings themselves.
        group: Heading that menus list it under; empty for none.
        start: What a crowd starts with.
    """

    name: str
    label: str
    description: str
    settings: CrowdSettings
    group: str = ""
    start: StartSettings = StartSettings()


@dataclass(frozen=True)
class Card:
    """The part of a preset that menus show.

    Attributes:
        label: Name shown to people.
        description: One sentence; may be empty.
        group: Heading that menus list it under; may be empty.
    """

    label: str
    description: str = ""
    group: str = ""


def builtin_folder() -> Path:
    """Folder of the presets that come with Steer: beside the package, or inside it in a wheel."""
    package = Path(__file__).resolve().parents[2]
    inside = package / "presets"
    return inside if inside.is_dir() else package.parent / "presets"


def find_presets(*folders: Path) -> dict[str, Path]:
    """Preset files by name, sorted; later folders win over the built-in ones.

    Files whose names no menu can show, as they are no text in UTF-8, are left out.
    """
    found: dict[str, Path] = {}
    for folder in (builtin_folder(), *folders):
        if folder.is_dir():
            paths = sorted(folder.glob("*.json"))
            found.update({p.stem: p for p in paths if printable(p.stem) == p.stem})
    return dict(sorted(found.items()))


def read_preset(path: Path) -> Preset:
    """Read and check a preset file.

    Raises:
        PresetError: The file cannot be read, is no preset, or does not fit the parameters.
    """
    try:
        data = _loaded(path)
    except FileError as error:
        raise PresetError(f"Preset {error}: give a file that Steer saved") from None
    except (ValueError, RecursionError):
        raise PresetError(
            f"Preset {path.name} is not valid JSON: save it again from Blender"
        ) from None
    return _checked(path.stem, path.name, data)


def _loaded(path: Path) -> Any:
    """The JSON data of a file, or of the one that a link leads to.

    Raises:
        FileError: It is no plain file, too large, or cannot be read.
        ValueError: It holds no JSON.
        RecursionError: Its lists are too deep.
    """
    data = bytes(read_file(Path(os.path.realpath(path)), most=MAX_BYTES))
    return json.loads(data.decode("utf-8"), object_hook=_cleaned)


def _cleaned(values: dict[str, Any]) -> dict[str, Any]:
    """The values of a JSON object, with texts that a menu or a terminal can show."""
    return {k: printable(v) if isinstance(v, str) else v for k, v in values.items()}


def preset_card(path: Path) -> Card:
    """The card of a preset file, for menus; its file name where it gives no label.

    Nothing else of the file is checked, and it is read again only after it changed.
    """
    try:
        return _card(path, path.stat().st_mtime_ns)
    except (FileError, OSError, ValueError, RecursionError):
        # applying the preset reports its fault
        return Card(printable(path.stem))


@lru_cache(maxsize=1000)
def _card(path: Path, changed: int) -> Card:
    data = _loaded(path)
    given = data if isinstance(data, dict) else {}
    texts = {key: given.get(key) for key in _TEXTS}
    found = {
        key: shortened(text, _LONGEST)
        for key, text in texts.items()
        if isinstance(text, str) and text
    }
    return Card(**{"label": printable(path.stem), **found})


def _checked(name: str, file_name: str, data: Any) -> Preset:
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise PresetError(f'{file_name} is no Steer preset: its "format" is not "{FORMAT}"')
    if data.get("version") != VERSION:
        raise PresetError(
            f"Preset {file_name} has version {short(data.get('version'))}: "
            f"this Steer reads version {VERSION}"
        )
    for key in data:
        if key not in ("format", "version", *_TEXTS, "settings", "start"):
            raise PresetError(f"Preset {file_name} has an unknown entry {short(key)}: remove it")
    settings = data.get("settings")
    if not isinstance(settings, dict):
        raise PresetError(f"Preset {file_name} has no settings: save it again from Blender")
    start = data.get("start", {})
    if not isinstance(start, dict):
        raise PresetError(f"Preset {file_name}: start is {short(start)}: give names with values")
    try:
        checked = CrowdSettings.from_dict(settings)
        checked_start = StartSettings.from_dict(start)
    except ParameterError as error:
        raise PresetError(f"Preset {file_name}: {error}") from None
    label, description, group = (
        data.get(key, default) for key, default in zip(_TEXTS, (name, "", ""), strict=True)
    )
    if not all(isinstance(text, str) for text in (label, description, group)):
        raise PresetError(f"Preset {file_name}: label, description and group must be texts")
    label, description, group = (shortened(t, _LONGEST) for t in (label, description, group))
    return Preset(name, label, description, checked, group, checked_start)


def load_preset(name: str, *folders: Path) -> Preset:
    """Read a preset by name, or by the path of a file that ends in .json.

    Raises:
        PresetError: There is none of this name, or it cannot be used.
    """
    if name.endswith(".json"):
        return read_preset(Path(name))
    known = find_presets(*folders)
    if name not in known:
        raise PresetError(f"There is no preset {short(name)}: known are {', '.join(known)}")
    preset, builtin = read_preset(known[name]), builtin_folder() / known[name].name
    if preset.start == StartSettings() and builtin.is_file():
        # a user's own version of a preset starts as that preset does
        preset = replace(preset, start=read_preset(builtin).start)
    return preset


def save_preset(path: Path, settings: CrowdSettings, *, label: str, description: str = "") -> None:
    """Write a preset file; an old one is replaced only when the new one is complete.

    Raises:
        OutputError: The file cannot be written.
    """
    data = {
        "format": FORMAT,
        "version": VERSION,
        "label": label,
        "description": description,
        "settings": settings.to_dict(),
    }
    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    with as_output_errors(path):
        replace_file(path, [text.encode("utf-8")])

"""Parts of pages that are made from the program, and the page of presets.

A page has these parts between two marks; the text around them is written by hand:

    <!-- made by scripts/docs/render.py: controls inputs -->
    …
    <!-- end -->
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path
from typing import Any

from steer_addon.core.behaviors import REGISTRY
from steer_addon.core.crowd.groups import GroupSettings
from steer_addon.core.crowd.presets import builtin_folder, find_presets, preset_card, read_preset
from steer_addon.core.crowd.settings import BLOCKS
from steer_addon.core.parameters import ParameterInfo, conditions, parameters
from steer_addon.farm.job import Job, RenderSettings
from steer_addon.farm.schema import keys_of

from . import messages
from .floors import rooms_table

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(
    r"(<!-- made by scripts/docs/render\.py: (\w+)(?: (\w+))? -->\n).*?(<!-- end -->\n)", re.DOTALL
)
GROUPS = ("People", "Animals", "Techniques")
"""Headings of presets that menus list first."""
NO_BLENDER = importlib.util.find_spec("bpy") is None


def number(value: float) -> str:
    """A limit as text; empty for limits far beyond use."""
    return "" if abs(value) >= 1e9 else f"{value:g}"


def value_text(info: ParameterInfo) -> str:
    """A default with its unit."""
    if info.kind == "choice":
        return str(info.default)
    if info.kind == "bool":
        return "on" if info.default else "off"
    if info.kind == "text":
        return info.default or "–"
    return f"{info.default:g} {info.unit}".strip()


def limits(info: ParameterInfo) -> str:
    """The legal range."""
    if info.kind not in ("int", "float"):
        return ""
    low, high = number(info.minimum), number(info.maximum)
    return f"{low} to {high}" if low and high else f"{low} and more" if low else ""


def meaning(info: ParameterInfo) -> str:
    """Description of a parameter and its choices."""
    text = info.doc
    if info.choices:
        text += ": " + "; ".join(f"{k} = {v}" for k, v in info.choices.items())
    if info.shown_for:
        known = [
            f"`{name}` {', '.join('on' if value is True else value for value in values)}"
            for name, values in conditions(info.shown_for)
        ]
        text += f" (for {' or '.join(known)})"
    return text


def table(infos: Iterable[ParameterInfo], labels: bool = False) -> str:
    """Parameters as a table, by the names in presets, or by those in panels too."""
    first = "control | name" if labels else "parameter"
    rows = [f"| {first} | default | range | meaning |", "|---|---|---|---|" + "---|" * labels]
    for info in infos:
        name = f"{info.label} | `{info.name}`" if labels else f"`{info.name}`"
        rows.append(f"| {name} | {value_text(info)} | {limits(info)} | {meaning(info)} |")
    return "\n".join(rows) + "\n"


@cache
def _drawn() -> dict[str, str]:
    # only this function needs the Blender side
    from .controls import tables

    return tables()


def controls(name: str) -> str:
    """Contents of a section of the Crowd panel."""
    return _drawn()[name]


def settings(name: str) -> str:
    """The parameters of a block of settings, or of a group of agents."""
    blocks = {**BLOCKS, "groups": GroupSettings}
    return table(parameters(blocks[name]).values(), labels=True)


def job(name: str) -> str:
    """The keys of a job file, or of a table in it."""
    shown: dict[str, type[Any]] = {"": Job, "render": RenderSettings}
    rows = ["| key | default | meaning |", "|---|---|---|"]
    for entry in fields(shown[name]):
        default = "" if entry.default is MISSING else entry.default
        text = f"`{default}`" if isinstance(default, (str, int)) and default != "" else ""
        must = "has to be given" if entry.default is MISSING else text
        rows.append(f"| `{entry.name}` | {must} | {keys_of(shown[name])[entry.name].doc} |")
    return "\n".join(rows) + "\n"


MAKERS: dict[str, Callable[[str], str]] = {
    "controls": controls,
    "settings": settings,
    "diagnoses": messages.table,
    "rooms": rooms_table,
    "job": job,
}


def filled(text: str) -> str:
    """A page with its generated parts updated; without Blender, parts that need it stay."""

    def make(found: re.Match[str]) -> str:
        begin, kind, name, end = found.groups()
        if kind == "controls" and NO_BLENDER:
            return found[0]
        return f"{begin}\n{MAKERS[kind](name or '')}\n{end}"

    return BLOCK.sub(make, text)


def has_blocks(text: str) -> bool:
    """Whether parts of a page are made."""
    return bool(BLOCK.search(text))


def _anchor(kind: str) -> str:
    label = REGISTRY[kind].definition.label
    return f"{label.lower().replace(' ', '-')}-{kind}"


def _stack(name: str, path: Path) -> str:
    """Behaviors of a preset, in a paragraph."""
    told = read_preset(path).settings
    parts = []
    for entry in told.behaviors:
        kind = entry.definition.type
        link = f"[{entry.definition.label}](behaviors.md#{_anchor(kind)})"
        off = " (off)" if not entry.enabled or entry.weight == 0.0 else ""
        parts.append(f"{link}{off}")
    moves = "fly or swim" if told.motion.motion == "FLY" else "walk"
    solver = "velocity blend (VEX)" if told.solver.solver == "VEX" else "steering forces"
    bodies = "bodies collide" if told.bodies.collide_agents else "bodies do not collide"
    return f"{', '.join(parts)}. Agents {moves}; {solver}; {bodies}.\n"


def _scenes() -> dict[str, str]:
    """Summaries of the scenes to learn from, by name."""
    paths = sorted((builtin_folder() / "demos").glob("*.json"))
    return {path.stem: json.loads(path.read_text("utf-8")).get("summary", "") for path in paths}


def _more_scenes(scenes: dict[str, str]) -> Iterator[str]:
    """The scenes without a preset of their name."""
    yield "## More scenes\n"
    for name in sorted(scenes.keys() - find_presets().keys()):
        yield f"{scenes[name]} Scene: `steer demo {name} --save {name}.blend`.\n"


def gallery_page(note: str) -> str:
    """docs/gallery.md: animations of all built-in presets."""
    groups: dict[str, list[tuple[str, Path]]] = {name: [] for name in GROUPS}
    for name, path in find_presets().items():
        groups.setdefault(preset_card(path).group, []).append((name, path))
    parts = [
        note,
        "# Gallery of presets\n",
        "*Add ▸ Crowd* starts each with all that it needs, as it is seen here, with more walkers; "
        "it is played at its own speed. The header of the *Crowd* panel applies one to a crowd "
        "that is there. A red flag or ball is the target, a yellow line the path, a thin frame "
        "the container. "
        "[First steps](first_steps.md) says what is made when; [Settings](settings.md#presets) "
        "lists the same presets in short.\n",
        "Some have a whole scene to learn from: `steer demo NAME --save scene.blend`.\n",
    ]
    scenes = _scenes()
    for group, rows in groups.items():
        parts.append(f"## {group}\n")
        for name, path in sorted(rows, key=lambda row: preset_card(row[1]).label):
            card = preset_card(path)
            parts += [
                f"### {card.label}\n",
                f"![{card.label}: {card.description}](images/presets/{name}.webp)\n",
                f"{card.description}.\n",
                f"Preset `{name}`: {_stack(name, path)}",
            ]
            if name in scenes:
                parts.append(f"Scene: `steer demo {name} --save {name}.blend`.\n")
    return "\n".join([*parts, *_more_scenes(scenes)])

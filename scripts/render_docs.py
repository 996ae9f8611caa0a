"""Make the pages of docs/ that follow from the program itself.

`python scripts/render_docs.py` writes them; with `--check` it only says whether they are up to
date, and exits with 1 when they are not.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from steer_addon.core.behaviors import REGISTRY, own_parameters  # noqa: E402
from steer_addon.core.behaviors.base import COMMON, Behavior  # noqa: E402
from steer_addon.core.parameters import ParameterInfo, parameters  # noqa: E402
from steer_addon.core.presets import find_presets, read_preset  # noqa: E402
from steer_addon.core.settings import BLOCKS  # noqa: E402

NOTE = "<!-- Made by scripts/render_docs.py from the program: change it there. -->\n"
OUTPUT = {"VELOCITY": "desired velocity", "PUSH": "push"}


def number(value: float) -> str:
    """A limit as people write it; none for those far beyond use."""
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


def table(infos: Iterable[ParameterInfo]) -> str:
    """Parameters as a table."""
    rows = ["| parameter | default | range | meaning |", "|---|---|---|---|"]
    for info in infos:
        meaning = info.doc
        if info.choices:
            meaning += ": " + "; ".join(f"{k} = {v}" for k, v in info.choices.items())
        rows.append(f"| `{info.name}` | {value_text(info)} | {limits(info)} | {meaning} |")
    return "\n".join(rows) + "\n"


def behavior_section(cls: type[Behavior]) -> str:
    """One behavior: what it does, its parameters."""
    made = cls.definition
    parts = [
        f"### {made.label} (`{made.type}`)\n",
        f"{inspect.getdoc(cls)} Proposes a {OUTPUT[made.output]}.\n",
    ]
    own = own_parameters(cls)
    parts.append(table(own.values()) if own else "No parameters of its own.\n")
    return "\n".join(parts)


def formulas(group: list[type[Behavior]]) -> str:
    """The module texts of a group: formula, symbols, source."""
    modules = dict.fromkeys(cls.__module__ for cls in group)
    texts = [inspect.getdoc(sys.modules[name]) or "" for name in modules]
    return "\n".join(f"```text\n{text}\n```\n" for text in texts)


def behaviors_page() -> str:
    """docs/behaviors.md."""
    parts = [
        NOTE,
        "# Behaviors\n",
        "Every behavior proposes, per agent, a *desired velocity* (the solver steers toward it) "
        "or a *push* (a change of velocity, used as it is). All of them have:\n",
        table(parameters(Behavior)[name] for name in COMMON),
        "A point attribute named like a number below overrides it per agent: `slow_radius` for "
        "every behavior that has one, `arrive.slow_radius` or `arrive.weight` for one of them.\n",
    ]
    groups: dict[str, list[type[Behavior]]] = {}
    for cls in REGISTRY.values():
        groups.setdefault(cls.definition.group, []).append(cls)
    for name, group in groups.items():
        parts.append(f"## {name}\n")
        parts.extend(behavior_section(cls) for cls in group)
        parts.append(formulas(group))
    return "\n".join(parts)


def settings_page() -> str:
    """docs/settings.md."""
    parts = [NOTE, "# Settings of a crowd\n"]
    for name, block in BLOCKS.items():
        parts += [f"## {name.title()} (`{name}`)\n", f"{inspect.getdoc(block)}\n"]
        parts.append(table(parameters(block).values()))
    parts.append("## Presets\n")
    rows = ["| preset | what it is |", "|---|---|"]
    for name, path in find_presets().items():
        preset = read_preset(path)
        rows.append(f"| `{name}` ({preset.label}) | {preset.description} |")
    parts.append("\n".join(rows) + "\n")
    return "\n".join(parts)


PAGES = {"behaviors.md": behaviors_page, "settings.md": settings_page}


def main() -> int:
    """Write the pages, or check them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, only compare")
    check = parser.parse_args().check
    stale = []
    for name, make in PAGES.items():
        path = ROOT / "docs" / name
        text = make()
        if not check:
            path.write_text(text, encoding="utf-8")
            print(f"docs/{name}")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            stale.append(f"docs/{name}")
    if stale:
        print(f"Out of date: {', '.join(stale)}; run python scripts/render_docs.py")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())

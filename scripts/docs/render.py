"""Make the pages of docs/ that follow from the program itself.

`python scripts/docs/render.py` writes them; with `--check` it only says whether they are up to
date, and exits with 1 when they are not. `--pictures` makes the pictures and animations from the
program, which takes half an hour; those of panels need a window (`--blender PROGRAM`).
"""

from __future__ import annotations

import argparse
import inspect
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(ROOT))

from scripts.docs import floors  # noqa: E402
from scripts.docs.blocks import NO_BLENDER, filled, gallery_page, has_blocks, table  # noqa: E402
from scripts.docs.pictures import PICTURES, make_pictures  # noqa: E402
from steer_addon.core.behaviors import REGISTRY, own_parameters  # noqa: E402
from steer_addon.core.crowd.groups import GroupSettings  # noqa: E402
from steer_addon.core.crowd.presets import find_presets, read_preset  # noqa: E402
from steer_addon.core.crowd.settings import BLOCKS  # noqa: E402
from steer_addon.core.crowd.start import StartSettings  # noqa: E402
from steer_addon.core.parameters import parameters  # noqa: E402
from steer_addon.core.sensing.declare import (  # noqa: E402
    COLLIDERS,
    COMMON,
    COMPANIONS,
    CONTAINER,
    FIELD,
    NEIGHBORS,
    PATHS,
    SECOND_TARGETS,
    SPHERES,
    TARGETS,
    Behavior,
)

NOTE = "<!-- Made by scripts/docs/render.py from the program: change it there. -->\n"
OUTPUT = {"VELOCITY": "desired velocity", "PUSH": "push", "WISH": "change of the wish"}
READS = {
    TARGETS: "a target",
    SECOND_TARGETS: "a second target",
    NEIGHBORS: "its neighbors",
    COLLIDERS: "colliders",
    SPHERES: "spheres (sphere empties, and the bounding spheres of the colliders)",
    PATHS: "a path",
    FIELD: "a field (vectors on a mesh, or guide curves)",
    CONTAINER: "a container",
    COMPANIONS: "the companions of each agent",
}
"""Names of the inputs that behaviors declare; the axes of targets come with these."""


def inputs(uses: tuple[str, ...]) -> str:
    """Inputs that a behavior reads in addition to its own agent."""
    found = [READS[use] for use in uses if use in READS]
    return f"Reads {', '.join(found)}.\n" if found else ""


def shown(names: Iterable[str]) -> str:
    """The attributes in which a behavior shows its state."""
    found = [f"`{name}`" for name in names]
    return f"Shows the point attribute {', '.join(found)}, see below.\n" if found else ""


def behavior_section(cls: type[Behavior]) -> str:
    """Section of one behavior: description and parameters."""
    made = cls.definition
    parts = [
        f"### {made.label} (`{made.type}`)\n",
        f"{inspect.getdoc(cls)} Proposes a {OUTPUT[made.output]}."
        f"{' May correct each step after it is made.' if made.constraint else ''}\n",
    ]
    parts += [text for text in (f"{inputs(made.uses)}{shown(made.shows)}",) if text]
    own = own_parameters(cls)
    parts.append(table(own.values()) if own else "No parameters of its own.\n")
    return "\n".join(parts)


def formulas(cls: type[Behavior]) -> str:
    """The module texts of a behavior and of its kernels: formula, symbols, source."""
    found = cls.definition.kernel
    kernels = found.values() if isinstance(found, Mapping) else (cls().kernel,)
    modules = dict.fromkeys((cls.__module__, *(kernel.__module__ for kernel in kernels)))
    if isinstance(found, tuple):  # a package whose kernel's module describes it all
        del modules[cls.__module__]
    texts = [inspect.getdoc(sys.modules[name]) or "" for name in modules]
    return "\n".join(f"```text\n{text}\n```\n" for text in texts)


def contents(groups: dict[str, list[type[Behavior]]]) -> str:
    """The behaviors of each group, each with a link to its section."""
    rows = []
    for name, group in groups.items():
        made = [cls.definition for cls in group]
        links = [f"[{d.label}](#{d.label.lower().replace(' ', '-')}-{d.type})" for d in made]
        rows.append(f"- {name}: {', '.join(links)}")
    return "\n".join(rows) + "\n"


def group_sections(group: list[type[Behavior]]) -> Iterator[str]:
    """The behaviors of a group; a formula follows the last behavior that its module holds."""
    for cls, following in itertools.zip_longest(group, group[1:]):
        yield behavior_section(cls)
        if following is None or following.__module__ != cls.__module__:
            yield formulas(cls)


def behaviors_page() -> str:
    """docs/behaviors.md."""
    parts = [
        NOTE,
        "# Behaviors\n",
        "Every behavior proposes, per agent, a *desired velocity* (the solver steers toward it) "
        "or a *push* (a change of velocity, used as it is). All of them have:\n",
        table(parameters(Behavior)[name] for name in COMMON),
        "A point attribute named like a number below overrides it per agent: `slow_radius` for "
        "every behavior that has one, `arrive.slow_radius` or `arrive.weight` for one of them. "
        "`radius` alone is that of the body, `wander.radius` that of the circle. Where to set what "
        "a behavior reads stands in [Inputs](inputs.md), which way to avoid things is for what in "
        "[Obstacles](obstacles.md).\n",
    ]
    parts.append(
        "In the formulas u is a desired velocity and Δ a push [m/s]; p, v and h are an agent's "
        "position, velocity and unit heading; dir(x) = x/|x|, and zero where |x| < 1e-6.\n"
    )
    groups: dict[str, list[type[Behavior]]] = {}
    for cls in REGISTRY.values():
        groups.setdefault(cls.definition.group, []).append(cls)
    parts.append(contents(groups))
    for name, group in groups.items():
        parts.append(f"## {name}\n")
        parts.extend(group_sections(group))
    return "\n".join(parts)


def settings_page() -> str:
    """docs/settings.md."""
    parts = [NOTE, "# Settings of a crowd\n"]
    for name, block in BLOCKS.items():
        parts += [f"## {name.title()} (`{name}`)\n", f"{inspect.getdoc(block)}\n"]
        parts.append(table(parameters(block).values()))
    parts += ["## Groups (`groups`)\n", f"A list. {inspect.getdoc(GroupSettings)}\n"]
    parts.append(table(parameters(GroupSettings).values()))
    parts.append(
        "## Seed (`seed`)\n\n"
        "A whole number, 0 unless set, that changes everything random; the same seed gives the "
        "same motion.\n"
    )
    parts.append(
        "## Presets\n\n"
        "A preset holds all of the above and the list of behaviors. Things in the scene, such "
        "as targets, colliders, paths and containers, are chosen afterwards; see "
        "[Inputs](inputs.md). `steer demo` lists scenes that have it all.\n"
    )
    parts.append(
        "A preset file may also say, in its entry `start`, what *Add ▸ Crowd* makes from it. "
        "`AUTO` follows from what the behaviors read, and so does a preset without the entry; "
        "one in your own folder that has the name of a built-in preset starts as that one "
        "does.\n"
    )
    parts.append(table(parameters(StartSettings).values()))
    rows = ["| preset | what it is |", "|---|---|"]
    for name, path in find_presets().items():
        preset = read_preset(path)
        rows.append(f"| `{name}` ({preset.label}) | {preset.description} |")
    parts.append("\n".join(rows) + "\n")
    return "\n".join(parts)


PAGES: dict[str, Callable[[], str]] = {
    "behaviors.md": behaviors_page,
    "settings.md": settings_page,
    "gallery.md": lambda: gallery_page(NOTE),
    "images/architecture.svg": floors.picture,
}
"""Pages that are generated as a whole, and the picture that follows from the imports."""


def made_pages() -> Iterator[tuple[Path, str]]:
    """Every page that is generated, in whole or in parts, with its current text."""
    for name, make in PAGES.items():
        yield DOCS / name, make()
    for path in sorted(DOCS.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        if path.relative_to(DOCS).as_posix() not in PAGES and has_blocks(text):
            yield path, filled(text)


def write_text(check: bool) -> int:
    """Write the pages, or check them; returns the exit code."""
    stale = []
    if NO_BLENDER:
        print("Left as they are: tables of controls, as there is no bpy")
    for path, text in made_pages():
        name = path.relative_to(ROOT).as_posix()
        if not check:
            path.write_text(text, encoding="utf-8")
            print(name)
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
    if stale:
        print(f"Out of date: {', '.join(stale)}; run python scripts/docs/render.py")
    return 1 if stale else 0


def main() -> int:
    """Write the pages, check them, or make the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, only compare")
    parser.add_argument(
        "--pictures",
        nargs="*",
        choices=PICTURES,
        metavar="KIND",
        help=f"make pictures: all, or some of {', '.join(PICTURES)}",
    )
    parser.add_argument("--blender", default="", help="a Blender program that can open a window")
    options = parser.parse_args()
    if options.pictures is None:
        return write_text(options.check)
    return make_pictures(options.pictures or list(PICTURES), options.blender)


if __name__ == "__main__":
    sys.exit(main())

"""The page docs/validation.md, made from results."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .flows import COUNTS, OTHERS, SCENES
from .table import COLUMNS, Result, cell, summary, verdict

INTRODUCTION = """# Validation

Made by `make validate`, which runs all of this and leaves pictures of every run in
`out/validation`; when it was interrupted, it goes on. Everything uses the preset `pedestrians` as
it is: a scenario says who starts where, how large and how fast they are, where they go, what stands
in the way and what the time step is. Where the page that defines a scenario states how far ahead
agents look (RVO2), or is about a choice between exits (RiMEA 11), that is set too. Nothing else is.

{summary}.

| column | meaning |
|---|---|
| penetrations | agent-steps with a center inside a closed mesh, or that passed a face |
| overlap | largest (r_i + r_j - distance)/(r_i + r_j) over all pairs and steps |
| parting | agents that start inside others, whose overlap counts once apart, and stay so |
| stuck | agents below 5 % of their wished speed for the last 10 s that have not arrived |
| time, path | means of those that arrived, beside those of straight ways at the wished speed |
| reversals | turns of the motion by more than 90° within half a second, mean per agent |
| score | SteerBench: 50·collisions + time + Σ kinetic energy + Σ acceleration, mean per agent |

Points on the way (the corner of a corridor, a door) are gates: lines across the way, which agents
head for side by side, and are past when they have crossed them.

First of all it plays 1,000 random scenes of closed meshes, as many of loose triangles, and as many
with any finite input (tests/core/test_contact_scenes.py): nobody may get into a mesh or through a
face.

Where a SteerBench file gives less time than its way takes alone (crowd_crossing), runs last five
times as long as that, unless nobody gets on for two minutes.

The time of a step is that of a machine that runs two scenarios at a time, one thread each.
"""

HIDDEN = """Not everybody has to arrive where a wall hides the goal from all who go by what is near.
Those do to whom a walker finds the way that goes straight at its goal, alone, and slides along what
is in the way:"""

SECTIONS = (
    ("Flow scenes", r"(" + "|".join(SCENES) + r") \d+$"),
    ("A crowd that wants one point", r"converging \d+$"),
    ("RVO2's examples", r"rvo2 "),
    ("Antipodal circle", r"antipodal \d+$"),
    ("RiMEA", r"rimea "),
    ("SteerBench", r""),
)
"""Titles, and what the names of their scenarios begin with; the last one takes the rest."""


def as_page(results: Sequence[Result], everything: Sequence[str] = ()) -> str:
    """The page for docs.

    Args:
        results: What was run.
        everything: Names of all that should be on the page; it says which were not run.
    """
    parts = [INTRODUCTION.format(summary=summary(results) + _not_run(results, everything))]
    rest = list(results)
    for title, pattern in SECTIONS:
        own = [result for result in rest if re.match(pattern, result["name"])]
        rest = [result for result in rest if not re.match(pattern, result["name"])]
        if own:
            parts.append(f"## {title}\n\n{_section(title, own)}{_made(own)}")
    return "\n".join(parts)


def _not_run(results: Sequence[Result], everything: Sequence[str]) -> str:
    """A sentence that names what is missing; equal beginnings are said once."""
    there = {result["name"] for result in results}
    left: dict[str, list[str]] = {}
    for name in everything:
        if name not in there:
            family, _space, last = name.rpartition(" ")
            left.setdefault(family, []).append(last)
    if not left:
        return ""
    names = [f"{family} {', '.join(lasts)}".strip() for family, lasts in left.items()]
    return f". Not run for this page: {'; '.join(names)}"


def _made(results: list[Result]) -> str:
    """When these were run, and with which commits."""
    made = [result["made"] for result in results if "made" in result]
    if not made:
        return ""
    days = sorted({one["date"] for one in made})
    commits = sorted({one["commit"] for one in made} - {""})
    text = " and ".join(dict.fromkeys((days[0], days[-1])))
    with_what = f", with {', '.join(commits)}" if commits else ""
    return f"\nRun on {text}{with_what}.\n"


def _section(title: str, results: list[Result]) -> str:
    if title == "Flow scenes":
        return f"{_flow_shares(results)}\n{table(results)}"
    if title == "Antipodal circle":
        return f"{_circles(results)}\n{table([r for r in results if r['short']])}"
    hidden = [r for r in results if r.get("hidden")]
    if hidden:
        names = "\n".join(
            f"- {r['name']}, {r['arrived']} of {r['agents']} arrived: {r['hidden']}."
            for r in hidden
        )
        return f"{HIDDEN}\n\n{names}\n\n{table(results)}"
    return table(results)


def table(results: Sequence[Result]) -> str:
    """All figures of some scenarios; nothing for none."""
    if not results:
        return ""
    titles = [title.replace("-\n", "").replace("\n", " ") for title, _key, _form in COLUMNS]
    lines = ["| " + " | ".join([*titles, "wanted"]) + " |"]
    lines.append("|---|" + "---:|" * (len(titles) - 1) + "---|")
    for result in results:
        cells = [cell(result, key, form) for _title, key, form in COLUMNS]
        lines.append("| " + " | ".join([*cells, verdict(result)]) + " |")
    return "\n".join(lines) + "\n"


def _flow_shares(results: list[Result]) -> str:
    """Shares that arrive beside those of the project that published the scenes."""
    share = {result["name"]: result.get("arrived_share") for result in results}
    lines = [
        "Share that arrives; in brackets the best of three solvers of the project that published "
        "the scenes.\n",
        "| scene | " + " | ".join(f"{count:,}" for count in COUNTS) + " |",
        "|---|" + "---:|" * len(COUNTS),
    ]
    for scene in SCENES:
        cells = []
        for count, theirs in zip(COUNTS, OTHERS[scene], strict=True):
            ours = share.get(f"{scene} {count}")
            cells.append(f"{'–' if ours is None else f'{ours:.2f}'} ({theirs:.2f})")
        lines.append(f"| {scene} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _circles(results: list[Result]) -> str:
    """One paragraph for all circles; those that are short follow in a table."""
    good = [result for result in results if not result["short"]]
    ends = [result["end"] for result in results if result.get("end") is not None]
    overlap = max((result.get("overlap") or 0.0 for result in results), default=0.0)
    text = (
        f"{len(good)} of {len(results)} numbers of agents as wanted; largest overlap {overlap:.4f}"
    )
    if ends:
        text += f"; the last agent arrives after {min(ends):.0f} to {max(ends):.0f} s"
    return text + ".\n"

"""The page docs/validation.md, made from results."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .flows import COUNTS, OTHERS, SCENES
from .table import COLUMNS, Result, cell, summary, verdict

INTRODUCTION = """# Validation

Made by `make validate`, which runs all of this and leaves pictures of every run in
`out/validation`; after an interruption it continues. Everything uses the preset `pedestrians` as
it is: a scenario says where each agent starts, how large and how fast it is, where it goes, what
stands in the way and what the time step is. Where the page that defines a scenario states how far
ahead agents look (RVO2), or is about a choice between exits (RiMEA 11), that is set too, and agents
of SteerBench's files find their ways round what blocks (*Ways* AROUND). Nothing else is.

{summary}. None of them is excused from anything.

{arrivals}

| column | meaning |
|---|---|
| all arrive | whether every agent arrives; – where no agent has to (see the last column) |
| led | what the rig does for agents that users cannot do yet |
| penetrations | agent-steps with a center inside a closed mesh, or that passed a face |
| overlap | largest (r_i + r_j - distance)/(r_i + r_j) over all pairs and steps |
| parting | agents that start inside others, whose overlap counts once apart, and stay so |
| stuck | agents below 5 % of their wished speed for the last 10 s that have not arrived |
| time, path | means of the agents that arrived, beside those of straight ways at the wished speed |
| reversals | turns of the motion by more than 90° within half a second, mean per agent |
| score | SteerBench: 50·collisions + time + Σ kinetic energy + Σ acceleration, mean per agent |

Where the column *led* has a mark, agents do not find their way by the preset alone: the rig gives
each one target after the other. *Stops* are places that agents have to reach. *Gates* (the corner
of a corridor, a door) are lines across the way: agents head for them side by side, each in a lane
of its own; near the line they look beyond it, so that they do not brake there; and they are past
when they have crossed it.

Before all of this, `make validate` plays 1,000 random scenes of closed meshes, 1,000 of loose
triangles, and 1,000 with any finite input (tests/core/test_contact_scenes.py): no agent may get
into a mesh or through a face.

Where a SteerBench file gives less time than its way takes alone (crowd_crossing), a run lasts at
most five times as long as that way takes.

The time of a step is that of a machine that runs two scenarios at a time, one thread each.
"""

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
        results: The results of the runs.
        everything: Names of all scenarios of the page; it names those that were not run.
    """
    told = summary(results) + _not_run(results, everything)
    parts = [INTRODUCTION.format(summary=told, arrivals=_arrivals(results))]
    rest = list(results)
    for title, pattern in SECTIONS:
        own = [result for result in rest if re.match(pattern, result["name"])]
        rest = [result for result in rest if not re.match(pattern, result["name"])]
        if own:
            parts.append(f"## {title}\n\n{_section(title, own)}{_made(own)}")
    return "\n".join(parts)


def _not_run(results: Sequence[Result], everything: Sequence[str]) -> str:
    """A sentence that names missing scenarios; equal prefixes are written once."""
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
    """Dates and commits of the runs."""
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
    return table(results)


def _arrivals(results: Sequence[Result]) -> str:
    """How many scenarios all agents arrive in."""
    asked = [result for result in results if result.get("all_arrive") is not None]
    every = sum(result["all_arrive"] for result in asked)
    led = sum(bool(result.get("led")) for result in results)
    return (
        f"Of the {len(asked)} scenarios whose agents have a goal to arrive at, all agents arrive "
        f"in {every}. The six flow scenes ask for a share of the agents in the time given, all "
        f"others for all. In {led} the rig leads agents."
    )


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
    """One paragraph for all circles; the ones that fall short follow in a table."""
    good = [result for result in results if not result["short"]]
    ends = [result["end"] for result in results if result.get("end") is not None]
    overlap = max((result.get("overlap") or 0.0 for result in results), default=0.0)
    text = (
        f"{len(good)} of {len(results)} numbers of agents as wanted; largest overlap {overlap:.4f}"
    )
    if ends:
        text += f"; the last agent arrives after {min(ends):.0f} to {max(ends):.0f} s"
    return text + ".\n"

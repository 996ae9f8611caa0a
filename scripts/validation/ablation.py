"""Results of scenarios with each rule of avoid_neighbors off in turn, as a table.

    python scripts/validation/ablation.py [--rules NAME,…] [--scenarios NAME,…] [--json OUT]
        [--write] [FILE]…

A rule is switched off in a copy of the code by a change of its text, most often of one number in
`rules.py`; a change that does not fit the text any more is an error. Each rule runs in a process of
its own, which compiles its kernels first. Scenarios are named as in the tables of validate.py, and
FILEs are those of SteerBench. Results that OUT holds are kept: delete it when the code has changed.
With --write the table in docs/avoidance.md is made from all results.

Crowds are chaotic: a number changed by a millionth changes most figures. Three runs with such a
change (NOISE) show by how much, and a rule matters if a figure is worse than in all of them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "steer_addon/core/behaviors/avoid_neighbors"
TREE = ROOT / "out" / "ablation" / "tree"
PAGE = ROOT / "docs" / "avoidance.md"
BEGIN, END = "<!-- ablation -->\n", "<!-- end of ablation -->\n"
SCENARIOS = "bottleneck 100,circle 100,corridor 100,crossing 100,dense_flow 100,antipodal 100"
FIGURES = (("reversals", 1.5, 0.5), ("time", 1.05, 0.0), ("end", 1.05, 0.0), ("score", 1.05, 0.0))
"""Figures that a rule is noticed by: worse than all others by this factor, and this much more."""
Result = dict[str, Any]
Edit = tuple[str, str, str]
"""File of the package, pattern that matches once, and its replacement."""


class Rule(NamedTuple):
    """Effect of a rule, in the words of the table, and the changes that switch it off."""

    text: str
    edits: tuple[Edit, ...]


def number(name: str, value: float) -> Edit:
    """Another value for a number of `rules.py`."""
    return "rules.py", rf"(?m)^(    {name}: float = )[^#\n]+?(?=  #|$)", rf"\g<1>{value!r}"


def text(file: str, old: str, new: str) -> Edit:
    """Another text for some piece of code."""
    return file, re.escape(old), new


RULES = {
    "keep": Rule("turning away from the velocity costs", (number("keep", 0.0),)),
    "side": Rule("agents keep to one side", (number("side", 0.0),)),
    "slowed": Rule("agents that are slowed down too", (number("slowed", 0.0),)),
    "differ": Rule(
        "agents whose wishes differ keep more to it",
        (text("choosing.py", "max(others.differ, min(1.0", "max(0.0, min(1.0"),),
    ),
    "around": Rule("it counts more where many ways cross", (number("around", 0.0),)),
    "crossing": Rule(
        "the way of a neighbor that only stands crosses none",
        (text("foreseen.py", "if goes & (table[CARE", "if (table[CARE"),),
    ),
    "side at walls": Rule(
        "it counts less before a wall",
        (text("choosing.py", "own.walls and others.opposed < 1.0", "others.opposed < 0.0"),),
    ),
    "wall": Rule("walls are in the way", (number("wall", 0.0),)),
    "flanks": Rule(
        "walls are in the way of the whole body",
        (number("flank", 0.0), number("flank_round", 1.0)),
    ),
    "followed": Rule(
        "a neighbor with the same wish is less in the way", (number("followed", 1.0),)
    ),
    "grazing": Rule(
        "a neighbor that is passed closely is less in the way", (number("grazing", 0.0),)
    ),
    "behind": Rule(
        "a neighbor behind is not in the way",
        (text("foreseen.py", "= 0.0 if behind else table[CARE", "= 0.0 if far else table[CARE"),),
    ),
    "refined": Rule("ways between the 15° steps", (number("refined", 0.0),)),
    "gap": Rule(
        "the gap ahead limits the speed",
        (
            text(
                "pacing.py",
                "min(own.speed, max(room / headway, others.opposed * effort * own.speed))",
                "own.speed",
            ),
        ),
    ),
    "askew": Rule("neighbors beyond 60° beside the way are not ahead", (number("askew", 0.0),)),
    "askew gap": Rule(
        "gaps beside the way count as longer",
        (text("pacing.py", "gap * square / (below if below > 0.0 else 1.0)", "gap"),),
    ),
    "facing": Rule(
        "a neighbor is ahead if it is so by both headings",
        (text("pacing.py", "along + table[FACING, n] > 0.0", "along > 0.0"),),
    ),
    "no waiting": Rule(
        "agents with different wishes do not wait for one another",
        (text("pacing.py", "others.opposed * effort * own.speed", "0.0"),),
    ),
    "pressing": Rule("a standing agent presses less", (number("pressing", 1.0),)),
    "response": Rule("queues foresee the gap", (number("response", 0.0),)),
    "door": Rule("people follow more closely at a door", (number("closer", 0.0),)),
    "queue": Rule("agents whose wishes hardly differ form a queue", (number("another", 0.0),)),
    "unwaited": Rule(
        "an agent that goes first does not wait",
        (text("pacing.py", " & (table[FIRST, n] >= 0.0)", ""),),
    ),
    "abreast": Rule("a lot decides between two side by side", (number("abreast", 0.0),)),
    "heading": Rule(
        "in queues at walls the heading tells which agent goes first", (number("elsewhere", -2.0),)
    ),
    "yields": Rule(
        "no agent presses on one that goes first",
        (
            text(
                "pacing.py",
                "yielded(table, others.columns, scale(way, pace), headway, False, 0.0)",
                "scale(way, pace)",
            ),
        ),
    ),
    "back": Rule(
        "an agent backs out of its personal space",
        (text("pacing.py", "scale(others.back, 1.0 / own.headway)", "NOWHERE"),),
    ),
    "gentle": Rule(
        "backing out leaves room to the agents behind",
        (text("pacing.py", "if back == gentle:", "if len(back) == 3:"),),
    ),
    "share among others": Rule(
        "but for a share where wishes differ",
        (text("pacing.py", "share = others.opposed\n", "share = 0.0\n"),),
    ),
    "share at walls": Rule("but for a share where a wall is ahead", (number("walled", 0.0),)),
    "share converging": Rule("but for a share where wishes converge", (number("converge", 0.0),)),
    "pushed": Rule("an agent moves by half of a push", (number("pushed", 0.0),)),
    "retreat": Rule(
        "an agent that is held up retreats",
        (text("memory.py", "if held > RULES.patience and waits:", "if held > 1.0e9 and waits:"),),
    ),
    "lot": Rule(
        "the retreat needs the worse lot",
        (
            text(
                "memory.py",
                "held > RULES.patience and waits",
                "held > RULES.patience and not own.alone",
            ),
        ),
    ),
    "retreat aside": Rule(
        "it retreats to its side",
        (text("memory.py", "if own.side != NEITHER:", "if own.side > NEITHER:"),),
    ),
    "blocked": Rule("an agent that creeps is held up too", (number("blocked", 1.0e-9),)),
    "waiting": Rule("an agent that waits is not held up", (number("waiting", 0.0),)),
    "along": Rule("an agent held up by walls goes along them", (number("along", 0.0),)),
    "along, other side": Rule(
        "the way along walls leads to one side, then to the other",
        (
            text(
                "memory.py", "left > 0.0 or (left == 0.0 and own.side == LEFT)", "own.side == LEFT"
            ),
        ),
    ),
    "turning back": Rule(
        "agents among others do not turn back at once",
        (text("memory.py", "if crossing <= RULES.another or", "if crossing <= 2.0 or"),),
    ),
    "stands": Rule(
        "an agent stands before it goes back",
        (
            text(
                "memory.py",
                "if on < 0.0:\n        return NOWHERE",
                "if on < 0.0:\n        return chosen",
            ),
        ),
    ),
    "bend": Rule(
        "ways bend by 32° at most",
        (text("memory.py", "on >= RULES.bend * length(chosen)", "on >= 0.0"),),
    ),
    "blended": Rule("the remembered way follows a curve slowly", (number("blended", 1.0e-9),)),
    "long steps": Rule(
        "steps longer than the relaxation time go no farther",
        (text("kernel.py", "if world.dt > world.relaxation_time:", "if world.dt > 1.0e9:"),),
    ),
}
"""All rules, by the names that --rules takes."""
NOISE = {
    f"noise {n}": Rule("", (number(name, value),))
    for n, (name, value) in enumerate(
        (("keep", 0.1500001), ("side", 0.2500001), ("followed", 0.2500001)), start=1
    )
}
EVERYTHING = {"": Rule("", ()), **NOISE, **RULES}
RUN = """
import json, sys
sys.path.insert(0, sys.argv[1])
from scripts.validation import validate
options = ["--rvo2", "--rimea", "--circle", "2-250", "--flows", "100,500,1000,2000"]
jobs = {job.name: job for job in validate.jobs_of(validate.parse([*options, *sys.argv[3:]]))}
for name in sys.argv[2].split(","):
    print(json.dumps(validate.perform(jobs[name])), flush=True)
"""
"""Code of a process: the arguments are the tree, names of scenarios, and files."""


def switched_off(rule: Rule, tree: Path) -> None:
    """Change the text of a copy of the code.

    Raises:
        SystemExit: The text is not what the rule expects.
    """
    for file, old, new in rule.edits:
        path = tree / PACKAGE / file
        changed, times = re.subn(old, new, path.read_text(encoding="utf-8"))
        if times != 1:
            sys.exit(f"{path.name} has {times} times what {rule.text!r} changes: {old}")
        path.write_text(changed, encoding="utf-8")


def run(rule: Rule, names: Sequence[str], files: Sequence[str]) -> list[Result]:
    """Run scenarios with a rule switched off, in a copy of the code."""
    # always in one folder: compiled kernels are kept by the path of their source
    shutil.rmtree(TREE, ignore_errors=True)
    for part in ("steer_addon", "scripts", "presets"):
        shutil.copytree(ROOT / part, TREE / part, ignore=shutil.ignore_patterns("*.pyc"))
    switched_off(rule, TREE)
    command = [sys.executable, "-c", RUN, str(TREE), ",".join(names), *files]
    kept = {**os.environ, "STEER_CACHE_DIR": str(TREE.parent / "kernels")}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=kept)
    return [json.loads(line) for line in done.stdout.splitlines()]


def noticed(old: Sequence[Result], new: Result) -> str:
    """Effect of switching off a rule on a scenario's figures, or nothing.

    Args:
        old: Figures with all rules, and with the changes of NOISE.
        new: Figures without the rule.
    """
    short = set(new["short"]).difference(*(result["short"] for result in old))
    if short:
        return f"**{', '.join(sorted(short))}** missed"
    found = []
    least = min(result["arrived"] for result in old)
    if least - new["arrived"] > max(1.0, 0.01 * least):
        found.append(f"arrived {old[0]['arrived']} → {new['arrived']}")
    for name, factor, margin in FIGURES:
        values = [result.get(name) for result in old]
        if None in (*values, new.get(name)):
            continue
        if new[name] > factor * max(values) + margin:
            found.append(f"{name} {old[0][name]:.4g} → {new[name]:.4g}")
    return ", ".join(found)


def as_table(results: dict[str, dict[str, Result]]) -> str:
    """The table of docs/avoidance.md; scenarios that were not run for a rule are left out."""
    lines = ["| rule | what it does | without it |", "|---|---|---|"]
    for name, rule in RULES.items():
        runs = results.get(name, {})
        said = []
        for scenario, new in runs.items():
            old = [results[other][scenario] for other in ("", *NOISE) if scenario in results[other]]
            if what := noticed(old, new):
                said.append(f"{scenario}: {what}")
        same = all(new["digest"] == results[""][key]["digest"] for key, new in runs.items())
        nothing = "no bit changes" if same else "no figure gets clearly worse"
        told = "; ".join(said) or f"{nothing} in {len(runs)} scenarios"
        lines.append(f"| {name} | {rule.text} | {told if runs else 'not run yet'} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run missing scenarios, and print or write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("files", metavar="FILE", nargs="*", help="SteerBench XML files")
    parser.add_argument("--rules", metavar="NAME,…", help="only these; the others are kept")
    parser.add_argument("--scenarios", metavar="NAME,…", default=SCENARIOS)
    parser.add_argument(
        "--json", metavar="OUT", type=Path, default=ROOT / "out/ablation/results.json"
    )
    parser.add_argument("--write", action="store_true", help="write the table to docs/avoidance.md")
    options = parser.parse_args(arguments)
    results: dict[str, dict[str, Result]] = {}
    if options.json.exists():
        results = json.loads(options.json.read_text(encoding="utf-8"))
    chosen = options.rules.split(",") if options.rules else list(RULES)
    for name in ("", *NOISE, *chosen):
        known = results.setdefault(name, {})
        left = [one for one in options.scenarios.split(",") if one not in known]
        for result in run(EVERYTHING[name], left, options.files) if left else ():
            known[result["name"]] = result
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(results), encoding="utf-8")
    table = as_table(results)
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        before, after = page[: page.index(BEGIN) + len(BEGIN)], page[page.index(END) :]
        PAGE.write_text(before + table + after, encoding="utf-8")
    print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())

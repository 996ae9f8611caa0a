"""Pages that are made from the program say what the program is, and links lead somewhere."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from steer_addon.core.behaviors import REGISTRY, own_parameters

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")])


def test_generated_pages_are_up_to_date():
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "render_docs.py"), "--check"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def section(name: str) -> str:
    """What docs/behaviors.md says under the heading of a behavior."""
    page = (ROOT / "docs" / "behaviors.md").read_text(encoding="utf-8")
    heading = f"### {REGISTRY[name].definition.label} (`{name}`)\n"
    return page.partition(heading)[2].partition("\n##")[0]


@pytest.mark.parametrize("name", REGISTRY)
def test_a_section_has_the_parameters_and_what_is_shown(name):
    text = section(name)
    for info in own_parameters(REGISTRY[name]).values():
        assert f"| `{info.name}` |" in text
    for attribute in REGISTRY[name].definition.shows:
        assert text.count(f"`{attribute}`") >= 2, "named, and explained in the formula"


def test_sections_name_inputs_and_the_choices_that_parameters_belong_to():
    assert "Reads a target, a second target." in section("interpose")
    assert "Reads a path." in section("follow_path")
    assert "Reads a container." in section("containment")
    (row,) = re.findall(r".*`avoid_radius`.*", section("obstacle_avoidance"))
    assert row.endswith("(for `method` CENTER_RAY) |")


def test_formulas_of_all_methods_follow_their_behavior():
    for kernel in REGISTRY["obstacle_avoidance"].definition.kernel.values():
        formula = inspect.getdoc(sys.modules[kernel.__module__])
        assert formula in section("obstacle_avoidance")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        path, _, anchor = link.partition("#")
        if "://" in link:
            continue
        goal = page.parent / path if path else page
        assert goal.is_file(), link
        if anchor:
            lines = re.findall(r"^#+ (.+)$", goal.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", t).lower().replace(" ", "-") for t in lines}

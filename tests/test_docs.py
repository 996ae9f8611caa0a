"""Pages that are made from the program say what the program is, and links lead somewhere."""

import inspect
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from scripts.docs import messages
from steer_addon.core.behaviors import REGISTRY, own_parameters
from steer_addon.core.diagnoses import catalog

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
CONFIG = ROOT / "scripts" / "docs" / "mkdocs.yml"
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")])


def test_generated_pages_are_up_to_date():
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "docs" / "render.py"), "--check"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def section(name: str) -> str:
    """Text of docs/behaviors.md under the heading of a behavior."""
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


def anchors(page: Path) -> set[str]:
    """Targets of links inside of a page."""
    lines = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", line).lower().replace(" ", "-") for line in lines}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        path, _, anchor = link.partition("#")
        if "://" in link:
            continue
        goal = page.parent / path if path else page
        assert goal.is_file(), link
        if anchor:
            assert anchor in anchors(goal), link
        if DOCS in page.parents:
            assert DOCS in goal.resolve().parents, f"{link} leads out of the site"


def test_every_page_is_in_the_navigation_once():
    listed = re.findall(r"^ *- (?:.*: )?(\S+\.md)$", CONFIG.read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*.md"))


def test_every_section_of_the_panel_has_a_page_with_its_controls():
    code = (ROOT / "steer_addon" / "blender" / "ui" / "panels.py").read_text("utf-8")
    # parts of a section are on its page
    sections = re.findall(r'^    \("(\w+)", "([^"]+)", \w+, ""\)', code, re.MULTILINE)
    assert len(sections) >= 9
    for name, label in [*sections, ("crowd", "Crowd"), ("presets", "Presets")]:
        text = (DOCS / "panels" / f"{name}.md").read_text("utf-8")
        assert text.startswith(f"# {label}\n"), name
        assert f"(../images/panels/{name}.webp)" in text
        blocks = re.findall(r"made by scripts/docs/render.py: (?:controls|settings) (\w+) ", text)
        assert blocks == [name]
        assert len(re.findall(r"^\| .+ \|$", text, re.MULTILINE)) > 2, "a table that is filled"


def test_every_diagnosis_is_explained_once():
    places = [*(DOCS / "panels").glob("*.md"), DOCS / "own_behaviors.md"]
    pages = "\n".join(p.read_text("utf-8") for p in places)
    explained = Counter(re.findall(r"^\| `([^`]+)` \| \S", pages, re.MULTILINE))
    said = Counter(messages.template(entry) for entry in catalog().values())
    assert said - explained == Counter(), "not explained in docs"
    rows = Counter({text: count for text, count in explained.items() if " " in text})
    assert rows - said == Counter(), "nothing says this"


def test_pictures_are_small_and_used():
    used = "\n".join(page.read_text("utf-8") for page in PAGES)
    for picture in (DOCS / "images").rglob("*.*"):
        assert picture.stat().st_size <= 100_000, picture
        assert picture.name in used, picture
    for picture in (DOCS / "images" / "presets").iterdir():
        assert picture.stat().st_size <= 60_000, picture


def test_the_site_builds_and_loads_nothing_from_elsewhere(tmp_path):
    pytest.importorskip("material", reason="mkdocs-material is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet",
         "-f", str(CONFIG), "-d", str(tmp_path / "site")],
        capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    built = list((tmp_path / "site").rglob("*.html"))
    assert len(built) > len(list(DOCS.rglob("*.md")))
    for page in built:
        loaded = re.findall(r'(?:src="|<link[^>]+href=")(https?:)?//', page.read_text("utf-8"))
        assert loaded == [], page

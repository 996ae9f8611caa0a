"""Manifest, project file and packager agree with each other and with Blender's rules."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import steer_addon
from scripts.release import build_extension
from steer_addon.core.errors import OutputError

ROOT = Path(__file__).resolve().parent.parent
TEXT_LIMIT = 64


def read(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / name).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    return read("blender_manifest.toml")


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return read("pyproject.toml")


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the packager builds in this test, instead of in the checkout."""
    monkeypatch.setattr(build_extension, "BUILD", tmp_path / "build")
    monkeypatch.setattr(build_extension, "DIST", tmp_path / "dist")
    monkeypatch.setattr(build_extension, "ROOT", ROOT)
    return tmp_path


def test_version_is_in_one_place(manifest: dict[str, Any], project: dict[str, Any]) -> None:
    assert manifest["version"] == steer_addon.__version__
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "steer_addon/version.py"
    assert f"## [{steer_addon.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_identity(manifest: dict[str, Any], project: dict[str, Any]) -> None:
    assert (manifest["id"], manifest["name"], manifest["type"]) == ("steer", "Steer", "add-on")
    assert manifest["blender_version_min"] == "4.5.0"
    assert manifest["tags"] == ["Animation", "Physics"]
    assert manifest["license"] == [f"SPDX:{project['project']['license']}"]
    assert project["project"]["license"] == "GPL-3.0-or-later"
    assert "GNU GENERAL PUBLIC LICENSE" in (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_texts_fit_blenders_rules(manifest: dict[str, Any]) -> None:
    for text in (manifest["tagline"], *manifest["permissions"].values()):
        assert 0 < len(text) <= TEXT_LIMIT, text
        assert not text.endswith("."), text
    assert set(manifest["permissions"]) == {"files"}, "nothing is ever downloaded"


def test_root_module_only_hands_over() -> None:
    body = ast.parse((ROOT / "__init__.py").read_text(encoding="utf-8")).body
    assert len(body) == 2
    assert isinstance(body[1], ast.ImportFrom)
    assert (body[1].level, body[1].module) == (1, "steer_addon")
    assert [alias.name for alias in body[1].names] == ["register", "unregister"]


def test_bundled_wheels_are_what_the_tests_may_run_with(project: dict[str, Any]) -> None:
    pins = dict(pin.split("==") for pin in project["tool"]["steer"]["extension"]["wheels"])
    assert set(pins) == {"numba", "llvmlite"}
    ranges = [Requirement(line) for line in project["project"]["dependencies"]]
    numba = next(line for line in ranges if line.name == "numba")
    assert numba.specifier.contains(pins["numba"])


def test_every_dependency_has_a_range(project: dict[str, Any]) -> None:
    lines = list(project["project"]["dependencies"])
    for name, extra in project["project"]["optional-dependencies"].items():
        lines += extra if name != "dev" else []
    for line in lines:
        operators = {spec.operator for spec in Requirement(line).specifier}
        assert operators == {">=", "<"}, line


def test_no_address_in_the_project_file() -> None:
    assert not re.search(r"https?://|file://", (ROOT / "pyproject.toml").read_text("utf-8"))


def test_wheels_go_into_the_staged_manifest(workshop: Path) -> None:
    staged = workshop / "staged"
    build_extension.stage(staged)
    wheel = workshop / "numba-0.68.1-cp311-cp311-win_amd64.whl"
    wheel.write_bytes(b"")
    build_extension.add_wheels(staged, "windows-x64", [wheel])
    manifest = tomllib.loads((staged / build_extension.MANIFEST).read_text(encoding="utf-8"))
    assert manifest["platforms"] == ["windows-x64"]
    assert manifest["wheels"] == [f"./wheels/{wheel.name}"]
    assert (staged / "wheels" / wheel.name).is_file()
    assert "files" in manifest["permissions"]
    assert not list(staged.rglob("__pycache__"))


def test_blenders_packager_accepts_it(workshop: Path) -> None:
    pytest.importorskip("bpy", reason="the packager comes with the bpy wheel")
    path = build_extension.build(build_extension.WITHOUT_WHEELS)
    assert path.name == f"steer-{steer_addon.__version__}-any.zip"
    assert path.is_file()


def test_missing_file_is_named(workshop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_extension, "SHIPPED", ("nowhere.txt",))
    with pytest.raises(OutputError, match=r"nowhere\.txt is missing"):
        build_extension.stage(workshop / "staged")


def test_missing_wheel_is_one_sentence_and_exit_code_1(
    workshop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(workshop))
    assert build_extension.main(["--platform", "windows-x64"]) == 1
    said = capsys.readouterr().err.strip()
    assert said.startswith("error: pip finds no wheel of numba==")
    assert "--platform any" in said
    assert "\n" not in said


def test_what_only_benchmarks_need_is_not_installed_for_tests(project: dict[str, Any]) -> None:
    extras = project["project"]["optional-dependencies"]
    assert not [line for line in extras["dev"] if "bench" in line]
    assert any(line.startswith("jupedsim") for line in extras["bench"])
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^bench: \$\(BENCH_STAMP\)", makefile, re.MULTILINE)
    assert re.search(r'^\$\(BENCH_STAMP\):.*\n\t.*"\.\[bench\]"', makefile, re.MULTILINE)

"""The size and type checks of `make lint` find what they should, and only that."""

from __future__ import annotations

from pathlib import Path

from scripts.release import check_rooms


def found(root: Path, name: str, text: str) -> list[str]:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return list(check_rooms.findings(path, root))


def test_long_file(tmp_path: Path) -> None:
    assert not found(tmp_path, "scripts/a.py", "x = 1\n" * 400)
    assert "401 lines" in found(tmp_path, "scripts/a.py", "x = 1\n" * 401)[0]


def test_long_function_without_its_docstring(tmp_path: Path) -> None:
    text = 'def f():\n    """Says\n    much.\n    """\n' + "    x = 1\n" * 59
    assert not found(tmp_path, "scripts/a.py", text)
    assert "f has 61 lines" in found(tmp_path, "scripts/a.py", text + "    x = 1\n")[0]


def test_types_are_asked_for_in_the_core_only(tmp_path: Path) -> None:
    text = "def f(a, *, b: int): ...\n"
    assert not found(tmp_path, "steer_addon/blender/a.py", text)
    assert found(tmp_path, "steer_addon/core/a.py", text) == [
        "steer_addon/core/a.py:1: f lacks types for a, return"
    ]


def test_kernels_and_what_is_in_them_need_no_types(tmp_path: Path) -> None:
    text = "@kernel\ndef f(a):\n    def g(b):\n        return b\n    return g(a)\n"
    assert not found(tmp_path, "steer_addon/core/a.py", text)


def test_self_needs_no_type(tmp_path: Path) -> None:
    text = "class A:\n    def f(self) -> None: ...\n"
    assert not found(tmp_path, "steer_addon/core/a.py", text)

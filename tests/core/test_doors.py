"""Modules that wait until they are used."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from toy_package import run_in

INIT = """
from {root}.core.doors import load_on_use
load_on_use(__name__, "late")
"""

USE = """
import json, sys
from toys import early
before = "toys.late" in sys.modules
print(json.dumps([before, early.ask(), "toys.late" in sys.modules]))
"""


@pytest.fixture
def toys(tmp_path: Path) -> Path:
    """A folder with a package `toys`: its module `late` waits for its module `early`."""
    package = tmp_path / "toys"
    package.mkdir()
    root = Path(__file__).resolve().parents[2]
    start = f"import sys\nsys.path.insert(0, {str(root)!r})\n"
    (package / "__init__.py").write_text(start + INIT.format(root="steer_addon"), encoding="utf-8")
    (package / "late.py").write_text("ANSWER = 42\n", encoding="utf-8")
    text = "from . import late\n\n\ndef ask():\n    return late.ANSWER\n"
    (package / "early.py").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_module_waits_until_it_is_used(toys):
    assert json.loads(run_in(toys, "-c", USE)) == [False, 42, True]


def test_what_is_set_on_a_door_is_set_on_the_module(toys, monkeypatch):
    code = (
        "from toys import late as door\n"
        "door.ANSWER = 7\n"
        "from toys import late\n"
        "from toys.early import ask\n"
        "assert late is not door and late.ANSWER == ask() == vars(door)['ANSWER'] == 7\n"
        "del door.ANSWER\n"
        "assert not hasattr(late, 'ANSWER')\n"
    )
    run_in(toys, "-c", code)


def test_other_names_are_missing_as_always(toys):
    code = "import toys\nassert not hasattr(toys, 'typo')\nfrom toys import typo\n"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=toys, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and "cannot import name 'typo'" in done.stderr

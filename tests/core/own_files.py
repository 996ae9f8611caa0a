"""The example of docs/own_behaviors.md, and folders with it and with files that are broken."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "own_behaviors.md"

BROKEN = {
    "wrong_syntax.py": ("x = 1\ndef f(:\n", 2, "SyntaxError"),
    "wrong_import.py": ("from ..api import behavior\n\nimport not_there\n", 3, "not_there"),
    "wrong-name.py": ("", 0, "rename it"),
    "wrong_exit.py": ("import sys\nsys.exit(1)\n", 2, "SystemExit"),
    "wrong_default.py": (
        "from ..api import PUSH, Behavior, behavior, kernel, param\n"
        "@kernel\ndef k(start, stop, agents, world, p, memory, out, active):\n    pass\n"
        "@behavior(label='Wrong', output=PUSH, kernel=k)\n"
        "class WrongDefault(Behavior):\n    x: float = param(5.0, maximum=1.0, doc='x')\n",
        0,
        "wrong_default.x",
    ),
    "wrong_kernel.py": (
        "from ..api import PUSH, Behavior, behavior\n"
        "def k(start, stop, agents, world, p, memory, out, active):\n    pass\n"
        "@behavior(label='Wrong', output=PUSH, kernel=k)\nclass WrongKernel(Behavior):\n    'x'\n",
        0,
        "@kernel",
    ),
    "wrong_type.py": (
        "from ..api import PUSH, Behavior, behavior, kernel\n"
        "@kernel\ndef k(start, stop, agents, world, p, memory, out, active):\n    pass\n\n\n"
        "@behavior(label='Seek', output=PUSH, kernel=k)\nclass Seek(Behavior):\n    'x'\n",
        7,
        "defined twice",
    ),
}
"""Files, each with the line and the word that its report names."""


def example() -> str:
    """The file of the example."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return code


def folder_with_example(folder: Path) -> Path:
    """A folder of a user."""
    folder.mkdir()
    (folder / "follow_beat.py").write_text(example(), encoding="utf-8")
    return folder


def run(code: str, folders: str, **variables: str) -> str:
    """Run code in a process of its own, with folders for behaviors; returns what it wrote."""
    return _done([sys.executable, "-c", code], folders, variables).stdout


def steer(*words: str, folders: str) -> tuple[dict, str]:
    """Run a command: its JSON object, and what it wrote to stderr."""
    command = [sys.executable, "-m", "steer_addon", *words, "--json"]
    done = _done(command, folders, {"STEER_JIT": "0"})
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def _done(command, folders, variables):
    environment = {**os.environ, "STEER_BEHAVIORS": folders, **variables}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return done

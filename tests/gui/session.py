"""Actions of a new user in a real window: `blender -P tests/gui/session.py -- ZIP FOLDER [ACT …]`.

`scripts/window/test_gui.py` runs it. It installs the extension's zip, adds a crowd by its menu,
plays, changes a weight, undoes, bakes, saves, reloads, disables, enables and uninstalls, with a
picture of each panel on the way. Names of acts leave all others out but the first three.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

_words = sys.argv[sys.argv.index("--") + 1 :]
PACKAGE, FOLDER, CHOSEN = Path(_words[0]).resolve(), Path(_words[1]).resolve(), _words[2:]
# empty, as after installing
os.environ["STEER_CACHE_DIR"] = str(FOLDER / "kernels")

import acts_files  # noqa: E402
import acts_first  # noqa: E402
import acts_look  # noqa: E402
import acts_start  # noqa: E402
import acts_variations  # noqa: E402
import bpy  # noqa: E402
from driver import Driver, Step  # noqa: E402
from hands import Hands  # noqa: E402
from parts import Tools  # noqa: E402

ALWAYS = acts_first.ACTS[:3]
ACTS = (
    *acts_first.ACTS, *acts_look.ACTS, *acts_files.ACTS[:2], *acts_variations.ACTS,
    *acts_files.ACTS[2:], *acts_start.ACTS,
    acts_files.disable_and_uninstall,
)  # fmt: skip


def session(tools: Tools) -> Iterator[Step]:
    """All of it."""
    for act in ACTS:
        if not CHOSEN or act in ALWAYS or act.__name__ in CHOSEN:
            tools.driver.step(act.__name__)
            yield from act(tools)


bpy.context.preferences.view.show_splash = False
driver = Driver(FOLDER)
driver.start(session(Tools(driver, Hands(driver), FOLDER, PACKAGE)))

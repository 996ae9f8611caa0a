"""A copy of Steer with two more files: toy behaviors, as a stranger would write them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

TOY = '''"""Toy: u = ±pace · hops · dir(t - p).

Symbols: t target, p position [m]. Source: none, it is a toy.
"""

from __future__ import annotations

from ..compiled.jit import kernel
from ..parameters import choice, param
from ..numeric.vec import load, pick, scale, store, sub, unit
from ..sensing.declare import TARGETS, VELOCITY, Behavior, behavior
from ..sensing.targeting import on_ground, target_choice

AWAY = 1


@kernel
def toy_kernel(start, stop, agents, world, p, memory, out, active):
    """Desired velocity toward the target or away from it."""
    way = int(p.way[0])
    for i in range(start, stop):
        j = world.targets.row[i]
        if j < 0:
            continue
        offset = sub(load(world.targets.position, j), load(agents.position, i))
        speed = pick(p.pace, i) * pick(p.hops, i)
        if way == AWAY:
            speed = -speed
        store(out, i, scale(unit(on_ground(i, agents, world, offset)), speed))
        active[i] = 1


@behavior(
    label="Toy Hop",
    output=VELOCITY,
    kernel=toy_kernel,
    uses=(TARGETS,),
    icon="MONKEY",
    group="Toys",
)
class Toy(Behavior):
    """Hop about like a toy."""

    pace: float = param(
        0.5,
        unit="m/s",
        minimum=0.25,
        maximum=8.0,
        soft_maximum=4.0,
        doc="Speed of a hop; more is wilder",
    )
    hops: int = param(3, minimum=1, maximum=9, doc="Hops at once; more goes farther")
    way: str = choice(
        "TOWARD", {"TOWARD": "To the target", "AWAY": "From the target"}, doc="Where to hop"
    )
    target_choice: str = target_choice()
'''

TRAM = '''"""Tram: u = v_max · dir(e - p).

Symbols: e end of the first path, p position [m]. Source: none, it is a toy.
"""

from __future__ import annotations

from ..compiled.jit import kernel
from ..parameters import choice, param
from ..numeric.vec import load, scale, store, sub, unit
from ..sensing.declare import PATHS, VELOCITY, Behavior, Circle, Waypoints, behavior
from ..sensing.targeting import on_ground


@kernel
def tram_kernel(start, stop, agents, world, p, memory, out, active):
    """Desired velocity toward the end of the path."""
    for i in range(start, stop if len(p.paths.cyclic) else start):
        end = load(p.paths.point, p.paths.first[1] - 1)
        offset = on_ground(i, agents, world, sub(end, load(agents.position, i)))
        store(out, i, scale(unit(offset), agents.max_speed[i] * 1.0))
        memory[i, 3], memory[i, 4] = 1, p.paths.first[1] - 1
        active[i] = 1


@kernel
def tram_ends_kernel(start, stop, position, p, memory, flat, place, key):
    """The end of the path, for all."""
    for i in range(start, stop if len(p.paths.cyclic) else start):
        store(place, i, load(p.paths.point, p.paths.first[1] - 1))
        key[i] = 0


@behavior(
    label="Toy Tram",
    output=VELOCITY,
    kernel={"RIDE": tram_kernel, "WALK": tram_kernel},
    ends={"RIDE": tram_ends_kernel},
    uses=(PATHS,),
    memory_width=5,
    group="Toys",
)
class Tram(Behavior):
    """Ride to the end of a path."""

    circles = (Circle("width", "reach", 0, moves=True, shown_for=("method", ("RIDE",))),)
    waypoints = Waypoints(3, 4, "width")
    method: str = choice("RIDE", {"RIDE": "To the end", "WALK": "Just so"}, doc="How it moves")
    reach: float = param(2.0, unit="m", minimum=0.0, doc="How far ahead; more is farther")
    width: float = param(0.5, unit="m", minimum=0.0, doc="How wide; more is wider")
'''

PRESET = {
    "format": "steer-preset",
    "version": 1,
    "label": "Toys",
    "description": "Everybody hops",
    "settings": {
        "motion": {"motion": "FLY"},
        "solver": {"solver": "VEX", "acc_weight": 1.0},
        "behaviors": [{"type": "toy", "pace": 0.75, "hops": 4, "way": "AWAY"}],
    },
}


def copy_with_toy(folder: Path) -> Path:
    """Copy the package and what belongs to it, and add the two files (and a preset)."""
    skip = shutil.ignore_patterns("__pycache__")
    for name in ("steer_addon", "presets"):
        shutil.copytree(ROOT / name, folder / name, ignore=skip)
    for name in ("__init__.py", "blender_manifest.toml", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    behaviors = folder / "steer_addon" / "core" / "behaviors"
    (behaviors / "toy.py").write_text(TOY, encoding="utf-8")
    (behaviors / "tram.py").write_text(TRAM, encoding="utf-8")
    (folder / "presets" / "toys.json").write_text(json.dumps(PRESET), encoding="utf-8")
    return folder


def run_in(folder: Path, *arguments: str) -> str:
    """Run Python in the copy, where `steer_addon` is the copy; returns what it wrote to stdout."""
    return _run(
        folder,
        arguments,
        STEER_JIT="0",
        STEER_CACHE_DIR=str(folder / "cache"),
        PYTHONPATH=str(folder),
        BLENDER_USER_RESOURCES=str(folder / "blender"),
    )


def run_compiled(folder: Path, code: str) -> str:
    """Run code with kernels compiled, in the checkout with the copy's toy beside its behaviors.

    Compiling all of the copy takes half a minute; the checkout's other kernels are compiled.
    """
    behaviors = folder / "steer_addon" / "core" / "behaviors"
    begin = (
        "import importlib, steer_addon.core.behaviors as behaviors\n"
        f"behaviors.__path__.append({str(behaviors)!r})\n"
        "importlib.import_module('steer_addon.core.behaviors.toy')\n"
    )
    return _run(ROOT, ["-c", begin + code], STEER_JIT="1", PYTHONPATH=str(ROOT))


def _run(folder: Path, arguments: Sequence[str], **variables: str) -> str:
    environment = {**os.environ, **variables}
    result = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, (result.returncode, result.stdout, result.stderr)
    return result.stdout

"""The table of what kernels take: it is whole, and kernels are given what it says."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from scripts.release import kernel_arguments
from scripts.release.kernel_arguments import fits

ROOT = Path(__file__).resolve().parents[2]

RUN = """
import json, sys
from steer_addon.core.compiled import jit
from steer_addon.core.warmup import dry_run
from scripts.release.kernel_arguments import fits, read_table, section_of

table, counts, wrong, depth, inner = read_table(), {}, [], 0, 0

class Enough(Exception):
    pass

def record(kernel, *values):
    global depth, inner
    module = kernel.__module__.removeprefix("steer_addon.core.")
    key = f"{module}:{kernel.__name__}"
    counts[key] = counts.get(key, 0) + 1
    inner = inner + 1 if depth else 0
    if inner > 3000:
        raise Enough
    if counts[key] < 20:
        for name, value in zip(kernel.function.__code__.co_varnames, values):
            section = section_of(table, module, kernel.__name__, name)
            kind = table[section][name].split(":")[0]
            if not fits(kind, value):
                shape = getattr(value, "shape", "")
                wrong.append(f"{key} {name}: {kind}, not {type(value).__name__} {shape}")
    depth += 1
    try:
        return kernel.function(*values)
    except Enough:
        if depth > 1:
            raise
    finally:
        depth -= 1

with jit.recording(record):
    dry_run.COUNTS = (3,)
    for told, ground in json.loads(sys.argv[1]):
        dry_run.run_tiny(told, True, ground)
print(json.dumps([sorted(set(wrong)), len(counts)]))
"""

BODIES = {"collide_agents": True, "collide_colliders": True, "on_arrival": "HOLD_AREA"}
CROWDS = [
    ({"bodies": BODIES, "behaviors": [{"type": "seek"}, {"type": "avoid_neighbors"}]}, True),
    (
        {"motion": {"motion": "FLY"}, "behaviors": [{"type": "separation"}, {"type": "wander"}]},
        False,
    ),
    ({"bodies": BODIES, "behaviors": [{"type": "follow_path"}, {"type": "flow_field"}]}, True),
    ({"solver": {"solver": "VEX"}, "behaviors": [{"type": "obstacle_avoidance"}]}, False),
    ({"behaviors": [{"type": "wall_avoidance"}, {"type": "containment"}]}, False),
    ({"behaviors": [{"type": "seek"}, {"type": "keep_together", "group_id": 1}]}, False),
    ({"behaviors": [{"type": "seek"}, {"type": "keep_together", "pair_share": 9.0}]}, False),
    ({"solver": {"combine": "PRIORITY"}, "behaviors": [{"type": "hide"}, {"type": "flee"}]}, True),
]


def test_every_argument_has_a_row_and_every_row_an_argument():
    assert list(kernel_arguments.findings(kernel_arguments.read_table())) == []


@pytest.mark.slow
def test_kernels_are_given_what_the_table_says():
    run = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(CROWDS)],
        env={**os.environ, "STEER_JIT": "0", "STEER_THREADS": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    wrong, kernels = json.loads(run.stdout)
    assert wrong == []
    assert kernels > 200


def test_a_table_that_lacks_a_row_or_has_one_too_many_is_found(tmp_path):
    (tmp_path / "near.py").write_text("@kernel\ndef pull(i, way):\n    return way\n")
    table = {"all": {"i": "int"}, "near:pull": {"far": "float"}}
    assert list(kernel_arguments.findings(table, tmp_path)) == [
        "near: kernel pull takes 'way', which has no row",
        "[near:pull] has a row for 'far', which no kernel takes",
    ]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int", np.int32(3)),
        ("float", 1),
        ("Vec3", (0.0, 1.0, 2.0)),
        ("(int, (Vec3, F32[n]))", (1, ((0.0, 0.0, 0.0), np.zeros(4, np.float32)))),
        ("F[n, 3]", np.zeros((5, 3))),
    ],
)
def test_what_fits(kind, value):
    assert fits(kind, value)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int", 1.0),
        ("Vec3", (0.0, 1.0)),
        ("(int, Vec3)", (1, (0.0, 0.0, "z"))),
        ("F32[n, 3]", np.zeros((5, 3))),
        ("F32[n, 3]", np.zeros((5, 2), np.float32)),
        ("F32[n]", np.zeros((5, 3), np.float32)),
        ("AgentView", 3),
    ],
)
def test_what_does_not_fit(kind, value):
    assert not fits(kind, value)

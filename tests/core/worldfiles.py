"""Stored worlds to try things on, made without Blender, and changed as a stranger might."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
from crowdtools import box, crowd

from steer_addon.core.behaviors import REGISTRY
from steer_addon.core.cache.layout import npy_header
from steer_addon.core.diagnoses import diagnose
from steer_addon.core.files.signed import loaded
from steer_addon.core.inputs.containers import make_container
from steer_addon.core.inputs.emitters import joined, make_emitter
from steer_addon.core.inputs.fields import field_of_curves
from steer_addon.core.inputs.paths import Path as Line
from steer_addon.core.inputs.spheres import make_spheres
from steer_addon.core.inputs.world import CollidersBuilder, make_targets, make_world
from steer_addon.core.runs.points import Points
from steer_addon.core.worlds.arrays import ArrayWriter
from steer_addon.core.worlds.layout import ARRAYS, FORMAT, HEADER, MANIFEST
from steer_addon.core.worlds.recorder import CrowdRecorder, Read, new_world, write_manifest
from steer_addon.core.worlds.source import WorldSource

LAST = 4
FACTS = {
    "name": "Crowd",
    "name_full": "Crowd",
    "chosen": True,
    "baked": False,
    "driving": False,
    "keyed": False,
    "first": 1,
    "last": LAST,
    "default": [1, LAST],
    "scenes": [0],
    "met": [],
    "steers_by": [],
}


def make_worlds():
    """The worlds of some frames: a gate and a target move, all else stays as it is."""
    still = make_world(
        ground=box((0, 0, -1), (40, 40, 2), "ground"),
        spheres=make_spheres([(9, 9, 0)], 0.5),
        paths={"follow_path": [Line([(0, 0, 0), (5, 0, 0), (5, 5, 0)], cyclic=True)]},
        fields={"flow_field": field_of_curves([([(0, 3, 0), (5, 3, 0)], False)])},
        containers={"containment": make_container((0, 0, 0), 15.0)},
        emitters=joined([make_emitter([[(1, 1, 0)], [(2, 1, 0)]])]),
        exits=[box((12, 12, 0), (1, 1, 1), "exit")],
    )
    builder, wall = CollidersBuilder(), box((0, 8, 0), (6, 1, 2), "wall")
    for number in range(1, LAST + 1):
        gate = box((3, number / 2, 0), (1, 1, 2), "gate")
        goal = make_targets([(number, 9, 0), (0, 9, 0)], weight=[1, 2])
        yield replace(still, targets={"": goal}, colliders=builder.build([wall, gate]))


def make_settings():
    """A crowd that uses all of it."""
    kinds = ("seek", "follow_path", "flow_field", "containment", "wall_avoidance")
    return crowd(*(REGISTRY[kind]() for kind in kinds))


def make_points(count=3):
    """Points with all that they can have."""
    row = np.arange(count)
    zero = np.zeros(count)
    return Points(
        position=np.stack([row, zero, zero], axis=1).astype(np.float32),
        linear=np.eye(3),
        velocity=np.zeros((count, 3), np.float32),
        rotation=np.tile(np.array([1, 0, 0, 0], np.float32), (count, 1)),
        ids=row.astype(np.int32) + 5,
        attributes={"max_speed": np.full(count, 1.5, np.float32), "slow": row > 0},
        weights={"left": np.full(count, 0.75, np.float32)},
    )


def make_stored(path: Path) -> Path:
    """A stored world of one crowd."""
    settings, told = make_settings(), [diagnose("PATH_TOO_SHORT", "line", object="line")]
    with new_world(path) as folder:
        arrays = ArrayWriter(folder)
        recorder = CrowdRecorder(arrays)
        for number, world in enumerate(make_worlds(), 1):
            read = Read(number, settings, world, told if number > 2 else [])
            if number == 1:
                recorder.begin(read, make_points(), starts=True)
            else:
                recorder.frame(read)
        row = {**FACTS, "base": recorder.settings(settings), **recorder.to_dict()}
        data = {
            "steer": "0",
            "file": "a.blend",
            "scene": "Scene",
            "fps": 24.0,
            "complete": True,
            "arrays": arrays.finish(),
            "crowds": [row],
        }
        write_manifest(folder, data)
    return path


def use(path: Path) -> list[bytes]:
    """Open a stored world and simulate all of it; returns the places of each frame."""
    source = WorldSource(path)
    wanted = [(crowd, source.frames_of(crowd, None)) for crowd in source.find([])]
    warnings = []
    run = source.run_together(wanted, warnings=warnings)
    return [frame.position.tobytes() for moment in run for _, _, frame in moment] + [
        str(warnings).encode()
    ]


def data_of(path: Path):
    """What a manifest says, and the numbers of all files."""
    numbers = {
        name: np.frombuffer((path / f"{name}.npy").read_bytes()[HEADER:], kind).copy()
        for name, kind in ARRAYS.items()
    }
    return loaded(FORMAT.body_of(path / MANIFEST)), numbers


def put(path: Path, data, numbers, *, resign=True) -> None:
    """Write both, with the counts and checksums that they have, or those that data says."""
    for name, array in numbers.items():
        raw = array.astype(ARRAYS[name]).tobytes()
        header = npy_header((len(array),), ARRAYS[name], HEADER)
        (path / f"{name}.npy").write_bytes(header + raw)
        if resign:
            digest = hashlib.sha256(raw).hexdigest()
            data["arrays"][name] |= {"count": len(array), "sha256": digest}
    (path / MANIFEST).write_bytes(FORMAT.signed(data))

"""Whatever is edited, live crowds and bakes take it as a reader does that knew nothing before."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import status  # noqa: E402
from steer_addon.blender.live import live  # noqa: E402
from steer_addon.blender.live.simulate import stage_for  # noqa: E402
from steer_addon.blender.reading.scene import WorldReader  # noqa: E402
from steer_addon.core.worlds.parts import parts_of  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.any_edits import Edits, make_full_scene  # noqa: E402
from tests.often import often  # noqa: E402

pytestmark = [pytest.mark.usefixtures("empty_scene"), pytest.mark.slow]

FRAMES = (1, 2, 3)


def read(crowd, reader=None, depsgraph=None, stand_ins=None):
    """What a reader sees: the arrays of each input, and the warnings."""
    reader = reader or WorldReader()
    world = reader.read(crowd, depsgraph or scenes.deps(), 24.0, stand_ins)
    arrays = [
        (part.kind, part.name, [None if a is None else np.array(a) for a in part.arrays])
        for part in parts_of(world)
    ]
    return arrays, {str(warning) for warning in reader.warnings}


def differences(seen, expected):
    """The inputs, and warnings, that differ."""
    found = list(seen[1] ^ expected[1])
    one, two = ([(kind, name) for kind, name, _ in world[0]] for world in (seen, expected))
    if one != two:
        return [*found, *(set(one) ^ set(two) or ["the order"])]
    for (kind, name, arrays), (_, _, others) in zip(seen[0], expected[0], strict=True):
        # velocities of targets are those since the frame before, which a new reader has not seen
        numbers = range(len(arrays)) if "targets" not in kind else (0, *range(2, len(arrays)))
        if not all(same(arrays[k], others[k]) for k in numbers):
            found.append((kind, name))
    return found


def same(one, two):
    if one is None or two is None:
        return one is two
    return one.shape == two.shape and np.array_equal(one, two, equal_nan=one.dtype.kind == "f")


def worlds(crowd):
    """What is there at each frame."""
    reader, found = WorldReader(), []
    for number in FRAMES:
        scenes.frame_set(number)
        found.append(read(crowd, reader))
    scenes.frame_set(1)
    return found


def is_again(crowd, frames):
    """Whether the first frame is another one than it was."""
    return live.runs.get(crowd).frames.get(1) is not frames.get(1)


@pytest.mark.parametrize("seed", often(range(20), 0, 1))
def test_a_live_crowd_sees_what_a_new_reader_sees(seed):
    crowd = make_full_scene()
    edits, done = Edits(crowd, seed), []
    scenes.play(1, 2)
    for number in range(60):
        if number % 4 == 0:
            # half of the edits are at the start, and half of them in the midst of the frames
            scenes.play(1, 1 + number // 4 % 2)
        run, before = live.runs.get(crowd), read(crowd)
        frames, was_told = dict(run.frames), scenes.told(crowd) is not None
        done.append(edits.next())
        after = read(crowd)
        if run._session is not None:
            assert differences(read(crowd, run._session.reader), after) == [], done[-3:]
        if differences((after[0], set()), (before[0], set())) and not was_told:
            assert scenes.told(crowd) or is_again(crowd, frames), done[-3:]


@pytest.mark.parametrize("seed", often(range(20), 0, 17))
def test_a_bake_reads_what_live_crowds_read(seed):
    crowd = make_full_scene()
    edits, done = Edits(crowd, seed), []
    for number in range(100):
        done.append(edits.next())
        if number % 10:
            continue
        stage, reader = stage_for([crowd], bpy.context.scene), WorldReader()
        try:
            baked = [read(crowd, reader, stage.at(frame), stage.stand_ins) for frame in FRAMES]
        finally:
            stage.close()
        for shown, one in zip(worlds(crowd), baked, strict=True):
            # that the motion of hidden inputs is not seen is said of live crowds only
            more = differences(shown, one)
            assert all("motion is not seen" in str(found) for found in more), (done[-10:], more)


@pytest.mark.parametrize("seed", often(range(10), 0))
def test_a_bake_tells_each_change_of_what_it_was_made_from(seed, tmp_path, monkeypatch):
    monkeypatch.setattr(status, "_check_later", lambda: None)
    crowd = make_full_scene()
    crowd.steer.frame_end, crowd.steer.cache_directory = FRAMES[-1], str(tmp_path)
    edits, done = Edits(crowd, seed), []
    bake, before = bpy.ops.object.steer_cache_bake, worlds(crowd)
    for _ in range(40):
        if bake is not None:
            assert bake() == {"FINISHED"}
            assert status.status(crowd, bpy.context.scene).edited == []
        done.append(edits.next())
        noticed = list(status.status(crowd, bpy.context.scene).edited)
        after = worlds(crowd)
        assert bpy.ops.object.steer_cache_check() == {"FINISHED"}
        changes = status.status(crowd, bpy.context.scene).changes
        changed = any(
            differences((one[0], set()), (two[0], set()))
            for one, two in zip(before, after, strict=True)
        )
        assert bool(changes) == changed, (done[-3:], changes)
        assert noticed or not changed, (done[-3:], changes)
        bake, before = bpy.ops.object.steer_cache_anew if changed else None, after

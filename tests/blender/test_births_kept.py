"""Births in bakes, keyframes and exports: nobody flies in, and all are where they were."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import cached, keyframes  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.writing import usd_points  # noqa: E402
from steer_addon.core.cache import layout, open_cache  # noqa: E402
from steer_addon.core.errors import SceneError  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.cached_crowds import bits, run_to  # noqa: E402
from tests.blender.test_births_in_blender import (  # noqa: E402
    make_source,
    make_stream,
    run_offline,
    same,
    there,
)
from tests.blender.test_export import export, needs_usd  # noqa: E402
from tests.blender.test_export_looks import (  # noqa: E402
    assert_same,
    in_usd,
    make_bodies,
    shown_bodies,
)
from tests.blender.test_playback import bake  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

LAST = 60
FEW = {"capacity": 10, "rate": 20.0}
"""So few rows that they are used again before the end."""

once = {}
"""Frames of the short stream, simulated once in a process."""


def make_short_stream(**births):
    """A stream whose rows are used again before its last frame."""
    source = make_source(corners=((0, 2), (0, 4), (-0.5, 4), (-0.5, 2)))
    crowd = make_stream(points=((1, 6, 0),), source=source, **{**FEW, **births})
    crowd.steer.target_object.location = (1.1, 3.0, 0.0)
    crowd.steer.frame_end = LAST
    display.set_input(display.find_modifier(crowd), "Keep Points", False)
    return crowd


def frames_of_short_stream(crowd):
    """What an offline run gives of the short stream."""
    if "frames" not in once:
        once["frames"] = run_offline(crowd, LAST)
    return once["frames"]


def shown_places(obj):
    """Where instances or points of an evaluated crowd are, by id."""
    deps = bpy.context.evaluated_depsgraph_get()
    mine = obj.evaluated_get(deps)
    return np.array(
        [
            list(i.matrix_world.translation)
            for i in deps.object_instances
            if i.is_instance and i.parent == mine
        ],
        float,
    ).reshape(-1, 3)


def test_rows_are_used_again_here():
    crowd = make_short_stream()
    frames = frames_of_short_stream(crowd)
    lived = {n for f in frames for n in f.id[f.alive != 0].tolist()}
    assert len(lived) > 20 > len(frames[0].id)


@needs_usd
def test_a_bake_plays_births_without_anybody_flying_in(tmp_path):
    crowd = make_short_stream()
    arrow = scenes.make_box("Arrow", half=0.1)
    modifier = display.find_modifier(crowd)
    display.set_input(modifier, "Display", "Object")
    display.set_input(modifier, "Object", arrow)
    frames = frames_of_short_stream(crowd)
    bake(crowd, tmp_path, frames)
    for before, frame in zip(frames, frames[1:], strict=False):
        scenes.frame_set(frame.number)
        now = shown_places(crowd)
        assert len(now) == frame.alive.sum()
        for place in there(frame):
            assert np.linalg.norm(now - place, axis=1).min() < 1e-4
        for part in (0.25, 0.75):
            # in between, those of the frame before go on, and nobody else is seen
            scenes.frame_set(before.number, part)
            between = shown_places(crowd)
            assert len(between) == before.alive.sum()
            way = np.linalg.norm(between[:, None] - there(before)[None], axis=2).min(axis=1)
            assert (way <= 2.0 / 24.0).all()


def test_keyframes_make_an_object_for_each_that_lived(tmp_path):
    crowd = make_short_stream()
    frames = frames_of_short_stream(crowd)
    lived = sorted({n for f in frames for n in f.id[f.alive != 0].tolist()})
    made = keyframes.bake(frames, name="Crowd", collection_parent=bpy.context.scene.collection)
    objects = {o["id"]: o for o in made.collection.objects}
    assert sorted(objects) == lived
    for frame in frames[::4]:
        scenes.frame_set(frame.number)
        for row, number in enumerate(frame.id.tolist()):
            if number in objects:
                hidden = objects[number].hide_render
                assert hidden == (frame.alive[row] == 0)
                if not hidden:
                    place = np.array(objects[number].location)
                    assert np.abs(place - frame.position[row]).max() < 1e-4
        absent = set(objects) - set(frame.id.tolist())
        assert all(objects[number].hide_render for number in absent)


@needs_usd
def test_usd_instances_are_born_and_gone(tmp_path):
    crowd = make_short_stream()
    frames = frames_of_short_stream(crowd)
    made = export(crowd, "pointinstancer", tmp_path, LAST)
    usd = usd_points.pxr()
    stage = usd.Usd.Stage.Open(str(made.path))
    prim = usd.UsdGeom.PointInstancer(stage.GetPrimAtPath(usd_points.CROWD_PATH))
    for frame in frames[::5]:
        ids = np.array(prim.GetIdsAttr().Get(frame.number))
        dead = set(prim.GetInvisibleIdsAttr().Get(frame.number) or ())
        place = np.array(prim.GetPositionsAttr().Get(frame.number))
        assert len(ids) == len(frame.id)
        living = {n for n in ids.tolist() if n not in dead}
        assert living == set(frame.id[frame.alive != 0].tolist())
        assert np.abs(place - frame.position).max() < 1e-4


@needs_usd
@pytest.mark.parametrize("choice", ["Random", "Index"])
def test_usd_instances_that_are_born_are_the_bodies_of_the_viewport(tmp_path, choice):
    crowd = make_short_stream()
    modifier = display.find_modifier(crowd)
    display.set_input(modifier, "Collection", make_bodies())
    display.set_input(modifier, "Display", "Collection")
    display.set_input(modifier, "Choose By", choice)
    made = export(crowd, "pointinstancer", tmp_path, LAST)
    scenes.play(1, LAST)
    assert len(wanted := shown_bodies()) > 3
    assert_same(in_usd(made.path, [LAST]), [wanted], 2e-2)


@pytest.mark.parametrize("name", ["mdd", "pc2", "glb", "alembic", "fbx"])
def test_other_formats_take_births(name, tmp_path):
    assert export(make_short_stream(), name, tmp_path, 12).size > 0


def test_a_table_has_the_living_only_once_each(tmp_path):
    crowd = make_short_stream()
    frames = frames_of_short_stream(crowd)
    made = export(crowd, "csv", tmp_path, LAST)
    lines = made.path.read_text(encoding="ascii").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    told = {(int(row[0]), int(row[1])) for row in rows}
    assert len(told) == len(rows) > 0
    wanted = {(n, f.number) for f in frames for n in f.id[f.alive != 0].tolist()}
    assert told == wanted


def test_a_stopped_bake_goes_on_with_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.setattr(layout, "CHUNK_FRAMES", 10)
    crowd, scene = make_short_stream(), bpy.context.scene
    crowd.steer.cache_directory = str(tmp_path)
    whole = cached.begin(crowd, scene, tmp_path / "uncut")
    run_to(whole, LAST + 1)
    run_to(bake := cached.begin(crowd, scene, tmp_path / "cut"), 33)
    bake.close()
    run_to(cached.resume(crowd, scene, tmp_path / "cut"), LAST + 1)
    assert bits(tmp_path / "cut") == bits(tmp_path / "uncut")
    frames = frames_of_short_stream(crowd)
    cache = open_cache(tmp_path / "uncut")
    for frame in frames[::5]:
        assert same(cache.frame(frame.number), frame)
    run_to(bake := cached.begin(crowd, scene, tmp_path / "moved"), 33)
    bake.close()
    crowd.steer.births_object.location.y += 1.0
    scenes.update()
    with pytest.raises(SceneError, match="Door"):
        run_to(cached.resume(crowd, scene, tmp_path / "moved"), LAST + 1)

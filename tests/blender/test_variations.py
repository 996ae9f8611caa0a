"""Variations: made by processes from a copy of the file, shown, kept as the bake, deleted."""

from __future__ import annotations

import re
import shutil

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import places, status  # noqa: E402
from steer_addon.blender.crowd import baked_file  # noqa: E402
from steer_addon.blender.crowd.state import plays_back  # noqa: E402
from steer_addon.blender.ui import variations as panel  # noqa: E402
from steer_addon.blender.variations import current, made, running  # noqa: E402
from steer_addon.core.cache import layout, open_cache  # noqa: E402
from tests.blender.cached_crowds import bits, make_walkers, whole  # noqa: E402
from tests.blender.crowd_makers import make_crowd  # noqa: E402
from tests.blender.fake_layout import FakeLayout  # noqa: E402
from tests.blender.operator_calls import refusal  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("empty_scene")]
OPS = bpy.ops.object


def make_shot(folder, patch):
    obj = make_walkers(folder / "bakes", patch)
    wander = obj.steer.behaviors.add()
    wander.type = "wander"
    obj.steer.variations.count, obj.steer.seed = 2, 7
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "shot.blend"))
    return obj


@pytest.fixture
def crowd(tmp_path, monkeypatch):
    return make_shot(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def varied(steer, tmp_path_factory):
    """A folder in which two variations were made, a copy of it, and what it held before."""
    folder = tmp_path_factory.mktemp("varied") / "shots"
    folder.mkdir()
    bpy.ops.wm.read_homefile(use_empty=True)
    with pytest.MonkeyPatch.context() as patch:
        crowd = make_shot(folder, patch)
        before = files(folder)
        assert "has no variations" in refusal(OPS.steer_variations_delete)
        assert OPS.steer_variations_make() == {"FINISHED"}
    assert crowd.steer.seed == 7 and bpy.data.filepath == str(folder / "shot.blend")
    assert not plays_back(crowd)
    kept = shutil.copytree(folder, folder.with_name("kept"))
    return folder, kept, before


@pytest.fixture
def of_two(varied, empty_scene, monkeypatch):
    """The crowd with two variations, its folder, and what that held before they were made."""
    folder, kept, before = varied
    monkeypatch.setattr(layout, "CHUNK_FRAMES", 10)
    shutil.rmtree(folder)
    shutil.copytree(kept, folder)
    bpy.ops.wm.open_mainfile(filepath=str(folder / "shot.blend"))
    return bpy.context.object, folder, before


def drawn(obj):
    """Texts and operators of the section."""
    layout = FakeLayout()
    made.refresh(obj)
    panel.draw_variations(layout, bpy.context, obj)
    kinds = ("label", "operator")
    return [value for kind, value in layout.record if kind in kinds]


def files(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_two_are_made_shown_kept_and_deleted(of_two):
    crowd, folder, before = of_two
    found, done = made.seen(crowd)
    assert [one.seed for one in found] == [1, 2] and done == {1, 2}
    assert not plays_back(crowd) and crowd.steer.seed == 7

    assert OPS.steer_variation_show(number=2) == {"FINISHED"}
    assert plays_back(crowd) and (crowd.steer.variation, crowd.steer.seed) == (2, 2)
    assert baked_file.diagnosis(crowd).code == "PLAYS_VARIATION"
    with pytest.raises(RuntimeError, match="no variation 5"):
        OPS.steer_variation_show(number=5)
    assert "Variation 2 is shown, seed 2; 2 of 2 are made" in drawn(crowd)
    assert any(re.fullmatch(r"\d+ of \d+ arrived.*", text) for text in drawn(crowd)), drawn(crowd)
    two = bits(found[1].cache_of(crowd))
    assert two != bits(found[0].cache_of(crowd))
    OPS.steer_variation_back()
    assert not plays_back(crowd) and (crowd.steer.variation, crowd.steer.seed) == (0, 7)
    assert "shows no variation" in refusal(OPS.steer_variation_keep)

    OPS.steer_variation_show(number=2)
    assert OPS.steer_variation_keep() == {"FINISHED"}
    own = places.own_folder(crowd)
    assert own == folder / "bakes" / "Crowd" and plays_back(crowd) and crowd.steer.seed == 2
    told = status.read_status(crowd, bpy.context.scene)
    assert told.complete and told.other_file is None and told.out_of_date is None
    # as a bake by that seed, but for what the manifest says of its file
    manifest = two.pop("manifest.json")
    kept = bits(own)
    assert kept.pop("manifest.json") != manifest and kept == two
    baked = open_cache(whole(crowd, folder / "baked"))
    for frame in open_cache(own):
        same = baked.frame(frame.number)
        assert frame.position.tobytes() == same.position.tobytes()
        assert frame.rotation.tobytes() == same.rotation.tobytes()

    assert OPS.steer_variations_delete() == {"FINISHED"}
    assert plays_back(crowd) and places.own_folder(crowd) == own
    left = [name for name in files(folder) if not name.startswith(("bakes/Crowd/", "baked/"))]
    assert left == before


def test_a_bake_takes_the_place_of_a_variation_and_going_back_finds_it(of_two):
    crowd, folder, _ = of_two
    OPS.steer_variation_show(number=2)
    assert OPS.steer_cache_bake() == {"FINISHED"}
    own = places.own_folder(crowd)
    assert own == folder / "bakes" / "Crowd"
    assert (crowd.steer.variation, crowd.steer.seed) == (0, 2)
    assert baked_file.diagnosis(crowd).code == "PLAYS_BAKE"
    assert "shows no variation" in refusal(OPS.steer_variation_keep)
    assert made.seen(crowd)[1] == {1, 2}

    crowd.steer.seed = 7
    one = bits(own)
    OPS.steer_variation_show(number=1)
    OPS.steer_variation_show(number=2)
    assert places.own_folder(crowd) is None
    with pytest.raises(RuntimeError, match="that 'Crowd' had before it showed variation 2"):
        OPS.steer_cache_bake()
    OPS.steer_variation_back()
    assert places.own_folder(crowd) == own and bits(own) == one and crowd.steer.seed == 7
    OPS.steer_variation_show(number=1)
    OPS.steer_variation_keep()
    assert places.own_folder(crowd) == own and bits(own) != one and crowd.steer.seed == 1


def test_a_run_is_stopped_and_goes_on(crowd, monkeypatch):
    # one after the other, so that the second is never made when the first is
    monkeypatch.setattr(running.local, "worker_count", lambda: 1)
    run = running.begin(crowd, prepared(crowd))
    assert "are being made" in refusal(OPS.steer_variations_make)
    assert "0 of 2 made" in drawn(crowd)
    while len(made.seen(crowd)[1]) < 1:
        run.step()
        running.local.pause()
        made.refresh(crowd)
    assert len(made.seen(crowd)[1]) == 1
    OPS.steer_variations_stop()
    assert current.run() is None and current.look() is None
    one = next(one for one in made.variations_of(crowd) if one.has(crowd))
    before = bits(one.cache_of(crowd))
    assert "object.steer_variations_continue" in drawn(crowd)
    assert OPS.steer_variations_continue() == {"FINISHED"}
    assert made.seen(crowd)[1] == {1, 2}
    assert bits(one.cache_of(crowd)) == before


def prepared(crowd):
    """Seeds of variations, with the copy of the file that they are made from."""
    running.copy_file(crowd)
    return [1, 2]


def test_crowds_that_meet_vary_together(crowd, tmp_path):
    other = make_crowd(3, name="Others")
    other.steer.frame_start, other.steer.frame_end = 3, 12
    other.steer.cache_directory = str(tmp_path / "bakes")
    both = bpy.data.collections.new("Both")
    bpy.context.scene.collection.children.link(both)
    for obj in (crowd, other):
        both.objects.link(obj)
        obj.steer.meets_collection = both
    bpy.context.view_layer.objects.active = crowd
    crowd.steer.variations.count = 1
    assert OPS.steer_variations_make() == {"FINISHED"}
    OPS.steer_variation_show(number=1)
    assert plays_back(crowd) and plays_back(other) and other.steer.seed == 1
    (one,) = made.variations_of(crowd)
    assert open_cache(one.cache_of(other)).frames == range(3, 13)
    OPS.steer_variation_keep()
    assert places.own_folder(other) == tmp_path / "bakes" / "Others"


def test_foreign_files_stay(crowd, tmp_path):
    folder = made.folder_of(crowd)
    folder.mkdir(parents=True)
    (folder / "scene.blend").write_text("mine")
    with pytest.raises(RuntimeError, match="Steer did not make it"):
        OPS.steer_variations_make()
    assert (folder / "scene.blend").read_text() == "mine"


def test_a_failure_is_said(crowd, tmp_path):
    crowd.steer.behaviors[0].type, crowd.steer.variations.count = "seek", 1
    for vertex in crowd.data.vertices:
        vertex.co = (float("nan"),) * 3
    with pytest.raises(RuntimeError, match="not at finite places"):
        OPS.steer_variations_make()
    assert made.seen(crowd)[1] == set()

"""Job files: what is in one, and one sentence about each that cannot be run."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steer_addon.core.errors import SteerError
from steer_addon.farm.errors import JobError
from steer_addon.farm.job import read_job
from steer_addon.farm.tasks import tasks_of
from steer_addon.farm.variations import check_scene, differing, variations_of

WHOLE = """
scenes = ["a.blend", "shots/b.blend"]
crowds = ["Crowd"]
presets = ["pedestrians", "birds"]
seeds = "1-3,12"
frames = "5-9"
make = ["cache", "usd", "keyframes", "csv", "render"]
out = "results/night"
[set]
avoid_neighbors.weight = 2
"agents.max_speed" = 1.8
bodies.collide_agents = true
ways = "AROUND"
[render]
engine = "workbench"
samples = 4
size = "50%"
chunk = 2
"""


def test_everything_a_job_can_say(bench):
    batch = bench.batch(WHOLE)
    assert batch.scenes == (bench.folder / "a.blend", bench.folder / "shots" / "b.blend")
    assert batch.out == bench.folder / "results" / "night"
    assert batch.job.set == (
        "avoid_neighbors.weight=2",
        "agents.max_speed=1.8",
        "bodies.collide_agents=true",
        "ways=AROUND",
    )
    assert (batch.job.render.engine, batch.job.render.chunk) == ("WORKBENCH", 2)
    found = bench.variations(batch)
    assert len(found) == 2 * 2 * 4
    assert found[0].name == "a-pedestrians-seed1"
    assert found[-1].name == "b-birds-seed12"
    assert [one.number for one in found] == list(range(1, 17))
    assert {one.frames for one in found} == {range(5, 10)}
    assert differing(found)["b-birds-seed12"] == {
        "scene": "b.blend",
        "preset": "birds",
        "seed": 12,
    }


def test_the_least_a_job_can_say(bench):
    (only,) = bench.variations(bench.batch('scenes = "a.blend"'))
    assert (only.name, only.preset, only.seed, only.frames) == ("a", None, None, range(1, 21))
    assert bench.batch('scenes = "a.blend"\nseeds = [3, "5-6", 3]').job.seed_count == 4
    names = [one.seed for one in bench.variations(bench.batch('scenes="a.blend"\nseeds=[3,"3-4"]'))]
    assert names == [3, 4]


def test_folders_of_scenes_with_the_same_name(bench):
    text = 'scenes = ["x/a.blend", "y/A.blend", "z/a b.blend", "shared.blend"]'
    names = [one.name for one in bench.variations(bench.batch(text))]
    assert names == ["a", "A_2", "a_b", "shared_2"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["lacks scenes"]),
        ("scenes = []", ["scenes is empty"]),
        ("scenes = 3", ["scenes[0] is 3", "text"]),
        ('scenes = ["a.blend", "a.blend"]', ["twice"]),
        ('scenes = "a.blend"\nseed = 3', ["unknown key 'seed'", "seeds"]),
        ('scenes = "a.blend"\nseeds = 1.5', ["1.5"]),
        ('scenes = "a.blend"\nseeds = true', ["True"]),
        ('scenes = "a.blend"\nseeds = "8-1"', ["8-1", "A <= B"]),
        ('scenes = "a.blend"\nseeds = "1-"', ["'1-'"]),
        ('scenes = "a.blend"\nseeds = []', ["seeds"]),
        ('scenes = "a.blend"\nseeds = 4294967296', ["32 bits"]),
        ('scenes = "a.blend"\nseeds = "1-1000000000"', ["1000000000", "10000"]),
        ('scenes = "a.blend"\nframes = "1-9999999"', ["frames", "1048574"]),
        ('scenes = "a.blend"\nframes = [1, 2]', ["frames", "text"]),
        ('scenes = "a.blend"\nmake = ["film"]', ["film", "keyframes"]),
        ('scenes = "a.blend"\nout = "../elsewhere"', ["leads out", "--out"]),
        ('scenes = "a.blend"\nout = "/etc"', ["leads out"]),
        ('scenes = "a.blend"\nout = "."', ["leads out"]),
        ('scenes = "a;rm -rf x.blend"', ["';'", "rename"]),
        ('scenes = "a.blend"\ncrowds = ["$(reboot)"]', ["'$'"]),
        ('scenes = "a.blend"\ncrowds = ["a\\nb"]', ["crowds[0]"]),
        ('scenes = "a.blend"\npresets = ["nobody"]', ["nobody", "pedestrians"]),
        ('scenes = "a.blend"\npresets = ["x.json"]', ["x.json"]),
        ('scenes = "a.blend"\n[render]\nsamples = 0', ["render.samples is 0"]),
        ('scenes = "a.blend"\n[render]\nsamples = true', ["render.samples is True"]),
        ('scenes = "a.blend"\n[render]\nsize = "1x1"', ["render.size", "1x1"]),
        ('scenes = "a.blend"\n[render]\nengine = "BLINK"', ["BLINK", "WORKBENCH"]),
        ('scenes = "a.blend"\nrender = 3', ["render is 3"]),
        ('scenes = "a.blend"\nset = 3', ["set is 3"]),
        ('scenes = "a.blend"\n[set]\na.b.c.d.e = 1', ["too deep"]),
        ('scenes = "a.blend"\n[set]\nx = [1]', ["set.x"]),
        ("scenes = " + "[" * 100_000, ["nested too deep"]),
        ("x = '" + "y" * 1_100_000 + "'", ["1000000 bytes"]),
        ("scenes = ", ["no TOML"]),
    ],
    ids=lambda value: str(value)[:60] if isinstance(value, str) else "",
)
def test_jobs_that_cannot_be_run(bench, text, words):
    with pytest.raises(JobError) as caught:
        bench.batch(text)
    for word in words:
        assert word in str(caught.value)


def test_a_link_out_of_the_folder_of_a_job(bench, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (bench.folder / "out").symlink_to(elsewhere)
    with pytest.raises(JobError, match="leads out"):
        bench.batch('scenes = "a.blend"\nout = "out"')


def test_a_job_that_is_not_there(tmp_path):
    with pytest.raises(JobError, match=r"none\.toml"):
        read_job(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('crowds = ["Mob"]', ["'Mob'", "Crowd"]),
        ('frames = "0-5"', ["begin before", "from 1 on"]),
        ("[set]\navoid_neighbours.weight = 2", ["avoid_neighbours", "avoid_neighbors"]),
        ("[set]\navoid_neighbors.wait = 2", ["wait"]),
        ("[set]\nagents.radius = -2", ["agents.radius"]),
        ("[set]\nagents.radius = nan", ["agents.radius"]),
        ('presets = ["birds"]\n[set]\nways = "NEVER"', ["NEVER"]),
    ],
)
def test_settings_that_a_scene_does_not_have(bench, more, words):
    batch = bench.batch(f'scenes = "a.blend"\n{more}')
    with pytest.raises(SteerError) as caught:
        check_scene(batch, bench.scene(batch)[0])
    for word in (*words, "a.blend"):
        assert word in str(caught.value)


def test_a_preset_that_lacks_what_is_set_is_named(bench):
    text = 'scenes = "a.blend"\npresets = ["pedestrians", "panic"]\nset.avoid_neighbors.weight = 2'
    batch = bench.batch(text)
    with pytest.raises(JobError, match=r"a\.blend with preset 'panic': .*'avoid_neighbors'"):
        check_scene(batch, bench.scene(batch)[0])


def test_the_job_file_of_the_docs_can_be_run(bench):
    page = Path(__file__).parents[2] / "docs" / "batches.md"
    batch = bench.batch(page.read_text().partition("```toml\n")[2].partition("```")[0])
    check_scene(batch, bench.scene(batch)[0])


def test_too_many_tasks_are_counted_not_made(bench):
    text = 'scenes = "a.blend"\nseeds = "1-9000"\nframes = "1-1000000"\nmake = "render"\n'
    batch = bench.batch(text + "[render]\nchunk = 1")
    with pytest.raises(JobError, match="9000045000 tasks"):
        tasks_of(batch, variations_of(batch, bench.scene(batch)), "5.0.1")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.text(max_size=40), st.sampled_from(["scenes", "seeds", "make", "set", "out", "frames"]))
def test_any_text_is_read_or_refused(bench, value, key):
    quoted = '"' + "".join(f"\\u{ord(c):04x}" for c in value if ord(c) < 0xD800) + '"'
    lines = {"scenes": '"a.blend"', key: quoted}
    try:
        batch = bench.batch("\n".join(f"{k} = {v}" for k, v in lines.items()))
    except JobError:
        return
    assert bench.folder in batch.out.parents

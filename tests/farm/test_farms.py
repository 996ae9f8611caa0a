"""Jobs of render farms: their formats accept them, and what they run makes the pictures."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import product

import pytest

from steer_addon.farm import flamenco, openjd
from steer_addon.farm.errors import JobError
from steer_addon.farm.farms import look_of, shots_of
from steer_addon.farm.job import RenderSettings
from tests.farm.test_local import JOB, run
from tests.often import often

BLENDER = """#!{python}
import pathlib, re, sys
words = sys.argv[1:]
assert words[0] == "-b" and words[-1] == "-a" and pathlib.Path(words[1]).is_file(), words
told = words[words.index("--python-expr") + 1]
if "findall" in told:
    found = re.findall(r"(?<!\\d)-?\\d+", re.findall(r"'([-\\d]+)'", told)[0])
else:
    found = words[words.index("-s") + 1], words[words.index("-e") + 1]
out = words[words.index("-o") + 1]
pathlib.Path(out).parent.mkdir(exist_ok=True)
for n in range(int(found[0]), int(found[-1]) + 1):
    pathlib.Path(out.replace("####", f"{{n:04d}}") + ".png").write_text(words[1])
"""
STEER = """#!{python}
import pathlib, sys
words = sys.argv[1:]
assert words[0] == "batch" and pathlib.Path(words[1]).is_file(), words
out = pathlib.Path(words[words.index("--out") + 1])
for name in (words[k + 1] for k, word in enumerate(words) if word == "--only"):
    folder = out / name
    folder.mkdir(parents=True)
    if name.endswith("bake"):
        (folder / "baked.blend").write_text(name)
"""
NODE = """
const fs = require("fs");
const tasks = [];
const author = {
    Task: (name, type) => ({ name, type, commands: [], needs: [],
        addCommand(c) { this.commands.push(c); },
        addDependency(t) {
            if (!tasks.includes(t)) throw new Error(name);
            this.needs.push(t.name);
        } }),
    Command: (name, parameters) => ({ name, parameters }),
};
const job = JSON.parse(fs.readFileSync(process.argv[2]));
job.addTask = (task) => tasks.push(task);
eval(fs.readFileSync(process.argv[3], "utf8") + ";globalThis.kept = { JOB_TYPE, compileJob };");
for (const key of Object.keys(job.settings)) {
    const known = kept.JOB_TYPE.settings.find((s) => s.key === key);
    if (!known || typeof job.settings[key] !== known.type) throw new Error(key);
}
kept.compileJob(job);
console.log(JSON.stringify(tasks));
"""


def shots(bench, text=JOB):
    """The variations of a job, as farms make them."""
    batch, tasks = bench.tasks(text)
    return batch, shots_of(batch, bench.variations(batch), tasks)


@pytest.mark.parametrize(
    ("baked", "chunks"), often([*product((True, False), repeat=2)], (True, True), (False, False))
)
def test_open_job_description(bench, baked, chunks):
    pytest.importorskip("openjd.cli", reason="openjd-cli is not installed")
    if baked:
        run(bench, JOB.replace(', "render"', ""))
    else:
        (bench.folder / "a.blend").write_text("")
    batch, found = shots(bench)
    template = openjd.template_of(batch, bench.folder / "job.toml", found, chunks=chunks)
    assert len(template["steps"]) == (2 if baked else 4)
    flows = {p["name"]: p.get("dataFlow") for p in template["parameterDefinitions"]}
    assert flows == {
        "Job": "IN", "Input1": "IN", "Out": "INOUT", "Blender": None, "Steer": None,
    }  # fmt: skip
    path = bench.folder / "template.json"
    path.write_text(json.dumps(template))
    command = [sys.executable, "-m", "openjd"]
    checked = subprocess.run([*command, "check", str(path)], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    values = bench.folder / "parameters.json"
    values.write_text(json.dumps(openjd.parameters_of(batch, bench.folder / "job.toml", found)))
    parameters = ["-p", f"file://{values}"]
    for name, text in (("Blender", BLENDER), ("Steer", STEER)):
        script = bench.folder / name
        script.write_text(text.format(python=sys.executable))
        script.chmod(0o755)
        parameters += ["-p", f"{name}={script}"]
    words = [*command, "run", str(path), "--run-dependencies", *parameters]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    pictures = [p.name for p in sorted((batch.out / "a-seed2" / "frames").glob("*.png"))]
    assert pictures == [f"frame_{n:04d}.png" for n in range(1, 21)]


def test_limits_of_open_job_description(bench):
    many = "[" + ", ".join(f'"s{n}.blend"' for n in range(60)) + "]"
    batch, found = shots(bench, JOB.replace('"a.blend"', many))
    with pytest.raises(JobError, match="60 scenes and presets.*at most 46"):
        openjd.template_of(batch, bench.folder / "job.toml", found, chunks=True)
    text = JOB.replace("chunk = 10", "chunk = 1").replace("make", 'frames = "1-2000"\nmake')
    batch, found = shots(bench, text)
    openjd.template_of(batch, bench.folder / "job.toml", found, chunks=True)
    with pytest.raises(JobError, match="larger chunk"):
        openjd.template_of(batch, bench.folder / "job.toml", found, chunks=False)
    batch, found = shots(bench, JOB.replace("a.blend", "x" * 90 + ".blend"))
    template = openjd.template_of(batch, bench.folder / "job.toml", found, chunks=True)
    names = [step["name"] for step in template["steps"]]
    assert len(set(names)) == len(names) == 4 and max(map(len, names)) == 64


def test_files_that_scenes_read_are_given_to_farms(bench):
    """A farm that carries nothing but what parameters name has all that a scene links from."""
    files = [bench.folder / "assets" / name for name in ("knight.blend", "skin.png")]
    cache = bench.folder / "caches" / "Crowd"
    cache.mkdir(parents=True)
    batch, found = shots(bench)
    reads = replace(found[0].variation.scene, files=(*files, cache, *batch.scenes))

    def given(read):
        scene = replace(reads, files=read)
        many = [replace(one, variation=replace(one.variation, scene=scene)) for one in found]
        job = bench.folder / "job.toml"
        template = openjd.template_of(batch, job, many, chunks=True)
        kinds = {p["name"]: p.get("objectType") for p in template["parameterDefinitions"]}
        told = openjd.parameters_of(batch, job, many)
        assert set(told) == {name for name, kind in kinds.items() if kind}
        return {told[name]: kinds[name] for name in told if name.startswith("Linked")}

    assert given(reads.files) == {
        str(files[0]): "FILE", str(files[1]): "FILE", str(cache): "DIRECTORY",
    }  # fmt: skip
    # too many files for parameters: the folder that holds most of them stands for these
    textures = bench.folder / "textures"
    textures.mkdir()
    told = given((*files, *(textures / f"{n}.png" for n in range(60))))
    assert told == {str(textures): "DIRECTORY", **{str(file): "FILE" for file in files}}
    with pytest.raises(JobError, match="read files in 60 folders.*at most 46 together"):
        given(tuple(bench.folder / str(n) / "a.png" for n in range(60)))


def test_flamenco(bench):
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    batch, found = shots(bench)
    job = flamenco.submission_of(batch, bench.folder / "job.toml", found, "linux")
    assert (job["type"], job["submitter_platform"]) == ("steer-crowd", "linux")
    path, script = bench.folder / "submission.json", bench.folder / "stand_in.js"
    path.write_text(json.dumps(job))
    script.write_text(NODE)
    done = subprocess.run(
        [node, str(script), str(path), str(flamenco.SCRIPT)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    tasks = {task["name"]: task for task in json.loads(done.stdout)}
    assert len(tasks) == 8
    picture = tasks["a-seed1/render-11-20"]
    assert picture["type"] == "blender" and picture["needs"] == ["a-seed1/bake"]
    told = picture["commands"][0]["parameters"]
    assert (told["exe"], told["blendfile"]) == (
        "{blender}",
        str(batch.out / "a-seed1" / "bake" / "baked.blend"),
    )
    assert told["args"][-5:] == ["-s", "11", "-e", "20", "-a"]
    bake = tasks["a-seed1/bake"]["commands"][0]
    assert bake["name"] == "exec" and bake["parameters"]["exe"] == "steer"
    assert bake["parameters"]["args"][-2:] == ["--only", "a-seed1/bake"]


def test_nothing_left_for_a_farm(bench):
    text = JOB.replace(', "render"', "")
    run(bench, text)
    batch, found = shots(bench, text)
    for make in (
        lambda: openjd.template_of(batch, bench.folder / "job.toml", found, chunks=True),
        lambda: flamenco.submission_of(batch, bench.folder / "job.toml", found, "linux"),
    ):
        with pytest.raises(JobError, match="nothing is left"):
            make()


@pytest.mark.parametrize("engine", ["CYCLES", "WORKBENCH", "EEVEE"])
def test_how_pictures_look_is_python(engine):
    for size in ("64x36", "50%"):
        text = look_of(RenderSettings(engine=engine, samples=3, size=size))
        compile(text, "look", "exec")
        assert re.search(r"samples=3\b", text) and "{" not in text


def look_at(path):
    """Open a file, and do what a farm's Blender does before it renders."""
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(path))
    exec(look_of(RenderSettings()), {"__name__": "__main__"})
    return bpy.context.scene


def test_pictures_of_a_farm_are_whole_or_fail(tmp_path):
    """Blender renders on without what is not there, and ends with 0."""
    bpy = pytest.importorskip("bpy", reason="bpy is not installed")
    shot, kit, bake = tmp_path / "shot.blend", tmp_path / "kit.blend", tmp_path / "crowd.usdc"
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.data.libraries.write(str(kit), {bpy.data.objects.new("Knight", None)})
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    with bpy.data.libraries.load(str(kit), link=True, relative=True) as (_there, wanted):
        wanted.objects = ["Knight"]
    scene = bpy.context.scene
    scene.collection.objects.link(wanted.objects[0])
    bake.write_bytes(b"")
    bpy.ops.cachefile.open(filepath=str(bake))
    bpy.data.cache_files[0].use_fake_user = True
    scene.frame_step, scene.render.use_overwrite = 2, False
    bpy.ops.wm.save_mainfile()
    scene = look_at(shot)
    # a farm says which frames, and a picture of an earlier bake is none of this one
    assert scene.frame_step == 1 and scene.render.use_overwrite
    for path in (kit, bake):
        kept = path.read_bytes()
        path.unlink()
        with pytest.raises(AssertionError, match="Knight" if path == kit else r"crowd\.usdc"):
            look_at(shot)
        path.write_bytes(kept)

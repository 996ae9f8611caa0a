"""Groups of agents on the command line."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd.properties import add_group  # noqa: E402
from steer_addon.blender.headless import batch  # noqa: E402
from tests.blender.live_scenes import make_crowd, make_target, seekers  # noqa: E402
from tests.diagnosed import says  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def guarded(tmp_path):
    """A file with ten agents, of which the guards seek: nobody is one."""
    settings = seekers({"type": "seek", "group": "guards"})
    obj = make_crowd([(float(i), 0.0, 0.0) for i in range(10)], settings=settings)
    make_target(obj)
    add_group(obj, "guards").share = 0.0
    path = tmp_path / "guarded.blend"
    batch.save_file(path)
    return path


@pytest.mark.parametrize(
    ("changes", "moving", "empty"),
    [
        ((), 0, True),
        (("groups.guards.share=1",), 10, False),
        (("seek.group=!guards",), 10, True),
        (("groups.guards.share=1", "groups.guards.speed=0"), 0, False),
    ],
)
def test_settings_of_groups_hold_for_a_run(run, guarded, tmp_path, changes, moving, empty):
    more = [word for change in changes for word in ("--set", change)]
    result = run("simulate", guarded, "--out", tmp_path / "out", "--frames", "1-6", *more)
    assert result.code == 0, result.err
    speeds = np.linalg.norm(np.load(tmp_path / "out" / "velocities.npy")[-1], axis=1)
    assert (speeds > 0.1).sum() == moving
    assert says(result.out + result.err, "GROUP_EMPTY", "guards") == empty


def test_a_group_that_is_not_there_cannot_be_set(run, guarded, tmp_path):
    words = ("simulate", guarded, "--out", tmp_path, "--set", "groups.police.share=1")
    run(*words).failed_with("police", "guards")


def test_the_members_of_each_group_are_told(run, guarded):
    bpy.ops.wm.open_mainfile(filepath=str(guarded))
    add_group(bpy.data.objects["Crowd"], "all").share = 1.0
    batch.save_file(guarded)
    assert run("info", guarded, "--json").data["crowds"][0]["groups"] == {"guards": 0, "all": 10}
    assert "  groups: guards (0), all (10)" in run("info", guarded).out.splitlines()

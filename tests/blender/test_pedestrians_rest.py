"""The preset of pedestrians: after half a minute, or a whole one, all stand still on both feet."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters import library  # noqa: E402
from steer_addon.blender.crowd import casting  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.live import simulate  # noqa: E402
from tests.blender.crowd_makers import active  # noqa: E402
from tests.often import often  # noqa: E402

pytestmark = [pytest.mark.usefixtures("empty_scene", "few_poses"), pytest.mark.slow]

REST = 48
SOLE = 0.005
"""Height below which a sole is on the ground [m]."""


@pytest.mark.parametrize(("count", "end"), often([(40, 800), (100, 1500)], (40, 800)))
def test_all_arrive_and_stand_on_both_feet(count, end):
    assert bpy.ops.object.steer_start(preset="pedestrians", count=count) == {"FINISHED"}
    obj = active()
    obj.steer.frame_end = end
    frames = [
        frame
        for frame in simulate.run(obj, bpy.context.scene, range(1, end + 1))
        if frame.number > end - REST
    ]
    last = frames[-1]
    arrived = frames[0].attributes["arrived"] > 0.5
    assert arrived.all()
    gaits = np.array([frame.attributes["gait"] for frame in frames])[:, arrived]
    assert (gaits == 0.0).all()
    assert max(frame.speed[arrived].max() for frame in frames) < 0.02
    # standing goes on by time, at the tempo of each
    phases = np.diff([frame.attributes["phase"] for frame in frames], axis=0)[:, arrived]
    assert (phases > 0.0).all() and np.ptp(phases, axis=0).max() < 1.0e-4
    characters = casting.characters_of(display.find_modifier(obj))
    for agent in np.flatnonzero(arrived):
        character = characters[int(last.attributes["character"][agent])]
        row = library.rows_of(character)[0][0]
        place = last.attributes["phase"][agent] % 1.0 * row.count
        pose = library.positions_of(character)[row.first + int(place + 0.5) % row.count]
        for side in (1.0, -1.0):
            foot = pose[pose[:, 0] * side > 0.0, 2]
            assert abs(foot.min()) < SOLE and np.sum(foot < SOLE) >= 4, character.name

"""Agents that are small in the picture of the active camera share poses: only each second, fourth,
eighth of a row is shown, as far as the way between two of them is less than 0.3 % of the picture.
That is with 10,000 agents and more; the fewer they are, the less the share.

The camera has 50 mm, so from a distance d it sees 0.405 d in height. A toy walks 1 m in 128 poses.
"""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters import library  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402

from .test_characters_shown import crowd_of, level_frame  # noqa: E402
from .toy_characters import make_toy, shown_poses, space  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

WAY = 1.0 / 128.0
COUNT = 200


def far(distance, count=COUNT):
    """The distance at which a number of agents share poses as 10,000 do at the given one."""
    return distance * 10_000 / count


def camera_at(distance, kind="PERSP", scale=1.0):
    data = bpy.data.cameras.new("Camera")
    data.type, data.ortho_scale = kind, scale
    obj = bpy.data.objects.new("Camera", data)
    obj.location, obj.rotation_euler = (0.0, -distance, 0.0), (0.5 * np.pi, 0.0, 0.0)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.scene.camera = obj
    return obj


def walkers(gait=1.0, phases=None, **more):
    """Agents in one place, each with a phase of its own; and their poses, as they are shown."""
    poses = space(walk=128, run=12, jump=6)
    phases = np.linspace(0.0, 1.0, COUNT, endpoint=False) if phases is None else phases
    frame = level_frame(len(phases), gait=[gait] * len(phases), phase=phases, **more)
    frame.position[:] = 0.0
    _, modifier = crowd_of(frame, make_toy(poses=poses))

    def shown():
        bpy.context.view_layer.update()
        return np.array([number for _, number in shown_poses(Toy=poses)])

    return phases, modifier, shown


@pytest.mark.parametrize("step", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("beyond", [1.02, 1.98])
def test_the_step_goes_with_the_distance(step, beyond):
    phases, _, shown = walkers()
    # the distance from which 0.3 % of the picture is a step
    camera_at(far(beyond * step * WAY / 0.003 / 0.405))
    nearest = np.floor(phases * 128 / step + 0.5) * step % 128
    np.testing.assert_array_equal(shown(), 1 + nearest)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "step"), [(50, 1), (2_000, 1), (5_000, 2), (10_000, 4), (12_000, 4)]
)
def test_fewer_agents_share_fewer_poses(count, step):
    phases, _, shown = walkers(phases=np.linspace(0.0, 1.0, count, endpoint=False))
    # 0.3 % of the picture are the way between four poses there
    camera_at(4.02 * WAY / 0.003 / 0.405)
    np.testing.assert_array_equal(shown(), 1 + np.floor(phases * 128 / step + 0.5) * step % 128)


def test_steps_go_no_further():
    phases, _, shown = walkers()
    camera_at(far(1.0e5))
    np.testing.assert_array_equal(shown(), 1 + np.floor(phases * 8 + 0.5) % 8 * 16)


@pytest.mark.parametrize("full, step", [(0.0, 1), (0.06, 1), (0.3, 4), (1.0, 16)])
def test_full_detail_says_how_fine_they_are(full, step):
    # 0.3 % of the picture are the way between three poses there, with the usual 15 %
    phases, modifier, shown = walkers()
    camera_at(far(3.0 * WAY / 0.003 / 0.405))
    display.set_input(modifier, "Full Detail", full)
    np.testing.assert_array_equal(shown(), 1 + np.floor(phases * 128 / step + 0.5) * step % 128)


def test_near_by_without_a_camera_and_with_a_large_body_all_are_shown():
    phases, modifier, shown = walkers()
    every = 1 + np.floor(phases * 128 + 0.5) % 128
    np.testing.assert_array_equal(shown(), every)
    camera = camera_at(far(5.0))
    np.testing.assert_array_equal(shown(), every)
    camera.location.y = -far(60.0)
    assert (shown() != every).any()
    display.set_input(modifier, "Scale", 12.0)
    np.testing.assert_array_equal(shown(), every)


needs_camera_nodes = pytest.mark.skipif(
    bpy.app.version < (5, 0), reason="before 5.0 no node reads a camera"
)


@needs_camera_nodes
@pytest.mark.parametrize(
    ("turn", "times"),
    # half of the picture's width is seen under 19.8°, half of its height under 11.5°, at 16:9
    [
        pytest.param((0.0, 0.0, 0.0), 1, id="ahead"),
        pytest.param((0.0, 0.0, 19.0), 1, id="at the border"),
        pytest.param((0.0, 0.0, -23.0), 1, id="just beside it"),
        pytest.param((0.0, 0.0, 30.0), 2, id="left"),
        pytest.param((0.0, 0.0, -30.0), 2, id="right"),
        pytest.param((11.0, 0.0, 0.0), 1, id="at the lower border"),
        pytest.param((20.0, 0.0, 0.0), 2, id="below"),
        pytest.param((0.0, 0.0, 180.0), 2, id="behind"),
        pytest.param((0.0, 0.0, 160.0), 2, id="behind, aside"),
        pytest.param((0.0, 30.0, 0.0), 1, id="tilted"),
    ],
)
def test_agents_out_of_the_picture_share_more_poses(turn, times):
    phases, _, shown = walkers()
    camera = camera_at(far(1.02 * 4 * WAY / 0.003 / 0.405))
    x, y, z = np.radians(turn)
    camera.rotation_euler = (0.5 * np.pi + x, y, z)
    # neither its scale nor how far it is drawn counts
    camera.scale = (2.0, 2.0, 2.0)
    camera.data.clip_end = 1.0
    step = 4 * times
    np.testing.assert_array_equal(shown(), 1 + np.floor(phases * 128 / step + 0.5) * step % 128)


@needs_camera_nodes
def test_an_orthographic_camera_sees_all_as_large():
    phases, _, shown = walkers()
    # a picture of 16:9 that is 10 m wide: 0.3 % of its height are 17 mm, two poses
    camera_at(3.0, "ORTHO", far(10.0))
    np.testing.assert_array_equal(shown(), 1 + np.floor(phases * 64 + 0.5) % 64 * 2)


def test_clips_are_shown_by_how_far_their_vertices_move():
    # the jump rises by 0.14 m from one pose to the next, in the mean, and ends
    phases = np.linspace(0.0, 0.999, 40)
    phases, _, shown = walkers(gait=3.0, phases=phases)
    every = 1 + 128 + 12 + np.minimum(np.floor(phases * 6 + 0.5), 5)
    np.testing.assert_array_equal(shown(), every)
    camera = camera_at(far(200.0, 40))
    np.testing.assert_array_equal(shown(), every)
    camera.location.y = -far(300.0, 40)
    halved = 1 + 128 + 12 + np.minimum(np.floor(phases * 3 + 0.5) * 2, 5)
    assert (halved != every).any()
    np.testing.assert_array_equal(shown(), halved)


def test_far_agents_need_few_poses():
    _, _, shown = walkers()
    camera_at(far(1000.0))
    assert len(set(shown().tolist())) == 8


def test_each_row_knows_the_way_from_pose_to_pose():
    made = make_toy(poses=space(walk=128, run=12, jump=6))
    ways = [made.data.attributes["row_way"].data[row].value for row in range(4)]
    # the jump rises by (5 / 6)² in 5 steps
    assert ways == pytest.approx([0.0, 1 / 128, 2 / 12, 5 / 36], abs=0.001)
    assert library.rows_of(made)[0][1].stride == 1.0

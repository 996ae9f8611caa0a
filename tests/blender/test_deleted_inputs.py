"""The panel reports a deleted input, which is none from the next frame on; undo brings it back."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.checks import advice  # noqa: E402
from steer_addon.blender.live import live, simulate  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.deleting import WAYS  # noqa: E402
from tests.blender.live_scenes import frame_set, play, seekers, update  # noqa: E402
from tests.often import often  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def line(name):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(0, 0, 0), (0, 9, 0)], [(0, 1)], [])
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def target(crowd):
    crowd.steer.target_object = made = scenes.make_target()
    return made


def points(crowd):
    crowd.steer.target_object = made = scenes.make_ground("Goals", half=3.0)
    crowd.steer.target_kind = "POINTS"
    return made


def moving(crowd):
    made = target(crowd)
    scenes.move(made, {1: (0, 20, 0), 60: (60, 20, 0)})
    return made


def hidden(crowd):
    made = target(crowd)
    made.hide_viewport = True
    return made


def parented(crowd):
    made = target(crowd)
    made.parent = scenes.make_target(None, (1, 0, 0), "Parent")
    return made


def chosen_collection(crowd):
    made = scenes.make_target()
    collection = bpy.data.collections.new("Targets")
    collection.objects.link(made)
    crowd.steer.target_kind, crowd.steer.target_collection = "COLLECTION", collection
    return made


def leader(crowd):
    made = scenes.make_crowd([(0, 9, 0)], "Leader")
    crowd.steer.target_object, crowd.steer.target_kind = made, "CROWD"
    return made


def own_target(crowd):
    item = crowd.steer.behaviors["seek"]
    item.use_own_target, item.target_object = True, scenes.make_target()
    return item.target_object


def second_target(crowd):
    target(crowd)
    item = crowd.steer.behaviors["interpose"]
    item.second_target_object = scenes.make_target(None, (5, 5, 0), "Second")
    return item.second_target_object


def path(crowd):
    crowd.steer.behaviors["follow_path"].source_object = made = line("Path")
    return made


def container(crowd):
    crowd.steer.behaviors["containment"].source_object = made = scenes.make_box(half=9.0)
    return made


def field(crowd):
    made = scenes.make_ground("Field")
    scenes.add_attribute(made, "flow", "FLOAT_VECTOR", [(0, 1, 0)] * 4)
    crowd.steer.behaviors["flow_field"].source_object = made
    return made


def collider(crowd):
    made = scenes.make_box(location=(0, 30, 0))
    scenes.make_colliders(crowd, made)
    return made


def sphere(crowd):
    made = scenes.make_target(None, (0, 30, 0), "Sphere")
    made.empty_display_type = "SPHERE"
    scenes.make_colliders(crowd, made)
    return made


def ground(crowd):
    crowd.steer.ground = made = scenes.make_ground()
    return made


INPUTS = (
    target, points, moving, hidden, parented, chosen_collection, leader, own_target, second_target,
    path, container, field, collider, sphere, ground,
)  # fmt: skip


def perceived(world):
    """Numbers of what a world has of each kind of input."""
    found = {f"target {name}": targets.count for name, targets in world.targets.items()}
    found |= {f"second {name}": targets.count for name, targets in world.second_targets.items()}
    found |= {f"path {name}": 1 for name in world.paths}
    found |= {f"field {name}": 1 for name in world.fields}
    found |= {f"container {name}": 1 for name in world.containers}
    found["colliders"] = 0 if world.colliders is None else len(world.colliders.bvh.triangles)
    found["spheres"] = 0 if world.spheres is None else len(world.spheres.radius)
    found["ground"] = 0 if world.ground is None else 1
    return {name: count for name, count in found.items() if count}


def told(crowd):
    """All that the panel tells about inputs."""
    found = {*live.status(crowd).warnings, *advice.diagnoses(crowd)}
    return {one for one in found if one.code in LOST}


LOST = {
    "INPUT_LOST", "INPUT_ELSEWHERE", "TARGET_MISSING", "OWN_TARGET_MISSING",
    "SECOND_TARGET_MISSING", "SOURCE_MISSING", "NO_COLLIDERS_IN_COLLECTION",
}  # fmt: skip


MOST = ("operator", "remove")
PAIRS = [(choose, way) for choose in INPUTS for way in MOST]
PAIRS += [(choose, way) for choose in (hidden, chosen_collection, collider) for way in WAYS]
OFTEN = [(choose, MOST[number % 2]) for number, choose in enumerate(INPUTS)]
OFTEN += [(collider, way) for way in WAYS]
"""Each input with one way, in turns, and one with all of them."""
ids = [f"{choose.__name__}-{way}" for choose, way in dict.fromkeys(PAIRS)]


@pytest.mark.parametrize(("choose", "way"), often(dict.fromkeys(PAIRS), *OFTEN), ids=ids)
def test_what_is_deleted_counts_no_more_and_is_told(choose, way, capfd):
    stack = [{"type": name} for name in ("seek", "interpose", "follow_path")]
    stack += [{"type": name} for name in ("containment", "flow_field")]
    crowd = scenes.make_crowd(settings=seekers(*stack))
    made = choose(crowd)
    kept = bpy.data.collections.new("Kept")
    bpy.context.scene.collection.children.link(kept)
    for collection in made.users_collection:
        if collection == bpy.context.scene.collection:
            collection.objects.unlink(made)
            kept.objects.link(made)
    play(1, 4)
    bpy.ops.ed.undo_push(message="played")
    before, known = perceived(live.runs.get(crowd)._session.world), told(crowd)
    WAYS[way](made)
    bpy.ops.ed.undo_push(message="deleted")
    update()
    frame_set(5)
    crowd = bpy.data.objects["Crowd"]
    after = perceived(live.runs.get(crowd)._session.world)
    assert after.keys() < before.keys() or (choose is leader and after == before), after
    # a field that Blender empties is as one that was never filled
    steer = crowd.steer
    emptied = choose is ground and not steer.ground
    emptied = emptied or (choose in (collider, sphere) and not steer.colliders)
    assert told(crowd) - known or emptied
    assert scenes.code_of(crowd) == "OUT_OF_DATE"
    # from the start on as well, and in a bake
    play(1, 4)
    baked = list(simulate.run(crowd, bpy.context.scene, range(1, 5)))[-1]
    np.testing.assert_array_equal(baked.position, live.get_frame(crowd, 4).position)
    bpy.ops.ed.undo()
    crowd = bpy.data.objects["Crowd"]
    play(1, 4)
    assert perceived(live.runs.get(crowd)._session.world) == before and told(crowd) == known
    assert "Traceback" not in capfd.readouterr().err

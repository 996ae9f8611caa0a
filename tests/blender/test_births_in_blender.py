"""Births in Blender: sources, volumes that take agents away, and all ways to run them."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.checks import advice  # noqa: E402
from steer_addon.blender.crowd.live_settings import played_curves  # noqa: E402
from steer_addon.blender.live import live, simulate  # noqa: E402
from steer_addon.blender.reading.scene import WorldReader  # noqa: E402
from steer_addon.core.crowd.births import BirthsSettings  # noqa: E402
from steer_addon.core.crowd.settings import BodiesSettings, CrowdSettings  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.source_makers import read  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

STREAM = {"emission": "PER_SECOND", "rate": 12.0, "capacity": 30, "speed": 1.0}


def make_source(name="Door", corners=((0, 0), (0, 6), (-1, 6), (-1, 0)), faces=((0, 1, 2, 3),)):
    """A flat source; its front, -Y of the object, is +X of the world."""
    mesh = bpy.data.meshes.new(f"{name} Mesh")
    mesh.from_pydata([(y, -x, 0.0) for x, y in corners], [], list(faces))
    obj = bpy.data.objects.new(name, mesh)
    obj.rotation_euler = (0.0, 0.0, np.pi / 2)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.update()
    return obj


def make_stream(points=((2, 9, 0),), source=None, **births):
    """People who come out of a door and go to a place 8 m ahead, where they are gone."""
    stack = scenes.seekers({"type": "seek"}, {"type": "avoid_neighbors"}).behaviors
    bodies = BodiesSettings(collide_agents=True, on_arrival="LEAVE", arrival_distance=1.0)
    settings = CrowdSettings(
        behaviors=stack, bodies=bodies, births=BirthsSettings(**{**STREAM, **births})
    )
    crowd = scenes.make_crowd(points, settings=settings)
    scenes.make_target(crowd, (8.0, 3.0, 0.0))
    crowd.steer.births_object = source or make_source()
    crowd.steer.frame_end = 240
    return crowd


def frames_of(crowd, last):
    return [live.get_frame(crowd, number) for number in range(1, last + 1)]


def run_offline(crowd, last):
    return list(simulate.run(crowd, bpy.context.scene, range(1, last + 1)))


def same(one, two):
    names = ("id", "position", "velocity", "rotation", "alive")
    return all(np.array_equal(getattr(one, n), getattr(two, n)) for n in names)


def there(frame):
    return frame.position[frame.alive != 0]


def test_agents_are_born_at_a_door_and_gone_at_their_goal():
    crowd = make_stream()
    crowd.steer.target_object.location.x = 4.0
    scenes.play(1, 120)
    frames = frames_of(crowd, 120)
    assert frames[0].alive.sum() == 1
    assert len({len(f.id) for f in frames}) == 1
    lived = {number for f in frames for number in f.id[f.alive != 0].tolist()}
    assert len(lived) > 40 > max(f.alive.sum() for f in frames) > 10
    seen = set()
    for frame in frames:
        new = [k for k in np.flatnonzero(frame.alive) if frame.id[k] not in seen]
        seen.update(frame.id[frame.alive != 0].tolist())
        for row in new[1:] if frame.number == 1 else new:
            x, y, _ = frame.position[row]
            assert (-1.01 <= x <= 0.01 and -0.01 <= y <= 6.01) or frame.number == 1
            if frame.number > 1:
                assert frame.velocity[row] == pytest.approx([1.0, 0.0, 0.0], abs=1e-5)


def test_live_offline_and_scrubbing_are_the_same():
    crowd = make_stream()
    crowd.steer.target_object.location.x = 2.0
    scenes.play(1, 50)
    lived = frames_of(crowd, 50)
    scenes.frame_set(20)
    scenes.frame_set(50)
    again = frames_of(crowd, 50)
    for one, two, three in zip(lived, again, run_offline(crowd, 50), strict=True):
        assert same(one, two) and same(one, three)


def test_a_crowd_may_begin_with_nobody():
    crowd = make_stream(points=())
    scenes.play(1, 30)
    assert live.status(crowd).diagnosis is None
    assert frames_of(crowd, 30)[-1].alive.sum() > 10


@pytest.mark.parametrize("kind", ["FACES", "EDGES", "POINTS", "curve", "empty", "hidden"])
def test_kinds_of_sources(kind):
    part = kind if kind.isupper() else "AUTO"
    if kind == "curve":
        data = bpy.data.curves.new("Line", "CURVE")
        spline = data.splines.new("POLY")
        spline.points.add(1)
        for point, place in zip(spline.points, ((0, 0, 0), (0, 6, 0)), strict=True):
            point.co = (*place, 1.0)
        source = bpy.data.objects.new("Line", data)
        bpy.context.scene.collection.objects.link(source)
    elif kind == "empty":
        source = scenes.make_target(location=(-1.0, 3.0, 0.0), name="Spot")
    else:
        source = make_source()
        source.hide_viewport = kind == "hidden"
    crowd = make_stream(points=(), source=source, part=part, speed=0.0, rate=24.0)
    scenes.play(1, 28)
    frames = frames_of(crowd, 28)
    born = []
    for before, after in zip(frames, frames[1:], strict=False):
        born += after.position[(before.alive == 0) & (after.alive != 0)].tolist()
    x, y, _ = np.array(born).T
    assert len(born) > (5 if kind != "empty" else 1)
    on_edge = np.minimum(np.minimum(abs(x), abs(x + 1)), np.minimum(abs(y), abs(y - 6))) < 1e-4
    corner = (np.minimum(abs(x), abs(x + 1)) < 1e-4) & (np.minimum(abs(y), abs(y - 6)) < 1e-4)
    if kind in ("FACES", "hidden"):
        assert not on_edge.all()
    elif kind == "EDGES":
        assert on_edge.all() and not corner.all()
    elif kind == "POINTS":
        assert corner.all()
    elif kind == "curve":
        assert (abs(x) < 1e-4).all() and np.ptp(y) > 3.0
    else:
        assert np.allclose(np.array(born), [-1.0, 3.0, 0.0], atol=1e-5)


def test_weights_of_sources():
    a, b = make_source("A"), make_source("B")
    b.location = (0.0, 100.0, 0.0)
    both = bpy.data.collections.new("Doors")
    for source in (a, b):
        both.objects.link(source)
    crowd = make_stream(points=(), emission="BURSTS", number=40, interval=0.5, capacity=200)
    crowd.steer.births_kind, crowd.steer.births_collection = "COLLECTION", both
    b["birth_weight"] = 0.0
    b.update_tag()
    scenes.play(1, 20)
    assert (there(frames_of(crowd, 20)[-1])[:, 1] < 50.0).all()
    b["birth_weight"] = 5.0
    b.update_tag()
    scenes.update()
    scenes.play(1, 20)
    assert (there(frames_of(crowd, 20)[-1])[:, 1] > 50.0).sum() > 10


def test_a_source_that_moves_takes_births_along():
    source = make_source()
    scenes.move(source, {1: (0, 0, 0), 30: (0, 29, 0)})
    for curve in iter_curves(source):
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    crowd = make_stream(points=(), source=source, speed=0.0)
    scenes.play(1, 30)
    frames = frames_of(crowd, 30)
    for before, after in zip(frames, frames[1:], strict=False):
        for y in after.position[(before.alive == 0) & (after.alive != 0)][:, 1]:
            # the place is known one frame ahead
            assert -0.01 <= y - (after.number - 2) <= 6.01


def iter_curves(obj):
    return played_curves(obj.animation_data)


def test_a_keyed_rate():
    wide = make_source(corners=((0, 0), (0, 90), (-90, 90), (-90, 0)))
    crowd = make_stream(points=(), source=wide)
    births = crowd.steer.births
    for frame, rate in ((1, 24.0), (20, 24.0), (21, 0.0)):
        births.rate = rate
        births.keyframe_insert("rate", frame=frame)
    scenes.play(1, 40)
    counts = [len(set(f.id[f.alive != 0])) for f in frames_of(crowd, 40)]
    assert counts[18] in range(16, 20)
    assert max(counts[22:]) == counts[22]
    for one, two in zip(frames_of(crowd, 40), run_offline(crowd, 40), strict=True):
        assert same(one, two)


def test_points_say_when_they_are_born():
    points = [(0.0, 2.0 * k, 0.0) for k in range(4)]
    crowd = make_stream(points=points, emission="NONE")
    scenes.add_attribute(crowd, "birth", "INT", [1, 5, 10, 15])
    scenes.add_attribute(crowd, "death", "INT", [99, 99, 13, 99])
    scenes.play(1, 20)
    for frame in frames_of(crowd, 20):
        n = frame.number
        assert frame.alive.tolist() == [1, n >= 5, 10 <= n < 13, n >= 15]


def test_exits_take_agents_away():
    crowd = make_stream(points=[(0, 0, 0), (0, 3, 0)], emission="NONE")
    room = bpy.data.collections.new("Gone")
    room.objects.link(scenes.make_box("Exit", (3.0, 2.0, 0.0), 2.0))
    crowd.steer.exits = room
    scenes.play(1, 60)
    frames = frames_of(crowd, 60)
    assert frames[-1].alive.sum() == 0
    assert max(there(f)[:, 0].max(initial=0.0) for f in frames) < 1.0


def test_emission_without_a_source_is_told():
    crowd = make_stream()
    crowd.steer.births_object = None
    scenes.play(1, 5)
    assert "NO_SOURCES" in [w.code for w in live.status(crowd).warnings]


def test_moving_a_source_makes_the_frames_out_of_date():
    crowd = make_stream()
    scenes.play(1, 10)
    crowd.steer.births_object.location.x += 1.0
    scenes.update()
    assert scenes.told(crowd) is not None


def test_a_source_that_is_edited_is_read_again_each_time():
    crowd, reader = make_stream(), WorldReader()
    source = crowd.steer.births_object
    for edit in range(1, 40):
        source.data.vertices[0].co.z = edit
        source.data.update()
        reader.forget({source.session_uid})
        bpy.context.view_layer.update()
        emitters = read(crowd, reader).emitters
        assert emitters.corner[..., 2].max() == pytest.approx(edit), f"edit {edit}"
        assert read(crowd, reader).emitters is emitters


def test_a_missing_source_is_added_by_its_button_and_works():
    crowd = make_stream()
    crowd.steer.births_object = None
    bpy.context.view_layer.objects.active = crowd
    (missing,) = advice.diagnoses(crowd)
    assert missing.code == "BIRTHS_SOURCE_MISSING"
    assert bpy.ops.object.steer_add_input(role="BIRTHS") == {"FINISHED"}
    source = crowd.steer.births_object
    assert source.name in bpy.context.scene.objects and source.hide_render
    assert advice.diagnoses(crowd) == []
    scenes.play(1, 30)
    assert frames_of(crowd, 30)[-1].alive.sum() > 8

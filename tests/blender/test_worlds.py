"""Crowds of an extracted world go exactly as those of the scene that it came from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.headless import batch, extracting  # noqa: E402
from steer_addon.blender.live import simulate  # noqa: E402
from steer_addon.core.crowd.births import BirthsSettings  # noqa: E402
from steer_addon.core.crowd.groups import GroupSettings  # noqa: E402
from steer_addon.core.crowd.settings import BodiesSettings  # noqa: E402
from steer_addon.core.crowd.ways_settings import WaysSettings  # noqa: E402
from steer_addon.core.errors import (  # noqa: E402
    OutputError,
    ParameterError,
    SceneError,
    WorldError,
)
from steer_addon.core.worlds.source import WorldSource  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender import source_makers as sources  # noqa: E402
from tests.blender.test_areas_in_blender import make_lawn  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

LAST = 24
COLUMNS = ("id", "position", "velocity", "rotation", "radius", "alive")


def extract(path, *crowds, last=LAST, **options):
    """Extract crowds up to a frame; returns the opened world."""
    wanted = [(c, range(c.steer.frame_start, last + 1)) for c in crowds]
    scene = bpy.context.scene
    extracting.extract(scene, wanted, path, "x.blend", lambda steps, _: list(steps), **options)
    return WorldSource(path)


def bits(frame):
    """What a frame says of its agents, as bytes."""
    columns = {name: getattr(frame, name) for name in COLUMNS} | frame.attributes
    return {name: values.tobytes() for name, values in columns.items()}


def played(run, warnings):
    """All frames of a run by crowd and number, as bytes, and the warnings."""
    found = {}
    for moment in run:
        for crowd, _, frame in moment:
            found[crowd.name, frame.number] = bits(frame)
    return found, [str(told) for told in warnings]


def of_scene(*crowds, last=LAST):
    wanted = [(c, range(c.steer.frame_start, last + 1)) for c in crowds]
    warnings = []
    return played(simulate.run_together(wanted, bpy.context.scene, warnings=warnings), warnings)


def of_world(source, *names, last=LAST):
    warnings = []
    wanted = [(c, source.frames_of(c, range(c.first, last + 1))) for c in source.find(names)]
    return played(source.run_together(wanted, warnings=warnings), warnings)


def moves(found):
    """Whether the agents of all crowds went somewhere."""
    names = {name for name, _ in found[0]}
    return all(
        found[0][name, LAST]["position"] != found[0][name, LAST - 1]["position"] for name in names
    )


def with_settings(crowd, **blocks):
    """Change blocks of the settings of a crowd."""
    settings = replace(batch.settings_of(crowd), **blocks)
    batch.apply_settings(crowd, settings)


def make_town():
    """A crowd that walks round a moving gate on a ground, to a target that moves."""
    points = [(x, y, 0.0) for x in range(3) for y in range(4)]
    crowd = scenes.make_crowd(
        points, settings=scenes.seekers({"type": "seek"}, {"type": "wall_avoidance"})
    )
    target = scenes.make_target(crowd, (1.0, 9.0, 0.0))
    scenes.move(target, {1: (1.0, 9.0, 0.0), LAST: (6.0, 8.0, 0.0)})
    gate = scenes.make_box("Gate", (0.0, 5.0, 0.5), 0.6)
    scenes.move(gate, {1: (-3.0, 5.0, 0.5), LAST: (2.0, 3.0, 0.5)})
    fence = sources.make_wire([(-2, 6, 0), (0.5, 6, 0)], [(0, 1)], name="Fence")
    ball = bpy.data.objects.new("Ball", None)
    ball.empty_display_type, ball.location = "SPHERE", (5.0, 4.0, 0.0)
    bpy.context.scene.collection.objects.link(ball)
    scenes.make_colliders(crowd, gate, fence, scenes.make_box("Block", (4.0, 6.0, 0.5)), ball)
    crowd.steer.ground = scenes.make_ground(half=12.0)
    with_settings(
        crowd,
        ways=WaysSettings(ways="AROUND"),
        bodies=BodiesSettings(collide_agents=True, collide_colliders=True),
    )
    return crowd


def make_lawns():
    """A walker whose way leads round one area, against another, and over a painted ground."""
    crowd, lawn = make_lawn(ways="NONE")
    for kind, y in (("COST", -3.0), ("ONE_WAY", -6.0)):
        more = scenes.make_box(kind, (0, y, 0.5))
        more.steer_area.kind, more.steer_area.group = kind, "" if kind == "COST" else "late"
        crowd.steer.areas.objects.link(more)
    attribute = crowd.steer.ground.data.attributes.new("cost", "FLOAT", "POINT")
    attribute.data[0].value = 3.0
    return crowd


def make_sources():
    """Three crowds: on a path that bends, along a field inside a container, and born ones."""
    walkers = scenes.make_crowd(
        [(0, y, 0) for y in range(4)], "Walkers", scenes.seekers({"type": "follow_path"})
    )
    path = sources.make_curve([(0, 0, 0), (4, 0, 0), (6, 5, 0)], name="Path")
    scenes.move(path, {1: (0.0, 0.0, 0.0), LAST: (1.0, 0.0, 0.0)})
    sources.give(walkers.steer.behaviors[0], path)
    flow = scenes.make_crowd(
        [(20 + x, 0, 0) for x in range(4)],
        "Flow",
        scenes.seekers({"type": "flow_field"}, {"type": "containment"}),
    )
    guides = sources.make_collection(
        sources.make_curve([(20, 0, 0), (30, 2, 0)], name="A"),
        sources.make_curve([(20, 3, 0), (30, 3, 0)], name="B"),
        name="Guides",
    )
    sources.give(flow.steer.behaviors[0], guides)
    sources.give(flow.steer.behaviors[1], sources.make_shape("CUBE", 8.0, (22, 0, 0), name="Room"))
    births = BirthsSettings(emission="PER_SECOND", rate=12.0, capacity=20)
    settings = replace(scenes.seekers({"type": "seek"}), births=births)
    born = scenes.make_crowd([(40, 9, 0)], "Born", settings)
    scenes.make_target(born, (48.0, 3.0, 0.0), "Born Goal")
    born.steer.births_object = scenes.make_box("Door", (40, 3, 0))
    born.steer.exits = sources.make_collection(
        scenes.make_box("Exit", (43.0, 3.0, 0.0)), name="Exits"
    )
    return walkers, flow, born


def make_chase():
    """Hunters after a herd that begins later, and meets them; their speed is keyed."""
    herd = scenes.make_crowd([(x, 6, 0) for x in range(4)], "Herd", scenes.seekers())
    scenes.make_target(herd, (3.0, 20.0, 0.0), "Meadow")
    hunters = scenes.make_crowd(
        [(x, 0, 0) for x in range(3)],
        "Hunters",
        scenes.seekers({"type": "pursue"}, {"type": "avoid_neighbors"}),
    )
    hunters.steer.target_kind, hunters.steer.target_object = "CROWD", herd
    herd.steer.frame_start, herd.steer.frame_end = 5, 18
    for number, speed in ((1, 1.0), (LAST, 3.0)):
        hunters.steer.agents.max_speed = speed
        hunters.keyframe_insert("steer.agents.max_speed", frame=number)
    for crowd in (herd, hunters):
        crowd.steer.bodies.collide_agents = True
    return hunters, herd


def test_moving_gates_targets_grounds_and_ways(tmp_path):
    crowd = make_town()
    source = extract(tmp_path / "w", crowd)
    found = of_world(source)
    assert found == of_scene(crowd) and moves(found)
    # a part of the frames, and other settings, in 32 bits and in radians
    texts = ("agents.max_speed=1.83", "seek.weight=0.7", "motion.body_turn_rate=123.4")
    again = WorldSource(tmp_path / "w")
    (chosen,) = again.find([])
    told = again.override(chosen, texts, 5)
    assert told.to_dict() == batch.override(crowd, texts, 5).to_dict()
    changed = of_world(again, last=15)
    assert changed == of_scene(crowd, last=15) and changed[0]["Crowd", 15] != found[0]["Crowd", 15]


def test_areas_and_paint_count_where_a_run_finds_ways_only_then(tmp_path):
    crowd = make_lawns()
    source = extract(tmp_path / "world", crowd)
    (stored,) = source.find([])
    source.override(stored, ["ways.ways=SAFE"], None)
    found = of_world(source)
    crowd.steer.ways.ways = "SAFE"
    expected = of_scene(crowd)
    assert moves(expected)
    assert found == expected


def test_paths_fields_containers_and_births(tmp_path):
    crowds = make_sources()
    found = of_world(extract(tmp_path / "w", *crowds))
    assert found == of_scene(*crowds) and moves(found)
    assert len(set(found[0]["Born", LAST]["alive"])) == 2


@pytest.mark.slow
def test_crowds_that_meet_and_begin_at_different_frames(tmp_path):
    hunters, herd = make_chase()
    source = extract(tmp_path / "w", hunters)
    assert [(c.name, c.chosen) for c in source.world.crowds] == [("Hunters", True), ("Herd", False)]
    found = of_world(source)
    assert found == of_scene(hunters) and moves(found)
    # the keyed speed gives way to one that is set, and other keys go on
    for text in ("avoid_neighbors.weight=0.4", "agents.max_speed=2"):
        again = WorldSource(tmp_path / "w")
        batch.override(hunters, [text], None)
        texts = ["avoid_neighbors.weight=0.4", text]
        again.override(again.find(["Hunters"])[0], texts, None)
        assert of_world(again) == of_scene(hunters)
    both = extract(tmp_path / "w", hunters, herd, last=18)
    assert of_world(both, last=18) == of_scene(hunters, herd, last=18)
    assert of_world(both, "Herd", last=18) == of_scene(herd, last=18)


def test_points_carry_what_settings_may_ask_for_later(tmp_path):
    crowd = scenes.make_crowd([(x, 0, 0) for x in range(6)])
    scenes.make_target(crowd, (0.0, 9.0, 0.0))
    crowd.rotation_euler, crowd.scale = (0.0, 0.0, 0.4), (1.5, 1.0, 1.0)
    scenes.add_attribute(crowd, "id", "INT", [9, 4, 7, 1, 3, 2])
    scenes.add_attribute(crowd, "max_speed", "FLOAT", np.linspace(0.5, 2.0, 6, dtype=np.float32))
    scenes.add_attribute(crowd, "slow", "BOOLEAN", [True, False] * 3)
    scenes.add_attribute(crowd, "rotation", "QUATERNION", [(0.9, 0.1, 0.0, 0.4)] * 6)
    crowd.vertex_groups.new(name="left").add([0, 2], 0.8, "REPLACE")
    with_settings(crowd, groups=(GroupSettings(name="slow", speed=0.5), GroupSettings(name="left")))
    source = extract(tmp_path / "w", crowd)
    texts = [
        "groups.slow.source=ATTRIBUTE",
        "groups.left.source=VERTEX_GROUP",
        "groups.left.speed=0.25",
        "motion.forward_axis=POS_X",
        "agents.size_spread=0.3",
        "seek.name=go",
    ]
    source.override(source.find([])[0], texts, None)
    batch.override(crowd, texts, None)
    found = of_world(source)
    assert found == of_scene(crowd) and moves(found)


def test_what_only_the_scene_can_answer_is_refused(tmp_path):
    crowd, _ = make_town(), make_chase()
    for name in ("sees", "seen_by", "touches"):
        setattr(crowd.steer.meets, name, "NOBODY")
    source = extract(tmp_path / "w", crowd, last=8)
    (chosen,) = source.find([])
    for text in (
        "motion.wall_height=1",
        "births.emission=PER_SECOND",
        "seek.target=seek",
        "meets.sees=EVERYONE",
        "bodies.collide_agents=false",
    ):
        with pytest.raises(ParameterError, match=text.partition("=")[0]):
            source.override(chosen, [text], None)
    with pytest.raises(SceneError, match="holds 1-8 of crowd 'Crowd'"):
        source.frames_of(chosen, range(1, 10))
    with pytest.raises(SceneError, match="There is no crowd 'Nobody'"):
        source.find(["Nobody"])
    with pytest.raises(OutputError, match="no world that `steer extract` wrote"):
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "notes.txt").write_text("keep")
        extract(tmp_path / "mine", crowd, last=2)
    assert (tmp_path / "mine" / "notes.txt").read_text() == "keep"


def test_settings_that_drive_the_scene_stay(tmp_path):
    crowd = make_town()
    driver = bpy.data.objects["Block"].driver_add("location", 0).driver
    variable = driver.variables.new()
    variable.targets[0].id = crowd
    variable.targets[0].data_path, driver.expression = "steer.agents.max_speed", variable.name
    source = extract(tmp_path / "w", crowd, last=4)
    assert of_world(source, last=4) == of_scene(crowd, last=4)
    with pytest.raises(ParameterError, match="A driver of the scene reads settings"):
        source.override(source.find([])[0], ["agents.max_speed=2"], None)


def test_an_error_leaves_the_earlier_world(tmp_path, monkeypatch):
    crowd = make_town()
    extract(tmp_path / "w", crowd, last=3)
    before = {p.name: p.read_bytes() for p in (tmp_path / "w").iterdir()}

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(extracting.recorder, "write_manifest", full)
    with pytest.raises(OutputError, match="No space left"):
        extract(tmp_path / "w", crowd, last=4)
    assert {p.name: p.read_bytes() for p in (tmp_path / "w").iterdir()} == before
    assert [p.name for p in tmp_path.iterdir()] == ["w"]
    with pytest.raises(SceneError, match="no vertices|finite|scale"):
        crowd.scale = (0.0, 1.0, 1.0)
        extract(tmp_path / "x", crowd, last=3)
    assert [p.name for p in tmp_path.iterdir()] == ["w"]


def test_crowds_that_play_a_bake_are_simulated_or_refused(tmp_path, monkeypatch):
    hunters, herd = make_chase()
    monkeypatch.setattr(extracting, "plays_back", lambda crowd: crowd == herd)
    source = extract(tmp_path / "w", hunters, herd, last=8)
    assert of_world(source, last=8) == of_scene(hunters, herd, last=8)
    with pytest.raises(WorldError, match="'Herd' plays a bake"):
        of_world(source, "Hunters", last=8)

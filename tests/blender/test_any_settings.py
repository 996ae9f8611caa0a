"""Whatever the settings and the scene: live, offline, extracted and reopened have one result."""

from __future__ import annotations

from random import Random

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd.properties import add_behavior  # noqa: E402
from steer_addon.blender.live import live  # noqa: E402
from steer_addon.core.sensing.declare import REGISTRY  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.any_edits import Edits, make_full_scene  # noqa: E402
from tests.blender.test_worlds import bits, extract, of_scene, of_world  # noqa: E402
from tests.often import often  # noqa: E402

pytestmark = [pytest.mark.usefixtures("empty_scene"), pytest.mark.slow]

LAST = 6
KEPT = {"is_crowd", "frame_start", "frame_end", "capacity", "use_own_target"}
"""Properties that are no settings, or decide which scene it is."""


def vary(group, random, share):
    """Set a share of the properties of a group to anything that the interface allows."""
    for prop in group.bl_rna.properties:
        if prop.is_readonly or prop.identifier in KEPT or random.random() > share:
            continue
        if prop.type == "ENUM" and not prop.is_enum_flag and len(prop.enum_items):
            value = random.choice([item.identifier for item in prop.enum_items])
        elif prop.type not in ("FLOAT", "INT", "BOOLEAN") or prop.array_length:
            continue
        elif prop.type == "BOOLEAN":
            value = random.random() < 0.5
        else:
            least, most = max(prop.soft_min, -10), min(prop.soft_max, 10)
            pick = random.uniform if prop.type == "FLOAT" else random.randint
            value = pick(least, most)
        setattr(group, prop.identifier, value)


def vary_all(crowd, random):
    """Change settings of a crowd, and give it three more behaviors."""
    steer = crowd.steer
    for name in random.sample(sorted(REGISTRY), 3):
        add_behavior(crowd, name)
    for group in (steer.agents, steer.bodies, steer.births, steer.motion, steer.ways, steer):
        vary(group, random, 0.25)
    for item in steer.behaviors:
        vary(item, random, 0.15)
    steer.frame_start, steer.frame_end = 1, LAST


def of_live(crowd):
    """The frames of a live crowd that begins again, as bytes."""
    live.clear(crowd)
    scenes.play(1, LAST)
    numbers = range(1, LAST + 1)
    return {(crowd.name, number): bits(live.get_frame(crowd, number)) for number in numbers}


@pytest.mark.parametrize("seed", often(range(40), 0, 1))
def test_all_ways_to_run_a_crowd_agree(seed, tmp_path):
    random = Random(seed)
    crowd = make_full_scene()
    edits = Edits(crowd, seed)
    for _ in range(random.randrange(40)):
        edits.next()
    vary_all(crowd, random)
    scenes.frame_set(1)
    scenes.update()
    shown = of_live(crowd)
    offline, _ = of_scene(crowd, last=LAST)
    assert shown == offline
    stored, _ = of_world(extract(tmp_path / "world", crowd, last=LAST), crowd.name, last=LAST)
    assert stored == offline
    path = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert of_live(bpy.data.objects["Crowd"]) == shown

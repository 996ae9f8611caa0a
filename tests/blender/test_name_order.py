"""Characters are numbered as Blender's nodes count the objects of a collection."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters import library  # noqa: E402
from tests.blender.test_characters_shown import crowd_of, level_frame  # noqa: E402
from tests.blender.toy_characters import make_toy, shown_poses, space  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.mark.parametrize(
    "names",
    [
        ("Rig Character", "Rig.001 Character"),
        ("Walker 2", "Walker 10", "walker 3", "Walker 02", "Walker 2b"),
        ("Zoe", "amy", "Émile", "B.b", "B b", "B_b", "b", "A1", "a01c"),
    ],
)
def test_agents_are_the_characters_that_the_solver_takes_them_for(names):
    kinds = {name: space(width=1 + 0.1 * number) for number, name in enumerate(names)}
    toys = [make_toy(name, poses) for name, poses in kinds.items()]
    count = len(toys)
    crowd_of(level_frame(count, character=list(range(count))), *toys)
    taken = library.among(toys[0].users_collection[0])
    assert [name for name, _pose in shown_poses(**kinds)] == [obj.name for obj in taken]

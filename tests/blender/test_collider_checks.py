"""A bad collider is reported as soon as it is chosen, before any simulation."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.checks import advice, collider_checks  # noqa: E402
from steer_addon.blender.live import live  # noqa: E402
from steer_addon.blender.ui import drawing  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.crowd_makers import make_crowd, make_empty, make_plane  # noqa: E402
from tests.blender.fake_layout import FakeLayout  # noqa: E402
from tests.diagnosed import codes, count_of, says  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

OPEN = scenes.CUBE_FACES[:5]


class Window:
    """Stands for bpy with a window, and for its timers."""

    def __init__(self):
        self.waiting = {}
        self.tagged = []
        self.background = False
        self.timers = SimpleNamespace(
            register=lambda call, first_interval: self.waiting.update({call: first_interval}),
            unregister=self.waiting.pop,
            is_registered=self.waiting.__contains__,
        )

    def __getattr__(self, name):
        return getattr(bpy.app, name)

    @property
    def windows(self):
        area = SimpleNamespace(type="PROPERTIES", tag_redraw=lambda: self.tagged.append(1))
        screen = SimpleNamespace(areas=[area])
        scene, layer = bpy.context.scene, bpy.context.view_layer
        return [SimpleNamespace(scene=scene, view_layer=layer, screen=screen)]

    def pause(self):
        """The user pauses: all timers run until they end; returns how often."""
        turns = 0
        while self.waiting:
            call, _ = self.waiting.popitem()
            again = call()
            turns += 1
            if again is not None:
                self.waiting[call] = again
        return turns


@pytest.fixture
def window(monkeypatch):
    shown = Window()
    stand_in = SimpleNamespace(
        app=shown,
        types=bpy.types,
        context=SimpleNamespace(window_manager=shown),
    )
    monkeypatch.setattr(collider_checks, "bpy", stand_in)
    monkeypatch.setattr(collider_checks.app_handlers, "bpy", stand_in)
    yield shown
    collider_checks._checked.clear()
    collider_checks._edited.clear()


def panel(obj):
    bpy.context.view_layer.objects.active = obj
    layout = FakeLayout()
    context = SimpleNamespace(
        object=obj, scene=bpy.context.scene, region=SimpleNamespace(width=2000)
    )
    drawing.draw_main(layout, context, obj)
    return layout


def make_walkers(*colliders):
    obj = make_crowd()
    obj.steer.target_object = make_empty()
    scenes.make_colliders(obj, *colliders)
    bpy.context.view_layer.update()
    return obj


def found(obj):
    return codes(collider_checks.found(obj))


def frames_find(obj, code):
    """Diagnoses with a code in the frames of a crowd."""
    return [diagnosis for diagnosis in live.status(obj).warnings if diagnosis.code == code]


def test_an_open_collider_is_said_at_once_and_selected_by_its_button(window):
    box = scenes.make_box(location=(0, 8, 0), faces=OPEN)
    obj = make_walkers(box)
    assert window.waiting == {collider_checks.check_windows: 0.3}
    assert found(obj) == []
    window.pause()
    assert window.tagged
    drawn = panel(obj)
    assert says(drawn.texts(), "MESH_OPEN", "Box")
    (diagnosis,) = collider_checks.found(obj)
    assert diagnosis.values == {"count": 4, "object": "Box"}
    assert drawn.press("object.steer_select_input") == {"FINISHED"}
    assert bpy.context.object == box


def test_filling_the_hole_takes_the_warning_back(window):
    box = scenes.make_box(faces=OPEN)
    obj = make_walkers(box)
    window.pause()
    assert len(found(obj)) == 1
    close(box)
    window.pause()
    assert found(obj) == [] and advice.diagnoses(obj) == []


def test_what_did_not_change_is_not_looked_at_again(window, monkeypatch):
    obj = make_walkers(scenes.make_box(faces=OPEN))
    window.pause()
    monkeypatch.setattr(collider_checks, "_defects", lambda *_: pytest.fail("looked again"))
    window.tagged.clear()
    obj.location.x += 1.0
    bpy.context.view_layer.update()
    assert window.pause() == 1
    assert len(found(obj)) == 1 and not window.tagged


def test_it_says_what_the_frames_say_and_says_it_once(window):
    obj = make_walkers(scenes.make_box(location=(0, 8, 0), faces=OPEN))
    window.pause()
    scenes.play(1, 2)
    assert collider_checks.found(obj) == frames_find(obj, "MESH_OPEN") != []
    assert count_of(panel(obj).texts(), "MESH_OPEN") == 1


def test_what_was_mended_is_no_more_said_by_the_frames_either(window):
    box = scenes.make_box(location=(0, 8, 0), faces=OPEN)
    obj = make_walkers(box)
    window.pause()
    scenes.play(1, 2)
    assert count_of(panel(obj).texts(), "MESH_OPEN") == 1
    close(box)
    window.pause()
    assert frames_find(obj, "MESH_OPEN")
    assert not says(panel(obj).texts(), "MESH_OPEN")


def close(box):
    """Give an open box its last face."""
    points = [v.co[:] for v in box.data.vertices]
    box.data.clear_geometry()
    box.data.from_pydata(points, [], scenes.CUBE_FACES)
    box.data.update()
    bpy.context.view_layer.update()


def test_a_modifier_that_closes_it_counts(window):
    box = scenes.make_box(faces=OPEN)
    obj = make_walkers(box)
    window.pause()
    assert len(found(obj)) == 1
    box.modifiers.new("Solidify", "SOLIDIFY").thickness = 0.1
    bpy.context.view_layer.update()
    window.pause()
    assert found(obj) == []


def test_a_mirrored_collider_is_not_inside_out(window):
    box = scenes.make_box()
    obj = make_walkers(box)
    box.scale.x = -1.0
    bpy.context.view_layer.update()
    window.pause()
    assert found(obj) == []
    box.data.flip_normals()
    bpy.context.view_layer.update()
    window.pause()
    assert found(obj) == ["MESH_INSIDE_OUT"]


def test_parts_of_an_instanced_collection_are_named_with_it(window):
    parts = bpy.data.collections.new("Parts")
    parts.objects.link(bpy.data.objects.new("Lid", scenes.make_box(faces=OPEN).data))
    instance = bpy.data.objects.new("Instance", None)
    instance.instance_type, instance.instance_collection = "COLLECTION", parts
    bpy.context.scene.collection.objects.link(instance)
    obj = make_walkers(instance)
    window.pause()
    scenes.play(1, 2)
    said = frames_find(obj, "MESH_OPEN")
    assert said[0].subject == "Instance/Lid"
    # what stands in the scene is the instance; without a place of its own the part is not evaluated
    assert said[0].values["object"] == "Instance"
    assert set(collider_checks.found(obj)) <= set(said)


def test_walls_drawn_as_edges_are_no_mistake(window):
    mesh = bpy.data.meshes.new("Fence")
    mesh.from_pydata([(0, 0, 0), (4, 0, 0)], [(0, 1)], [])
    fence = bpy.data.objects.new("Fence", mesh)
    bpy.context.scene.collection.objects.link(fence)
    nothing = bpy.data.objects.new("Nothing", bpy.data.meshes.new("Nothing"))
    bpy.context.scene.collection.objects.link(nothing)
    obj = make_walkers(fence, nothing)
    window.pause()
    (diagnosis,) = collider_checks.found(obj)
    assert (diagnosis.code, diagnosis.subject) == ("MESH_WITHOUT_FACES", "Nothing")


def test_large_meshes_are_not_searched(window, monkeypatch):
    from steer_addon.blender.reading import scene_meshes

    monkeypatch.setattr(scene_meshes, "CHECKED_TRIANGLES", 3)
    monkeypatch.setattr(scene_meshes, "corners", lambda mesh: pytest.fail("was searched"))
    obj = make_walkers(scenes.make_box(faces=OPEN))
    window.pause()
    assert found(obj) == []


def test_many_colliders_take_several_turns(window, monkeypatch):
    monkeypatch.setattr(collider_checks, "_BUDGET", -1.0)
    boxes = [scenes.make_box(location=(0, 4 * n, 0), faces=OPEN) for n in range(3)]
    obj = make_walkers(*boxes)
    # one for each shape, one for the search of meshes in the way, and the last
    assert window.pause() == 5
    assert len(found(obj)) == 3


def test_a_crowd_or_collider_that_is_gone_is_forgotten(window):
    box = scenes.make_box(faces=OPEN)
    obj = make_walkers(box)
    window.pause()
    bpy.data.objects.remove(box)
    bpy.context.view_layer.update()
    window.pause()
    assert found(obj) == []
    obj.steer.colliders = None
    bpy.context.view_layer.update()
    window.pause()
    assert collider_checks._checked.get(obj).shapes == {}
    bpy.data.objects.remove(obj)
    bpy.context.view_layer.update()
    window.pause()
    assert collider_checks._checked.by_uid() == {}


def test_undo_may_open_it_again(window):
    box = scenes.make_box()
    obj = make_walkers(box)
    window.pause()
    assert found(obj) == []
    # the same vertices with other faces, as undo leaves them
    points = [v.co[:] for v in box.data.vertices]
    box.data.clear_geometry()
    box.data.from_pydata(points, [], OPEN)
    box.data.update()
    window.waiting.clear()
    collider_checks._edited.clear()
    collider_checks.on_undo()
    bpy.context.view_layer.update()
    collider_checks._edited.clear()
    window.pause()
    assert len(found(obj)) == 1


def test_another_file_begins_anew_and_is_looked_at(window):
    obj = make_walkers(scenes.make_box(faces=OPEN))
    window.pause()
    assert len(found(obj)) == 1
    bpy.ops.wm.read_homefile(use_empty=True)
    assert (
        collider_checks._checked.by_uid() == {} and collider_checks.check_windows in window.waiting
    )
    window.pause()


def test_without_a_window_nobody_looks():
    obj = make_walkers(scenes.make_box(faces=OPEN), make_plane())
    assert not bpy.app.timers.is_registered(collider_checks.check_windows)
    assert collider_checks.found(obj) == []

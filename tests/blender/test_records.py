"""Data kept for each crowd: one record, dropped in one place."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender import registration  # noqa: E402
from steer_addon.blender.crowd import records  # noqa: E402
from tests.blender.crowd_makers import make_crowd  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def notes():
    """A part that outlives an undo."""
    return records.Part(list)


@pytest.fixture
def guesses():
    """A part that does not."""
    return records.Part(list, until_undo=True)


def test_a_part_is_made_when_it_is_asked_for(notes, guesses):
    first, second = make_crowd(), make_crowd(name="Other")
    assert notes.get(first) is None and notes.by_uid() == {}
    notes.ensure(first).append("seen")
    assert notes.get(first) == notes.ensure(first) == ["seen"]
    assert notes.get(second) is None and guesses.get(first) is None
    guesses.keep(second, ["maybe"])
    assert guesses.by_uid() == {second.session_uid: ["maybe"]}
    guesses.drop(second)
    guesses.drop(first)
    assert guesses.by_uid() == {} and notes.get(first) == ["seen"]


def test_other_crowds_are_let_go(notes):
    crowds = [make_crowd(name=name) for name in "abc"]
    for crowd in crowds:
        notes.ensure(crowd)
    notes.keep_only({crowds[1].session_uid})
    assert list(notes.by_uid()) == [crowds[1].session_uid]
    notes.clear()
    assert notes.by_uid() == {}


def test_undo_drops_crowds_that_are_gone_and_what_may_no_longer_hold(notes, guesses):
    stays, goes = make_crowd(), make_crowd(name="Other")
    for crowd in (stays, goes):
        notes.ensure(crowd).append(crowd.name)
        guesses.ensure(crowd)
    bpy.data.objects.remove(goes)
    records.on_undo()
    assert notes.by_uid() == {stays.session_uid: [stays.name]}
    assert guesses.by_uid() == {}


def test_another_file_and_disabling_drop_all(notes):
    notes.ensure(make_crowd())
    bpy.ops.wm.read_homefile(use_empty=True)
    assert notes.by_uid() == {}
    notes.ensure(make_crowd())
    registration.unregister()
    try:
        assert notes.by_uid() == {}
    finally:
        registration.register()

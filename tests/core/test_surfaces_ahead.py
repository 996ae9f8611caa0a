"""Large surfaces that are found before the step that needs them: the same, and for all runs."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
import way_scenes as scenes
from waytools import ARRAYS, RADIUS, SHAPE, blocks_of, led

from steer_addon.core.compiled import jit
from steer_addon.core.errors import NotReadyError, SurfaceMissingError
from steer_addon.core.ways import surface as surface_module
from steer_addon.core.ways import ways as ways_module
from steer_addon.core.ways.ahead import found as ahead
from steer_addon.core.ways.ways import Ways

NO_GOALS = np.zeros((0, 3), np.float32)


@pytest.fixture(autouse=True)
def large(monkeypatch):
    """Let each surface be a large one, found in many parts."""
    monkeypatch.setattr(ahead, "LONG", 1)
    monkeypatch.setattr(ahead, "_found", ahead._Found())
    monkeypatch.setattr(surface_module, "BAND", 500)


@contextmanager
def waiting():
    """A window that may wait for surfaces, but has all kernels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jit, "is_deferring", lambda: True)
        yield


def missing(call):
    """What finds the surface that a call lacks."""
    with waiting(), pytest.raises(SurfaceMissingError, match="not found yet") as caught:
        call()
    return caught.value.find


def test_a_step_finds_ahead_what_it_would_have_found_itself(monkeypatch):
    scene = scenes.random_blocks(1)
    starts = scenes.free_places(scene, 2.0 * RADIUS, 50, 3)
    wanted = led(scene, starts[1:], starts[0])
    ways, blocks, shares = Ways(), blocks_of(scene), []
    find = missing(lambda: led(scene, starts[1:], starts[0], ways=ways, blocks=blocks))
    find(shares.append)
    assert shares[0] == 0.0 and shares == sorted(shares)
    surface = [share for share in shares if share < 1.0]
    assert max(surface) > 0.9 and len(set(surface)) > 20 and 1.0 in shares and shares[-1] > 1.7
    # all is there: the surface, and the field to the goal
    for name in ("make_surface", "make_room"):
        monkeypatch.setattr(ways_module, name, lambda *given: pytest.fail("found again"))
    with waiting():
        found = led(scene, starts[1:], starts[0], ways=ways, blocks=blocks)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def test_another_run_of_the_same_scene_takes_it_and_nobody_else(monkeypatch):
    scene, door = scenes.two_doors(), scenes.door_leaf(0.3)
    missing(lambda: Ways().surface(SHAPE, blocks_of(scene, door), NO_GOALS))(lambda share: None)
    others = [
        (SHAPE, blocks_of(scene, scenes.door_leaf(0.7))),
        (SHAPE, replace(blocks_of(scene, door), level=1.0)),
        (replace(SHAPE, height=1.2), blocks_of(scene, door)),
    ]
    for shape, blocks in others:
        missing(lambda shape=shape, blocks=blocks: Ways().surface(shape, blocks, NO_GOALS))
    wanted = Ways().surface(SHAPE, blocks_of(scene), NO_GOALS)
    taker = Ways()
    with waiting():
        # its trees are others with the same triangles
        taken = taker.surface(SHAPE, blocks_of(scene, door), NO_GOALS)
    missing(lambda: Ways().surface(SHAPE, blocks_of(scene, door), NO_GOALS))
    # from then on it is mended where colliders move, as any
    mended = taker.surface(SHAPE, blocks_of(scene), NO_GOALS)
    assert not np.array_equal(taken.view.clear, mended.view.clear)
    for name in ARRAYS:
        assert np.array_equal(getattr(mended.view, name), getattr(wanted.view, name)), name


def test_finding_that_nobody_waits_for_ends_and_can_begin_again():
    blocks = blocks_of(scenes.two_doors())

    def ended(share):
        if share > 0.3:
            raise NotReadyError("nobody waits for it any more")

    find = missing(lambda: Ways().surface(SHAPE, blocks, NO_GOALS))
    with pytest.raises(NotReadyError, match="nobody waits"):
        find(ended)
    missing(lambda: Ways().surface(SHAPE, blocks, NO_GOALS))


def test_what_cannot_be_found_ahead_is_met_by_the_step(monkeypatch):
    blocks = blocks_of(scenes.two_doors())
    find = missing(lambda: Ways().surface(SHAPE, blocks, NO_GOALS))

    def fails(*given):
        raise MemoryError

    monkeypatch.setattr(ways_module, "make_surface", fails)
    for call in (find, lambda told: Ways().surface(SHAPE, blocks, NO_GOALS)):
        with waiting(), pytest.raises(MemoryError):
            call(lambda share: None)


def test_small_surfaces_and_runs_without_a_window_do_not_wait(monkeypatch):
    blocks = blocks_of(scenes.two_doors())
    cells = Ways().surface(SHAPE, blocks, NO_GOALS).count
    monkeypatch.setattr(ahead, "LONG", 10 * cells)
    with waiting():
        assert Ways().surface(SHAPE, blocks, NO_GOALS).count == cells

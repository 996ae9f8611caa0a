"""Births: how many are born and when, and where there is room for them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steer_addon.core.errors import ParameterError
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.emitters import make_emitter
from steer_addon.core.step.simulation import Taking, advance_together
from steer_addon.core.step.together import everyone

from .birthtools import (
    FPS,
    LEAVING,
    RADIUS,
    SQUARE,
    begun,
    born_at,
    least_gap,
    square,
    told,
    world_of,
)
from .crowdtools import box


@pytest.mark.parametrize("rate", [0.3, 1.0, 7.0, 24.0, 100.0])
def test_so_many_are_born_in_a_second(rate):
    counts = born_at(told(rate=rate, capacity=1000), steps=120)
    steps = np.arange(121)
    assert np.abs(counts - rate * steps / FPS).max() <= 0.5 + 1e-3


@given(number=st.integers(0, 300), first=st.integers(-5, 20), last=st.integers(-5, 60))
@settings(max_examples=12, deadline=None)
def test_a_number_is_born_evenly_over_frames(number, first, last):
    how = told("OVER_FRAMES", number=number, first_frame=first, last_frame=last, capacity=400)
    counts = born_at(how, steps=62)
    first = max(first, 2)
    if last < first:
        assert counts[-1] == 0
        return
    frames = np.arange(1, 64)
    share = np.clip((frames - first + 1) / (last - first + 1), 0.0, 1.0)
    assert np.abs(counts - number * share).max() < 1.0
    assert counts[-1] == number


def test_bursts_come_again_and_again():
    how = told("BURSTS", number=5, interval=0.5, first_frame=10, last_frame=40)
    new = np.diff(born_at(how, steps=60))
    assert {k + 2: n for k, n in enumerate(new) if n} == {10: 5, 22: 5, 34: 5}


def test_a_single_burst():
    new = np.diff(born_at(told("BURSTS", number=7, interval=0.0, first_frame=3), steps=60))
    assert {k + 2: n for k, n in enumerate(new) if n} == {3: 7}


def test_a_keyed_rate_counts_at_each_frame():
    world = world_of(make_emitter(np.array(SQUARE) * 500.0))
    this = begun(told(rate=24.0), world)
    for k in range(48):
        this.step(world, told(rate=24.0 if k < 12 else 0.0))
    # the births of a frame are known one frame ahead
    assert this.tally.alive in (12, 13)


def test_nobody_is_born_without_emission():
    world = world_of(square())
    this = begun(told("NONE"), world, points=[[9, 9, 0]])
    assert this.agents.count == 1
    assert "a birth" not in this.agents.memory
    this.step(world)
    assert this.agents.count == 1


def test_rates_that_make_no_sense():
    with pytest.raises(ParameterError, match=r"rate.*-1"):
        told(rate=-1.0)
    assert born_at(told(rate=0.0), steps=20).max() == 0
    world = world_of(make_emitter(np.array(SQUARE) * 500.0))
    this = begun(told(rate=1.0e9, capacity=50), world)
    for _ in range(5):
        this.step(world)
    assert this.tally.alive == 50
    [limit] = [w for w in this.warnings if w.code == "BIRTHS_LOST"]
    assert "capacity of 50" in str(limit)


def test_sources_are_chosen_by_weight():
    kinds = (
        make_emitter(np.array(SQUARE) * 100.0, total=3.0),
        make_emitter([[[-900, 0, 0], [-500, 0, 0]]], total=1.0),
        make_emitter([[[0, 900, 0]]], total=0.0),
    )
    world = world_of(*kinds)
    this = begun(told("BURSTS", number=800, interval=0.0, capacity=900), world)
    for _ in range(60):
        frame = this.step(world)
    place = frame.position[frame.alive != 0]
    share = float((place[:, 0] >= 0.0).mean())
    assert len(place) == 800
    assert abs(share - 0.75) < 4.0 * np.sqrt(0.75 * 0.25 / 800)
    assert not (place[:, 1] > 500.0).any()


def test_births_lie_on_their_parts():
    a, b = np.array([1.0, 2.0, 0.5]), np.array([60.0, -30.0, 0.5])
    world = world_of(make_emitter([[a, b]]))
    this = begun(told("BURSTS", number=60, interval=0.0), world)
    for _ in range(40):
        frame = this.step(world)
    place = frame.position[frame.alive != 0].astype(float)
    along = (place - a) @ (b - a) / ((b - a) @ (b - a))
    assert len(place) == 60
    assert np.abs(place - a - along[:, None] * (b - a)).max() < 1e-4
    assert ((along >= 0.0) & (along <= 1.0)).all()
    assert np.ptp(along) > 0.8


def test_who_is_born_on_a_line_may_face_to_its_right():
    world = world_of(make_emitter([[[0, 0, 0], [0, 9, 0]]], ahead=[0, 0, 1]))
    this = begun(told("BURSTS", number=1, interval=0.0, facing="NORMAL"), world)
    this.step(world)
    heading = this.agents.heading[this.agents.alive != 0][0]
    assert heading == pytest.approx([1.0, 0.0, 0.0], abs=1e-6)


@pytest.mark.parametrize(
    ("facing", "wanted"),
    [("FORWARD", [1, 0, 0]), ("NORMAL", [0, 1, 0]), ("ALONG", [0, 0, 0])],
)
def test_agents_face_and_go_as_they_are_told(facing, wanted):
    # a door that faces +Y, of a source that faces +X
    door = [[[0, 0, 0], [0, 0, 2], [2, 0, 0]], [[2, 0, 0], [0, 0, 2], [2, 0, 2]]]
    world = world_of(make_emitter(door, ahead=[1, 0, 0]))
    this = begun(told("BURSTS", number=1, interval=0.0, facing=facing, speed=1.25), world)
    frame = this.step(world)
    heading = this.agents.heading[frame.alive != 0][0]
    if facing != "ALONG":
        assert heading == pytest.approx(wanted, abs=1e-6)
    assert abs(heading[2]) < 1e-6
    assert frame.velocity[frame.alive != 0][0] == pytest.approx(1.25 * heading, abs=1e-6)


def test_headings_spread():
    wide = make_emitter(np.array(SQUARE) * 500.0, ahead=[1, 0, 0])
    world = world_of(wide)
    for facing, spread in (("FORWARD", 60.0), ("RANDOM", 360.0)):
        how = told("BURSTS", number=400, interval=0.0, facing=facing, facing_spread=spread)
        this = begun(how, world)
        frame = this.step(world)
        heading = this.agents.heading[frame.alive != 0]
        angle = np.degrees(np.arctan2(heading[:, 1], heading[:, 0]))
        assert np.abs(angle).max() <= spread / 2.0 + 1e-3
        assert np.ptp(angle) > 0.9 * spread


def test_walkers_are_born_on_their_ground():
    slope = Mesh("slope", np.array([[[-9, -9, -3], [30, -9, 10], [-9, 30, -3]]], np.float32))
    world = world_of(square(at=(0, 0, 5)), ground=slope)
    this = begun(told(rate=24.0), world)
    for _ in range(10):
        frame = this.step(world)
        place = frame.position[frame.alive != 0]
        assert np.abs(place[:, 2] - place[:, 0] / 3.0).max(initial=0.0) < 1e-4


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_nobody_is_born_into_anybody(motion):
    # far more than the square has room for
    how = told(rate=200.0, capacity=300, motion=motion, **LEAVING)
    world = world_of(square())
    this = begun(how, world, points=[[2, 2, 0]])
    for _ in range(200):
        assert least_gap(this.step(world)) >= -1e-5
    assert this.tally.waiting > 0
    assert any(w.code == "BIRTHS_WAIT" for w in this.warnings)


def test_bodies_that_do_not_collide_are_born_apart_too():
    how = told("BURSTS", number=100, interval=0.0, bodies={"collide_agents": False})
    world = world_of(square())
    this = begun(how, world)
    frame = this.step(world)
    assert 10 < frame.alive.sum() < 60
    assert least_gap(frame) >= 0.0


def test_a_wall_leaves_the_room_beside_it():
    half = box((2.0, 2.0, 1.0), (4.0, 2.0, 2.0))
    world = world_of(square(), colliders=[half])
    this = begun(told(rate=48.0, capacity=100), world)
    for _ in range(60):
        frame = this.step(world)
        y = frame.position[frame.alive != 0][:, 1]
        assert (np.abs(y - 2.0) >= 1.0 + RADIUS - 1e-4).all()
    assert len(y) > 5


def test_a_source_inside_of_a_wall_is_told():
    world = world_of(square(), colliders=[box((2, 2, 1), (9, 9, 9))])
    this = begun(told(rate=24.0), world)
    for _ in range(80):
        frame = this.step(world)
    assert frame.alive.sum() == 0
    [wait] = [w for w in this.warnings if w.code == "BIRTHS_WAIT"]
    assert "walls" in str(wait)


@pytest.mark.parametrize("source", [[], [[[[0, 0, 0], [0, 0, 0], [0, 0, 0]]]], "nan", "weightless"])
def test_sources_at_which_nobody_can_be_born(source):
    emitters = [make_emitter(part) for part in source] if isinstance(source, list) else []
    if source == "nan":
        emitters = [make_emitter([[[np.nan, 0, 0]]])]
    if source == "weightless":
        emitters = [square(total=0.0), square(weight=[0.0, 0.0])]
    world = world_of(*emitters)
    this = begun(told(rate=24.0), world)
    for _ in range(5):
        this.step(world)
    assert this.tally == (0, 0, 0, 0)
    assert [w.code for w in this.warnings if w.code == "NO_SOURCES"]


def test_two_crowds_are_not_born_into_each_other():
    how = told(rate=60.0, capacity=200, **LEAVING)
    other = told(rate=60.0, capacity=200, seed=5, motion="FLY", **LEAVING)
    world = world_of(square(), target=(-20, 2, 0))
    above = world_of(square(at=(0, 0, 1.0)))
    for second, second_world in ((told(rate=60.0, seed=5, **LEAVING), world), (other, above)):
        one, two = begun(how, world), begun(second, second_world)
        for _ in range(60):
            advance_together([Taking(one, world), Taking(two, second_world)], everyone(2))
            a, b = (s.agents.position[s.agents.alive != 0].astype(float) for s in (one, two))
            offset = np.abs(b[None] - a[:, None])
            if second is other:
                # walkers are 1.8 m high for those that fly
                up = b[None, :, 2] - a[:, None, 2]
                offset[..., 2] = np.maximum(np.maximum(up - 1.8, -up), 0.0)
            gaps = np.linalg.norm(offset, axis=2) - 2.0 * RADIUS
            assert gaps.min(initial=np.inf) >= -1e-5
        assert min(one.tally.born, two.tally.born) > 20

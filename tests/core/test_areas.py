"""Areas: forbidden ones are gone round, costly ones where that pays, one-way ones along."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import way_scenes as scenes
from restated_ways import bracket
from waytools import RADIUS, SHAPE, Walk, blocks_of, followed, led

from steer_addon.core.agents import make_agents
from steer_addon.core.crowd.membership import joined
from steer_addon.core.crowd.settings import CrowdSettings
from steer_addon.core.errors import WorldError
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.guiding import blocks_of as blocks_for
from steer_addon.core.step.guiding import ways_advice, with_ways
from steer_addon.core.ways import classes
from steer_addon.core.ways.areas.declared import Rules, make_area, make_areas
from steer_addon.core.ways.areas.marking import Marker
from steer_addon.core.ways.corners import single
from steer_addon.core.ways.lattice import cell_at
from steer_addon.core.ways.room import make_room
from steer_addon.core.ways.searching import Scratch
from steer_addon.core.ways.ways import Ways

START, GOAL = np.array([4.0, 6.0, 0.0]), np.array([16.0, 6.0, 0.0])
BODY = {"mass": 70.0, "max_speed": 1.4, "max_force": 300.0}


def area(x0, y0, x1, y1, kind="FORBIDDEN", z=(-0.2, 2.0), name="area", **more):
    """An area over a rectangle, as a box."""
    return make_area(scenes.boxes([[x0, y0, z[0]]], [[x1, y1, z[1]]], name), kind, **more)


def sheet(x0, y0, x1, y1, kind="FORBIDDEN", z=0.0, **more):
    """An area over a rectangle, as a flat mesh."""
    return make_area(replace(scenes.floor(x0, y0, x1, y1, z), name="sheet"), kind, **more)


def ruled(scene, *areas, costs=True, paint=None, bits=0, count=1):
    """What ways are found on in a scene with areas."""
    found = make_areas(areas, paint)
    rules = None if found is None else Rules(found, costs, np.full(count, bits, np.int64))
    return replace(blocks_of(scene), rules=rules)


def route(scene, blocks, start=START, goal=GOAL, ways=None):
    """The corners of a way, from the start to its end, shape (n, 3)."""
    ways = ways or Ways()
    points = [np.asarray(start, np.float32)]
    for _corner in range(200):
        via, length = led(scene, points[-1], goal, ways=ways, blocks=blocks)
        step = float(np.linalg.norm(via[0] - points[-1]))
        points.append(via[0])
        if step == 0.0 or length[0] <= step:
            break
    return np.array(points)


def said(blocks, start=START, goal=GOAL):
    """What the way from a place costs [m]."""
    surface = Ways().surface(SHAPE, blocks, np.zeros((0, 3), np.float32))
    marks = Marker(surface, blocks.ground).marks(blocks.areas, 0, True, surface)
    room = make_room(surface, blocks.ground, blocks.colliders, RADIUS)
    people = classes.Class(surface, room, RADIUS, marks)
    slot = people.slots(np.asarray(goal, np.float32)[None], None, Scratch())[0]
    return people.distances[slot, cell_at(surface.view, *map(float, start))]


def along(points, inside=lambda x, y: False, cost=1.0):
    """Length of a way, times the cost where it is inside [m]."""
    total = 0.0
    for a, b in zip(points[:-1], points[1:], strict=True):
        share = (np.arange(400) + 0.5) / 400
        x, y = (a[:2, None] + (b - a)[:2, None] * share).astype(float)
        total += float(np.linalg.norm(b - a)) * np.where(inside(x, y), cost, 1.0).mean()
    return total


def open_floor():
    return scenes.on_plane([], (20.0, 20.0))


@pytest.mark.parametrize("make", [area, sheet])
def test_the_way_round_a_forbidden_rectangle_is_the_shortest(make):
    outline = scenes.rectangle(8.0, 1.0, 12.0, 9.0)
    scene = open_floor()
    walls = [outline, *scene.outlines]
    low, high = bracket(walls, RADIUS, START[None, :2], GOAL[:2], 32)
    blocks = ruled(scene, make(8.0, 1.0, 12.0, 9.0), costs=False)
    points = route(scene, blocks)
    length = along(points)
    # cells of 0.25 m
    assert 0.99 * low[0] <= length <= 1.02 * high[0]
    assert np.array_equal(points[-1], GOAL)
    # the body stays outside too
    share = np.linspace(0.0, 1.0, 200)[:, None]
    places = np.concatenate([a + (b - a) * share for a, b in zip(points, points[1:], strict=False)])
    assert min(scenes.distance(outline, place[:2]) for place in places) > RADIUS - 0.05


@pytest.mark.parametrize("cost", [1.5, 3.0, 5.2, 5.7, 20.0])
def test_a_costly_strip_is_crossed_up_to_the_cost_at_which_the_way_round_is_as_long(cost):
    # the strip ends at y = 14: round it are 2 √(5² + 8²) + 2 m, through it 10 + 2 × cost
    scene, edge = open_floor(), 14.0
    round_it, through = 2.0 * np.hypot(5.0, 8.0) + 2.0, 10.0 + 2.0 * cost
    blocks = ruled(scene, area(9.0, -1.0, 11.0, edge, "COST", cost=cost))
    assert said(blocks) == pytest.approx(min(round_it, through), rel=0.02)
    points = route(scene, blocks)
    assert (points[:, 1].max() > 13.0) == (round_it < through)
    # who does not go by costs goes straight
    aside = route(scene, ruled(scene, area(9.0, -1.0, 11.0, edge, "COST", cost=cost), costs=False))
    assert along(aside) == pytest.approx(12.0)


def test_ways_bend_where_the_cost_changes_as_light_does():
    # from (4, 2) to (16, 18), with twice the cost beyond x = 10
    scene, start, goal = open_floor(), np.array([4.0, 2, 0]), np.array([16.0, 18, 0])
    at = np.linspace(2.0, 18.0, 100_001)
    exact = (np.hypot(6.0, at - 2.0) + 2.0 * np.hypot(6.0, 18.0 - at)).min()
    points = route(scene, ruled(scene, area(10, -1, 21, 21, "COST", cost=2.0)), start, goal)
    found = along(points, lambda x, y: x > 10.0, 2.0)
    straight = 1.5 * np.hypot(12.0, 16.0)
    assert exact * 0.999 <= found <= 1.02 * exact < straight


def test_a_preferred_path_draws_people_who_have_little_to_go_to_it():
    # along y = 14 to 15 ways seem half as long
    scene, path = open_floor(), area(0, 14, 20, 15, "COST", cost=0.5)
    start, goal = np.array([2.0, 12, 0]), np.array([18.0, 12, 0])
    points = route(scene, ruled(scene, path), start, goal)
    found = along(points, lambda x, y: (y > 14) & (y < 15), 0.5)
    at = np.linspace(0.0, 8.0, 10_001)
    exact = (2.0 * np.hypot(at, 2.0) + 0.5 * (16.0 - 2.0 * at)).min()
    assert found == pytest.approx(exact, rel=0.04)
    far = along(route(scene, ruled(scene, path), start - [0, 9, 0], goal - [0, 9, 0]))
    assert far == pytest.approx(16.0, rel=0.001)


@pytest.mark.parametrize("turned", [0.0, 30.0])
def test_a_one_way_door_lets_people_through_one_way(turned):
    scene = scenes.two_doors()
    start, goal = scene.places["start"], scene.places["goal"]
    angle = np.radians(turned)
    heading = (np.cos(angle), np.sin(angle), 0.0)
    blocks = ruled(scene, area(9.0, 3.0, 11.0, 5.0, "ONE_WAY", heading=heading))
    low, high = bracket(scene.outlines, RADIUS, goal[None, :2], start[:2], 32)
    there = followed(scene, start, goal, blocks=blocks)
    assert there == pytest.approx(14.0, rel=0.02)
    # back by the other door
    far = bracket(
        [*scene.outlines, scenes.rectangle(9.9, 3, 10.1, 5)], RADIUS, goal[None, :2], start[:2], 32
    )
    back = followed(scene, goal, start, blocks=blocks)
    assert 0.99 * far[0][0] <= back <= 1.03 * far[1][0]
    assert back > 2.0 * there and low[0] <= high[0]


def test_an_area_marks_its_own_storey():
    floors = scenes.joined("ground", scenes.floor(0, 0, 20, 20), scenes.floor(0, 0, 20, 20, 3.0))
    scene = scenes.Scene(floors, ())
    up = np.array([0.0, 0.0, 3.0])
    for blocks in (
        ruled(scene, area(8, 1, 12, 9, z=(0.0, 3.0))),
        ruled(scene, sheet(8, 1, 12, 9, z=0.0)),
        ruled(scene, sheet(8, 1, 12, 9, z=-0.2)),
    ):
        assert along(route(scene, blocks)) > 13.0
        assert along(route(scene, blocks, START + up, GOAL + up)) == pytest.approx(12.0)
    above = ruled(scene, area(8, 1, 12, 9, z=(2.9, 6.0)))
    assert along(route(scene, above)) == pytest.approx(12.0)
    assert along(route(scene, above, START + up, GOAL + up)) > 13.0


def test_paint_costs_forbids_and_does_nothing_where_nobody_painted():
    scene = scenes.Scene(
        scenes.joined(
            "ground",
            *(scenes.floor(x, y, x + 2, y + 2) for x in range(0, 20, 2) for y in range(0, 20, 2)),
        ),
        (),
    )
    middle = scene.ground.triangles.mean(axis=1)
    inside = (abs(middle[:, 0] - 10.0) < 2.0) & (middle[:, 1] < 10.0)
    for value, longer in ((0.0, False), (np.nan, False), (1.0, False), (-1.0, True), (9.0, True)):
        paint = np.where(inside[:, None], value, 0.0) * np.ones(3)
        assert (along(route(scene, ruled(scene, paint=paint))) > 13.0) == longer
    assert make_areas((), np.zeros((4, 3))) is None
    # paint runs out between points: half as much in the middle between 1 and 3
    slope = np.ones((len(middle), 3))
    slope[inside] = 3.0
    areas = make_areas((), slope)
    assert areas is not None and areas.paint.max() == 3.0
    # a ground that changed since has no paint
    assert along(route(scene, ruled(scene, paint=-np.ones((3, 3))))) == pytest.approx(12.0)


def test_who_stands_in_a_forbidden_area_leaves_it_by_a_short_way():
    scene, blocks = open_floor(), ruled(open_floor(), area(6.0, 3.0, 14.0, 17.0))
    points = route(scene, blocks, [7.0, 10.0, 0.0], [16.0, 10.0, 0.0])
    assert np.array_equal(points[-1], [16.0, 10.0, 0.0])
    # out to the left, and round
    assert points[:, 0].min() < 6.0
    inside = along(points, lambda x, y: (x > 6) & (x < 14) & (y > 3) & (y < 17), 0.0)
    assert along(points) - inside < 1.6


def test_who_cannot_come_to_the_goal_goes_as_near_as_areas_let():
    scene = open_floor()
    for blocks in (
        ruled(scene, area(9, -1, 11, 21)),
        ruled(scene, area(9, -1, 11, 21, "ONE_WAY", heading=(-1, 0, 0))),
        ruled(scene, area(9, -1, 30, 21)),
    ):
        end = route(scene, blocks)[-1]
        assert end == pytest.approx([9.0 - RADIUS, 6.0, 0.0], abs=0.26)
        ways, kept = Ways(), None
        many = np.repeat(START[None].astype("f4"), 80, axis=0)
        goals = GOAL + np.linspace(-0.4, 0.4, 80)[:, None] * [1.0, 1.0, 0.0]
        told = many, np.zeros(80, np.int64), np.full(80, RADIUS, np.float32)
        options = replace(blocks, rules=replace(blocks.rules, bits=np.zeros(80, np.int64)))
        via, rest, kept = ways.lead(
            SHAPE, options, goals.astype("f4"), np.arange(80), told, None, kept
        )
        # with goals of their own too
        assert (via[:, 0] < 9.0).all() and np.isfinite(rest).all()
        assert via[:, 0] == pytest.approx(9.0 - RADIUS, abs=0.26)


def test_own_ways_are_those_of_fields_and_searched_once(monkeypatch):
    scene, count = scenes.two_doors(), 80
    rules = area(9, 3, 11, 5, "ONE_WAY", heading=(-1, 0, 0)), area(12, 8, 14, 30, "COST", cost=4.0)
    blocks = ruled(scene, *rules, count=count)
    starts = scene.places["start"] + np.linspace(-1.5, 1.5, count)[:, None] * [0.0, 1.0, 0.0]
    goals = scene.places["goal"] + np.linspace(-1.5, 1.5, count)[:, None] * [1.0, 0.0, 0.0]
    starts, goals = starts.astype("f4"), goals.astype("f4")
    asked, fill = [], single.fill_field
    monkeypatch.setattr(single, "fill_field", lambda *a, **k: asked.append(1) or fill(*a, **k))
    told = starts, np.zeros(count, np.int64), np.full(count, RADIUS, np.float32)
    ways = Ways()
    via, rest, kept = ways.lead(SHAPE, blocks, goals, np.arange(count), told)
    own = rest + np.linalg.norm(via - starts, axis=1)
    assert len(asked) == count
    ways.lead(SHAPE, blocks, goals, np.arange(count), told, None, kept)
    assert len(asked) == count
    one = replace(blocks, rules=replace(blocks.rules, bits=np.zeros(1, np.int64)))
    for k in range(0, count, 16):
        assert own[k] == pytest.approx(led(scene, starts[k], goals[k], blocks=one)[1][0], rel=0.02)


def test_areas_that_move_are_those_of_a_fresh_start():
    scene, ways = scenes.two_doors(), Ways()
    start, goal = scene.places["start"], scene.places["goal"]
    lengths = []
    for y in (3.0, 10.0, 16.0, 3.0):
        blocks = ruled(scene, area(9.0, y, 11.0, y + 2.0))
        kept = led(scene, start, goal, ways=ways, blocks=blocks)
        fresh = led(scene, start, goal, blocks=blocks)
        assert all(np.array_equal(a, b) for a, b in zip(kept, fresh, strict=True))
        lengths.append(kept[1][0])
    assert lengths[0] == lengths[3] > 2.0 * lengths[1]
    assert lengths[1] == lengths[2]
    # without areas the same bits as ever
    without = led(scene, start, goal, ways=ways, blocks=blocks_of(scene))
    assert all(np.array_equal(a, b) for a, b in zip(without, led(scene, start, goal), strict=True))


def crowd(count=2, **more):
    settings = CrowdSettings.from_dict(
        {
            "motion": {"motion": "GROUND"},
            "ways": {"ways": "AROUND"},
            "behaviors": [{"type": "seek"}],
            **more,
        }
    )
    agents = make_agents(START + np.arange(count)[:, None] * [0.0, 1.0, 0.0], radius=RADIUS, **BODY)
    return settings, agents


def advice(*areas, goal=GOAL, paint=None, **more):
    """Codes of what people with areas are told."""
    settings, agents = crowd(**more)
    ground = scenes.floor(0, 0, 20, 20)
    world = make_world(targets=goal[None], ground=ground, areas=make_areas(areas, paint))
    world = with_ways(world, settings, Ways())
    return [told.code for told in ways_advice(settings, world, agents)]


def test_ways_that_areas_shut_are_told():
    assert advice() == []
    assert advice(area(8, 1, 12, 9)) == []
    assert advice(area(8, 1, 12, 9, "ONE_WAY", heading=(-1, 0, 0))) == []
    assert advice(area(9, -1, 11, 21)) == ["NO_WAY"]
    assert advice(area(9, -1, 11, 21, "ONE_WAY", heading=(-1, 0, 0))) == ["NO_WAY"]
    assert advice(area(9, -1, 11, 21, "ONE_WAY", heading=(1, 0, 0))) == []
    assert advice(area(-1, -1, 21, 21)) == ["NO_WAY"]
    assert advice(paint=-np.ones((2, 3))) == ["NO_WAY"]
    # a goal in a forbidden area has no way either
    assert advice(area(15, 5, 17, 7)) == ["NO_WAY"]


def test_areas_beside_the_ground_and_for_groups_that_are_not_there_are_told():
    assert advice(area(40, 1, 42, 9)) == ["AREA_EMPTY"]
    assert advice(area(8, 1, 12, 9, z=(5.0, 6.0))) == ["AREA_EMPTY"]
    assert advice(area(8, 1, 12, 9, group="dogs")) == ["GROUP_UNKNOWN"]


def test_an_area_is_for_the_groups_that_it_names():
    settings, agents = crowd(4, groups=[{"name": "dogs", "source": "ATTRIBUTE"}])
    agents = replace(agents, attributes={"dogs": np.array([0, 1, 0, 1], np.float32)})
    agents = joined(agents, settings)
    grass = area(8, 1, 12, 19, group="dogs"), area(8, 30, 12, 31, group="!dogs")
    world = make_world(ground=scenes.floor(0, 0, 20, 20), areas=make_areas(grass))
    blocks = blocks_for(world, agents, settings)
    told = agents.position, agents.id, agents.radius
    goals = GOAL[None].astype("f4")
    via, _rest, _kept = Ways().lead(SHAPE, blocks, goals, np.zeros(4, np.int64), told)
    straight = (via == GOAL).all(axis=1)
    assert straight.tolist() == [True, False, True, False]


@pytest.mark.parametrize(
    ("kind", "more", "text"),
    [
        ("GRASS", {}, "FORBIDDEN, COST, ONE_WAY"),
        ("COST", {"cost": 0.0}, "0.1 to 100"),
        ("COST", {"cost": np.nan}, "0.1 to 100"),
        ("COST", {"cost": -3.0}, "forbidden"),
        ("ONE_WAY", {"heading": (0, 0, 1)}, "level"),
        ("ONE_WAY", {"heading": (np.nan, 0, 1)}, "level"),
    ],
)
def test_areas_that_make_no_sense_are_refused(kind, more, text):
    with pytest.raises(WorldError, match=text):
        area(0, 0, 1, 1, kind, **more)


def test_an_area_without_faces_is_refused():
    with pytest.raises(WorldError, match="no faces"):
        make_area(Mesh("lawn", np.zeros((0, 3, 3), np.float32)), "FORBIDDEN")


class Strollers(Walk):
    """People who walk among areas."""

    def __init__(self, scene, starts, goal, areas, ways="AROUND", *overrides):
        self._areas = make_areas(areas)
        super().__init__(scene, starts, goal, ways, *overrides)

    def _world(self, more, ground=None):
        return replace(super()._world(more, ground), areas=self._areas)


@pytest.mark.slow
def test_people_walk_past_the_lawn_and_have_the_same_bits_after_resuming():
    scene, lawn = open_floor(), [area(8.0, 1.0, 12.0, 9.0)]
    x, y = np.meshgrid(np.arange(5) * 0.7, np.arange(2) * 0.7)
    starts = np.column_stack([x.ravel() + 4.0, y.ravel() + 6.0, np.zeros(10)])
    walk = Strollers(scene, starts, GOAL, lawn)
    places = walk.on(450)
    x, y = places[..., 0], places[..., 1]
    deep = np.minimum.reduce([x - 8.0, 12.0 - x, 9.0 - y])
    # only bodies that lean on one another push some to its edge
    assert deep.max() < RADIUS and (deep > 0.0).mean() < 0.02
    assert (np.linalg.norm(places[-1] - GOAL, axis=1) < 3.0).all()
    again = Strollers(scene, starts, GOAL, lawn)
    again.on(120)
    again.simulation.adopt(again.simulation.agents.copy())
    assert np.array_equal(again.on(60)[-1], places[180])


def test_safe_ways_go_round_the_road_that_others_cross():
    scene, road = open_floor(), [area(9.0, -1.0, 11.0, 12.0, "COST", cost=8.0)]
    sides = {
        ways: Strollers(scene, START, GOAL, road, ways).on(200)[:, 0, 1].max()
        for ways in ("AROUND", "SAFE", "QUICKEST")
    }
    assert sides["AROUND"] < 6.5
    assert sides["SAFE"] > 11.5 and sides["QUICKEST"] > 11.5

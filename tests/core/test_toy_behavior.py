"""A new behavior is one new file: written there, it is found everywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from toy_package import copy_with_toy, run_compiled, run_in

pytestmark = pytest.mark.slow

IS_THE_COPY = """
import os, steer_addon
assert os.path.dirname(os.path.dirname(steer_addon.__file__)) == os.getcwd(), steer_addon.__file__
"""

REGISTERED = """
from steer_addon.core.behaviors import REGISTRY
from steer_addon.core.parameters import parameters
cls = REGISTRY["toy"]
assert cls.definition.label == "Toy Hop" and cls.definition.group == "Toys"
assert list(parameters(cls)) == [
    "name", "enabled", "weight", "target", "group", "pace", "hops", "way", "target_choice"]
"""

SETTINGS = """
from steer_addon.core.errors import ParameterError
from steer_addon.core.crowd.presets import load_preset
from steer_addon.core.crowd.overrides import with_override
from steer_addon.core.crowd.settings import CrowdSettings, make_behavior
settings = load_preset("toys").settings
toy, = settings.behaviors
assert (toy.key, toy.pace, toy.hops, toy.way) == ("toy", 0.75, 4, "AWAY"), toy
assert CrowdSettings.from_dict(settings.to_dict()) == settings
assert with_override(settings, "toy.hops=9").behaviors[0].hops == 9
for wrong in ({"pace": 9.0}, {"hops": 0}, {"way": "UP"}, {"jump": 1}):
    try:
        make_behavior({"type": "toy", **wrong})
    except ParameterError as error:
        assert "toy" in str(error) and next(iter(wrong)) in str(error), error
    else:
        raise AssertionError(f"{wrong} passed")
"""

MOVES = """
from pathlib import Path
import numpy as np
from steer_addon.core.compiled import jit
from steer_addon.core.agents import make_agents
from steer_addon.core.crowd.presets import load_preset
from steer_addon.core.step.simulation import Simulation
from steer_addon.core.crowd.overrides import with_override
from steer_addon.core.inputs.world import make_world
body = dict(radius=0.25, mass=1.0, max_speed=1.4, max_force=10.0)
def hop(settings, **more):
    agents = make_agents([[0, 0, 0], [3, 4, 0]], **body, **more)
    frame = Simulation(settings, agents, frame=1, fps=24.0).step(make_world(targets=[[6, 8, 0]]))
    return frame.velocity, frame.position - agents.position
settings = load_preset("toys", *map(Path, FOLDERS)).settings
velocity, moved = hop(settings)
# 0.75 m/s, four times, away from the target
assert np.allclose(velocity, [[-1.8, -2.4, 0]] * 2, atol=1e-6), velocity
assert np.allclose(moved, velocity / 24, atol=1e-6), moved
velocity, _ = hop(with_override(settings, "toy.way=TOWARD"))
assert np.allclose(velocity, [[1.8, 2.4, 0]] * 2, atol=1e-6), velocity
# point attributes override it like any parameter
velocity, _ = hop(settings, attributes={"toy.hops": [1, 2]})
assert np.allclose(velocity, [[-0.45, -0.6, 0], [-0.9, -1.2, 0]], atol=1e-6), velocity
print(jit.status().compiled)
"""

RIDES = """
import numpy as np
from dataclasses import replace
from steer_addon.core import explain
from steer_addon.core.agents import make_agents
from steer_addon.core.crowd.overrides import with_override
from steer_addon.core.crowd.settings import CrowdSettings
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.paths import Path
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.simulation import Simulation

END = np.array([4.0, 3.0, 0.0])
PATH = Path([[0, 0, 0], [0, 3, 0], END])

def ride(arriving, seconds=8, method="RIDE", **inputs):
    settings = CrowdSettings.from_dict({
        "bodies": {"collide_agents": True, "on_arrival": arriving, "arrival_distance": 0.2,
                   "collide_colliders": bool(inputs)},
        "behaviors": [{"type": "tram", "method": method}]})
    agents = make_agents([[0, 0, 0], [0.7, 0, 0], [1.4, 0, 0]],
                         radius=0.25, mass=1.0, max_speed=1.4, max_force=10.0)
    world = make_world(paths=[PATH], **inputs)
    run = Simulation(settings, agents, frame=1, fps=24.0, world=world)
    for _ in range(24 * seconds):
        run.step(world)
    return run, world

# agents at its end leave; agents without an end stay
run, _ = ride("LEAVE", seconds=5)
assert not run.agents.alive.any() and run.agents.arrived.all()
away = np.linalg.norm(run.agents.position - END, axis=1)
assert (away <= 0.2 + 0.25 + 1.4 / 24).all(), away
run, _ = ride("LEAVE", seconds=5, method="WALK")
assert run.agents.alive.all() and not run.agents.arrived.any()

# or stand there, around it
run, world = ride("HOLD_AREA")
assert run.agents.arrived.all() and (np.linalg.norm(run.agents.velocity, axis=1) < 1e-3).all()
away = np.linalg.norm(run.agents.position - END, axis=1)
assert (away < 1.3).all() and away.min() < 0.6, away

# an end inside of a collider is moved out of it
box = np.array([[x, y, z] for x in (3, 5) for y in (2, 3.5) for z in (-1, 3)], np.float32)
faces = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
         [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
run, _ = ride("STAY", seconds=1, colliders=[Mesh("box", box[faces])])
assert [warning.code for warning in run.warnings] == ["PATH_END_INSIDE"], run.warnings

# what it looks at is drawn: its path, the next waypoint, and its circle
run, world = ride("STAY", seconds=1)
def drawn(**changes):
    stack = tuple(replace(entry, **changes) for entry in run.settings.behaviors)
    told = replace(run.settings, behaviors=stack)
    answer = explain.ask(told, run.agents, world, 1 / 24, number=24)
    part, = answer.agent(0, looks=True).parts
    return part.looks
arcs = {shape.role: shape for shape in drawn() if hasattr(shape, "radius")}
place, heading = run.agents.position[0], run.agents.heading[0]
circle, waypoint = arcs["WANDER"], arcs["PATH"]
assert np.allclose(circle.center, place + 2.0 * heading, atol=1e-5) and circle.radius == 0.5
assert np.allclose(waypoint.center, END) and waypoint.radius == 0.5
assert "WANDER" not in {shape.role for shape in drawn(method="WALK")}
print("rode")
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The copy with the toy."""
    return copy_with_toy(tmp_path_factory.mktemp("toy"))


def test_the_toy_is_registered_and_settings_and_presets_know_it(copy):
    run_in(copy, "-c", IS_THE_COPY + REGISTERED + SETTINGS)


def test_the_toy_moves_agents_as_its_formula_says(copy):
    assert run_in(copy, "-c", IS_THE_COPY + "FOLDERS = []\n" + MOVES).split() == ["False"]


def test_the_compiled_toy_moves_them_so_too(copy):
    pytest.importorskip("numba", reason="numba is not installed")
    for _ in range(2):
        # the second time, its kernel and its parameters come from the disk
        folders = f"FOLDERS = [{str(copy / 'presets')!r}]\n"
        assert run_compiled(copy, folders + MOVES).split() == ["True"]


def test_agents_arrive_at_the_end_of_the_path_that_a_toy_leads_them_along(copy):
    assert run_in(copy, "-c", IS_THE_COPY + RIDES).split() == ["rode"]


def test_the_command_line_lists_the_toy_with_its_parameters(copy):
    lines = run_in(copy, "-m", "steer_addon", "behaviors", "--json").splitlines()
    listed = {entry["type"]: entry for entry in json.loads(lines[-1])["behaviors"]}
    assert len(listed) > 7
    toy = listed["toy"]
    assert toy["label"] == "Toy Hop"
    assert toy["description"] == "Hop about like a toy."
    by_name = {entry["name"]: entry for entry in toy["parameters"]}
    pace, hops, way = by_name["pace"], by_name["hops"], by_name["way"]
    assert (pace["kind"], pace["default"], pace["unit"]) == ("float", 0.5, "m/s")
    assert (pace["minimum"], pace["maximum"]) == (0.25, 8.0)
    assert pace["description"] == "Speed of a hop; more is wilder"
    assert (hops["kind"], hops["default"], hops["minimum"], hops["maximum"]) == ("int", 3, 1, 9)
    assert list(way["choices"]) == ["TOWARD", "AWAY"]
    assert {"weight", "enabled", "target_choice"} <= set(by_name)


def test_the_command_line_lists_the_preset_with_the_toy(copy):
    lines = run_in(copy, "-m", "steer_addon", "presets", "--json").splitlines()
    assert "toys" in [preset["name"] for preset in json.loads(lines[-1])["presets"]]

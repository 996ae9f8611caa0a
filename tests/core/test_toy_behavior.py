"""A new behavior is one new file: written there, it is found everywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from toy_package import copy_with_toy, run_compiled, run_in

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
    "name", "enabled", "weight", "target", "pace", "hops", "way", "target_choice"]
"""

SETTINGS = """
from steer_addon.core.errors import ParameterError
from steer_addon.core.crowd.presets import load_preset
from steer_addon.core.crowd.settings import CrowdSettings, make_behavior, with_override
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
from steer_addon.core.crowd.settings import with_override
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


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The copy with the toy."""
    return copy_with_toy(tmp_path_factory.mktemp("toy"))


def test_the_toy_is_registered(copy):
    run_in(copy, "-c", IS_THE_COPY + REGISTERED)


def test_settings_and_presets_know_the_toy(copy):
    run_in(copy, "-c", IS_THE_COPY + SETTINGS)


def test_the_toy_moves_agents_as_its_formula_says(copy):
    assert run_in(copy, "-c", IS_THE_COPY + "FOLDERS = []\n" + MOVES).split() == ["False"]


def test_the_compiled_toy_moves_them_so_too(copy):
    pytest.importorskip("numba", reason="numba is not installed")
    for _ in range(2):
        # the second time, its kernel and its parameters come from the disk
        folders = f"FOLDERS = [{str(copy / 'presets')!r}]\n"
        assert run_compiled(copy, folders + MOVES).split() == ["True"]


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

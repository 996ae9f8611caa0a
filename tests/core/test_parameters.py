"""Parameters, settings blocks and command-line overrides: ranges, messages, defaults."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steer_addon.core.behaviors import REGISTRY, own_parameters
from steer_addon.core.crowd.overrides import with_override
from steer_addon.core.crowd.settings import BLOCKS, AgentsSettings, CrowdSettings, SolverSettings
from steer_addon.core.errors import ParameterError
from steer_addon.core.parameters import (
    Settings,
    check,
    choice,
    named_choices,
    parameters,
    parse_text,
)

DEFAULTS = {
    "agents": {
        "radius": 0.25,
        "mass": 1.0,
        "max_speed": 1.4,
        "max_force": 10.0,
        "size_spread": 0.0,
        "speed_spread": 0.0,
    },
    "motion": {
        "motion": "GROUND",
        "max_slope": 45.0,
        "step_height": 0.35,
        "min_turn_speed": 0.0,
        "body_turn_rate": 0.0,
        "wall_height": 3.0,
        "banking": 0.0,
        "max_bank": 60.0,
        "forward_axis": "NEG_Y",
    },
    "solver": {
        "solver": "REYNOLDS",
        "combine": "WEIGHTED_SUM",
        "relaxation_time": 0.5,
        "acc_weight": 0.3,
        "substeps": 1,
        "min_speed": 0.0,
        "max_turn_rate": 0.0,
        "max_acceleration": 0.0,
    },
    "bodies": {
        "collide_agents": False,
        "collide_colliders": False,
        "height": 1.8,
        "iterations": 4,
        "on_arrival": "STAY",
        "arrival_distance": 0.25,
    },
    "clips": {
        "idle": "",
        "idle_share": 0.25,
        "idle_time": 5.0,
        "arrival": "",
        "tempo_spread": 0.1,
    },
    "meets": {"sees": "EVERYONE", "seen_by": "EVERYONE", "touches": "EVERYONE"},
    "births": {
        "emission": "NONE",
        "rate": 5.0,
        "number": 100,
        "interval": 10.0,
        "first_frame": 1,
        "last_frame": 250,
        "capacity": 500,
        "part": "AUTO",
        "facing": "FORWARD",
        "facing_spread": 0.0,
        "speed": 0.0,
        "lifetime": 0.0,
        "lifetime_spread": 0.0,
    },
    "ways": {"ways": "NONE", "cell_size": 0.25},
}
FLOCK = {
    "strength": 1.0,
    "neighbor_distance": 2.0,
    "max_neighbors": 10,
    "field_of_view": 360.0,
}
GOAL = {
    "target_choice": "NEAREST",
    "target_flow": 1.3,
    "keep_order": 0.0,
    "after_last": "STOP",
    "min_wait": 0.0,
    "max_wait": 0.0,
    "visit_radius": 1.0,
}
BEHAVIOR_DEFAULTS = {
    "avoid_neighbors": {
        "anticipation_time": 3.0,
        "neighbor_distance": 5.0,
        "max_neighbors": 12,
        "field_of_view": 360.0,
        "time_headway": 0.385,
        "personal_space": 0.085,
        "side": "RIGHT",
        "see_colliders": True,
    },
    "arrive": {"slow_radius": 2.0, "stop_radius": 0.0, **GOAL},
    "containment": {
        "shape": "BOX",
        "method": "AVOID",
        "anticipation_time": 1.0,
        "falloff_distance": 0.0,
    },
    "flee": {"panic_radius": 5.0, "falloff": "LINEAR", "target_choice": "NEAREST"},
    "pursue": GOAL,
    "evade": {"panic_radius": 5.0, "falloff": "LINEAR", "target_choice": "NEAREST"},
    "separation": {**FLOCK, "falloff": "NONE"},
    "cohesion": FLOCK,
    "alignment": FLOCK,
    "flow_field": {"attribute": "flow", "max_distance": 0.0},
    "follow_leader": {
        **FLOCK,
        "distance": 1.5,
        "clear_radius": 1.0,
        "slow_radius": 2.0,
        "target_choice": "NEAREST",
    },
    "follow_path": {
        "method": "WAYPOINT",
        "start": "NEAREST",
        "waypoint_radius": 1.0,
        "path_radius": 1.0,
        "anticipation_time": 1.0,
        "slow_radius": 2.0,
        "lane": 0.0,
        "direction": 1,
        "path_choice": "NEAREST",
        "path_index": -1,
    },
    "follow_wall": {"anticipation_time": 1.0, "wall_distance": 1.0},
    "hide": {
        "distance_from_boundary": 1.0,
        "sight_distance": 0.0,
        "slow_radius": 2.0,
        "panic_radius": 0.0,
        "target_choice": "NEAREST",
    },
    "interpose": {"slow_radius": 2.0, "stop_radius": 0.0, "target_choice": "NEAREST"},
    "keep_together": {
        "alone_share": 0.3,
        "pair_share": 0.4,
        "three_share": 0.2,
        "four_share": 0.1,
        "group_id": -1,
        "distance": 0.8,
        "gaze": 4.0,
        "attraction": 3.0,
        "repulsion": 1.0,
        "slow_down": 0.05,
        "see_colliders": True,
    },
    "match_velocity": {"target_choice": "NEAREST"},
    "obstacle_avoidance": {
        "method": "RAY",
        "look_ahead": 3.0,
        "avoid_radius": 1.0,
        "max_avoid": 2.0,
        "samples": 9,
        "field_of_view": 120.0,
    },
    "obstacle_zones": {
        "look_ahead": 4.0,
        "pull_distance": 2.0,
        "slide_distance": 0.8,
        "push_speed": 0.7,
        "push_strength": 1.4,
        "cruise_speed": 0.0,
        "turn_rate": 180.0,
        "slide_until": "IN_SIGHT",
        "target_choice": "NEAREST",
    },
    "offset_pursue": {
        "offset_x": 0.0,
        "offset_y": -1.5,
        "offset_z": 0.0,
        "slow_radius": 2.0,
        "stop_radius": 0.0,
        "target_choice": "NEAREST",
    },
    "seek": GOAL,
    "wall_avoidance": {"feeler_mode": "AUTO", "feeler_length": 2.0, "stiffness": 1.0},
    "wander": {
        "source": "RANDOM_WALK",
        "distance": 2.0,
        "radius": 1.0,
        "jitter": 1.0,
        "speed": 0.0,
    },
}
ALL = [*BLOCKS.values(), *REGISTRY.values()]


def test_defaults_are_pinned():
    assert {name: block().to_dict() for name, block in BLOCKS.items()} == DEFAULTS
    assert set(REGISTRY) == set(BEHAVIOR_DEFAULTS)
    for name, cls in REGISTRY.items():
        made = cls().to_dict()
        assert {k: made[k] for k in own_parameters(cls)} == BEHAVIOR_DEFAULTS[name]
        assert (made["enabled"], made["weight"], made["name"], made["target"]) == (
            True,
            1.0,
            "",
            "",
        )


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
def test_every_parameter_is_explained_and_bounded(cls):
    assert cls.__doc__ and cls.__doc__.strip().endswith(".")
    for info in parameters(cls).values():
        assert len(info.doc) > 15 and not info.doc.endswith("."), info.name
        for text in info.choices.values():
            assert text and not text.endswith(".")
        if info.kind in ("float", "int"):
            assert info.minimum <= info.default <= info.soft_maximum <= info.maximum


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
def test_every_bound_has_a_message_with_value_and_range(cls):
    for name, info in parameters(cls).items():
        if info.kind not in ("float", "int"):
            continue
        for value in (info.minimum - 1, info.maximum * 2 + 1):
            with pytest.raises(
                ParameterError, match=rf"{cls.owner_name()}\.{name} is .*give a value from"
            ):
                cls(**{name: value})
        for value in (math.nan, math.inf):
            with pytest.raises(ParameterError, match="finite"):
                cls(**{name: value})
        with pytest.raises(ParameterError, match="give a number"):
            cls(**{name: "much"})


def test_wrong_types_are_named():
    with pytest.raises(
        ParameterError, match="solver.solver is 'HOUDINI': give one of REYNOLDS, VEX"
    ):
        SolverSettings(solver="HOUDINI")
    with pytest.raises(ParameterError, match="substeps is 1.5: give a whole number"):
        SolverSettings(substeps=1.5)
    with pytest.raises(ParameterError, match="enabled is 1: give true or false"):
        REGISTRY["seek"](enabled=1)
    with pytest.raises(ParameterError, match="agents has no parameter 'size': known are radius"):
        AgentsSettings.from_dict({"size": 1})


def test_settings_survive_plain_data():
    stack = tuple(cls(weight=0.5) for cls in REGISTRY.values())
    settings = CrowdSettings(behaviors=stack, seed=7)
    assert CrowdSettings.from_dict(settings.to_dict()) == settings


def test_behaviors_get_names_of_their_own():
    seek = REGISTRY["seek"]
    settings = CrowdSettings(behaviors=(seek(), seek(), seek(name="home"), seek()))
    assert [b.key for b in settings.behaviors] == ["seek", "seek.001", "home", "seek.002"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"behaviours": []}, "settings have no 'behaviours'"),
        ({"behaviors": "seek"}, "behaviors is 'seek': give a list"),
        ({"behaviors": [{"type": "teleport"}]}, "behavior type 'teleport' is unknown: known are"),
        ({"behaviors": [{"weight": 1}]}, "behavior type None is unknown"),
        ({"behaviors": [3]}, "behavior is 3: give names with values"),
        ({"behaviors": [{"type": "seek", "wait": 1}]}, "seek has no parameter 'wait'"),
        ({"solver": 4}, "solver is 4"),
        ({"seed": 1.5}, "seed is 1.5: give a whole number"),
        ({"seed": 2**63}, "seed is 9223372036854775808: give a whole number of up to 18 digits"),
    ],
)
def test_bad_data_is_named(data, message):
    with pytest.raises(ParameterError, match=message):
        CrowdSettings.from_dict(data)


def test_override_sets_behaviors_blocks_and_seed():
    settings = CrowdSettings(behaviors=(REGISTRY["seek"](), REGISTRY["arrive"](name="home")))
    settings = with_override(settings, "home.slow_radius=3.5")
    settings = with_override(settings, "seek.enabled=false")
    settings = with_override(settings, "agents.max_speed=2")
    settings = with_override(settings, "solver.solver=VEX")
    settings = with_override(settings, "seed=12")
    assert settings.behaviors[1].slow_radius == 3.5
    assert not settings.behaviors[0].enabled
    assert (settings.agents.max_speed, settings.solver.solver, settings.seed) == (2.0, "VEX", 12)


def test_a_block_alone_is_its_choice_of_that_name():
    settings = with_override(CrowdSettings(), "ways=AROUND")
    settings = with_override(settings, "motion = FLY")
    assert (settings.ways.ways, settings.motion.motion) == ("AROUND", "FLY")
    with pytest.raises(ParameterError, match="ways.ways is 'UP'"):
        with_override(settings, "ways=UP")
    with pytest.raises(ParameterError, match="the crowd has no 'agents' to set"):
        with_override(settings, "agents=3")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seek.weight", "sets nothing: write behavior.parameter=value"),
        (
            "fly.weight=1",
            "the crowd has no 'fly' to set: it has agents, motion, solver, bodies, clips, meets",
        ),
        ("seek.speed=1", "seek has no parameter 'speed'"),
        ("seek.weight=heavy", "seek.weight is 'heavy': give a number"),
        ("seek.weight=-1", "seek.weight is -1: give a value from 0 to 1000"),
        ("seek.enabled=maybe", "give true or false"),
        ("seed=x", "seed is 'x': give a whole number"),
    ],
)
def test_bad_overrides_are_named(text, message):
    with pytest.raises(ParameterError, match=message):
        with_override(CrowdSettings(behaviors=(REGISTRY["seek"](),)), text)


@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary()))
def test_any_value_is_taken_or_refused_with_a_typed_error(value):
    for cls in ALL:
        for info in parameters(cls).values():
            try:
                taken = check("x", info, value)
            except ParameterError as error:
                assert info.name in str(error)
            else:
                assert replace(cls(), **{info.name: taken})


@given(st.text(max_size=20))
def test_any_text_is_parsed_or_refused(text):
    for info in parameters(SolverSettings).values():
        try:
            parse_text("solver", info, text)
        except ParameterError:
            pass


@pytest.mark.parametrize("names", [("NEAR", "FAR", "NONE"), ("NONE", "NEAR", "FAR")])
def test_named_choices_are_the_numbers_by_which_kernels_know_them(names):
    named = named_choices(dict.fromkeys(names, "A meaning"))

    class Chosen(Settings):
        how: str = choice("FAR", named, doc="A choice")

    known = list(parameters(Chosen)["how"].choices)
    assert known == list(names)
    assert [getattr(named, name) for name in known] == [0, 1, 2]

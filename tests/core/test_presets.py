"""Presets: what comes with Steer is valid; what strangers send is refused in one sentence."""

import json
import os
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tried import tried

from steer_addon.core.behaviors import REGISTRY
from steer_addon.core.crowd.overrides import with_override
from steer_addon.core.crowd.presets import (
    FORMAT,
    builtin_folder,
    find_presets,
    load_preset,
    preset_card,
    read_preset,
    save_preset,
)
from steer_addon.core.crowd.settings import BLOCKS, CrowdSettings
from steer_addon.core.errors import OutputError, ParameterError, PresetError, printable
from steer_addon.core.parameters import parameters


@pytest.mark.parametrize("name", ["houdini_vex", "pedestrians", "birds", "fish"])
def test_builtin_presets_are_valid_and_described(name):
    preset = load_preset(name)
    assert preset.label and len(preset.description) > 20
    assert preset.settings.behaviors


def test_houdini_preset_holds_the_defaults_of_the_node():
    settings_ = load_preset("houdini_vex").settings
    stack = {b.key: b for b in settings_.behaviors}
    assert (settings_.solver.solver, settings_.solver.combine) == ("VEX", "WEIGHTED_SUM")
    assert settings_.solver.acc_weight == 0.3
    assert settings_.motion.motion == "FLY"
    # the node counts per frame, at 24 frames a second
    assert settings_.agents.max_speed == 1 * 24
    assert (stack["seek"].definition.type, stack["seek"].slow_radius) == ("arrive", 1.0)
    assert stack["flee"].panic_radius == 1.5 * stack["seek"].slow_radius
    assert (stack["wander"].source, stack["wander"].speed) == ("POSITION_NOISE", 0.02 * 24)
    assert stack["separation"].strength == pytest.approx(0.2 * 24)
    assert stack["cohesion"].strength == stack["alignment"].strength == 1 * 24
    for key in ("separation", "cohesion", "alignment"):
        assert (stack[key].neighbor_distance, stack[key].max_neighbors) == (0.5, 10)
    assert (stack["avoid"].method, stack["avoid"].avoid_radius) == ("RAY", 1.0)
    assert stack["avoid"].max_avoid == 1 * 24
    assert all(b.weight == 1.0 for b in settings_.behaviors)


def test_saved_presets_read_back_the_same(tmp_path):
    settings_ = load_preset("birds").settings
    path = tmp_path / "folder" / "mine.json"
    save_preset(path, settings_, label="Mine", description="Birds of mine")
    again = read_preset(path)
    assert (again.settings, again.label, again.description) == (settings_, "Mine", "Birds of mine")
    assert [p.name for p in path.parent.iterdir()] == ["mine.json"]
    assert find_presets(path.parent)["mine"] == path


def test_user_presets_win_over_builtin_ones(tmp_path):
    save_preset(tmp_path / "fish.json", CrowdSettings(), label="My Fish")
    assert load_preset("fish", tmp_path).label == "My Fish"
    assert load_preset("fish").label == "Fish"


def test_an_own_version_of_a_builtin_preset_starts_as_that_one_does(tmp_path):
    save_preset(tmp_path / "fish.json", CrowdSettings(), label="My Fish")
    save_preset(tmp_path / "ducks.json", CrowdSettings(), label="Ducks")
    mine, ducks = load_preset("fish", tmp_path).start, load_preset("ducks", tmp_path).start
    assert (mine.agents, mine.figure) == (200, "FISH")
    assert (ducks.agents, ducks.figure) == (80, "AUTO")
    text = json.loads((tmp_path / "fish.json").read_text(encoding="utf-8"))
    (tmp_path / "fish.json").write_text(json.dumps({**text, "start": {"agents": 3}}))
    assert load_preset("fish", tmp_path).start.agents == 3


@pytest.mark.parametrize("name", sorted(find_presets()))
def test_builtin_presets_leave_nothing_of_their_start_open(name):
    assert "AUTO" not in load_preset(name).start.to_dict().values()


def test_menus_show_the_label_of_a_preset_file_or_its_name(tmp_path):
    path = tmp_path / "ducks.json"
    assert preset_card(path).label == "ducks"
    for text in ("", "[]", "{", '{"label": 3}', '{"label": ""}'):
        path.write_text(text, encoding="utf-8")
        assert preset_card(path).label == "ducks"
    save_preset(path, CrowdSettings(), label="Ducks on a Pond")
    assert preset_card(path).label == "Ducks on a Pond"


def test_unknown_names_list_what_there_is():
    with pytest.raises(PresetError, match=r"no preset 'fsh': known are .*\bbirds, .*\bfish, "):
        load_preset("fsh")


def document(**changes):
    data = {"format": FORMAT, "version": 1, "settings": {}}
    return {**data, **changes}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("[]", "is no Steer preset"),
        ("{", "is not valid JSON"),
        ("[" * 100_000, "is not valid JSON"),
        (document(format="x"), "is no Steer preset"),
        (document(version=2), "has version 2: this Steer reads version 1"),
        (document(code="import os"), "unknown entry 'code'"),
        (document(settings=None), "has no settings"),
        (document(label=3), "must be texts"),
        (document(settings={"agents": {"speed": 1}}), "agents has no parameter 'speed'"),
        (document(settings={"agents": {"mass": -1}}), "agents.mass is -1: give a value from"),
        (document(settings={"agents": {"mass": float("nan")}}), "give a finite number"),
        (document(settings={"behaviors": [{"type": "__import__"}]}), "is unknown: known are"),
        (document(start=80), "start is 80: give names with values"),
        (document(start={"agents": 0}), "start.agents is 0: give a value from 1 to"),
        (document(start={"agents": 2.5}), "start.agents is 2.5: give a whole number"),
        (document(start={"figure": "DOG"}), "start.figure is 'DOG': give one of .*ANIMAL"),
        (document(start={"size": 1}), "start has no parameter 'size'"),
        (
            document(settings={"agents": {"mass": 10**400}}),
            r"is 10+\.\.\.0+: give a value from 0.001",
        ),
        (document(settings={"solver": {"substeps": -(10**400)}}), r"is -10+\.\.\.0+: give a value"),
        (document(settings={"seed": 10**4000}), r"seed is 10+\.\.\.0+: give a whole number of up"),
        (document(start={"agents": 10**400}), "give a value from 1 to"),
        (document(version=10**4000), r"has version 10+\.\.\.0+: this"),
        (document(settings={"behaviors": [{"type": ["seek"]}]}), r"type \['seek'\] is unknown"),
        (document(settings={"behaviors": [{"type": {}}]}), r"type {} is unknown"),
        (document(settings={"behaviors": [{"type": "seek"}] * 1001}), "1001 behaviors: give at"),
        (
            document(settings={"agents": {"mass": "x" * 30_000}}),
            r"is 'xxx+\.\.\.x+': give a number",
        ),
        (document(**{"x" * 30_000: 1}), "unknown entry 'xxx"),
        (
            json.dumps(document(settings={"seed": 0})).replace("0", "[" * 900 + "]" * 900),
            r"seed is \[\[\[\.\.\.\]\]\]: give a whole number",
        ),
    ],
)
def test_bad_files_are_refused_in_one_sentence(tmp_path, data, message):
    path = tmp_path / "bad.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    with pytest.raises(PresetError, match=message) as caught:
        read_preset(path)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 1100


def test_files_that_are_too_large_or_missing(tmp_path):
    path = tmp_path / "large.json"
    path.write_bytes(b" " * 2_000_000)
    with pytest.raises(PresetError, match="2000000 bytes instead of at most 1000000 bytes"):
        read_preset(path)
    with pytest.raises(PresetError, match="cannot be read"):
        read_preset(tmp_path / "none.json")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in folders")
def test_pipes_devices_and_folders_are_no_presets(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "zeros.json").symlink_to("/dev/zero")
    (tmp_path / "folder.json").mkdir()
    for name in ("pipe", "zeros", "folder"):
        with pytest.raises(PresetError, match="is no plain file"):
            read_preset(tmp_path / f"{name}.json")
        assert preset_card(tmp_path / f"{name}.json").label == name


@pytest.mark.skipif(os.name == "nt" or sys.platform == "darwin", reason="names are Unicode there")
def test_a_name_that_no_menu_can_show_is_left_out(tmp_path):
    for name in (b"bad\xff.json", b"line\n.json", b"good.json"):
        (tmp_path / os.fsdecode(name)).write_bytes(VALID)
    assert {*find_presets(tmp_path)} - {*find_presets()} == {"good"}


def test_a_link_to_a_preset_is_one(tmp_path):
    (tmp_path / "mine.json").symlink_to(builtin_folder() / "fish.json")
    assert read_preset(tmp_path / "mine.json").label == "Fish"


def test_texts_of_strangers_fit_a_menu(tmp_path):
    path = tmp_path / "odd.json"
    path.write_text(
        json.dumps(document(label="\x1b[31m\ud800", description="d" * 30_000, group="a\nb"))
    )
    for found in (read_preset(path), preset_card(path)):
        assert (found.label, found.group) == (r"\x1b[31m\ud800", r"a\nb")
        assert len(found.description) < 320


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_folder_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="cannot be written"):
        save_preset(tmp_path / "x.json", CrowdSettings(), label="X")


def test_a_folder_that_is_a_file_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="choose another folder"):
        save_preset(tmp_path / "file" / "x.json", CrowdSettings(), label="X")


VALID = (builtin_folder() / "fish.json").read_bytes()


@settings(max_examples=tried(300), deadline=None)
@given(st.integers(0, len(VALID) - 1), st.integers(0, 255), st.booleans())
def test_damaged_presets_never_escape_the_typed_error(tmp_path_factory, place, byte, cut):
    path = tmp_path_factory.getbasetemp() / "damaged.json"
    data = VALID[:place] if cut else VALID[:place] + bytes([byte]) + VALID[place + 1 :]
    path.write_bytes(data)
    try:
        read_preset(path)
    except PresetError:
        pass


ANYTHING = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.sampled_from([10**400, -(10**400), 2**63, 10**4000, -0.0]),
        st.floats(),
        st.text(),
        st.sampled_from(["\ud800", "\x1b[2J", "\0", "x" * 30_000, *REGISTRY]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(), inner, max_size=4)
    ),
    max_leaves=8,
)
"""Whatever JSON can say, and Python's larger numbers."""


def places(data, way=()):
    """The ways to all values of JSON data."""
    yield way
    if isinstance(data, (dict, list)):
        for key in data if isinstance(data, dict) else range(len(data)):
            yield from places(data[key], (*way, key))


def changed(data, way, value):
    """The same data with another value at a place."""
    if not way:
        return value
    copy = data.copy()
    copy[way[0]] = changed(data[way[0]], way[1:], value)
    return copy


PLACES = list(places(json.loads(VALID)))


@settings(max_examples=tried(150), deadline=None)
@given(st.sampled_from(PLACES), ANYTHING)
def test_presets_with_any_value_anywhere(tmp_path_factory, way, value):
    path = tmp_path_factory.getbasetemp() / "changed.json"
    try:
        path.write_text(json.dumps(changed(json.loads(VALID), way, value)))
    except ValueError:
        # Python writes no numbers as long as the longest here
        return
    try:
        read_preset(path)
    except PresetError as error:
        assert len(str(error)) < 1100
    card = preset_card(path)
    assert printable(card.label + card.description + card.group) == (
        card.label + card.description + card.group
    )


SETTINGS = CrowdSettings.from_dict(json.loads(VALID)["settings"])


@settings(max_examples=tried(300), deadline=None)
@given(st.sampled_from(list(places(SETTINGS.to_dict()))), ANYTHING)
def test_settings_with_any_value_anywhere(way, value):
    try:
        CrowdSettings.from_dict(changed(SETTINGS.to_dict(), way, value))
    except ParameterError as error:
        assert len(str(error)) < 1100


NAMES = [
    "seed",
    *(f"{block}.{name}" for block, cls in BLOCKS.items() for name in parameters(cls)),
    *(f"{entry.key}.{name}" for entry in SETTINGS.behaviors for name in parameters(entry)),
]


@settings(max_examples=tried(300), deadline=None)
@given(st.sampled_from(NAMES) | st.text(), st.text() | ANYTHING.map(str) | st.just("9" * 6000))
def test_any_text_to_set(name, value):
    try:
        with_override(SETTINGS, f"{name}={value}")
    except ParameterError as error:
        assert len(str(error)) < 1100


def test_many_behaviors_of_one_name_are_told_apart_at_once():
    names = [
        b.key for b in CrowdSettings.from_dict({"behaviors": [{"type": "seek"}] * 900}).behaviors
    ]
    assert (names[:3], names[-1]) == (["seek", "seek.001", "seek.002"], "seek.899")
    taken = [{"type": "seek"}, {"type": "flee", "name": "seek.001"}, {"type": "seek"}]
    found = CrowdSettings.from_dict({"behaviors": taken}).behaviors
    assert [entry.key for entry in found] == ["seek", "seek.001", "seek.002"]

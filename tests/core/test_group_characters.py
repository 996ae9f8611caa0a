"""Characters of groups: members, and nobody else, are shown as the ones that a group names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from crowdtools import crowd, place, scatter

from steer_addon.core.characters.cast import INDEX, MEMORY, POSTURE, Cast
from steer_addon.core.characters.pose_space import Row
from steer_addon.core.crowd.groups import GroupSettings
from steer_addon.core.results.digests import digest
from steer_addon.core.step.simulation import Simulation

COUNT = 400
NAMES = ("Child", "Man", "Officer", "Woman")
CHILD, MAN, OFFICER, WOMAN = range(4)
STAND = (Row("stand", 0, 1),)
CAST = Cast((STAND,) * 4, names=NAMES)


def characters(groups, attributes=None, cast=CAST):
    """Number of each agent's character."""
    settings = replace(crowd(), cast=cast, groups=tuple(groups))
    agents = place(settings, scatter(COUNT, 50), attributes=attributes or {})
    sim = Simulation(settings, agents, frame=1, fps=24.0)
    return sim.agents.memory[MEMORY][:, POSTURE.index("character")].astype(int), sim.agents


def group(name, characters="", **more):
    return GroupSettings(name=name, characters=characters, **{"share": 0.25, **more})


def test_officers_are_the_police_and_nobody_else():
    found, agents = characters([group("police", "officer")])
    police = agents.among("police")
    assert 50 < police.sum() < 150
    assert np.array_equal(found == OFFICER, police)
    assert {*found[~police]} == {CHILD, MAN, WOMAN}


def test_members_share_what_their_group_names_by_weight():
    cast = replace(CAST, weights=(1.0, 3.0, 1.0, 1.0))
    found, agents = characters([group("tall", "Man, WOMAN", share=0.5)], cast=cast)
    tall = agents.among("tall")
    assert {*found[tall]} == {MAN, WOMAN} and {*found[~tall]} == {CHILD, OFFICER}
    assert (found[tall] == MAN).mean() == pytest.approx(0.75, abs=0.08)


def test_by_index_they_take_turns():
    own = {"even": 1.0 - np.arange(COUNT) % 2}
    named = group("even", "Child, Woman", source="ATTRIBUTE")
    found, _ = characters([named], own, replace(CAST, choice=INDEX))
    assert found[:8].tolist() == [CHILD, OFFICER, CHILD, OFFICER, CHILD, OFFICER, CHILD, OFFICER]
    named = group("even", "Child", source="ATTRIBUTE")
    found, _ = characters([named], own, replace(CAST, choice=INDEX))
    assert found[:7].tolist() == [CHILD, OFFICER, CHILD, MAN, CHILD, WOMAN, CHILD]


def test_the_first_of_several_groups_counts():
    own = {name: np.ones(COUNT) for name in "ab"}
    groups = [group("a", "Man", source="ATTRIBUTE"), group("b", "Woman", source="ATTRIBUTE")]
    assert {*characters(groups, own)[0]} == {MAN}
    assert {*characters(groups[::-1], own)[0]} == {WOMAN}


@pytest.mark.parametrize("text", ["", "giant", " , "])
def test_groups_without_characters_change_nothing(text):
    found, _ = characters([group("a", text, share=0.5)])
    assert np.array_equal(found, characters([])[0])


def test_where_all_are_named_the_rest_may_take_any():
    found, agents = characters([group("all", ", ".join(NAMES), share=0.5)])
    rest = found[~agents.among("all")]
    assert {*rest} == {CHILD, MAN, OFFICER, WOMAN}
    assert np.array_equal(rest, characters([])[0][~agents.among("all")])


@pytest.mark.parametrize("name", ["character", "body"])
def test_numbers_on_the_points_have_the_last_word(name):
    numbers = np.arange(COUNT) % 4
    cast = replace(CAST, choice=name) if name == "body" else CAST
    found, _ = characters([group("police", "officer", share=1.0)], {name: numbers}, cast)
    assert np.array_equal(found, numbers)


def test_bakes_of_before_have_casts_without_names():
    assert digest(replace(CAST, names=None)) != digest(CAST)
    plain = Cast((STAND,) * 4)
    assert plain.names is None and digest(plain) == "ab8c7a153fa6dca0"

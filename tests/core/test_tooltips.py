"""Tooltips of parameters: the meaning, the effect of more of it, and the unit."""

from __future__ import annotations

import re

import pytest

from steer_addon.core.behaviors import REGISTRY, Behavior, own_parameters
from steer_addon.core.crowd.groups import GroupSettings
from steer_addon.core.crowd.settings import BLOCKS
from steer_addon.core.parameters import parameters

EFFECT = re.compile(r"\b(more|less|heavier)\b")
PLACES = re.compile(r"_[xyz]$|_index$|_id$|^direction$|^lane$|^seed$")
"""Numbers of places and choices, without more or less; their signs are explained."""
UNITS = {"", "m", "m/s", "m/s²", "s", "1/s", "kg", "N", "N/m", "deg", "deg/s", "rad/√s"}

ALL = [
    *((f"{name}.{info.name}", info) for name, cls in REGISTRY.items()
      for info in own_parameters(cls).values()),
    *((f"{name}.{info.name}", info) for name, cls in BLOCKS.items()
      for info in parameters(cls).values()),
    *((f"group.{info.name}", info) for info in parameters(GroupSettings).values()),
    *((f"behavior.{info.name}", info) for info in parameters(Behavior).values()),
]  # fmt: skip


@pytest.mark.parametrize(("name", "info"), ALL, ids=[name for name, _ in ALL])
def test_a_parameter_says_what_it_is_and_what_more_of_it_does(name, info):
    text = info.doc
    assert 12 < len(text) <= 110 and text[0] == text[0].upper() and not text.endswith(".")
    if info.kind in ("float", "int") and not PLACES.search(info.name):
        assert EFFECT.search(text), text
    if PLACES.search(info.name) and info.kind != "choice":
        assert re.search(r"-1|0|negative|nother", text), text
    for choice, doc in info.choices.items():
        assert len(doc) > 5 and not doc.endswith("."), (choice, doc)
    assert info.unit in UNITS, info.unit


@pytest.mark.parametrize("name", REGISTRY)
def test_a_behavior_says_what_it_does(name):
    cls = REGISTRY[name]
    first = (cls.__doc__ or "").strip().partition("\n\n")[0]
    assert 10 < len(" ".join(first.split())) < 200
    assert cls.definition.icon != "NONE" and cls.definition.group

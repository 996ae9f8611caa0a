"""Diagnoses: what each code says stands in sentences.json, and nowhere else in the tests."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steer_addon.core.cache.changes import settings_changes
from steer_addon.core.diagnoses import Diagnosis, add_new, catalog, diagnose
from steer_addon.core.errors import SceneError, SteerError

HERE = Path(__file__).resolve().parent
CODE = HERE.parents[1] / "steer_addon"
ROWS = json.loads((HERE / "sentences.json").read_text(encoding="utf-8"))
"""Code, subject, values and sentence; a diagnosis among the values is an object."""


def revived(value: Any) -> Any:
    """A value of a row as the program has it."""
    if isinstance(value, list):
        return tuple(revived(part) for part in value)
    if isinstance(value, dict):
        return Diagnosis(value["code"], value["subject"], value["values"])
    return value


@pytest.mark.parametrize(("code", "subject", "values", "sentence"), ROWS)
def test_a_code_says_its_sentence(code, subject, values, sentence):
    found = Diagnosis(code, subject, {name: revived(value) for name, value in values.items()})
    assert found.sentence == str(found) == sentence
    data = found.to_dict()
    assert json.loads(json.dumps(data)) == data
    assert (data["code"], data["subject"], data["sentence"]) == (code, subject, sentence)
    assert list(data["values"]) == list(values)


def test_every_code_is_in_the_table():
    assert {code for code, *_ in ROWS} == set(catalog())
    alone = [code for code, _, values, _ in ROWS if values.get("count") == 1]
    assert alone == [code for code, entry in catalog().items() if entry.one]


def test_entries_are_complete():
    for code, entry in catalog().items():
        assert code == code.upper() and entry.section.islower()
        assert entry.severity in ("ERROR", "WARNING", "UNSURE", "INFO", "DONE"), code
        assert entry.remedy == entry.remedy.upper()
        for text in (entry.sentence, entry.one, entry.help):
            assert text == text.strip() and not text.endswith("."), code
        assert entry.sentence and entry.help, code


def literals(node: ast.AST) -> Iterator[str]:
    """The texts that an expression may be: those of both ways of a condition."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from literals(node.body)
        yield from literals(node.orelse)


@pytest.mark.slow
def test_the_program_has_all_codes_and_no_others():
    named, texts = set(), set()
    # to walk through all files takes three times as long
    telling = re.compile("|".join(["diagnose", "Diagnosis", *map(re.escape, catalog())]))
    for text in (path.read_text(encoding="utf-8") for path in CODE.rglob("*.py")):
        for node in ast.walk(ast.parse(text)) if telling.search(text) else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(node.value)
            called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            if called and node.func.id in ("diagnose", "Diagnosis") and node.args:
                named |= set(literals(node.args[0]))
    assert named - set(catalog()) == set()
    assert set(catalog()) - texts == set(), "nothing says this"


def test_equal_diagnoses_are_one():
    first = diagnose("MESH_OPEN", "Wall", count=3)
    known = [first]
    add_new(known, [diagnose("MESH_OPEN", "Wall", count=3), diagnose("MESH_OPEN", "Wall", count=4)])
    assert [found.values["count"] for found in known] == [3, 4]
    assert hash(first) == hash(diagnose("MESH_OPEN", "Wall", count=3))
    more = first.having(object="House")
    assert more != first and more.values == {"count": 3, "object": "House"}


def test_errors_carry_their_diagnosis():
    found = diagnose("NOT_SIMULATED", start=5)
    error = SceneError(found)
    assert str(error) == found.sentence and error.diagnosis is found
    plain = SteerError("Something is wrong: mend it")
    assert plain.diagnosis == diagnose("FAILED", reason="Something is wrong: mend it")
    assert plain.diagnosis.sentence == str(plain)


def test_changes_of_characters_name_no_digests_and_no_version():
    """A crowd whose characters went, or came, has other settings of clips too."""
    shown, changed, bare = (
        {"Crowd": {"values": values, "behaviors": {}, "order": [], "animation": {}}}
        for values in (
            {"characters": "1f", "clips.idle": ""},
            {"characters": "2e", "clips.idle": ""},
            {},
        )
    )

    def told(old, new):
        return [found.sentence for found in settings_changes(old, new, "Crowd")]

    assert told(shown, changed) == ["the cast of characters changed"]
    assert told(shown, bare) == ["the cast of characters is gone", "clips.idle is gone"]
    assert told(bare, shown) == ["the cast of characters is new", "clips.idle is new"]

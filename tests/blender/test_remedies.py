"""Every way out that the catalog of diagnoses names has a button, which gets what it needs."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.ui.remedies import ICONS, REMEDIES, draw_diagnosis  # noqa: E402
from steer_addon.core.diagnoses import Diagnosis, catalog, diagnose  # noqa: E402
from tests.blender.fake_layout import FakeLayout  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene", "few_poses")

ROWS = json.loads((Path(__file__).parents[1] / "core" / "sentences.json").read_text("utf-8"))
FOUND = {"object": "Wall", "role": "SOURCE", "entry": "follow_path", "label": "Path", "place": 1}
"""Words that the Blender side adds to the values of the sentences."""
CONTEXT = SimpleNamespace(region=SimpleNamespace(width=9000))


def test_every_remedy_has_a_button_and_every_severity_an_icon():
    assert {entry.remedy for entry in catalog().values()} - {""} == set(REMEDIES)
    assert {entry.severity for entry in catalog().values()} == set(ICONS)


@pytest.mark.parametrize(
    ("code", "subject", "values"),
    [row[:3] for row in ROWS if catalog()[row[0]].remedy],
)
def test_a_diagnosis_is_drawn_with_its_button(code, subject, values):
    # buttons take words; sentences round numbers
    values = {k: value if isinstance(value, float) else str(value) for k, value in values.items()}
    found, layout = Diagnosis(code, subject, {**values, **FOUND}), FakeLayout()
    draw_diagnosis(layout, CONTEXT, found)
    remedy = REMEDIES[found.remedy]
    assert found.sentence in layout.texts()
    beside = [REMEDIES[remedy.beside].operator] if remedy.beside else []
    assert layout.of("operator") + layout.of("menu") == [remedy.operator or remedy.menu, *beside]


def test_what_has_no_way_out_has_no_button():
    layout = FakeLayout()
    draw_diagnosis(layout, CONTEXT, diagnose("TARGET_INSIDE"))
    assert [kind for kind, _ in layout.record] == ["label"]

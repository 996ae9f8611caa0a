"""Buttons that remedy what a diagnosis reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ...core.diagnoses import Diagnosis
from ..crowd.slots import SOURCES
from .messages import draw_message

ICONS = {
    "ERROR": "ERROR",
    "WARNING": "ERROR",
    "UNSURE": "QUESTION",
    "INFO": "INFO",
    "DONE": "FILE_TICK",
}
"""Icons of sentences, by severity."""

_SOURCE_ICONS = {kind.label: kind.icon for kind in SOURCES.values()}


class Remedy(NamedTuple):
    """A button.

    Attributes:
        operator: The operator of the button; empty for a menu.
        label: Its text, with placeholders for the subject and the values of the diagnosis.
        icon: Its icon; empty if that depends on the added input.
        options: The operator's properties, each with the name of its value in the diagnosis.
        menu: The menu that it opens.
        beside: Code of another remedy, whose button stands beside it.
    """

    operator: str = ""
    label: str = ""
    icon: str = "NONE"
    options: Mapping[str, str] = {}
    menu: str = ""
    beside: str = ""


REMEDIES: dict[str, Remedy] = {
    "ADD_INPUT": Remedy(
        "object.steer_add_input", "Add {label}", "", {"role": "role", "entry": "entry"}
    ),
    "SELECT": Remedy(
        "object.steer_select_input", "Select {object!r}", "RESTRICT_SELECT_OFF", {"name": "object"}
    ),
    "MAKE_COLLIDERS": Remedy("object.steer_make_colliders", "Make Colliders", "MOD_PHYSICS"),
    "SHOW_STUCK": Remedy(
        "object.steer_show_agents", "Show Them", "RESTRICT_SELECT_OFF", {"agents": "agents"}
    ),
    "SHOW_MESHES": Remedy("object.steer_show_meshes", "Show the Meshes", "OUTLINER_OB_MESH"),
    "SHOW_BODY": Remedy("object.steer_show_body", "Enable {object!r}", "RESTRICT_VIEW_OFF"),
    "USE_CHARACTERS": Remedy("object.steer_show_characters", "Use Character", "ARMATURE_DATA"),
    "FIT_SCALE": Remedy(
        "object.steer_fit_characters", "Set Scale to {scale:.3g}", "FULLSCREEN_ENTER"
    ),
    "FIT_RADIUS": Remedy(
        "object.steer_fit_characters", "Raise Radius to {reach:.2g} m", "FULLSCREEN_ENTER"
    ),
    "MAKE_ANEW": Remedy(
        "object.steer_make_anew", "Make Character Again", "FILE_REFRESH", {"name": "subject"}
    ),
    "SHOW_LOST_HEROES": Remedy("object.steer_demote", "Show Them", "HIDE_OFF", {"which": "which"}),
    "RENEW_HEROES": Remedy("object.steer_promote_again", "Promote Again", "FILE_REFRESH"),
    "CLEAR_LOST": Remedy("object.steer_clear_lost", "Clear the Field", "X", {"name": "subject"}),
    "REMOVE_BEHAVIOR": Remedy(
        "object.steer_behavior_remove", "Remove {subject!r}", "X", {"place": "place"}
    ),
    "CHOOSE_PRESET": Remedy(menu="STEER_MT_presets"),
    "SCENE_RANGE": Remedy("object.steer_scene_range", "Use the Scene's Range", "TIME"),
    "CATCH_UP": Remedy("object.steer_catch_up", "Catch Up", "FF", beside="PLAY"),
    "PLAY": Remedy("object.steer_play", "Play from Start", "PLAY"),
    "RELINK": Remedy("object.steer_cache_relink", "Relink Bake", "FILE_FOLDER"),
    "CONTINUE_BAKE": Remedy("object.steer_cache_continue", "Continue Bake", "PLAY"),
    "BAKE_ANEW": Remedy("object.steer_cache_anew", "Bake Again", "FILE_REFRESH"),
    "CHECK_BAKE": Remedy("object.steer_cache_check", "Check Bake", "CHECKMARK"),
}
"""By their codes in the catalog of diagnoses."""


def draw_sentence(layout: Any, context: Any, diagnosis: Diagnosis) -> None:
    """Draw the sentence of a diagnosis, with the icon of its severity."""
    draw_message(layout, context, diagnosis.sentence, ICONS[diagnosis.severity])


def draw_diagnosis(layout: Any, context: Any, diagnosis: Diagnosis) -> None:
    """Draw the sentence of a diagnosis, with its remedy below."""
    column = layout.column(align=True)
    draw_sentence(column, context, diagnosis)
    remedy = REMEDIES.get(diagnosis.remedy)
    if remedy is None:
        return
    if remedy.menu:
        column.menu(remedy.menu)
        return
    row = column.row(align=True) if remedy.beside else column
    _draw_button(row, remedy, diagnosis)
    if remedy.beside:
        _draw_button(row, REMEDIES[remedy.beside], diagnosis)


def _draw_button(layout: Any, remedy: Remedy, diagnosis: Diagnosis) -> None:
    values = {"subject": diagnosis.subject, **diagnosis.values}
    icon = remedy.icon or _SOURCE_ICONS.get(values["label"], "EMPTY_AXIS")
    props = layout.operator(remedy.operator, text=remedy.label.format(**values), icon=icon)
    for name, value in remedy.options.items():
        setattr(props, name, values[value])

"""What the user can act on: a sentence each, with the button that is the way out.

Everything here is quick enough for every redraw; what only a look at the evaluated scene can tell
comes with the frames (`live.status`), or from a timer, as that a collider is open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import bpy

from ...core.compiled import jit
from ...core.errors import SteerError
from ...core.sensing.declare import SECOND_TARGETS
from ..crowd.properties import definition_of
from ..crowd.slots import (
    SOURCES,
    SecondTarget,
    has_source,
    has_target,
    needs_target,
    source_use,
    uses_of,
)
from ..display import display
from ..reading.scene_inputs import collider_objects, input_objects
from . import collider_checks

_NAMED = re.compile(r"'([^']+?)(?: \(ground\))?'")


@dataclass(frozen=True)
class Notice:
    """Something that the user may want to change about a crowd.

    Attributes:
        text: What is wrong, and the way out, in one sentence.
        operator: Operator that goes that way; empty for none.
        label: What its button says.
        icon: And shows.
        options: What the operator is given.
        menu: A menu that goes that way, in place of an operator.
    """

    text: str
    operator: str = ""
    label: str = ""
    icon: str = "NONE"
    options: Mapping[str, Any] = field(default_factory=dict)
    menu: str = ""


def notices(obj: bpy.types.Object) -> list[Notice]:
    """All that is wrong with a crowd as far as its settings tell."""
    steer = obj.steer
    return [
        *_missing_targets(steer),
        *_hidden_display(obj),
        *_missing_inputs(steer),
        *_lost_inputs(obj),
        *_unknown(steer),
        *_empty(obj),
        *_shapes(obj),
        *_compiler(),
    ]


def warnings(obj: bpy.types.Object) -> list[str]:
    """The sentences alone."""
    return [notice.text for notice in notices(obj)]


def _add(text: str, role: str, entry: str, label: str, icon: str) -> Notice:
    options = {"role": role, "entry": entry}
    return Notice(text, "object.steer_add_input", label, icon, options)


def _asking(steer: Any) -> list[Any]:
    """The entries that do nothing without a target."""
    return [item for item in steer.behaviors if item.enabled and needs_target(item)]


def lacks_target(steer: Any) -> bool:
    """Whether the crowd has no target although a behavior needs it."""
    return not has_target(steer) and any(not item.use_own_target for item in _asking(steer))


def _missing_targets(steer: Any) -> Iterator[Notice]:
    asking = _asking(steer)
    if lacks_target(steer):
        lacking = [repr(item.name) for item in asking if not item.use_own_target]
        text = f"No target for {', '.join(lacking)}: choose one under Inputs"
        yield _add(text, "TARGET", "", "Add Target", "EMPTY_AXIS")
    for item in asking:
        if item.use_own_target and not has_target(item):
            text = f"No target for {item.name!r}: choose one, or switch off Own Target"
            yield _add(text, "TARGET", item.name, "Add Target", "EMPTY_AXIS")


def _missing_inputs(steer: Any) -> Iterator[Notice]:
    """Inputs of its own that an enabled entry needs and has not."""
    for item in steer.behaviors:
        if not item.enabled:
            continue
        if SECOND_TARGETS in uses_of(item) and not has_target(SecondTarget(item)):
            text = f"No second target for {item.name!r}: choose one"
            yield _add(text, "SECOND_TARGET", item.name, "Add Second Target", "EMPTY_AXIS")
        kind = SOURCES.get(source_use(item))
        if kind is not None and not has_source(item):
            text = f"No {kind.noun} for {item.name!r}: {kind.choose}"
            yield _add(text, "SOURCE", item.name, f"Add {kind.label}", kind.icon)


def _hidden_display(obj: bpy.types.Object) -> Iterator[Notice]:
    """Agents are shown as an object that is disabled in viewports."""
    modifier = display.find_modifier(obj)
    try:
        if modifier is None or display.get_input(modifier, "Display") != "Object":
            return
        body = display.get_input(modifier, "Object")
    except SteerError:
        # the Display panel says what is wrong with the modifier
        return
    if body is not None and body.hide_viewport:
        yield Notice(
            f"Agents are not seen, as {body.name!r} is disabled in viewports: enable it, "
            "and hide it with the eye instead",
            "object.steer_show_body",
            f"Enable {body.name!r}",
            "RESTRICT_VIEW_OFF",
        )


def chosen_objects(obj: bpy.types.Object) -> Iterator[tuple[str, Any, str]]:
    """Owner, property and what it is, of each single object that a crowd is to perceive."""
    steer = obj.steer
    if steer.target_kind != "COLLECTION":
        yield "Target", steer, "target_object"
    for item in steer.behaviors:
        uses = uses_of(item)
        if item.use_own_target and item.target_kind != "COLLECTION":
            yield "Target", item, "target_object"
        if SECOND_TARGETS in uses and item.second_target_kind != "COLLECTION":
            yield "Target", item, "second_target_object"
        use = source_use(item)
        if use and item.source_kind == "OBJECT":
            yield SOURCES[use].label, item, "source_object"
    yield "Ground", steer, "ground"


def is_lost(obj: bpy.types.Object | None, scene: bpy.types.Scene) -> bool:
    """Whether an object was deleted: only a reference keeps it in the file."""
    if obj is None or obj.visible_get():
        return False
    # slow, hence last
    return scene.objects.get(obj.name) != obj and not obj.users_scene


def lost_objects(obj: bpy.types.Object) -> Iterator[tuple[str, Any, str]]:
    """What of `chosen_objects` is in no scene any more."""
    if obj.library is not None or not obj.users_scene:
        return
    scene = obj.users_scene[0]
    for what, owner, name in chosen_objects(obj):
        if is_lost(getattr(owner, name), scene):
            yield what, owner, name


def _lost_inputs(obj: bpy.types.Object) -> Iterator[Notice]:
    said = set()
    for what, owner, name in lost_objects(obj):
        lost = getattr(owner, name).name
        text = f"{what} {lost!r} was deleted from the scene: choose another one, or clear the field"
        if text not in said:
            said.add(text)
            options = {"name": lost}
            yield Notice(text, "object.steer_clear_lost", "Clear the Field", "X", options)


def _unknown(steer: Any) -> Iterator[Notice]:
    for place, item in enumerate(steer.behaviors):
        if definition_of(item) is None:
            yield Notice(
                f"Behavior {item.name!r} is of a type that this version of Steer does not have: "
                "remove it",
                "object.steer_behavior_remove",
                f"Remove {item.name!r}",
                "X",
                {"place": place},
            )


def _empty(obj: bpy.types.Object) -> Iterator[Notice]:
    steer = obj.steer
    if not steer.behaviors:
        text = "The crowd has no behaviors: add one, or apply a preset"
        yield Notice(text, menu="STEER_MT_presets")
    colliders = steer.colliders
    if colliders is not None and not collider_objects(obj):
        yield Notice(
            f"Nothing in colliders {colliders.name!r} can be met: put meshes, curves or "
            "spheres into this collection"
        )
    if steer.frame_end < steer.frame_start:
        yield Notice(
            f"The frame range ends before its start at {steer.frame_start}: raise the end",
            "object.steer_scene_range",
            "Use the Scene's Range",
            "TIME",
        )


def _shapes(obj: bpy.types.Object) -> Iterator[Notice]:
    """What the last look at the colliders found."""
    for text, name in collider_checks.found(obj):
        yield selecting(text, name)


def selecting(text: str, name: str) -> Notice:
    """A sentence about an object of the scene, with a button that selects it."""
    label, icon = f"Select {name!r}", "RESTRICT_SELECT_OFF"
    return Notice(text, "object.steer_select_input", label, icon, {"name": name})


def _compiler() -> Iterator[Notice]:
    status = jit.known_status()
    if status is not None and status.message:
        yield Notice(status.message)


def named_inputs(texts: Iterable[str], obj: bpy.types.Object) -> dict[str, str]:
    """Which object each sentence is about, by the sentence: one that the crowd perceives."""
    found: dict[str, str] = {}
    names: set[str] | None = None
    for text in texts:
        if names is None:
            names = {other.name_full for other in input_objects(obj)}
        for name in _NAMED.findall(text):
            # of what a collection brings along the object is named that stands in the scene
            top = name.partition("/")[0]
            if top in names:
                found[text] = top
                break
    return found

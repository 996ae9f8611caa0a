"""The Debug section: the overlay's switches, and a table of the proposals for one agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bpy.types import Context, Object, UILayout

from ...core.diagnoses import diagnose
from ..crowd.properties import definition_of
from ..overlay import answers, strokes
from .drawing import draw_named
from .messages import is_narrow
from .remedies import draw_sentence

if TYPE_CHECKING:
    from ...core.explain import AgentAnswer, Part

MOST_NEIGHBORS = 5
_STATE = {"zone": "Zone", "hidden": "Hidden", "waypoint": "Waypoint", "arrived": "Arrived"}
_YES_NO = ("hidden", "arrived")


def draw_debug(layout: UILayout, context: Context, obj: Object) -> None:
    """Switches of the overlay, and the table of the agent chosen last."""
    overlay = context.scene.steer_overlay if hasattr(context, "scene") else None
    if overlay is None:
        return
    row = layout.row(align=True)
    row.prop(overlay, "show", toggle=True, icon="OVERLAY")
    row.operator("object.steer_pick_agent", icon="EYEDROPPER")
    column = layout.column()
    column.use_property_split = not is_narrow(context)
    column.use_property_decorate = False
    draw_named(column, overlay, "agents", "Agents")
    if not overlay.show:
        return
    _draw_table(layout, context)
    column = layout.column()
    column.use_property_split = not is_narrow(context)
    column.use_property_decorate = False
    draw_named(column, overlay, "crowd", "Crowd")
    _draw_above(column, "Arrows for")
    column.row().prop(overlay, "extent", expand=True)
    if overlay.extent == "IN_VIEW":
        column.prop(overlay, "limit")
    column.prop(overlay, "scale")
    _draw_above(column, "Show")
    column.column(align=True).prop(overlay, "parts", expand=True)
    column.prop(overlay, "legend")


def _draw_above(layout: UILayout, label: str) -> None:
    """The name of buttons, above them where a narrow layout has no place beside them."""
    if not layout.use_property_split:
        layout.label(text=label)


def _draw_table(layout: UILayout, context: Context) -> None:
    crowd = answers.crowd_of(context.scene)
    found = None if crowd is None else answers.get(crowd)
    if crowd is None:
        draw_sentence(layout, context, diagnose("NO_CROWD_CHOSEN"))
        return
    if found is None:
        # the answer is computed after Blender has drawn this
        return
    for note in found.notes:
        draw_sentence(layout, context, note)
    ids = answers.chosen_ids(context.scene)
    if found.answer is None:
        return
    if not ids:
        draw_sentence(layout, context, diagnose("NO_AGENT_CHOSEN"))
        return
    told = answers.agent(found, ids[-1])
    if told is None:
        every = found.answer.agents.id
        known = {"first": int(every.min()), "last": int(every.max())}
        draw_sentence(layout, context, diagnose("AGENT_UNKNOWN", agent=ids[-1], **known))
        return
    draw_agent(layout, told, crowd, found.frame)


def draw_agent(layout: UILayout, told: AgentAnswer, crowd: Object, frame: int) -> None:
    """State of one agent at a frame, and the proposals that move it."""
    box = layout.box().column(align=True)
    box.label(text=f"Agent {told.id} of {crowd.name}, frame {frame}", icon="POINTCLOUD_POINT")
    for text in _state_lines(told):
        box.label(text=text, icon="BLANK1")
    if not told.state.get("alive", 1.0):
        return
    items = {item.name: item for item in crowd.steer.behaviors}
    table = layout.column(align=True)
    for part in told.parts:
        definition = definition_of(items[part.name]) if part.name in items else None
        _draw_part(table, part, "FORCE_FORCE" if definition is None else definition.icon)


def _state_lines(told: AgentAnswer) -> list[str]:
    if not told.state.get("alive", 1.0):
        return [diagnose("AGENT_DEAD").sentence]
    speed = float((told.velocity**2).sum() ** 0.5)
    after = float((told.after**2).sum() ** 0.5)
    lines = [diagnose("AGENT_SPEED", speed=speed, after=after).sentence]
    if abs(told.turn) >= 0.05:
        code = "AGENT_TURNS_LEFT" if told.turn > 0.0 else "AGENT_TURNS_RIGHT"
        lines.append(diagnose(code, turn=abs(told.turn)).sentence)
    words = [f"in {name}" for name in told.groups]
    for name, value in told.state.items():
        label = _STATE.get(name, name)
        if name in _YES_NO:
            words += [label] if value else []
        elif name != "alive":
            words.append(f"{label} {value:g}")
    words += [label.text for label in strokes.way_labels(told)]
    return [*lines, ", ".join(words)] if words else lines


def _draw_part(table: Any, part: Part, icon: str) -> None:
    row = table.row(align=True)
    row.active = part.active
    split = row.split(factor=0.62, align=True)
    split.label(text=part.label, icon=icon)
    right = split.row(align=True)
    right.alignment = "RIGHT"
    if not part.active:
        right.label(text="asks nothing")
        return
    right.label(text="sets it" if part.forced else f"{100.0 * part.share:.0f} %")
    x, y, z = part.value.tolist()
    text = f"{part.speed:.2f} m/s × {part.weight:g}   ({x:.2f}, {y:.2f}, {z:.2f})"
    table.label(text=text, icon="BLANK1")
    if part.neighbors:
        names = ", ".join(str(number) for number in part.neighbors[:MOST_NEIGHBORS])
        more = len(part.neighbors) - MOST_NEIGHBORS
        rest = f" + {more}" if more > 0 else ""
        table.label(text=f"Neighbors {names}{rest}", icon="BLANK1")

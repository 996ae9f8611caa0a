"""Choose an agent by clicking it."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ..crowd.crowds import crowds, why_not_editable
from ..crowd.properties import settings_of
from ..display.display import find_modifier
from ..overlay import answers, seen, strokes
from ..overlay.settings import parse_ids
from ..reading import scene_agents
from .common import (
    PolledOperator,
    Returned,
    SteerOperator,
    why_no_crowd,
    why_not_object_mode,
)

_MOST_NAMED = 100
"""Number of agents that the overlay explains: more would hide one another."""

_ALONG = 9
"""Number of places from the feet to the head at which a body is looked for."""
_NOWHERE = (float("inf"), float("inf"))
REACH = 30.0
"""Distance from the cursor within which an agent is found [px], at the standard size."""


def nearest_on_screen(
    points: Any,
    matrix: Any,
    size: tuple[float, float],
    mouse: tuple[float, float],
    reach: float,
    height: float = 0.0,
    radius: float = 0.0,
) -> tuple[int, tuple[float, float]]:
    """The body that is seen nearest to the cursor; of equally near ones that in front.

    Args:
        points: Places of bodies, shape (point_count, 3).
        matrix: The view's perspective matrix, shape (4, 4).
        size: Of the view [px].
        mouse: In the view [px].
        reach: Bodies farther away than this [px] do not count.
        height: How far bodies reach up from their places.
        radius: How wide they are.

    Returns:
        Row, and by what it is near: distance [px], then depth. It is -1 where none is near.
    """
    up = np.linspace(0.0, height, _ALONG if height > 0.0 else 1)
    places = np.asarray(points)[:, None] + up[:, None] * np.array([0.0, 0.0, 1.0])
    clip = strokes.clip_space(places, matrix)
    front = np.flatnonzero(clip[3] > 0.0)
    if not len(front):
        return -1, _NOWHERE
    seen = (clip[:2, front] / clip[3, front] * 0.5 + 0.5) * np.array(size)[:, None]
    across = np.linalg.norm(np.asarray(matrix)[0, :3]) / clip[3, front] * 0.5 * size[0]
    away = np.hypot(*(seen - np.array(mouse)[:, None]))
    away = np.maximum(away - radius * across, 0.0)
    depth = clip[2, front] / clip[3, front]
    best = np.lexsort((depth, np.rint(away)))[0]
    if away[best] > reach:
        return -1, _NOWHERE
    return int(front[best]) // len(up), (float(np.rint(away[best])), float(depth[best]))


def view_under(context: bpy.types.Context, event: bpy.types.Event) -> tuple[Any, Any] | None:
    """The area and main region of the 3D view under the cursor."""
    for area in context.window.screen.areas:
        if area.type == "VIEW_3D":
            for region in area.regions:
                x, y = event.mouse_x - region.x, event.mouse_y - region.y
                inside = 0 <= x < region.width and 0 <= y < region.height
                if region.type == "WINDOW" and inside:
                    return area, region
    return None


def agents_of(obj: bpy.types.Object, scene: bpy.types.Scene) -> tuple[Any, Any] | None:
    """Ids and places of the living agents that a crowd shows [m]; None where it shows none."""
    frame = seen.seen_frame(obj, scene)
    if frame is None:
        return None
    rows = np.flatnonzero(frame.alive)
    return frame.id[rows], frame.position[rows]


def why_no_picking(context: bpy.types.Context) -> str:
    """Why no agent can be picked; empty when one can."""
    if bpy.app.background or context.window is None:
        return "Agents are picked in a window: type their ids"
    if not any(area.type == "VIEW_3D" for area in context.window.screen.areas):
        return "Open a 3D view to pick agents in"
    if not any(find_modifier(obj) for obj in crowds(context.scene)):
        return "Add a crowd first"
    return ""


class STEER_OT_pick_agent(PolledOperator, bpy.types.Operator):
    """Click an agent to see what moves it; Shift adds another one, Escape ends"""

    bl_idname = "object.steer_pick_agent"
    bl_label = "Pick Agent"
    bl_options = {"REGISTER", "UNDO"}
    needs = (why_no_picking,)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        """Wait for a click."""
        context.window.cursor_modal_set("EYEDROPPER")
        context.workspace.status_text_set(
            "Click an agent to choose it, Shift-click to add one; Escape or right-click ends"
        )
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        """Choose what is clicked; the view can be turned in the meantime."""
        if event.type in {"ESC", "RIGHTMOUSE"}:
            self._end(context)
            return {"CANCELLED"}
        if event.type != "LEFTMOUSE" or event.value != "PRESS":
            return {"PASS_THROUGH"}
        place = view_under(context, event)
        if place is None:
            return {"PASS_THROUGH"}
        picked = self._pick(context, event, *place)
        if picked is None:
            self.report({"INFO"}, "No agent is there: click nearer to one, or press Escape")
            return {"RUNNING_MODAL"}
        choose(context.scene, *picked, add=event.shift)
        if event.shift:
            return {"RUNNING_MODAL"}
        self._end(context)
        return {"FINISHED"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender takes the operator away, as when a file is opened."""
        self._end(context)

    def _end(self, context: bpy.types.Context) -> None:
        context.window.cursor_modal_restore()
        context.workspace.status_text_set(None)

    def _pick(
        self, context: bpy.types.Context, event: bpy.types.Event, area: Any, region: Any
    ) -> tuple[bpy.types.Object, int] | None:
        """The crowd and the id of the agent that is clicked."""
        mouse = (event.mouse_x - region.x, event.mouse_y - region.y)
        matrix = np.array(area.spaces.active.region_3d.perspective_matrix)
        reach = REACH * context.preferences.system.ui_scale
        best, found = _NOWHERE, None
        for obj in crowds(context.scene):
            shown = agents_of(obj, context.scene) if obj.visible_get() else None
            if shown is None:
                continue
            ids, points = shown
            size = (float(region.width), float(region.height))
            told = settings_of(obj)
            body = told.body_height, told.agents.radius
            row, away = nearest_on_screen(points, matrix, size, mouse, reach, *body)
            if away < best:
                best, found = away, (obj, int(ids[row]))
        return found


class OBJECT_OT_steer_show_agents(SteerOperator, bpy.types.Operator):
    """Select the points of these agents, and show in 3D views what each of them is held up by"""

    bl_idname = "object.steer_show_agents"
    bl_label = "Show Agents"
    needs = (why_no_crowd, why_not_object_mode)

    agents: bpy.props.StringProperty(name="Agents", description="Ids of the agents to show")

    def run(self, context: bpy.types.Context) -> None:
        """Choose them in the overlay, and select their points for Edit Mode."""
        obj = context.object
        overlay = context.scene.steer_overlay
        ids = parse_ids(self.agents)
        overlay.crowd, overlay.show = obj, True
        overlay.agents = ", ".join(map(str, ids[:_MOST_NAMED]))
        if not why_not_editable(obj):
            select_points(obj.data, scene_agents.vertices_of(obj, ids))


def select_points(mesh: bpy.types.Mesh, rows: Any) -> None:
    """Select some vertices of a mesh, and nothing else of it."""
    for parts in (mesh.vertices, mesh.edges, mesh.polygons):
        parts.foreach_set("select", np.zeros(len(parts), np.bool_))
    chosen = np.zeros(len(mesh.vertices), np.bool_)
    chosen[rows] = True
    mesh.vertices.foreach_set("select", chosen)


def choose(scene: bpy.types.Scene, crowd: bpy.types.Object, number: int, *, add: bool) -> None:
    """Explain an agent, and show the overlay.

    Args:
        scene: The scene.
        crowd: The agent's crowd.
        number: Its id.
        add: Whether agents already chosen stay chosen, except one of them that is picked again.
    """
    overlay = scene.steer_overlay
    ids = answers.chosen_ids(scene) if add and answers.crowd_of(scene) == crowd else []
    ids = [other for other in ids if other != number] if number in ids else [*ids, number]
    overlay.crowd = crowd
    overlay.agents = ", ".join(str(other) for other in ids)
    overlay.show = True


classes = (STEER_OT_pick_agent, OBJECT_OT_steer_show_agents)

"""Draws the overlay in 3D views: lines in the scene, names and a legend on top.

Batches are made when the frame, the settings or, for arrows of all in view, the view change;
otherwise a redraw only draws them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import blf
import bpy
import gpu
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d
from gpu_extras.batch import batch_for_shader

from . import answers, strokes
from .settings import MOST_CHOSEN

if TYPE_CHECKING:
    from .answers import Explained

ARROW_WIDTH, LINE_WIDTH = 2.6, 1.2
"""Width of lines at the interface's standard size [px]."""
WIDE, FLAT = "POLYLINE_SMOOTH_COLOR", "SMOOTH_COLOR"
"""Blender's shaders for wide lines, and for triangles."""
TEXT_SIZE = 12.0
MOST_NAMES = 40
MOST_KNOWN = 16
"""Views whose batches are kept."""

_handles: list[Any] = []
_made: dict[int, _Made] = {}


class _Made:
    """Batches and texts of one view."""

    def __init__(self, key: Any) -> None:
        self.key = key
        self.lines: list[tuple[Any, float]] = []
        self.heads: Any = None
        self.floor: Any = None
        self.labels: list[strokes.Label] = []


def add() -> None:
    """Add the draw callbacks."""
    if not _handles and not bpy.app.background:
        for draw, moment in ((draw_lines, "POST_VIEW"), (draw_texts, "POST_PIXEL")):
            _handles.append(bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", moment))


def remove() -> None:
    """Remove the draw callbacks."""
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
    forget()


def forget() -> None:
    """Drop all batches."""
    _made.clear()


def _explained(context: bpy.types.Context) -> Explained | None:
    """The explanation that a view shows; None for none."""
    scene = context.scene
    if not scene.steer_overlay.show or not context.space_data.overlay.show_overlays:
        return None
    obj = answers.crowd_of(scene)
    return None if obj is None else answers.get(obj)


def _make(found: Explained, told: Any, key: Any, matrix: Any) -> _Made:
    """Batches and names for one view."""
    made, ids, answer = _Made(key), key[1], found.answer
    assert answer is not None  # checked by `_current`
    if told.extent == "IN_VIEW":
        rows = strokes.in_view(answer.agents.position, matrix, told.limit)
        rows = rows[answer.after.alive[rows] > 0]
    else:
        rows = np.flatnonzero(np.isin(answer.agents.id, ids))
    lines = []
    for number in ids[-MOST_CHOSEN:]:
        agent = answers.agent(found, number, looks=True)
        if agent is None:
            continue
        lines += [strokes.looks(agent, told.parts), strokes.ring(answer, agent.row)]
        start = strokes.starts_of(answer, [agent.row])[0]
        made.labels.append(strokes.Label(start, f"Agent {number}", strokes.VELOCITY))
        if "WAYS" in told.parts:
            made.labels += strokes.way_labels(agent)
        # of several agents the names would lie on top of each other
        if number == ids[-1] and {"NAMES", "ARROWS"} <= told.parts:
            made.labels += strokes.labels_of(agent, start, told.scale)
    if "SURFACE" in told.parts:
        made.floor = _batch(found.floor.cells, "TRIS", FLAT)
    made.lines.append((_batch(strokes.joined(lines)), LINE_WIDTH))
    if "ARROWS" in told.parts and len(rows):
        arrows = strokes.crowd_arrows(answer, rows, told.scale, ids)
        made.lines.append((_batch(arrows.shafts), ARROW_WIDTH))
        made.heads = _batch(arrows.heads, "TRIS", FLAT)
    return made


def _batch(made: strokes.Strokes, kind: str = "LINES", shader: str = WIDE) -> Any:
    if not len(made.points):
        return None
    content: dict[str, Any] = {"pos": made.points, "color": made.colors}
    return batch_for_shader(gpu.shader.from_builtin(shader), kind, content)


def _current(context: bpy.types.Context) -> _Made | None:
    """Batches and texts of a view, made again where something changed."""
    found = _explained(context)
    if found is None or found.answer is None:
        return None
    told, region, matrix = context.scene.steer_overlay, context.region, None
    if told.extent == "IN_VIEW":
        matrix = np.array(context.region_data.perspective_matrix)
    ids = answers.chosen_ids(context.scene)
    seen = b"" if matrix is None else matrix.tobytes()
    choices = (told.extent, told.limit, frozenset(told.parts), told.scale)
    key = (found.revision, ids, choices, seen)
    number = region.as_pointer()
    made = _made.get(number)
    if made is None or made.key != key:
        if len(_made) >= MOST_KNOWN:
            _made.clear()
        made = _made[number] = _make(found, told, key, matrix)
    return made


def draw_lines() -> None:
    """Draw the lines in the scene."""
    context = bpy.context
    made = _current(context)
    if made is None:
        return
    scale = context.preferences.system.ui_scale
    shader = gpu.shader.from_builtin(WIDE)
    gpu.state.blend_set("ALPHA")
    if made.floor is not None:
        # walls hide what is behind them
        gpu.state.depth_test_set("LESS_EQUAL")
        made.floor.draw(gpu.shader.from_builtin(FLAT))
        gpu.state.depth_test_set("NONE")
    shader.bind()
    shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
    for batch, width in made.lines:
        if batch is not None:
            shader.uniform_float("lineWidth", width * scale)
            batch.draw(shader)
    if made.heads is not None:
        made.heads.draw(gpu.shader.from_builtin(FLAT))
    gpu.state.blend_set("NONE")


def draw_texts() -> None:
    """Draw names, the legend, and the reason if there is nothing to show."""
    context = bpy.context
    found = _explained(context)
    if found is None:
        return
    scale = context.preferences.system.ui_scale
    blf.size(0, TEXT_SIZE * scale)
    blf.enable(0, blf.SHADOW)
    blf.shadow(0, 5, 0.0, 0.0, 0.0, 0.9)
    made = _current(context)
    if made is not None:
        _draw_labels(context, made.labels, scale)
    if context.scene.steer_overlay.legend:
        _draw_legend(context, found, scale)
    blf.disable(0, blf.SHADOW)


def _draw_labels(context: bpy.types.Context, labels: list[strokes.Label], scale: float) -> None:
    tips, sizes, texts = [], [], []
    for label in labels:
        place = location_3d_to_region_2d(context.region, context.region_data, label.place.tolist())
        if place is not None:
            width, height = blf.dimensions(0, label.text)
            # the agent's own name is below it, the names of behaviors are beside their arrows
            below = -2.2 * height if label.color == strokes.VELOCITY else -0.3 * height
            tips.append((place[0] + 6.0 * scale, place[1] + below))
            sizes.append((width + 4.0, height * 1.4))
            texts.append(label)
    places = strokes.placed(tips, sizes, MOST_NAMES)
    _draw_plates([(p, s) for p, s in zip(places, sizes, strict=True) if p is not None])
    for label, place in zip(texts, places, strict=True):
        if place is not None:
            _write(label.text, place, label.color)


def _draw_plates(boxes: list[tuple[tuple[float, float], tuple[float, float]]]) -> None:
    """Dark background of texts, so that they are readable everywhere."""
    if not boxes:
        return
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    corners: list[tuple[float, float]] = []
    triangles: list[tuple[int, int, int]] = []
    for (x, y), (width, height) in boxes:
        first, low = len(corners), y - 0.25 * height
        left, right, high = x - 3, x + width, low + height
        corners += [(left, low), (right, low), (right, high), (left, high)]
        triangles += [(first, first + 1, first + 2), (first, first + 2, first + 3)]
    batch = batch_for_shader(shader, "TRIS", {"pos": corners}, indices=triangles)
    gpu.state.blend_set("ALPHA")
    shader.uniform_float("color", (0.08, 0.08, 0.08, 0.6))
    batch.draw(shader)
    gpu.state.blend_set("NONE")


def _draw_legend(context: bpy.types.Context, found: Explained, scale: float) -> None:
    left = 20.0 * scale
    for region in context.area.regions:
        if region.type == "TOOLS" and region.alignment == "LEFT":
            left += region.width
    rows = strokes.legend(found.answer) if found.answer else []
    color = strokes.OTHER if found.answer else strokes.VELOCITY
    rows += [(note.sentence, color) for note in found.notes]
    for number, (text, color) in enumerate(reversed(rows)):
        _write(text, (left, (16.0 + number * 1.5 * TEXT_SIZE) * scale), color)


def _write(text: str, place: tuple[float, float], color: strokes.Color) -> None:
    blf.color(0, *color[:3], 1.0)
    blf.position(0, *place, 0.0)
    blf.draw(0, text)

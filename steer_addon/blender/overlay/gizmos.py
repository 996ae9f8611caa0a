"""Handles of the active crowd in the 3D view: its target, a behavior's circle, its container.

Handles of a behavior are those of the entry that is active in the list, and the behavior declares
them (see `core.sensing.declare`). They change only values of the panel: the place or size of an
object, or a parameter.
"""

from __future__ import annotations

from typing import Any

import bpy
from mathutils import Matrix, Vector

from ...core.behaviors import REGISTRY
from ...core.results import frames
from ...core.sensing.declare import Circle
from .. import app_handlers
from ..crowd.crowds import is_crowd, why_not_editable
from ..crowd.properties import uses_targets
from ..crowd.slots import is_chosen
from . import answers, seen

GOAL, CIRCLE, REGION = (0.10, 0.78, 0.52), (0.34, 0.71, 0.98), (1.00, 0.42, 0.16)
LEAST = 0.01
"""Smallest half size of a box that handles allow [m]."""


def active_entry(obj: bpy.types.Object) -> Any:
    """The entry that is active in the list; None for none, or for a type of another version."""
    steer = obj.steer
    inside = 0 <= steer.active_behavior < len(steer.behaviors)
    entry = steer.behaviors[steer.active_behavior] if inside else None
    return entry if entry is not None and entry.type in REGISTRY else None


def target_of(obj: bpy.types.Object) -> bpy.types.Object | None:
    """Target object of the crowd or its active entry; None if a handle has no place."""
    entry = active_entry(obj)
    own = entry is not None and uses_targets(entry) and entry.use_own_target
    slot = entry if own else obj.steer
    target = slot.target_object if slot.target_kind == "OBJECT" else None
    return None if target is None or not _can_move(target) else target


def _can_move(obj: bpy.types.Object) -> bool:
    return obj.library is None and obj.override_library is None and not all(obj.lock_location)


def box_of(obj: bpy.types.Object) -> bpy.types.Object | None:
    """The container of the active entry, if it is the box of one editable object."""
    entry = active_entry(obj)
    if entry is None:
        return None
    if REGISTRY[entry.type].container_shape(getattr(entry, entry.type)) != "BOX":
        return None
    if entry.source_kind != "OBJECT" or not is_chosen(entry, "source"):
        return None
    box = entry.source_object
    return box if _can_move(box) and not any(box.lock_scale) else None


def circle_of(obj: bpy.types.Object) -> tuple[Any, Circle] | None:
    """Parameters of the active entry, and its circle with handles; None if it has none."""
    entry = active_entry(obj)
    if entry is None:
        return None
    settings = getattr(entry, entry.type)
    circles = [c for c in REGISTRY[entry.type].circles if c.moves and c.counts(settings)]
    return (settings, circles[0]) if circles else None


def faces_of(box: bpy.types.Object) -> list[tuple[Vector, Vector]]:
    """Middle [m] and outward unit normal of each face of an object's bounding box."""
    if box.type == "EMPTY":
        low, high = (Vector([sign * box.empty_display_size] * 3) for sign in (-1.0, 1.0))
    else:
        columns = list(zip(*box.bound_box, strict=True))
        low, high = Vector(list(map(min, columns))), Vector(list(map(max, columns)))
    place, middle = box.matrix_world, (low + high) / 2.0
    found = []
    for axis in range(3):
        for end in (low, high):
            face = middle.copy()
            face[axis] = end[axis]
            away = place @ face - place @ middle
            found.append((place @ face, away.normalized()))
    return found


def stretched(place: Matrix, face: Vector, normal: Vector, size: float, by: float) -> Matrix:
    """An object's matrix after one face of its box moved and the opposite face stayed.

    Args:
        place: The matrix before.
        face: Middle of the face [m].
        normal: Unit normal of the face.
        size: From face to face [m].
        by: Distance that the face moves along its normal [m].
    """
    factor = max(size + by, 2.0 * LEAST) / max(size, 2.0 * LEAST)
    fixed = Matrix.Translation(face - normal * size)
    return fixed @ Matrix.Scale(factor, 4, normal) @ fixed.inverted() @ place


def facing(place: Vector, along: Vector) -> Matrix:
    """A matrix at a place whose Z points along a direction."""
    return Matrix.Translation(place) @ along.to_track_quat("Z", "Y").to_matrix().to_4x4()


def place_and_heading(
    obj: bpy.types.Object, scene: bpy.types.Scene
) -> tuple[Vector, Vector] | None:
    """Position [m] and heading of the agent whose circle is shown."""
    frame = seen.seen_frame(obj, scene)
    if frame is None or not len(frame.id):
        return None
    chosen = [n for n in answers.chosen_ids(scene) if n in frame.id]
    row = int((frame.id == chosen[-1]).argmax()) if chosen else 0
    ahead = frames.forward_vector(obj.steer.motion.forward_axis)
    return Vector(frame.position[row]), Vector(frames.turned(frame.rotation[[row]], ahead)[0])


class VIEW3D_GGT_steer_crowd(bpy.types.GizmoGroup):
    """Handles of a crowd"""

    bl_idname = "VIEW3D_GGT_steer_crowd"
    bl_label = "Crowd Handles"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT", "SHOW_MODAL_ALL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """On crowds in Object Mode, where gizmos are shown."""
        obj = context.object
        space = context.space_data
        shown = getattr(space, "show_gizmo", False) and space.show_gizmo_context
        if not shown or context.mode != "OBJECT" or not is_crowd(obj) or why_not_editable(obj):
            return False
        return bool(circle_of(obj) or target_of(obj) or box_of(obj))

    def setup(self, context: bpy.types.Context) -> None:
        """Make all handles; those without a place are hidden."""
        self.target = self._new("GIZMO_GT_move_3d", GOAL, 0.22)
        self.target.draw_options = {"FILL_SELECT", "ALIGN_VIEW"}
        self.target.target_set_handler("offset", get=self._get_target, set=self._set_target)
        self.circle = self._new("GIZMO_GT_dial_3d", CIRCLE, 1.0)
        self.circle.hide_select = True
        self.circle.use_draw_scale = False
        self.arms = {role: self._new("GIZMO_GT_arrow_3d", CIRCLE, 0.6) for role in _ARMS}
        self.faces = []
        self.stretch: dict[int, tuple[Matrix, Vector, Vector, float]] = {}
        self.was_dragged = False
        for number in range(6):
            arrow = self._new("GIZMO_GT_arrow_3d", REGION, 0.5)
            arrow.draw_style = "BOX"
            arrow.target_set_handler(
                "offset",
                get=lambda: 0.0,
                set=lambda value, number=number: self._set_face(number, value),
            )
            self.faces.append(arrow)
        self.refresh(context)

    def _new(self, kind: str, color: tuple[float, float, float], size: float) -> Any:
        gizmo = self.gizmos.new(kind)
        gizmo.color, gizmo.alpha = color, 0.8
        gizmo.color_highlight, gizmo.alpha_highlight = (1.0, 1.0, 1.0), 1.0
        gizmo.scale_basis = size
        gizmo.use_draw_modal = True
        gizmo.line_width = 2.0
        return gizmo

    def refresh(self, context: bpy.types.Context) -> None:
        """Give the arrows of the circle the parameters of the entry that is active now."""
        obj = context.object
        found = circle_of(obj) if is_crowd(obj) else None
        if found is not None:
            settings, circle = found
            for role, arrow in self.arms.items():
                name = getattr(circle, role)
                if name and not arrow.is_modal:
                    arrow.target_set_prop("offset", settings, name)

    def draw_prepare(self, context: bpy.types.Context) -> None:
        """Move every handle to its place; a dragged handle stays in place."""
        obj = context.object
        if not is_crowd(obj):
            return
        self._remember(
            any(gizmo.is_modal for gizmo in (self.target, *self.arms.values(), *self.faces))
        )
        self.target.hide = target_of(obj) is None
        self._place_circle(obj, context.scene)
        box = box_of(obj)
        dragging = any(arrow.is_modal for arrow in self.faces)
        for number, arrow in enumerate(self.faces):
            arrow.hide = box is None
            if box is not None and not dragging:
                places = faces_of(box)
                (face, normal), (other, _) = places[number], places[number ^ 1]
                size = (face - other).length
                self.stretch[number] = (box.matrix_world.copy(), face, normal, size)
                arrow.matrix_basis = facing(face, normal)

    def _remember(self, dragged: bool) -> None:
        """Push an undo step after each drag, as Blender pushes none."""
        if self.was_dragged and not dragged:
            bpy.app.timers.register(_push_undo, first_interval=0.0)
        self.was_dragged = dragged

    def _place_circle(self, obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
        moved = circle_of(obj)
        found = place_and_heading(obj, scene) if moved is not None else None
        for gizmo in (self.circle, *self.arms.values()):
            gizmo.hide = found is None
        if found is None or moved is None:
            return
        settings, circle = moved
        place, heading = found
        up = Vector((0.0, 0.0, 1.0))
        side: Any = heading.cross(up)
        side = side.normalized() if side.length > 1.0e-3 else Vector((1.0, 0.0, 0.0))
        ahead = getattr(settings, circle.distance) if circle.distance else 0.0
        center = place + heading * ahead
        self.arms["distance"].hide = not circle.distance
        self.circle.matrix_basis = facing(center, side.cross(heading))
        self.circle.scale_basis = max(getattr(settings, circle.radius), LEAST)
        self.arms["distance"].matrix_basis = facing(place, heading)
        self.arms["radius"].matrix_basis = facing(center, side)

    def _get_target(self) -> Any:
        target = target_of(bpy.context.object)
        return (0.0, 0.0, 0.0) if target is None else target.matrix_world.translation

    def _set_target(self, value: Any) -> None:
        target = target_of(bpy.context.object)
        if target is not None:
            place = target.matrix_world.copy()
            place.translation = value
            target.matrix_world = place

    def _set_face(self, number: int, value: float) -> None:
        box = box_of(bpy.context.object)
        if box is not None and number in self.stretch:
            box.matrix_world = stretched(*self.stretch[number], by=value)


def unregister() -> None:
    """Remove the timer."""
    app_handlers.remove_timers(_push_undo)


def _push_undo() -> None:
    # timers run without a window context, where no undo step can be pushed
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
        bpy.ops.ed.undo_push(message="Move Crowd Handle")


_ARMS = ("distance", "radius")
"""The properties of a circle that have an arrow, see `Circle`."""

classes = (VIEW3D_GGT_steer_crowd,)

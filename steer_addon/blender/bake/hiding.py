"""Keys that hide dead agents of a bake, as a user would set them by hand.

*Show in Viewports* and *Show in Renders* are keyed off, held until the next key. They hide only one
object, so if it has children (a rig, a hierarchy), its scale is keyed to 0 as well,
which all children inherit.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

SHOWN = ("hide_viewport", "hide_render")


def hide_when_dead(
    curves: Any,
    carrier: bpy.types.Object,
    numbers: NDArray[np.int64],
    alive: NDArray[np.bool_],
    held: int,
    *,
    scaled: bool,
) -> int:
    """Key an object to be hidden while its agent is dead; one that always lives gets no keys.

    Args:
        curves: The curves of its action; the new ones are added.
        carrier: The object.
        numbers: Frame numbers, shape (frame_count,).
        alive: Whether the agent lives at these frames, shape (frame_count,).
        held: Blender's number for keys that are held until the next.
        scaled: Key the scale too.

    Returns:
        Number of keys that were set.
    """
    if alive.all():
        return 0
    kept = np.flatnonzero(np.concatenate([[True], alive[1:] != alive[:-1]]))
    channels = [(path, 0, np.where(alive[kept], 0.0, 1.0)) for path in SHOWN]
    if scaled:
        channels += [("scale", i, alive[kept] * size) for i, size in enumerate(carrier.scale)]
    for path, index, values in channels:
        curve = curves.new(path, index=index)
        points = curve.keyframe_points
        points.add(len(kept))
        keys = np.stack([numbers[kept], values], axis=1).astype(np.float32)
        points.foreach_set("co", keys.ravel())
        points.foreach_set("interpolation", np.full(len(kept), held, np.uint8))
        curve.update()
    carrier.hide_viewport = carrier.hide_render = not alive[0]
    return len(channels) * len(kept)

"""The length unit of a scene: what Steer adds is as large as it says, in meters.

A crowd is simulated in the units of its scene. So new crowds, presets and new behaviors are written
in these; Blender shows them in meters.
"""

from __future__ import annotations

import bpy


def units_per_meter(scene: bpy.types.Scene) -> float:
    """How many units of a scene a meter has; 1 unless its *Unit Scale* says otherwise."""
    units = scene.unit_settings
    if units.system == "NONE":
        return 1.0
    # the scale is a 32-bit number
    return float(f"{1.0 / units.scale_length:.6g}")


def meters_per_unit(scene: bpy.types.Scene) -> float:
    """How many meters a unit of a scene has."""
    return 1.0 / units_per_meter(scene)

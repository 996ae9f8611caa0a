"""The commands, one module each: `NAME`, `add_arguments(parser)` and `run(options) -> Result`.

What they need of Blender waits behind doors: `steer presets` works without.
"""

from . import bake, behaviors, demo, presets, render, scene, simulate

MODULES = (scene, demo, simulate, bake, render, presets, behaviors)
"""In the order of the help text."""

"""The commands, one module each: `NAME`, `add_arguments(parser)` and `run(options) -> Result`.

`IN_BLENDER` says that all that a command does needs Blender, which is then loaded before.

Modules of Blender wait behind doors: `steer presets` works without Blender.
"""

from . import bake, behaviors, demo, presets, render, scene, simulate

MODULES = (scene, demo, simulate, bake, render, presets, behaviors)
"""In the order of the help text."""

"""The commands, one module each: `NAME`, `add_arguments(parser)` and `run(options) -> Result`.

Blender is loaded before, unless `IN_BLENDER = False` says that a command needs none, or
`IN_BLENDER(options)` that it does not this time.

Modules of Blender wait behind doors: `steer presets` works without Blender.
"""

from . import (
    bake,
    behaviors,
    character,
    compile,
    demo,
    extract,
    info,
    presets,
    render,
    scene,
    simulate,
    ways,
)
from .farm import batch, pick, report, submit

MODULES = (
    scene,
    demo,
    character,
    info,
    ways,
    extract,
    simulate,
    bake,
    render,
    batch,
    report,
    pick,
    submit,
    presets,
    behaviors,
    compile,
)
"""In the order of the help text."""

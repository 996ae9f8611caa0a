"""Native playback: a baked crowd as a file that Blender plays by itself, without Steer.

`attach` writes the file from a cache and lets the crowd's modifier show it, `detach` goes back to
the live crowd, and both exchange the modifier's state object; `relink` changes the path in it when
a file was moved. The state object of a baked crowd is a point cloud with a Mesh Sequence Cache
modifier (`crowd.usdc` in the cache's folder), or, in a Blender without USD, a mesh with a Mesh
Cache modifier (`crowd.pc2`), which holds positions only.
"""

from .linking import (
    Played,
    attach,
    detach,
    forget,
    make_state,
    play,
    relink,
    remove_crowd,
    show,
    write,
)

__all__ = [
    "Played",
    "attach",
    "detach",
    "forget",
    "make_state",
    "play",
    "relink",
    "remove_crowd",
    "show",
    "write",
]

"""Frames of a crowd as files that Blender or others read; playback and exports share these.

A writer, here and in `export`, takes ascending frames one by one, so that memory does not grow with
their number, the file to write, and the header that all frames share. It returns the number of
frames. It raises an OutputError if the file cannot be written, a SceneError if there are no frames
or this build of Blender lacks the format, and an AgentError if an identity occurs twice in a frame
or appears without notice; an earlier file then stays as it was.
"""

from __future__ import annotations

from ...core.doors import load_on_use

load_on_use(__name__, "files", "mesh_cache", "usd_points")

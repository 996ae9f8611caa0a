"""Frames of a crowd as files that Blender or others read; playback and exports share these.

A writer, here and in `export`, takes ascending frames, the file to write, and the header that all
frames share. Most writers take the frames one by one, so that memory does not grow with their
number. A writer returns the number of frames. It raises an OutputError if the file cannot be
written, a SceneError if there are no frames or this build of Blender lacks the format, and, for a
format that keeps an agent in its row, an AgentError if an identity occurs twice in a frame or
appears without notice; an earlier file then stays as it was.
"""

from __future__ import annotations

from ...core.doors import load_on_use

load_on_use(__name__, "files", "mesh_cache", "usd_points")

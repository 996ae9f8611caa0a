"""Test meshes from files, read without Blender."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

SHARED = Path(__file__).resolve().parents[2].parent / "shared"


def shared_triangles(name: str) -> np.ndarray:
    """Triangles of a shared OBJ file turned from y up to z up, (t, 3, 3); skips without it."""
    path = SHARED / "meshes" / name
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    return read_obj(path)


def read_obj(path: Path) -> np.ndarray:
    """Triangles of an OBJ file turned from y up to z up; polygons become fans."""
    vertices, faces = [], []
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == "v":
            vertices.append([float(word) for word in words[1:4]])
        elif words[0] == "f":
            corners = [int(word.split("/")[0]) for word in words[1:]]
            corners = [c - 1 if c > 0 else len(vertices) + c for c in corners]
            faces += [[corners[0], corners[k], corners[k + 1]] for k in range(1, len(corners) - 1)]
    points = np.array(vertices, np.float32)[:, [0, 2, 1]] * np.float32([1, -1, 1])
    return points[np.array(faces)]

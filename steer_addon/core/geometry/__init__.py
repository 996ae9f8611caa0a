"""Triangles, trees of boxes, grids and neighbors: questions about shapes and distances."""

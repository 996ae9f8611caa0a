"""Triangles, trees of boxes, grids and neighbors: questions about shapes and distances.

Trees keep what a query reads together in one row. A lattice (`clearance`) knows how far from a
place nothing can be met, and spares most walks through a tree; it changes no answer.
"""

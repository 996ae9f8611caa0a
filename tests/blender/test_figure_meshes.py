"""Meshes of built-in characters: cloth and caps end with edges that every renderer sees."""

from __future__ import annotations

from steer_addon.blender.making import figures


def test_edges_of_flat_faces_are_sharp():
    mesh = figures.standing("man", "Man").data
    flat = {key for face in mesh.polygons if not face.use_smooth for key in face.edge_keys}
    assert flat
    assert {edge.key for edge in mesh.edges if edge.use_edge_sharp} == flat
    assert not mesh.validate()

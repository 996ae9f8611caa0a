"""The Crowd node group of a second file in a session is a copy of the first one's."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.display import display, kept_group, nested_group  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def described(group):
    """All that a group, and the one in it, is made of."""
    inner = nested_group.inner_of(group)
    return one(group), one(inner)


def one(group):
    sockets = [
        (s.name, s.identifier, s.socket_type, getattr(s, "default_value", None))
        for s in nested_group.sockets_of(group)
    ]
    nodes = {node.name: node.bl_idname for node in group.nodes}
    links = [
        (a.from_node.name, a.from_socket.identifier, a.to_node.name, a.to_socket.identifier)
        for a in group.links
    ]
    return group.name, sockets, nodes, sorted(links), dict(group.items())


def test_without_its_file_it_is_built_and_then_the_same_and_knows_no_other_file(
    monkeypatch, tmp_path
):
    monkeypatch.setattr(kept_group, "_kept", [tmp_path / "gone.blend"])
    group = display.ensure_node_group()
    assert len(group.nodes) == 3
    built = described(group)
    bpy.ops.wm.read_homefile(use_empty=True)
    group = display.ensure_node_group()
    assert kept_group._kept and described(group) == built
    for tree in bpy.data.node_groups:
        assert tree.library is None and tree.library_weak_reference is None
    assert not bpy.data.libraries and len(bpy.data.node_groups) == 2

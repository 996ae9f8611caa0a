"""How a scene becomes a World, and how results become Blender data."""

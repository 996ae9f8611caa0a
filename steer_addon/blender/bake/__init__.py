"""Bakes: results of a crowd as Blender data that plays without the extension."""

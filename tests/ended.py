"""The end of code that runs in a Python of its own with Blender's module."""

ENDED = """
import os, sys
sys.stdout.flush()
sys.stderr.flush()
os._exit(0)
"""
"""Appended, since the wheel of bpy 4.5 may hang or crash while Python takes itself down."""

"""Tests with Blender in the test's process."""

from tests.one_thread import import_blender

import_blender()

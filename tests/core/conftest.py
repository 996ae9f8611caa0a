"""Core tests need no Blender; what they change of the process is put back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from steer_addon.core import jit


@pytest.fixture(autouse=True)
def _same_threads() -> Iterator[None]:
    before = jit.threads()
    yield
    jit.set_threads(before)

"""Core tests need no Blender; what they change of the process is put back."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from steer_addon.core.compiled import jit


@pytest.fixture
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait until the disk has everything: no test cuts the power."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


@pytest.fixture(autouse=True)
def _same_threads() -> Iterator[None]:
    before = jit.threads()
    yield
    jit.set_threads(before)

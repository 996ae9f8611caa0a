"""Parts of kernels: machine code is made of whole kernels only, and nothing else changes."""

from __future__ import annotations

import gc
import math
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from steer_addon.core.compiled import jit, jit_parts
from steer_addon.core.compiled.jit import Kernel

pytestmark = pytest.mark.skipif(not jit.status().compiled, reason="needs numba")


def third(x: float) -> float:
    """Function that both others call."""
    return x / 3.0


def second(x: float) -> float:
    """A part that calls another one."""
    return math.sqrt(third(x)) + third(2.0 * x)


def first(x: float) -> float:
    """Function that Python calls; it reaches `third` in two ways."""
    return second(x) - third(x)


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Kernel]]:
    """The functions above as kernels that call one another, none on disk."""
    monkeypatch.setattr(jit._state, "places", None)
    plain = (first, second, third)
    made = [Kernel(function) for function in plain]
    with monkeypatch.context() as patched:
        for function, kernel in zip(plain, made, strict=True):
            patched.setitem(globals(), function.__name__, kernel)
        yield made


def as_written(x: float) -> float:
    """The same in one expression."""
    return (math.sqrt(x / 3.0) + 2.0 * x / 3.0) - x / 3.0


def test_a_kernel_takes_in_its_parts(kernels: list[Kernel]) -> None:
    assert [kernels[0](x) for x in (0.1, 2.0, 7e9)] == [as_written(x) for x in (0.1, 2.0, 7e9)]


def test_only_whole_kernels_become_machine_code(kernels: list[Kernel]) -> None:
    made = []
    codegen = import_module("numba.core.codegen")
    add = codegen.JITCPUCodegen._add_module

    def noted(self: Any, module: Any) -> None:
        made.append(module.name)
        add(self, module)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(codegen.JITCPUCodegen, "_add_module", noted)
        kernels[0](1.0)
    assert made == ["first"]


def test_a_part_may_be_called_by_python_too(kernels: list[Kernel]) -> None:
    kernels[0](1.0)
    assert kernels[1](6.0) == math.sqrt(2.0) + 4.0


def test_another_numba_compiles_as_it_does(
    kernels: list[Kernel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jit_parts, "KNOWN", "9.")
    jit_parts.compiler.cache_clear()
    try:
        assert jit_parts.compiler(True) is import_module("numba.core.compiler").Compiler
        assert kernels[0](2.0) == as_written(2.0)
    finally:
        jit_parts.compiler.cache_clear()


def test_garbage_is_looked_for_again_after_compiling(kernels: list[Kernel]) -> None:
    seen = []
    pause = jit_parts.Pause()
    pause.begin()
    pause.begin()
    seen.append(gc.isenabled())
    pause.end()
    seen.append(gc.isenabled())
    pause.end()
    assert (seen, gc.isenabled()) == ([False, False], True)
    with pytest.raises(import_module("numba.core.errors").TypingError):
        kernels[0]("no number")
    assert gc.isenabled()


def test_who_looks_for_no_garbage_is_left_alone() -> None:
    gc.disable()
    try:
        pause = jit_parts.Pause()
        pause.begin()
        pause.end()
        assert not gc.isenabled()
    finally:
        gc.enable()

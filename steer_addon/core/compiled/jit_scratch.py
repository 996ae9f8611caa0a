"""How numba compiles `jit.scratch`; numba itself is imported when the first kernel asks for it."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

CACHE_LINE = 64
"""Bytes of a cache line: when rows begin at one, no wide load or store touches two."""


@cache
def numba_type() -> Any:
    """Numba's type of `scratch`."""
    cgutils = import_module("numba.core.cgutils")
    types = import_module("numba.core.types")
    errors = import_module("numba.core.errors")
    arrays = import_module("numba.np.arrayobj")
    typing = import_module("numba.core.registry").cpu_target.typing_context

    @import_module("numba.extending").intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
    def scratch(typing_context: Any, rows: Any, columns: Any) -> Any:
        for size in (rows, columns):
            if not isinstance(size, types.IntegerLiteral):
                raise errors.RequireLiteralValue("scratch takes sizes that are constants")
        shape = (rows.literal_value, columns.literal_value)
        array = types.Array(types.float64, 2, "C")

        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            item = context.get_value_type(types.float64)
            count = context.get_constant(types.intp, shape[0] * shape[1])
            data = cgutils.alloca_once(builder, item, size=count)
            data.align = CACHE_LINE
            made = arrays.make_array(array)(context, builder)
            sizes = [context.get_constant(types.intp, n) for n in shape]
            steps = [context.get_constant(types.intp, n) for n in (8 * shape[1], 8)]
            arrays.populate_array(
                made,
                data=data,
                shape=sizes,
                strides=steps,
                itemsize=context.get_constant(types.intp, 8),
                meminfo=None,
            )
            return made._getvalue()

        return array(rows, columns), codegen

    # numba sees definitions that are made after its start only when it refreshes
    typing.refresh()
    return typing.resolve_value_type(scratch)

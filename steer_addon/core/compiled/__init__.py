"""The only place that knows numba: kernels, their threads, and what they are kept by on disk.

A kernel is a scalar function over a range of agents, marked `@kernel` and compiled by numba when it
is first called. To import Steer, or to enable the extension, does not load numba. Kernels release
Python's lock and run on a thread pool of Steer's own, so that no second threading layer meets
Blender's. Without numba the same functions run as plain Python: right, and slow.

What makes a kernel quick:

- A view of the world holds tens of arrays, and the cost of a call counts as much as the
  computation. Kernels make no arrays and count no references: `jit.scratch` gives them working
  memory, and the few that do make arrays are marked `@allocating_kernel`. Helpers that take a whole
  view become part of their caller.
- Numbers that are weighed again and again, as the neighbors in `avoid_neighbors`, stand in a table
  of scratch with a line for each number and a column for each neighbor. A loop over columns without
  a branch becomes instructions that take eight at once, with the bits of one at a time. `wander`
  and corridors use such tables with a column for each of 64 agents. Functions that such a loop
  calls are marked `@inlined_kernel`.
- Scratch has no owner: an array of it must not leave the function that asked for it.

Compiled kernels are kept on disk, a file for each, and come with the package (`jit_store`). They
are made for one level of processors (`jit_target`). Numba watches only the file that a function
stands in, so a kernel's file is named after a digest of the module's text, of all that it imports
from this package, and of the views (`jit_sources`): an edit compiles what depends on it, and
nothing else. A function that only kernels call is a part of those (`jit_parts`). A behavior
with several methods has a kernel for each; only those in use are compiled.

With a window nobody should wait for that: inside of `jit.deferring()` a kernel that is neither in
memory nor on disk raises instead of compiling, and `blender/live/compiling.py` has it compiled by
other processes.
"""

from ..doors import load_on_use

load_on_use(__name__, "jit_parts", "jit_sources", "jit_store", "jit_target")

"""A bake as a generator: its caller decides how many steps to take, and when to stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator

from ..errors import OutputError
from ..results.frames import Frame
from ..step.simulation import Progress
from .chunks import States
from .writer import CacheWriter

Step = tuple[Frame, States] | None
"""A frame with the agents after it; None for work without a frame."""


def bake(
    steps: Generator[Step, None, None],
    writer: CacheWriter,
    clock: Callable[[], float] = time.perf_counter,
) -> Generator[Progress, None, None]:
    """Write frames as they come, and finish with the last one.

    The frames that exist are kept if the generator is closed, which stops the bake, and if `steps`
    or the disk fail. `CacheWriter.resume` continues from there.

    Args:
        steps: The frames from the writer's `next_frame` to its end; closed at the end.
        writer: Writer of the frames; closed at the end.
        clock: Time [s], for the estimate of the time left.

    Yields:
        The progress after each step; the time left is 0 while it is not known.

    Raises:
        SteerError: `steps` failed, or the disk is full or gone.
    """
    header = writer.header
    total = header.frame_end - header.frame_start + 1
    kept = done = writer.next_frame - header.frame_start
    start = last = warm = clock()
    try:
        for step in steps:
            if step is None:
                # reading kept frames says nothing about how long new ones take
                start += clock() - last
            else:
                writer.add(*step)
                done += 1
            last = clock()
            if done == kept + 1:
                # the first step loads and compiles modules that the others find
                warm = last
            more = done - kept - 1
            pace = (last - warm) / more if more > 0 else 0.0
            yield Progress(done, total, last - start, pace * (total - done))
        writer.finish()
    except OutputError:
        raise
    except BaseException:
        writer.stop()
        raise
    finally:
        steps.close()
        writer.close()

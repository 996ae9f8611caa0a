"""The process of a command: its standard streams, and what Ctrl-C and SIGTERM do to it."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
LIFELINE = "STEER_LIFELINE"
_AGAIN = 0.02
"""Time after which a signal that came during an import is sent again [s]."""


class _Cancelling:
    """Handler of signals: cancels by a `KeyboardInterrupt`, or notes that it should.

    Attributes:
        held: Whether a signal is only noted.
        asked: Whether there was one.
        acts: Whether the command is being cancelled.
        resent: Whether one that came during an import comes again.
    """

    def __init__(self) -> None:
        self.held = self.asked = self.acts = self.resent = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        if self.held:
            return
        if _imports(frame):
            # modules that are cut short stay half made, and USD prints a traceback of its own
            self.resent = True
            later = threading.Timer(_AGAIN, _send, (number,))
            later.daemon = True
            later.start()
            return
        known, self.resent = self.resent and self.acts, False
        if not known:
            self.acts = True
            raise KeyboardInterrupt


def _send(number: int) -> None:
    """Send a signal to the main thread, which may sleep, from another one."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        signal.raise_signal(number)


def _imports(frame: FrameType | None) -> bool:
    """Whether a module is being imported in this frame or in one that called it."""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


_cancelling = _Cancelling()


def run(main: Callable[[], int]) -> NoReturn:
    """Run a command, and end the process.

    Args:
        main: Runs the command; returns the exit code.
    """
    try:
        _begin()
        code = main()
        # the result is out: nothing can be cancelled any more
        _cancelling.held = True
    except BaseException:
        # an import that was cut short may raise anything
        if not is_cancelled():
            raise
        tell("steer: cancelled")
        if "--json" in sys.argv and sys.stdout is not None:
            # the command line was not read yet; later the command says so
            with suppress(OSError, ValueError):
                print('{"error": "cancelled"}')
        code = 1
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    arrived = _flushed(sys.stdout, 1), _flushed(sys.stderr, 2)
    if not arrived[0]:
        code = code or 1
    leave(code)
    sys.exit(code)


def end_with_parent() -> None:
    """End this process when the one that started it is gone, if STEER_LIFELINE says so.

    The parent holds the other end of stdin and writes nothing: a kill that it cannot handle closes
    that end too, and what this process still wrote would be nobody's.
    """
    if os.environ.pop(LIFELINE, "") != "stdin":
        return

    def wait() -> None:
        with suppress(OSError):
            while os.read(0, 1):
                pass
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _begin() -> None:
    """Open the standard streams that are closed, and let Ctrl-C and SIGTERM cancel the command.

    The first file that is opened would get the descriptor of a closed stream, and with it all that
    Blender prints.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for number in _SIGNALS:
        # a shell starts a command in the background with Ctrl-C ignored
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _cancelling)
    sys.excepthook = _quiet_if_asked(sys.excepthook)
    sys.unraisablehook = _quiet_if_asked(sys.unraisablehook)


def _quiet_if_asked(hook: Callable[..., None]) -> Callable[..., None]:
    """A hook of Python that tells of no exception once the command is cancelled.

    What Blender and compilers call drops the `KeyboardInterrupt`, and leaves things half made.
    """

    def told(*given: Any) -> None:
        if not _cancelling.asked:
            hook(*given)

    return told


def leave(code: int) -> None:
    """End a process at once where it may not end as it should; else return.

    When C++ takes Blender's module down, it may hang or crash: that of 4.5 always, later ones after
    a failure. Python sends itself SIGINT at the end if `eval` was interrupted anywhere.

    Args:
        code: Exit code.
    """
    bpy: Any = sys.modules.get("bpy")
    module = bpy is not None and bpy.app.module
    if not (_cancelling.asked or (module and (code or bpy.app.version < (5, 0)))):
        return
    atexit._run_exitfuncs()
    folder = Path(bpy.app.tempdir) if module else None
    if folder is not None and folder.name.startswith("blender_"):
        # the session's own; where none could be made it is that of all programs
        shutil.rmtree(folder, ignore_errors=True)
    _flushed(sys.stdout, 1)
    _flushed(sys.stderr, 2)
    os._exit(code)


@contextmanager
def held() -> Iterator[None]:
    """Cancel after this block only: Blender crashes when it is cancelled while it loads."""
    _cancelling.held = True
    try:
        yield
    finally:
        _cancelling.held = False
    stop_if_asked()


def stop_if_asked() -> None:
    """Cancel if a signal came: Blender drops the exception where it calls Python.

    Raises:
        KeyboardInterrupt: There was one.
    """
    if is_cancelled():
        raise KeyboardInterrupt


def is_cancelled() -> bool:
    """Whether a signal came, whatever Blender or an import made of it: the caller acts on it."""
    _cancelling.acts = _cancelling.acts or _cancelling.asked
    return _cancelling.asked


def tell(text: str, end: str = "\n") -> None:
    """Write to stderr, if there is any: work does not fail because nobody hears of it."""
    if sys.stderr is None:
        return
    with suppress(OSError, ValueError):
        print(text, end=end, file=sys.stderr, flush=True)


def _flushed(stream: object, descriptor: int) -> bool:
    try:
        if stream is not None:
            stream.flush()  # type: ignore[attr-defined]
        return True
    except (OSError, ValueError):
        # else Python tries again as it ends, and tells about it
        target = os.open(os.devnull, os.O_WRONLY)
        os.dup2(target, descriptor)
        os.close(target)
        return False

"""Typed errors. Every message names the thing, the value, the allowed range and the way out."""

from __future__ import annotations

import re
import reprlib
from typing import TYPE_CHECKING

from .diagnoses import Diagnosis, diagnose
from .doors import logging

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


_MOST = 1000
"""Characters of the longest sentence: texts from files and command lines may be of any length."""


def shortened(text: str, most: int = _MOST) -> str:
    """A text whose middle is left out where it is too long."""
    half = most // 2
    return text if len(text) <= most else f"{text[:half]} … {text[-half:]}"


_CONTROL = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """A text whose characters that terminals obey, or nothing can show, are as Python writes them.

    They break lines, turn the direction of writing, or are halves of characters.
    """
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


class _Short(reprlib.Repr):
    """Python's way to shorten, with more of a text."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxstring, self.maxother = 2, 80, 80

    def repr_int(self, x: int, level: int) -> str:
        """Also numbers that Python would not write, as those of 5,000 digits."""
        try:
            return super().repr_int(x, level)
        except ValueError:
            return f"a number of {x.bit_length()} bits"


def short(value: object) -> str:
    """A value from outside as it is shown in a sentence: printable, and not too long."""
    return _SHORT.repr(value)


_SHORT = _Short()


class SteerError(Exception):
    """Root of all errors that a user can act on; shown as one sentence, never as a traceback.

    Attributes:
        diagnosis: The fault as data; FAILED where there is nothing to know but the sentence.
    """

    def __init__(self, message: str | Diagnosis) -> None:
        """Take the sentence, or the diagnosis that has one."""
        text = shortened(str(message))
        super().__init__(text)
        self.diagnosis = (
            message if isinstance(message, Diagnosis) else diagnose("FAILED", reason=text)
        )


class ParameterError(SteerError):
    """A setting has a value outside its range, of the wrong type, or an unknown name."""


class AgentError(SteerError):
    """The agent points cannot be simulated: none there, not finite, or of the wrong shape."""


class WorldError(SteerError):
    """A target, collider or ground cannot be used as it is."""


class BehaviorFileError(SteerError):
    """A file with a user's behavior, or a folder of such files, cannot be used.

    Attributes:
        path: The file or folder.
        line: Line of the file; 0 where no line is to blame.
    """

    def __init__(self, text: str, path: Path, line: int = 0) -> None:
        """Say what is wrong, and what to do."""
        if line:
            super().__init__(diagnose("BEHAVIOR_LINE_FAULT", str(path), line=line, reason=text))
        else:
            super().__init__(diagnose("BEHAVIOR_FILE_FAULT", str(path), reason=text))
        self.path = path
        self.line = line


class PresetError(SteerError):
    """A preset file cannot be read or does not fit the known parameters."""


class CharacterError(SteerError):
    """What should become a character lacks something, or moves as none can."""


class SceneError(SteerError):
    """A Blender scene or object lacks something that the crowd needs."""


class FileError(SteerError):
    """A file is not there, is no plain file, or cannot be read."""


class OutputError(SteerError):
    """A result cannot be written to where it should go."""


class CacheError(SteerError):
    """A cache on disk is not there, is damaged, or is none; nothing of it was used."""


class UncompiledError(SteerError):
    """Kernels cannot be compiled, and a run that takes a hundred times longer is not wanted."""


class UsageError(SteerError):
    """A command was given arguments that it cannot take."""


class NotReadyError(SteerError):
    """What a step needs takes so long to make that a window should not stand still for it."""


class SurfaceMissingError(NotReadyError):
    """A large walkable surface, or long ways on it, would have to be found first.

    Attributes:
        find: Finds them, and may take seconds; it is given a function that is called with the share
            of the surface that is done, 0 to 1, and 1 and the share of the ways that is done, and
            ends it by raising an error.
    """

    def __init__(self, find: Callable[[Callable[[float], None]], None]) -> None:
        """Take what finds it."""
        super().__init__("The walkable surface is not found yet: the crowd waits until it is")
        self.find = find


class KernelsMissingError(NotReadyError):
    """A kernel would have to be compiled first, where that is not wanted at once.

    Attributes:
        kernel: Module and name of the kernel.
        signature: The types of its arguments, as numba knows them.
    """

    def __init__(self, module: str, name: str, signature: tuple[object, ...]) -> None:
        """Name the kernel that is missing."""
        super().__init__("Kernels are not compiled yet: the crowd waits until they are")
        self.kernel = (module, name)
        self.signature = signature


def warn(module: str, text: str, *values: object) -> None:
    """Write a line to the log of a module, where no caller could handle an error.

    Args:
        module: Its name.
        text: Sentence that names the fault, with a place for each value as in `%s`.
        values: Values for these places.
    """
    logging.getLogger(module).warning(text, *values)

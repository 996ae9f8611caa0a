"""Behaviors of users: Python files in the user's folders, loaded in addition to Steer's.

Only the user names the folders: in the preferences of the extension, or in the environment
variable STEER_BEHAVIORS. Each file becomes a module of this package, whose folders they are: so
`from ..api import …` works in it, as `from .helper import …` does between such files, and nothing
is put on sys.path. A file that cannot be loaded is reported, and the others are loaded.

Nothing is loaded from a folder that a .blend file may name, or that lies inside of the extension.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType

from ..compiled import jit_sources
from ..compiled.jit import Kernel
from ..errors import BehaviorFileError, ParameterError, SteerError
from ..sensing.declare import REGISTRY, Behavior, through_door

VARIABLE = "STEER_BEHAVIORS"
"""Environment variable with folders, separated as those of PATH are."""

WAY_OUT = "correct it, and load the behaviors again"

# files in the package's own folder are no behaviors
__path__.clear()

_faults: list[BehaviorFileError] = []


def named_folders() -> list[str]:
    """Folders in the environment variable."""
    return [name for name in os.environ.get(VARIABLE, "").split(os.pathsep) if name]


def loaded_folders() -> list[str]:
    """The folders that behaviors were loaded from."""
    return list(__path__)


def loaded() -> dict[str, type[Behavior]]:
    """The behaviors of users by type."""
    inside = f"{__name__}."
    return {name: cls for name, cls in REGISTRY.items() if cls.__module__.startswith(inside)}


def faults() -> list[BehaviorFileError]:
    """Errors of files and folders that could not be loaded."""
    return list(_faults)


def load(folders: Iterable[str]) -> None:
    """Load the behaviors in some folders, in place of the behaviors loaded before.

    Args:
        folders: Absolute paths; `faults` returns the errors of each.
    """
    _forget()
    for folder in dict.fromkeys(folders):
        try:
            __path__.append(str(_checked(folder)))
        except BehaviorFileError as error:
            _faults.append(error)
    importlib.invalidate_caches()
    found: dict[str, Path] = {}
    for path in (path for folder in __path__ for path in _files(Path(folder))):
        if found.setdefault(path.stem, path) is path:
            _load_file(path)
        else:
            text = f"{found[path.stem]} has the same name: rename one"
            _faults.append(BehaviorFileError(text, path))


def refuse(error: BaseException) -> None:
    """Drop all behaviors of users, since they cannot be used together."""
    folders = ", ".join(__path__)
    _forget()
    _faults.append(BehaviorFileError(f"{_text(error)}; no behavior there is loaded", Path(folders)))


def fault_of(cls: type[Behavior], error: BaseException) -> BehaviorFileError | None:
    """Diagnosis of a failure in a user's behavior; None for behaviors of Steer.

    Args:
        cls: The behavior.
        error: Exception raised while it ran or was compiled.
    """
    if not cls.__module__.startswith(f"{__name__}."):
        return None
    path = Path(sys.modules[cls.__module__].__file__ or "")
    return BehaviorFileError(f"{_text(error)}; {WAY_OUT}", path, _line(error, path))


def _forget() -> None:
    for name in loaded():
        del REGISTRY[name]
    for name in [name for name in sys.modules if name.startswith(f"{__name__}.")]:
        del sys.modules[name]
    # source texts are kept by the name of the module
    jit_sources.source.cache_clear()
    jit_sources.imports.cache_clear()
    __path__.clear()
    _faults.clear()


def _checked(name: str) -> Path:
    """Resolve a folder on the disk.

    Raises:
        BehaviorFileError: No behaviors may be, or can be, loaded from it.
    """
    path = Path(name)
    if name.startswith("//") or not path.is_absolute():
        raise BehaviorFileError("the path is relative: give an absolute one", path)
    path = path.resolve()
    if not path.is_dir():
        raise BehaviorFileError("there is no such folder: make it, or name another one", path)
    program = Path(__file__).resolve().parents[2]
    if (program.parent / "blender_manifest.toml").is_file():
        program = program.parent
    if path.is_relative_to(program):
        raise BehaviorFileError(
            "the folder is inside of Steer, where updates delete it: move it elsewhere", path
        )
    return path


def _files(folder: Path) -> Iterator[Path]:
    """The modules and packages in a folder, by name; helpers begin with an underscore."""
    for path in sorted(folder.iterdir()):
        is_module = path.suffix == ".py" or (path / "__init__.py").is_file()
        if is_module and not path.name.startswith(("_", ".")):
            yield path


def _load_file(path: Path) -> None:
    module = f"{__name__}.{path.stem}"
    file = path if path.suffix == ".py" else path / "__init__.py"
    before = dict(REGISTRY)
    try:
        if not path.stem.isidentifier():
            raise ParameterError("a file is named as Python names are: rename it")
        importlib.import_module(module)
        for name in REGISTRY.keys() - before.keys():
            _check(REGISTRY[name])
    # no error in a user's file may keep Steer from starting
    except (Exception, SystemExit) as error:  # noqa: BLE001
        for name in REGISTRY.keys() - before.keys():
            del REGISTRY[name]
        sys.modules.pop(module, None)
        text = _text(error)
        if not isinstance(error, SteerError):
            text = f"{text}; {WAY_OUT}"
        _faults.append(BehaviorFileError(text, file, _line(error, file)))


def _check(cls: type[Behavior]) -> None:
    """Check for errors that would otherwise show only when a crowd uses the behavior.

    Raises:
        ParameterError: A default is out of its range, or a kernel is not marked as one.
    """
    cls()
    made = cls.definition
    for found in (made.kernel, made.ends, made.constraint):
        for given in found.values() if isinstance(found, Mapping) else [found]:
            kernel = through_door(given)
            if kernel is not None and not isinstance(kernel, Kernel):
                raise ParameterError(
                    f"{getattr(kernel, '__name__', kernel)} of behavior {made.type!r} is no kernel:"
                    " write @kernel above it"
                )


def _text(error: BaseException) -> str:
    text = " ".join(str(getattr(error, "msg", "") or error).split())
    return text if isinstance(error, SteerError) else f"{type(error).__name__}: {text}"


def _line(error: BaseException, path: Path) -> int:
    """The line of a file that an error is about; 0 if unknown."""
    place = getattr(error, "loc", None)  # errors of the compiler
    if place is not None and getattr(place, "filename", "") == str(path):
        return int(place.line)
    if isinstance(error, SyntaxError):
        return (error.lineno or 0) if error.filename == str(path) else 0
    line, at = 0, error.__traceback__
    while isinstance(at, TracebackType):
        if at.tb_frame.f_code.co_filename == str(path):
            line = at.tb_lineno
        at = at.tb_next
    return line

"""Files of numbers: all arrays of a stored world, one after another in a file for each type."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bounds import LARGEST
from ..cache.layout import npy_header
from ..errors import FileError, OutputError, WorldError
from ..files.plain import create, read_file
from .layout import ARRAYS, HEADER, MOST_BYTES, MOST_ROWS, NONE

Array = NDArray[Any]
Place = tuple[int, int]
"""Place of the first number of an array in its file, and its count of rows."""


class ArrayWriter:
    """Writes arrays; one that is there already is not written again."""

    def __init__(self, folder: Path) -> None:
        """Begin files in a new folder.

        Raises:
            OSError: They cannot be made.
        """
        self._folder = folder
        self._files = {name: os.fdopen(create(folder / f"{name}.npy"), "wb") for name in ARRAYS}
        self._counts = dict.fromkeys(ARRAYS, 0)
        self._sums = {name: hashlib.sha256() for name in ARRAYS}
        self._known: dict[bytes, Place] = {}
        for file in self._files.values():
            file.write(b"\0" * HEADER)

    def add(self, name: str, array: Any) -> Place:
        """Where an array is, in the file of its type; nowhere for None.

        Raises:
            OSError: It cannot be written.
            OutputError: The file would become larger than one that is read.
        """
        if array is None:
            return NONE
        rows = np.ascontiguousarray(array, ARRAYS[name])
        if not rows.size:
            return 0, len(rows)
        data = rows.reshape(-1).view(np.uint8).data
        key = hashlib.blake2b(data, digest_size=20, key=name.encode()).digest()
        if key not in self._known:
            start = self._counts[name]
            if (start + rows.size) * rows.itemsize > MOST_BYTES:
                raise OutputError(
                    f"The world takes more than {MOST_BYTES // 10**9} GB of {name} numbers: "
                    "extract fewer frames or crowds"
                )
            self._files[name].write(data)
            self._sums[name].update(data)
            self._counts[name] += rows.size
            self._known[key] = start, rows.size
        return self._known[key][0], len(rows)

    def finish(self) -> dict[str, dict[str, Any]]:
        """Complete the files; returns the count of numbers and the checksum of each.

        Raises:
            OSError: They cannot be written.
        """
        for name, file in self._files.items():
            file.seek(0)
            file.write(npy_header((self._counts[name],), ARRAYS[name], HEADER))
            file.flush()
            os.fsync(file.fileno())
            file.close()
        return {
            name: {"count": self._counts[name], "sha256": self._sums[name].hexdigest()}
            for name in ARRAYS
        }

    def close(self) -> None:
        """Close the files, complete or not."""
        for file in self._files.values():
            try:
                file.close()
            except OSError:
                # a full disk refuses the last bytes once more
                pass


class Arrays:
    """The numbers of a stored world; what is asked of them is checked against what there is."""

    def __init__(self, folder: Path, described: Mapping[str, Mapping[str, Any]]) -> None:
        """Read the files.

        Args:
            folder: The folder of the world.
            described: What `ArrayWriter.finish` gave.

        Raises:
            WorldError: A file is missing, damaged, or not as it is described.
        """
        self._folder = folder
        self._numbers = {name: _read(folder, name, described[name]) for name in ARRAYS}

    def part(
        self, name: str, place: Any, shape: tuple[int, ...] = (), *, finite: bool = True
    ) -> Array:
        """The rows of an array.

        Args:
            name: The file of its numbers.
            place: Where it is.
            shape: Shape of a row.
            finite: Whether all numbers have to be finite, and not too large.

        Raises:
            WorldError: There is no such place, or a number is not finite.
        """
        numbers = self._numbers[name]
        start, rows = (int(number) for number in place)
        size = rows * math.prod(shape)
        if not (0 <= rows <= MOST_ROWS and 0 <= start and start + size <= len(numbers)):
            raise WorldError(
                f"{self._folder} has an array of {rows} rows at {start} of {len(numbers)} "
                f"numbers in {name}.npy: extract the world again"
            )
        found = numbers[start : start + size].reshape(rows, *shape)
        # not so where there is a NaN
        if finite and size and not (found.min() >= -LARGEST and found.max() <= LARGEST):
            raise WorldError(
                f"{self._folder} has a number that is not finite, or beyond {LARGEST:g}, at "
                f"{start} to {start + size} of {name}.npy: extract the world again"
            )
        return found

    def optional(
        self, name: str, place: Any, shape: tuple[int, ...] = (), *, finite: bool = True
    ) -> Array | None:
        """The rows of an array, None for one that is not there; see `part`."""
        if tuple(place) == NONE:
            return None
        return self.part(name, place, shape, finite=finite)


def _read(folder: Path, name: str, described: Mapping[str, Any]) -> Array:
    path, count = folder / f"{name}.npy", described["count"]
    header = npy_header((count,), ARRAYS[name], HEADER)
    size = len(header) + count * np.dtype(ARRAYS[name]).itemsize
    try:
        data = read_file(path, size=size, most=MOST_BYTES + HEADER)
    except FileError as error:
        raise WorldError(f"{error}: extract the world again") from None
    numbers = data[len(header) :]
    whole = data[: len(header)].tobytes() == header
    if not whole or hashlib.sha256(numbers.data).hexdigest() != described["sha256"]:
        raise WorldError(f"{path} is damaged, its checksum is another one: extract the world again")
    return numbers.view(ARRAYS[name])

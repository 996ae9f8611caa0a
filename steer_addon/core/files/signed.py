"""Files of JSON with a checksum of themselves.

The first line names the format, its version and the checksum of the second one, which holds the
data; all together are a JSON object.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from ..errors import FileError
from .plain import read_file, starts_with


@dataclass(frozen=True)
class Format:
    """A format of such files.

    Attributes:
        key: What the data is called, such as a cache or a world.
        version: Its version.
        most: Size of the largest file [bytes].
        done: What was done to write it, for messages, and what does it again.
    """

    key: str
    version: int
    most: int
    done: tuple[str, str]

    @property
    def mark(self) -> str:
        """The text that files begin with."""
        return f'{{"format": "steer-{self.key}", "version": '

    def signed(self, data: Any) -> bytes:
        """The text of a file of plain data."""
        body = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
        digest = hashlib.sha256(body.encode()).hexdigest()
        first = f'{self.mark}{self.version}, "sha256": "{digest}", "{self.key}":'
        return f"{first}\n{body}\n}}\n".encode()

    def body_of(self, path: Path) -> bytes:
        """The body of a file, see `loaded`.

        Raises:
            FileError: It cannot be read, is damaged, or of another format.
        """
        did, again = self.done
        try:
            raw = bytes(read_file(path, most=self.most))
        except FileError as error:
            raise FileError(f"{error}: {again}") from None
        first, _, rest = raw.partition(b"\n")
        digits = rb'(\d{1,9}), "sha256": "([0-9a-f]{64})", '
        mark, key = (re.escape(text).encode() for text in (self.mark, f'"{self.key}":'))
        found = re.fullmatch(mark + digits + key, first)
        if found is None:
            raise FileError(f"{path} is no manifest of a {self.key}, or damaged: {again}")
        if int(found[1]) != self.version:
            raise FileError(
                f"{path} has format version {int(found[1])}, this Steer reads version "
                f"{self.version}: use the Steer that {did} it, or {again}"
            )
        body, end = rest[:-3], rest[-3:]
        if end != b"\n}\n" or hashlib.sha256(body).hexdigest().encode() != found[2]:
            raise FileError(f"{path} is damaged, its checksum is another one: {again}")
        return body

    def has_mark(self, path: Path) -> bool:
        """Whether a file begins as one of this format does, damaged or not."""
        return starts_with(path, self.mark.encode())


def loaded(body: bytes) -> Any:
    """The data of a body.

    Raises:
        ValueError: It is no JSON, or holds numbers that are none.
    """
    return json.loads(body, parse_constant=_no_number)


def _no_number(text: str) -> NoReturn:
    raise ValueError(text)

"""Files of JSON with a checksum of themselves.

The first line names the format, its version and the checksum of the second one, which holds the
data; all together are a JSON object.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any, NoReturn

from .plain import starts_with


def signed(kind: str, version: int, key: str, data: Any) -> bytes:
    """The text of a file.

    Args:
        kind: Name of the format.
        version: Its version.
        key: What the data is called in the object.
        data: Plain data.
    """
    body = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    digest = hashlib.sha256(body.encode()).hexdigest()
    first = f'{_mark(kind)}{version}, "sha256": "{digest}", "{key}":'
    return f"{first}\n{body}\n}}\n".encode()


def opened(raw: bytes, kind: str, key: str) -> tuple[int, bytes | None] | None:
    """The version and the body of a file.

    Args:
        raw: The text of the file.
        kind: Name of the format.
        key: What the data is called.

    Returns:
        None where it is of no such format; no body where the checksum is another one.
    """
    first, _, rest = raw.partition(b"\n")
    digits = rb'(\d{1,9}), "sha256": "([0-9a-f]{64})", '
    found = re.fullmatch(re.escape(_mark(kind)).encode() + digits + f'"{key}":'.encode(), first)
    if found is None:
        return None
    body, end = rest[:-3], rest[-3:]
    whole = end == b"\n}\n" and hashlib.sha256(body).hexdigest().encode() == found[2]
    return int(found[1]), body if whole else None


def loaded(body: bytes) -> Any:
    """The data of a body.

    Raises:
        ValueError: It is no JSON, or holds numbers that are none.
    """
    return json.loads(body, parse_constant=_no_number)


def has_mark(path: Path, kind: str) -> bool:
    """Whether a file begins as one of a format does, damaged or not."""
    return starts_with(path, _mark(kind).encode())


def _mark(kind: str) -> str:
    return f'{{"format": "{kind}", "version": '


def _no_number(text: str) -> NoReturn:
    raise ValueError(text)

"""Whether a file is whole, by what its format says about itself.

Blender and its libraries write pictures, videos and scenes without looking whether the disk took
all of it: a full disk leaves files that are cut, and no error.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

_CUT = "the file is cut short"
_BLENDS = (b"BLENDER", b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
"""How .blend files begin: plain, and compressed by gzip and by Zstandard."""
_USDC, _PC2 = b"PXR-USDC", b"POINTCACHE2"
_PLAYED = {".usdc": _USDC, ".pc2": _PC2}
_PNG = b"\x89PNG\r\n\x1a\n"


def why_not_whole(path: Path) -> str:
    """The fault of a file; empty when it is whole.

    Formats without lengths or ends of their own are whole when they are not empty.

    Raises:
        OSError: It cannot be read.
    """
    size = path.stat().st_size
    if not size:
        return "the file is empty"
    check = _CHECKS.get(path.suffix.lower())
    with path.open("rb") as file:
        return "" if check is None or check(file, size) else _CUT


def is_remnant(path: Path) -> bool:
    """Whether a file that played a bake was cut: it begins as one, as far as it goes.

    Raises:
        OSError: It cannot be read.
    """
    mark = _PLAYED[path.suffix]
    with path.open("rb") as file:
        return mark.startswith(file.read(len(mark))) and bool(why_not_whole(path))


def is_blend(path: Path) -> bool:
    """Whether a file begins as one that Blender has saved.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        return file.read(7).startswith(_BLENDS)


def _is_whole_png(file: IO[bytes], size: int) -> bool:
    names = [name for name, _ in png_chunks(file)]
    return names[-1:] == [b"IEND"] and file.tell() == size


def png_chunks(file: IO[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Names and contents of the chunks of a PNG file, up to the first that is damaged."""
    if file.read(8) != _PNG:
        return
    while len(head := file.read(8)) == 8:
        length, name = int.from_bytes(head[:4], "big"), head[4:]
        body, check = file.read(length), file.read(4)
        if len(body) != length or check != zlib.crc32(name + body).to_bytes(4, "big"):
            return
        yield name, body


def _is_whole_mp4(file: IO[bytes], size: int) -> bool:
    names = set()
    place = 0
    while place + 8 <= size:
        file.seek(place)
        head = file.read(16)
        length = int.from_bytes(head[:4], "big")
        if length == 1:
            length = int.from_bytes(head[8:16], "big")
        if length < 8:
            return False
        names.add(head[4:8])
        place += length
    return place == size and {b"ftyp", b"moov", b"mdat"} <= names


def _is_whole_pc2(file: IO[bytes], size: int) -> bool:
    head = file.read(32)
    points, samples = (int.from_bytes(head[k : k + 4], "little") for k in (16, 28))
    return head[:11] == _PC2 and size == 32 + 12 * points * samples


def _is_whole_usdc(file: IO[bytes], size: int) -> bool:
    head = file.read(24)
    # the table of contents is written last: its place, and then the number of its sections
    contents = int.from_bytes(head[16:24], "little")
    if head[:8] != _USDC or not 24 <= contents <= size - 8:
        return False
    file.seek(contents)
    sections = int.from_bytes(file.read(8), "little")
    for _ in range(min(sections, 100)):
        entry = file.read(32)
        start, length = (int.from_bytes(entry[k : k + 8], "little") for k in (16, 24))
        if len(entry) != 32 or start + length > size:
            return False
    return sections > 0


def _is_whole_glb(file: IO[bytes], size: int) -> bool:
    head = file.read(12)
    return head[:4] == b"glTF" and int.from_bytes(head[8:12], "little") == size


def _is_whole_fbx(file: IO[bytes], size: int) -> bool:
    start = file.read(18)
    file.seek(max(0, size - 16))
    end = bytes.fromhex("f85a8c6adef5d97eece90ce3758f290b")
    return start == b"Kaydara FBX Binary" and file.read(16) == end


def _is_whole_abc(file: IO[bytes], size: int) -> bool:
    # Ogawa writes the sixth byte when a file is closed; the root, a list of places, comes last
    head = file.read(16)
    root = int.from_bytes(head[8:], "little")
    if head[:6] != b"Ogawa\xff" or not 16 <= root <= size - 8:
        return False
    file.seek(root)
    return root + 8 + 8 * int.from_bytes(file.read(8), "little") <= size


def _is_whole_blend(file: IO[bytes], size: int) -> bool:
    head = file.read(4)
    if head == b"\x28\xb5\x2f\xfd":
        # Zstandard: the table of its frames ends the file
        file.seek(max(0, size - 4))
        return file.read(4) == b"\xb1\xea\x92\x8f"
    # the last block has no contents; its head has 32 bytes since Blender 5, 24 before
    file.seek(max(0, size - 32))
    end = file.read(32)
    return head == b"BLEN" and b"ENDB" in (end[:4], end[8:12])


_CHECKS: dict[str, Callable[[IO[bytes], int], bool]] = {
    ".png": _is_whole_png,
    ".mp4": _is_whole_mp4,
    ".pc2": _is_whole_pc2,
    ".usdc": _is_whole_usdc,
    ".glb": _is_whole_glb,
    ".fbx": _is_whole_fbx,
    ".abc": _is_whole_abc,
    ".blend": _is_whole_blend,
}

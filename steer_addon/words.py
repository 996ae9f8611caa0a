"""Values as people write them, on the command line and in job files: frames, sizes, paths, numbers.

Each function reads a text, or raises `argparse.ArgumentTypeError` with one sentence.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

from .core.errors import short

LAST_FRAME = 1_048_574
"""Blender's last frame; its first one is as far below 0."""
_NAME, _PATH = 255, 1023
"""Bytes of the longest name on usual file systems, and of the longest path in Blender."""
ENGINES = ("CYCLES", "WORKBENCH", "EEVEE")
"""Blender's engines for pictures."""
MOST_SAMPLES = 1 << 24
"""What Cycles takes."""
_LARGEST = 16384
_RANGE = re.compile(r"(-?\d{1,20})(?:-(-?\d{1,20}))?")


def frame_range(text: str) -> range:
    """Frames from `A-B` or a single `A`; either may be negative."""
    match = _RANGE.fullmatch(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"frames are {short(text)}: give A-B, such as 1-250")
    first = int(match[1])
    last = first if match[2] is None else int(match[2])
    if max(abs(first), abs(last)) > LAST_FRAME:
        raise argparse.ArgumentTypeError(
            f"frames are {text}: Blender has those from {-LAST_FRAME} to {LAST_FRAME}"
        )
    if last < first:
        raise argparse.ArgumentTypeError(f"frames are {text}: give A-B with A <= B")
    return range(first, last + 1)


def numbers(text: str, count: int, form: str) -> tuple[float, ...]:
    """A given count of finite numbers with commas between them."""
    parts = text.split(",")
    try:
        values = tuple(float(part) for part in parts)
    except ValueError:
        values = ()
    if len(values) != count or not all(abs(value) < 1.0e9 for value in values):
        wanted = "one" if count == 1 else f"{count} numbers"
        raise argparse.ArgumentTypeError(f"{short(text)} is no {form}: give {wanted} below 1e9")
    return values


def whole_number(most: int) -> Callable[[str], int]:
    """A whole number from 1 up to the most that can be."""

    def read(text: str) -> int:
        value = int_number(text)
        if not 1 <= value <= most:
            how = "small" if value < 1 else "large"
            raise argparse.ArgumentTypeError(
                f"{short(value)} is too {how}: give a whole number from 1 to {most}"
            )
        return value

    return read


def why_no_text(text: str) -> str:
    """Why Blender and JSON cannot hold a text of the command line; empty where they can."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        unaware = sys.getfilesystemencoding() != "utf-8"
        way_out = "set PYTHONUTF8=1 or a locale with UTF-8" if unaware else "give another name"
        return f"{short(text)} is no text in UTF-8: {way_out}"
    return ""


def path(text: str) -> Path:
    """A path that file systems, Blender and JSON can hold."""
    if not text:
        raise argparse.ArgumentTypeError("a path is empty: give one, such as . for this folder")
    try:
        whole = os.path.abspath(text)
    except OSError:
        raise argparse.ArgumentTypeError(
            f"the path {short(text)} begins in a folder that is gone: give a whole path"
        ) from None
    if fault := why_no_text(whole):
        raise argparse.ArgumentTypeError(fault)
    raw = whole.encode("utf-8")
    if max(map(len, raw.split(os.fsencode(os.sep)))) > _NAME or len(raw) > _PATH:
        raise argparse.ArgumentTypeError(
            f"the path {short(text)} is too long: give names of at most {_NAME} bytes, and at most "
            f"{_PATH} bytes in all"
        )
    return Path(text)


def int_number(text: str) -> int:
    """A whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{short(text)} is no whole number") from None


def seed_number(text: str) -> int:
    """A random seed, as Blender stores it."""
    value = int_number(text)
    if not -(2**31) <= value < 2**31:
        raise argparse.ArgumentTypeError(
            f"{short(value)} is no seed: give a whole number of 32 bits"
        )
    return value


def positive_float(text: str) -> float:
    """A finite number above 0."""
    (value,) = numbers(text, 1, "number")
    if value <= 0.0:
        raise argparse.ArgumentTypeError(f"{text} is too small: give a number above 0")
    return value


def non_negative_float(text: str) -> float:
    """A finite number from 0 up."""
    (value,) = numbers(text, 1, "number")
    if value < 0.0:
        raise argparse.ArgumentTypeError(f"{text} is too small: give a number from 0 up")
    return value


def picture_size(text: str) -> tuple[int, int] | float:
    """Width and height in pixels from `WxH`, or a share of the file's own size from `50%`."""
    if text.endswith("%"):
        share = positive_float(text[:-1])
        if not 1.0 <= share <= 1000.0:
            raise argparse.ArgumentTypeError(f"{short(text)} is no size: give 1% to 1000%")
        return share / 100.0
    match = re.fullmatch(r"(\d{1,9})[xX](\d{1,9})", text)
    if match is None or not all(4 <= int(value) <= _LARGEST for value in match.groups()):
        raise argparse.ArgumentTypeError(
            f"{short(text)} is no size: give WxH from 4x4 to {_LARGEST}x{_LARGEST}, such as "
            "640x360, or a share such as 50%"
        )
    return int(match[1]), int(match[2])

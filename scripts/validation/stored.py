"""Results of earlier runs: kept beside new ones, and not made again where the code is the same."""

from __future__ import annotations

import datetime
import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

from steer_addon.core.errors import OutputError

Result = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
DECIDE = ("steer_addon/core", "presets", "scripts/validation")
"""Folders whose files the results depend on."""


def code() -> str:
    """A digest of all text that results depend on."""
    digest = hashlib.blake2b(digest_size=8)
    for folder in DECIDE:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".json"):
                digest.update(path.relative_to(ROOT).as_posix().encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()


def commit() -> str:
    """The current commit, with a + if those files were changed since; or nothing."""
    try:
        head = _git("rev-parse", "--short", "HEAD")
        return head + ("+" if _git("status", "--porcelain", "--", *DECIDE) else "")
    except (OSError, subprocess.SubprocessError):
        return ""


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=30, check=True
    )
    return done.stdout.strip()


def origin(preset: str, seed: int) -> Result:
    """Entries of a result that tell how it was made."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    made = {"code": code(), "commit": commit(), "date": today}
    return {"made": {**made, "preset": preset, "seed": seed}}


def same(result: Result, made: Result) -> bool:
    """Whether a result was made by the same code, with the same preset and seed."""
    its, ours = result.get("made", {}), made["made"]
    return all(its.get(key) == ours[key] for key in ("code", "preset", "seed"))


def load(path: Path) -> list[Result]:
    """The results in a file; none if there is no such file.

    Raises:
        OutputError: The file has other contents.
    """
    if not path.exists():
        return []
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise OutputError(f"{path} cannot be read: {error}; delete it, or name another") from None
    entries = found if isinstance(found, list) else [None]
    if not all(isinstance(one, dict) and isinstance(one.get("name"), str) for one in entries):
        raise OutputError(f"{path} holds no results: delete it, or name another file")
    return entries


def save(path: Path, text: str) -> None:
    """Write a file.

    Raises:
        OutputError: The file cannot be written.
    """
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}") from None

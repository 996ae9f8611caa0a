"""The settings that a character is made by, also as text that its object keeps."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from ..errors import CharacterError, short
from .contacts import pose_count
from .rows import RUN_STEP, WAYS_PER_POSE, Plan

_USUAL = 0.6, 2.5
"""Heights from which to which bodies have the usual way between two poses [m]."""
_STRIDES = 1.0e-3, 1.0e3
"""Least and greatest stride that can be given [m]."""
_OWN_ROWS = re.compile(
    r"stand|first steps|(walk|run)( \d+%)?|turn (left|right)|last steps", re.IGNORECASE
)
"""Names of the rows that characters get without any clips."""


def way_per_pose(height: float) -> float:
    """The way between two poses for a body of some height [m]; 0 is unknown.

    Bodies as small as mice, or as large as giants, get as many poses as people.
    """
    least, most = _USUAL
    usual = Plan().tolerance
    if height <= 0.0:
        return usual
    share = min(height / least, 1.0) * max(height / most, 1.0)
    return float(np.clip(usual * share, *WAYS_PER_POSE))


@dataclass(frozen=True)
class Recipe:
    """What a character is made of.

    Attributes:
        stand: Name of the action that shows standing; "" holds a pose of the walk instead.
        walk: Name of the action that shows walking; "" takes frames of the scene.
        run: Name of the action that shows running; "" for none.
        clips: Further actions, each with the name that users play it by.
        plan: What rows are made.
        faces: Share of the faces that is kept.
        without: Names of objects that are left out.
        levels: Number of further levels of detail, 0 to 2.
        parts: Names of the objects that a character had before: where all are hidden by now, as
            those of a rig that is put aside, they are taken again.
        optional: Names of objects that some agents have, each with the share of those who do.
        frames: First and last frame of one cycle, for what moves without actions of a rig.
        once: Names of clips that end, although their ends look alike.
        loops: Names of clips that begin again, although their ends differ.
        feet: Names of the bones, or objects, that stand on the ground; none to find them.
    """

    stand: str = ""
    walk: str = ""
    run: str = ""
    clips: tuple[tuple[str, str], ...] = ()
    plan: Plan = Plan()
    faces: float = 1.0
    without: tuple[str, ...] = ()
    frames: tuple[int, int] = (1, 24)
    once: tuple[str, ...] = ()
    loops: tuple[str, ...] = ()
    feet: tuple[str, ...] = ()
    optional: tuple[tuple[str, float], ...] = ()
    levels: int = 0
    parts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check what can be known without a rig."""
        if not 0.0 < self.faces <= 1.0:
            raise CharacterError(
                f"Faces is {self.faces:.0%}: give a share above 0% and up to 100%, which keeps all"
            )
        if self.levels not in (0, 1, 2):
            raise CharacterError(
                f"Levels of Detail is {short(self.levels)}: give 1 or 2 further levels, or 0"
            )
        self._check_stride("Stride", self.plan.stride, self.plan.tolerance)
        self._check_stride("Run Stride", self.plan.run_stride, RUN_STEP * self.plan.tolerance)
        for name, chance in self.optional:
            if not 0.0 <= chance <= 1.0:
                raise CharacterError(
                    f"The chance of part {short(name)} is {chance:.0%}: give a share from 0% to "
                    "100% of the agents"
                )
        names = [name for name, _ in self.clips]
        for name in names:
            if "," in name:
                raise _misnamed(name, "has a comma in its name, which parts names of clips")
        for name in (*self.once, *self.loops):
            if name not in names:
                known = ", ".join(map(repr, names)) or "none"
                raise CharacterError(f"There is no clip {short(name)}: the clips are {known}")

    @staticmethod
    def _check_stride(name: str, stride: float | None, step: float) -> None:
        """Refuse a stride that is out of range, or too long for poses a step apart [m]."""
        if stride is None:
            return
        if not _STRIDES[0] <= stride <= _STRIDES[1]:
            raise CharacterError(
                f"{name} is {stride:g} m: give the way of one cycle, {_STRIDES[0]:g} to "
                f"{_STRIDES[1]:g} m, or leave it out to have it measured"
            )
        pose_count(stride, step)

    def check_names(self) -> None:
        """Refuse what can be understood in two ways; recipes of before may have it.

        Raises:
            CharacterError: A name or an action stands for two things.
        """
        roles: dict[str, str] = {}
        for role, action in (("Stand", self.stand), ("Walk", self.walk), ("Run", self.run)):
            if action and action in roles:
                raise CharacterError(
                    f"Action {short(action)} is chosen for {roles[action]} and for {role}: choose "
                    "another one, or none, for one of them"
                )
            roles[action] = role
        found = set()
        for name, _ in self.clips:
            if name.casefold() in found:
                raise _misnamed(name, "is there twice, and upper and lower case are alike")
            if name == "*":
                raise _misnamed(name, "has the name that stands for all clips")
            if name != name.strip():
                raise _misnamed(name, "has a space at an end of its name")
            if _OWN_ROWS.fullmatch(name):
                raise _misnamed(name, "has the name of poses that each character has")
            found.add(name.casefold())
        for name in self.once:
            if name in self.loops:
                raise CharacterError(
                    f"Clip {short(name)} is to end and to begin again: choose one of the two"
                )

    def to_text(self) -> str:
        """The recipe as JSON."""
        return json.dumps(asdict(self))


def _misnamed(name: str, why: str) -> CharacterError:
    return CharacterError(
        f"Clip {short(name)} {why}: give another name, NAME=ACTION, or rename the action"
    )


def optional_part(text: str) -> tuple[str, float]:
    """Name and chance of an optional part, from NAME=SHARE.

    Raises:
        CharacterError: It is something else.
    """
    name, _, share = text.rpartition("=")
    try:
        return name.strip() or _refuse(text), float(share)
    except ValueError:
        return _refuse(text), 0.0


def _refuse(text: str) -> str:
    raise CharacterError(
        f"{short(text)} is no optional part: give NAME=SHARE, such as hat=0.3, which 30% have"
    )


def from_text(text: object) -> Recipe:
    """A recipe from JSON, which a stranger may have written.

    Raises:
        CharacterError: It is none.
    """
    try:
        data = json.loads(str(text))
        values = _known(Recipe, data)
        return Recipe(**{**values, "plan": Plan(**_known(Plan, data["plan"]))})
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError, CharacterError):
        raise CharacterError(
            f"What the character was made by is damaged ({short(text)}): use Make Character again"
        ) from None


def _known(kind: type[Any], data: dict[str, Any]) -> dict[str, Any]:
    """Values of the fields that there are: files of other versions have other ones."""
    known = {info.name for info in fields(kind)}
    return {name: _frozen(value) for name, value in data.items() if name in known}


def _frozen(value: object) -> object:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value

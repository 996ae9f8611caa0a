"""Settings from the command line: `--set behavior.parameter=value`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..errors import ParameterError, short
from ..parameters import parameters, parse_text
from .settings import BLOCKS, CrowdSettings

GROUPS = "groups."
"""What paths of settings of groups begin with."""


def full_path(path: str) -> str:
    """The whole path of a setting: a block's name alone is its choice of that name, as "ways"."""
    name = path.strip()
    return f"{name}.{name}" if name in BLOCKS and name in parameters(BLOCKS[name]) else name


def with_override(settings: CrowdSettings, text: str) -> CrowdSettings:
    """Apply one `--set` argument: a path of a setting, `=` and its value.

    Paths are behavior.parameter, block.parameter, groups.name.parameter and seed; "ways" alone is
    "ways.ways", as with other blocks that have a choice of their own name.

    Raises:
        ParameterError: There is no such thing, or the value does not fit.
    """
    path, equals, value = text.partition("=")
    owner, _, name = full_path(path).rpartition(".")
    if not equals:
        raise ParameterError(f"{short(text)} sets nothing: write behavior.parameter=value")
    if path.strip() == "seed":
        try:
            return replace(settings, seed=int(value))
        except ValueError:
            raise ParameterError(f"seed is {short(value)}: give a whole number") from None
    if owner in BLOCKS:
        block = _changed(getattr(settings, owner), owner, name, value)
        return replace(settings, **{owner: block})
    if owner.startswith(GROUPS):
        return _with_group(settings, owner.removeprefix(GROUPS), name, value)
    keys = [b.key for b in settings.behaviors]
    if owner not in keys:
        raise ParameterError(
            f"the crowd has no {short(owner or path)} to set: "
            f"it has {', '.join([*BLOCKS, *keys, *_group_paths(settings), 'seed'])}"
        )
    stack = list(settings.behaviors)
    stack[keys.index(owner)] = _changed(stack[keys.index(owner)], owner, name, value)
    return replace(settings, behaviors=tuple(stack))


def _group_paths(settings: CrowdSettings) -> list[str]:
    return [f"{GROUPS}{group.name}" for group in settings.groups]


def _with_group(settings: CrowdSettings, owner: str, name: str, text: str) -> CrowdSettings:
    groups = list(settings.groups)
    names = [group.name for group in groups]
    if owner not in names:
        raise ParameterError(
            f"the crowd has no group {short(owner)}: it has {', '.join(names) or 'none'}"
        )
    place = names.index(owner)
    groups[place] = _changed(groups[place], GROUPS + owner, name, text)
    return replace(settings, groups=tuple(groups))


def _changed(block: Any, owner: str, name: str, text: str) -> Any:
    known = parameters(block)
    if name not in known:
        raise ParameterError(
            f"{owner} has no parameter {short(name)}: known are {', '.join(known)}"
        )
    return replace(block, **{name: parse_text(owner, known[name], text.strip())})

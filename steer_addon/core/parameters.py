"""The one definition of a parameter: a dataclass field with unit, limits and one sentence.

Blender properties, tooltips, the preset format, command-line options and the docs are generated
from these fields, so a parameter is described nowhere else.

Example:
    >>> class Example(Settings):
    ...     slow_radius: float = param(2.0, unit="m", minimum=0.0, doc="Braking starts here.")
    >>> Example().slow_radius
    2.0
"""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from typing import Any, NamedTuple, TypeVar, dataclass_transform

from .errors import ParameterError, short

_KEY = "steer"
_BIG = 1.0e9

SettingsT = TypeVar("SettingsT", bound="Settings")

Condition = tuple[Any, ...]
"""The name of a choice or switch, and the values of it for which something counts; or several of
these, of which one has to hold. "solver.solver" is the choice of another block of the crowd."""


class _MoreThanZero:
    """All numbers above 0, as the values of a condition."""

    def __contains__(self, value: Any) -> bool:
        return bool(value > 0)

    def __iter__(self) -> Iterator[str]:
        """As a text, for the docs."""
        yield "more than 0"


MORE_THAN_ZERO = _MoreThanZero()


class ParameterInfo(NamedTuple):
    """The definition of one parameter, without its value.

    Attributes:
        name: Field name, as in presets and on the command line.
        label: Name as shown to people.
        kind: One of "float", "int", "bool", "choice", "text".
        default: Default value.
        unit: SI unit as text ("m", "m/s", "s", "deg", "kg", "N", …), or "" for none.
        minimum: Smallest legal value (numbers only).
        maximum: Largest legal value (numbers only).
        soft_maximum: End of a slider; larger values can still be typed.
        choices: For "choice": identifier to one-sentence meaning, in order.
        doc: Its meaning, and the effect of more of it; also the tooltip.
        per_agent: Whether a point attribute of this name overrides it per agent.
        shown_for: The choice that it belongs to, and for which of its values it counts; None
            for one that always counts.
        zero: What 0 stands for where it is no amount, such as "No Limit"; "" for none.
    """

    name: str
    label: str
    kind: str
    default: Any
    unit: str
    minimum: float
    maximum: float
    soft_maximum: float
    choices: dict[str, str]
    doc: str
    per_agent: bool
    shown_for: Condition | None
    zero: str

    def counts(self, settings: Any, crowd: Any = None) -> bool:
        """Whether it has any effect, given the other values of its block, and of its crowd."""
        return belongs(self.shown_for, settings, crowd)


def conditions(shown_for: Condition) -> tuple[Condition, ...]:
    """One condition, or several, as several."""
    return (shown_for,) if isinstance(shown_for[0], str) else shown_for


def belongs(shown_for: Condition | None, settings: Any, crowd: Any = None) -> bool:
    """Whether what counts for some values of a choice only counts now.

    Args:
        shown_for: The name of the choice, and those values; None for what always counts.
        settings: Object that has the choice as an attribute.
        crowd: Object that has the blocks of the crowd as attributes; None if they are not known:
            then what depends on them counts.
    """
    return shown_for is None or any(
        _holds(name, values, settings, crowd) for name, values in conditions(shown_for)
    )


def _holds(name: str, values: Any, settings: Any, crowd: Any) -> bool:
    block, _, name = name.rpartition(".")
    if not block:
        return getattr(settings, name) in values
    return crowd is None or getattr(getattr(crowd, block), name) in values


def param(
    default: float | int | bool | str,
    *,
    doc: str,
    unit: str = "",
    minimum: float = -_BIG,
    maximum: float = _BIG,
    soft_maximum: float | None = None,
    label: str = "",
    per_agent: bool = True,
    shown_for: Condition | None = None,
    zero: str = "",
) -> Any:
    """Declare a number, switch or text field of a settings dataclass."""
    kind = {bool: "bool", int: "int", float: "float", str: "text"}[type(default)]
    return field(
        default=default,
        metadata={
            _KEY: {
                "kind": kind,
                "unit": unit,
                "minimum": minimum,
                "maximum": maximum,
                "soft_maximum": maximum if soft_maximum is None else soft_maximum,
                "choices": {},
                "label": label,
                "doc": doc,
                "per_agent": per_agent and kind in ("float", "int"),
                "shown_for": shown_for,
                "zero": zero,
            }
        },
    )


def named_choices(texts: Mapping[str, str]) -> Any:
    """Name the values of a choice for kernels, which know each by its place in the declaration.

    Example:
        >>> FALLOFF = named_choices({"LINEAR": "Slower with the distance", "NONE": "As fast"})
        >>> FALLOFF.NONE
        1

    Args:
        texts: The same as for `choice`: identifier to one-sentence meaning, in order.

    Returns:
        An int for each identifier, as an attribute; `choice` takes it in place of the texts.
    """
    base = namedtuple("NamedChoices", texts)  # type: ignore[misc]
    return type("NamedChoices", (base,), {"texts": dict(texts)})(*range(len(texts)))


def choice(
    default: str,
    choices: Any,
    *,
    doc: str,
    label: str = "",
    shown_for: Condition | None = None,
) -> Any:
    """Declare a field that takes one of a few named values.

    Args:
        default: One of the identifiers.
        choices: Identifier to one-sentence meaning, in order; or what `named_choices` made of it.
        doc: Meaning of the parameter; also the tooltip.
        label: Name as shown to people; empty makes one of the field's.
        shown_for: The choice that it belongs to, and for which of its values it counts.
    """
    texts = getattr(choices, "texts", choices)
    if default not in texts:
        raise ParameterError(f"default {default!r} is not among {', '.join(texts)}")
    return field(
        default=default,
        metadata={
            _KEY: {
                "kind": "choice",
                "unit": "",
                "minimum": 0.0,
                "maximum": float(len(texts) - 1),
                "soft_maximum": float(len(texts) - 1),
                "choices": dict(texts),
                "label": label,
                "doc": doc,
                "per_agent": False,
                "shown_for": shown_for,
                "zero": "",
            }
        },
    )


def _info(entry: Field[Any]) -> ParameterInfo:
    meta = dict(entry.metadata[_KEY])
    label = meta.pop("label") or entry.name.replace("_", " ").title().replace(" Of ", " of ")
    default = None if entry.default is MISSING else entry.default
    return ParameterInfo(name=entry.name, label=label, default=default, **meta)


def parameters(settings: type[Settings] | Settings) -> dict[str, ParameterInfo]:
    """Return the parameters of a settings class by name, in the order of definition."""
    cls = settings if isinstance(settings, type) else type(settings)
    if cls not in _KNOWN:
        own = fields(cls)  # type: ignore[arg-type]  # what __init_subclass__ makes of it
        _KNOWN[cls] = {f.name: _info(f) for f in own if _KEY in f.metadata}
    return _KNOWN[cls]


_KNOWN: dict[type, dict[str, ParameterInfo]] = {}
"""Made once per class: they are asked for some hundred times per frame."""


def _check_number(owner: str, info: ParameterInfo, value: Any) -> float | int:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ParameterError(f"{owner}.{info.name} is {short(value)}: give a number")
    # a whole number may be larger than any float
    shown = short(value) if isinstance(value, int) else f"{value:g}"
    if isinstance(value, float) and not math.isfinite(value):
        raise ParameterError(f"{owner}.{info.name} is {shown}: give a finite number")
    if not info.minimum <= value <= info.maximum:
        raise ParameterError(
            f"{owner}.{info.name} is {shown}: give a value "
            f"from {info.minimum:g} to {info.maximum:g}"
        )
    if info.kind == "int":
        if value != int(value):
            raise ParameterError(f"{owner}.{info.name} is {shown}: give a whole number")
        return int(value)
    return float(value)


def check(owner: str, info: ParameterInfo, value: Any) -> Any:
    """Return `value` in the parameter's own type.

    Args:
        owner: Name of the block or behavior with the parameter, for the message.
        info: The parameter.
        value: Anything, as read from a file, a command line or a scene.

    Raises:
        ParameterError: The value is of the wrong type or out of range.
    """
    if info.kind in ("float", "int"):
        return _check_number(owner, info, value)
    if info.kind == "bool":
        if not isinstance(value, bool):
            raise ParameterError(f"{owner}.{info.name} is {short(value)}: give true or false")
        return value
    if not isinstance(value, str):
        raise ParameterError(f"{owner}.{info.name} is {short(value)}: give a text")
    if info.kind == "choice" and value not in info.choices:
        raise ParameterError(
            f"{owner}.{info.name} is {short(value)}: give one of {', '.join(info.choices)}"
        )
    return value


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Settings:
    """Base of every settings block: subclasses are frozen dataclasses of checked parameters.

    What a dataclass decorator would write and compile for each class stands here once: with tens
    of behaviors that is a good part of the time that enabling the extension takes.
    """

    def __init_subclass__(cls) -> None:
        """Make the class a dataclass of the parameters that it declares and inherits."""
        super().__init_subclass__()
        dataclass(init=False, repr=False, eq=False, kw_only=True)(cls)

    def __init__(self, **values: Any) -> None:
        """Take values by name, defaults for the others, and check each.

        Raises:
            ParameterError: A value does not fit its parameter.
            TypeError: There is no parameter of that name.
        """
        owner, known = self.owner_name(), parameters(self)
        for name in values.keys() - known.keys():
            raise TypeError(f"{type(self).__name__} has no parameter {name!r}")
        for name, info in known.items():
            value = check(owner, info, values.get(name, info.default))
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse: settings are changed by `dataclasses.replace`."""
        raise FrozenInstanceError(f"cannot assign to {name!r} of {type(self).__name__}")

    def __delattr__(self, name: str) -> None:
        """Refuse: see `__setattr__`."""
        raise FrozenInstanceError(f"cannot delete {name!r} of {type(self).__name__}")

    def __eq__(self, other: object) -> bool:
        """Whether both are of one class and have equal values."""
        if other is self:
            return True
        if type(other) is not type(self):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        """Of the values; equal settings have equal ones."""
        return hash(tuple(self.to_dict().values()))

    def __repr__(self) -> str:
        """As it would be written in code."""
        values = ", ".join(f"{name}={value!r}" for name, value in self.to_dict().items())
        return f"{type(self).__name__}({values})"

    @classmethod
    def owner_name(cls) -> str:
        """Name of this block in messages, presets and on the command line."""
        return cls.__name__.removesuffix("Settings").lower()

    @classmethod
    def from_dict(cls: type[SettingsT], values: Mapping[str, Any]) -> SettingsT:
        """Make an instance from plain data; unknown names are an error.

        Raises:
            ParameterError: A name is unknown or a value does not fit.
        """
        known = parameters(cls)
        for name in values:
            if name not in known:
                raise ParameterError(
                    f"{cls.owner_name()} has no parameter {short(name)}: "
                    f"known are {', '.join(known) or 'none'}"
                )
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain data."""
        return {name: getattr(self, name) for name in parameters(self)}


def parse_text(owner: str, info: ParameterInfo, text: str) -> Any:
    """Read a value from the command line's text and check it.

    Raises:
        ParameterError: The text is no such value.
    """
    if info.kind in ("float", "int"):
        try:
            return check(owner, info, float(text))
        except ValueError:
            raise ParameterError(f"{owner}.{info.name} is {short(text)}: give a number") from None
    if info.kind == "bool":
        lowered = text.lower()
        if lowered not in ("true", "false", "1", "0", "on", "off"):
            raise ParameterError(f"{owner}.{info.name} is {short(text)}: give true or false")
        return lowered in ("true", "1", "on")
    return check(owner, info, text)

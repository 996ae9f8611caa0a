"""Blender properties from settings dataclasses: a parameter is described once, in core.

Values live in Blender as 32-bit floats and, for angles, in radians; `read_values` gives back the
decimal number that was meant (1.4, not 1.399999976), in the dataclass's unit and range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import bpy

from ...core.crowd.kept import IN_RADIANS, within
from ...core.parameters import ParameterInfo, Settings, parameters

ANIMATED = {"ANIMATABLE", "LIBRARY_EDITABLE"}
FIXED = {"LIBRARY_EDITABLE"}
OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}

if TYPE_CHECKING:
    _Function = TypeVar("_Function", bound=Callable[..., Any])

    def _kept(count: int) -> Callable[[_Function], _Function]:
        """A decorator like `lru_cache`, which would forget the types of the arguments."""
else:
    _kept = lru_cache

Update = Callable[[Any, Any], None]
"""Takes the property's owner and the context."""
Search = Callable[[Any, Any, str], Iterable[str]]
"""Takes the property's owner, the context and the text in the field."""

_UNITS: dict[str, dict[str, Any]] = {
    "m": {"subtype": "DISTANCE", "unit": "LENGTH"},
    "m/s": {"unit": "VELOCITY"},
    "m/s²": {"unit": "ACCELERATION"},
    # seconds of the world, not frames of the scene
    "s": {"unit": "TIME_ABSOLUTE"},
    "kg": {"unit": "MASS"},
    "deg": {"subtype": "ANGLE", "unit": "ROTATION"},
    "deg/s": {"subtype": "ANGLE", "unit": "ROTATION"},
}
_ACRONYMS = {"Vex": "VEX", "Id": "ID"}
_INT_LIMIT = 2**31 - 1


def sentence(doc: str) -> str:
    """A tooltip as Blender wants it: one line, no period at the end."""
    return " ".join(doc.split()).rstrip(".")


def summary(cls: type[Settings]) -> str:
    """The first paragraph of a class's docstring, as a tooltip."""
    return sentence((cls.__doc__ or "").partition("\n\n")[0])


def choice_label(identifier: str) -> str:
    """Name of an enum item as shown to people: "BY_ID" is "By ID", "NEG_Y" is "-Y"."""
    words = [_ACRONYMS.get(word, word) for word in identifier.replace("_", " ").title().split()]
    if len(words) == 2 and words[0] in ("Pos", "Neg"):
        return ("+" if words[0] == "Pos" else "-") + words[1]
    return " ".join(words)


def label_of(info: ParameterInfo) -> str:
    """Name of a parameter in panels, with its unit where Blender shows none in the field."""
    if info.unit and (info.unit not in _UNITS or info.unit == "deg/s"):
        return f"{info.label} ({info.unit.replace('deg', '°')})"
    return info.label


def _float_property(info: ParameterInfo, common: dict[str, Any]) -> Any:
    limits = {
        "default": info.default,
        "min": info.minimum,
        "max": info.maximum,
        "soft_min": info.minimum,
        "soft_max": info.soft_maximum,
    }
    if info.unit in IN_RADIANS:
        limits = {name: math.radians(value) for name, value in limits.items()}
    return bpy.props.FloatProperty(
        **common, **limits, **_UNITS.get(info.unit, {}), precision=3, step=10
    )


def make_property(
    info: ParameterInfo,
    update: Update | None = None,
    search: Search | None = None,
    options: set[str] = ANIMATED,
) -> Any:
    """A Blender property (not yet registered) for one parameter.

    Args:
        info: The parameter.
        update: Called when the property was set; None for no call.
        search: Gives the texts that the field of a text suggests; None for none.
        options: What may be done with the property, unless it holds a text.
    """
    common: dict[str, Any] = {
        "name": label_of(info),
        "description": sentence(info.doc),
        "options": FIXED if info.kind == "text" else options,
        "override": OVERRIDABLE,
    }
    if update is not None:
        common["update"] = update
    if info.kind == "float":
        return _float_property(info, common)
    if info.kind == "int":
        return bpy.props.IntProperty(
            **common,
            default=info.default,
            min=int(max(info.minimum, -_INT_LIMIT)),
            max=int(min(info.maximum, _INT_LIMIT)),
            soft_max=int(min(info.soft_maximum, _INT_LIMIT)),
        )
    if info.kind == "bool":
        return bpy.props.BoolProperty(**common, default=info.default)
    if info.kind == "choice":
        items = [
            (name, choice_label(name), sentence(doc), number)
            for number, (name, doc) in enumerate(info.choices.items())
        ]
        return bpy.props.EnumProperty(**common, items=items, default=info.default)
    if search is not None:
        common |= {"search": search, "search_options": {"SUGGESTION"}}
    return bpy.props.StringProperty(**common, default=info.default)


def make_group(
    name: str, infos: Iterable[ParameterInfo], doc: str, updates: Mapping[str, Update] | None = None
) -> type:
    """A PropertyGroup class (not yet registered) with one property per parameter.

    Args:
        name: Class name; it must begin with the extension's own prefix.
        infos: The parameters.
        doc: Docstring of the group.
        updates: Callbacks for parameters that were set, by name.
    """
    calls = updates or {}
    return make_class(name, {i.name: make_property(i, calls.get(i.name)) for i in infos}, doc)


def make_class(name: str, properties: Mapping[str, Any], doc: str) -> type:
    """A PropertyGroup class (not yet registered) with these properties."""
    namespace = {"__doc__": doc, "__annotations__": dict(properties), "__module__": __name__}
    return type(name, (bpy.types.PropertyGroup,), namespace)


def unique_name(wanted: str, taken: list[str]) -> str:
    """`wanted`, or `wanted.001` and so on where that is taken."""
    name, number = wanted, 0
    while name in taken:
        number += 1
        name = f"{wanted}.{number:03d}"
    return name


@_kept(1024)
def made_of(settings: type[Settings], values: tuple[tuple[str, Any], ...]) -> Any:
    """Settings from names and values; the same instance again for the same values.

    They are asked for at every frame and every redraw, and checking them takes most of the time.

    Raises:
        ParameterError: A value does not fit.
    """
    return settings(**dict(values))


def read_values(group: Any, infos: Iterable[ParameterInfo]) -> dict[str, Any]:
    """The values of parameters in the dataclass's units, within their ranges."""
    return {
        info.name: within(getattr(group, info.name), info)
        if info.kind == "float"
        else getattr(group, info.name)
        for info in infos
    }


def write_values(group: Any, infos: Iterable[ParameterInfo], values: Mapping[str, Any]) -> None:
    """Set parameters from values in the dataclass's units."""
    for info in infos:
        value = values[info.name]
        setattr(group, info.name, math.radians(value) if info.unit in IN_RADIANS else value)


def read_settings(group: Any, settings: type[Settings]) -> Any:
    """The settings that a group holds.

    Raises:
        ParameterError: A value does not fit, such as a choice of a newer version.
    """
    return made_of(settings, tuple(read_values(group, parameters(settings).values()).items()))


def write_settings(group: Any, settings: Settings) -> None:
    """Set a group's properties from settings."""
    write_values(group, parameters(type(settings)).values(), settings.to_dict())


def copy_group(source: Any, target: Any, *, skip: tuple[str, ...] = ()) -> None:
    """Copy every property that can be set and is kept in files, nested groups too."""
    for prop in source.bl_rna.properties:
        name = prop.identifier
        if name in ("rna_type", "bl_rna", *skip) or prop.is_skip_save:
            continue
        if prop.type == "POINTER" and prop.is_readonly:
            copy_group(getattr(source, name), getattr(target, name))
        elif not prop.is_readonly:
            setattr(target, name, getattr(source, name))

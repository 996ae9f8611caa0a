"""A layout that records what is drawn, and refuses what Blender's own would not show."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import bpy


def _icons() -> frozenset[str]:
    parameters = bpy.types.UILayout.bl_rna.functions["prop"].parameters
    return frozenset(parameters["icon"].enum_items.keys())


ICONS = _icons()
"""Names of all icons of this Blender."""


class FakeLayout:
    """Takes the calls of `UILayout` that Steer uses, and checks names, icons and identifiers."""

    def __init__(self, record: list[tuple[str, Any]] | None = None) -> None:
        self.record: list[tuple[str, Any]] = [] if record is None else record
        self.use_property_split = False
        self.use_property_decorate = False
        self.active = True
        self.alert = False
        self.enabled = True
        self.operator_context = "INVOKE_DEFAULT"

    def _part(self, **options: Any) -> FakeLayout:
        part = FakeLayout(self.record)
        part.use_property_split, part.active = self.use_property_split, self.active
        return part

    row = column = box = split = grid_flow = _part

    def separator(self) -> None:
        """A gap."""

    def label(self, *, text: str, icon: str = "NONE") -> None:
        """A text."""
        assert icon in ICONS, icon
        self.record.append(("label", text))

    def progress(self, *, factor: float, text: str) -> None:
        """A bar that says how far something is."""
        assert 0.0 <= factor <= 1.0
        self.record.append(("label", text))

    def popover(self, panel: str, *, text: str, icon: str) -> None:
        """A button that opens a panel, which has to be registered."""
        assert icon in ICONS, icon
        assert hasattr(bpy.types, panel), panel
        self.record.append(("popover", panel))

    def menu(self, menu: str, *, text: str | None = None, icon: str = "NONE") -> None:
        """A menu that has to be registered."""
        assert icon in ICONS, icon
        assert hasattr(bpy.types, menu), menu
        self.record.append(("menu", menu))

    def operator(
        self,
        idname: str,
        *,
        text: str = "",
        icon: str = "NONE",
        icon_value: int = 0,
        depress: bool = False,
    ) -> SimpleNamespace:
        """A button of an operator that has to be registered."""
        assert icon in ICONS, icon
        module, name = idname.split(".")
        operator = getattr(getattr(bpy.ops, module), name)
        self.record.append(("operator", idname))
        known = operator.get_rna_type().properties.keys()

        class Options(SimpleNamespace):
            def __setattr__(self, option: str, value: Any) -> None:
                assert option in known, option
                super().__setattr__(option, value)

        options = Options()
        self.record.append(("button", (operator, options)))
        return options

    def prop(
        self,
        data: Any,
        name: str,
        *,
        text: str | None = None,
        icon: str = "NONE",
        emboss: bool = True,
        slider: bool = False,
        toggle: bool = False,
        expand: bool = False,
    ) -> None:
        """A property that has to be there."""
        assert icon in ICONS, icon
        _check_property(data, name)
        self.record.append(("prop", name))
        if self.alert:
            self.record.append(("alert", name))
        if not self.active:
            self.record.append(("grey", name))
        if self.use_property_split:
            # the name stands beside the field
            self.record.append(("split", name))

    def prop_search(
        self, data: Any, name: str, owner: Any, collection: str, *, text: str = ""
    ) -> None:
        """A property that is chosen from a collection."""
        _check_property(data, name)
        assert hasattr(owner, collection)
        self.record.append(("prop", name))

    def template_list(
        self, list_type: str, identifier: str, data: Any, name: str, active: Any, active_name: str,
        *, rows: int, maxrows: int = 5,
    ) -> None:  # fmt: skip
        """A list, each of whose rows is drawn."""
        cls = getattr(bpy.types, list_type)
        for item in getattr(data, name):
            cls.draw_item(None, None, FakeLayout(self.record), data, item, 0, active, active_name)

    def texts(self) -> str:
        """All labels in one line."""
        return " ".join(text for kind, text in self.record if kind == "label")

    def press(self, idname: str) -> set[str]:
        """Run the operator of a button with what the button gives it, as a click does."""
        for operator, options in self.of("button"):
            if operator.idname_py() == idname:
                return set(operator(**vars(options)))
        raise AssertionError(f"no button of {idname}: {self.of('operator')}")

    def of(self, kind: str) -> list[Any]:
        """Drawn items of a kind, in order."""
        return [value for known, value in self.record if known == kind]


def _check_property(data: Any, name: str) -> None:
    custom = re.fullmatch(r'\["(.+)"\]', name)
    if custom:
        assert custom[1] in data.keys(), name
    else:
        assert name in data.bl_rna.properties, f"{data} has no {name}"

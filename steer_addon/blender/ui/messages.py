"""Sentences in panels, broken into lines by the width of the region."""

from __future__ import annotations

import re
import textwrap
from functools import lru_cache

import bpy

_LETTER = 6.3
"""Approximate width of a letter at the interface's standard size [px]."""
_BESIDE = 62
"""Width of the icon before a sentence and of the margins of a panel [px]."""
_TABS = 30
"""Width of the tabs of a sidebar [px]."""
NARROW = 380
"""In narrower regions, parameter names beside their fields would be cut off [px]."""
NARROW_LIST, NARROWEST_LIST = 340, 260
"""In narrower regions, weights in a list, and buttons beside it, would cut off its names [px]."""


def region_width(context: bpy.types.Context) -> float:
    """Width that panels have in the region, in pixels at the interface's standard size."""
    region = getattr(context, "region", None)
    if region is None:
        return 400.0
    # the scale is 0 without a window
    width: float = region.width / (bpy.context.preferences.system.ui_scale or 1.0)
    return width - _TABS if getattr(region, "type", "") == "UI" else width


def is_narrow(context: bpy.types.Context, limit: float = NARROW) -> bool:
    """Whether there is no room for a name beside its field, as in the sidebar at first."""
    return region_width(context) < limit


class _Wrapper(textwrap.TextWrapper):
    """Breaks lines between words, and paths between folders."""

    wordsep_simple_re = re.compile(r"(\s+|(?<=[/\\]))")


@lru_cache(maxsize=256)
def _lines(text: str, letters: int) -> list[str]:
    """A sentence as lines; cached, since every redraw needs the same ones."""
    return _Wrapper(letters, break_on_hyphens=False).wrap(text)


def draw_message(
    layout: bpy.types.UILayout, context: bpy.types.Context, text: str, icon: str
) -> None:
    """A sentence, broken into as many lines as the region's width needs."""
    letters = int((region_width(context) - _BESIDE) / _LETTER)
    column = layout.column(align=True)
    for number, line in enumerate(_lines(text, max(16, letters))):
        column.label(text=line, icon=icon if number == 0 else "BLANK1")

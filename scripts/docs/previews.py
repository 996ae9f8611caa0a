"""Make the small pictures of presets that menus show: `python scripts/docs/previews.py [NAME …]`.

Menus show a picture in the size of a thumb. So it is no view of a crowd, which at that size looks
like any other, but a drawing of what the preset does, from above; `previews.toml` has them.
"""

from __future__ import annotations

import math
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from PIL import Image, ImageDraw  # noqa: E402

from scripts.docs.each_preset import make_each  # noqa: E402
from steer_addon.blender.ui import previews  # noqa: E402
from steer_addon.core.crowd.presets import builtin_folder  # noqa: E402

DRAWINGS = Path(__file__).with_suffix(".toml")
SIZE = 96
"""Width and height of a picture [pixels], and of the field that marks are placed in."""
FINE = 6
"""Pixels of the drawing per pixel of the picture, which so has smooth edges."""
LIMIT = 5_000
"""Largest file [bytes]."""
LINE = (30, 30, 34, 255)
COLORS = {
    "blue": (92, 158, 224, 255), "orange": (240, 150, 60, 255), "red": (228, 84, 74, 255),
    "green": (110, 190, 110, 255), "sand": (214, 178, 128, 255), "gray": (158, 164, 172, 255),
    "violet": (176, 136, 222, 255), "yellow": (240, 208, 92, 255),
    "veil": (240, 208, 92, 90), "haze": (228, 84, 74, 70),
}  # fmt: skip
"""Colors that can be told apart on dark themes and on light ones."""
SHAPES = {
    "person": [(9, 0), (3, -6), (-6, -6), (-3, 0), (-6, 6), (3, 6)],
    "bird": [(9, 0), (1, -3), (-7, -11), (-4, 0), (-7, 11), (1, 3)],
    "fish": [(10, 0), (5, -4), (-3, -4), (-10, -7), (-8, 0), (-10, 7), (-3, 4), (5, 4)],
    "beast": [(12, 0), (8, -4), (5, -3), (4, -5), (-8, -5),
              (-11, 0), (-8, 5), (4, 5), (5, 3), (8, 4)],
    "cone": [(13, 0), (-8, -6), (-10, 0), (-8, 6)],
}  # fmt: skip
"""Outlines of agents that look along x."""


class Drawing:
    """A picture in the making."""

    def __init__(self) -> None:
        self.image = Image.new("RGBA", (SIZE * FINE, SIZE * FINE))
        self.draw = ImageDraw.Draw(self.image, "RGBA")

    def add(self, mark: str) -> None:
        """Draw a mark: its kind, its numbers and its color, parted by spaces."""
        kind, *words = mark.split()
        color = COLORS[words.pop()]
        numbers = [float(word) for word in words]
        if kind in SHAPES:
            self.shape(SHAPES[kind], numbers, color)
        else:
            getattr(self, kind)(numbers, color)

    def shape(self, outline: list[tuple[float, float]], numbers: list[float], color: tuple) -> None:
        """An agent: place, direction [deg, 0 right, 90 up] and, if it is not 1, size."""
        x, y, angle, size = (*numbers, 1.0)[:4]
        c, s = math.cos(math.radians(angle)), -math.sin(math.radians(angle))
        corners = [(x + size * (u * c - v * s), y + size * (u * s + v * c)) for u, v in outline]
        self.face(corners, color)

    def face(self, corners: list[tuple[float, float]], color: tuple) -> None:
        """A polygon with a dark line around."""
        points = [(x * FINE, y * FINE) for x, y in corners]
        self.draw.polygon(points, fill=color)
        self.draw.line([*points, *points[:2]], fill=LINE, width=FINE, joint="curve")

    def block(self, numbers: list[float], color: tuple) -> None:
        """A box: left, top, width and height."""
        x, y, w, h = numbers
        self.face([(x, y), (x + w, y), (x + w, y + h), (x, y + h)], color)

    def ball(self, numbers: list[float], color: tuple) -> None:
        """A disc: middle and radius."""
        x, y, r = (FINE * n for n in numbers)
        self.draw.ellipse((x - r, y - r, x + r, y + r), fill=color, outline=LINE, width=FINE)

    def area(self, numbers: list[float], color: tuple) -> None:
        """A polygon without a line around, such as a field of view."""
        self.draw.polygon([n * FINE for n in numbers], fill=color)

    def path(self, numbers: list[float], color: tuple) -> None:
        """A dashed line through points."""
        points = list(zip(numbers[::2], numbers[1::2], strict=True))
        for (x, y), (u, v) in zip(points, points[1:], strict=False):
            dashes = max(1, round(math.hypot(u - x, v - y) / 7.0))
            for k in range(dashes):
                a, b = k / dashes, (k + 0.6) / dashes
                ends = [(x + (u - x) * t, y + (v - y) * t) for t in (a, b)]
                self.draw.line([n * FINE for p in ends for n in p], fill=color, width=2 * FINE)

    def arrow(self, numbers: list[float], color: tuple) -> None:
        """An arrow through points."""
        self.draw.line([n * FINE for n in numbers], fill=color, width=3 * FINE, joint="curve")
        u, v, x, y = numbers[-4:]
        angle = math.degrees(math.atan2(v - y, x - u))
        head = [(6, 0), (-4, -6), (-4, 6)]
        self.shape(head, [x, y, angle], color)

    def flag(self, numbers: list[float], color: tuple) -> None:
        """A flag: foot of its pole, and height."""
        x, y, high = (*numbers, 26.0)[:3]
        self.draw.line([x * FINE, y * FINE, x * FINE, (y - high) * FINE], fill=COLORS["gray"],
                       width=3 * FINE)  # fmt: skip
        self.face([(x, y - high), (x + 17, y - high + 6), (x, y - high + 13)], color)


def render(preset: str, folder: Path) -> Path:
    """Make the picture of one preset; returns its path."""
    drawing = Drawing()
    for mark in tomllib.loads(DRAWINGS.read_text(encoding="utf-8"))[preset]["marks"]:
        drawing.add(mark)
    image = drawing.image.resize((SIZE, SIZE), Image.Resampling.LANCZOS)
    path = folder / f"{preset}.png"
    image.quantize(96, method=Image.Quantize.FASTOCTREE).save(path, optimize=True)
    return path


def main(names: list[str]) -> int:
    """Make the pictures of some presets, or of all built-in ones."""
    return make_each(names, render, builtin_folder() / previews.FOLDER, LIMIT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

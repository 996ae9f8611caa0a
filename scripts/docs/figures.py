"""Draw the figures of docs/ from simulations: `python scripts/docs/figures.py`.

Each figure is an SVG file of paths seen from above, dots at equal times.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from steer_addon.core.agents import make_agents  # noqa: E402 - the checkout comes first
from steer_addon.core.crowd.settings import CrowdSettings, make_behavior  # noqa: E402
from steer_addon.core.inputs.spheres import make_spheres  # noqa: E402
from steer_addon.core.inputs.world import make_world  # noqa: E402
from steer_addon.core.step.simulation import Simulation  # noqa: E402

FOLDER = ROOT / "docs" / "images"
SCALE = 40.0
"""Pixels per meter."""
FPS = 24
INK, PATH, OBSTACLE = "#3B3A40", "#B5482F", "#C9D3DA"


@dataclass
class Panel:
    """One drawing: obstacles and paths of agents."""

    title: str
    paths: list[np.ndarray] = field(default_factory=list)
    circles: list[tuple[float, float, float]] = field(default_factory=list)
    low: tuple[float, float] = (-0.6, -2.6)
    high: tuple[float, float] = (12.6, 2.6)

    def svg(self, top: float) -> str:
        """The drawing as SVG elements, `top` pixels below the edge."""
        x0, y1 = self.low[0], self.high[1]

        def place(x: float, y: float) -> tuple[str, str]:
            return f"{(x - x0) * SCALE:.1f}", f"{top + (y1 - y) * SCALE:.1f}"

        parts = []
        for x, y, radius in self.circles:
            px, py = place(x, y)
            parts.append(
                f'<circle cx="{px}" cy="{py}" r="{radius * SCALE:.1f}" fill="{OBSTACLE}"/>'
            )
        for path in self.paths:
            line = " ".join(",".join(place(*point)) for point in path)
            parts.append(
                f'<polyline points="{line}" fill="none" stroke="{PATH}" stroke-width="2"/>'
            )
            for point in path[:: FPS // 2]:
                px, py = place(*point)
                parts.append(f'<circle cx="{px}" cy="{py}" r="3.2" fill="{PATH}"/>')
        px, py = place(x0 + 0.2, y1 - 0.45)
        parts.append(
            f'<text x="{px}" y="{py}" font-family="sans-serif" font-size="15" fill="{INK}">'
            f"{self.title}</text>"
        )
        return "\n".join(parts)


def write(name: str, panels: list[Panel]) -> Path:
    """Write panels below one another into one file."""
    width = (panels[0].high[0] - panels[0].low[0]) * SCALE
    heights = [(panel.high[1] - panel.low[1]) * SCALE for panel in panels]
    tops = np.cumsum([0.0, *heights])
    body = "\n".join(panel.svg(float(top)) for panel, top in zip(panels, tops, strict=False))
    path = FOLDER / f"{name}.svg"
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {tops[-1]:.0f}">\n'
        f'<rect width="100%" height="100%" fill="#FFFFFF"/>\n{body}\n</svg>\n',
        encoding="utf-8",
    )
    return path


def head_on(method: str, seconds: float = 9.0) -> np.ndarray:
    """Path [m] of an agent that walks straight at a sphere, to a target behind it."""
    stack = (
        make_behavior({"type": "arrive"}),
        make_behavior(
            {"type": "obstacle_avoidance", "method": method, "look_ahead": 5.0, "max_avoid": 6.0}
        ),
    )
    agents = make_agents(
        [[0.0, 0.0, 0.0]],
        radius=0.25,
        mass=1.0,
        max_speed=1.4,
        max_force=10.0,
        velocity=[[1.4, 0.0, 0.0]],
    )
    world = make_world(targets=[[12.0, 0.0, 0.0]], spheres=make_spheres([[6.0, 0.0, 0.0]], 1.5))
    run = Simulation(CrowdSettings(behaviors=stack), agents, frame=1, fps=FPS)
    frames = [run.current()] + [run.step(world) for _ in range(round(seconds * FPS))]
    return np.array([frame.position[0, :2] for frame in frames], np.float64)


def main() -> int:
    """Draw all figures; returns the exit code."""
    titles = {
        "AHEAD": "AHEAD: the push points back from the center: straight on, it brakes",
        "LATERAL": "LATERAL: the push points aside: nobody is sent back",
    }
    panels = [
        Panel(title, [head_on(method)], [(6.0, 0.0, 1.5)]) for method, title in titles.items()
    ]
    print(write("head_on", panels).relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Any finite input at all, as hypothesis strategies: huge, tiny, empty, coincident."""

from __future__ import annotations

from functools import cache

import numpy as np
from any_world import variants_of
from crowdtools import box
from hypothesis import strategies as st

from steer_addon.core.agents import Agents, make_agents
from steer_addon.core.behaviors import Behavior, own_parameters
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.containers import make_container
from steer_addon.core.inputs.fields import make_field
from steer_addon.core.inputs.paths import Path
from steer_addon.core.inputs.spheres import make_spheres
from steer_addon.core.inputs.world import World, make_targets, make_world
from steer_addon.core.parameters import ParameterInfo

FAR = 2.0**100
"""[m] and [m/s]; what is larger counts as this, as docs/architecture.md says."""
HUGE = (2.0**40, FAR, float(np.finfo(np.float32).max), 1.0e300, float(np.finfo(float).max))

_variants_of = cache(variants_of)

coordinates = st.one_of(
    st.sampled_from([0.0, 1.0, -2.0, 1.0e-7, -1.0e-30, 5.0e-324]),
    st.sampled_from([sign * number for number in HUGE for sign in (1.0, -1.0)]),
    st.floats(-4.0, 4.0, width=32),
    st.floats(-(2.0**40), 2.0**40, width=32),
    st.floats(allow_nan=False, allow_infinity=False),
)
vectors = st.tuples(coordinates, coordinates, coordinates)
sizes = st.sampled_from([0.0, 1.0e-6, 0.25, 3.0, *HUGE])


def block(center: np.ndarray, size: tuple[float, float, float], name: str) -> Mesh:
    """A box of any size: corners that do not fit 64 bits are at the end of them."""
    with np.errstate(over="ignore"):
        corners = center + box((0, 0, 0), (1, 1, 1)).triangles.astype(float) * size
    return Mesh(name, np.clip(corners, -HUGE[-1], HUGE[-1]))


@st.composite
def numbers(draw: st.DrawFn, info: ParameterInfo) -> float:
    """A legal value of a parameter, often the smallest, the default or the largest one."""
    ends = st.sampled_from([info.minimum, info.default, info.soft_maximum, info.maximum])
    if info.kind == "int":
        return draw(ends | st.integers(int(info.minimum), min(int(info.maximum), 50)))
    return draw(ends | st.floats(info.minimum, min(info.maximum, 10.0)))


@st.composite
def behaviors(draw: st.DrawFn, cls: type[Behavior]) -> Behavior:
    """A behavior with any legal parameters."""
    chosen = draw(st.sampled_from(_variants_of(cls)))
    values = {
        name: draw(numbers(info) if info.kind in ("float", "int") else st.booleans())
        for name, info in own_parameters(cls).items()
        if info.kind not in ("choice", "text")
    }
    choices = {
        name: getattr(chosen, name)
        for name, info in own_parameters(cls).items()
        if info.kind == "choice"
    }
    return cls(weight=draw(st.sampled_from([1.0e-6, 1.0, 1000.0])), **values, **choices)


@st.composite
def agents(draw: st.DrawFn, places: st.SearchStrategy) -> Agents:
    """A few agents, some of them at one place."""
    rows = draw(
        st.lists(st.tuples(places, vectors | st.just((0.0, 0.0, 0.0))), min_size=1, max_size=4)
    )
    return make_agents(
        [position for position, _ in rows],
        velocity=[velocity for _, velocity in rows],
        radius=draw(sizes),
        mass=draw(st.sampled_from([1.0e-3, 1.0, *HUGE])),
        max_speed=draw(sizes),
        max_force=draw(sizes),
    )


@st.composite
def worlds(draw: st.DrawFn, places: st.SearchStrategy) -> World:
    """A world where anything may be missing, without size, or at one place with the agents."""

    def rows(least: int = 0, most: int = 4) -> np.ndarray:
        return np.reshape(draw(st.lists(places, min_size=least, max_size=most)), (-1, 3))

    def targets():
        position = rows(most=3)
        velocity = [draw(vectors) for _ in position]
        up = [draw(vectors) for _ in position]
        return make_targets(position, velocity, up=up)

    blocks = [
        block(center, draw(st.tuples(sizes, sizes, sizes)), f"block {k}")
        for k, center in enumerate(rows(most=2))
    ]
    centers = rows(most=3)
    points = rows(most=3)
    faces = [[0, 1, 2]] if len(points) == 3 and draw(st.booleans()) else []
    corners = rows(3, 3)
    ground = Mesh("ground", corners[None])
    # open and folded: nothing makes sure that what is chosen as a container is closed
    hull = rows(3, 3) if draw(st.booleans()) else None
    return make_world(
        targets=targets(),
        second_targets=targets(),
        colliders=blocks,
        ground=ground if draw(st.booleans()) else None,
        spheres=make_spheres(centers, [draw(sizes) for _ in centers]),
        paths=[Path(rows(), cyclic=draw(st.booleans())) for _ in range(draw(st.integers(0, 2)))],
        fields=make_field(points, [draw(vectors) for _ in points], faces=faces),
        containers=make_container(
            draw(places),
            draw(st.tuples(sizes, sizes, sizes)),
            radius=draw(sizes),
            mesh=None if hull is None else Mesh("hull", hull[None]),
        )
        if draw(st.booleans())
        else None,
    )

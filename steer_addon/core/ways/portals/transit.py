"""Transit: agents of a crowd that go through portals in one step, see `passing`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...agents import Agents
from ...geometry import fewer, ground
from ...views import AgentView, NeighborView, WorldView
from .declared import Portal, long
from .gates import Gates, no_gates
from .passing import (
    BEGIN,
    END,
    KEY,
    ON,
    SHARE,
    WIDTH,
    above,
    entering,
    line_of,
    pass_on,
    queue,
    waiting,
)

F32 = NDArray[np.float32]
I64 = NDArray[np.int64]


@dataclass(eq=False, repr=False)
class Transit:
    """Who goes through portals in one step.

    Attributes:
        portals: The portals, by their keys.
        on: What agents in portals remember, see `passing.ON`, shape (agents, WIDTH).
        heads: The portals that agents head for.
        via: Their entrances [m], shape (agents, 3).
        left: Whether each agent was in a portal that is gone, shape (agents,).
        tall: Height of the highest body [m], 0 where bodies do not touch each other.
    """

    portals: dict[int, Portal]
    on: F32
    heads: Gates
    via: F32
    left: NDArray[np.bool_]
    tall: float

    @classmethod
    def begun(cls, portals: tuple[Portal, ...], agents: Agents, tall: float) -> Transit | None:
        """The agents in portals at the start of a step; None where there are no portals.

        Args:
            portals: The portals.
            agents: The living.
            tall: Height of the highest body [m], 0 where bodies do not touch each other.
        """
        before = agents.memory.get(ON)
        if not portals and (before is None or not before.any()):
            return None
        on = np.zeros((agents.count, WIDTH), np.float32)
        if before is not None and before.shape == on.shape:
            on[:] = before
        known = {each.key: each for each in reversed(portals)}
        left = (on[:, KEY] != 0.0) & ~np.isin(np.abs(on[:, KEY]).astype(np.int64), list(known))
        on[left] = 0.0
        return cls(known, on, no_gates(agents.count), agents.position.copy(), left, tall)

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Whether each agent is in a portal, shape (agents,)."""
        found: NDArray[np.bool_] = self.on[:, KEY] != 0.0
        return found

    def beside(self, near: NeighborView) -> NeighborView:
        """Lists of neighbors without those in portals, who are over the heads of others.

        Args:
            near: The lists; the rows of the crowd come first.
        """
        inside = self.inside
        if not (near.index.size and inside.any()):
            return near
        listed = np.arange(near.index.shape[1]) < near.count[:, None]
        own = listed & (near.index < len(inside))
        return fewer.only(near, listed & ~(own & inside[np.where(own, near.index, 0)]))

    def wait(self, gates: Gates, via: F32, agents: Agents) -> None:
        """Let agents head for portals, and those wait that cannot enter; `via` is changed.

        Args:
            gates: The portals that they head for by a behavior; of several the first one counts.
            via: Where they head for [m].
            agents: The living.
        """
        new = (gates.portal != 0) & (self.heads.portal == 0)
        self.heads.portal[new] = gates.portal[new]
        self.heads.exit[new], self.via[new] = gates.exit[new], via[new]
        if gates.portal.any():
            waits = queue(gates.portal, via, agents.position, agents.id, self.on)
            over = above(waits, via, agents.position, agents.radius, self.on, self.tall)
            waits = waits._replace(shut=waits.shut | over)
            waiting(waits, via, agents.position, agents.radius)

    def move(
        self,
        view: AgentView,
        sees: WorldView,
        before: Agents,
        after: Agents,
    ) -> I64:
        """Let agents enter portals, and move on in them: the rows of those that did.

        Args:
            view: All agents that the crowd sees, its own first.
            sees: The world.
            before: The living at the start of the step.
            after: The living where they went; changed.
        """
        lines = {i: self._line(i) for i in np.flatnonzero(self.inside).tolist()}
        gone = np.zeros(before.count, np.float32)
        for i, line in lines.items():
            gone[i] = self.on[i, SHARE] * long(line)
        free = (before.arrived == 0) & ~self.inside
        portal = np.where(free, self.heads.portal, 0).astype(np.int32)
        if portal.any():
            waits = queue(portal, self.via, before.position, before.id, self.on)
            for i in entering(waits, portal, self.on, gone, before.radius).tolist():
                self._enter(i, before.position[i])
                lines[i] = self._line(i)
        rows = np.array(list(lines), np.int64)
        # those in front first, so that the others can follow
        order = np.lexsort((before.id[rows], -gone[rows]))
        place = view.position.copy()
        moved = after.position, after.velocity, after.heading, after.normal
        for i in rows[order].tolist():
            line = lines[i]
            seconds = self.portals[abs(int(self.on[i, KEY]))].seconds
            seconds = seconds or long(line) / max(float(before.max_speed[i]), 1.0e-6)
            seen = (
                line,
                float(self.on[i, SHARE]),
                seconds,
                sees.dt,
                (view.radius, self.tall),
                place,
                moved,
            )
            self.on[i, SHARE] = pass_on(i, *seen)
            if self.on[i, SHARE] >= 1.0:
                self.on[i] = 0.0
        if ON in before.memory or len(rows):
            after.memory[ON] = self.on
        return np.sort(np.concatenate([rows, self._put_down(before, after, sees)]))

    def _put_down(self, before: Agents, after: Agents, sees: WorldView) -> I64:
        """Put those on the ground whose portal is gone: their rows."""
        rows = np.flatnonzero(self.left)
        if len(rows):
            feet = before.position[rows]
            if len(sees.ground.link):
                feet = ground.place_many(sees.ground, feet, sees.min_up)[0]
            after.position[rows], after.velocity[rows] = feet, 0.0
        return rows

    def _enter(self, i: int, place: F32) -> None:
        key = int(self.heads.portal[i])
        points = self.portals[abs(key)].points[:: 1 if key > 0 else -1]
        self.on[i, KEY], self.on[i, SHARE] = key, 0.0
        self.on[i, BEGIN:END] = place - points[0]
        self.on[i, END:] = self.heads.exit[i] - points[-1]

    def _line(self, i: int) -> F32:
        return line_of(self.portals[abs(int(self.on[i, KEY]))], self.on[i])

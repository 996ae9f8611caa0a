"""Runs of the crowds of a stored world, with the bits that those of its scene have."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..crowd import membership
from ..crowd.kept import as_in_blender
from ..crowd.meets import Relation, relations, with_bodies
from ..crowd.settings import CrowdSettings
from ..diagnoses import Diagnosis, diagnose
from ..errors import ParameterError, SceneError, WorldError
from ..inputs.targets import Targets
from ..inputs.world import CollidersBuilder, World
from ..results.frames import Frame, targets_of
from ..runs import linking, several
from ..runs.group import RunGroup
from ..runs.points import agents_of
from ..runs.session import Session
from ..step.simulation import Simulation, Taking
from ..ways.areas.declared import Areas
from .changes import changed, check_read, what_is_read
from .layout import AREAS, COLLIDERS, EXITS, GROUND, KINDS, PAINT, PORTALS
from .parts import made
from .stored import Begin, Row, StoredCrowd, open_world

Moment = list[tuple[StoredCrowd, "StoredSession", Frame]]


class Replayer:
    """Makes the worlds of one crowd; what does not change from frame to frame stays the same."""

    def __init__(self, crowd: StoredCrowd) -> None:
        self._crowd = crowd
        self._values: dict[int, tuple[int, Any]] = {}
        self._builders = {COLLIDERS: CollidersBuilder(), EXITS: CollidersBuilder()}
        self._areas: Areas | None = None

    def world(self, record: int) -> World:
        """The world of a number.

        Raises:
            WorldError: Its arrays cannot be those of a world.
        """
        found: dict[str, dict[str, Any]] = {}
        for slot, version in self._crowd.records[record].tolist():
            kind, name = self._crowd.slots[slot]
            found.setdefault(kind, {})[name] = self._value(slot, version)
        for kind, builder in self._builders.items():
            if kind in found:
                found[kind] = {"": builder.build(list(found[kind].values()))}
        single = (COLLIDERS, EXITS, GROUND, "spheres", "emitters")
        alone: dict[str, Any] = {kind: found.pop(kind, {}).get("") for kind in single}
        marks = found.pop(AREAS, {}), found.pop(PAINT, {}).get("")
        areas = self._joined(*marks, found.pop(PORTALS, {}))
        named: dict[str, Any] = found
        return World(**alone, **named, areas=areas)

    def _joined(self, areas: dict[str, Any], paint: Any, portals: dict[str, Any]) -> Areas | None:
        """All areas, the same instance while nothing about them changes."""
        if not (areas or portals) and paint is None:
            return None
        new = Areas(tuple(areas.values()), paint, tuple(portals.values()))
        if self._areas is None or new.parts != self._areas.parts:
            self._areas = new
        return self._areas

    def _value(self, slot: int, version: int) -> Any:
        known = self._values.get(slot)
        if known is None or known[0] != version:
            kind, name = self._crowd.slots[slot]
            places = self._crowd.versions[slot][version].reshape(-1, 2).tolist()
            arrays = {
                key: self._crowd.arrays.optional(file, place, shape)
                for (key, file, shape), place in zip(KINDS[kind], places, strict=True)
            }
            known = self._values[slot] = version, made(kind, name, arrays)
        return known[1]


class StoredSession(Session):
    """A simulation of a stored crowd, with the worlds that it reads."""

    def __init__(
        self, crowd: StoredCrowd, begin: Begin, settings: CrowdSettings, fps: float
    ) -> None:
        """Start at the first frame of the crowd.

        Args:
            crowd: The crowd.
            begin: Its points, and what it reads with them.
            settings: Its settings there.
            fps: Frames per second.

        Raises:
            SteerError: It cannot be simulated.
        """
        self.fps = fps
        self._crowd, self._row, self._replayer = crowd, begin.row, Replayer(crowd)
        agents = agents_of(begin.points, settings, crowd.name)
        self.world = self._replayer.world(begin.row.record)
        self.simulation = Simulation(settings, agents, frame=crowd.first, fps=fps, world=self.world)

    @property
    def read_warnings(self) -> list[Diagnosis]:
        """Diagnoses of the world at its frame."""
        return list(self._crowd.warnings[self._row.warnings])

    def read(self, row: Row) -> None:
        """Read the world at the next frame."""
        if row.record != self._row.record:
            self.world = self._replayer.world(row.record)
        self._row = row


class _Group(RunGroup[StoredCrowd, StoredSession]):
    """Stored crowds of which the first one depends on all others.

    Attributes:
        number: The frame that they advance to.
    """

    def __init__(self, source: WorldSource, members: list[StoredCrowd], needed: set[int]) -> None:
        super().__init__(members, needed)
        self._source, self.number = source, 0

    def span(self, crowd: StoredCrowd) -> tuple[int, int]:
        return crowd.first, crowd.last

    def begin(self, crowd: StoredCrowd) -> StoredSession:
        begin = crowd.begins.get(self.number)
        if begin is None:
            raise WorldError(
                f"Crowd {crowd.name!r} of {self._source.world.path} is met before its first frame, "
                f"at frame {self.number}, which was not so when it was extracted: extract the "
                "world again with the same --set and --crowd"
            )
        settings = self._source.settings_of(crowd, begin.row.settings)
        return StoredSession(crowd, begin, settings, self._source.fps)

    def settings_at(self, crowd: StoredCrowd) -> CrowdSettings:
        return self._source.settings_of(crowd, crowd.row(self.number).settings)

    def read(self, crowd: StoredCrowd, session: StoredSession, settings: CrowdSettings) -> None:
        session.read(crowd.row(self.number))

    def taking(
        self,
        crowd: StoredCrowd,
        session: StoredSession,
        settings: CrowdSettings,
        before: Mapping[int, Frame],
    ) -> Taking:
        def targets(other: StoredCrowd) -> Targets:
            frame = before.get(other.session_uid)
            if frame is None:
                start = min(other.first, crowd.first)
                far = {"other": other.name, "start": start}
                raise SceneError(diagnose("OTHER_CROWD_NOT_SIMULATED", crowd.name, **far))
            axis = self._source.seen(other, self.number).motion.forward_axis
            return targets_of(frame, axis, own=other is crowd)

        slots = self._source.slots(crowd)
        world = linking.with_crowds(session.world, slots, targets)
        return Taking(session.simulation, world, settings)

    def relations(self, crowds: Sequence[StoredCrowd]) -> tuple[Relation, Relation]:
        return self._source.relations_of(crowds, self.number)


class WorldSource(several.Source[StoredCrowd, StoredSession]):
    """The crowds of a stored world, with what is changed about them for a run."""

    def __init__(self, path: Path) -> None:
        """Open a stored world.

        Raises:
            WorldError: It is damaged, or of a newer format.
        """
        self.world = open_world(path)
        self.fps = self.world.fps
        self._made: dict[tuple[int, int], CrowdSettings] = {}

    def find(self, names: Sequence[str]) -> list[StoredCrowd]:
        """The crowds that have these names, or all that were to be extracted.

        Raises:
            SceneError: There is no such crowd.
        """
        crowds = self.world.crowds
        known = ", ".join(repr(crowd.name) for crowd in crowds)
        for name in names:
            if all(crowd.name != name for crowd in crowds):
                raise SceneError(f"There is no crowd {name!r}: the world has {known}")
        return [crowd for crowd in crowds if (crowd.name in names if names else crowd.chosen)]

    def frames_of(self, crowd: StoredCrowd, frames: range | None) -> range:
        """Frames to run: the given ones, or those that the world was extracted for.

        Raises:
            SceneError: The world does not hold them.
        """
        if frames is None:
            return crowd.default
        if frames[0] < crowd.first or frames[-1] > crowd.last:
            raise SceneError(
                f"Frames {frames[0]}-{frames[-1]} are not all in the world: it holds "
                f"{crowd.first}-{crowd.last} of crowd {crowd.name!r}; give --frames from these, or "
                "extract more of them"
            )
        return frames

    def override(self, crowd: StoredCrowd, texts: Sequence[str], seed: int | None) -> CrowdSettings:
        """Change settings by texts like "separation.weight=2", and the seed; returns them.

        A changed setting is no longer animated.

        Raises:
            ParameterError: There is no such setting, a value does not fit, or it decides what is
                read from the scene.
        """
        if texts or seed is not None:
            if crowd.driving:
                raise ParameterError(
                    f"A driver of the scene reads settings of crowd {crowd.name!r}, and a world no "
                    "longer has the scene: extract it with these --set and --seed, or simulate the "
                    ".blend file"
                )
            how = {"walls": crowd.walls, "alone": not self.world.complete}
            for number, before in enumerate(crowd.settings):
                after = as_in_blender(changed(before, texts, seed))
                check_read(what_is_read(before, **how), what_is_read(after, **how))
                self._made[crowd.session_uid, number] = _asked(after)
        return changed(crowd.settings[crowd.base], texts, seed)

    def settings_of(self, crowd: StoredCrowd, number: int) -> CrowdSettings:
        """Some settings of a crowd, with what is changed for the run."""
        key = crowd.session_uid, number
        if key not in self._made:
            self._made[key] = _asked(crowd.settings[number])
        return self._made[key]

    def seen(self, crowd: StoredCrowd, number: int | None = None) -> CrowdSettings:
        """The settings of a crowd as others know them, at a frame."""
        if number is None or not crowd.keyed or not len(crowd.frames):
            return self.settings_of(crowd, crowd.base)
        return self.settings_of(crowd, crowd.row(number).settings)

    def slots(self, crowd: StoredCrowd) -> linking.Slots[StoredCrowd]:
        """The crowds that a crowd steers by."""
        return {key: self.world.crowds[k] for key, k in crowd.steers_by.items()}

    def relations_of(
        self, members: Sequence[StoredCrowd], number: int | None = None
    ) -> tuple[Relation, Relation]:
        """Which of some crowds see and which touch which, see `meets.relations`."""
        told = [self.seen(crowd, number) for crowd in members]
        chosen = np.array(
            [[other.session_uid in crowd.met for other in members] for crowd in members], np.bool_
        )
        sees, touches = relations([settings.meets for settings in told], chosen)
        return sees, with_bodies(touches, [s.bodies.collide_agents for s in told])

    def contents(self, crowd: StoredCrowd) -> dict[str, Any]:
        """What a crowd is, as plain data."""
        settings, members = self.settings_of(crowd, crowd.base), self.linked_crowds(crowd)
        begin = crowd.begins.get(crowd.first)
        agents = None if begin is None else agents_of(begin.points, settings, crowd.name)
        joined = None if agents is None else membership.joined(agents, settings)
        sees, touches = self.relations_of(members)
        met = {"sees": sees[0], "seen_by": sees[:, 0], "touches": touches[0]}
        return {
            "crowd": crowd.name,
            "agents": 0 if joined is None else joined.count,
            "capacity": settings.births.capacity if settings.births.emits else 0,
            "groups": {}
            if joined is None
            else {group.name: int(joined.among(group.name).sum()) for group in settings.groups},
            "frame_start": crowd.first,
            "frame_end": crowd.last,
            "seed": settings.seed,
            "behaviors": [entry.key for entry in settings.behaviors if entry.enabled],
            **{
                name: sorted(members[k].name for k in np.flatnonzero(row) if k)
                for name, row in met.items()
            },
            "steers_by": sorted({other.name for other in self.slots(crowd).values()}),
        }

    def span(self, crowd: StoredCrowd) -> range:
        """The frames that a crowd may be simulated for."""
        return range(crowd.first, crowd.last + 1)

    def linked(self, crowd: StoredCrowd) -> frozenset[int]:
        """Numbers of a crowd and of all that it depends on."""
        return frozenset(found.session_uid for found in self.linked_crowds(crowd))

    def linked_crowds(self, crowd: StoredCrowd) -> list[StoredCrowd]:
        """A crowd, first, and all crowds that it depends on, by name."""
        beside = [other for other in self.world.crowds if other.scenes & crowd.scenes]
        groups = linking.meeting_linkings(beside, self.relations_of(beside), self.slots)

        def group_of(one: StoredCrowd) -> linking.Linking[StoredCrowd]:
            return groups.get(one.session_uid) or linking.linking([one], self.slots)

        found = linking.reached(crowd, group_of)
        others = [other for other in found.values() if other is not crowd]
        return [crowd, *sorted(others, key=lambda other: other.name_full)]

    def moments(
        self, root: StoredCrowd, last: int, wanted: Sequence[StoredCrowd]
    ) -> Generator[Moment, None, None]:
        """Run a crowd and all that it depends on.

        Raises:
            WorldError: One of them plays a bake, and is not to be simulated.
        """
        members = self.linked_crowds(root)
        needed: set[int] = set()
        for crowd in wanted:
            needed |= linking.reached(crowd, lambda one: linking.linking([one], self.slots)).keys()
        for other in members:
            if other.baked and other not in wanted:
                raise WorldError(
                    f"Crowd {other.name!r} plays a bake in its file, and a world holds none: "
                    "simulate it too, or simulate the .blend file"
                )
        group = _Group(self, members, needed)
        for number in range(min(crowd.first for crowd in members), last + 1):
            group.number = number
            yield group.advance(number, read=True)


def _asked(settings: CrowdSettings) -> CrowdSettings:
    """Settings without the names of characters, unless a group asks for some."""
    cast = settings.cast
    if cast is None or any(group.characters for group in settings.groups):
        return settings
    return replace(settings, cast=replace(cast, names=None))

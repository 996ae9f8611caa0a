"""Where rigs of agents are made: what the characters of a crowd were made of is read once for all.

What was made goes again where an error comes up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.errors import CharacterError, SceneError
from ..characters import library, library_group, optional_parts, origins
from ..characters.heroes import figure_rigs
from ..characters.heroes.hero import MARK, make_hero
from ..characters.heroes.playing import playable
from ..crowd import crowds
from ..crowd.casting import characters_of, properties_of
from ..display import display
from ..display.look import look_of
from ..suspension import suspended
from .hero_motion import Tracks

AGENT = "steer_agent"
"""Custom property of the empty on top of a hero: the id of its agent."""
_KINDS = ("meshes", "curves", "lattices", "armatures", "actions")
"""Kinds of data that rigs consist of, beside objects."""


class Stage:
    """Makes rigs of the agents of a crowd; what characters were made of is read once for all."""

    def __init__(self, obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
        """Look at a crowd.

        Raises:
            SteerError: It shows no characters.
        """
        modifier = display.require_modifier(crowds.require_crowd(obj))
        self.characters = characters_of(modifier)
        if not self.characters:
            raise SceneError(
                f"Crowd {obj.name!r} shows no characters: choose Character or Characters under "
                "Display, as only these have rigs"
            )
        self.look = look_of(modifier)
        self.made: list[bpy.types.ID] = []
        self._templates: list[bpy.types.ID] = []
        self._scene = scene
        # diagnoses of attributes that rigs cannot have
        self._carried, self.left_out = properties_of(obj)
        self._seed = int(display.get_input(modifier, "Seed"))
        self._origins: dict[str, origins.Origins] = {}

    def why_no_rigs(self) -> dict[int, CharacterError]:
        """Why characters cannot be rigs, by their numbers.

        Raises:
            CharacterError: None of them can.
        """
        found = self._faults()
        if len(found) == len(self.characters):
            raise found[0]
        return found

    def _faults(self) -> dict[int, CharacterError]:
        found: dict[int, CharacterError] = {}
        for number, character in enumerate(self.characters):
            if not _is_figure(character):
                try:
                    origins.read(character)
                except CharacterError as error:
                    found[number] = error
        return found

    def require_any_rig(self, crowd: str) -> None:
        """Refuse to make rigs of agents before they are known, where no character can be one.

        Args:
            crowd: Name of the crowd.

        Raises:
            CharacterError: It is so.
        """
        why = self._faults()
        if len(why) == len(self.characters):
            raise _rigs_lacking(crowd, "all its characters", map(str, why.values()))

    def require_all_rigs(self, crowd: str, tracks: Tracks) -> None:
        """Refuse to make rigs of all agents where some cannot be any, and name all reasons.

        Args:
            crowd: Name of the crowd.
            tracks: Its agents.

        Raises:
            CharacterError: It is so.
        """
        why, numbers = self._faults(), self.numbers_of(tracks).tolist()
        counts = {number: numbers.count(number) for number in why if number in numbers}
        if counts:
            who = f"{sum(counts.values())} of its {len(numbers)} agents"
            reasons = (
                f"{why[n]} ({count} agent{'s' * (count > 1)})" for n, count in counts.items()
            )
            raise _rigs_lacking(crowd, who, reasons)

    def numbers_of(self, tracks: Tracks) -> NDArray[np.int64]:
        """The number of each agent's character, shape (agent_count,)."""
        numbers: NDArray[np.int64] = np.round(tracks.posture[0, :, 2]).astype(np.int64)
        return numbers % len(self.characters)

    def origins_of(self, number: int) -> origins.Origins:
        """What the character with a number was made of."""
        character = self.characters[number]
        found = self._origins.get(character.name_full)
        if found is None:
            if _is_figure(character):
                before = len(self.made)
                found = figure_rigs.origins_of(character, self._scene, self.made)
                made = self.made[before:]
                self._templates += [item for item in made if isinstance(item, bpy.types.Object)]
            else:
                library.rows_of(character)
                found = playable(origins.read(character), self._scene, MARK, self.made)
            self._origins[character.name_full] = found
        return found

    def make(
        self, name: str, tracks: Tracks, column: int, collection: bpy.types.Collection
    ) -> bpy.types.Object:
        """Make the rig of one agent."""
        number = int(self.numbers_of(tracks)[column])
        start = int(tracks.present[:, column].argmax())
        given = tracks.parts[start, column : column + 1]
        found = self._with_parts(number, int(tracks.ids[column]), given)
        upright = library_group.upright_of(self.characters[number])
        motion = tracks.motion(column, self.look, upright)
        carrier = make_hero(name, motion, found, collection, self.made)
        carrier[AGENT] = str(tracks.ids[column])
        for item in carrier.children_recursive:
            item["id"] = int(tracks.ids[column])  # materials draw by it, and by these
            for other in tracks.others.keys() & self._carried:
                item[other] = float(tracks.others[other][column])
        return carrier

    def _with_parts(self, number: int, agent: int, given: Any) -> origins.Origins:
        """What an agent's character was made of, without the optional parts that it lacks."""
        found = self.origins_of(number)
        optional = optional_parts.parts_of(self.characters[number])
        said = None if np.isnan(given[0]) else given
        drawn = optional_parts.carried(optional, [agent], self._seed, said)[0]
        missing = {name for (name, _chance), has in zip(optional, drawn, strict=True) if not has}
        return replace(found, parts=tuple(p for p in found.parts if p.name not in missing))

    def close(self, complete: bool) -> None:
        """Remove what served only to be copied, or all that was made."""
        wanted = self._templates if complete else self.made
        bpy.data.batch_remove(list(dict.fromkeys(wanted)))
        sweep()


def _rigs_lacking(crowd: str, who: str, reasons: Iterable[str]) -> CharacterError:
    return CharacterError(
        f"Crowd {crowd!r} cannot be baked to rigs, which {who} lack: {'; '.join(reasons)}; or bake "
        "without rigs"
    )


def _is_figure(character: bpy.types.Object) -> bool:
    """Whether a character is a built-in one, whose rig is made when it is needed."""
    return origins.KEY not in character and figure_rigs.is_built_in(character)


@contextmanager
def staged(obj: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[Stage]:
    """A stage whose work stays where no error comes up."""
    stage, complete = Stage(obj, scene), False
    with suspended():
        try:
            yield stage
            complete = True
        finally:
            stage.close(complete)


def sweep() -> None:
    """Remove what rigs consisted of where no rig is left that uses it."""
    while True:
        found: list[Any] = [item for kind in _KINDS for item in getattr(bpy.data, kind)]
        unused = [item for item in found if MARK in item and not item.users]
        if not unused:
            return
        bpy.data.batch_remove(unused)

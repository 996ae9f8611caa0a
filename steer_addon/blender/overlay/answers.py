"""Proposals of a crowd's behaviors at the shown frame.

A frame is explained from the agents kept with it, in the current scene: the answer is the next
step of the crowd as it is shown. So it works on stored frames and on bakes, and shows
immediately the effect of another weight, or of a moved target.

It is computed after an evaluation by Blender, never during drawing, and kept until the frame,
the settings or the scene change.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import bpy
from bpy.types import Depsgraph, Object, Scene

from ...core.compiled import jit
from ...core.diagnoses import Diagnosis, diagnose
from ...core.errors import NotReadyError, SceneError, SteerError
from ...core.explain import ask
from ...core.results.memories import stood_up
from ...core.sensing.declare import SECOND_TARGETS, TARGETS
from ...core.step.guiding import with_footing, with_ways
from ..bake import status
from ..crowd.crowds import is_crowd
from ..crowd.links import linked_crowds, with_crowds
from ..crowd.properties import settings_of
from ..crowd.records import Part
from ..crowd.scene_time import moment
from ..crowd.state import plays_back
from ..live import compiling, live
from ..live.simulate import fps_of
from ..reading.scene import WorldReader
from ..reading.scene_agents import read_agents
from ..reading.scene_inputs import needs_frames, signature
from . import seen
from .met import others_of
from .settings import MOST_CHOSEN, parse_ids
from .walkable import Floor

if TYPE_CHECKING:
    from ...core.crowd.settings import CrowdSettings
    from ...core.explain import AgentAnswer, Answer


@dataclass
class Explained:
    """Explanation of a crowd at the shown frame."""

    answer: Answer | None = None
    frame: int = 0
    notes: tuple[Diagnosis, ...] = ()
    """Reason why there is no answer, or why part of it is uncertain."""
    revision: int = 0
    """Number that changes with every change of the answer."""
    key: Any = None
    agents: dict[int, AgentAnswer] = field(default_factory=dict)
    """Explanations of single agents that were requested, by id."""
    reader: WorldReader | None = None
    looked: int | None = None
    """The scene's frame that the reader read last."""
    floor: Floor = field(default_factory=Floor)
    """The walkable surface."""
    still: bool = False
    """Whether the reader does not know how the objects at that frame move."""


_explained: Part[Explained] = Part(Explained, until_undo=True)
"""Drop the answers: an undo may restore other settings than the explained ones."""
_count = [0]


def forget() -> None:
    """Drop all answers, as when the overlay is hidden."""
    _explained.clear()
    seen.forget()


def crowd_of(scene: Scene) -> Object | None:
    """The crowd that the overlay explains: the chosen one, else the active object."""
    chosen = scene.steer_overlay.crowd
    if chosen is not None:
        return chosen if is_crowd(chosen) and scene in chosen.users_scene else None
    layer = bpy.context.view_layer
    active = layer.objects.active if layer is not None and bpy.context.scene == scene else None
    return active if is_crowd(active) else None


def get(obj: Object) -> Explained | None:
    """The kept answer of a crowd, without computing anything."""
    return _explained.get(obj)


def chosen_ids(scene: Scene) -> list[int]:
    """Ids of the chosen agents."""
    return parse_ids(scene.steer_overlay.agents)


def agent(found: Explained, number: int, *, looks: bool = False) -> AgentAnswer | None:
    """The explanation of one agent; None if there is no agent with this id."""
    known = found.agents.get(number)
    if known is not None and (not looks or any(part.looks for part in known.parts)):
        return known
    if found.answer is None:
        return None
    try:
        found.agents[number] = found.answer.agent(number, looks=looks)
    except NotReadyError:
        raise
    except SteerError:
        return None
    return found.agents[number]


def refresh(scene: Scene, depsgraph: Depsgraph, reshaped: set[int] | None = None) -> bool:
    """Explain the shown frame, if anything changed.

    Args:
        scene: The scene.
        depsgraph: The depsgraph that evaluated it.
        reshaped: Session uids of objects whose geometry was edited.

    Returns:
        Whether the answer changed.
    """
    obj = crowd_of(scene)
    if obj is None:
        _explained.clear()
        return True
    _explained.keep_only({obj.session_uid})
    found = _explained.ensure(obj)
    try:
        if live.must_wait(obj):
            # the answer is computed again when the crowd resumes
            return _fail(found, live.status(obj).diagnosis)
        with jit.deferring() if compiling.can_wait() else nullcontext():
            changed = _update(found, obj, scene, depsgraph, reshaped or set())
            if found.answer is not None and "SURFACE" in scene.steer_overlay.parts:
                found.floor.look(found.answer, chosen_ids(scene))
            # computed now, not while Blender draws
            for number in chosen_ids(scene)[-MOST_CHOSEN:]:
                agent(found, number, looks=True)
    except NotReadyError as error:
        live.hold(obj, error, looks=True)
        return _fail(found, live.status(obj).diagnosis)
    except SteerError as error:
        return _fail(found, error.diagnosis)
    return changed


def _fail(found: Explained, why: Diagnosis | None) -> bool:
    notes = () if why is None else (why,)
    if found.answer is None and found.notes == notes:
        return False
    found.answer, found.key, found.notes = None, None, notes
    _next(found)
    return True


def _next(found: Explained) -> None:
    _count[0] += 1
    found.revision, found.agents = _count[0], {}


def _update(
    found: Explained, obj: Object, scene: Scene, depsgraph: Depsgraph, reshaped: set[int]
) -> bool:
    source = seen.find(obj, scene)
    if source is None:
        raise SceneError(diagnose("NOT_SIMULATED", start=obj.steer.frame_start))
    settings = settings_of(obj)
    key = (source.key, settings, signature(obj, depsgraph))
    if found.key == key and not reshaped:
        return False
    shown = source.read()
    reader = found.reader = found.reader or WorldReader()
    now = moment(scene)[0]
    if found.looked != now:
        found.still = found.looked != now - 1 and needs_frames(obj)
        if found.still:
            # a difference to a distant frame would give a mean speed, not the speed here
            reader.forget_motion()
    reader.forget(reshaped)
    found.looked = now
    world = reader.read(obj, depsgraph, fps_of(scene), None, settings)
    others = {crowd.session_uid: seen.stepped_frame(crowd, scene) for crowd in linked_crowds(obj)}
    others[obj.session_uid] = shown.frame
    if shown.kept is not None:
        world = shown.kept.world(world)
    world = with_crowds(obj, world, {uid: f for uid, f in others.items() if f is not None})
    agents = shown.agents if shown.kept is None else shown.kept.agents
    if agents is None:
        start = read_agents(obj, depsgraph, settings)
        floor, size = with_footing(world, settings), shown.own_radius
        agents = stood_up(shown.frame, start, settings.motion, floor, own_radius=size)
    others_there = others_of(obj, scene, depsgraph)
    world = with_ways(replace(world, others=others_there), settings, found.floor.ways)
    number = shown.frame.number - obj.steer.frame_start
    found.answer = ask(settings, agents, world, 1.0 / fps_of(scene), number=number)
    found.frame, found.key = shown.frame.number, key
    found.notes = tuple(_notes(shown, obj, scene, settings, found.still))
    _next(found)
    return True


def _notes(
    shown: seen.Shown, obj: Object, scene: Scene, settings: CrowdSettings, still: bool
) -> list[Diagnosis]:
    """Diagnoses of the uncertain parts of an answer."""
    notes = []
    bake = status.status(obj, scene) if plays_back(obj) else None
    if bake is not None and bake.out_of_date is not None:
        notes.append(diagnose("EXPLAINS_PRESENT"))
    acting = settings.stack
    titles = [repr(b.title) for b in acting if b.definition.memory_width]
    if shown.kept is None and shown.agents is None and titles:
        known = {"behaviors": ", ".join(titles), "way_out": shown.way_out}
        notes.append(diagnose("MEMORY_UNKNOWN", **known))
    uses = {use for b in acting for use in b.definition.uses}
    if shown.kept is None and still and uses & {TARGETS, SECOND_TARGETS}:
        notes.append(diagnose("TARGETS_STILL"))
    return notes

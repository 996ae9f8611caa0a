"""What the behaviors of a crowd ask for at the frame that is seen.

A frame is explained from the agents kept beside it, in the scene as it is now: what is told is what
the crowd, standing as it is seen, is about to do. So it works on stored frames, and shows at once
what another weight, or a target somewhere else, would change.

It is computed after Blender evaluated something, never while it draws, and kept until the frame,
the settings or the scene change.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import bpy

from ...core.errors import SceneError, SteerError
from .. import live
from ..crowds import is_crowd
from ..links import linked_crowds, with_crowds
from ..properties import settings_of
from ..state import get_state, read_state
from .settings import MOST_CHOSEN, parse_ids

if TYPE_CHECKING:
    from ...core.explain import AgentAnswer, Answer
    from ...core.frames import Frame
    from ..scene import WorldReader

log = logging.getLogger(__name__)


@dataclass
class Explained:
    """A crowd at the frame that is seen."""

    answer: Answer | None = None
    frame: int = 0
    message: str = ""
    """Why there is nothing to tell, or what of it is not certain."""
    revision: int = 0
    """Another number whenever something of it changed."""
    key: Any = None
    agents: dict[int, AgentAnswer] = field(default_factory=dict)
    """Single agents that were asked for, by id."""
    reader: WorldReader | None = None


_known: dict[int, Explained] = {}
"""By the session uid of the crowd."""
_count = [0]


def forget() -> None:
    """Drop all that is known, as when another file is opened."""
    _known.clear()


def crowd_of(scene: bpy.types.Scene) -> bpy.types.Object | None:
    """The crowd that the overlay explains: the one chosen, else the active object."""
    chosen = scene.steer_overlay.crowd
    if chosen is not None:
        return chosen if is_crowd(chosen) and scene in chosen.users_scene else None
    layer = bpy.context.view_layer
    active = layer.objects.active if layer is not None and bpy.context.scene == scene else None
    return active if is_crowd(active) else None


def get(obj: bpy.types.Object) -> Explained | None:
    """What is known of a crowd, without computing anything."""
    return _known.get(obj.session_uid)


def chosen_ids(scene: bpy.types.Scene) -> list[int]:
    """Ids of the chosen agents."""
    return parse_ids(scene.steer_overlay.agents)


def agent(found: Explained, number: int, *, looks: bool = False) -> AgentAnswer | None:
    """What is told of one agent; None where there is none of that id."""
    known = found.agents.get(number)
    if known is not None and (not looks or any(part.looks for part in known.parts)):
        return known
    if found.answer is None:
        return None
    try:
        found.agents[number] = found.answer.agent(number, looks=looks)
    except SteerError:
        return None
    return found.agents[number]


def refresh(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, reshaped: set[int] | None = None
) -> bool:
    """Explain the frame that is seen, where something changed.

    Args:
        scene: The scene.
        depsgraph: What evaluated it.
        reshaped: Session uids of objects whose geometry was edited.

    Returns:
        Whether anything is new.
    """
    obj = crowd_of(scene)
    if obj is None:
        _known.clear()
        return True
    for uid in [uid for uid in _known if uid != obj.session_uid]:
        del _known[uid]
    found = _known.setdefault(obj.session_uid, Explained())
    try:
        changed = _update(found, obj, scene, depsgraph, reshaped or set())
    except SteerError as error:
        return _fail(found, str(error))
    # now, and not while Blender draws
    for number in chosen_ids(scene)[-MOST_CHOSEN:]:
        agent(found, number, looks=True)
    return changed


def _fail(found: Explained, text: str) -> bool:
    if found.answer is None and found.message == text:
        return False
    found.answer, found.key, found.message = None, None, text
    _next(found)
    return True


def _next(found: Explained) -> None:
    _count[0] += 1
    found.revision, found.agents = _count[0], {}


def seen_frame(obj: bpy.types.Object, scene: bpy.types.Scene) -> Frame | None:
    """The frame that a crowd shows: a stored one, or what its state holds."""
    steer = obj.steer
    number = min(max(scene.frame_current, steer.frame_start), steer.frame_end)
    frame = live.get_frame(obj, number)
    state = get_state(obj) if frame is None else None
    if state is not None and state.type == "MESH":
        shown = read_state(state)
        stored = None if shown is None else live.get_frame(obj, shown.number)
        return shown if stored is None else stored
    return frame


def _update(
    found: Explained,
    obj: bpy.types.Object,
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    reshaped: set[int],
) -> bool:
    from ...core.explain import ask
    from ..scene import WorldReader, signature
    from ..sessions import fps_of

    if obj.steer.hidden_by_bake:
        return _fail(found, "The crowd is baked: delete the bake to see why its agents turn")
    frame = seen_frame(obj, scene)
    if frame is None:
        raise SceneError(f"Not simulated yet: play from frame {obj.steer.frame_start}")
    settings = settings_of(obj)
    kept = live.get_kept(obj, frame.number)
    place = signature(obj, depsgraph)
    known = found.key
    # told apart by identity: comparing arrays would take longer; a state is read anew each time
    same = known is not None and known[0] == (frame.number if kept is None else frame)
    if same and known[1:] == (settings, place) and not reshaped:
        return False
    if found.reader is None:
        found.reader = WorldReader()
    found.reader.forget(reshaped)
    world = found.reader.read(obj, depsgraph, fps_of(scene), None, settings)
    if kept is not None:
        agents, message, world = kept.agents, "", kept.world(world)
    else:
        agents = _stood_up(obj, frame, depsgraph, settings)
        message = "What behaviors remember is not known at this frame: play again to know it"
    others = {crowd.session_uid: seen_frame(crowd, scene) for crowd in linked_crowds(obj)}
    others[obj.session_uid] = frame
    world = with_crowds(obj, world, {uid: f for uid, f in others.items() if f is not None})
    number = frame.number - obj.steer.frame_start
    found.answer = ask(settings, agents, world, 1.0 / fps_of(scene), number=number)
    found.frame, found.message = frame.number, message
    found.key = (frame.number if kept is None else frame, settings, place)
    _next(found)
    return True


def _stood_up(obj: Any, frame: Frame, depsgraph: Any, settings: Any) -> Any:
    from ...core.kept import stood_up
    from ..scene import read_agents

    start = read_agents(obj, depsgraph, settings)
    return stood_up(frame, start, settings.motion.forward_axis)

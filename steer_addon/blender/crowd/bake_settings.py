"""Settings of bakes; apart from the bakes themselves, since they are needed to draw panels."""

from __future__ import annotations

from ...core.crowd.settings import BLOCKS
from ...core.parameters import MORE_THAN_ZERO, Settings, choice, param


class KeyframeBakeSettings(Settings):
    """Which keys a keyframe bake writes."""

    step: int = param(
        1,
        minimum=1,
        maximum=10000,
        soft_maximum=25,
        doc="Every n-th frame gets keys, the first and the last always; more gives fewer keys. "
        "With a tolerance, frames in between get keys where it would be exceeded",
        per_agent=False,
    )
    tolerance: float = param(
        0.0,
        unit="m",
        minimum=0.0,
        soft_maximum=1.0,
        doc="Keys are left out while every simulated position stays within this distance of "
        "the linear interpolation; more gives fewer keys, 0 keeps them all",
        zero="All Keys",
        per_agent=False,
    )
    rotation_tolerance: float = param(
        1.0,
        unit="deg",
        minimum=0.0,
        maximum=180.0,
        soft_maximum=45.0,
        doc="With a tolerance, keys are left out only while every rotation stays within this "
        "angle too; 180 ignores rotations",
        shown_for=("tolerance", MORE_THAN_ZERO),
        per_agent=False,
    )
    interpolation: str = choice(
        "LINEAR",
        {
            "LINEAR": "Straight between keys; the tolerances hold for this one",
            "BEZIER": "Smooth between keys, without overshooting",
            "CONSTANT": "Each key is held until the next",
        },
        doc="How Blender moves agents between keys",
    )
    bodies: str = choice(
        "OBJECTS",
        {
            "OBJECTS": "An object for each agent; characters stand still",
            "RIGS": "The rig of its character for each agent, with strips of its actions, and keys "
            "at every frame; an armature takes about half a millisecond a frame",
        },
        doc="What agents that are shown as characters become",
    )
    actions: str = choice(
        "PER_AGENT",
        {
            "PER_AGENT": "An action for each agent: motions can be reused and mixed one by one",
            "SHARED": "One action with a slot for each agent: a single one to push down and move",
        },
        doc="How keys are stored",
    )


class VariationSettings(Settings):
    """Which variations of a crowd are made."""

    count: int = param(
        8,
        minimum=1,
        maximum=1000,
        soft_maximum=32,
        doc="How many variations are made; more gives more to choose from, and takes longer",
        per_agent=False,
    )
    first_seed: int = param(
        1,
        minimum=-1_000_000,
        maximum=1_000_000,
        doc="Seed of the first variation; the others have the seeds after it",
        per_agent=False,
    )


SHOWN_BLOCKS: dict[str, type[Settings]] = {
    **BLOCKS,
    "bake": KeyframeBakeSettings,
    "variations": VariationSettings,
}
"""All blocks of settings that a crowd has as properties, by name."""

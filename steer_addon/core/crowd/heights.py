"""How high bodies are: those of the settings, or of the point attribute `height`."""

from __future__ import annotations

import numpy as np

from ..agents import HEIGHT, Agents, FloatArray
from .settings import CrowdSettings


def heights(agents: Agents, settings: CrowdSettings) -> FloatArray:
    """Height of the body of each agent that walks [m], shape (agent_count,); 0 of those that fly.

    Args:
        agents: The crowd.
        settings: Its settings.
    """
    usual = np.full(agents.count, settings.body_height, np.float32)
    return agents.attributes.get(HEIGHT, usual) if settings.motion.motion == "GROUND" else usual


def tall(agents: Agents, settings: CrowdSettings) -> FloatArray:
    """How far a walker reaches above the height of a step, from which on colliders stop it [m].

    Args:
        agents: The crowd.
        settings: Its settings.

    Returns:
        Shape (agent_count,); 0 of those that fly, and of those no higher than a step.
    """
    step = np.float32(settings.motion.step_height)
    above: FloatArray = np.maximum(heights(agents, settings) - step, np.float32(0.0))
    return above

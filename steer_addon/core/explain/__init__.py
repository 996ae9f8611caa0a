"""Why an agent turned: what each behavior asked for, how much it counted, what it looked at.

`ask` takes a crowd as it stands at a frame and runs the solver's own step on it, so what is told is
what the solver does, to the last bit, wherever the world of the next frame is that of this one.
`Answer.agent` tells it of one agent.
"""

from .explanation import AgentAnswer, Answer, Part, ask
from .shapes import ROLES, Shape

__all__ = ["ROLES", "AgentAnswer", "Answer", "Part", "Shape", "ask"]

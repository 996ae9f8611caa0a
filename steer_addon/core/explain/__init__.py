"""Why an agent turned: the proposal of each behavior, its share, and the things it perceived.

`ask` takes a crowd as it stands at a frame and runs the solver's own step on it, so the explanation
is exact to the last bit wherever the world of the next frame is that of this one. `Answer.agent`
explains one agent.
"""

from .explanation import AgentAnswer, Answer, Part, ask
from .shapes import ROLES, Shape

__all__ = ["ROLES", "AgentAnswer", "Answer", "Part", "Shape", "ask"]

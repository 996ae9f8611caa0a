"""Ways: where walkers can go, and how they get round corners to a goal.

`surface` finds the walkable cells, `room` those with room for a body, `fields` the next corner on
the way to a goal, and `finder` leads agents along.
"""

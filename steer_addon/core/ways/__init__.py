"""Ways: where walkers can go, and how they get round corners to a goal.

`surface` finds the walkable cells, `room` those with room for a body, `fields` the next corner on
the way to a goal, and `finder` leads agents along. Where each has a goal of its own, `own` and
`corners` find and keep its way.
"""

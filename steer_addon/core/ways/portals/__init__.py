"""Portals: ladders, jumps and elevators, which join two places of the walkable surface.

`declared` holds them, `links` makes links of their ends, `passing` says how agents wait, enter and
move, and `transit` does so with those of a crowd.
"""

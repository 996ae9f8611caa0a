"""Portals: ladders, jumps and elevators, which join two places of the walkable surface.

`declared` holds them, `links` makes links of their ends, and `passing` moves agents along them.
"""

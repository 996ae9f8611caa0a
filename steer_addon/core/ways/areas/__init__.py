"""Areas: where some walkers may not go, would rather not, or go one way.

`kinds` names what areas mean, `declared` holds them, `marking` finds their cells, and `keeping_out`
keeps bodies out of forbidden ones.
"""

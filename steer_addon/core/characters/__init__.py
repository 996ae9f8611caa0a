"""Characters: bodies that move, as poses sampled over speeds and phases, and what walks them on."""

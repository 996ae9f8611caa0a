"""Fields: the next corner on the shortest way from each cell to a goal."""

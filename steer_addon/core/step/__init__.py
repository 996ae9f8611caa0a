"""One step of a crowd: proposals, integration, arrival, and the simulation over frames."""

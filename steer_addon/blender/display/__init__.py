"""How agents are shown: the Crowd modifier, its node group, and what it instances."""

"""A scene becomes a World and Agents: plain arrays in world space."""

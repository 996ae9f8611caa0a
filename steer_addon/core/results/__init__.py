"""Frames that a simulation leaves, and what is computed from them."""

"""Vectors, random numbers by counter, noise, easing, and bounds of numbers."""

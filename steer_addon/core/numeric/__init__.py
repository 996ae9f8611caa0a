"""Vectors, random numbers by counter, noise, and bounds of numbers."""

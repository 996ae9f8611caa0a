"""Crowds that are simulated while the animation plays."""

"""The version of Steer."""

__version__ = "0.1.0"

"""bake."""

NAME = "bake"


def add_arguments(parser):
    """x."""


def run(options):
    """x."""

"""render."""

NAME = "render"


def add_arguments(parser):
    """x."""


def run(options):
    """x."""

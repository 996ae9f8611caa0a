"""simulate."""

NAME = "simulate"


def add_arguments(parser):
    """x."""


def run(options):
    """x."""

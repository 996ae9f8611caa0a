"""Operators: each collects from the context, calls one function, and reports what went wrong."""

"""Operators: each collects from the context, calls one function, and reports what went wrong.

Modules that declare properties of operators or settings do without `annotations` from `__future__`:
as texts, Blender would have to compile each of them when the extension is enabled.
"""

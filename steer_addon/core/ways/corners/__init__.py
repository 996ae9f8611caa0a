"""Corners: the few cells at which shortest ways bend, and searches among them alone.

`graph` finds them and which of them see each other, and `search` the ways of single agents.
"""

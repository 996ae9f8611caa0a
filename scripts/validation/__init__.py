"""Scenarios with published numbers, run with one preset and measured (docs/validation.md)."""

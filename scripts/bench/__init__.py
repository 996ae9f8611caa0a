"""Benchmarks of what a user would feel (docs/benchmarks.md); bench.py runs them."""

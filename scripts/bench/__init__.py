"""Benchmarks of delays that users feel (docs/benchmarks.md); bench.py runs them."""

"""Kernels compiled ahead of their first use, in processes of their own."""

"""The only place that knows numba: kernels, their threads, and what they are kept by on disk."""

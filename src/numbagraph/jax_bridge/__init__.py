"""Graphs on JAX. JAX is imported when a graph is run on it, never before."""

from numbagraph.jax_bridge.translate import compile_jax, to_jax

__all__ = ["compile_jax", "to_jax"]

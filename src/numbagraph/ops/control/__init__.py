"""Loops and branches: ops that hold regions."""

from numbagraph.ops.control import scan, switch, while_loop, while_pullback

__all__ = ["scan", "switch", "while_loop", "while_pullback"]

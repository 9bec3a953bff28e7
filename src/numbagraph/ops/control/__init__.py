"""Loops and branches: ops that hold regions."""

from numbagraph.ops.control import scan, switch, while_loop

__all__ = ["scan", "switch", "while_loop"]

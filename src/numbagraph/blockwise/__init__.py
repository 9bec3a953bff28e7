"""Ops as gufuncs: kinds of op, promotion of operands, and how each kind becomes part of a loop nest."""

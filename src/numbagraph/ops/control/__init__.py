"""Loops and branches: ops that hold regions."""

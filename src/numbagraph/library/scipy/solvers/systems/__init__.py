"""Roots of functions of several variables."""

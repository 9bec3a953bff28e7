"""Integrals of functions: by QUADPACK's algorithms, by fixed rules, and over several variables."""

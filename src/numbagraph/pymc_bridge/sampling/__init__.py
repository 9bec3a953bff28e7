"""Sampling with nutpie: options, initial points, failures, traces."""

"""Differential fuzzers: random programs on numbagraph and on its references, until they differ.

``python -m tests.fuzz statements --minutes 60`` runs one of them on a new seed, which it prints; ``--seed N --case K``
runs one case again. `tests/package/test_fuzz.py` and `tests/pymc_bridge/test_fuzz.py` plant faults, and each fuzzer
must find its own.
"""

"""Ops whose results are as long as elements say."""

LATE = tuple(
    "argwhere bincount compress delete extract flatnonzero intersect1d nonzero setdiff1d setxor1d trim_zeros union1d "
    "tril_indices_from triu_indices_from unique unique_all unique_counts unique_inverse unique_values".split()
)
"""The data decide how long their results are: there are none on JAX, in batches, nor for native callers."""

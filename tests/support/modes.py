"""PyTensor's mode ``NUMBAGRAPH`` beside its Python code."""

import numpy as np
from pytensor.compile.mode import Mode

NAME = "NUMBAGRAPH"
PLAIN = Mode(linker="py", optimizer="fast_compile")
"""PyTensor's Python code."""


def same(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert type(one) is type(other)
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-15)

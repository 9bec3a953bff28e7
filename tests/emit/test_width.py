"""The width of vectors with AVX-512: half of it where a nest waits for memory."""

import re
from typing import Any

import numpy as np
import pytest

from numbagraph import graph_jit
from numbagraph.intrinsics.emitters.target import host

X = np.linspace(0.1, 0.9, 1000)

pytestmark = pytest.mark.skipif(host().vector_bytes != 64, reason="the processor has no AVX-512")


def width(function: Any, *args: Any) -> int:
    """How many numbers the widest vectors have that are loaded. (What is left is loaded by narrower ones.)"""
    compiled: Any = graph_jit(function)
    return max(int(each) for each in re.findall(r"load <(\d+) x double>", compiled.llvm(*args)))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + x[::1],
        lambda x: -x,
        lambda x: np.clip(x, 0.2, 0.7),
        lambda x: np.where(x > 0.5, x, 1.0),
        lambda x: x[1:-1] - 2.0 * x[:-2] + x[2:],
    ],
)
def test_little_is_computed(function):
    assert width(function, X) == 4


@pytest.mark.parametrize(
    "function",
    [
        np.exp,
        lambda x: x >= 0.5,
        lambda x: ((x * x + 1.0) * x - 2.0) * x + 0.5,
        np.sum,
    ],
)
def test_much_is_computed_or_little_is_stored(function):
    assert width(lambda x: function(x), X) == 8

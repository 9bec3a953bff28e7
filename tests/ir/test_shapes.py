"""Lengths: `numbagraph.ir.shapes`."""

import numpy as np
import pytest

from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.values import ArrayType, Input


@pytest.mark.parametrize("other", [2.75, np.inf])
def test_lengths_that_follow_from_other_numbers_are_not_the_same(other):
    x = Input(ArrayType(np.dtype(np.float64), ()), "x")
    assert not shapes.same(registry["less"](x, 2.25), registry["less"](x, other))
    assert shapes.same(registry["less"](x, 2.25), registry["less"](x, 2.25))

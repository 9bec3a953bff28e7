"""Formulas as emitters: what their numbers may be given to."""

import numpy as np
import pytest

from numbagraph.intrinsics.emitters import vecmath
from numbagraph.intrinsics.emitters.emitter import Operand
from numbagraph.intrinsics.emitters.formula import formula, lifted
from numbagraph.ops.exponentials import exp


def test_an_op_in_a_formula_says_what_to_write():
    emit = formula(lambda x: x * exp(x))
    with pytest.raises(TypeError, match=r"lifted\(vecmath\.exp\)\(x\)"):
        emit(None, Operand(None, np.dtype(np.float64)))  # pyright: ignore[reportArgumentType]
    assert callable(lifted(vecmath.exp))

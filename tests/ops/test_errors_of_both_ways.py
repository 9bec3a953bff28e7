"""A failed call is run again by NumPy's interpreter, which says what has failed: so it fails where native code does."""

import numpy as np
import pytest

from numbagraph.ir.op import registry
from numbagraph.ir.types import COMPLEX128, FLOAT64
from numbagraph.ir.values import Unsupported
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.testing.op_calls import accepted
from tests.support.errors import error_of

CALLS = [op.name for op in registry if op.kind in ("core op", "product") and not isinstance(op.frontend, Unsupported)]


@pytest.mark.parametrize("dtype", [FLOAT64, pytest.param(COMPLEX128, marks=pytest.mark.repeats)], ids=str)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::scipy.linalg.LinAlgWarning")
def test_no_numbers_fail_in_both_ways_or_in_neither(name, dtype):
    call = next(accepted(registry[name], dtype), None)
    for number, array in enumerate(call.arrays if call is not None else []):
        for each in (np.nan, np.inf) if array.dtype.kind in "fc" and array.size else ():
            arrays = [other.copy() for other in call.arrays]
            arrays[number].flat[-1] = each
            interpreted, native = (
                error_of(GraphFunction(call.function, backend=backend), arrays) for backend in ("numpy", "numba")
            )
            assert interpreted is native, (number, each)

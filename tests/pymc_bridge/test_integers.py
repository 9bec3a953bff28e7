"""Integers that wrap round, in native code and in PyTensor's Python code."""

import numpy as np
import pytest

pytest.importorskip("pymc")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from scipy import special  # noqa: E402

FALLBACK = "ignore::numbagraph.pymc_bridge.FallbackWarning"
x, y = pt.dvector("x"), pt.dvector("y")
X = np.arange(1.0, 7.0)


@pytest.mark.filterwarnings(FALLBACK)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
def test_sums_and_products_of_many_integers_wrap_round_where_pytensor_decides_on_lengths(dtype):
    """It computes more than two with Python's integers."""
    given = [pt.vector(dtype=dtype) for _ in range(4)]
    info = np.iinfo(dtype)
    values = [np.array([info.max, info.min, 7, 3], dtype), np.array([info.max, info.min, 100, 5], dtype)] * 2
    outputs = [pt.set_subtensor(x[:2], y), pt.add(*given), pt.mul(*given), pt.add(*[each[0] for each in given])]
    compiled = pytensor.function([x, y, *given], outputs, mode="NUMBAGRAPH")
    a, b, c, d = (list(map(int, each)) for each in values)
    sums = [sum(each) for each in zip(a, b, c, d, strict=True)]
    products = [p * q * r * s for p, q, r, s in zip(a, b, c, d, strict=True)]

    def wrapped(numbers):
        return [(each - info.min) % (info.max - info.min + 1) + info.min for each in numbers]

    for update in (X[:2], X[:1]):
        _, added, multiplied, one = compiled(X, update, *values)
        assert [str(each.dtype) for each in (added, multiplied, one)] == [dtype] * 3
        assert list(map(int, added)) == wrapped(sums)
        assert list(map(int, multiplied)) == wrapped(products)
        assert int(one) == wrapped(sums)[0]


@pytest.mark.parametrize("dtype", ["int8", "int64", "float64", "float32"])
def test_logarithms_of_erfc_of_large_numbers(dtype):
    """PyTensor rewrites them with powers of the number, which wrap round."""
    given = pt.vector(dtype=dtype)
    numbers = np.array([-3, 2, 7, 30, 120, np.iinfo(dtype).max if dtype == "int64" else 127]).astype(dtype)
    found = pytensor.function([given], pt.log(pt.erfc(given)), mode="NUMBAGRAPH")(numbers)
    expected = special.log_ndtr(-np.sqrt(2) * numbers.astype("float64")) + np.log(2)
    np.testing.assert_allclose(found, expected, rtol=1e-6 if found.dtype == "float32" else 1e-13)

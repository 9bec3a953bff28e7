"""Covariances, coefficients of correlation, and sums of products at each shift."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import Keywords, decomposition, draw
from numbagraph.blockwise.promotion import as_strong, as_value, convert
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import FLOAT64
from numbagraph.ir.values import Value
from numbagraph.ops.arithmetic import conjugate, imag, real, sqrt
from numbagraph.ops.comparison import maximum, minimum
from numbagraph.ops.convolution import convolved
from numbagraph.ops.diagonals import diag
from numbagraph.ops.identity import differentiated_as
from numbagraph.ops.indexing.slicing import flip
from numbagraph.ops.linalg.common import adjoint
from numbagraph.ops.product import matmul
from numbagraph.ops.reduction import sum
from numbagraph.ops.shape import at_least, permute
from numbagraph.ops.statistics.moments import average, count_along


def variables(m: Any, y: Any, rowvar: bool, dtype: Any) -> Value:
    """Return the observations of each variable, a row each."""
    given = [as_strong(each) for each in ([m] if y is None else [m, y])]
    if any(each.ndim > 2 for each in given):
        raise ValueError("cov has at most 2 dimensions: m and y are matrices of observations")
    wanted = np.result_type(*[each.dtype for each in given], FLOAT64) if dtype is None else np.dtype(dtype)
    if wanted.kind not in "fc":
        raise TypeError(f"covariances are no {wanted}: leave dtype= out, and convert the result")
    rows = [at_least(convert(each, wanted), 2) for each in given]
    if not rowvar:
        rows = [permute(row, (1, 0)) if each.ndim == 2 else row for row, each in zip(rows, given, strict=True)]
    return rows[0] if len(rows) == 1 else registry["concatenate"](rows, 0)


def weights_of(given: Any, name: str) -> Value | None:
    if given is None:
        return None
    weights = as_strong(given)
    if weights.ndim != 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if name == "fweights" and weights.dtype.kind == "f":
        raise TypeError("fweights must be integer")
    return weights


def cov_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind == "b":
        return []
    array, other = draw(rng, dtype, (3, 7)), draw(rng, dtype, (7,))
    weights, counts = rng.uniform(0.5, 2.0, 7), rng.integers(1, 4, 7)
    calls: list[tuple[Any, ...]] = [(array,), (array, None, False), (other, other), (other,)]
    calls += [(array, None, True, True), (array, Keywords(ddof=0))]
    if dtype == np.float64:
        calls.append((array[1], Keywords(fweights=counts, aweights=weights)))
    return calls


def of_one_dtype(function: Any) -> Any:
    """Wrap NumPy's function so that its result without variables has the dtype of other results, too."""

    def reference(m: Any, *args: Any, **kwargs: Any) -> Any:
        found = function(m, *args, **kwargs)
        return found if found.size else found.astype(np.result_type(m, float))

    return reference


@decomposition(of_one_dtype(np.cov), name="cov", implements=(np.cov,), samples=cov_samples, ulp=64)
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Value:
    value = variables(m, y, rowvar, dtype)
    freedom = (0 if bias else 1) if ddof is None else ddof
    if not isinstance(freedom, int):
        raise ValueError("ddof must be integer")
    counts, importance = weights_of(fweights, "fweights"), weights_of(aweights, "aweights")
    weights = counts if importance is None else importance if counts is None else counts * importance
    if weights is None:
        centre, total = average(value, 1, keepdims=True), count_along(value, (-1,))
        factor = total - freedom
    else:
        both: Any = average(value, 1, weights, returned=True, keepdims=True)
        centre, totals = both
        total = totals[0, 0]
        surplus = sum(weights * importance) if importance is not None else total
        factor = total if freedom == 0 else total - freedom * (surplus / total if importance is not None else 1.0)
    distance = value - centre
    weighed = distance if weights is None else distance * weights
    product = matmul(distance, adjoint(weighed))
    product = product * (1.0 / convert(maximum(factor, 0), np.dtype(value.dtype.char.lower())))
    return product if shapes.resolve(product.shape[0]) != 1 else registry["squeeze"](product)


def corrcoef_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    most = 2 if dtype.kind == "c" else 3
    return [call for call in cov_samples(rng, dtype)[:most] if call[0].ndim == 2 or len(call) == 2]


@decomposition(of_one_dtype(np.corrcoef), name="corrcoef", implements=(np.corrcoef,), samples=corrcoef_samples, ulp=64)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Value:
    c = cov(x, y, rowvar, dtype=dtype)
    if not c.ndim:
        return c / c
    deviation = sqrt(real(diag(c)))
    c = c / deviation[:, None] / deviation[None, :]
    parts = [real(c)] if c.dtype.kind != "c" else [real(c), imag(c)]
    clipped = [differentiated_as(minimum(maximum(each, -1.0), 1.0), each) for each in parts]  # rounding went beyond
    return clipped[0] if len(clipped) == 1 else registry["complex_of"](*clipped)


def correlate_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    pairs = ((5, 3), (2, 6), (4, 4), (1, 1))
    return [
        (draw(rng, dtype, (n,)), draw(rng, dtype, (m,)), Keywords(mode=mode))
        for n, m in pairs
        for mode in ("valid", "same", "full")
    ]


@decomposition(np.correlate, samples=correlate_samples, ulp=16)
def correlate(a: Any, v: Any, mode: str = "valid") -> Value:
    if mode not in ("valid", "same", "full"):
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    left, right = as_value(a), as_value(v)
    for each in (left, right):
        if each.ndim != 1:
            raise ValueError(f"object {'too deep' if each.ndim else 'of too small depth'} for desired array")
    mirrored = flip(right)  # of truth values, the conjugate is a number
    return convolved(left, conjugate(mirrored) if right.dtype.kind == "c" else mirrored, mode, mirrored=True)

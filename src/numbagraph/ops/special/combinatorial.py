"""SciPy's functions of arrays that count, approximately: by gammas, not by whole numbers of any length."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import decomposition, draw
from numbagraph.blockwise.promotion import as_strong, convert
from numbagraph.ir import shapes
from numbagraph.ir.types import FLOAT64
from numbagraph.ir.values import Value, constant
from numbagraph.ops.comparison import greater_equal, isnan, less_equal, logical_and, logical_not
from numbagraph.ops.reduction import all, sum
from numbagraph.ops.selection import where
from numbagraph.ops.shape import expand_at
from numbagraph.ops.special.elementary_functions import poch
from numbagraph.ops.special.error_functions import gamma, gammaln


def refuse_exact(name: str, exact: Any) -> None:
    if exact:
        raise NotImplementedError(
            f"{name}: exact=True is not supported in a traced function: integers have 64 bits here"
        )


def counting_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    """Return whole numbers and others, also such that there is nothing to count."""
    if dtype != FLOAT64:  # the dtypes of SciPy's results depend on the numbers otherwise
        return []
    many, few = (draw(rng, dtype, shape, domain) for shape, domain in (((3, 4), (4.0, 9.0)), ((4,), (0.1, 3.0))))
    return [(many, few), (many, few[0]), (few, many)]


@decomposition("scipy.special:perm", samples=counting_samples, ulp=64, scalar=True)
def perm(N: Any, k: Any, exact: bool = False) -> Value:
    refuse_exact("perm", exact)
    many, few = as_strong(N), as_strong(k)
    some = logical_and(less_equal(few, many), logical_and(greater_equal(many, 0), greater_equal(few, 0)))
    count = poch(many - few + 1, few)
    return where(some, count, constant(0, dtype=count.dtype))


@decomposition(
    "scipy.special:factorial",
    samples=lambda rng, dtype: [(draw(rng, dtype, (3, 4), (-2.0, 9.0)),)] if dtype == FLOAT64 else [],
    ulp=64,
)
def factorial(n: Any, exact: bool = False, extend: str = "zero") -> Value:
    refuse_exact("factorial", exact)
    if extend != "zero":
        raise NotImplementedError(
            f"factorial: extend={extend!r} is not supported in a traced function: gamma(n + 1) is"
        )
    value = as_strong(n)
    if value.dtype.kind not in "iuf":
        raise ValueError(f"Unsupported data type for factorial: {value.dtype}")
    inside = greater_equal(value, 0)
    count = convert(gamma(where(inside, value, constant(0, dtype=value.dtype)) + 1), FLOAT64)
    outside = where(isnan(value), constant(np.nan, dtype=FLOAT64), constant(0.0, dtype=FLOAT64))
    return where(inside, count, outside)


@decomposition(
    "scipy.special:multigammaln",
    samples=lambda rng, dtype: [(draw(rng, dtype, (3, 4), (2.5, 9.0)), d) for d in (1, 4)] if dtype == FLOAT64 else [],
    ulp=64,
)
def multigammaln(a: Any, d: Any) -> Value:
    """Return the sum of logarithms of gammas. [DLMF 35.3.4]"""
    if np.ndim(d) or int(d) != d:
        raise ValueError("d should be a positive integer (dimension)")
    value, count = convert(as_strong(a), FLOAT64), int(d)
    inside = logical_not(less_equal(value, 0.5 * (count - 1)))  # NaN is no error
    text = f"condition a > 0.5 * (d-1) ({0.5 * (count - 1)}) not met"
    shapes.require(all(inside) if inside.ndim else inside, text, ValueError)
    shifted = expand_at(value, [0]) - expand_at(as_strong(np.arange(count) / 2), range(1, 1 + value.ndim))
    return sum(gammaln(shifted), 0) + count * (count - 1) * 0.25 * np.log(np.pi)

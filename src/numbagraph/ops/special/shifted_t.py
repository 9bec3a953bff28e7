"""Densities of the non-central t distribution, and the moments that its derivatives are made of."""

from __future__ import annotations

import math

from numbagraph.ir.op import registry
from numbagraph.ir.values import Value
from numbagraph.ops.arithmetic import absolute, power, sqrt
from numbagraph.ops.comparison import equal, less
from numbagraph.ops.exponentials import exp
from numbagraph.ops.selection import where
from numbagraph.ops.special.elementary_functions import betaln


def scaled_moment(order: int, t: Value, df: Value, nc: Value) -> Value:
    """Return the mean of ``s**order * phi(t * s - nc)``, where ``df * s**2`` has a chi-square distribution, and phi is
    the normal density. That of order 1 is the density of t; the others are densities of other degrees of freedom, since
    ``s`` times a density of ``s`` is one of another number of them. Order 0 needs more than one."""
    shifted = df + (order - 1.0)
    ratios = {0: lambda: math.sqrt(0.5) / half_step(0.5 * shifted), 2: lambda: math.sqrt(2.0) * half_step(0.5 * df)}
    ratio = ratios[order]() if order in ratios else df
    return ratio * power(df, -0.5 * order) * sqrt(shifted) * registry["nct_pdf"](t * sqrt(shifted / df), shifted, nc)


def half_step(a: Value) -> Value:
    """Return ``gamma(a + 1 / 2) / gamma(a)``. [DLMF 5.12.1, and 5.11.13 for large numbers]"""
    large = less(1e5, a)
    far = sqrt(a) * (1.0 - 1.0 / (8.0 * a) + 1.0 / (128.0 * a * a))
    return where(large, far, math.sqrt(math.pi) * exp(-betaln(where(large, 1.0, a), 0.5)))


def shifted_density(t: Value, df: Value, nc: Value) -> Value:
    """Return the density of the non-central t distribution, and 0 at infinities, where Boost's function has no
    value."""
    is_end = equal(absolute(t), math.inf)
    return where(is_end, 0.0, registry["nct_pdf"](where(is_end, 0.0, t), df, nc))


def less_by_shift(t: Value, df: Value, nc: Value) -> Value:
    """Return the derivative by the non-centrality, with the sign reversed: `scaled_moment` of the order 0. For few
    degrees of freedom it follows from others by partial integration."""
    is_end, enough = equal(absolute(t), math.inf), less(1.5, df)
    inside = where(is_end, 0.0, t)
    more = scaled_moment(2, inside, df, nc) * (1.0 + inside * inside / df)
    few = more - inside * nc / df * registry["nct_pdf"](inside, df, nc)
    return where(is_end, 0.0, where(enough, scaled_moment(0, inside, where(enough, df, 2.0), nc), few))

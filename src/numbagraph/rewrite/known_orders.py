"""Bessel functions of known integer orders, by those of the orders 0 and 1. Numbers in brackets are those of the DLMF.

That is vector code, which SciPy's functions of any order are not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from numbagraph.blockwise.promotion import as_value
from numbagraph.ir.op import registry
from numbagraph.ir.types import FLOAT64
from numbagraph.ir.values import Constant, Node, Op, Value
from numbagraph.ops.arithmetic import absolute
from numbagraph.ops.comparison import equal, isnan, less, less_equal
from numbagraph.ops.selection import where
from numbagraph.ops.special.bessel_01 import j0, j1, y0, y1
from numbagraph.rewrite.engine import Head, RuleSet, node_rule

MOST_STEPS = 20
"""The largest order for which recurrences are written out."""
MOST_TERMS = 5
"""The largest order for which the terms of the series of the first kind cancel little, wherever its recurrence cannot
be used."""
LEAST = 5e-324
"""The least positive number, at which `k1` is NaN, as SciPy's is, and `kv` is infinite."""


def upwards(order: int, low: Value, high: Value, x: Value, sign: int) -> Value:
    """The function of an order, by upward recurrence from the orders 0 and 1. [10.6.1, 10.29.1]"""
    inverse = 1.0 / x
    for k in range(1, order):
        low, high = high, (2.0 * k * inverse) * high + sign * low
    return high


def series(order: int, x: Value) -> Value:
    """The function of the first kind of numbers up to its order in size. [10.2.2]"""
    half = 0.5 * x
    square, terms = half * half, [1 / math.factorial(order)]
    while abs(terms[-1]) * (order / 2) ** (2 * len(terms)) > 1e-18 * terms[0]:
        terms.append(-terms[-1] / (len(terms) * (order + len(terms))))
    total = as_value(terms[-1])
    for each in reversed(terms[:-1]):
        total = total * square + each
    for _ in range(order):
        total = total * half
    return total


def first_kind(order: int, x: Value) -> Value | None:
    """The function of the first kind, by the recurrence where that is stable, and elsewhere by the series. It is not
    -0.0 at -0.0, as SciPy's is not."""
    if order > MOST_TERMS:
        return None
    if order < 2:
        return j1(x) + 0.0 if order else j0(x)
    beyond = upwards(order, j0(x), j1(x), x, -1)
    return where(less(float(order), absolute(x)), beyond, series(order, x) + 0.0)


def second_kind(order: int, x: Value) -> Value | None:
    """The function of the second kind; infinite, too, where both terms of a difference are."""
    if order < 2:
        return y1(x) if order else y0(x)
    found = upwards(order, y0(x), y1(x), absolute(x), -1)
    return where(isnan(found) & less_equal(0.0, x) & less(x, 1.0), -math.inf, found)


def modified(order: int, x: Value) -> Value | None:
    """The modified function of the second kind. Its module is imported when such a function occurs."""
    low = registry["k0"](x)
    if order == 0:
        return low
    return upwards(order, low, where(equal(x, LEAST), math.inf, registry["k1"](x)), absolute(x), 1)


FAMILIES: dict[str, tuple[Callable[[int, Value], Value | None], int]] = {
    "jv": (first_kind, -1),
    "yv": (second_kind, -1),
    "yn": (second_kind, -1),
    "hankel_j": (first_kind, -1),
    "hankel_y": (lambda order, x: second_kind(order, x) if order <= MOST_TERMS else None, -1),
    "kv": (modified, 1),
    "kn": (modified, 1),
}
"""The functions by the names of ops, with the factor between those of the orders 1 and -1. [10.4.1, 10.27.3]"""


def order_constant(heads: Sequence[Head]) -> bool:
    return heads[0] is Constant


def is_bessel(op: Op) -> bool:
    return op.name in FAMILIES


@node_rule(is_bessel, order_constant)
def bessel_of_known_order(node: Node) -> Value | None:
    """Replace a Bessel function of a known order: in double precision, and for the orders 0 and 1 in both."""
    order, x = node.inputs
    if node.dtype != x.dtype or not isinstance(order, Constant) or order.type.shape:
        return None
    known = float(order.data)
    if known % 1 != 0 or not abs(known) <= (MOST_STEPS if x.dtype == FLOAT64 else 1):
        return None
    function, factor = FAMILIES[node.op.name]
    found = function(abs(int(known)), x)
    return found if found is None or known >= 0 or factor ** int(known) > 0 else -found


KNOWN_ORDERS = RuleSet("Bessel functions of known orders", [bessel_of_known_order])

"""Orthogonal polynomials of a known degree: their recurrences, written out. [DLMF 18.9.1, 18.9.2, Table 18.9.1]

That is vector code, which SciPy's functions of one number are not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

from numbagraph.blockwise.promotion import as_value
from numbagraph.ir.types import FLOAT64
from numbagraph.ir.values import Constant, Node, Op, Value
from numbagraph.ops.arithmetic import absolute
from numbagraph.ops.comparison import isnan
from numbagraph.ops.selection import where
from numbagraph.rewrite.engine import Head, RuleSet, node_rule

MOST_STEPS = 20
"""The largest degree for which the recurrence is written out."""

LARGEST = 1e9
"""The bound of parameters, so that products of coefficients can be represented."""

Row = tuple[Fraction | int, Fraction | int, Fraction | int]
"""The coefficients ``a``, ``b``, ``c`` of ``(a * x + b) * p - c * before``, which is the polynomial of the next
degree."""


class Family(NamedTuple):
    """A family of polynomials, given by a recurrence, or as multiples of such polynomials at another argument."""

    rows: Callable[[int], Row]
    """The coefficients of the recurrence, by the degree of ``p``."""
    argument: Callable[[Value], Value] = lambda x: x
    scale: Callable[[int], Fraction | int] = lambda degree: 1


def shifted(x: Value) -> Value:
    return 2.0 * x - 1.0


def half(x: Value) -> Value:
    return 0.5 * x


def ultraspherical(order: Fraction) -> Callable[[int], Row]:
    return lambda k: (2 * (k + order) / (k + 1), 0, (k + 2 * order - 1) / (k + 1))


def gegenbauer(order: Fraction) -> Family | None:
    return Family(ultraspherical(order)) if order > Fraction(-1, 2) and order else None


def of_jacobi(a: Fraction, b: Fraction) -> Callable[[int], Row]:
    def rows(k: int) -> Row:
        if k == 0:
            return (a + b + 2) / 2, (a - b) / 2, 0
        total = 2 * k + a + b
        unit = 2 * (k + 1) * (k + a + b + 1)
        slope = (total + 1) * (total + 2) / unit
        return (
            slope,
            (a * a - b * b) * (total + 1) / (unit * total),
            2 * (k + a) * (k + b) * (total + 2) / (unit * total),
        )

    return rows


def jacobi(a: Fraction, b: Fraction) -> Family | None:
    return Family(of_jacobi(a, b)) if min(a, b) > -1 else None


def shifted_jacobi(p: Fraction, q: Fraction) -> Family | None:
    """The shifted Jacobi polynomials whose leading coefficient is 1. [DLMF 18.1.2]"""

    def scale(degree: int) -> Fraction:
        return 1 / math.prod([(degree + p + k) / (k + 1) for k in range(degree)], start=Fraction(1))

    return Family(of_jacobi(p - q, q - 1), shifted, scale) if p - q > -1 and q > 0 else None


def laguerre(order: Fraction = Fraction(0)) -> Family | None:
    def rows(k: int) -> Row:
        return Fraction(-1, k + 1), (2 * k + order + 1) / (k + 1), (k + order) / (k + 1)

    return Family(rows) if order > -1 else None


def first_kind(k: int) -> Row:
    return 2 if k else 1, 0, 1


def second_kind(_: int) -> Row:
    return 2, 0, 1


LEGENDRE = ultraspherical(Fraction(1, 2))

FAMILIES: dict[str, Callable[..., Family | None]] = {
    "eval_legendre": lambda: Family(LEGENDRE),
    "eval_sh_legendre": lambda: Family(LEGENDRE, shifted),
    "eval_chebyt": lambda: Family(first_kind),
    "eval_sh_chebyt": lambda: Family(first_kind, shifted),
    "eval_chebyc": lambda: Family(first_kind, half, lambda degree: 2),
    "eval_chebyu": lambda: Family(second_kind),
    "eval_sh_chebyu": lambda: Family(second_kind, shifted),
    "eval_chebys": lambda: Family(second_kind, half),
    "eval_gegenbauer": gegenbauer,
    "eval_jacobi": jacobi,
    "eval_sh_jacobi": shifted_jacobi,
    "eval_laguerre": laguerre,
    "eval_genlaguerre": laguerre,
    "eval_hermite": lambda: Family(lambda k: (2, 0, 2 * k)),
    "eval_hermitenorm": lambda: Family(lambda k: (1, 0, k)),
}
"""The families by the names of ops, as functions of their parameters: None where these do not make them orthogonal."""


def parameters_constant(heads: Sequence[Head]) -> bool:
    return all(head is Constant for head in heads[:-1])


def is_polynomial(op: Op) -> bool:
    return op.name in FAMILIES


@node_rule(is_polynomial, parameters_constant)
def polynomial_of_known_degree(node: Node) -> Value | None:
    """Replace an orthogonal polynomial of a known degree and known parameters, in double precision, by its
    recurrence."""
    *given, x = node.inputs
    if node.dtype != FLOAT64 or x.dtype != FLOAT64:
        return None
    known = [float(each.data) for each in given if isinstance(each, Constant) and not each.type.shape]
    if len(known) < len(given) or not all(abs(each) < LARGEST for each in known):
        return None
    degree, *parameters = map(Fraction, known)
    if degree.denominator != 1 or not 1 <= degree <= MOST_STEPS:
        return None
    family, count = FAMILIES[node.op.name](*parameters), int(degree)
    if family is None:
        return None
    return polynomial([family.rows(k) for k in range(count)], family.argument(x), float(family.scale(count)))


def polynomial(rows: Sequence[Row], argument: Value, scale: float) -> Value:
    """The polynomial that follows the last row. Coefficients are exact here, and rounded once."""
    a, b, _ = rows[0]
    found, before = float(a) * argument + float(b), as_value(1.0)
    for row in rows[1:]:
        found, before = following(row, argument, found, before), found
    return beyond_overflow(found, argument, rows) * scale


def following(row: Row, x: Value, p: Value, before: Value) -> Value:
    """The next Legendre polynomial, by a difference that is 0 at 1, where all of them are exactly 1."""
    a, b, c = row
    if a - c == 1 and not b and c < 1:
        product = x * p
        return product + float(c) * (product - before)
    return (float(a) * x + float(b)) * p - float(c) * before


def beyond_overflow(found: Value, x: Value, rows: Sequence[Row]) -> Value:
    """The limit where both terms of a difference are infinite, which has the sign of the highest power."""
    if len(rows) == 1:
        return found
    highest = math.prod(a for a, _, _ in rows)
    power = x if len(rows) % 2 else absolute(x)
    return where(isnan(found), power * math.copysign(math.inf, highest), found)


ORTHOGONAL = RuleSet("orthogonal polynomials", [polynomial_of_known_degree])

"""Integers of a graph as polynomials in those that no arithmetic makes: lengths, arguments, what loops carry."""

from __future__ import annotations

from collections.abc import Mapping

from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Constant, Dim, Node, Value, constant

Monomial = tuple[Value, ...]
"""The factors, in an order that is fixed within a process."""
NOTHING: Mapping[Monomial, int] = {}


class Polynomial:
    """A sum of products of values, each with a coefficient that is not 0.

    It has no other methods than it needs: the elimination makes some ten thousands of them for a deep nest.
    """

    __slots__ = ("_hash", "terms")

    def __init__(self, terms: Mapping[Monomial, int] = NOTHING) -> None:
        self.terms = terms

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            self._hash = hash(frozenset(self.terms.items()))
            return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Polynomial) and self.terms == other.terms)

    def __repr__(self) -> str:
        return f"Polynomial({self.terms!r})"

    def __add__(self, other: Polynomial | int) -> Polynomial:
        return self.plus(as_polynomial(other), 1)

    def __sub__(self, other: Polynomial | int) -> Polynomial:
        return self.plus(as_polynomial(other), -1)

    def plus(self, other: Polynomial, times: int) -> Polynomial:
        """The sum with a multiple of another one."""
        if not other.terms:
            return self
        terms = dict(self.terms)
        for factors, count in other.terms.items():
            total = terms.get(factors, 0) + count * times
            if total:
                terms[factors] = total
            else:
                del terms[factors]
        return Polynomial(terms)

    def __mul__(self, other: Polynomial | int) -> Polynomial:
        other = as_polynomial(other)
        number = other.known
        if number is not None:
            return Polynomial({factors: count * number for factors, count in self.terms.items()} if number else NOTHING)
        terms: dict[Monomial, int] = {}
        for one, count in self.terms.items():
            for two, times in other.terms.items():
                factors = tuple(sorted((*one, *two), key=id))
                terms[factors] = terms.get(factors, 0) + count * times
        return Polynomial({factors: count for factors, count in terms.items() if count})

    def __neg__(self) -> Polynomial:
        return Polynomial({factors: -count for factors, count in self.terms.items()})

    @property
    def known(self) -> int | None:
        """The number that the polynomial is, if it has no factors."""
        if not self.terms:
            return 0
        return self.terms.get(()) if len(self.terms) == 1 else None

    @property
    def degree(self) -> int:
        return max(map(len, self.terms), default=0)

    def values(self) -> dict[Value, None]:
        return dict.fromkeys(value for factors in self.terms for value in factors)

    def slope(self, value: Value) -> Polynomial | None:
        """The coefficient of a value, if the polynomial is linear in it; None otherwise."""
        parts: dict[Monomial, int] = {}
        for factors, count in self.terms.items():
            if factors.count(value) > 1:
                return None
            if value in factors:
                parts[tuple(each for each in factors if each is not value)] = count
        return Polynomial(parts)

    def replaced(self, values: Mapping[Value, Polynomial]) -> Polynomial:
        """The polynomial with others in the place of values."""
        total: dict[Monomial, int] = {}
        for factors, count in self.terms.items():
            if values.keys().isdisjoint(factors):
                total[factors] = total.get(factors, 0) + count
                continue
            term = Polynomial({(): count})
            for each in factors:
                term *= values.get(each) or Polynomial({(each,): 1})
            for product, times in term.terms.items():
                total[product] = total.get(product, 0) + times
        return Polynomial({factors: count for factors, count in total.items() if count})

    @property
    def beside_lengths(self) -> Polynomial:
        """The terms of which lengths and numbers are not the only factors."""
        terms = {factors: count for factors, count in self.terms.items() if not all(map(is_length, factors))}
        return Polynomial(terms)

    @property
    def is_never_negative(self) -> bool:
        """Whether the polynomial is a sum of products of lengths."""
        return all(count > 0 and all(map(is_length, factors)) for factors, count in self.terms.items())

    @property
    def magnitude(self) -> Polynomial:
        """A bound of the polynomial's magnitude, for values that are not negative, or in magnitudes of values."""
        return Polynomial({factors: abs(count) for factors, count in self.terms.items()})

    def value(self, position: Mapping[Value, int]) -> Value:
        """The value of the graph that computes the polynomial, with factors in the order of their positions."""
        total: Value | None = None
        for factors, count in self.terms.items():
            term: Value = constant(count, dtype=INT64)
            for number, each in enumerate(sorted(factors, key=lambda each: position.get(each, len(position)))):
                term = each if number == 0 and count == 1 else registry["multiply"](term, each)
            total = term if total is None else registry["add"](total, term)
        return constant(0, dtype=INT64) if total is None else total


def is_length(value: Value) -> bool:
    return isinstance(value, Dim)


def as_polynomial(number: Polynomial | int) -> Polynomial:
    if isinstance(number, Polynomial):
        return number
    return Polynomial({(): number} if number else {})


def polynomial(value: Value) -> Polynomial:
    """Convert a number of 64 bits to a polynomial, as far as it is computed by one."""
    if isinstance(value, Dim):
        value = shapes.as_value(value)
    if isinstance(value, Constant):
        return as_polynomial(int(value.data))
    if isinstance(value, Node) and all(each.dtype == INT64 for each in value.inputs):
        parts = value.inputs
        match value.op.name:
            case "add":
                return polynomial(parts[0]) + polynomial(parts[1])
            case "subtract":
                return polynomial(parts[0]) - polynomial(parts[1])
            case "multiply":
                return polynomial(parts[0]) * polynomial(parts[1])
            case "negative":
                return -polynomial(parts[0])
            case "cast" if value.dtype == INT64:
                return polynomial(parts[0])
    return Polynomial({(value,): 1})

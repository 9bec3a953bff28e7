"""Forms that are right where the formula as it was written overflows, underflows or cancels.

Each replacement is the same function of all real arguments for which the left side is one; where the left side has
lost its digits, or became infinite or NaN on the way to a finite result, the replacement has not.
"""

from __future__ import annotations

import math

import numpy as np

from numbagraph.ir.values import Constant, Node, Value, constant
from numbagraph.ops import identity
from numbagraph.ops.shape import broadcast_value
from numbagraph.rewrite import patterns
from numbagraph.rewrite.engine import Rule, RuleSet, node_rule, rule
from numbagraph.rewrite.facts import floating, in_range, is_constant, is_op, power_of_two, same_shape
from numbagraph.rewrite.joined_arrays import of_named_op
from numbagraph.rewrite.patterns import (
    absolute,
    as_scalar,
    cosh,
    differentiated_as,
    erf,
    erfc,
    erfcx,
    exp,
    expand_dims,
    expit,
    expm1,
    hypot,
    isfinite,
    log,
    log1mexp,
    log1p,
    log_expit,
    log_ndtr,
    logaddexp,
    maximum,
    minimum,
    ndtr,
    power,
    softplus,
    sqrt,
    square,
    stop_gradient,
    where,
    xlog1py,
    xlogy,
)

LOGISTIC = (
    rule(lambda x: log(1 + exp(x)), lambda x: softplus(x), where=floating),
    rule(lambda x: log1p(exp(x)), lambda x: softplus(x), where=floating),
    rule(lambda x: log(expit(x)), lambda x: log_expit(x)),
    rule(lambda x: log1p(-expit(x)), lambda x: log_expit(-x)),
    rule(lambda x: 1 / (1 + exp(-x)), lambda x: expit(x), where=floating),
    rule(lambda x: 1 / (1 + exp(x)), lambda x: expit(-x), where=floating),
    rule(lambda x: exp(x) / (1 + exp(x)), lambda x: expit(x), where=floating),
    rule(lambda x, y: exp(x) / (exp(x) + exp(y)), lambda x, y: expit(x - y), where=floating),
    rule(lambda x: 1 - expit(x), lambda x: expit(-x)),
)

# An inner node is rewritten before the one that it is in: log(1 - exp(x)) is log(-expm1(x)) by then.
EXPONENTIALS = (
    rule(lambda x: exp(x) - 1, lambda x: expm1(x), where=floating),
    rule(lambda x: exp(x) + -1, lambda x: expm1(x), where=floating),
    rule(lambda x: 1 - exp(x), lambda x: -expm1(x), where=floating),
    rule(lambda x: log(-expm1(x)), lambda x: log1mexp(x), where=floating),
    rule(lambda x: log1p(-exp(x)), lambda x: log1mexp(x), where=floating),
    rule(lambda x: log(expm1(x)), lambda x: x + log1mexp(-x), where=floating),
    rule(lambda x: log1p(expm1(x)), lambda x: x, where=floating),
    rule(lambda x: log(exp(x)), lambda x: x, where=floating),
    rule(lambda x, y: log(exp(x) + exp(y)), lambda x, y: logaddexp(x, y), where=floating),
    rule(lambda x, y: log(exp(x) * y), lambda x, y: x + log(y), where=floating),
    rule(lambda x, y: log(exp(x) / y), lambda x, y: x - log(y), where=floating),
    rule(lambda x: log(1 + x), lambda x: log1p(x), where=floating),
    rule(lambda x: log(1 - x), lambda x: log1p(-x), where=floating),
    rule(lambda x, y: xlogy(x, 1 + y), lambda x, y: xlog1py(x, y)),
)


def whole_power(x: Value, c: Value) -> bool:
    """Whether a constant exponent is an even number, or an odd one above 0: log(1 / x) is NaN at -0.0."""
    if not isinstance(c, Constant) or not floating(x):
        return False
    return bool(np.all((c.data % 2 == 0) | ((c.data % 2 == 1) & (c.data > 0))))


def log_of_power(x: Value, c: Value) -> Value:
    assert isinstance(c, Constant)
    return c * log(absolute(x) if np.all(c.data % 2 == 0) else x)


def scales(x: Value, a: Value, b: Value) -> bool:
    """Whether one of two constant factors is a power of two, so that their product is exact."""
    return floating(x) and is_constant(a, b) and (power_of_two(a) or power_of_two(b)) and in_range(product_of(a, b))


def product_of(a: Value, b: Value) -> Value:
    assert isinstance(a, Constant)
    assert isinstance(b, Constant)
    with np.errstate(all="ignore"):
        return constant(a.data * b.data, weak=a.type.weak)


SCALES = (rule(lambda x, a, b: (x * a) * b, lambda x, a, b: x * product_of(a, b), where=scales),)


def square_of_hypotenuse(x: Value, y: Value) -> Value:
    """The square of a hypotenuse. It is infinite for an infinite side, even beside NaN."""
    return where(patterns.logical_or(patterns.isinf(x), patterns.isinf(y)), np.inf, square(x) + square(y))


ROOTS = (
    rule(lambda x: square(sqrt(x)), lambda x: where(x < 0, np.nan, x + 0.0), where=floating),
    rule(lambda x, y: square(differentiated_as(sqrt(x), y)), lambda x, y: x, where=floating),
    rule(lambda x, y: square(hypot(x, y)), square_of_hypotenuse, where=floating),
    rule(lambda x, y: square(as_scalar(differentiated_as(sqrt(x), y))), lambda x, y: as_scalar(x), where=floating),
)
"""Lengths and deviations whose squares, unlike themselves, have derivatives where they are 0."""

POWERS = (
    rule(lambda x: sqrt(square(x)), lambda x: absolute(x), where=floating),
    rule(lambda x: log(sqrt(x)), lambda x: 0.5 * log(x), where=floating),
    rule(lambda x: log(square(x)), lambda x: 2 * log(absolute(x)), where=floating),
    rule(lambda x, c: log(power(x, c)), log_of_power, where=whole_power),
    rule(lambda x: absolute(exp(x)), lambda x: exp(x), where=floating),
    rule(lambda x: log(cosh(x)), lambda x: logaddexp(x, -x) - math.log(2), where=floating),
    # by other factors the product would be rounded, and its error multiplied by up to 700
    rule(lambda x, c: power(exp(x), c), lambda x, c: exp(x * c), where=lambda x, c: floating(x) and power_of_two(c)),
)


def log_of_erfc(x: Value) -> Value:
    """``log(erfc(x))``, where `erfc` underflows for large numbers; each form gets only the numbers that it is right
    for."""
    value = where(x > 1, log(erfcx(maximum(x, 1))) - square(x), log1p(-erf(minimum(x, 1))))
    return identity.differentiated_as(value, log_ndtr(x * -np.sqrt(2.0)) + np.log(2.0))


NORMAL = (
    rule(lambda x: 1 - erf(x), lambda x: erfc(x)),
    rule(lambda x: 1 + erf(x), lambda x: erfc(-x)),
    rule(lambda x: 1 - erfc(x), lambda x: erf(x)),
    rule(lambda x: log(erfc(x)), log_of_erfc),
    rule(lambda x: log(ndtr(x)), lambda x: log_ndtr(x)),
    rule(lambda x: 1 - ndtr(x), lambda x: ndtr(-x)),
)


def is_shifted(x: Value) -> bool:
    """Whether a maximum is subtracted already."""
    if not is_op(x, "subtract"):
        return False
    shift = x.inputs[1]
    while isinstance(shift, Node) and shift.op.name in ("broadcast_to", "expand_dims", "stop_gradient", "where"):
        shift = shift.inputs[shift.op.name == "where"]
    return is_op(shift, "max")


def shift_of(x: Value, axes: tuple[int, ...]) -> Value:
    """The largest element along ``axes``, or 0 where that would make a NaN. It cancels, so it has no gradient."""
    largest = patterns.max(x, axes=axes)
    return stop_gradient(where(isfinite(largest), largest, 0.0))


def shifted_exp(x: Value, axes: tuple[int, ...]) -> Value:
    return exp(x - expand_dims(shift_of(x, axes), axes=axes))


def log_sum_exp(x: Value, axes: tuple[int, ...]) -> Value:
    return log(patterns.sum(shifted_exp(x, axes), axes=axes)) + shift_of(x, axes)


def softmax(x: Value, axes: tuple[int, ...]) -> Value:
    total = patterns.sum(shifted_exp(x, axes), axes=axes)
    return shifted_exp(x, axes) / expand_dims(total, axes=axes)


def not_shifted(x: Value) -> bool:
    return floating(x) and not is_shifted(x)


def over_leading_axes(x: Value, axes: tuple[int, ...]) -> bool:
    """Whether the sum along ``axes`` broadcasts against ``x`` as it would with these axes kept."""
    return not_shifted(x) and axes == tuple(range(-x.ndim, len(axes) - x.ndim))


def exponent_of(value: Value) -> Value | None:
    """The sum of the exponents of a product of exponentials."""
    if is_op(value, "exp"):
        return value.inputs[0]
    if not is_op(value, "multiply"):
        return None
    left, right = map(exponent_of, value.inputs)
    return None if left is None or right is None else left + right


def is_exponential(x: Value, y: Value) -> bool:
    """Whether both factors are products of exponentials."""
    return floating(x) and exponent_of(x) is not None and exponent_of(y) is not None


def log_sum_of_products(x: Value, y: Value, axes: tuple[int, ...]) -> Value:
    """``log(sum(x * y))`` of products of exponentials."""
    exponents = [each for each in map(exponent_of, (x, y)) if each is not None]
    return log_sum_exp(exponents[0] + exponents[1], axes)


SUMS = (
    rule(lambda x, *, axes: log(patterns.sum(exp(x), axes=axes)), log_sum_exp, where=not_shifted),
    rule(
        lambda x, y, *, axes: log(patterns.sum(x * y, axes=axes)),
        log_sum_of_products,
        where=is_exponential,
    ),
    rule(
        lambda x, y, n, *, axes: log(patterns.sum(x * y, axes=axes) / n),
        lambda x, y, n, axes: log_sum_of_products(x, y, axes) - log(n),
        where=is_exponential,
    ),
    rule(
        lambda x, n, *, axes: log(patterns.sum(exp(x), axes=axes) / n),
        lambda x, n, axes: log_sum_exp(x, axes) - log(n),
        where=not_shifted,
    ),
    rule(
        lambda x, *, axes: exp(x) / expand_dims(patterns.sum(exp(x), axes=axes), axes=axes), softmax, where=not_shifted
    ),
    rule(lambda x, *, axes: exp(x) / patterns.sum(exp(x), axes=axes), softmax, where=over_leading_axes),
)


def of_choice(function: patterns.Symbol) -> Rule:
    """Apply a function to the chosen one of two numbers, rather than to both, which is twice as expensive."""
    return rule(
        lambda c, x, y: where(c, function(x), function(y)),
        lambda c, x, y: function(where(c, x, y)),
        where=lambda c, x, y: same_shape(c, x) and same_shape(x, y),
    )


SELECTIONS = ("gather", "slice", "pick", "squeeze", "expand_dims", "reshape", "transpose")
"""Ops whose elements are elements of their first operand."""


@node_rule(lambda op: op.name == "log", of_named_op, operands=SELECTIONS)
def log_of_selected(node: Node) -> Value | None:
    """The logarithm of selected probabilities of a softmax, from the selected logarithms, so that those that underflow
    are right as well."""
    chain: list[Node] = []
    value = node.inputs[0]
    while is_op(value, *SELECTIONS):
        chain.append(value)
        value = value.inputs[0]

    def selected(source: Value) -> Value:
        result = broadcast_value(source, value.shape)
        for each in reversed(chain):
            result = each.op.bind(result, *each.inputs[1:], **each.attrs)
        return result

    if is_op(value, "divide") and is_op(value.inputs[0], "exp") and floating(value):
        (exponent,), total = value.inputs[0].inputs, value.inputs[1]
        return selected(exponent) - log(selected(total))
    return None


CHOICES = tuple(map(of_choice, (log_expit, log1mexp)))

STABILISE = RuleSet(
    "stabilise",
    [*LOGISTIC, *EXPONENTIALS, *SCALES, *ROOTS, *POWERS, *NORMAL, *SUMS, log_of_selected, *CHOICES],
    exact=False,
)

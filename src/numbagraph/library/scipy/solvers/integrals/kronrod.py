"""Rules of Gauss and Kronrod with QUADPACK's estimates of their errors.

Piessens, de Doncker-Kapenga, Überhuber and Kahaner, QUADPACK (Springer, 1983), qk21 and qk15i.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.loops import fori_loop
from numbagraph.library.scipy.arguments import lifted

Function = Callable[..., Any]

EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)

NODES_21 = np.array([
    0.995657163025808080735527280689003, 0.973906528517171720077964012084452, 0.930157491355708226001207180059508,
    0.865063366688984510732096688423493, 0.780817726586416897063717578345042, 0.679409568299024406234327365114874,
    0.562757134668604683339000099272694, 0.433395394129247190799265943165784, 0.294392862701460198131126603103866,
    0.148874338981631210884826001129720,
])  # fmt: skip
WEIGHTS_21 = np.array([
    0.011694638867371874278064396062192, 0.032558162307964727478818972459390, 0.054755896574351996031381300244580,
    0.075039674810919952767043140916190, 0.093125454583697605535065465083366, 0.109387158802297641899210590325805,
    0.123491976262065851077958109831074, 0.134709217311473325928054001771707, 0.142775938577060080797094273138717,
    0.147739104901338491374841515972068, 0.149445554002916905664936468389821,
])  # fmt: skip
GAUSS_10 = np.array([
    0.066671344308688137593568809893332, 0.149451349150580593145776339657697, 0.219086362515982043995534934228163,
    0.269266719309996355091226921569469, 0.295524224714752870173892994651338,
])  # fmt: skip
NODES_15 = np.array([
    0.991455371120812639206854697526329, 0.949107912342758524526189684047851, 0.864864423359769072789712788640926,
    0.741531185599394439863864773280788, 0.586087235467691130294144838258730, 0.405845151377397166906606412076961,
    0.207784955007898467600689403773245,
])  # fmt: skip
WEIGHTS_15 = np.array([
    0.022935322010529224963732008058970, 0.063092092629978553290700663189204, 0.104790010322250183839876322541518,
    0.140653259715525918745189590510238, 0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
    0.204432940075298892414161999234649, 0.209482141084727828012999174891714,
])  # fmt: skip
GAUSS_7 = np.array([
    0.129484966168869693270611432679082, 0.279705391489276667901467771423780, 0.381830050505118944950369775488975,
    0.417959183673469387755102040816327,
])  # fmt: skip


class Rule(NamedTuple):
    """A rule on an interval: its points are the middle, and pairs around it."""

    nodes: Any
    """The distances of the pairs from the middle, from the ends inwards."""
    weights: Any
    """The weights of the pairs, and that of the middle."""
    gauss: Any
    """Those of the rule of lower order, zero where it has no point."""
    order: Any
    """The pairs in the order in which QUADPACK adds them."""
    ordered_weights: Any
    """The weights of the pairs in this order."""
    ordered_gauss: Any


class Estimate(NamedTuple):
    """What a rule says of an integral over an interval."""

    value: Any
    error: Any
    magnitude: Any
    """The integral of the magnitude."""
    variation: Any
    """The integral of the distance from the mean."""


def every_other(weights: Any, count: int) -> Any:
    found = np.zeros(count)
    found[1::2] = weights
    return found


def rule_of(nodes: Any, weights: Any, gauss: Any, order: Any) -> Rule:
    return Rule(nodes, weights, gauss, order, weights[order], gauss[order])


KRONROD_21 = rule_of(NODES_21, WEIGHTS_21, every_other(GAUSS_10, 11), np.array([1, 3, 5, 7, 9, 0, 2, 4, 6, 8]))
KRONROD_15 = rule_of(NODES_15, WEIGHTS_15, every_other(GAUSS_7, 8), np.arange(7))


def points_of(a: Any, b: Any, rule: Rule) -> Any:
    """Return the points of a rule in an interval: the middle, those on the left of it, and those on the right."""
    return 0.5 * (a + b) + 0.5 * (b - a) * np.concatenate([[0.0], -rule.nodes, rule.nodes])


def estimated(f: Function, a: Any, b: Any, rule: Rule, each: Function) -> tuple[Estimate, tuple[Any, ...]]:
    """Integrate a function of a number by a rule. Return, too, what it gives beside its values. ``each`` makes it a
    function of several points."""
    found = each(f)(points_of(a, b, rule))
    values, *rest = found if isinstance(found, tuple) else (found,)
    return summed(values, a, b, rule), tuple(rest)


def summed(values: Any, a: Any, b: Any, rule: Rule) -> Estimate:
    """Integrate a function, given by its values at the points of a rule, in the order in which QUADPACK adds."""
    pairs, centre = len(rule.nodes), values[0]

    def added(j: Any, sums: Any) -> Any:
        value, lower, magnitude = sums
        place, weight = lifted(rule.order)[j], lifted(rule.ordered_weights)[j]
        left, right = values[place + 1], values[place + 1 + pairs]
        value, lower = value + weight * (left + right), lower + lifted(rule.ordered_gauss)[j] * (left + right)
        return value, lower, magnitude + weight * (np.abs(left) + np.abs(right))

    start = (rule.weights[pairs] * centre, rule.gauss[pairs] * centre, np.abs(rule.weights[pairs] * centre))
    value, lower, magnitude = fori_loop(0, pairs, added, start)
    mean = 0.5 * value

    def varied(j: Any, total: Any) -> Any:
        distance = np.abs(values[j + 1] - mean) + np.abs(values[j + 1 + pairs] - mean)
        return total + lifted(rule.weights)[j] * distance

    variation = fori_loop(0, pairs, varied, rule.weights[pairs] * np.abs(centre - mean))
    half = 0.5 * (b - a)
    magnitude, variation = magnitude * np.abs(half), variation * np.abs(half)
    error = error_of(np.abs((value - lower) * half), magnitude, variation)
    return Estimate(value * half, error, magnitude, variation)


def error_of(difference: Any, magnitude: Any, variation: Any) -> Any:
    """Estimate the error of a rule from its difference from the one of lower order."""
    scaled = variation * np.fmin(1.0, np.divide(200.0 * difference, variation) ** 1.5)
    error = np.where((variation != 0.0) & (difference != 0.0), scaled, difference)
    return np.where(magnitude > TINY / (50.0 * EPS), np.fmax(50.0 * EPS * magnitude, error), error)

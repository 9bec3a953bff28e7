"""Functions that `pickle` and `copy` take: compiled and transformed ones, with the name that they had or without."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from numbagraph import (
    custom_vjp,
    grad,
    graph_jit,
    gufunc,
    hessian,
    jacfwd,
    jacrev,
    special,
    value_and_grad,
    vectorize,
    vmap,
)

X = np.arange(1.0, 4.0)


def cubes(x):
    return np.sum(x**3)


@graph_jit
def compiled(x):
    return np.sum(x**3)


@grad
def gradient(x):
    return np.sum(x**3)


@graph_jit
@grad
def compiled_gradient(x):
    return np.sum(x**3)


@gufunc("(n)->()")
def total(x):
    return np.sum(x)


@custom_vjp
def ruled(x):
    return np.sum(x**3)


def forward(x):
    return cubes(x), x


def backward(x, g):
    return (g * 30 * x**2,)


ruled.defvjp(forward, backward)
other = custom_vjp(cubes)
other.defvjp(forward, backward)


class Model:
    def __init__(self):
        self.scale = 2.0

    @graph_jit
    def scaled(self, x):
        return x * self.scale


NAMED = [compiled, gradient, compiled_gradient, total, ruled, special.softmax]
"""Those that stand in a module under the name of the function that they were made of."""
MADE = {
    "grad": grad(cubes),
    "grad of a compiled function": grad(compiled),
    "grad of what is named": hessian(gradient),
    "grad of a rule": grad(ruled),
    "grad of another rule": grad(other),
    "jacrev of grad": jacrev(grad(cubes)),
    "compiled grad": graph_jit(grad(cubes), parallel=True),
    "value_and_grad": value_and_grad(cubes, has_aux=False),
    "hessian": hessian(cubes),
    "jacfwd": jacfwd(cubes),
    "vmap": vmap(np.sqrt, in_axes=0),
    "vectorize": vectorize(np.sqrt),
    "vectorize with a signature": vectorize(cubes, signature="(n)->()"),
    "compiled anew": graph_jit(compiled, backend="numpy"),
    "a method": Model().scaled,
    "a rule": other,
}
WAYS = {"pickle": lambda each: pickle.loads(pickle.dumps(each)), "deepcopy": copy.deepcopy}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("function", NAMED, ids=lambda each: type(each).__name__)
def test_what_a_name_stands_for_stays_the_same_object(function, way):
    assert WAYS[way](function) is function


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MADE)
def test_what_was_made_is_made_again(name, way):
    function = MADE[name]
    again = WAYS[way](function)
    assert type(again) is type(function)
    for left, right in zip(np.atleast_1d(*pair(again(X))), np.atleast_1d(*pair(function(X))), strict=True):
        np.testing.assert_array_equal(left, right)
    for option in ("parallel", "backend"):
        assert getattr(again, option, None) == getattr(function, option, None)


def pair(results):
    """Two arrays, of whatever a function gives."""
    return results if isinstance(results, tuple) else (results, results)

"""Bools of NumPy beside Python's numbers: values and dtypes of all binary functions and operators, both ways around."""

import itertools
import operator

import numpy as np
import pytest

from numbagraph import graph_jit
from numbagraph.ir.op import numpy_function, registry
from numbagraph.ir.types import COMPLEXES, DTYPES
from numbagraph.testing import assert_same
from numbagraph.testing.op_calls import outcome

BOOLS = [np.True_, np.False_, np.array([True, False])]
NUMBERS = [True, False, 2, 0, -1, 300, 2.0, 0.5, 2 + 0j, 2j]
"""Every type of Python's, and the values that NumPy treats as none of its kind."""
OPERATORS = "add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift lt le gt ge eq ne".split()
FUNCTIONS = {
    **{name: getattr(operator, name) for name in OPERATORS},
    "divmod": divmod,
    **{
        op.name: numpy_function(op)
        for op in registry
        if isinstance(numpy_function(op), np.ufunc) and numpy_function(op).nin == 2
    },
}


def difference(expected, found, exact, unsupported):
    """What is wrong with a result, in words."""
    if isinstance(expected, Exception) or isinstance(found, Exception):
        refused = isinstance(expected, Exception) or any(each.dtype not in DTYPES for each in np.atleast_1d(expected))
        if isinstance(found, Exception) and (refused or unsupported(expected)):
            return None
        return f"{expected!r} expected, found {found!r}"
    try:
        assert_same(found, expected, ulp=0 if exact else 256, scale=1.0)
    except AssertionError as error:
        return str(error)
    return None


@pytest.mark.repeats(but_each=2)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_bools_beside_python_numbers(name):
    function, failures = FUNCTIONS[name], []
    of_both = graph_jit(lambda x, y: function(x, y), backend="numpy")

    def unsupported(expected):
        """Functions of `scipy.special` are there for real arguments."""
        return np.asarray(expected).dtype in COMPLEXES and getattr(np, name, None) is None and name not in OPERATORS

    for flags, number, swapped in itertools.product(BOOLS, NUMBERS, (False, True)):
        arguments = (number, flags) if swapped else (flags, number)
        of_flags = graph_jit(
            (lambda x, n=number: function(n, x)) if swapped else (lambda x, n=number: function(x, n)),
            backend="numpy",
            static_argnames="n",
        )
        expected = outcome(function, arguments)
        exact = np.asarray(expected).dtype.kind in "biu" if not isinstance(expected, Exception) else True
        found = {"an argument": outcome(of_both, arguments), "a constant": outcome(of_flags, (flags,))}
        if name == "pow" and np.ndim(flags) and number is NUMBERS[2] and not swapped:
            del found["an argument"]  # a listed difference: the dtype of NumPy's follows from the value
        for where, each in found.items():
            wrong = difference(expected, each, exact, unsupported)
            failures += [f"{name}{arguments}, the number {where}: {wrong}"] if wrong else []
    assert not failures, "\n".join(failures[:12])


@pytest.mark.parametrize("flags", BOOLS, ids=repr)
def test_native_powers_of_bools(flags):
    """NumPy's scalars have the dtype of the loop, its arrays that of the square."""
    found = graph_jit(lambda x: (x**2, x**3, np.square(x), np.power(x, 2), x**2.0))(flags)
    expected = (flags**2, flags**3, np.square(flags), np.power(flags, 2), flags**2.0)
    for each, wanted in zip(found, expected, strict=True):
        assert_same(each, wanted)


def test_powers_of_what_is_computed_are_those_of_numpy_s_scalars():
    x = np.arange(3.0)
    for function in (lambda x: np.any(x > 1) ** 2, lambda x: (x[0] > 1) ** 2, lambda x: (x > 1) ** 2):
        assert_same(graph_jit(function)(x), function(x))

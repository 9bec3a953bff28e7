"""Operators on Python's numbers do what Python does, with its errors: every operator, every pair of types, extremes."""

import itertools
import math
import operator

import numpy as np
import pytest

from numbagraph import Abstract, graph_jit, value_and_grad
from numbagraph.tracing import python_arithmetic

NUMBERS = {
    bool: (False, True),
    int: (0, 1, -1, 7, -7, 3, 63, 64, 2**31, 2**40, 2**62, 2**63 - 1, -(2**63)),
    float: (0.0, -0.0, 1.0, -1.5, 2.0, 0.5, 1e300, -1e300, math.inf, -math.inf, math.nan, 400.0),
    complex: (0j, 1 + 2j, -1.5 - 0j, 2 + 0j),
}
BINARY = "add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift lt le gt ge eq ne".split()
UNARY = "neg pos abs invert".split()
LONGEST = 10**4
"""Exponents and shifts beyond this would keep Python busy for ever."""


def outcome(function, *numbers):
    try:
        result = function(*numbers)
    except (ArithmeticError, TypeError, ValueError) as error:
        return type(error)
    if type(result) is int and not -(2**63) <= result < 2**63:
        return OverflowError
    return result


def python_outcome(name, *numbers):
    """What Python does; an error instead of a complex result of real numbers."""
    found = outcome(getattr(operator, name), *numbers)
    return (
        ValueError if isinstance(found, complex) and not any(isinstance(each, complex) for each in numbers) else found
    )


def agree(expected, found):
    if isinstance(expected, type) or isinstance(found, type):
        return expected is found
    if type(expected) is not type(found):
        return False
    if isinstance(expected, float) and expected == found:
        return math.copysign(1, expected) == math.copysign(1, found)
    return expected == found or bool(np.isclose(expected, found, rtol=1e-14, atol=0, equal_nan=True))


def cases(name, *types):
    for numbers in itertools.product(*(NUMBERS[each] for each in types)):
        if name in ("pow", "lshift") and types[0] in (bool, int) and types[1] is int and abs(numbers[1]) > LONGEST:
            continue
        if name == "pow" and complex in types and not all(abs(each) <= 100 for each in numbers):
            continue  # large exponents cost digits, and Python gives NaN for some and raises an error for others
        yield numbers


def differences(name, function, *types):
    for numbers in cases(name, *types):
        expected, found = python_outcome(name, *numbers), outcome(function, *numbers)
        if not agree(expected, found):
            yield f"{name}{numbers}: {expected!r} expected, found {found!r}"


@pytest.mark.repeats(but_each=2)
@pytest.mark.filterwarnings("ignore:.* has been compiled for 16 values:RuntimeWarning")  # with negative exponents
@pytest.mark.parametrize("name", BINARY)
def test_binary_operators(name):
    operation = getattr(operator, name)
    found = [
        each
        for types in itertools.product(NUMBERS, NUMBERS)
        for each in differences(name, graph_jit(lambda a, b: operation(a, b)), *types)
    ]
    assert not found, "\n".join(found[:12])


@pytest.mark.filterwarnings("ignore:Bitwise inversion:DeprecationWarning")
@pytest.mark.parametrize("name", UNARY)
def test_unary_operators(name):
    operation = getattr(operator, name)
    found = [each for kind in NUMBERS for each in differences(name, graph_jit(lambda a: operation(a)), kind)]
    assert not found, "\n".join(found[:12])


FUNCTIONS = {
    "round": lambda a: round(a),
    "int": lambda a: int(a),
    "floor": lambda a: math.floor(a),
    "ceil": lambda a: math.ceil(a),
    "trunc": lambda a: math.trunc(a),
    "lgamma": lambda a: math.lgamma(a),
    "gamma": lambda a: math.gamma(a),
    "gcd": lambda a: math.gcd(a, 0),
}
ENDS = {
    bool: NUMBERS[bool],
    int: NUMBERS[int],
    float: (*NUMBERS[float], -(2.0**63), 2.0**63, np.nextafter(-(2.0**63), 0), 5e-324, -1e-310, 1e308, 2.5, -0.5),
}


@pytest.mark.parametrize("kind", ENDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_numbers(name, kind):
    if (name, kind) == ("gcd", float):
        return
    function, compiled = FUNCTIONS[name], graph_jit(FUNCTIONS[name])
    for number in map(kind, ENDS[kind]):
        expected, found = outcome(function, number), outcome(compiled, number)
        assert agree(expected, found), (number, expected, found)


@pytest.mark.parametrize("exponent", [-2, -1, 0, 1, 2, 3, 5, 63, 0.5, -0.5, 2.0, -1.0])
def test_constant_exponents(exponent):
    power = graph_jit(lambda x: x**exponent)
    for number in (*NUMBERS[int], -2, 2, 2097151, 2097152, -2097152, *NUMBERS[float], 1e154, 1e155, -8.0):
        expected, found = outcome(operator.pow, number, exponent), outcome(power, number)
        if isinstance(expected, complex):
            expected = ValueError
        assert agree(expected, found), (number, expected, found)


@pytest.mark.parametrize("backend", ["numba", "numpy", "jax"])
def test_every_backend_raises(backend):
    square = graph_jit(lambda n: n * n + 1, backend=backend)
    assert square(3) == 10
    with pytest.raises(OverflowError, match=r"leaves int64(?s:.*)test_python_arithmetic\.py"):
        square(2**40)
    ratio = graph_jit(lambda x, n: x / n, backend=backend)
    assert ratio(3.0, 2) == 1.5
    with pytest.raises(ZeroDivisionError, match=r"division by zero(?s:.*)test_python_arithmetic\.py"):
        ratio(3.0, 0)


def test_lengths_are_python_numbers():
    mean = graph_jit(lambda x: 1 / x.shape[0])
    assert mean(np.ones(4)) == 0.25
    with pytest.raises(ZeroDivisionError):
        mean(np.ones(0))
    remainder = graph_jit(lambda x: 7 % x.shape[0])
    with pytest.raises(ZeroDivisionError):
        remainder(np.ones(0))


def test_numpy_scalars_are_not():
    wrapping = graph_jit(lambda n: n * n)
    assert wrapping(np.int64(2**40)) == 0
    assert graph_jit(lambda x: 1 / x)(np.float64(0.0)) == np.inf
    assert graph_jit(lambda n, x: x // n)(0, np.arange(3)).tolist() == [0, 0, 0]


def test_a_constant_division_by_zero_is_found_while_tracing():
    with pytest.raises(ZeroDivisionError, match=r"test_python_arithmetic\.py"):
        graph_jit(lambda n: n // 0)(3)


def test_checks_that_cannot_fail_are_left_out():
    """Bounds of lengths and constants show that nothing leaves int64."""

    def guards(function, *arguments):
        return len(graph_jit(function).graph(*arguments).guards)

    x = Abstract((5,))
    assert guards(lambda x: x[1 : x.shape[0] - 1].sum(), x) == 0
    assert guards(lambda x: (x.shape[0] - 1) // 2, x) == 0
    assert guards(lambda x: x.shape[0] % 7 * 5 + 1, x) == 0
    assert guards(lambda n: n + 1, 3) == 1
    assert guards(lambda y: y / 2.0 + 1.0, 3.0) == 0


def test_power_limits_are_exact():
    for exponent in (2, 3, 5, 21, 39, 62, 63, 64, 200):
        low, high = python_arithmetic.power_limits(exponent)
        assert high**exponent < 2**63 <= (high + 1) ** exponent
        assert low**exponent >= -(2**63)
        assert not -(2**63) <= (low - 1) ** exponent < 2**63


def test_derivatives_are_those_of_the_operators():
    value, slope = graph_jit(value_and_grad(lambda x: x**3 / 2.0 - abs(x)))(2.0)
    assert (value, slope) == (2.0, 5.0)
    with pytest.raises(ZeroDivisionError):
        graph_jit(value_and_grad(lambda x: 1.0 / x))(0.0)


def test_divmod_from_both_sides():
    assert graph_jit(lambda n: divmod(n, 3))(-7) == divmod(-7, 3)
    assert graph_jit(lambda n: divmod(7, n))(-3) == divmod(7, -3)

"""Errors of random numbers drawn from numpy.random.Generator, and what is refused."""

from typing import Any

import numpy as np
import pytest

import numbagraph
from numbagraph import TraceError, graph_jit
from tests.library.random.test_generator import generator, same_draws, state


@pytest.mark.parametrize(
    ("draw", "arguments"),
    [
        (lambda rng, x: rng.normal(0.0, x), (-1.0,)),
        (lambda rng, x: rng.normal(0.0, x), (-0.0,)),
        (lambda rng, x: rng.gamma(x), (-1.0,)),
        (lambda rng, x: rng.beta(x, [1.0, 2.0]), (0.0,)),
        (lambda rng, x: rng.beta(x, 1.0), (np.array([1.0, -2.0]),)),
        (lambda rng, x: rng.binomial(10, x), (1.5,)),
        (lambda rng, x: rng.binomial(x, 0.5), (-1,)),
        (lambda rng, x: rng.hypergeometric(x, 2, 9), (5,)),
        (lambda rng, x: rng.poisson(x), (np.nan,)),
        (lambda rng, x: rng.triangular(x, 1.0, 2.0), (1.5,)),
        (lambda rng, x: rng.uniform(x, 1.0), (2.0,)),
        (lambda rng, x: rng.uniform(-x, x), (1e308,)),
        (lambda rng, x: rng.zipf(x), (1.0,)),
        (lambda rng, x: rng.integers(x), (0,)),
        (lambda rng, x: rng.integers(3, x, endpoint=True), (2,)),
        (lambda rng, x: rng.integers([1, 3], x), (2,)),
        (lambda rng, x: rng.integers(x, dtype=np.uint8), (300,)),
        (lambda rng, x: rng.choice(x), (0,)),
        (lambda rng, x: rng.choice(3, p=x), (np.array([0.5, 0.2, 0.2]),)),
        (lambda rng, x: rng.choice(3, p=x), (np.array([0.5, 0.5]),)),
    ],
)
def test_bad_parameters_raise_the_error_of_numpy_and_leave_the_state(draw, arguments):
    def function(rng, x):
        first = rng.normal(size=3)
        return first, draw(rng, x)

    rng = generator()
    with pytest.raises((ValueError, OverflowError)) as expected:
        draw(generator(), *arguments)
    before = state(rng)
    with pytest.raises(expected.type) as found:
        graph_jit(function)(rng, *arguments)
    assert str(found.value).startswith(str(expected.value))
    assert state(rng) == before


def test_what_numpy_takes_all_the_same():
    """Parameters that native code does not know what to do with: NumPy is asked."""
    same_draws(lambda rng, x: (rng.normal(x, x), rng.beta(x, 2.0), rng.weibull(x * 0.0), rng.random()), np.nan)
    same_draws(lambda rng, x: (rng.rayleigh(x), rng.random()), 0.0)


def test_error_in_a_loop_leaves_the_state():
    def function(rng, n, df):
        total = 0.0
        for step in range(n):
            total += rng.chisquare(df - step)
        return total

    same_draws(function, 3, 5.0)
    rng = generator()
    before = state(rng)
    with pytest.raises(ValueError, match="df <= 0") as found:
        graph_jit(function)(rng, 9, 5.0)
    assert "test_errors.py" in str(found.value)
    assert state(rng) == before


@pytest.mark.parametrize(
    ("function", "kind", "message"),
    [
        (lambda rng, x: rng.normal([1.0, 2.0, 3.0], size=(2, 1)), ValueError, r"broadcast \(3,\) to \(2, 1\)"),
        (lambda rng, x: rng.normal(size=-1), ValueError, "negative dimensions"),
        (lambda rng, x: rng.random(dtype=int), TypeError, "Unsupported dtype"),
        (lambda rng, x: rng.normal(1j), TypeError, "safe"),
        (lambda rng, x: rng.integers([1, 2], 5, dtype=np.int8), TraceError, "arrays as bounds"),
        (lambda rng, x: rng.integers(x), TypeError, "astype"),
        (lambda rng, x: rng.shuffle([1, 2]), TraceError, "permutation"),
        (lambda rng, x: rng.bytes(3), TraceError, "bytes of a numpy.random.Generator is not compiled"),
        (lambda rng, x: rng.no_such(3), AttributeError, "no attribute 'no_such'"),
        (lambda rng, x: rng, TraceError, "the caller has the generator"),
        (lambda rng, x: numbagraph.vmap(lambda y: y + rng.normal())(x), TraceError, "under vmap"),
        (lambda rng, x: numbagraph.vmap(rng.gamma)(x), TraceError, "under vmap.*numbagraph.random"),
        (lambda rng, x: numbagraph.fori_loop(0, 3, lambda i, y: y + rng.normal(), x), TraceError, "in Python"),
        (lambda rng, x: numbagraph.grad(lambda y: rng.gamma(y))(x[0]), NotImplementedError, "no derivative"),
        (lambda rng, x: rng.random(out=x), TraceError, "assign"),
    ],
)
def test_refusals(function, kind, message):
    compiled: Any = graph_jit(function)
    rng = generator()
    before = state(rng)
    with pytest.raises(kind, match=message):
        compiled(rng, np.ones(3))
    assert state(rng) == before


class Other(np.random.Generator):
    """It may draw in another way."""


def test_other_sources():
    function = graph_jit(lambda rng: rng.normal())
    other = Other(np.random.PCG64(1))
    for each in (np.random.RandomState(1), np.random.PCG64(1), other):
        with pytest.raises(TypeError, match=r"numpy\.random\.Generator"):
            function(each)
    with pytest.raises(TypeError, match="not static"):
        graph_jit(lambda rng: rng.normal(), static_argnames="rng")(generator())


def test_generators_from_outside():
    outside = generator()
    inner = graph_jit(lambda rng, x: rng.normal() + x)
    with pytest.raises(TraceError, match="as an argument"):
        graph_jit(lambda x: x + outside.normal())(1.0)
    with pytest.raises(TraceError, match="pass the generator as an argument"):
        graph_jit(lambda x: inner(outside, x))(1.0)


def test_draws_by_python_in_the_same_call():
    rng = generator()

    def function(given, x):
        return given.normal() + numbagraph.pure_callback(lambda y: y + rng.normal(), np.float64(0.0), x)

    with pytest.raises(RuntimeError, match="was drawn from by Python"):
        graph_jit(function)(rng, 1.0)


def raising(_):
    raise KeyError("no")


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (lambda rng, x, good: (x + rng.normal(), numbagraph.check(good, "no"))[0], ValueError),
        (lambda rng, x, good: x[np.where(good, 0, 9)] + rng.normal(), IndexError),
        (lambda rng, x, good: np.linalg.inv(np.eye(2) * good) * rng.normal(), np.linalg.LinAlgError),
        (lambda rng, x, good: x[x > rng.normal()][np.where(good, 0, 9)], IndexError),
        (lambda rng, x, good: rng.normal() + numbagraph.pure_callback(raising, x, x), KeyError),
    ],
)
def test_a_call_that_fails_draws_nothing(function, kind):
    """The next call draws the numbers that this one would have drawn."""
    compiled, rng, fresh = graph_jit(function), generator(), generator()
    x = np.arange(10.0, 14.0)
    for _ in range(2):
        with pytest.raises(kind):
            compiled(rng, x, False)
        assert state(rng) == state(fresh)
    if kind is not KeyError:
        np.testing.assert_array_equal(compiled(rng, x, True), function(fresh, x, True))
        assert state(rng) == state(fresh)

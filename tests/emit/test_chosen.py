"""What takes long to compute stands in a branch where it is chosen."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

from numbagraph import grad, graph_jit

RNG = np.random.default_rng(3)
X, Y = RNG.uniform(0.05, 0.95, (2, 40))
Z = np.where(np.arange(40) % 7 == 0, np.nan, X)


def nested(x: Any, y: Any) -> Any:
    deep = np.where(x < 0.2, special.gammainc(x, y), np.where(y < 0.5, special.gammaincc(x, y), special.jv(x, y)))
    return np.where(x < 0.8, deep * 2.0, -np.log(special.betainc(x, y, x)))


def shared(x: Any, y: Any) -> Any:
    """What the condition, or the other element, needs as well is computed before the branch."""
    p, q = special.gammainc(x, y), special.jv(x, y)
    return np.where(p < 0.5, np.log(p) + q, np.log1p(-special.gammaincc(x, y)) * q)


def repeated(x: Any, y: Any) -> Any:
    """What is chosen once more inside of what is chosen, and in the condition there, is computed around both."""
    p = special.gammainc(x, y)
    return np.where(x < 0.5, np.where(p < 0.5, special.jv(p, y), p), special.jv(y, x))


def chain(x: Any, y: Any) -> Any:
    """More choices inside of each other than there are branches."""
    found = special.gammainc(x, y)
    for number in range(60):
        found = np.where(x < number / 60.0, special.gammainc(x + 0.01 * number, y), found)
    return found


def gathered(x: Any, y: Any) -> Any:
    """The index of an element that is chosen is checked all the same."""
    place = np.floor((len(x) - 1) * y).astype(int)
    return np.where(x < 0.5, special.gammainc(x, y[place]), special.jv(x, x[place]))


def of_rows(x: Any, y: Any) -> Any:
    """One element of a choice, and one condition, is the same in each row."""
    column = y[:, None]
    first = np.where(x < 0.5, special.gammainc(x, column), special.jv(column, column))
    return np.where(column < 0.5, special.gammaincc(column, 2.0), first).sum(axis=1)


def accumulated(x: Any, y: Any) -> Any:
    return np.cumsum(np.where(x < 0.5, special.gammainc(x, y), special.jv(x, y)))


def several(x: Any, y: Any) -> Any:
    """What is a result is computed everywhere."""
    p = special.gammainc(x, y)
    return np.stack([np.where(x < 0.5, p, special.jv(x, y)), p])


@pytest.mark.parametrize("function", [nested, shared, repeated, chain, gathered, of_rows, accumulated, several])
@pytest.mark.parametrize("x", [X, Z, X[:1], X[:0]], ids=["numbers", "nan", "one", "none"])
def test_values(function: Callable[..., Any], x: np.ndarray) -> None:
    y = Y[: x.size]
    np.testing.assert_allclose(graph_jit(function)(x, y), function(x, y), rtol=1e-13)


@pytest.mark.parametrize("function", [nested, shared, accumulated])
def test_derivatives(function: Callable[..., Any]) -> None:
    def total(y: Any) -> Any:
        return np.sum(function(X, y))

    step = 1e-5
    for number in range(0, 40, 5):
        ends = [np.sum(function(X, Y + sign * step * (np.arange(40) == number))) for sign in (1, -1)]
        found = graph_jit(grad(total))(Y)[number]
        assert found == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6, abs=1e-7)


def test_an_index_out_of_bounds_is_an_error_wherever_it_is_chosen() -> None:
    @graph_jit
    def function(x: Any, places: Any) -> Any:
        return np.where(x < 2.0, special.jv(x, x), special.gammainc(x, x[places]))

    with pytest.raises(IndexError):
        function(X, np.full(40, 40))


def blocks_of_calls(text: str, name: str) -> list[str]:
    """The blocks of code in which a function is called."""
    return [block for block in re.split(r"\n\s*\n|\n(?=\S+:)", text) if re.search(rf"call .*scipy\.{name}\.", block)]


def test_one_of_two_is_computed() -> None:
    @graph_jit
    def function(x: Any, y: Any) -> Any:
        return np.where(x < 0.5, special.gammainc(x, y), np.where(y < 0.5, special.jv(x, y), y))

    text = str(function.llvm(X, Y))
    (first,), (second,) = (blocks_of_calls(text, name) for name in ("gammainc", "jv"))
    assert first != second


def test_what_is_needed_twice_in_a_branch_is_computed_in_it() -> None:
    @graph_jit
    def function(x: Any, y: Any) -> Any:
        p = special.gammainc(x, y)
        return np.where(x < 0.5, np.where(p < 0.5, special.jv(p, y), p), y)

    text = str(function.llvm(X, Y))
    (block,) = blocks_of_calls(text, "gammainc")
    assert "load double" not in block


@pytest.mark.parametrize("function", ["expm1", "log1p", "exp2", "cbrt", "round", "radian", "ellipkm1", "shichi"])
def test_vector_code_stands_in_no_branch(function: str) -> None:
    """Whatever the op is called: NumPy has some functions of SciPy's names."""
    ufunc = getattr(special, function)

    def chosen(x: Any) -> Any:
        found = ufunc(*[x] * ufunc.nin)
        return np.where(x < 0.5, found[0] if ufunc.nout > 1 else found, x)

    compiled = graph_jit(chosen)
    np.testing.assert_allclose(compiled(X), chosen(X), rtol=1e-13)
    assert "body.if:" not in str(compiled.llvm(X))

"""Arrays whose class means more than their elements are refused by name, wherever a function meets them."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import numbagraph as ng
from numbagraph import graph_jit

X = np.array([1.0, 2.0, 3.0])


class Quantity(np.ndarray):
    """Numbers with a unit, as those of astropy."""

    def __new__(cls, numbers: Any, unit: str) -> Quantity:
        found = np.asarray(numbers, float).view(cls)
        found.unit = unit
        return found

    def __array_finalize__(self, other: Any) -> None:
        self.unit = getattr(other, "unit", "")

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **options: Any) -> Any:
        raise ValueError("units differ")


class Labelled(np.ndarray):
    """An array that hands something on to what is made of it."""

    def __array_finalize__(self, other: Any) -> None:
        self.label = getattr(other, "label", "")


class Saturating(np.ndarray):
    """An array with an operator of its own."""

    def __add__(self, other: Any) -> Any:
        return np.minimum(np.asarray(self) + other, 1.0)


class Wrapping:
    """Numbers with a unit in an object, as those of pint."""

    def __init__(self, numbers: Any) -> None:
        self.numbers = np.asarray(numbers)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.numbers

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **options: Any) -> Any:
        raise ValueError("units differ")


class Dispatching(Wrapping):
    __array_ufunc__ = None  # type: ignore[assignment]

    def __array_function__(self, *_: Any) -> Any:
        raise ValueError("units differ")


class Plain(np.ndarray):
    """An array of another class, that does nothing else."""

    def unit(self) -> str:
        return "m"


CLASSES: dict[str, Callable[[], Any]] = {
    "Quantity": lambda: Quantity([1.0, 2.0, 3.0], "m"),
    "Quantity of one": lambda: Quantity(2.0, "m"),
    "Labelled": lambda: X.view(Labelled),
    "Saturating": lambda: X.view(Saturating),
    "Wrapping": lambda: Wrapping(X),
    "Dispatching": lambda: Dispatching(X),
    "DataFrame": lambda: pytest.importorskip("pandas").DataFrame({"a": X}),
}


def stored(x: Any, value: Any) -> Any:
    x = x.copy()
    x[:] = value
    return x


PLACES: dict[str, Callable[[Any], Any]] = {
    "argument": lambda q: graph_jit(lambda x: x * 2)(q),
    "second argument": lambda q: graph_jit(lambda x, y: x * y)(X, q),
    "tree": lambda q: graph_jit(lambda d: d["a"][0] * 2)({"a": [q]}),
    "without compiling": lambda q: graph_jit(lambda x: x * 2, backend="numpy")(q),
    "donated": lambda q: graph_jit(lambda x: x * 2, donate_argnames="x")(q),
    "gradient": lambda q: ng.grad(lambda x: np.sum(x**2))(q),
    "map": lambda q: ng.vmap(lambda x: x * 2)(q),
    "cotangent": lambda q: ng.vjp(lambda x: x * 2, X)[1](q),
    "core of a gufunc": lambda q: ng.gufunc("(n)->(n)")(lambda x: x * 2 + np.stack([x, q])[1])(X),
    "captured": lambda q: graph_jit(lambda x: x * q)(X),
    "attribute": lambda q: graph_jit(lambda x, c: x - c.q, static_argnames="c")(X, SpaceWithHash(q=q)),
    "entry": lambda q: graph_jit(lambda x, held={"q": q}: x * held["q"])(X),
    "in a list": lambda q: graph_jit(lambda x: np.stack([x, q]))(X),
    "choice": lambda q: graph_jit(lambda x: np.where(x > 1.0, x, q))(X),
    "stored": lambda q: graph_jit(stored)(X, q),
    "stored from outside": lambda q: graph_jit(lambda x: stored(x, q))(X),
    "loop": lambda q: graph_jit(lambda x: ng.scan(lambda c, y: (c + y, c), x, q))(X),
    "derivative of captured": lambda q: ng.grad(lambda x: np.sum(x * q))(X),
    "callback": lambda q: graph_jit(lambda x: ng.pure_callback(lambda x: q, ng.Abstract((3,)), x))(X),
    "shared": lambda q: ng.shared(q),
    "density": lambda q: graph_jit(lambda x: __import__("scipy.stats").stats.norm.logpdf(x, loc=q))(X),
}


class SpaceWithHash(SimpleNamespace):
    __hash__ = object.__hash__


def check_class(name: str, place: str) -> None:
    """What is refused is named, and it is said what to give instead."""
    given = CLASSES[name]()
    with pytest.raises((TypeError, ng.TraceError)) as caught:
        PLACES[place](given)
    text = str(caught.value)
    assert f"a {type(given).__name__} of " in text
    assert "would be lost: " in text


@pytest.mark.parametrize("place", PLACES)
def test_a_quantity_is_refused(place: str) -> None:
    check_class("Quantity", place)


@pytest.mark.parametrize("name", CLASSES)
def test_classes_are_refused(name: str) -> None:
    for place in ("argument", "tree", "captured", "shared"):
        check_class(name, place)


def test_it_is_refused_by_jax() -> None:
    pytest.importorskip("jax")
    with pytest.raises(TypeError, match="argument x is a Quantity"):
        graph_jit(lambda x: x * 2, backend="jax")(CLASSES["Quantity"]())
    with pytest.raises(TypeError, match="from outside of the traced function is a Quantity"):
        ng.to_jax(lambda x: x * CLASSES["Quantity"]())(X)


@pytest.mark.parametrize("name", ["Quantity", "Labelled"])
def test_results_are_not_written_there(name: str) -> None:
    compiled = graph_jit(lambda x: x * 2)
    compiled(X, out=np.empty(3))
    target = CLASSES[name]()
    with pytest.raises(TypeError, match=f"out= .* is a {name} of "):
        compiled(X, out=target)
    np.testing.assert_array_equal(np.asarray(target), X)


def test_after_an_array_has_been_compiled_for() -> None:
    compiled = graph_jit(lambda x, y: x + y)
    np.testing.assert_array_equal(compiled(X, X), X + X)
    metres, centimetres = Quantity([1.0], "m"), Quantity([100.0], "cm")
    with pytest.raises(TypeError, match=r"argument x is a Quantity .*: pass its numbers"):
        compiled(metres, centimetres)
    np.testing.assert_array_equal(compiled(np.asarray(metres), np.asarray(centimetres) / 100), [2.0])


def test_a_function_may_take_the_numbers_itself() -> None:
    given = CLASSES["Quantity"]()
    np.testing.assert_array_equal(graph_jit(lambda x: x * np.asarray(given))(X), X * X)


@pytest.mark.parametrize("kind", [Plain, np.memmap, np.recarray, np.ndarray])
def test_classes_that_change_nothing_are_plain_arrays(kind: type, tmp_path: Any) -> None:
    if kind is np.memmap:
        given: Any = np.memmap(tmp_path / "array", np.float64, "w+", shape=(3,))
        given[:] = X
    else:
        given = X.copy().view(kind)
    for found in (graph_jit(lambda x: x * 2)(given), graph_jit(lambda x: x + given)(X), ng.vmap(np.add)(X, given)):
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, X * 2)


def test_columns_of_tables_are_their_values() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": X, "b": X * 2})
    np.testing.assert_array_equal(graph_jit(lambda a, b: a + b)(table["a"], table["b"]), X * 3)
    np.testing.assert_array_equal(graph_jit(lambda x: x * table["a"])(X), X * X)
    with pytest.raises(TypeError, match=r"argument x is a DataFrame of pandas.*: pass a column \(x\['name'\]\)"):
        graph_jit(lambda x: x)(table)

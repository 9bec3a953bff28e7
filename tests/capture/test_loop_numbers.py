"""Python's numbers that loops give: where they are used, and what is required of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbagraph as ng
from numbagraph import numpy as xp

BACKENDS = ("numba", "numpy", "jax")


COUNT = np.arange(4.0)
NUMBERS: dict[str, tuple[Callable[..., Any], list[tuple[Any, ...]]]] = {
    "sum": (lambda loops, k: loops.while_loop(lambda n: n < k, lambda n: 2 * n, 3) + 1, [(100,), (2,), (2**61,)]),
    "power": (lambda loops, k: loops.fori_loop(0, k, lambda i, c: c + 1, 0) ** 2, [(5,), (0,)]),
    "power of floats": (
        lambda loops, a: loops.while_loop(lambda x: x < 9.5, lambda x: x * 2.0, a) ** 2,
        [(2.0,), (20.0,)],
    ),
    "inner loop": (
        lambda loops, k: loops.fori_loop(0, k, lambda i, c: c + 2 * loops.fori_loop(0, i, lambda j, s: s + j, 0), 0),
        [(5,), (1,), (0,)],
    ),
    "branch": (
        lambda loops, k: loops.fori_loop(0, k, lambda i, c: c + loops.cond(i > 2, lambda: i * i, lambda: 1), 0),
        [(5,), (1,)],
    ),
    "position": (lambda loops, k: counted(loops)[loops.fori_loop(0, k, lambda i, c: c + 1, 0)], [(2,), (0,)]),
    "position in a loop": (
        lambda loops, k: loops.fori_loop(
            0, k, lambda i, c: c + counted(loops)[loops.while_loop(lambda n: n < i, lambda n: n + 1, 0)], 0.0
        ),
        [(4,), (1,)],
    ),
}


class Plain:
    """The loops of numbagraph as Python writes them."""

    @staticmethod
    def fori_loop(lower: int, upper: int, step: Callable[[int, Any], Any], value: Any) -> Any:
        for i in range(lower, upper):
            value = step(i, value)
        return value

    @staticmethod
    def while_loop(goes_on: Callable[[Any], Any], step: Callable[[Any], Any], value: Any) -> Any:
        while goes_on(value):
            value = step(value)
        return value

    @staticmethod
    def cond(test: Any, one: Callable[[], Any], other: Callable[[], Any]) -> Any:
        return one() if test else other()


def counted(loops: Any) -> Any:
    return COUNT if loops is Plain else xp.asarray(COUNT)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_that_loops_give_are_used(name: str, backend: str) -> None:
    """What is required of them is checked once they are known."""
    function, calls = NUMBERS[name]
    run = ng.graph_jit(lambda k: function(ng, k), backend=backend)
    for args in calls:
        assert run(*args) == function(Plain, *args)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_required_of_them_does_not_hold(backend: str) -> None:
    double = ng.graph_jit(lambda k: ng.while_loop(lambda n: n < k, lambda n: 2 * n, 3) + (2**63 - 200), backend=backend)
    assert double(100) == 192 + 2**63 - 200
    with pytest.raises(OverflowError, match="leaves int64"):
        double(200)
    far = ng.graph_jit(lambda k, x: x[ng.fori_loop(0, k, lambda i, c: c + 10**12, 0)] + x, backend=backend)
    assert far(0, COUNT).tolist() == COUNT.tolist()
    with pytest.raises(IndexError, match="out of bounds"):
        far(3, COUNT)


def test_elements_are_read_after_their_position_is_checked() -> None:
    """Each way to read an element far away, which would end the process."""

    def reading(k: Any, x: Any) -> Any:
        place = ng.fori_loop(0, k, lambda i, c: c + 10**12, 0)
        later = ng.fori_loop(0, k, lambda i, s: s + x[place], 0.0)
        return later, x[place] * x, ng.cond(k > 1, lambda: x[place], lambda: 0.0), np.cumsum(x[place] + x)

    for donated in ([], ["x"]):
        run, x = ng.graph_jit(reading, donate_argnames=donated), COUNT.copy()
        with pytest.raises(IndexError):
            run(2, x)
        assert x.tolist() == COUNT.tolist()


@pytest.mark.parametrize("backend", BACKENDS)
def test_bounds_that_are_too_far_apart(backend: str) -> None:
    run = ng.graph_jit(lambda a, b: ng.fori_loop(a, b, lambda i, c: c + 1, 0), backend=backend)
    assert [run(2**62, 2**62 + 3), run(-5, -7), run(-3, 2)] == [3, 0, 5]
    with pytest.raises(OverflowError, match=r"2\*\*63 or more apart"):
        run(-(2**63), 2**63 - 1)

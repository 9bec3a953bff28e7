"""Loops and branches in odd surroundings: what they carry, what comes out of them, and what fails in the middle."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbagraph as ng
from numbagraph import numpy as xp
from numbagraph.testing.arrays import LAYOUTS
from tests.api.test_loops import assert_close, numeric_gradient

RNG = np.random.default_rng(21)
X = RNG.normal(size=(5, 3))
COUNT = np.arange(4.0)
C = RNG.normal(size=3)
BACKENDS = ("numba", "numpy", "jax")


def rows(x: Any, c: Any) -> Any:
    return ng.scan(lambda c, r: (c * 0.5 + r, (c[0], r[::-1], c)), c, x)


def plain_rows(x: np.ndarray, c: np.ndarray) -> Any:
    firsts, flipped, before = [], np.empty(x.shape), np.empty(x.shape)
    for place, r in enumerate(x):
        firsts.append(c[0])
        flipped[place], before[place] = r[::-1], c
        c = c * 0.5 + r
    return c, (np.array(firsts), flipped, before)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_arguments_in_any_layout(layout: str) -> None:
    run = ng.graph_jit(rows)
    for args in ((X, C), (X[:1], C), (X[:0], C)):
        given = [LAYOUTS[layout](each) for each in args]
        assert_close(run(*given), plain_rows(*given))


CARRIES: dict[str, Callable[[Any], Any]] = {
    "swapped": lambda s: (s[1], s[0], s[2]),
    "rotated": lambda s: (s[1], s[2], s[0]),
    "one twice": lambda s: (s[0] + 1, s[0], s[0]),
    "two swapped, and their sum": lambda s: (s[1], s[0], s[0] + s[1] * 0.5),
    "unchanged": lambda s: (s[0], s[1] + s[0], s[2]),
    "an array from outside": lambda s: (C, s[0], s[1] * C),
}


@pytest.mark.parametrize("start", ["different", "equal"])
@pytest.mark.parametrize("name", CARRIES)
def test_what_is_carried_changes_places(name: str, start: str) -> None:
    step = CARRIES[name]

    def loop(a: Any, b: Any, c: Any, n: Any) -> Any:
        return ng.fori_loop(0, n, lambda _, s: step(s), (a, b, c))

    run, donating = ng.graph_jit(loop), ng.graph_jit(loop, donate_argnames=["a", "b", "c"])
    for steps in range(5):
        for length in (0, 1, 3) if name != "an array from outside" else (3,):
            base = RNG.normal(size=length)
            first = (base, base, base) if start == "equal" else (base, base + 1, base * 2)
            expected = first
            for _ in range(steps):
                expected = step(expected)
            assert_close(run(*first, steps), expected)
            assert_close(donating(*(each.copy() for each in first), steps), expected)
            same = first[0].copy()
            if start == "equal":
                assert_close(donating(same, same, same, steps), expected)


DTYPES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64 complex64 complex128".split()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_each_dtype_is_carried(dtype: str, backend: str) -> None:
    x = RNG.integers(0, 100, size=(5, 3)).astype(dtype)

    def step(c: Any, e: Any) -> Any:
        return (c ^ e, c & e) if dtype == "bool" else (c * e + c, c - e)

    def plain(x: np.ndarray) -> Any:
        c, ys = x[0], []
        with np.errstate(over="ignore"):
            for e in x:
                c, y = step(c, e)
                ys.append(y)
        return c, np.array(ys)

    run = ng.graph_jit(lambda x: ng.scan(step, x[0], x), backend=backend)
    for each in (x, x[:, 0]):
        assert_close(run(each), plain(each), 1e-5 if dtype in ("float32", "complex64") else 1e-12)


@pytest.mark.parametrize("backend", BACKENDS)
def test_special_numbers_are_carried(backend: str) -> None:
    x = np.array([-0.0, 0.0, np.nan, np.inf, -np.inf, 1.0])
    run = ng.graph_jit(lambda x: ng.scan(lambda c, e: (c * 1.0, (np.maximum(c, e), -c)), -0.0, x), backend=backend)
    last, (largest, negated) = run(x)
    np.testing.assert_array_equal(largest, np.maximum(-0.0, x))
    assert np.signbit(last)
    assert not np.signbit(negated).any()
    assert np.signbit(run(x[:0])[0])


# ---- failures ----


def rising(x: Any, n: Any) -> Any:
    def step(i: Any, c: Any) -> Any:
        return ng.cond(
            c >= 0,
            lambda: ng.fori_loop(0, n, lambda j, s: s + x[i + j], c),
            lambda: ng.fori_loop(0, n, lambda j, s: s - x[i * j], c),
        )

    return ng.fori_loop(0, 3, step, 0.0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_index_error_in_a_loop_in_a_branch_in_a_loop(backend: str) -> None:
    run, x = ng.graph_jit(rising, backend=backend), np.arange(5.0)
    assert run(x, 3) == sum(x[i + j] for i in range(3) for j in range(3))
    with pytest.raises(IndexError, match=r"(?s)size 5.*in step 3.*in a loop.*in a branch.*in step 2"):
        run(x, 4)


def test_donated_arguments_are_whole_after_a_failure() -> None:
    places = np.array([0, 1, 7, 1])
    for donated in ([], ["a"], ["a", "places"]):
        run = ng.graph_jit(
            lambda a, places: ng.scan(lambda c, i: (c + c[i], c * 2), a, places), donate_argnames=donated
        )
        a, own = C.copy(), places.copy()
        with pytest.raises(IndexError):
            run(a, own)
        assert a.tolist() == C.tolist()
        assert own.tolist() == places.tolist()


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (lambda n: ng.scan(lambda c, _: (c + 1.0, c), 0.0, length=n), (2**60,)),
        (lambda n: ng.scan(lambda c, _: (c + 1.0, c), 0.0, length=n), (2**63 - 1,)),
        (lambda n, x: ng.scan(lambda c, _: (c + 1.0, x), 0.0, length=n), (2**61, np.zeros(8))),
        (lambda n: ng.fori_loop(0, 3, lambda i, c: c + np.sum(np.cumsum(xp.zeros((n, n)) + i)), 0.0), (2**33,)),
        (lambda n: ng.scan(lambda c, _: (c, xp.zeros((n, n))), 0.0, length=n)[1], (2**22,)),
    ],
)
def test_lengths_that_no_memory_has(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    with pytest.raises((ValueError, MemoryError)):
        ng.graph_jit(function)(*args)


# ---- lengths ----


def triangle(x: Any, n: Any) -> Any:
    return ng.fori_loop(0, n, lambda i, c: ng.fori_loop(0, i, lambda j, s: s * 0.5 + x[j] * i, c), 0.0)


def plain_triangle(x: np.ndarray, n: int) -> Any:
    c = np.float64(0.0)
    for i in range(n):
        for j in range(i):
            c = c * 0.5 + x[j] * i
    return c


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_inner_loop_is_longer_in_each_step(backend: str) -> None:
    x = RNG.normal(size=6)
    run = ng.graph_jit(triangle, backend=backend)
    for n in (5, 1, 0):
        assert_close([run(x, n)], [plain_triangle(x, n)])


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_number_of_steps_that_another_loop_gives(backend: str) -> None:
    def steps(x: Any) -> Any:
        count = ng.scan(lambda c, e: (c[::-1] * e + c, None), (x[:2]), x)[0]
        number = ng.while_loop(lambda n: n * 1.0 < count[0], lambda n: n + 1, 0)
        return ng.fori_loop(0, number % 4, lambda i, c: c * 0.5 + x, x)

    x, count = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0])
    for e in x:
        count = count[::-1] * e + count
    expected = x
    for _ in range(int(np.ceil(count[0])) % 4):
        expected = expected * 0.5 + x
    assert_close([ng.graph_jit(steps, backend=backend)(x)], [expected])


def test_its_gradient() -> None:
    x = RNG.normal(size=6)
    expected = numeric_gradient(plain_triangle, [x, 5], 0)
    np.testing.assert_allclose(ng.graph_jit(ng.grad(triangle))(x, 5), expected, rtol=1e-6, atol=1e-8)


def test_temporaries_are_longer_in_each_step() -> None:
    run = ng.graph_jit(lambda n: ng.fori_loop(0, n, lambda i, c: c + np.sum(np.cumsum(xp.ones(i) * c)), 1.0))
    for n in (0, 1, 5):
        expected = 1.0
        for i in range(n):
            expected += np.sum(np.cumsum(np.ones(i) * expected))
        assert_close([run(n)], [np.float64(expected)])


def test_lengths_0_and_1_of_each_dimension() -> None:
    def products(x: Any, y: Any) -> Any:
        return ng.scan(lambda c, r: (c + np.sum(r) * y, (np.outer(r, y), r[::-1])), y * 0, x)

    run = ng.graph_jit(products)
    for n, m, k in np.ndindex(3, 3, 3):
        x, y = RNG.normal(size=(n, m)), RNG.normal(size=k)
        c, outer, flipped = y * 0, np.empty((n, m, k)), x[:, ::-1]
        for place, r in enumerate(x):
            c, outer[place] = c + np.sum(r) * y, np.outer(r, y)
        assert_close(run(x, y), (c, (outer, flipped)))


# ---- what is shown ----


def test_graphs_and_reports_show_what_is_inside() -> None:
    def step(c: Any, row: Any) -> Any:
        c = ng.cond(np.sum(row) > 0, lambda: np.sin(c), lambda: np.cosh(c) - row)
        return ng.while_loop(lambda c: c[0] > 1, lambda c: c * 0.5, c), None

    run = ng.graph_jit(lambda x: ng.scan(step, x[0], x)[0])
    text = str(run.graph(X))
    assert "branches=(branch0, branch1)" in text
    assert "Graph(" not in text
    report = run.explain(X)
    for line in (
        "loop (scan) of 5 steps",
        "branch (switch)",
        "loop (while_loop) until a condition fails",
        "fused: cosh",
    ):
        assert line in report


def test_an_array_of_numpy_at_a_traced_position() -> None:
    with pytest.raises(ng.TraceError, match=r"numpy\.asarray\(a\)\[i\].*"):
        ng.graph_jit(lambda n: ng.fori_loop(0, n, lambda i, c: c + COUNT[i], 0.0), convert=False)(3)
    assert ng.graph_jit(lambda n: ng.fori_loop(0, n, lambda i, c: c + COUNT[i], 0.0))(3) == 3.0
    run = ng.graph_jit(lambda n: ng.fori_loop(0, n, lambda i, c: c + xp.asarray(COUNT)[i], 0.0))
    assert run(3) == 3.0


# ---- batches ----


def test_what_is_required_of_numbers_holds_for_each_element_of_a_batch() -> None:
    """The numbers of Python that loops give differ from one element to the next."""

    def count(limit: Any) -> Any:
        return ng.while_loop(lambda s: s[1] < limit, lambda s: (s[0] + 1, s[1] * 2.0), (0, 1.0))[0]

    x = np.arange(5.0)
    limits = np.array([1.0, 5.0, 9.0])
    run = ng.graph_jit(ng.vmap(lambda limit: count(limit) * 2**60 + 1))
    assert run(limits[:2]).tolist() == [1, 3 * 2**60 + 1]
    with pytest.raises(OverflowError):
        run(np.array([1.0, 5.0, 300.0]))
    for mapped in (
        ng.vmap(lambda a, x: x[count(a)], in_axes=(0, None)),
        ng.gufunc("(),(n)->()")(lambda a, x: x[count(a)]),
    ):
        pick = ng.graph_jit(mapped)
        assert pick(limits, x).tolist() == [0.0, 3.0, 4.0]
        with pytest.raises(IndexError):
            pick(limits * 4, x)


def test_powers_of_batched_integers_in_a_body() -> None:
    """What the body requires is a sum over the batch, known only in each step."""
    run = ng.graph_jit(ng.vmap(lambda n, k: ng.fori_loop(0, k, lambda i, c: c * c % 11 + i, n), in_axes=(0, None)))
    assert run(np.array([3, 5, 12]), 0).tolist() == [3, 5, 12]
    numbers = np.array([3, 5, 12])
    for i in range(4):
        numbers = numbers * numbers % 11 + i
    assert run(np.array([3, 5, 12]), 4).tolist() == numbers.tolist()


def test_a_choice_of_numbers_of_python_that_is_none() -> None:
    assert ng.graph_jit(lambda n: np.where(np.True_, 2, n))(5) == 2
    assert ng.graph_jit(ng.vmap(lambda x, n: ng.cond(n > 1, lambda: 2, lambda: n) + x, in_axes=(0, None)))(
        np.arange(2), 3
    ).tolist() == [2, 3]


def test_temporaries_do_not_live_in_carried_arrays() -> None:
    """The carried array is updated where it lies, and read only after temporaries of its length are gone."""

    def step(_: Any, carry: Any) -> Any:
        x, y = carry
        sums = np.cumsum(y)
        x = x.copy()
        x[0] = np.sum(sums * sums[::-1])
        return x, y + x * 0.0 + 1

    expected = start = (np.arange(5.0), np.ones(5))
    for number in range(3):
        expected = step(number, expected)
    found = ng.graph_jit(lambda x, y: ng.fori_loop(0, 3, step, (x, y)))(*start)
    np.testing.assert_allclose(found, expected)


@pytest.mark.repeats(but_each=3)
@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("kinds", list(itertools.product("ab", repeat=4)), ids="".join)
def test_one_array_is_several_operands(kinds: tuple[str, ...], repeats: int) -> None:
    """What a loop updates where it lies may be what it reads, and what another of its arrays begins as."""
    first, second, read, rows = kinds

    def put(array: Any, place: Any, value: Any) -> Any:
        array = array.copy()
        array[place] = value
        return array

    def step(number: Any, v: Any, w: Any, other: Any, row: Any) -> tuple[Any, Any]:
        new = put(v, number, other[number - 1] + v[number - 2] + row)
        return new, put(w, number, new[number - 1] * 0.5 + other[number])

    def compiled(a: Any) -> Any:
        arrays = {"a": a * 1.0, "b": a * 2.0}
        for _ in range(repeats):
            other, start = arrays[read], (0, arrays[first], arrays[second])
            body = lambda c, row: ((c[0] + 1, *step(c[0], c[1], c[2], other, row)), None)  # noqa: B023, E731
            (_, arrays["a"], arrays["b"]), _ = ng.scan(body, start, arrays[rows])
        return arrays["a"], arrays["b"]

    def plain(a: np.ndarray) -> Any:
        arrays = {"a": a * 1.0, "b": a * 2.0}
        for _ in range(repeats):
            v, w, other, xs = (arrays[each].copy() for each in kinds)
            for number in range(len(a)):
                v, w = step(number, v, w, other, xs[number])
            arrays = {"a": v, "b": w}
        return arrays["a"], arrays["b"]

    run = ng.graph_jit(compiled)
    for a in (np.arange(1.0, 6.0), np.arange(1.0, 3.0), np.zeros(0)):
        assert_close(run(a), plain(a))


def sum_of(x: Any, positions: Any) -> Any:
    return ng.scan(lambda total, i: (total + x[i], None), 0.0, positions)[0]


def sum_until(x: Any, positions: Any) -> Any:
    def step(state: Any) -> Any:
        total, number = state
        return total + x[positions[number]], number + 1

    return ng.while_loop(lambda state: state[1] < positions.shape[0], step, (0.0, 0))[0]


@pytest.mark.parametrize("backend", ["numba", "numpy"])
@pytest.mark.parametrize("function", [sum_of, sum_until])
def test_positions_that_only_a_derivative_reads_are_checked(function: Any, backend: str) -> None:
    """The gradient of a sum needs none of the elements that are read, and writes to where they are."""
    gradient = ng.graph_jit(ng.grad(function), backend=backend)
    assert gradient(np.ones(3), np.array([0, -3, 2, -1])).tolist() == [2.0, 0.0, 2.0]
    for wrong in (3, 1 << 40, -4, -5, -(1 << 40)):
        with pytest.raises(IndexError, match=rf"index {wrong} is out of bounds for axis 0 with size 3"):
            gradient(np.ones(3), np.array([0, wrong, 1]))
    assert gradient(np.ones(3), np.zeros(0, int)).tolist() == [0.0] * 3


def test_numbers_of_a_step_that_failed() -> None:
    """They are elements of an argument, which lasts, but are handed to the step on the stack."""

    def counted(x: Any, positions: Any) -> Any:
        counts = np.zeros(3)
        for i in positions:
            counts[i] += x[0]
        return counts

    compiled = ng.graph_jit(counted)
    assert compiled(np.ones(1), np.array([0, 2, 2])).tolist() == [1.0, 0.0, 2.0]
    for wrong in (3, -7):
        with pytest.raises(IndexError, match=rf"index {wrong} is out of bounds for axis 0 with size 3(.|\n)*step 1"):
            compiled(np.ones(1), np.array([0, wrong, 1]))


def put(array: Any, place: Any, value: Any) -> Any:
    array = array.copy()
    array[place] = value
    return array


BRANCHES: dict[str, Callable[..., Any]] = {
    "one is returned as it is": lambda choose, n, y, z: (choose(n, lambda: put(y, n, z[0]), lambda: y), z),
    "both are updated": lambda choose, n, y, z: choose(
        n, lambda: (put(y, n, z[1]), z), lambda: (y, put(z, n, y[1] + 1.0))
    ),
    "swapped": lambda choose, n, y, z: choose(n, lambda: (put(z, n, 5.0), y), lambda: (y, z)),
    "one twice": lambda choose, n, y, z: choose(n, lambda: (put(y, n, 5.0), y), lambda: (y, put(y, n, 6.0))),
    "the old one is used": lambda choose, n, y, z: (choose(n, lambda: put(y, n, z[0] + 9.0), lambda: y), y + z),
    "read after it is written": lambda choose, n, y, z: (
        choose(n, lambda: put(put(y, n, 7.0), 0, y[n] + z[n]), lambda: y),
        choose(n, lambda: z, lambda: put(z, 0, y[n])),
    ),
    "in each other": lambda choose, n, y, z: (
        choose(n, lambda: choose(n + 1, lambda: put(y, n, 4.0), lambda: y), lambda: put(y, 1, y[0] - 1.0)),
        z * 0.5,
    ),
    "a loop inside": lambda choose, n, y, z: (
        choose(n, lambda: ng.fori_loop(0, 3, lambda k, y: put(y, k % y.shape[0], y[n] + k), y), lambda: y),
        z,
    ),
}


@pytest.mark.parametrize("where", ["in a loop", "alone", "on arguments"])
@pytest.mark.parametrize("name", BRANCHES)
def test_arrays_that_branches_update(name: str, where: str) -> None:
    body = BRANCHES[name]

    def function(y: Any, z: Any, first: Any, choose: Any) -> Any:
        if where != "on arguments":
            y, z = y * 1.0, z * 2.0
        if where == "in a loop":
            return ng.fori_loop(0, y.shape[0], lambda n, both: body(choose, n, *both), (y, z))
        return body(choose, first, y, z)

    def traced(n: Any, yes: Any, no: Any) -> Any:
        return ng.cond(n % 2 == 0, yes, no)

    def plain(n: Any, yes: Any, no: Any) -> Any:
        return yes() if n % 2 == 0 else no()

    y, z = RNG.integers(0, 9, 4).astype(float), RNG.integers(0, 9, 4).astype(float)
    run = ng.graph_jit(lambda y, z, first: function(y, z, first, traced))
    for first in (0, 1, 2):
        given = y.copy(), z.copy()
        assert_close(run(*given, first), plain_result(function, y, z, first, plain))
        assert_close(given, (y, z))


def plain_result(function: Any, y: np.ndarray, z: np.ndarray, first: int, plain: Any) -> Any:
    """The same by NumPy's loops."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ng, "fori_loop", plain_fori)
        return function(y, z, first, plain)


def plain_fori(low: int, high: int, step: Any, state: Any) -> Any:
    for number in range(low, high):
        state = step(number, state)
    return state

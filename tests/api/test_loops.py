"""Loops and branches that are compiled as such, against plain Python loops over NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbagraph as ng
from numbagraph import numpy as xp

RNG = np.random.default_rng(20)
X = RNG.normal(size=(6, 3))
W = RNG.normal(size=(3, 3)) / 2
H = RNG.normal(size=3)


class Program:
    """A function with a compiled loop, and the same as Python writes it."""

    def __init__(self, compiled: Callable[..., Any], plain: Callable[..., Any], *args: Any) -> None:
        self.compiled = compiled
        self.plain = plain
        self.args = args


def ar1(x: Any, a: Any) -> Any:
    return ng.scan(lambda c, e: ((c := a * c + e), c), 0.0, x)


def plain_ar1(x: np.ndarray, a: float) -> Any:
    c, ys = np.float64(0.0), []
    for e in x:
        c = a * c + e
        ys.append(c)
    return c, np.array(ys)


def rnn(w: Any, h: Any, x: Any) -> Any:
    def step(h: Any, x: Any) -> Any:
        h = np.tanh(w @ h + x)
        return h, np.sum(h**2)

    return ng.scan(step, h, x)


def plain_rnn(w: np.ndarray, h: np.ndarray, x: np.ndarray) -> Any:
    ys = []
    for row in x:
        h = np.tanh(w @ h + row)
        ys.append(np.sum(h**2))
    return h, np.array(ys)


def backwards(x: Any) -> Any:
    """A reversed loop with a carried array that is stacked, another that is swapped, and an integer."""

    def step(carry: Any, row: Any) -> Any:
        count, a, b = carry
        return (count + 1, b, a * 0.5 + row), (a, count)

    return ng.scan(step, (0, x[0] * 0, x[0] * 0 + 1), x, reverse=True)


def plain_backwards(x: np.ndarray) -> Any:
    count, a, b = 0, x[0] * 0, x[0] * 0 + 1
    firsts, counts = np.empty_like(x), np.empty(len(x), np.int64)
    for place in range(len(x) - 1, -1, -1):
        firsts[place], counts[place] = a, count
        count, a, b = count + 1, b, a * 0.5 + x[place]
    return (count, a, b), (firsts, counts)


def powers(x: Any, n: Any) -> Any:
    return ng.fori_loop(0, n, lambda i, t: t * x + i, x)


def plain_powers(x: np.ndarray, n: int) -> np.ndarray:
    t = x
    for i in range(n):
        t = t * x + i
    return t


def outer_lengths(x: Any, y: Any) -> Any:
    """The body makes arrays of lengths that come from outside, and reads what it does not carry."""

    def step(c: Any, row: Any) -> Any:
        return c + np.sum(xp.ones(y.shape[0]) * y) + np.sum(row[1:] - row[:-1]), np.outer(row, y)

    return ng.scan(step, 0.0, x)


def plain_outer_lengths(x: np.ndarray, y: np.ndarray) -> Any:
    c, ys = np.float64(0.0), []
    for row in x:
        c = c + np.sum(np.ones(y.shape[0]) * y) + np.sum(row[1:] - row[:-1])
        ys.append(np.outer(row, y))
    return c, np.array(ys).reshape(len(x), x.shape[1], len(y))


def nested(x: Any, w: Any) -> Any:
    def step(c: Any, row: Any) -> Any:
        total = ng.scan(lambda s, e: (s * 0.5 + e * c, None), 0.0, row)[0]
        return np.sin(c + total), total

    return ng.scan(step, np.sum(w), x)


def plain_nested(x: np.ndarray, w: np.ndarray) -> Any:
    c, ys = np.sum(w), []
    for row in x:
        total = np.float64(0.0)
        for e in row:
            total = total * 0.5 + e * c
        c = np.sin(c + total)
        ys.append(total)
    return c, np.array(ys)


def branches(x: Any, w: Any) -> Any:
    def step(c: Any, row: Any) -> Any:
        c = ng.cond(np.sum(row) > 0, lambda: np.sin(c) @ w, lambda: np.cos(c) - row)
        return c, c[0]

    return ng.scan(step, w[0], x)


def plain_branches(x: np.ndarray, w: np.ndarray) -> Any:
    c, ys = w[0], []
    for row in x:
        c = np.sin(c) @ w if np.sum(row) > 0 else np.cos(c) - row
        ys.append(c[0])
    return c, np.array(ys)


def lagged(x: Any, w: Any) -> Any:
    def step(taps: Any, row: Any) -> Any:
        one, three = taps
        new = w @ one - 0.5 * three + row
        return new, np.sum(new)

    return ng.scan(step, x[:3], x, lags=(1, 3))


def plain_lagged(x: np.ndarray, w: np.ndarray) -> Any:
    history, ys = [*x[:3]], []
    for row in x:
        new = w @ history[-1] - 0.5 * history[-3] + row
        history.append(new)
        ys.append(np.sum(new))
    return np.stack(history[-3:]), np.array(ys)


SCALARS = RNG.normal(size=7)
PROGRAMS = {
    "ar1": Program(ar1, plain_ar1, SCALARS, 0.7),
    "rnn": Program(rnn, plain_rnn, W, H, X),
    "backwards": Program(backwards, plain_backwards, X),
    "powers": Program(powers, plain_powers, H, 5),
    "no steps": Program(powers, plain_powers, H, 0),
    "outer lengths": Program(outer_lengths, plain_outer_lengths, X, RNG.normal(size=4)),
    "nested": Program(nested, plain_nested, X, H),
    "branches": Program(branches, plain_branches, X, W),
    "lagged": Program(lagged, plain_lagged, X, W),
}
SMOOTH = [name for name in PROGRAMS if name != "no steps"]


def leaves(tree: Any) -> list[np.ndarray]:
    return [leaf for each in tree for leaf in leaves(each)] if isinstance(tree, (tuple, list)) else [np.asarray(tree)]


def assert_close(seen: Any, expected: Any, tolerance: float = 1e-12) -> None:
    seen, expected = leaves(seen), leaves(expected)
    assert len(seen) == len(expected)
    for one, other in zip(seen, expected, strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("backend", ["numba", "numpy", "jax"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_value(name: str, backend: str) -> None:
    program = PROGRAMS[name]
    assert_close(ng.graph_jit(program.compiled, backend=backend)(*program.args), program.plain(*program.args))


@pytest.mark.parametrize("name", ["ar1", "rnn", "backwards", "outer lengths", "nested", "branches"])
def test_lengths_change_without_a_new_version(name: str) -> None:
    program = PROGRAMS[name]
    run, place = ng.graph_jit(program.compiled), 2 if name == "rnn" else 0
    run(*program.args)
    for length in (0, 2, 40):
        if length == 0 and name == "backwards":
            continue  # its start reads the first row
        args = list(program.args)
        args[place] = RNG.normal(size=(length, *args[place].shape[1:]))
        assert_close(run(*args), program.plain(*args), 1e-9)
    assert run.cache_info().versions == 1


def total(tree: Any) -> Any:
    """One number that all results have a part in."""
    return sum(np.sum(np.sin(leaf) * (number + 1)) for number, leaf in enumerate(flat(tree)))


def flat(tree: Any) -> list[Any]:
    return [leaf for each in tree for leaf in flat(each)] if isinstance(tree, (tuple, list)) else [tree]


def numeric_gradient(function: Callable[..., float], args: list[Any], place: int) -> np.ndarray:
    """Central differences."""
    base, step = np.asarray(args[place], np.float64), 1e-6
    result = np.zeros_like(base)
    for index in np.ndindex(base.shape):
        values = []
        for sign in (1, -1):
            moved = base.copy()
            moved[index] += sign * step
            values.append(function(*args[:place], moved[()], *args[place + 1 :]))
        result[index] = (values[0] - values[1]) / (2 * step)
    return result


def floats(program: Program) -> list[int]:
    return [number for number, each in enumerate(program.args) if np.asarray(each).dtype.kind == "f"]


@pytest.mark.parametrize("backend", ["numba", "jax"])
@pytest.mark.parametrize("name", SMOOTH)
def test_gradient(name: str, backend: str) -> None:
    program = PROGRAMS[name]
    places = floats(program)
    gradient = ng.graph_jit(ng.grad(lambda *args: total(program.compiled(*args)), argnums=places), backend=backend)
    found = gradient(*program.args)
    for place, each in zip(places, found, strict=True):
        expected = numeric_gradient(lambda *args: total(program.plain(*args)), list(program.args), place)
        np.testing.assert_allclose(each, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", SMOOTH)
def test_forward_mode_is_the_transpose(name: str) -> None:
    program = PROGRAMS[name]
    places = floats(program)
    tangents = [RNG.normal(size=np.shape(program.args[place])) for place in places]

    def of_floats(*args: Any) -> Any:
        whole = list(program.args)
        for place, each in zip(places, args, strict=True):
            whole[place] = each
        return total(program.compiled(*whole))

    own = [np.asarray(program.args[place]) for place in places]
    _, pushed = ng.graph_jit(lambda own, tangents: ng.jvp(of_floats, own, tangents))(tuple(own), tuple(tangents))
    gradient = ng.graph_jit(ng.grad(of_floats, argnums=range(len(own))))(*own)
    np.testing.assert_allclose(pushed, sum(np.sum(a * b) for a, b in zip(gradient, tangents, strict=True)), rtol=1e-9)


@pytest.mark.parametrize("name", ["ar1", "rnn", "nested", "branches", "lagged"])
def test_hessian(name: str) -> None:
    program = PROGRAMS[name]
    rest = program.args[1:]
    gradient = ng.graph_jit(ng.grad(lambda x: total(program.compiled(x, *rest))))
    hessian = ng.graph_jit(ng.hessian(lambda x: total(program.compiled(x, *rest))))(program.args[0])
    x = program.args[0]
    for index in list(np.ndindex(x.shape))[::4]:
        step = np.zeros_like(x)
        step[index] = 1e-6
        expected = (gradient(x + step) - gradient(x - step)) / 2e-6
        np.testing.assert_allclose(hessian[index], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0)])
@pytest.mark.parametrize("name", ["ar1", "nested", "branches", "lagged", "outer lengths"])
def test_vmap(name: str, axes: tuple[int | None, ...]) -> None:
    program = PROGRAMS[name]
    batches = [
        each if axis is None else np.asarray(each) + RNG.normal(size=(4, *np.shape(each)))
        for each, axis in zip(program.args, axes, strict=True)
    ]
    found = leaves(ng.graph_jit(ng.vmap(program.compiled, in_axes=axes))(*batches))
    for number in range(4):
        args = [each if axis is None else each[number] for each, axis in zip(batches, axes, strict=True)]
        for one, other in zip(found, leaves(program.plain(*args)), strict=True):
            np.testing.assert_allclose(one[number], other, rtol=1e-10, atol=1e-10)


def test_vmap_of_gradient() -> None:
    batch = SCALARS + RNG.normal(size=(4, 7))
    gradient = ng.grad(lambda x: total(ar1(x, 0.7)))
    found = ng.graph_jit(ng.vmap(gradient))(batch)
    for row, own in zip(batch, found, strict=True):
        np.testing.assert_allclose(own, ng.graph_jit(gradient)(row), rtol=1e-12)


def collatz(n: Any) -> Any:
    def step(state: Any) -> Any:
        n, count = state
        return xp.where(n % 2 == 0, n // 2, 3 * n + 1), count + 1

    return ng.while_loop(lambda state: state[0] != 1, step, (n, 0))[1]


def plain_collatz(n: int) -> int:
    count = 0
    while n != 1:
        n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
    return count


@pytest.mark.parametrize("backend", ["numba", "numpy", "jax"])
def test_while(backend: str) -> None:
    run = ng.graph_jit(collatz, backend=backend)
    assert [int(run(np.int64(n))) for n in (1, 2, 27)] == [plain_collatz(n) for n in (1, 2, 27)]


def test_each_element_of_a_batch_takes_its_own_steps() -> None:
    numbers = np.arange(1, 40)
    found = ng.graph_jit(ng.vmap(collatz))(numbers)
    assert found.tolist() == [plain_collatz(int(n)) for n in numbers]


def test_while_with_arrays() -> None:
    def solve(a: Any, b: Any) -> Any:
        """Jacobi's method."""
        d = np.diagonal(a)

        def step(state: Any) -> Any:
            x, _, count = state
            new = (b - a @ x + d * x) / d
            return new, np.max(np.abs(new - x)), count + 1

        return ng.while_loop(lambda state: state[1] > 1e-12, step, (b / d, 1.0, 0))

    a, b = np.eye(3) * 4 + RNG.normal(size=(3, 3)) / 4, RNG.normal(size=3)
    x, _, count = ng.graph_jit(solve)(a, b)
    np.testing.assert_allclose(a @ x, b, rtol=1e-11)
    assert 3 < count < 60


def test_only_the_branch_that_is_taken_runs() -> None:
    run = ng.graph_jit(lambda i, x: ng.cond(i < x.shape[0], lambda: x[i], lambda: -1.0))
    x = np.arange(3.0)
    assert [run(2, x), run(3, x)] == [2.0, -1.0]
    batch = ng.graph_jit(ng.vmap(lambda i, x: ng.cond(i < x.shape[0], lambda: x[i], lambda: -1.0), in_axes=(0, None)))
    assert batch(np.array([0, 5, 2]), x).tolist() == [0.0, -1.0, 2.0]


@pytest.mark.parametrize("backend", ["numba", "numpy", "jax"])
def test_a_branch_that_always_raises_raises_where_it_is_taken(backend: str) -> None:
    def chosen(n: Any, x: Any) -> Any:
        pair = np.stack([x[0], x[1]])
        sides = lambda x: pair[5], lambda x: x[1], lambda x: {0: x[0]}[1], lambda x: np.ones_like(pair).reshape(3, 1)[0]
        return ng.switch(n, sides, x) ** 2

    x = np.arange(2.0, 5.0)
    errors = {0: IndexError, 2: KeyError, 3: ValueError}
    for function, expected in ((chosen, 9.0), (ng.grad(chosen, argnums=1), [0.0, 6.0, 0.0])):
        run = ng.graph_jit(function, backend=backend)
        np.testing.assert_array_equal(run(1, x), expected)
        for number, error in errors.items():
            with pytest.raises(error, match=r"size 2|1|cannot reshape"):
                run(number, x)
    batch = ng.graph_jit(ng.vmap(chosen, in_axes=(0, None)), backend=backend)
    np.testing.assert_array_equal(batch(np.array([1, 1]), x), [9.0, 9.0])
    with pytest.raises(IndexError):
        batch(np.array([1, 0]), x)


def test_branches_of_which_none_gives_anything_raise_what_one_of_them_does() -> None:
    with pytest.raises(IndexError, match=r"index [56] is out of bounds"):
        ng.graph_jit(lambda x: ng.cond(x[0] > 0, lambda: np.stack([x[0]])[5], lambda: np.stack([x[0]])[6]))(np.ones(2))


@pytest.mark.parametrize("backend", ["numba", "numpy", "jax"])
def test_an_index_error_names_the_step(backend: str) -> None:
    run = ng.graph_jit(lambda x, n: ng.fori_loop(0, n, lambda i, t: t + x[i], 0.0), backend=backend)
    assert run(np.arange(4.0), 4) == 6.0
    with pytest.raises(IndexError, match=r"(?s)out of bounds for axis 0 with size 4.*test_loops.py:\d+.*in step 4"):
        run(np.arange(4.0), 9)


def test_a_loop_without_steps_raises_no_error_of_its_body() -> None:
    run = ng.graph_jit(lambda x, n: ng.fori_loop(0, n, lambda i, t: t + x[7], 0.0))
    assert run(np.arange(3.0), 0) == 0.0
    with pytest.raises(IndexError):
        run(np.arange(3.0), 1)


def test_dtypes_are_carried() -> None:
    x = np.arange(4, dtype=np.float32)
    last, ys = ng.graph_jit(lambda x: ng.scan(lambda c, e: (c + e, c), 0, x))(x)
    assert (last.dtype, ys.dtype) == (np.float32, np.float32)
    with pytest.raises(ng.TraceError, match=r"makes float64.* of a carried value that is float32"):
        ng.graph_jit(lambda x: ng.scan(lambda c, e: (c * np.float64(2), c), np.float32(1), x))(x)


def step_of_shape(c: Any, x: Any) -> Any:
    return np.stack([c, c]), x


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: ng.scan(step_of_shape, 0.0, x), "its shape must stay"),
        (lambda x: ng.scan(lambda c, e: ((c, c), e), 0.0, x), "structure"),
        (lambda x: ng.scan(lambda c, e: c, 0.0, x), "must return a pair"),
        (lambda x: ng.scan(lambda c, e: (c, e), 0.0), "arrays to run over, or a length"),
        (lambda x: ng.scan(lambda c, e: (c, e), 0.0, x[0]), "has none"),
        (lambda x: ng.while_loop(lambda c: np.stack([c, c]) > 0, lambda c: c, x[0]), "one boolean"),
        (lambda x: ng.cond(x[0] > 0, lambda: x, lambda: x[0]), "gives"),
        (lambda x: ng.cond(x[0] > 0, lambda: np.float32(1), lambda: np.float64(1)), "convert one of them"),
        (lambda x: ng.fori_loop(0, x[0], lambda i, c: c, 0.0), "is an integer"),
        (lambda x: ng.fori_loop(0, 3, lambda i, c: None, 0.0), r"the step <lambda> \(.*test_loops"),
        (lambda x: ng.fori_loop(0, 3, lambda i, c: "a", 0.0), "gives str"),
        (lambda x: ng.scan(3, 0.0, x), "must be a function, not int"),  # type: ignore[arg-type]
        (lambda x: ng.cond(x[0] > 0, 1, lambda: 2), "must be a function, not int"),  # type: ignore[arg-type]
        (lambda x: ng.cond(x[0] > 0, lambda s: 1, lambda s: 2, "a"), "given arrays and numbers"),
        (lambda x: ng.scan(lambda c, e: (c, x.sort()), 0.0, x), "argument|carry it"),
    ],
)
def test_refusals(call: Callable[..., Any], message: str) -> None:
    with pytest.raises(ng.TraceError, match=rf"(?s)({message}).*test_loops.py:\d+"):
        ng.graph_jit(call)(np.arange(3.0))


def test_lengths_that_do_not_go_together() -> None:
    run = ng.graph_jit(lambda x, y: ng.scan(lambda c, e: (c + e[0] * e[1], None), 0.0, (x, y))[0])
    assert run(np.ones(3), np.ones(3)) == 3.0
    with pytest.raises(ValueError, match="cannot go along"):
        run(np.ones(3), np.ones(4))
    with pytest.raises(ValueError, match="negative"):
        ng.graph_jit(lambda n: ng.scan(lambda c, _: (c + 1, None), 0, length=n)[0])(-1)


def test_a_value_of_a_region_cannot_leave_it() -> None:
    kept = []

    def step(c: Any, x: Any) -> Any:
        kept.append(x)
        return c + x, None

    with pytest.raises(ng.TraceError):
        ng.graph_jit(lambda x: ng.scan(step, 0.0, x)[0] + kept[-1])(np.arange(3.0))


@pytest.mark.parametrize("positions", [[0, 0], [2, 1, 2, 2], [-1, 2, 0]])
def test_an_update_at_equal_positions_reads_what_was_there_before(positions: list[int]) -> None:
    places = np.array(positions)

    def once(x: Any, places: Any) -> Any:
        y = np.sin(x)
        y[places] *= 3
        y[np.arange(3) // 2] += 1
        return y

    def often(x: Any, places: Any) -> Any:
        def step(_: Any, y: Any) -> Any:
            y = y.copy()
            y[places] *= 3
            y[xp.arange(3) // 2] += 1
            y[1:] *= 2
            return y

        return ng.fori_loop(0, 3, step, x)

    def plain_often(x: np.ndarray, places: np.ndarray) -> np.ndarray:
        y = x.copy()
        for _ in range(3):
            y[places] *= 3
            y[np.arange(3) // 2] += 1
            y[1:] *= 2
        return y

    x = np.array([0.3, -0.5, 2.0])
    assert_close(ng.graph_jit(once)(x, places), once(x, places), 1e-14)
    assert_close(ng.graph_jit(often)(x, places), plain_often(x, places), 1e-14)


def test_branches_that_another_trace_has_closed():
    def total(x):
        return np.sum(x)

    def slope(other):
        return ng.grad(lambda x: ng.switch(np.argmax(x), (total, other), x))

    x = np.array([1.0, 2.0, 3.0])
    first, second = slope(lambda x: x @ x), slope(np.prod)
    np.testing.assert_array_equal(first(x), 2 * x)
    np.testing.assert_array_equal(second(x), [6.0, 3.0, 2.0])

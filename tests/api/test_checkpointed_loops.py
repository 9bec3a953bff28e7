"""Loops whose derivatives are taken in segments: the same numbers, and stacks of about the square root of the steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import optree
import pytest

import numbagraph as ng
from numbagraph import random
from numbagraph.ir.graph import Graph
from numbagraph.ir.regions import regions_of
from numbagraph.ir.values import Node

RNG = np.random.default_rng(8)
X, W, US = RNG.normal(size=6), RNG.normal(size=(6, 6)) / 3, RNG.normal(size=(40, 6))
LENGTHS = [0, 1, 2, 3, 4, 5, 7, 12, 16, 17, 39]


def several_carries(x: Any, w: Any, us: Any, checkpoint: bool, reverse: bool = False) -> Any:
    """An array, a number, an integer, a boolean and a key; sequences of arrays and numbers; results of each step."""

    def step(carry: Any, item: Any) -> Any:
        a, total, count, flag, key = carry
        u, scale = item
        first, second = random.split(key)
        a = np.tanh(a @ w + u * scale + random.normal(first, 6)) * np.where(flag, 1.0, 0.5)
        return (a, total + a[0] * w[0, 1], count + 1, ~flag, second), (a[1] * 2, u * count, count)

    first = (x, 0.0, 0, True, random.key(3))
    return ng.scan(step, first, (us, us[:, 1]), reverse=reverse, checkpoint=checkpoint)


def with_lags(x: Any, w: Any, us: Any, checkpoint: bool) -> Any:
    step = lambda last, u: (np.tanh(last[0] * w[0, 0] + last[1] * w[0, 1] + u), last[1])  # noqa: E731
    return ng.scan(step, np.stack([x, x * 2]), us, lags=(1, 2), checkpoint=checkpoint)


def counted(x: Any, w: Any, us: Any, checkpoint: bool) -> Any:
    return ng.fori_loop(0, us.shape[0], lambda i, x: np.sin(x @ w + i * us[i]), x, checkpoint=checkpoint)


def nested(x: Any, w: Any, us: Any, checkpoint: bool) -> Any:
    def step(x: Any, u: Any) -> Any:
        inner = lambda y, v: (np.sin(y * w[0] + v), y[0])  # noqa: E731
        y, ys = ng.scan(inner, x * u, u, checkpoint=checkpoint)
        return np.tanh(y + x), ys

    return ng.scan(step, x, us, checkpoint=checkpoint)


SCANS: dict[str, Callable[..., Any]] = {
    "several carries": several_carries,
    "reverse": partial(several_carries, reverse=True),
    "lags": with_lags,
    "fori_loop": counted,
    "nested": nested,
}


def slices(x: Any, w: Any, us: Any) -> Any:
    x = x.copy()
    for i in range(us.shape[0]):
        x[1:-1] = x[1:-1] + w[0, 0] * (x[2:] - 2 * x[1:-1] + x[:-2]) * us[i, 0]
    return x


def filled(x: Any, w: Any, us: Any) -> Any:
    y = np.zeros(us.shape[0] + 1)
    y[0] = x[0]
    for i in range(us.shape[0]):
        y[i + 1] = np.sin(y[i] * w[0, 0] + x[i % 3]) + us[i, 1]
    return y


def swapped(x: Any, w: Any, us: Any) -> Any:
    y = x * 2
    for i in range(us.shape[0]):
        x, y = y, np.sin(x @ w) + us[i]
    return x, y


def branches(x: Any, w: Any, us: Any) -> Any:
    total = 0.0
    for i in range(us.shape[0]):
        if us[i, 0] > 0:
            total += x[i % 6] * w[0, 0]
        else:
            x = x * 0.9
    return x, total


def appended(x: Any, w: Any, us: Any) -> Any:
    found = []
    for u in us:
        x = np.sin(x * w[0] + u)
        found.append(x[0])
    return x, np.array(found)


def within(x: Any, w: Any, us: Any) -> Any:
    total = x * 0
    for i in range(us.shape[0]):
        y = x
        for j in range(i):
            y = np.sin(y * w[1] + us[j])
        total = total + y
    return total


def ended(x: Any, w: Any, us: Any) -> Any:
    for i in range(us.shape[0]):
        x = np.sin(x + us[i])
        if np.sum(x) > 3.5:
            break
    return x


def unknown(x: Any, w: Any, us: Any) -> Any:
    count = 0
    while count < us.shape[0] and np.sum(x * x) > 1e-3:
        x = 0.9 * np.sin(x + us[count])
        count += 1
    return x * count


def unknown_slices(x: Any, w: Any, us: Any) -> Any:
    x, i = x.copy(), 0
    while i < us.shape[0]:
        x[1:-1] = np.sin(x[2:] - x[:-2] + us[i, 1:-1])
        i += 1
    return x


PYTHON = {
    each.__name__: each
    for each in (slices, filled, swapped, branches, appended, within, ended, unknown, unknown_slices)
}
LOOPS_IN_LOOPS = ["nested", "within"]


def program(name: str, checkpoint: bool) -> Callable[..., Any]:
    if name in SCANS:
        return partial(SCANS[name], checkpoint=checkpoint)
    return ng.checkpoint(PYTHON[name], loops=True) if checkpoint else PYTHON[name]


def pulled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The results of a function, and the cotangents of its arguments for uneven ones of its results."""

    def run(x: Any, w: Any, us: Any) -> Any:
        results, pull = ng.vjp(function, x, w, us)
        given = optree.tree_map(lambda each: np.cos(each) if each.dtype.kind == "f" else np.zeros_like(each), results)
        return results, pull(given)

    return run


def equal(one: Any, other: Any) -> bool:
    pairs = zip(optree.tree_leaves(one), optree.tree_leaves(other), strict=True)
    return all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in pairs)


@pytest.mark.parametrize("name", [each for each in (*SCANS, *PYTHON) if each not in LOOPS_IN_LOOPS])
def test_same_numbers_bit_for_bit(name: str) -> None:
    plain, cut = (ng.graph_jit(pulled(program(name, checkpoint=flag))) for flag in (False, True))
    for length in LENGTHS:
        arguments = X, W, US[:length]
        assert equal(plain(*arguments), cut(*arguments)), length


@pytest.mark.parametrize("name", LOOPS_IN_LOOPS)
def test_same_numbers_of_loops_in_loops(name: str) -> None:
    """Sums over the steps of inner loops associate otherwise."""
    plain, cut = (ng.graph_jit(pulled(program(name, checkpoint=flag))) for flag in (False, True))
    for length in LENGTHS:
        arguments = X, W, US[:length]
        pairs = zip(*map(optree.tree_leaves, (cut(*arguments), plain(*arguments))), strict=True)
        for found, expected in pairs:
            np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("name", ["several carries", "slices", "filled", "unknown"])
def test_against_differences(name: str) -> None:
    function = program(name, checkpoint=True)

    def loss(x: Any, w: Any, us: Any) -> Any:
        leaves = optree.tree_leaves(function(x, w, us))
        return sum(np.sum(np.sin(each)) for each in leaves if each.dtype == np.float64)

    value, step = ng.graph_jit(loss), 1e-6
    for place, slope in enumerate(ng.graph_jit(ng.grad(loss, argnums=(0, 1, 2)))(X, W, US[:11])):
        way = RNG.normal(size=slope.shape)
        ends = []
        for sign in (1, -1):
            arguments = [X, W, US[:11]]
            arguments[place] = arguments[place] + sign * step * way
            ends.append(value(*arguments))
        np.testing.assert_allclose(np.sum(slope * way), (ends[0] - ends[1]) / (2 * step), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("length", [3, 17, 30])
def test_constant_lengths(length: int) -> None:
    def loop(x: Any, w: Any, us: Any, checkpoint: bool) -> Any:
        step = lambda x, _: (np.sin(x @ w), x[0])  # noqa: E731
        return ng.scan(step, x, length=length, checkpoint=checkpoint)

    plain, cut = (ng.graph_jit(pulled(partial(loop, checkpoint=flag)))(X, W, US) for flag in (False, True))
    assert equal(plain, cut)


def loss_of(name: str, checkpoint: bool) -> Callable[..., Any]:
    function = program(name, checkpoint)

    def loss(x: Any) -> Any:
        leaves = optree.tree_leaves(function(x, W, US[:7]))
        return sum(np.sum(np.sin(each)) for each in leaves if each.dtype == np.float64)

    return loss


def both(name: str, transform: Callable[..., Any], *arguments: Any) -> None:
    """Compare what a transformation gives of a program with segments, and of one without."""
    one, other = (ng.graph_jit(transform(loss_of(name, flag)))(*arguments) for flag in (False, True))
    for found, expected in zip(optree.tree_leaves(other), optree.tree_leaves(one), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", ["nested", "slices", "unknown"])
def test_batches(name: str) -> None:
    xs = RNG.normal(size=(3, 6))
    both(name, lambda loss: ng.vmap(ng.grad(loss)), xs)
    both(name, lambda loss: ng.grad(lambda xs: np.sum(ng.vmap(loss)(xs) ** 2)), xs)


@pytest.mark.parametrize("name", ["lags", "filled", "unknown"])
def test_second_derivatives_and_tangents(name: str) -> None:
    both(name, ng.hessian, X)
    both(name, lambda loss: lambda x, v: ng.jvp(loss, (x,), (v,)), X, W[0])


@pytest.mark.parametrize(("name", "backend"), [("nested", "jax"), ("slices", "jax"), ("filled", "numpy")])
def test_backends(name: str, backend: Any) -> None:
    if backend == "jax":
        pytest.importorskip("jax")
    found = ng.graph_jit(pulled(program(name, checkpoint=True)), backend=backend)(X, W, US[:11])
    expected = ng.graph_jit(pulled(program(name, checkpoint=False)))(X, W, US[:11])
    for one, other in zip(*map(optree.tree_leaves, (found, expected)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_against_jax() -> None:
    jax = pytest.importorskip("jax")

    def loss(scan: Callable[..., Any], np: Any, x: Any, w: Any, us: Any) -> Any:
        step = lambda x, u: (np.tanh(x @ w + u), x[0])  # noqa: E731
        last, rows = scan(step, x, us)
        return np.sum(last**2) + np.sum(np.sin(rows))

    with jax.enable_x64(True):
        expected = jax.grad(partial(loss, jax.lax.scan, jax.numpy), argnums=(0, 1, 2))(X, W, US)
        expected = [np.asarray(each) for each in expected]
    found = ng.grad(partial(loss, partial(ng.scan, checkpoint=True), np), argnums=(0, 1, 2))(X, W, US)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_errors_of_steps() -> None:
    def read(x: Any, checkpoint: bool) -> Any:
        return ng.fori_loop(0, 9, lambda i, total: total * x[i], 1.0, checkpoint=checkpoint)

    texts = []
    for flag in (False, True):
        run = ng.graph_jit(ng.value_and_grad(partial(read, checkpoint=flag)))
        assert run(np.ones(9))[1].tolist() == [1.0] * 9
        with pytest.raises(IndexError, match="in step 4") as caught:
            run(np.ones(4))
        texts.append(str(caught.value))
        with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 with size 4"):
            ng.graph_jit(ng.grad(partial(read, checkpoint=flag)))(np.ones(4))
    assert texts[0] == texts[1]


def test_effects_happen_once(capfd: Any) -> None:
    def printed(x: Any) -> Any:
        for i in range(10):
            x = np.sin(x)
            ng.debug_print("step {}", i)
        return np.sum(x)

    ng.graph_jit(ng.value_and_grad(ng.checkpoint(printed, loops=True)))(X)
    assert capfd.readouterr().out.splitlines() == [f"step {number}" for number in range(10)]


def test_outside_of_traces() -> None:
    run = lambda **given: ng.scan(lambda x, u: (np.sin(x + u), x), X, US, **given)  # noqa: E731
    assert equal(run(checkpoint=True), run())
    assert ng.fori_loop(0, 5, lambda i, x: x + i, 0.0, checkpoint=True) == 10.0
    assert ng.while_loop(lambda n: n < 100, lambda n: 2 * n, 3, checkpoint=True) == 192
    assert equal(ng.checkpoint(slices, loops=True)(X, W, US), slices(X, W, US))


def stacks(graph: Graph) -> Iterator[int]:
    """The lengths of the arrays that loops of a graph stack, also in its regions."""
    for node in graph.order:
        if not isinstance(node, Node):
            continue
        if node.op.name == "scan" and node.attrs["result"] >= node.attrs["carries"]:
            assert isinstance(node.shape[0], int)
            yield node.shape[0]
        for region in regions_of(node):
            yield from stacks(region)


def stepped(x: Any, w: Any) -> Any:
    for _ in range(397):
        x = np.tanh(x @ w)
    return np.sum(x)


def stepped_in_place(x: Any, w: Any) -> Any:
    x = x.copy()
    for _ in range(400):
        x[1:-1] = np.sin(x[2:] + x[1:-1] * w[0, 0])
    return np.sum(x)


def scanned(x: Any, w: Any) -> Any:
    return np.sum(ng.scan(lambda x, _: (np.sin(x @ w), x[0]), x, length=450, checkpoint=True)[0])


@pytest.mark.parametrize("function", [stepped, stepped_in_place, scanned])
def test_no_stack_is_much_longer_than_the_square_root(function: Callable[..., Any]) -> None:
    def longest(function: Callable[..., Any]) -> int:
        compiled = ng.graph_jit(ng.grad(function, argnums=(0, 1)))
        return max(stacks(compiled.graph(X, W)))

    assert longest(ng.checkpoint(function, loops=True)) <= 30
    if function is not scanned:
        assert longest(function) >= 397

"""Computed lengths are one where lengths of arguments were equal in the first call; others have another version."""

import itertools
import threading
from typing import Any

import numpy as np
import pytest

from numbagraph import grad, graph_jit, vmap


def inner(u: Any, v: Any) -> Any:
    return u[1:-1] + 2 * v[1:-1]


def neighbours(u: Any, v: Any) -> Any:
    return (u[2:] - u[:-2]) * v[1:-1] - v[::2].sum()


def assigned(u: Any, v: Any) -> Any:
    out = np.zeros_like(u)
    out[1:-1] = v[1:-1] - v[:-2]
    return out


def steps(u: Any, v: Any) -> Any:
    total = 0.0
    while total < 3:
        new = u.copy()
        new[1:-1] = 0.5 * (u[:-2] + u[2:]) - v[1:-1]
        u, total = new, total + 1
    return u


def perhaps(u: Any, v: Any) -> Any:
    if u.sum() > 1e9:
        return u[1:-1] + v[1:-1]
    return u[1:-1] * 2


def selected(u: Any, v: Any) -> Any:
    both = u[1:-1] * v[1:-1]
    return both[both > 0]


def written(u: Any, v: Any) -> Any:
    u[1:-1] += v[1:-1]
    return v[1:]


def joined(u: Any, v: Any) -> Any:
    return np.stack([u[1:], v[1:]]) * (u[:-1] @ v[:-1])


def reshaped(u: Any, v: Any) -> Any:
    return (np.concatenate([u, v]).reshape(2, -1) * u[: v.shape[0]]).sum(0)


FUNCTIONS = [inner, neighbours, assigned, steps, perhaps, selected, written, joined, reshaped]
LENGTHS = [(7, 7), (7, 3), (3, 7), (4, 4), (2, 2), (7, 4), (5, 6), (0, 0), (1, 1), (7, 1)]


def outcome(function: Any, lengths: tuple[int, int]) -> tuple[Any, list[Any]]:
    """What a call gives or raises, and what its arguments hold after it."""
    rng = np.random.default_rng(lengths)
    arguments = [rng.normal(size=length) for length in lengths]
    try:
        return function(*arguments), arguments
    except (ValueError, IndexError) as error:
        return ValueError if isinstance(error, ValueError) else type(error), arguments


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("first", [0, 1, 3, 6])
def test_each_history_of_lengths(function: Any, first: int) -> None:
    compiled = graph_jit(function)
    for lengths in [LENGTHS[first], *LENGTHS, *LENGTHS[::-1]]:
        expected, after = outcome(function, lengths)
        result, left = outcome(compiled, lengths)
        if expected is ValueError:
            assert result is ValueError
            continue
        for one, other in zip((expected, *after), (result, *left), strict=True):
            assert np.shape(other) == np.shape(one)
            np.testing.assert_allclose(other, one, rtol=1e-13)


def test_calls_with_equal_lengths_share_a_version() -> None:
    compiled = graph_jit(inner)
    for length in (5, 8, 2):
        compiled(np.ones(length), np.ones(length))
    assert compiled.cache_info().versions == 1
    compiled(np.ones(5), np.ones(3))
    compiled(np.ones(5), np.ones(5))
    compiled(np.ones(3), np.ones(9))
    assert compiled.cache_info().versions == 2


def test_nothing_is_taken_to_be_equal_that_is_not_asked() -> None:
    for function in (lambda x, y: x.sum() + y.sum(), lambda x, y: x[:1] * y, lambda x, y: (x[1:], y[1:])):
        compiled = graph_jit(function)
        compiled(np.ones(4), np.ones(4))
        compiled(np.ones(4), np.ones(3))
        assert compiled.cache_info().versions == 1


def test_a_nest_exists_once_where_lengths_were_equal() -> None:
    x, y = np.ones(50), np.ones(3)
    equal, other = graph_jit(inner, cache=False), graph_jit(inner, cache=False)
    assert len(equal.graph(x, x).values) < len(other.graph(x, y).values)
    assert len(equal.llvm(x, x).splitlines()) < 0.7 * len(other.llvm(x, y).splitlines())


def test_what_the_function_requires_is_still_required() -> None:
    def function(u: Any, v: Any, w: Any) -> Any:
        return u[1:-1] + v[1:-1], v + w

    compiled = graph_jit(function)
    for lengths in itertools.product((3, 5), (3, 5), (3, 5)):
        arguments = [np.arange(float(length)) for length in lengths]
        compiled(*(np.ones(5) for _ in range(3)))
        if lengths[1] == lengths[2]:
            for one, other in zip(compiled(*arguments), function(*arguments), strict=True):
                np.testing.assert_array_equal(one, other)
        else:
            with pytest.raises(ValueError, match="could not be broadcast"):
                compiled(*arguments)


def test_out_takes_calls_of_both_kinds() -> None:
    compiled, rng = graph_jit(inner), np.random.default_rng(0)
    for lengths in [(6, 6), (6, 3), (6, 6), (6, 3)]:
        arguments, out = [rng.normal(size=length) for length in lengths], np.empty(4)
        assert compiled(*arguments, out=out) is out
        np.testing.assert_array_equal(out, inner(*arguments))


def test_square_matrices_and_others() -> None:
    def function(a: Any) -> Any:
        return a[0, 1:-1] * a[1:-1, 0]

    compiled = graph_jit(function)
    for shape in [(5, 5), (5, 3), (3, 5), (5, 5)]:
        a = np.random.default_rng(0).normal(size=shape)
        np.testing.assert_array_equal(compiled(a), function(a))
    with pytest.raises(ValueError, match="could not be broadcast"):
        compiled(np.ones((5, 6)))


def test_gradients_of_both_versions() -> None:
    def loss(u: Any, v: Any) -> Any:
        return np.sum(inner(u, v) ** 2)

    compiled = graph_jit(grad(loss, argnums=(0, 1)))
    for lengths in [(6, 6), (6, 3), (3, 6), (6, 6)]:
        u, v = (np.random.default_rng(length).normal(size=length) for length in lengths)
        du, dv = np.zeros_like(u), np.zeros_like(v)
        outer = np.broadcast_to(2 * inner(u, v), np.broadcast_shapes(u[1:-1].shape, v[1:-1].shape))
        du[1:-1] = outer if len(u) > 3 else outer.sum()
        dv[1:-1] = 2 * (outer if len(v) > 3 else outer.sum())
        for found, wanted in zip(compiled(u, v), (du, dv), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-13)


def test_inside_of_vmap_and_of_compiled_functions() -> None:
    inside = graph_jit(inner)
    around = graph_jit(lambda u, v: vmap(inside)(u, v) + inside(u[0], v[0]))
    for shapes in [((2, 6), (2, 6)), ((2, 6), (2, 3)), ((4, 6), (4, 6))]:
        u, v = (np.random.default_rng(0).normal(size=shape) for shape in shapes)
        wanted = np.stack([inner(*pair) for pair in zip(u, v, strict=True)]) + inner(u[0], v[0])
        np.testing.assert_array_equal(around(u, v), wanted)


def test_threads_begin_with_different_lengths() -> None:
    for _ in range(5):
        compiled, found = graph_jit(inner), {}

        def call(lengths: tuple[int, int], compiled: Any = compiled, found: Any = found) -> None:
            found[lengths] = outcome(compiled, lengths)[0]

        threads = [threading.Thread(target=call, args=(lengths,)) for lengths in LENGTHS[:4]]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        for lengths, result in found.items():
            np.testing.assert_array_equal(result, outcome(inner, lengths)[0])
        assert compiled.cache_info().versions in (1, 2)  # where the first lengths differ, one is for all

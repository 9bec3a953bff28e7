"""Writes into arguments: the caller's arrays hold afterwards what they do when NumPy runs the same function."""

import pickle
import sys
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest

import numbagraph
from numbagraph import graph_jit
from tests.support.caches import printed_in_two_processes

BACKENDS = pytest.mark.parametrize("backend", ["numba", "numpy", "jax"])
Pair = namedtuple("Pair", ["left", "right"])


def element(x):
    x[0] = 3
    return x


def nothing_returned(x):
    x += 1


def views(x):
    x[1:][0] = 5
    part = x[::-1]
    part[:2] *= 2
    x[..., -1:] -= 1
    return x.sum(), x


def total(x):
    x *= 2
    return x.sum()


def twice(x):
    x[1] = x[0]
    return x, {"again": x, "other": x + 1}


def methods(x):
    x.fill(2)
    np.add(x, 1, out=x)
    y = x
    y -= 1


def old_values(x):
    before = x.copy()
    x[...] = before[::-1]
    return before, x[0]


FUNCTIONS = [element, nothing_returned, views, total, twice, methods, old_values]


def arrays():
    base = np.arange(48.0).reshape(6, 8)
    yield from (np.arange(5.0), np.arange(5), np.arange(10, dtype=np.float32)[::-2], np.arange(4) * 1j)
    yield from (base.copy(), base.T.copy().T, base.copy().T, base.copy()[::2, 1::3], base.copy()[::-1, ::-1])
    yield from (base.copy()[:, 2], np.ones((1, 3)), np.ones((2, 0)), np.arange(6).astype(">f8"))
    yield np.zeros(41, np.uint8)[1:].view(float)


def check(function, compiled, *args):
    """Compare a call with NumPy's: what it returns, which of that is an argument itself, and the arguments."""
    own = [np.empty_like(each, subok=False) if isinstance(each, np.ndarray) else each for each in args]
    for mine, each in zip(own, args, strict=True):
        if isinstance(each, np.ndarray):
            mine[...] = each
    expected, found = function(*own), compiled(*args)
    flat = numbagraph.runtime.arguments.flatten
    (expected_leaves, spec), (leaves, found_spec) = flat(expected), flat(found)
    assert spec == found_spec
    for wanted, leaf in zip(expected_leaves, leaves, strict=True):
        np.testing.assert_allclose(leaf, wanted, rtol=1e-6)
        for mine, each in zip(own, args, strict=True):
            assert (wanted is mine) == (leaf is each)
    for mine, each in zip(own, args, strict=True):
        if isinstance(each, np.ndarray):
            assert each.dtype == mine.dtype
            np.testing.assert_allclose(each, mine, rtol=1e-6)


@BACKENDS
@pytest.mark.parametrize("function", FUNCTIONS)
def test_arguments_hold_what_numpy_writes(function, backend):
    compiled = graph_jit(function, backend=backend)
    for array in arrays():
        if array.size >= 2 and len(array) > 1:
            for _ in range(3):
                check(function, compiled, array)


@BACKENDS
def test_empty_arrays(backend):
    for shape in ((0,), (3, 0), (0, 2)):
        x = np.ones(shape)
        assert graph_jit(lambda x: (x.fill(1), x)[1], backend=backend)(x) is x


def overwrite(x, y):
    x[...] = y


def first(x, y):
    x[0] = y[-1]


def add_shifted(x, y):
    x[1:] += y[:-1]


def reverse(x, y):
    x[...] = (x - y)[::-1]


def running(x, y):
    x[...] = np.cumsum(y) / 7


def scale_by_sum(x, y):
    x /= 1 + np.sum(np.cumsum(y) ** 2)


def gathered(x, y):
    x[2:5] = y[np.array([4, 0, 2])]


def checked(x, y):
    x[1] = y[np.argmax(y)]


def first_of_temporaries(x, y):
    sums = np.cumsum(y)
    x[0] = np.sum(sums * sums[::-1]) / 100


def smoothed(x, y):
    x[1:-1] = 0.25 * (x[:-2] + x[2:]) + 0.5 * y[1:-1]


STATEMENTS = [
    overwrite,
    first,
    add_shifted,
    reverse,
    running,
    scale_by_sum,
    gathered,
    checked,
    first_of_temporaries,
    smoothed,
]


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("seed", range(15))
def test_random_writes(seed, parallel):
    """Some of them happen where the array lies, some in memory from which the array is copied at the end."""
    rng = np.random.default_rng(seed)
    chosen = [(STATEMENTS[k], *rng.choice(3, 2)) for k in rng.integers(len(STATEMENTS), size=rng.integers(1, 6))]

    def function(*arrays):
        before = arrays[0].sum()
        for statement, target, source in chosen:
            statement(arrays[target], arrays[source])
        return before, arrays[1] + 1, arrays[2]

    compiled = graph_jit(function, parallel=parallel)
    for count in (5, 3000):
        given = [rng.normal(size=count) for _ in range(3)]
        own = [each.copy() for each in given]
        expected, found = function(*own), compiled(*given)
        for wanted, each in zip((*expected, *own), (*found, *given), strict=True):
            np.testing.assert_allclose(each, wanted, rtol=1e-9, atol=1e-9)


def test_temporaries_do_not_live_in_arguments():
    """The array that is written is read only after the temporaries are gone."""

    def function(x, y):
        first_of_temporaries(x, y)
        return np.sum(x * y)

    check(function, graph_jit(function), np.arange(6.0), np.ones(6))


def test_nothing_that_may_fail_follows_a_write_in_place():
    x, i = np.arange(50.0), np.array([1, 60])
    for function in (
        lambda x, i: (x.__setitem__(0, 5.0), np.sum(x[i]))[1],
        lambda x, i: (x.__imul__(2.0), x.__setitem__(i, 1.0)),
        lambda x, i: (x.__setitem__(0, x[1] + 1), x.__setitem__(i[1], 1.0)),
        lambda x, i: (x.__imul__(2.0), ng_loop(x, i))[1],
    ):
        compiled = graph_jit(function)
        for _ in range(2):
            with pytest.raises(IndexError):
                compiled(x, i)
            np.testing.assert_array_equal(x, np.arange(50.0))


def ng_loop(x, i):
    return numbagraph.fori_loop(0, 2, lambda k, total: total + x[i[k]], 0.0)


def test_arrays_are_written_where_they_lie():
    for function, nests in ((element, 1), (nothing_returned, 1), (old_values, 2)):
        found = graph_jit(function)._introspection.program((np.ones(1000),), {})[0]
        in_place = found.signature.results[-1].donated == 0
        assert in_place == (function is not old_values)
        assert len([step for step in found.program.body.steps if step.writes()]) == nests


def test_nothing_beside_is_written():
    memory = np.zeros((9, 9))
    part = memory[1:8:2, 1:8:3]
    f = graph_jit(nothing_returned)
    for count in (1, 2):
        f(part)
        assert memory.sum() == count * part.size
        assert (part == count).all()


@BACKENDS
def test_arguments_that_take_each_others_values(backend):
    def swap(x, y):
        old = x.copy()
        x[...] = y
        y[...] = old
        return y, x

    compiled = graph_jit(swap, backend=backend)
    for _ in range(3):
        check(swap, compiled, np.arange(3.0), np.ones(3))
    columns = np.arange(8.0).reshape(4, 2)
    for _ in range(2):  # the bounds of their memory meet, and no element is shared
        check(swap, compiled, columns[:, 0], columns[:, 1])


@BACKENDS
def test_shared_memory_is_refused_before_anything_runs(backend):
    def add(x, y):
        x += y
        return x

    compiled = graph_jit(add, backend=backend)
    memory = np.arange(12.0)
    compiled(np.ones(4), np.ones(4))
    for x, y in ((memory, memory), (memory[1:], memory[:-1]), (memory[::2], memory[:6]), (memory, memory[::-1])):
        for _ in range(2):
            with pytest.raises(
                ValueError, match=r"argument x of .*add.* is written into.*shares memory with argument y"
            ):
                compiled(x, y)
    np.testing.assert_array_equal(memory, np.arange(12.0))
    sum_of_both = graph_jit(lambda x, y: x + y, backend=backend)
    np.testing.assert_array_equal(sum_of_both(memory, memory), 2 * memory)


@BACKENDS
def test_what_cannot_be_written_is_refused(backend):
    compiled = graph_jit(nothing_returned, backend=backend)
    compiled(np.ones(3))
    x = np.ones(3)
    x.flags.writeable = False
    with pytest.raises(ValueError, match=r"argument x .*read-only: pass a copy"):
        compiled(x)

    class Holder:
        def __array__(self, dtype=None, copy=None):
            return np.ones(3)

    with pytest.raises(ValueError, match=r"argument x .*is a Holder: pass a NumPy array"):
        compiled(Holder())
    with pytest.raises(TypeError, match="assignment into an argument of rank 0"):
        graph_jit(lambda x: x.fill(1.0), backend=backend)(np.array(2.0))


def test_arrays_of_jax_are_refused():
    jax = pytest.importorskip("jax")
    with pytest.raises(ValueError, match="pass a NumPy array"):
        graph_jit(element, backend="jax")(jax.numpy.ones(3))


def test_subclasses_are_written_and_returned(tmp_path):
    for _ in range(2):
        x = np.memmap(tmp_path / "array", np.float64, "w+", shape=(3,))
        assert graph_jit(element)(x) is x
        assert np.fromfile(tmp_path / "array")[0] == 3


def test_dtype_and_shape_stay():
    x = np.arange(3)
    x.sort()
    graph_jit(lambda x: (x.sort(), x.__setitem__(0, 2.7)))(x)
    np.testing.assert_array_equal(x, [2, 1, 2])
    with pytest.raises(
        TypeError, match=r"Cannot cast ufunc 'multiply' output from dtype\('float64'\) to dtype\('int64'\)"
    ):
        graph_jit(lambda x: np.multiply(x, 1.5, out=x))(x)
    with pytest.raises(ValueError, match="shape"):
        graph_jit(lambda x, y: np.add(x, y, out=x))(x, np.ones((2, 3), int))


@BACKENDS
def test_trees(backend):
    def function(tree, scale):
        tree["a"] += scale
        tree["b"][0][0] = 7
        tree["b"][1].right[1:] = tree["a"][1:]
        return tree["b"][1]

    def make():
        return {"a": np.ones(3), "b": [np.ones(2), Pair(np.zeros(2), np.zeros(3))]}

    compiled = graph_jit(function, backend=backend)
    for _ in range(3):
        own, given = make(), make()
        expected, found = function(own, 2.0), compiled(given, 2.0)
        assert type(found) is Pair
        assert found.right is given["b"][1].right
        np.testing.assert_array_equal(found.right, expected.right)
        np.testing.assert_array_equal(given["a"], own["a"])
        np.testing.assert_array_equal(given["b"][0], own["b"][0])
    with pytest.raises(TypeError, match="an argument was changed"):
        graph_jit(lambda tree: tree.update(a=tree["a"] + 1), backend=backend)(make())


def test_out_and_donations():
    compiled, x, out = graph_jit(total), np.ones(3), np.empty(())
    for count in (1, 2):
        assert compiled(x, out=out) is out
        assert out == 3 * 2**count
        assert x[0] == 2**count
    pair = graph_jit(lambda x, y: (element(x), x + y)[1])
    for bad in (x, x[:2]):
        with pytest.raises(ValueError, match=r"argument x .*shares memory with out="):
            pair(x, np.ones(3), out=bad)
    before = x.copy()
    with pytest.raises(ValueError, match="has shape"):
        pair(x, np.ones(3), out=np.ones(2))
    np.testing.assert_array_equal(x, before)
    with pytest.raises(ValueError, match=r"writes into x, which donate_argnames"):
        graph_jit(element, donate_argnames="x")(x)
    given = graph_jit(lambda x, y: (element(x), y * 2)[1], donate_argnames="y")
    y = np.ones(3)
    assert given(x, y) is y
    assert y[0] == 2


def test_mutates():
    def both(x, y):
        x[0] = 1
        y[0] = 1

    for mutates in ((), "x", ["y"]):
        x, y = np.zeros(2), np.zeros(2)
        with pytest.raises(TypeError, match="assignment into an argument"):
            graph_jit(both, mutates=mutates)(x, y)
        assert x[0] == y[0] == 0
    for mutates in (None, ["x", "y"]):
        check(both, graph_jit(both, mutates=mutates), np.zeros(2), np.zeros(2))
    with pytest.raises(ValueError, match=r"mutates names 'z'"):
        graph_jit(both, mutates="z")
    inner = graph_jit(both, mutates="x")
    with pytest.raises(TypeError, match="mutates= does not name"):
        graph_jit(lambda x, y: inner(x, y))(x, y)
    again = pickle.loads(pickle.dumps(graph_jit(element, mutates=())))
    with pytest.raises(TypeError, match="assignment into an argument"):
        again(x)


def test_compiled_functions_inside_of_traces():
    inner = graph_jit(element)

    def outer(x, f):
        local = x * 1
        f(local[1:])
        return f(x[2:]), f(local), x

    check(lambda x: outer(x, element), graph_jit(lambda x: outer(x, inner)), np.zeros(4))


@pytest.mark.parametrize(
    "transformed",
    [
        numbagraph.grad(total),
        lambda x: numbagraph.vmap(total)(x[None]),
        numbagraph.jacfwd(element),
        numbagraph.hessian(total),
        lambda x: numbagraph.jvp(total, (x,), (x,)),
        lambda x: numbagraph.vjp(total, x)[1](1.0),
        lambda x: numbagraph.scan(lambda carry, _: (element(carry), None), x, None, length=2),
        numbagraph.vectorize(total, signature="(n)->()"),
    ],
)
def test_transformed_functions_refuse(transformed):
    x = np.ones(3)
    for function in (transformed, graph_jit(transformed)):
        with pytest.raises(TypeError, match=r"assignment .*(copy|carry)"):
            function(x)
    np.testing.assert_array_equal(x, np.ones(3))


def test_regions_refuse():
    def function(x):
        return numbagraph.fori_loop(0, 3, lambda _, total: (x.__setitem__(0, total), total + 1)[1], 0.0)

    with pytest.raises(TypeError, match="carry it"):
        graph_jit(function)(np.ones(3))


def test_arrays_of_enclosing_scopes_are_written_beside_arguments():
    outside = np.zeros(3)

    def function(x, i):
        outside[0] += 1.0
        x[i] = 1.0

    x, compiled = np.zeros(3), graph_jit(function)
    for _ in range(2):
        compiled(x, 0)
    with pytest.raises(IndexError):
        compiled(x, 5)
    np.testing.assert_array_equal(outside, [2, 0, 0])
    np.testing.assert_array_equal(x, [1, 0, 0])


def test_njit_callers_and_addresses_are_refused():
    compiled = graph_jit(element)

    @numba.njit
    def caller(x):
        return compiled(x)

    with pytest.raises(numba.core.errors.TypingError, match="assignment into an argument"):
        caller(np.ones(3))
    with pytest.raises(TypeError, match="assignment into an argument"):
        compiled.address(np.ones(3))


def test_threads():
    compiled = graph_jit(views)

    def work(seed):
        x, mine = np.arange(100.0) * seed, np.arange(100.0) * seed
        for _ in range(50):
            compiled(x)
            views(mine)
        return np.array_equal(x, mine)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(8)))


def test_temporaries_are_released():
    compiled, x, strided = graph_jit(views), np.ones(10), np.ones(20)[::2]
    compiled(x), compiled(strided)
    before = sys.getrefcount(x), sys.getrefcount(strided), sys.getrefcount(x.dtype)
    for _ in range(100):
        compiled(x)
        compiled(strided)
    after = sys.getrefcount(x), sys.getrefcount(strided), sys.getrefcount(x.dtype)
    assert after == before


PROGRAM = """
import numpy as np, numbagraph
@numbagraph.graph_jit
def f(x):
    x[1:] += x[:-1].copy()
    return x
x = np.arange(5.0)
assert f(x) is x
print(x.tolist(), f.cache_info().found)
"""


def test_a_second_process_finds_the_code(tmp_path, monkeypatch):
    printed = printed_in_two_processes(PROGRAM, tmp_path, monkeypatch)
    assert printed == ["[0.0, 1.0, 3.0, 5.0, 7.0] 0", "[0.0, 1.0, 3.0, 5.0, 7.0] 1"]

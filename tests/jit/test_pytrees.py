"""Trees of arguments and results are what the function would see and build without being compiled."""

import itertools
from collections import OrderedDict, defaultdict

import numpy as np
import pytest
from scipy import sparse

import numbagraph
from numbagraph import graph_jit

A, B = np.array([1.0, 2.0]), np.array([30.0, 40.0])
KINDS = {
    "dict": lambda *pairs: dict(pairs),
    "OrderedDict": lambda *pairs: OrderedDict(pairs),
    "defaultdict": lambda *pairs: defaultdict(list, pairs),
    "nested": lambda *pairs: {"z": 1.0, "inner": [dict(pairs)]},
}


def stacked(tree):
    while "inner" in tree:
        tree = tree["inner"][0]
    return np.stack(list(tree.values())), {name: value + 1 for name, value in tree.items()}


def assert_equal_trees(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, dict):
        assert [*map(repr, found)] == [*map(repr, expected)]
        found, expected = [*found.values()], [*expected.values()]
    if isinstance(expected, (tuple, list)):
        for one, other in zip(found, expected, strict=True):
            assert_equal_trees(one, other)
    else:
        np.testing.assert_array_equal(found, expected)
        assert getattr(found, "dtype", None) == getattr(expected, "dtype", None)


@pytest.mark.parametrize("backend", ["numba", "numpy", "jax"])
@pytest.mark.parametrize("kind", KINDS)
def test_dicts_have_the_order_in_which_they_were_made(kind, backend):
    if backend == "jax":
        pytest.importorskip("jax")
    make = KINDS[kind]
    trees = [make(("b", B), ("a", A)), make(("a", A), ("b", B)), make(("b", A), ("a", B)), make(("a", B), ("b", A))]
    for history in (trees, trees[::-1]):
        f = graph_jit(stacked, backend=backend)
        for tree in [*history, *history]:
            assert_equal_trees([*map(np.asarray, f(tree)[:1])], [stacked(tree)[0]])
            assert_equal_trees({name: np.asarray(each) for name, each in f(tree)[1].items()}, stacked(tree)[1])
        assert f.cache_info().versions == 2


def test_keywords_have_the_order_of_the_call():
    def function(*args, scale=2.0, **rest):
        return np.stack([*args, *rest.values()]) * scale

    f = graph_jit(function)
    calls = [({"b": B, "a": A}), ({"a": A, "b": B}), ({"a": A, "scale": 3.0, "b": B}), ({"b": A, "scale": 3.0, "a": B})]
    for options in [*calls, *calls[::-1]]:
        np.testing.assert_array_equal(f(A, **options), function(A, **options))


def test_names_that_are_equal_are_told_apart_by_their_types():
    def function(tree):
        return {name: value * name for name, value in tree.items()}

    x, f = np.arange(3), graph_jit(function)
    trees = [{1: x}, {1.0: x}, {True: x}, {-0.0: x}, {0: x}, {0.0: x}, {1: x, "a": x}]
    for tree in [*trees[:-1], *trees[:-1][::-1]]:
        assert_equal_trees(f(tree), function(tree))
    mixed = graph_jit(lambda tree: [*tree.values()])
    for tree in ({1: x, "a": x + 1}, {"a": x + 1, 1: x}):  # names that cannot be sorted
        assert_equal_trees(mixed(tree), [*tree.values()])


def test_derivatives_have_the_order_of_their_argument():
    def loss(tree):
        first, second = tree.values()
        return np.sum(first * second**2)

    for tree in ({"b": B, "a": A}, {"a": A, "b": B}, {"a": B, "b": A}):
        first, second = tree.values()
        expected = dict(zip(tree, [second**2, 2 * first * second], strict=True))
        for gradient in (numbagraph.grad(loss), graph_jit(numbagraph.grad(loss))):
            assert_equal_trees(gradient(tree), expected)
        value, pullback = numbagraph.vjp(lambda tree: {name: 2 * each for name, each in tree.items()}, tree)
        for names in itertools.permutations(tree):  # a cotangent is like the value but for the order
            (found,) = pullback({name: value[name] for name in names})
            assert_equal_trees(found, {name: 4 * each for name, each in tree.items()})
            _, tangent = numbagraph.jvp(lambda tree: tree["a"] - 3 * tree["b"], (tree,), ({n: tree[n] for n in names},))
            np.testing.assert_array_equal(tangent, tree["a"] - 3 * tree["b"])


def test_cotangents_of_a_rule_are_found_by_name():
    @numbagraph.custom_vjp
    def product(tree):
        return np.sum(tree["b"] * tree["a"])

    product.defvjp(lambda t: (product(t), t), lambda t, g: ({"a": g * t["b"], "b": g * t["a"]},))
    for tree in ({"b": B, "a": A}, {"a": A, "b": B}):
        assert_equal_trees(numbagraph.grad(product)(tree), {name: B if name == "a" else A for name in tree})
    product.defvjp(lambda t: (product(t), t), lambda t, g: ({"a": g * t["b"], "c": g * t["a"]},))
    with pytest.raises(TypeError, match=r"like its argument, a dict of '[ab]' and '[ab]'"):
        numbagraph.grad(product)({"b": B, "a": A})


def test_mapped_axes_are_found_by_name():
    matrix = np.arange(6.0).reshape(3, 2)

    def function(tree):
        return {name: 2 * value for name, value in tree.items()}

    for tree, axes in itertools.product(
        ({"b": matrix, "a": matrix.T}, {"a": matrix.T, "b": matrix}), ({"a": 1, "b": 0}, {"b": 0, "a": 1})
    ):
        mapped = numbagraph.vmap(function, in_axes=(axes,), out_axes=axes)
        assert_equal_trees(mapped(tree), {name: 2 * value for name, value in tree.items()})


def test_out_is_found_by_name():
    f = graph_jit(lambda x: {"b": x + 1, "a": x * 2})
    for names in itertools.permutations("ab"):
        for _ in range(2):
            out = {name: np.empty(2) for name in names}
            assert f(A, out=out) is out
            assert_equal_trees(out, {name: A + 1 if name == "b" else A * 2 for name in names})
    with pytest.raises(ValueError, match="is a dict of 'b' and 'c', and the result is a dict of 'b' and 'a'"):
        f(A, out={"b": np.empty(2), "c": np.empty(2)})
    with pytest.raises(ValueError, match=r"is a dict of 'b' and 'a' \(a list of one array or number\), and the result"):
        f(A, out={"b": np.empty(2), "a": [np.empty(2)]})


async def awaited(x):
    return x * 2


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x * k for k in range(2)),
        lambda x: [x, iter([1, 2])],
        lambda x: {"a": map(np.sin, [x])},
        lambda x: zip([x], [1], strict=True),
        awaited,
    ],
    ids=["generator", "iterator", "map", "zip", "coroutine"],
)
def test_results_that_are_used_up_are_refused(function):
    """The second call would return what the first one's caller has emptied."""
    f = graph_jit(function)
    for _ in range(2):
        with pytest.raises(TypeError, match=r"returns a \w+, which can be read once, .*: return a list or a tuple"):
            f(np.ones(3))


@pytest.mark.parametrize("held", [{1, 2}, bytearray(b"ab"), np.arange(2)], ids=["set", "bytearray", "array"])
def test_results_that_are_the_same_in_each_call_are_no_one_else_s(held):
    f = graph_jit(lambda x: (x, held))
    for _ in range(3):
        found = f(np.ones(3))[1]
        np.testing.assert_equal(found, held)
        found.clear() if hasattr(found, "clear") else found.fill(7)


def test_trees_of_a_million_leaves_are_refused():
    """The native entry has a place for each on the stack, which they overflow."""
    numbers = [1.0] * 1_000_000
    for call in (graph_jit(lambda x, q: x * q[0]), numbagraph.grad(lambda x, q: x * q[0])):
        with pytest.raises(TypeError, match=r"most of all 'q', hold 1,000,001 arrays and numbers.*np.array of it"):
            call(2.0, numbers)
    with pytest.raises(TypeError, match=r"results of .* hold 20,001 arrays and numbers"):
        graph_jit(lambda x: [x] * 20_001)(2.0)
    with pytest.raises(TypeError, match="hold 20,001"):
        graph_jit(lambda **options: options["x0"])(**{f"x{number}": 1.0 for number in range(20_001)})


def total(x, *others, scale=1.0):
    return sum(others, x) * scale


def doubled(*args):
    return sum(sum(each) if isinstance(each, tuple) else each * 2 for each in args)


CALLS = [(1.0,), (A, 2), (A, B, 3.0), (A, 2 * A, A.astype(np.float32)), (A, *[B] * 9), (A[:, None], B)]
WITH_TREES = [(A,), ((A,),), (A, B), ((A, B),), ((A,), B), (A, (B,)), ((A, B, A),), (A, B, A)]


@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_any_number_of_arguments(backend):
    compiled = graph_jit(total, backend=backend)
    for args in [*CALLS, *CALLS]:
        expected = np.asarray(total(*args))
        np.testing.assert_array_equal(compiled(*args), expected)
        np.testing.assert_array_equal(compiled(*args, scale=3.0), expected * 3)
        np.testing.assert_array_equal(compiled(*args, out=np.zeros(expected.shape)), expected)


def test_trees_among_any_number_of_arguments():
    compiled = graph_jit(doubled)
    for args in [*WITH_TREES, *WITH_TREES]:
        np.testing.assert_array_equal(compiled(*args), doubled(*args))


def test_any_number_of_arguments_are_dispatched_natively():
    compiled = graph_jit(doubled)
    for args in WITH_TREES:
        compiled(*args)
    runs = compiled._flat_calls
    assert sum(run(A, B) is not NotImplemented for run in runs) == 1
    assert sum(run(A, B, A) is not NotImplemented for run in runs) == 1
    assert all(run(A, B, A, B) is NotImplemented for run in runs)


def shifted(x, /, shift, scale=2.0, *rest, power=1, **named):
    return ((x + shift) * scale + sum(rest)) ** power + sum(named.values())


KEYWORDS = [
    ((A,), {"shift": B}),
    ((A,), {"shift": B, "scale": 3.0}),
    ((A,), {"scale": A, "shift": B}),
    ((A, B), {"scale": 3}),
    ((A, B, 3.0, A), {"power": 2}),
    ((A, B), {"power": 2}),
    ((A, B), {"other": B}),
    ((A,), {"shift": B, "x": A}),
    ((A, B), {"scale": 3.0, "x": A, "power": 2}),
]
WRONG = [((A,), {}), ((A,), {"scale": 2.0}), ((), {"x": A, "shift": B}), ((A, B), {"shift": B}), ((), {"shift": B})]


def test_keywords_in_any_order():
    compiled = graph_jit(shifted)
    for args, keywords in [*KEYWORDS, *KEYWORDS[::-1]]:
        np.testing.assert_array_equal(compiled(*args, **keywords), shifted(*args, **keywords))
    for args, keywords in WRONG:
        for function in (shifted, compiled):
            with pytest.raises(TypeError):
                function(*args, **keywords)


def test_keywords_that_are_static():
    compiled = graph_jit(lambda x, n, y=1.0: x[:n] * y, static_argnames="n")
    for n, y in ((1, 2.0), (2, 3.0), (1, B[:1]), (2, B)):
        for found in (compiled(A, n=n, y=y), compiled(A, y=y, n=n), compiled(y=y, n=n, x=A), compiled(A, n, y=y)):
            np.testing.assert_array_equal(found, A[:n] * y)


def test_an_own_argument_that_is_called_out():
    compiled = graph_jit(lambda x, out=2.0: x * out)
    for out in (3.0, B):
        np.testing.assert_array_equal(compiled(A, out=out), A * out)
        np.testing.assert_array_equal(compiled(A, out), A * out)


def test_known_keywords_are_dispatched_natively(monkeypatch):
    compiled = graph_jit(lambda x, shift, scale=2.0: (x + shift) * scale)
    compiled(A, B, 3.0)
    monkeypatch.setattr(compiled, "_handle", None)
    for args, keywords in (
        ((A, B), {"scale": 3.0}),
        ((A,), {"scale": 3.0, "shift": B}),
        ((), {"x": A, "shift": B, "scale": 3.0}),
    ):
        np.testing.assert_array_equal(compiled(*args, **keywords), (A + B) * 3)


def test_arguments_without_a_name_have_no_keyword():
    compiled = graph_jit(lambda x, /: x + 1)
    np.testing.assert_array_equal(compiled(A), A + 1)
    for keyword in ("", "x"):
        with pytest.raises(TypeError):
            compiled(**{keyword: A})


class Key(str):
    """Equal to a string, and none for who reads its text."""


RETURNED = {
    "tuple and None": lambda x: (x + 1, None),
    "None twice": lambda x: (None, [x + 1, None]),
    "empty containers": lambda x: ((), [], {}, x + 1),
    "one element": lambda x: ((x + 1,),),
    "a dict of lists": lambda x: {"b": [x + 1], "a": (x, {"c": x - 1, 'quoted "\\': x * 2})},
    "one result twice": lambda x: [y := x + 1, y],
    "numbers as keys": lambda x: {2: x + 1, 1: x},
    "a key of a class": lambda x: {Key("k"): x + 1},
    "an OrderedDict inside": lambda x: [OrderedDict([("b", x + 1), ("a", x)])],
    "many": lambda x: [[x + number] for number in range(100)],
}


@pytest.mark.parametrize("kind", RETURNED)
@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_returned_trees(kind, backend):
    function, run = RETURNED[kind], graph_jit(RETURNED[kind], backend=backend)
    for _ in range(2):
        assert_equal_trees(run(A), function(A))
    first, second = run(A), run(A)
    assert first is not second
    if isinstance(first, dict):
        assert [*map(type, first)] == [*map(type, function(A))]


def test_trees_with_arrays_of_other_libraries():
    """What builds them looks at their parts."""

    def function(matrix):
        return {"total": matrix.sum(), "twice": [matrix * 2.0]}

    matrix = sparse.csr_array(np.array([[1.0, 0.0], [0.0, 2.0]]))
    found = graph_jit(function)(matrix)
    assert found["total"] == 3.0
    np.testing.assert_array_equal(found["twice"][0].toarray(), 2.0 * matrix.toarray())

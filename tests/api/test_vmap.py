"""`vmap` and `vectorize`: a function of one element, for all of them."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import special

import numbagraph as ng
from numbagraph import grad, graph_jit, jacfwd, jacrev, jvp, vectorize, vmap

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(5, 3)), RNG.normal(size=3)


def loop(function, *columns):
    return np.stack([function(*each) for each in zip(*columns, strict=True)])


def distance(x, y):
    return np.sqrt(np.sum((x - y) ** 2))


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_axes_of_arguments():
    close(vmap(distance, in_axes=(0, None))(X, Y), loop(distance, X, [Y] * 5))
    close(vmap(distance, in_axes=[None, 1])(Y, X.T), loop(distance, [Y] * 5, X))
    close(vmap(distance, in_axes=-2)(X, X * 2), loop(distance, X, X * 2))
    close(vmap(distance, in_axes=(0, None))(X[:0], Y), np.zeros(0))
    close(vmap(distance, in_axes=(0, None))(X[:1], Y), [distance(X[0], Y)])
    close(vmap(lambda x, *, y: x + y)(X, y=X), X + X)


def test_axes_of_results():
    assert vmap(lambda x: np.outer(x, x), out_axes=1)(X).shape == (3, 5, 3)
    close(vmap(lambda x: np.outer(x, x), out_axes=-1)(X)[..., 2], np.outer(X[2], X[2]))
    first, second, constant = vmap(lambda x: (x * 2, np.sum(x), 7.0), out_axes=(1, 0, 0))(X)
    close(first, X.T * 2)
    close(second, X.sum(axis=1))
    close(constant, np.full(5, 7.0))
    close(vmap(lambda x, y: y * 2, in_axes=(0, None), out_axes=None)(X, Y), Y * 2)


def test_trees():
    @dataclass
    class Line:
        slope: np.ndarray
        offset: np.ndarray

    def f(line, data):
        return {"y": line.slope * data["x"] + line.offset}

    line, x = Line(X[:, 0], X[:, 1]), np.arange(4.0)
    expected = X[:, :1] * x + X[:, 1:2]
    close(vmap(f, in_axes=(0, None))(line, {"x": x})["y"], expected)
    close(vmap(f, in_axes=(0, {"x": None}), out_axes={"y": 1})(line, {"x": x})["y"], expected.T)


def test_size():
    close(vmap(lambda: np.arange(3), axis_size=2)(), [[0, 1, 2]] * 2)
    close(vmap(lambda y: y, in_axes=None, axis_size=2)(Y), [Y] * 2)
    with pytest.raises(ValueError, match="axis 0 of argument 0 has length 5, but axis_size is 4"):
        vmap(lambda x: x, axis_size=4)(X)


def test_nested():
    outer = vmap(vmap(lambda x, y: x * y, in_axes=(None, 0)), in_axes=(0, None))
    close(outer(X[:, 0], Y), np.outer(X[:, 0], Y))
    twice = vmap(vmap(distance), in_axes=(1, 0))
    a, b = RNG.normal(size=(4, 2, 3)), RNG.normal(size=(2, 4, 3))
    close(twice(a, b), np.sqrt(np.sum((a.swapaxes(0, 1) - b) ** 2, axis=-1)))


def test_derivatives():
    def energy(x):
        return np.sum(np.tanh(x) ** 2) * x[0]

    close(vmap(grad(energy))(X), loop(grad(energy), X))
    close(grad(lambda x: np.sum(vmap(energy)(x)))(X), loop(grad(energy), X))
    close(vmap(jacfwd(grad(energy)))(X), loop(jacrev(grad(energy)), X))
    close(jvp(vmap(energy), (X,), (np.ones_like(X),))[1], loop(grad(energy), X).sum(axis=1))
    close(graph_jit(vmap(grad(energy)))(X), loop(grad(energy), X))


OF_NUMBERS = {
    "power": lambda z: z**2.7,
    "power of a number": lambda z: 1.5**z,
    "xlogy": lambda z: special.xlogy(1.5, z),
    "rel_entr": lambda z: special.rel_entr(1.5, z),
    "kve": lambda z: special.kve(1.5, z),
    "gammainc": lambda z: special.gammainc(1.5, z),
    "gammaincinv": lambda z: special.gammaincinv(1.5, z),
    "betainc": lambda z: special.betainc(1.5, 2.0, z),
    "pdtr": lambda z: special.pdtr(2.0, z),
}


@pytest.mark.parametrize("name", OF_NUMBERS)
@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_second_derivatives_of_functions_with_a_number(name, backend):
    """What such a function's derivative is right by has operands of a batch, and ones of fewer dimensions."""
    slope = grad(lambda z: np.sum(OF_NUMBERS[name](z)))
    x = np.array([[0.2, 0.4], [0.3, 0.6], [0.45, 0.1]])
    found = graph_jit(grad(lambda x: np.sum(vmap(slope)(x) ** 2)), backend=backend)(x)
    one, other = (slope(x + h) ** 2 - slope(x - h) ** 2 for h in (1e-3, 2e-3))  # of each element by itself alone
    np.testing.assert_allclose(found, (8 * one - other) / 12e-3, rtol=1e-5)
    inner = graph_jit(vmap(lambda v, s: slope(s * v)), backend=backend)(x, np.array([0.5, 1.0, 0.7]))
    np.testing.assert_allclose(inner, slope(np.array([[0.5], [1.0], [0.7]]) * x), rtol=1e-12)


def test_inside_of_compiled_functions():
    scale = 3.0

    @graph_jit
    def f(x, y):
        shifted = x + 1
        return np.sum(vmap(lambda row: distance(row, y) * scale + np.sum(shifted))(x))

    expected = sum(distance(row, Y) * scale + np.sum(X + 1) for row in X)
    close(f(X, Y), expected)
    close(vmap(graph_jit(distance), in_axes=(0, None))(X, Y), loop(distance, X, [Y] * 5))


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_backends(backend):
    close(graph_jit(vmap(distance, in_axes=(0, None)), backend=backend)(X, Y), loop(distance, X, [Y] * 5))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: vmap(np.add)(X, X[:3]),
            ValueError,
            "axis 0 of argument 1 has length 3, but axis 0 of argument 0 is 5",
        ),
        (lambda: vmap(lambda x: x, in_axes=2)(X), ValueError, "argument 0, of shape .* has no axis 2"),
        (lambda: vmap(lambda x: x, in_axes=(0, 0))(X), ValueError, "in_axes must be an integer, None, or a tree"),
        (lambda: vmap(lambda x: x, in_axes="x")(X), TypeError, "in_axes must hold integers and None, not 'x'"),
        (lambda: vmap(lambda x: x, in_axes=None)(X), ValueError, "nothing is mapped"),
        (lambda: vmap(lambda x: x, out_axes=None)(X), ValueError, "not the same for all elements"),
        (lambda: vmap(lambda x: x, out_axes=4)(X), ValueError, r"has no axis 4 \(out_axes\)"),
        (lambda: vmap(lambda x: x + 1)(3.0), ValueError, r"argument 0, of shape \(\), has no axis 0"),
        (lambda: vmap(lambda x: x if x > 0 else -x)(X), ng.TraceError, "truth value of an array with more than one"),
        (lambda: vmap(lambda x: x.fill(0.0))(X), ng.TraceError, "assignment into an argument"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: vmap(np.add)(x, y),
        lambda x, y: vectorize(lambda a, b: np.sum(a * b), signature="(n),(n)->()")(x, y[:, :-1]),
    ],
)
def test_errors_name_the_line(function):
    with pytest.raises(ValueError, match=r"at .*test_vmap.py:\d+"):
        graph_jit(function)(X, X[:3])


# ---- vectorize ----


def test_scalars():
    def step(a, b):
        return np.where(a > b, a - b, a + b), a * b

    first, second = vectorize(step)(np.arange(4.0)[:, None], np.arange(3.0))
    expected = np.vectorize(step)(np.arange(4.0)[:, None], np.arange(3.0))
    close(first, expected[0])
    close(second, expected[1])
    assert type(vectorize(lambda a: a + 1)(np.float64(1.0))) is np.float64


def test_positions_of_each_element():
    element = graph_jit(vectorize(lambda x, i: x[i], signature="(n),()->()"))
    x = RNG.normal(size=(3, 4))
    close(element(x, np.array([2, -1, 0])), x[np.arange(3), [2, -1, 0]])
    close(graph_jit(vmap(np.take, (None, 0)))(x[0], np.array([3, 1])), x[0, [3, 1]])
    with pytest.raises(IndexError):
        element(x, np.array([2, 4, 0]))


@pytest.mark.parametrize(
    "shapes", [((3,), (3,)), ((5, 3), (3,)), ((5, 1, 3), (4, 3)), ((1, 3), (4, 3)), ((0, 3), (3,))]
)
def test_signatures(shapes):
    x, y = (RNG.normal(size=shape) for shape in shapes)
    found = vectorize(lambda x, y: np.sum(x * y), signature="(n),(n)->()")(x, y)
    np.testing.assert_allclose(found, np.vectorize(np.dot, signature="(n),(n)->()")(x, y) if found.size else found)
    assert np.shape(found) == np.broadcast_shapes(shapes[0][:-1], shapes[1][:-1])
    with pytest.raises(ValueError, match="has length 2, but n is 3"):
        vectorize(lambda x, y: np.sum(x * y), signature="(n),(n)->()")(x, y[..., :2])


def test_lengths_that_are_computed():
    """They may turn out to be 1."""
    f = graph_jit(lambda x, y, k: vectorize(lambda a, b: np.sum(a * b), signature="(n),(n)->()")(x[k:], y))
    for start in (0, 2, 4):
        close(f(X, X[start:], start), np.sum(X[start:] * X[start:], axis=1))
    close(f(X, X, 4), np.sum(X[4:] * X, axis=1))


def test_excluded_arguments():
    @vectorize(excluded=(1, "offset"))
    def power(x, table, offset):
        return x ** table["exponent"] + offset[-1]

    close(power(X, {"exponent": 2.0}, offset=Y), X**2 + Y[-1])


def test_decorator_with_a_signature():
    @vectorize(signature="(m?,n),(n,p?)->(m?,p?)")
    def product(a, b):
        return a @ b

    a, b = RNG.normal(size=(4, 2, 3)), RNG.normal(size=(4, 3, 6))
    for left, right in ((a, b), (a[0], b), (a[:, 0], b[0]), (a, b[0, :, 0]), (Y, Y)):
        close(product(left, right), np.matmul(left, right) if left is not a or right.ndim > 1 else a @ right)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: vectorize(lambda x: x, signature="(n)->()")(X), r"result 0 has shape .*, and should have \(\)"),
        (lambda: vectorize(lambda x: (x, x), signature="(n)->(n)")(X), "returned 2 results"),
        (lambda: vectorize(lambda x: np.ones(2))(X), "give vectorize a signature"),
        (lambda: vectorize(lambda x: x[:-1], signature="(n)->(n)")(X), "result 0 has shape"),
    ],
)
def test_results_that_do_not_fit(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


@pytest.mark.parametrize("x", [1.5, 3, np.float32(1.5), np.array(2)])
def test_what_vectorize_gives_of_numbers_is_numpys(x):
    def doubled(x):
        return x * 2

    expected = np.vectorize(doubled)(x)[()]
    found = vectorize(doubled)(x)
    assert (type(found), found) == (type(expected), expected)
    single = np.ones(2, np.float32)
    total = graph_jit(lambda x: vectorize(doubled)(x) + single)(x)
    assert total.dtype == (np.vectorize(doubled)(x) + single).dtype

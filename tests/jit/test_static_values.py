"""Arguments whose values decide how a function is traced: it has a version for each, by itself."""

import enum
import warnings

import numpy as np
import pytest
from scipy import ndimage as nd

from numbagraph import errors, grad, graph_jit

CASES = []


def case(*arguments):
    def add(function):
        CASES.append(pytest.param(function, arguments, id=function.__name__))
        return function

    return add


x = np.linspace(0.1, 2, 7)
P = np.arange(6.0).reshape(3, 2) + 1


def model(x, a, b, c):
    return a * np.exp(-b * x) + c


@case(x, np.array([1.0, 2.0, 3.0]))
def star_p(x, p):
    return model(x, *p)


@case(x)
def rest(p):
    a, *r = p
    return a + sum(r)


@case(P)
def zipstar(P):
    s = 0.0
    for a, b in zip(*P.T, strict=True):
        s += a * b
    return s


@case(P)
def zipstar2(P):
    xs, ys = zip(*P, strict=True)
    return np.sum(np.array(xs)) * ys[0]


@case(x)
def maxstar(p):
    return max(*p)


@case(x)
def minstar(p):
    return min(*p)


@case(P, 1)
def axis(x, axis):
    return x.sum(axis=axis)


@case(x, 2, 3)
def burn(c, burn, thin):
    return c[burn::thin]


@case(x, 7)
def split(v, n):
    return np.split(v, n)[2]


@case(x, 2)
def diffn(v, n):
    return np.diff(v, n=n)


@case(x, 1.5)
def gauss(v, sigma):
    return nd.gaussian_filter(v, sigma)


@case(np.eye(3) * 2, 5)
def mpow(a, n):
    return np.linalg.matrix_power(a, n)


@case(3)
def negpow(n):
    return 2**-n


@case(P, 1)
def normaxis(a, ax):
    return np.linalg.norm(a, axis=ax)


@case(P, 0)
def pctaxis(a, ax):
    return np.percentile(a, 30, axis=ax)


@case(P, 0, True)
def keep(a, ax, k):
    return a.mean(axis=ax, keepdims=k)


@case(P, np.float32)
def dt(a, d):
    return a.astype(d)


@case(x, slice(1, 4))
def sl(a, s):
    return a[s]


@case(x, range(2, 5))
def rg(a, r):
    s = 0.0
    for i in r:
        s += a[i]
    return s


class Mode(enum.Enum):
    A = 1
    B = 2


@case(x, Mode.B)
def en(a, m):
    return a * 2 if m is Mode.A else a * 3


@case(x, np.tanh)
def fn(a, f):
    return f(a)


@case(x, 5)
def zer(a, n):
    return np.zeros(n) + a[0]


@case(x, 5)
def lin(a, n):
    return np.linspace(a[0], a[-1], n)


@case(x, "sum")
def strs(a, how):
    return a.sum() if how == "sum" else a.mean()


@case(x, None)
def nn(a, w):
    return a.sum() if w is None else (a * w).sum()


@case(x, 2)
def roll(a, k):
    return np.roll(a, k)


@case(P, (1, 0))
def tr(a, axes):
    return np.transpose(a, axes)


@case(P, (2, 3))
def resh(a, s):
    return a.reshape(s)


@case(P, 2)
def rep(a, n):
    return np.repeat(a, n, axis=1)


@case(P, 2)
def tile(a, n):
    return np.tile(a, n)


@case(x, 3)
def conv(a, n):
    return np.convolve(a, np.ones(n) / n, mode="valid")


@case(x, 2)
def vander(a, n):
    return np.vander(a, n)


@case(x, 10)
def hist(a, bins):
    return np.histogram(a, bins=bins)[0]


@case(x, 3)
def topk(a, k):
    return np.sort(a)[-k:]


@case(x, 2)
def part(a, k):
    return np.partition(a, k)[k]


@case(x, 0.3)
def quant(a, q):
    return np.quantile(a, q)


@case(x, 2)
def pad(a, n):
    return np.pad(a, n)


@case(x, 16)
def fft(a, n):
    return np.abs(np.fft.rfft(a, n))


@case(P, -1)
def sm(a, axis):
    e = np.exp(a - a.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@case(P, 1)
def cums(a, axis):
    return np.cumsum(a, axis=axis)


@case(P, 1)
def flip(a, axis):
    return np.flip(a, axis)


@case(P, 1)
def expd(a, axis):
    return np.expand_dims(a, axis)


@case(P, 0)
def conc(a, axis):
    return np.concatenate([a, a], axis=axis)


@case(P, 1)
def srt(a, axis):
    return np.argsort(a, axis=axis)


@case(x, 3)
def eye(a, n):
    return np.eye(n) * a[0]


@case(x, 1)
def tri(a, k):
    return np.triu(np.outer(a, a), k)


@case(x, 4)
def movav(a, w):
    c = np.cumsum(np.insert(a, 0, 0))
    return (c[w:] - c[:-w]) / w


@case(x, 3)
def lagged(a, k):
    return np.sum(a[k:] * a[:-k])


@case(x, 3)
def stride(a, k):
    return np.lib.stride_tricks.sliding_window_view(a, k).mean(-1)


@case(P)
def zipstar1(P):
    s = 0.0
    for col in zip(*P, strict=True):
        s += col[0] * col[1]
    return s


@case(P)
def hyp(P):
    return np.array([np.hypot(*r) for r in P])


@case(x, np.array([1.0, 2.0, 3.0]))
def star_mid(x, p):
    r = 0.0
    for i in range(3):
        r = r + model(x[i], *p)
    return r


@case(x, np.array([1.0, 2.0, 3.0]))
def star_slice(x, p):
    a, *rest = p
    return a * model(x, *p[:2], p[2]) + sum(rest)


@case(x, np.array([1.0, 2.0, 3.0]))
def star_list(x, p):
    return sum([*p]) + np.sum(x)


@case(x, np.array([1.0, 2.0, 3.0]))
def star_tuple(x, p):
    return (*p, x[0])


@case(x, np.array([1.0, 2.0, 3.0]))
def star_unpack2(x, p):
    return model(x, *(2 * p))


@case(x, np.array([1.0, 2.0, 3.0]))
def res(x, p):
    def r(q):
        return x - model(x, *q)

    return np.sum(r(p) ** 2)


@case(P)
def printzip(P):
    return [a + b for a, b in zip(*P.T, strict=False)]


@pytest.mark.parametrize("backend", ["numba", "numpy"])
@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_values_that_choose(function, arguments, backend):
    compiled = graph_jit(function, backend=backend)
    for _ in range(2):
        np.testing.assert_allclose(
            np.asarray(compiled(*arguments), float), np.asarray(function(*arguments), float), rtol=1e-12
        )


def test_one_version_serves_all_numbers_that_decide_nothing():
    compiled = graph_jit(lambda x, n, k: np.split(x, n)[0] * k)
    for k in range(3):
        np.testing.assert_array_equal(compiled(x[:6], 2, k), x[:3] * k)
    assert len(compiled.versions.all()) == 1
    compiled(x[:6], 3, 0)
    assert len(compiled.versions.all()) == 2
    assert "n = 3" in str(compiled.explain(x[:6], 3, 0))


def test_other_lengths_stay_symbolic_where_one_is_needed():
    compiled = graph_jit(lambda x, p: model(x, *p))
    for count in (3, 4, 5):
        np.testing.assert_allclose(compiled(np.ones(count), x[:3]), model(np.ones(count), *x[:3]))
    assert len(compiled.versions.all()) == 1


def test_many_values_are_warned_of():
    compiled = graph_jit(lambda x, f: f(x))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for k in range(20):
            compiled(x, lambda v, k=k: v * k)
    assert len(caught) == 1
    assert caught[0].category is RuntimeWarning
    assert "compiled for 16 values of 'f'" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_functions_are_guarded():
    scale = [2.0]

    def times(v):
        return v * scale[0]

    compiled = graph_jit(lambda x, f: f(x))
    np.testing.assert_array_equal(compiled(x, times), 2 * x)
    scale[0] = 3.0
    np.testing.assert_array_equal(compiled(x, times), 3 * x)


def test_floats_are_no_versions_where_a_truth_is_asked():
    with pytest.raises(errors.UnknownValueError, match="truth"):
        graph_jit(lambda t: 1.0 if t > 0 else 2.0, convert=False)(2.0)


def test_values_under_derivatives():
    found = graph_jit(grad(lambda x, axis: np.sum(np.cumsum(P * x, axis=axis))))(2.0, 1)
    assert found == pytest.approx(np.sum(np.cumsum(P, axis=1)))


def test_errors_are_those_of_the_value():
    with pytest.raises(np.exceptions.AxisError, match="axis 5 is out of bounds"), warnings.catch_warnings():
        graph_jit(lambda x, axis: x.sum(axis=axis))(P, 5)


def test_numbers_reach_functions_that_are_compiled_themselves():
    inner = graph_jit(lambda x, axis: x.sum(axis=axis))
    outer = graph_jit(lambda x, axis: inner(x, axis) + 1)
    for axis in (1, 0, np.int64(1)):
        np.testing.assert_array_equal(outer(P, axis), P.sum(axis=axis) + 1)


def test_quarters_are_those_of_the_number():
    compiled = graph_jit(np.rot90)
    for k in (np.int64(0), -1, 0, 1, np.int32(2), 5):
        np.testing.assert_array_equal(compiled(P, k), np.rot90(P, k))


FUNCTIONS = {1: np.sin, 2: np.cos}


@pytest.mark.parametrize("backend", ["numba", "numpy"])
@pytest.mark.parametrize(
    "function",
    [
        lambda v, k: FUNCTIONS[k + 1](v),
        lambda v, k: [np.sin, np.cos][k](v),
        lambda v, k: {0: v, 1: -v}[k],
        lambda v, k: v[{0: slice(0, 2), 1: slice(1, 3)}[k]],
        lambda v, k: v.astype([np.float32, np.int64][k]),
        lambda v, k: np.einsum(("i,i->", "i,j->ij")[k], v, v),
        lambda v, k: getattr(np, {0: "sin", 1: "cos"}[k])(v),
    ],
)
def test_numbers_choose_from_lists_and_dicts(function, backend):
    compiled = graph_jit(function, backend=backend)
    for k in (0, 1, 0):
        expected, found = function(x, k), compiled(x, k)
        np.testing.assert_allclose(found, expected, rtol=1e-14)
        assert found.dtype == expected.dtype
    with pytest.raises((IndexError, KeyError)):
        compiled(x, 7)


def test_truth_values_are_places_in_lists():
    def pick(x, which, below):
        return [x, -x, x + 1][which] + (x, 2 * x)[bool(x[0] < below)]

    compiled = graph_jit(pick)
    for which in (False, True, 2, -1):
        for below in (0.0, 9.0):
            np.testing.assert_array_equal(compiled(x, which, below), pick(x, which, below))
    with pytest.raises(TypeError, match="list indices must be integers or slices"):
        graph_jit(lambda x, which: [x, -x][which])(x, np.True_)

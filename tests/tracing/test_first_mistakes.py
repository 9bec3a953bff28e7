"""Mistakes of a first day: what an error says, and that its last frame is the user's."""

import functools
import math
import random
import re
import statistics
import traceback
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import fft, stats
from scipy.spatial import KDTree

import numbagraph as ng
from numbagraph import errors, graph_jit

X = np.arange(3.0)
WEIGHTS = np.ones(3)
KEPT: list = []
TREE = KDTree(X[:, None])


def absolute(x):
    return x if x > 0 else -x


@graph_jit
def total(x, weights):
    return np.sum(x * weights)


def scaled_constants(x):
    y = 2 * WEIGHTS
    y[1:] += x[1:]
    return y


def half_added(x):
    y = x.copy()
    y += 0.5
    return y


def factorial(n):
    return 1 if n <= 1 else n * factorial(n - 1)


def without_end(n):
    return without_end(n - 1) + 1


def changed_shared(x, flag):
    first, second = [1.0, 2.0], [3.0, 4.0]
    if flag > 0:
        chosen = first
    else:
        chosen = second
    chosen[0] = x[0]
    return first[0] + second[0]


def read_shared(x, flag):
    table = {"a": x}
    other = table if flag > 0 else {"a": x + 1}
    other["a"] = 2 * x
    return table["a"]


def other_carry(x):
    return ng.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1], 3), (0, x))


def text_of_error(x):
    try:
        return x[int(x[0]) + 7]
    except IndexError as error:
        return str(error)


def jax_inside(x):
    jax = pytest.importorskip("jax")
    return jax.numpy.sin(x)


MISTAKES = {
    "an argument is missing": (lambda: total(X), TypeError, r"total .*'weights'.*it takes \(x, weights\)"),
    "too many arguments": (lambda: total(X, X, X), TypeError, r"total .*too many.*\(x, weights\)"),
    "a keyword that is misspelt": (lambda: total(X, weight=X), TypeError, r"total .*\(x, weights\)"),
    "an array of texts": (lambda: total(np.array(["a"]), X), TypeError, "argument x: dtype <U1"),
    "a text": (lambda: total("a", X), TypeError, "an operand is of type str, which is no array and no number"),
    "None": (lambda: total(None, X), TypeError, "an operand is of type NoneType"),
    "a fraction": (lambda: total(Fraction(1, 3), X), TypeError, r"argument x is of type Fraction.*float\(...\)"),
    "a decimal inside": (lambda: graph_jit(lambda x: x * Decimal(2))(X), TypeError, r"of type Decimal.*float\(...\)"),
    "a class": (lambda: total(np.float32, X), TypeError, "an operand is the class float32, which is no array"),
    "an array of objects": (lambda: total(np.array([1, None]), X), TypeError, r"x: dtype object.*x.astype\(float\)"),
    "dates": (lambda: total(np.array(["2020-01-01"], "M8[D]"), X), TypeError, "x: dtype datetime64.*np.timedelta64"),
    "half precision": (lambda: total(X.astype(np.float16), X), TypeError, r"x: dtype float16.*astype\(np.float32\)"),
    "an axis": (lambda: graph_jit(np.sum)(np.ones((2, 2)), np.int64(0) + 2), ValueError, "axis 2 is out of bounds"),
    "a list that is kept": (
        lambda: graph_jit(KEPT.append)(X),
        errors.SideEffectError,
        "was changed while append was traced",
    ),
    "argnums by name": (lambda: ng.grad(absolute, argnums="x"), TypeError, "argnums takes the numbers.*argnames"),
    "a gradient of no function": (lambda: ng.grad(3.0), TypeError, "grad takes a function, not 3.0"),
    "a gradient of nothing": (lambda: ng.grad(lambda x: None)(1.0), errors.TraceError, "not no array"),
    "axes of too few arguments": (
        lambda: ng.vmap(total, in_axes=(0,))(X, X),
        ValueError,
        r"in_axes must be .*not \(0,\): tuple arity mismatch; expected: 1, got: 2$",
    ),
    "a signature": (lambda: ng.gufunc("(n)->"), ValueError, "should stand here"),
    "a step that gives no pair": (lambda: ng.scan(lambda c, x: c + x, 1.0, X), errors.TraceError, "must return a pair"),
    "shapes that do not fit": (lambda: total(X, X[:2]), ValueError, r"\(3,\) \(2,\)"),
    "an option that is misspelt": (lambda: graph_jit(absolute, paralel=True), TypeError, "paralel"),
    "a backend that is none": (lambda: graph_jit(absolute, backend="cuda"), ValueError, "numba, jax, numpy"),
    "a name that is no argument": (lambda: graph_jit(absolute, static_argnames="y"), ValueError, "'y'.*arguments: x"),
    "the same with a decorator": (lambda: graph_jit(static_argnames="y")(absolute), ValueError, "'y'.*arguments: x"),
    "what is no function": (lambda: graph_jit(3), TypeError, "compiles functions, not 3"),
    "the truth of an array": (lambda: graph_jit(absolute)(X), errors.TraceError, r"ambiguous: use .any\(\)"),
    "a function of numbers": (
        lambda: graph_jit(lambda x: math.sin(x))(X),
        errors.TraceError,
        r"sin\(\) takes one number, .*: np\.sin takes arrays",
    ),
    "a conversion of an array": (lambda: graph_jit(lambda x: float(x))(X), errors.TraceError, r"x\.astype\(float\)"),
    "a gradient of an array": (
        lambda: ng.grad(lambda x: x**2)(X),
        errors.TraceError,
        "jacrev has the derivatives of each",
    ),
    "argnums of too few arguments": (lambda: ng.grad(absolute, argnums=2)(1.0), TypeError, "argnums names argument 2"),
    "lengths of a batch": (lambda: ng.vmap(total)(np.ones((2, 3)), np.ones((4, 3))), ValueError, "vmap: axis 0"),
    "a batch of numbers": (lambda: ng.vmap(absolute)(1.0), ValueError, "has no axis 0"),
    "a position": (lambda: graph_jit(lambda x: x[7])(X), IndexError, "index 7 is out of bounds for axis 0 with size 3"),
    "an attribute": (lambda: graph_jit(lambda x: x.fooo)(X), AttributeError, "no attribute 'fooo'"),
    "tolist": (
        lambda: graph_jit(lambda x: x.tolist(), convert=False)(X),
        errors.UnknownValueError,
        "use the array itself",
    ),
    "a draw": (lambda: graph_jit(lambda x: x + np.random.rand())(X), errors.SideEffectError, "is an argument"),  # noqa: NPY002
    "a function of SciPy": (
        lambda: graph_jit(lambda x: stats.mode(x))(X),
        errors.TraceError,
        r"scipy.stats.mode is not supported in a traced function: values, counts = np.unique\(x",
    ),
    "a method in C": (
        lambda: graph_jit(lambda x: TREE.query(x[:, None])[0])(X),
        errors.TraceError,
        "converts its arguments.*numbagraph.pure_callback",
    ),
    "Python's random numbers": (
        lambda: graph_jit(lambda x: x + random.random())(X),
        errors.TraceError,
        "random.random answers otherwise.*numpy.random.Generator that is an argument",
    ),
    "an array of constants that is assigned to": (
        lambda: graph_jit(scaled_constants)(X),
        errors.TraceError,
        r"out= of add must be one traced array.*y = np.array\(y\)",
    ),
    "a function of JAX": (lambda: graph_jit(jax_inside)(X), TypeError, "Tracer"),
    "out of another shape": (lambda: total(X, X, out=np.ones(2)), ValueError, r"out= of total .*shape \(2,\)"),
    "half added to integers": (
        lambda: graph_jit(half_added)(np.arange(3)),
        errors.TraceError,
        r"Cannot cast ufunc 'add' output from dtype\('float64'\) to dtype\('int64'\) .*: write x = np.add\(x, y\)",
    ),
    "a recursion that values end": (
        lambda: graph_jit(factorial)(5.0),
        errors.TraceError,
        "factorial calls itself as often as traced values say, .*write a loop, or let a number or a text",
    ),
    "a recursion without end": (
        lambda: graph_jit(without_end)(5),
        RecursionError,
        "without_end has called itself so often while it was traced. Write a loop, or a case",
    ),
    "a list that is one of two": (
        lambda: graph_jit(changed_shared)(X, 1.0),
        errors.CaptureError,
        r"that two variables may share \('chosen', 'first' and 'second'\): .*Copy it first",
    ),
    "a dict that is one of two": (
        lambda: graph_jit(read_shared)(X, 1.0),
        errors.CaptureError,
        r"may be out of date: .* \('other' and 'table'\). Use that name, or copy first",
    ),
    "a carry of another structure": (
        lambda: graph_jit(other_carry)(X),
        errors.TraceError,
        "it takes, a tuple of 2 arrays or numbers, not a tuple of 3 arrays or numbers",
    ),
    "the text of an error": (
        lambda: graph_jit(text_of_error)(X),
        errors.CaptureError,
        "the error that `except ... as` names is not known",
    ),
    "results of two branches": (
        lambda: graph_jit(lambda x: ng.cond(x > 0, lambda: x, lambda: (x, x)))(1.0),
        errors.TraceError,
        "gives an array or a number, and .* gives a tuple of 2 arrays or numbers: let both give",
    ),
    "a length that is a float": (
        lambda: graph_jit(lambda n: np.zeros(n))(3.0),
        TypeError,
        "a length must be an integer, not Python float",
    ),
    "a gradient of two": (
        lambda: ng.grad(lambda x: (x, x))(2.0),
        errors.TraceError,
        "Python float: has_aux=True takes",
    ),
    "a method that is misspelt": (
        lambda: graph_jit(lambda x: x.meen())(X),
        AttributeError,
        "no attribute 'meen': did you mean 'mean'\\?",
    ),
    "an attribute that is misspelt": (
        lambda: graph_jit(lambda x: x.shpae)(X),
        AttributeError,
        "no attribute 'shpae': did you mean 'shape'\\?",
    ),
    "a function of NumPy's that is misspelt": (
        lambda: graph_jit(lambda x: np.summ(x))(X),
        AttributeError,
        "module 'numpy' has no attribute 'summ': did you mean 'sum'\\?",
    ),
    "a keyword of NumPy's that is misspelt": (
        lambda: graph_jit(lambda x: np.sum(x, axes=0))(X),
        TypeError,
        r"sum\(\) got an unexpected keyword argument 'axes': did you mean 'axis'\?",
    ),
    "a keyword of a method that is misspelt": (
        lambda: graph_jit(lambda x: x.sum(axes=0))(X),
        TypeError,
        r"sum\(\) got an unexpected keyword argument 'axes': did you mean 'axis'\?",
    ),
    "an option that is nearly right": (
        lambda: graph_jit(absolute, static_argname="x"),
        TypeError,
        r"graph_jit\(\) got an unexpected keyword argument 'static_argname': did you mean 'static_argnames'\?",
    ),
    "an option of a derivative": (lambda: ng.grad(absolute, argnum=0), TypeError, "did you mean 'argnums'"),
    "an array that is called": (
        lambda: graph_jit(lambda x: x(1))(X),
        TypeError,
        "'numpy.ndarray' object is not callable",
    ),
    "arrays that do not stack": (
        lambda: graph_jit(lambda x, y: np.stack([x, y]))(X, X[:2]),
        errors.ShapeError,
        r"must have the same shape, not \(3,\) and \(2,\)",
    ),
    "a list of arrays of other lengths": (
        lambda: total(X, [X, X[:2]]),
        errors.ShapeError,
        r"must have the same shape, not \(3,\) and \(2,\)",
    ),
    "a sum over other lengths": (
        lambda: graph_jit(lambda x, y: np.einsum("i,i", x, y))(X, X[:2]),
        errors.ShapeError,
        "lengths of the dimensions 'i' differ: 3 and 2",
    ),
    "parts of one length": (
        lambda: graph_jit(lambda x: np.split(x, 2))(X),
        errors.ShapeError,
        "equal division of 3 elements into 2 parts: np.array_split",
    ),
    "a cotangent": (
        lambda: ng.vjp(lambda x: x**2, X)[1](X[:2]),
        errors.ShapeError,
        r"a cotangent of shape \(2,\) must be \(3,\), the shape of its result",
    ),
    "out of another structure": (
        lambda: total(X, X, out=(np.ones(()), np.ones(()))),
        ValueError,
        "is a tuple of 2 arrays or numbers, and the result is an array or a number: pass arrays in that structure",
    ),
    "an index that is a float": (
        lambda: graph_jit(lambda x, i: x[i])(X, 1.5),
        IndexError,
        r"of integer \(or boolean\) type, not float64: x\[i.astype\(int\)\]",
    ),
    "no solution": (lambda: graph_jit(np.linalg.inv)(np.zeros((2, 2))), np.linalg.LinAlgError, "Singular"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake(mistake, monkeypatch):
    monkeypatch.delenv("NUMBAGRAPH_DEBUG", raising=False)
    call, kind, text = MISTAKES[mistake]
    with pytest.raises(kind, match=text) as caught:
        call()
    frames = [each.filename for each in traceback.extract_tb(caught.value.__traceback__)]
    shown = "".join(traceback.format_exception(caught.value))
    assert not re.search(r"_numbagraph_|PyTreeSpec|\bweak\b|Unseen|During handling|direct cause", shown)
    assert frames[-1] == __file__ or "site-packages" in frames[-1]
    assert not any(each.startswith(str(Path(ng.__file__).parent)) for each in frames)
    if kind.__module__.startswith("numbagraph"):
        assert type(caught.value).__module__ == "numbagraph.errors"


class Result:
    def __init__(self, x):
        self.x = x


@pytest.mark.parametrize(
    "function",
    [Result, lambda x: (x, [Result(2 * x)]), lambda x: lambda y: x + y, lambda x: functools.partial(np.add, x)],
    ids=["object", "tree", "closure", "partial"],
)
def test_objects_that_hold_traced_arrays_are_no_results(function):
    with pytest.raises(errors.TraceError, match=r"returns a \w+ that holds traced arrays.*make it outside"):
        graph_jit(function)(X)


def test_objects_that_hold_none_are_results():
    kept = Result(X)
    assert graph_jit(lambda x: (x, kept))(1.0)[1] is kept


def test_another_library_asks_for_values():
    with pytest.raises(errors.UnknownValueError, match=r"statistics.mean wants the values themselves.*pure_callback"):
        graph_jit(lambda x: statistics.mean(x))(X)


def test_a_function_of_jax_has_advice():
    with pytest.raises(TypeError) as caught:
        graph_jit(jax_inside)(X)
    assert any("np.sin for jnp.sin" in each for each in caught.value.__notes__)


def test_from_jax_names_the_argument():
    jax = pytest.importorskip("jax")
    with pytest.raises(TypeError, match="argument a: dtype <U1 is not supported") as caught:
        ng.from_jax(jax.numpy.sum)(np.array(["a"]))
    assert traceback.extract_tb(caught.value.__traceback__)[-1].filename == __file__
    with pytest.raises(TypeError, match="argument x: dtype <U1 is not supported"):
        ng.to_jax(lambda x: x)(np.array(["a"]))


def test_debugging_shows_all_frames(monkeypatch):
    monkeypatch.setenv("NUMBAGRAPH_DEBUG", "1")
    with pytest.raises(errors.TraceError) as caught:
        ng.grad(lambda x: x**2)(X)
    frames = [each.filename for each in traceback.extract_tb(caught.value.__traceback__)]
    shown = "".join(traceback.format_exception(caught.value))
    assert not re.search(r"_numbagraph_|PyTreeSpec|\bweak\b|Unseen|During handling|direct cause", shown)
    assert any(each.startswith(str(Path(ng.__file__).parent)) for each in frames)


def test_a_function_of_scipy_in_code_without_source():
    compiled = graph_jit(eval("lambda x: fft.dct(x)", {"fft": fft}))
    with pytest.raises(errors.TraceError, match="Define <lambda> in a file: its source is not known"):
        compiled(X)

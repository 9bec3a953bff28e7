"""`debug_nans`: errors that name the operation which made a NaN."""

import pickle
import threading

import numpy as np
import pytest

import numbagraph
from numbagraph import (
    CheckError,
    check,
    cond,
    debug_nans,
    debug_print,
    grad,
    graph_jit,
    pure_callback,
    scan,
    shared,
    vmap,
    while_loop,
)

BACKENDS = pytest.mark.parametrize("backend", ["numba", "numpy", "jax"])


def log_or_zero(x):
    return np.where(x > 0, np.log(x), 0.0)


def line_of(text):
    """The number of the line of this file that has a text, the first time."""
    with open(__file__) as file:
        return next(number for number, line in enumerate(file, start=1) if text in line)


@BACKENDS
def test_the_operation_that_made_it_and_its_line(backend):
    def f(x):
        y = log_or_zero(x)  # NaN that is not chosen
        z = x - 3.0
        z = np.sqrt(z)  # here
        return np.sum(y) * z + 1

    compiled = graph_jit(f, backend=backend)
    x = np.array([1.0, -1.0, 4.0])
    expected = rf"element \[0\] of sqrt\(-2.0\) is NaN(.|\n)*in sqrt\(float64\[3\]\)\n  at .*:{line_of('# here')}\b"
    for _ in range(2):
        assert np.isnan(compiled(x)).tolist() == [True, True, False]
        with debug_nans(), pytest.raises(FloatingPointError, match=expected):
            compiled(x)
        with debug_nans():
            np.testing.assert_array_equal(compiled(np.full(3, 4.0)), np.full(3, np.log(4.0) * 3 + 1))


@BACKENDS
def test_what_comes_from_arguments_and_constants_is_no_error(backend):
    table = np.array([np.nan, 1.0])
    compiled = graph_jit(lambda x, i: (np.sqrt(x), table[i], np.full(2, np.nan), float("nan")), backend=backend)
    with debug_nans():
        for found in compiled(np.array([np.nan, 4.0]), 0):
            assert np.isnan(found).any()
        with pytest.raises(FloatingPointError, match=r"element \[1\] of sqrt\(-4.0\)"):
            compiled(np.array([np.nan, -4.0]), 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_dtypes(dtype):
    compiled = graph_jit(lambda x: x / x)
    with debug_nans(), pytest.raises(FloatingPointError, match=r"element \[1\] of divide"):
        compiled(np.array([1, 0], dtype))


def test_infinities_are_asked_for():
    compiled = graph_jit(lambda x: np.sum(1 / x))
    x = np.array([1.0, 0.0])
    with debug_nans():
        assert compiled(x) == np.inf
    with debug_nans("inf"):
        with pytest.raises(FloatingPointError, match=r"element \[1\] of divide\(1(.0)?, 0.0\) is NaN or infinite"):
            compiled(x)
        assert graph_jit(lambda x: x + 1)(np.inf) == np.inf


def python_loop(x, n):
    for _ in range(n):
        x = np.sqrt(x - 1.0)
    return x


def python_while(x, n):
    i = 0
    while i < n:
        x, i = np.sqrt(x - 1.0), i + 1
    return x


def scanned(x, n):
    return scan(lambda x, _: (np.sqrt(x - 1.0), None), x, None, n)[0]


@pytest.mark.parametrize("loop", [python_loop, python_while, scanned])
def test_the_step_of_a_loop(loop):
    compiled = graph_jit(loop, debug_nans=True)
    with np.errstate(invalid="ignore"):
        expected = next(n for n in range(10) if np.isnan(python_loop(9.0, n))) - 1
    assert compiled(9.0, expected) == python_loop(9.0, expected)
    for n in (expected + 1, 9):
        with pytest.raises(FloatingPointError, match=rf"sqrt\(-0.4\d*\) is NaN(.|\n)*in step {expected}\n"):
            compiled(9.0, n)


def test_loops_in_loops_and_branches():
    def f(x):
        def inner(y, _):
            return cond(y < 2.0, lambda y: np.log(y), lambda y: y / 2, y), None

        return while_loop(lambda s: s[1] < 9, lambda s: (scan(inner, s[0], None, 2)[0], s[1] + 1), (x, 0))[0]

    pattern = (
        r"log\(-[\d.]*\) is NaN(.|\n)*in a branch(.|\n)*in step 1(.|\n)*in a loop(.|\n)*in step \d(.|\n)*in a loop"
    )
    with debug_nans(), pytest.raises(FloatingPointError, match=pattern):
        graph_jit(f)(3.0)


def test_a_carry_that_starts_as_nan_is_no_error():
    def best(x):
        return scan(lambda best, x: (np.fmax(best, x), None), np.nan, x)[0]

    with debug_nans():
        assert graph_jit(best)(np.array([1.0, 3.0, 2.0])) == 3.0
        assert np.isnan(graph_jit(best)(np.zeros(0)))


def test_derivatives_and_batches():
    def norm(x):
        return np.sqrt(np.sum(x**2))

    with debug_nans():
        np.testing.assert_allclose(grad(norm)(np.array([3.0, 4.0])), [0.6, 0.8])
        with pytest.raises(FloatingPointError, match=f"{line_of('np.sqrt(np.sum(x**2))')}"):
            grad(norm)(np.zeros(2))
        with pytest.raises(FloatingPointError, match=r"element \[1\] of sqrt\(-1.0\)"):
            vmap(np.sqrt)(np.array([1.0, -1.0]))


def test_late_lengths():
    compiled = graph_jit(lambda x: np.sort(np.log(x[x != 0])), debug_nans=True)
    np.testing.assert_array_equal(compiled(np.array([2.0, 0.0, 1.0])), np.log([1.0, 2.0]))
    with pytest.raises(FloatingPointError, match=r"element \[0\] of log\(-2.0\)"):
        compiled(np.array([-2.0, 0.0, 1.0]))


def test_nothing_is_written():
    counter = shared(0)

    @graph_jit(donate_argnames="y")
    def f(x, y):
        x += 1.0
        counter.value += 1
        return np.sqrt(y)

    x, y = np.zeros(2), np.array([1.0, -1.0])
    with debug_nans():
        with pytest.raises(FloatingPointError, match=r"sqrt\(-1.0\)"):
            f(x, y)
        assert (x.tolist(), y.tolist(), counter.value) == ([0.0, 0.0], [1.0, -1.0], 0)
        f(x, np.ones(2))
        assert (x.tolist(), counter.value) == ([1.0, 1.0], 1)
    out = np.zeros(2)
    compiled = graph_jit(np.sqrt)
    with debug_nans():
        assert compiled(np.array([4.0, 1.0]), out=out) is out
        with pytest.raises(FloatingPointError, match=r"sqrt\(-1.0\)"):
            compiled(y, out=out)
    assert out.tolist() == [2.0, 1.0]
    assert np.isnan(compiled(y, out=out)[1])


def test_results_that_are_written_into_arguments():
    @graph_jit
    def f(x):
        x[0] = np.log(x[1])

    x = np.array([1.0, -1.0])
    with debug_nans(), pytest.raises(FloatingPointError, match=r"log\(-1.0\)"):
        f(x)
    assert x.tolist() == [1.0, -1.0]
    f(x)
    assert np.isnan(x[0])


def test_callbacks_prints_and_checks(capsys):
    def half(x):
        return x / 2

    @graph_jit(debug_nans=True)
    def f(x):
        debug_print("x = {}", x)
        check(x != 0, "zero")
        return np.sqrt(pure_callback(half, numbagraph.Abstract(()), x))

    assert f(8.0) == 2.0
    with pytest.raises(FloatingPointError, match=r"sqrt\(-4.0\)"):
        f(-8.0)
    assert capsys.readouterr().out.splitlines() == ["x = 8.0", "x = -8.0"]
    with pytest.raises(CheckError, match="zero"):
        f(0.0)


def test_blocks_options_and_threads():
    compiled, watched = graph_jit(np.sqrt), graph_jit(np.sqrt, debug_nans=True)
    copy = pickle.loads(pickle.dumps(watched))
    for each in (watched, copy):
        with pytest.raises(FloatingPointError):
            each(-1.0)
        with debug_nans(False):
            assert np.isnan(each(-1.0))
    found = []
    with debug_nans():
        thread = threading.Thread(target=lambda: found.append(compiled(-1.0)))
        thread.start()
        thread.join()
        with debug_nans(False):
            assert np.isnan(compiled(-1.0))
        with pytest.raises(FloatingPointError):
            compiled(-1.0)
    assert np.isnan(found).all()
    assert np.isnan(compiled(-1.0))
    for wrong in ("nan", 2, None):
        with pytest.raises(ValueError, match="debug_nans is True, False"):
            debug_nans(wrong)
        with pytest.raises(ValueError, match="debug_nans is True, False"):
            graph_jit(np.sqrt, debug_nans=wrong)


def test_what_numpy_computes_otherwise():
    """Where only compiled code makes a NaN, that is said."""
    from numbagraph.jit import debug_nans as nans

    compiled = graph_jit(lambda x: x + 1.0)
    compiled(2.0)
    (group,) = compiled.versions._traced.values()
    (traced,) = group.values()
    traced.watched = "nan"
    with pytest.raises(FloatingPointError, match="NumPy does not"):
        nans.look(traced, (2.0,), np.float64(np.nan))

"""What errors say to those who write for NumPy what a traced function cannot do, and what their tracebacks show."""

from __future__ import annotations

import math
import pickle
import sys
import traceback
import types

import numpy as np
import pytest
from numba import njit

import numbagraph
from numbagraph import errors, grad, graph_jit, gufunc, vmap

X = np.arange(4.0)


class Foreign:
    """An array of another library, of which NumPy knows nothing."""

    shape, dtype = (4,), "float32"

    def __init__(self, device):
        self.device = device

    def __dlpack__(self, **_options):
        raise BufferError("of a kind of its own")

    def __dlpack_device__(self):
        return self.device


class Model:
    def __init__(self):
        self.calls, self.seen = 0, []

    @graph_jit
    def counting(self, x):
        self.calls += 1
        return x * self.calls

    @graph_jit
    def keeping(self, x):
        self.seen.append(x)
        return x


kept = []


def keep(x):
    kept.append(x)
    return x


def of_a_library(x):
    return __import__("scipy.integrate").integrate.quad(lambda t: t * x[0], 0, 1)[0]


CASES = {
    "float": (lambda x: math.sin(float(x[0])), {"convert": False}, errors.UnknownValueError, ["float()", "NumPy's"]),
    "int": (lambda x: int(x[0]), {"convert": False}, errors.UnknownValueError, ["int()", "x.astype(int)"]),
    "item": (lambda x: x[0].item(), {"convert": False}, errors.UnknownValueError, ["item()", "leave it out"]),
    "tolist": (
        lambda x: x.tolist(),
        {"convert": False},
        errors.UnknownValueError,
        ["tolist()", "make the list outside"],
    ),
    "if of one": (
        lambda x: 1 if x[0] else 2,
        {"convert": False},
        errors.UnknownValueError,
        ["truth", "numbagraph.cond"],
    ),
    "if of many": (lambda x: 1 if x else 2, {}, TypeError, [".any() or .all()"]),
    "range": (
        lambda x: sum(range(x[0])),
        {"convert": False},
        errors.UnknownValueError,
        ["fori_loop", "static_argnames"],
    ),
    "sorted": (lambda x: sorted(x), {"convert": False}, errors.UnknownValueError, ["np.sort"]),
    "max": (lambda x: max(x, 0), {}, errors.TraceError, ["np.maximum"]),
    "in": (lambda x: 1.0 in x, {"convert": False}, errors.UnknownValueError, ["np.isin"]),
    "dict": (lambda x: {x[0]: 1}, {}, errors.CaptureError, ["key of type float64", "np.unique"]),
    "len": (lambda x: len(x), {"convert": False}, errors.UnknownValueError, ["x.shape[0]"]),
    "text": (lambda x: f"{x[0]:.3f}", {}, errors.UnknownValueError, ["debug_print", "outside"]),
    "text around": (lambda x: f"mean {x.mean()}", {}, errors.UnknownValueError, ["debug_print", "outside"]),
    "array of lists": (lambda x: np.asarray(x).__array__(), {}, errors.TraceError, ["np.stack"]),
    "random": (lambda x: x + np.random.normal(), {}, errors.SideEffectError, ["pass what it returns"]),  # noqa: NPY002
    "global": (keep, {}, errors.SideEffectError, ["kept", "once"]),
    "float index": (lambda x: x[x[0]], {}, IndexError, ["integer"]),
    "shapes": (lambda x: x + np.ones(3), {}, errors.ShapeError, ["add", "(4,)", "(3,)"]),
    "library": (of_a_library, {}, errors.UnknownValueError, ["pure_callback", __file__]),
}


def caught(function, *args, **options):
    try:
        graph_jit(function, **options)(*args)
    except Exception as error:  # noqa: BLE001  of any kind
        return error
    raise AssertionError("there was no error")


@pytest.mark.parametrize("name", CASES)
def test_advice(name):
    function, options, kind, parts = CASES[name]
    error = caught(function, X, **options)
    assert isinstance(error, kind)
    assert issubclass(kind, (errors.TraceError, IndexError, ValueError, TypeError))
    for part in parts:
        assert part in str(error)
    if name not in ("text", "text around"):
        assert __file__ in str(error), "the line is missing"


@pytest.mark.parametrize("method", ["counting", "keeping"])
def test_what_self_has(method):
    model = Model()
    with pytest.raises(errors.SideEffectError, match="once, so later calls would not"):
        getattr(model, method)(X)
    assert model.calls == 0
    assert model.seen == []


def test_what_works_as_it_is_written():
    """Advice would be wrong here: these are captured."""

    @njit
    def callee(x):
        return x.sum() + 1

    def listed(x):
        found = []
        for i in range(len(x)):
            found.append(2 * x[i])
        return np.array(found)

    assert graph_jit(callee)(X) == 7
    np.testing.assert_array_equal(graph_jit(lambda x: callee(x) * x)(X), 7 * X)
    np.testing.assert_array_equal(graph_jit(listed)(X), 2 * X)
    np.testing.assert_array_equal(graph_jit(lambda x: np.where(x > 1)[0])(X), [2, 3])
    assert graph_jit(lambda x: math.sin(float(x[1])))(X) == np.sin(1.0)
    assert graph_jit(lambda x: x[1].item() if x[1] > 0 else 0.0)(X) == 1


@pytest.mark.parametrize(
    ("device", "words"), [((2, 1), "on a device (CUDA, number 1)"), ((1, 0), "of a kind of its own")]
)
def test_arrays_of_other_libraries(device, words):
    error = caught(lambda x: x * 2, Foreign(device))
    assert isinstance(error, TypeError)
    assert "argument x is a Foreign of tests" in str(error)
    assert words in str(error)
    assert device[0] == 1 or "jax.jit(numbagraph.to_jax(f))" in str(error)


def test_a_method_that_is_differentiated():
    class Energy:
        scale = 2.0

        @grad
        def wrong(self, x):
            return np.sum(x**2) * self.scale

        def plain(self, x):
            return np.sum(x**2) * self.scale

        outermost = graph_jit(wrong)
        right = graph_jit(grad(plain, argnums=1))

    with pytest.raises(TypeError, match="argnums=1"):
        Energy().outermost(X)
    with pytest.raises(TypeError, match="argnums=1"):
        Energy().wrong(X)
    np.testing.assert_array_equal(Energy().right(X), 4 * X)


@pytest.mark.parametrize("name", ["mutates", "paralel"])
def test_options_of_gufuncs(name):
    with pytest.raises(TypeError, match=rf"gufunc\(\) got an unexpected keyword argument '{name}'"):
        gufunc("(n)->()", **{name: "x"})


def test_a_list():
    error = caught(lambda x: x**2, [3.0, 4.0])
    assert isinstance(error, TypeError)
    assert "np.array" in error.__notes__[0]
    assert not hasattr(caught(lambda x: x**2 + "a", 3.0), "__notes__")


# ---- tracebacks ----


def files(error):
    return [frame.filename for frame in traceback.extract_tb(error.__traceback__)]


def own(error):
    return [file for file in files(error) if "/numbagraph/" in file.replace("\\", "/")]


CALLS = {
    "call": lambda f: graph_jit(f)(X),
    "grad": lambda f: grad(f)(X),
    "vmap": lambda f: vmap(f)(np.ones((2, 4))),
    "gufunc": lambda f: gufunc("(n)->()")(f)(X),
    "graph": lambda f: graph_jit(f).graph(X),
    "explain": lambda f: graph_jit(f).explain(X),
    "warmup": lambda f: graph_jit(f).warmup(X),
    "numpy": lambda f: graph_jit(f, backend="numpy")(X),
}


def refused(x):
    return hash(x.sum())


@pytest.mark.parametrize("name", CALLS)
def test_the_users_frame_is_the_last_one(name, monkeypatch):
    monkeypatch.delenv("NUMBAGRAPH_DEBUG", raising=False)
    with pytest.raises(errors.TraceError) as found:
        CALLS[name](refused)
    error = found.value
    assert files(error)[-1] == __file__
    assert traceback.extract_tb(error.__traceback__)[-1].name == "refused"
    assert len(own(error)) <= 4
    assert error.__cause__ is None
    assert error.__context__ is None


def test_all_frames_for_those_who_ask(monkeypatch):
    monkeypatch.setenv("NUMBAGRAPH_DEBUG", "1")
    error = caught(refused, X)
    assert len(own(error)) > 8
    assert files(error)[-1] != __file__


def test_errors_of_users_keep_their_causes():
    def failing(x):
        try:
            {}["key"]
        except KeyError as error:
            raise RuntimeError("in the user's own words") from error
        return x

    error = caught(failing, X)
    assert isinstance(error, RuntimeError)
    assert isinstance(error.__cause__, KeyError)
    assert traceback.extract_tb(error.__cause__.__traceback__)[-1].name == "failing"


def test_a_singular_matrix_is_told_in_one_error():
    error = caught(np.linalg.inv, np.zeros((2, 2)))
    assert isinstance(error, np.linalg.LinAlgError)
    assert error.__cause__ is None


def test_one_base():
    for kind in (errors.CaptureError, errors.EscapedError, errors.SideEffectError, errors.UnknownValueError):
        assert issubclass(kind, numbagraph.TraceError)
        assert type(pickle.loads(pickle.dumps(kind("text")))) is kind


def test_cells_of_a_notebook(monkeypatch):
    """IPython's own name for a cell stands in place of the file that it pretends to compile."""
    names = {"/tmp/ipykernel_1/234.py": ("Cell", "In[7]")}
    compiler = types.SimpleNamespace(format_code_name=names.get)
    shell = types.SimpleNamespace(compile=compiler)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    space = {"np": np}
    exec(compile("\ndef f(x):\n    return hash(x.sum())\n", "/tmp/ipykernel_1/234.py", "exec"), space)
    error = caught(space["f"], X)
    assert "at Cell In[7], line 3" in str(error)
    assert "ipykernel" not in str(error)

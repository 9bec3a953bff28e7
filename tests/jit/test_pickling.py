"""Functions that `pickle` and `copy` take: compiled and transformed ones, with the name that they had or without."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

from numbagraph import (
    custom_vjp,
    grad,
    graph_jit,
    gufunc,
    hessian,
    jacfwd,
    jacrev,
    special,
    value_and_grad,
    vectorize,
    vmap,
)

X = np.arange(1.0, 4.0)


def cubes(x):
    return np.sum(x**3)


@graph_jit
def compiled(x):
    return np.sum(x**3)


@grad
def gradient(x):
    return np.sum(x**3)


@graph_jit
@grad
def compiled_gradient(x):
    return np.sum(x**3)


@gufunc("(n)->()")
def total(x):
    return np.sum(x)


@custom_vjp
def ruled(x):
    return np.sum(x**3)


def forward(x):
    return cubes(x), x


def backward(x, g):
    return (g * 30 * x**2,)


ruled.defvjp(forward, backward)
other = custom_vjp(cubes)
other.defvjp(forward, backward)


class Model:
    def __init__(self):
        self.scale = 2.0

    @graph_jit
    def scaled(self, x):
        return x * self.scale


NAMED = [compiled, gradient, compiled_gradient, total, ruled, special.softmax]
"""Those that stand in a module under the name of the function that they were made of."""
MADE = {
    "grad": grad(cubes),
    "grad of a compiled function": grad(compiled),
    "grad of what is named": hessian(gradient),
    "grad of a rule": grad(ruled),
    "grad of another rule": grad(other),
    "jacrev of grad": jacrev(grad(cubes)),
    "compiled grad": graph_jit(grad(cubes), parallel=True),
    "value_and_grad": value_and_grad(cubes, has_aux=False),
    "hessian": hessian(cubes),
    "jacfwd": jacfwd(cubes),
    "vmap": vmap(np.sqrt, in_axes=0),
    "vectorize": vectorize(np.sqrt),
    "vectorize with a signature": vectorize(cubes, signature="(n)->()"),
    "compiled anew": graph_jit(compiled, backend="numpy"),
    "a method": Model().scaled,
    "a rule": other,
}
WAYS = {"pickle": lambda each: pickle.loads(pickle.dumps(each)), "deepcopy": copy.deepcopy}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("function", NAMED, ids=lambda each: type(each).__name__)
def test_what_a_name_stands_for_stays_the_same_object(function, way):
    assert WAYS[way](function) is function


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MADE)
def test_what_was_made_is_made_again(name, way):
    function = MADE[name]
    again = WAYS[way](function)
    assert type(again) is type(function)
    for left, right in zip(np.atleast_1d(*pair(again(X))), np.atleast_1d(*pair(function(X))), strict=True):
        np.testing.assert_array_equal(left, right)
    for option in ("parallel", "backend"):
        assert getattr(again, option, None) == getattr(function, option, None)


def pair(results):
    """Two arrays, of whatever a function gives."""
    return results if isinstance(results, tuple) else (results, results)


SCRIPT = """
import joblib
import numpy as np
import numbagraph as ng

FACTOR = 3.0

def helper(x):
    return x * FACTOR

@ng.graph_jit
def total(x):
    s = 0.0
    for v in x:
        if v > 0:
            s += helper(v)
    return s

@ng.graph_jit
def above(x):
    return total(x) + 1

@ng.grad
def slope(x):
    return np.sum(helper(x) ** 2)

@ng.gufunc("(n)->()")
def mean(x):
    return np.sum(x) / len(x)

if __name__ == "__main__":
    x = np.arange(3.0)
    calls = [joblib.delayed(function)(x) for function in (total, above, slope, mean)]
    print(*joblib.Parallel(n_jobs=2)(calls))
"""


def test_functions_of_a_script_for_workers_that_do_not_run_it(tmp_path):
    pytest.importorskip("joblib")
    path = tmp_path / "script.py"
    path.write_text(SCRIPT, encoding="utf-8")
    found = subprocess.run([sys.executable, str(path)], check=False, capture_output=True, text=True)
    assert found.stdout == "9.0 10.0 [ 0. 18. 36.] 1.0\n", found.stderr


def test_a_name_that_is_not_there_any_more(monkeypatch):
    data = pickle.dumps(compiled)
    monkeypatch.delattr(sys.modules[__name__], "compiled")
    with pytest.raises(AttributeError, match="the compiled function compiled is not to be found in"):
        pickle.loads(data)

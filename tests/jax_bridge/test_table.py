"""Each row of the table of JAX's primitives beside JAX: at special numbers, at singular matrices, out of bounds. A row
without a case fails."""

import functools
import warnings

import numpy as np
import pytest

import numbagraph

jax = pytest.importorskip("jax")
from jax import lax  # noqa: E402
from jax import numpy as jnp  # noqa: E402

from numbagraph.jax_bridge.imported import TABLE  # noqa: E402
from tests.support.from_jax import check, check_gradient, require_same  # noqa: E402

with jax.enable_x64(True):
    from tests.support.jax_elementwise import ELEMENTWISE
    from tests.support.jax_programs import LATER, LINEAR, PROGRAMS
    from tests.support.jax_structure import STRUCTURE

CASES = {**ELEMENTWISE, **STRUCTURE, **PROGRAMS}
SAME = {
    "closed_call": "jit",
    "copy_p": "copy",
    "core_call": "jit",
    "custom_vjp_call_jaxpr": "custom_vjp_call",
    "empty2": "empty",
    "pjit": "jit",
    "pvary": "copy",
    "remat": "checkpoint",
    "remat2": "checkpoint",
    "add_any": "add",
}
"""Rows with the translation of another one, for names that JAX had, or that few of its transformations make."""
BY_ORDER = {name for name in CASES if name.startswith(("reduce_m", "reduce_window_m", "cumm", "scatter-m"))}
"""Which of several zeros is the extremum of many numbers, nobody says."""
UNSIGNED = {*LINEAR, *BY_ORDER, "pow"}
"""Rows whose zeros have any sign (docs/limits.md)."""


@pytest.fixture(autouse=True)
def wide():
    with jax.enable_x64(True):
        yield


def together(name):
    """All cases of a row as one function, which takes their arguments."""
    functions = [function for function, *_ in CASES[name]]
    return lambda groups: [function(*args) for function, args in zip(functions, groups, strict=True)]


def check_row(name):
    """A row gives what JAX gives, of arguments and of what is known while the function is traced."""
    function, groups = together(name), [args for _, *args in CASES[name]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)  # JAX's, of conversions
        expected = jax.jit(function)(groups)
        found = numbagraph.from_jax(function)(groups)
        folded, _ = numbagraph.from_jax(lambda x: (function(jax.tree.map(jnp.asarray, groups)), x))(0.0)
    for each in (found, folded):
        require_same(each, expected, signs=name not in UNSIGNED)


def require_cases(table):
    assert {*table} == {*CASES, *SAME}
    assert {*SAME.values()} <= {*CASES}
    assert all(CASES.values())


def test_each_row_has_a_case():
    require_cases(TABLE)


@pytest.fixture
def used(monkeypatch):
    """The names of the rows that are used."""
    names = set()

    def noted(name, translate, *given):
        names.add(name)
        return translate(*given)

    for name, translate in [*TABLE.items()]:
        monkeypatch.setitem(TABLE, name, functools.partial(noted, name, translate))
    return names


@pytest.mark.repeats(but_each=1)
@pytest.mark.parametrize("name", CASES)
def test_row(name, used):
    check_row(name)
    assert name in used or name in LATER or any(SAME.get(each) == name for each in used)


ZEROS = np.array([0.0, -0.0, 0.3, -0.4, 0.3])
DERIVED = {
    "maximum": lambda x: lax.max(x, x[::-1]) * lax.max(x, 0.0),
    "minimum": lambda x: lax.min(x, x[::-1]) * lax.min(x, -0.0),
    "clamp": lambda x: lax.clamp(-0.2, x, 0.2) * 2.0,
    "odd functions": lambda x: lax.erf_inv(x) + lax.bessel_i1e(x) * lax.sign(x),
    "powers": lambda x: lax.integer_pow(lax.complex(x, x + 1.0), -3).real,
    "roots": lambda x: lax.sqrt(lax.complex(x - 1.0, 0.0 * x)).imag + lax.acosh(lax.complex(x + 1.5, -0.0 * x)).real,
    "circles": lambda x: lax.exp(lax.complex(x, 0.0 * x)).real * lax.sin(lax.complex(0.0 * x, x)).imag,
    "precision": lambda x: lax.reduce_precision(x, 8, 7) * x,
    "solutions": lambda x: jnp.linalg.solve(jnp.diag(x + 1.0), x),
}


@pytest.mark.repeats(but_each=1)
@pytest.mark.parametrize("name", DERIVED)
def test_derivatives(name):
    check_gradient(lambda x: jnp.sum(DERIVED[name](x)), ZEROS)


def applied(x, i):
    return x.at[i].apply(lambda v: v * v + 1.0)


def test_functions_of_elements():
    """They are applied once for each position that names an element; in loops, batches and derivatives as well."""
    x, i = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2, 0, 2, 9, -1])
    check(applied, x, i)
    check(applied, x, i[:0])
    check(applied, x[:1], i)
    check(lambda x: applied(x, 1), x)
    check(lambda x: applied(x, slice(1, 3)), x)
    check(jax.vmap(applied, (None, 0)), x, np.array([[0, 1], [3, 3], [7, 2]]))
    check(lambda x: lax.scan(lambda c, k: (applied(c, k), c[0]), x, i), x)
    check(
        lambda x: lax.scatter_apply(
            x, np.zeros((0,), int), jnp.sin, lax.ScatterDimensionNumbers((0,), (), ()), update_shape=(4,)
        ),
        x,
    )
    found = numbagraph.grad(lambda x: np.sum(numbagraph.from_jax(applied)(x, i)))(x)
    np.testing.assert_allclose(found, [2.0, 1.0, 2.0 * 3.0 * 2.0 * 10.0, 8.0])

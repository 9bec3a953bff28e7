"""Faults in what stands for JAX's primitives, and in what JAX computes: each is planted, and its check fails."""

import functools

import numpy as np
import pytest

from numbagraph.ir import structs
from numbagraph.ir.op import registry
from tests.ops.test_branch_cuts import check_cuts

jax = pytest.importorskip("jax")

from numbagraph.jax_bridge import (  # noqa: E402
    gathering,
    linear_algebra,
    signed_zeros,
)
from numbagraph.jax_bridge.elementwise import plain  # noqa: E402
from numbagraph.jax_bridge.imported import TABLE  # noqa: E402
from numbagraph.jax_bridge.structure import sort  # noqa: E402
from tests.jax_bridge.test_table import check_row, require_cases  # noqa: E402


@pytest.fixture(autouse=True)
def wide():
    with jax.enable_x64(True):
        yield


def test_a_row_without_a_case_is_caught():
    with pytest.raises(AssertionError):
        require_cases({**TABLE, "new": sort})


PLANTED = {
    "population_count": plain(lambda x: np.bitwise_count(x)),
    "sign": plain(np.sign),
    "max": plain(np.maximum),
    "shift_right_arithmetic": plain(lambda a, b: a >> b),
    "lt_to": plain(lambda a, b: a < b),
    "lgamma": plain(lambda x: np.where(x == -np.inf, -np.inf, TABLE_OF_BEFORE["lgamma"](None, None, x))),
    "top_k": lambda run, equation, x: [
        np.flip(np.sort(x), -1)[..., : equation.params["k"]],
        np.argsort(x)[..., ::-1][..., : equation.params["k"]],
    ],
    "scatter": gathering.scatter(
        lambda _run, _equation: lambda result, positions, updates: result.__setitem__(positions, updates)
    ),
}
TABLE_OF_BEFORE = dict(TABLE)


@pytest.mark.parametrize("name", PLANTED)
def test_a_row_that_is_not_jaxs_is_caught(name, monkeypatch):
    monkeypatch.setitem(TABLE, name, PLANTED[name])
    with pytest.raises(AssertionError):
        check_row(name)


@pytest.mark.parametrize("name", ["sqrt", "acos", "asinh", "exp"])
def test_the_other_side_of_a_cut_is_caught(name, monkeypatch):
    monkeypatch.setattr(signed_zeros, "unsigned", lambda x: x)
    with pytest.raises(AssertionError):
        check_row(name)


def test_a_solution_without_its_infinities_is_caught(monkeypatch):
    solve = functools.partial(linear_algebra.triangular_solution, on_error="nan")
    monkeypatch.setattr(linear_algebra, "triangular_solution", solve)
    with pytest.raises(AssertionError):
        check_row("triangular_solve")


def test_an_index_that_is_not_moved_inside_is_caught(monkeypatch):
    monkeypatch.setattr(gathering.Windows, "clipped", gathering.Windows.starts)
    with pytest.raises((AssertionError, IndexError)):
        check_row("gather")


@pytest.mark.usefixtures("own_registry")
@pytest.mark.parametrize("name", ["sqrt", "arcsin", "arccosh", "arcsinh"])
def test_the_other_side_of_a_cut_of_the_backend_is_caught(name):
    planted = structs.replace(registry[name], name=f"altered_{name}", jnp=getattr(jax.numpy, name))
    check_cuts(registry[name], "jax", name)
    with pytest.raises(AssertionError):
        check_cuts(registry.register(planted), "jax", name)

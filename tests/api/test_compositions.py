"""Derivatives at computed points inside of other code: each place with each transformation, at each kind of point.

`tests/fuzz/compositions.py` draws more of them. Here the parts are few, and the reference is differences of values.
"""

import numpy as np
import pytest

from numbagraph import graph_jit, to_jax
from tests.fuzz.composition_parts import PLACES, POINTS, TRANSFORMATIONS
from tests.fuzz.composition_source import Level, Program
from tests.fuzz.compositions import function_of
from tests.fuzz.stand_ins import CENTRAL, agree, difference_names, ours

FUNCTION = ("np.sum(np.sin(z) * w) * (z[0] + 2.0)", "np.sin(z) * w + z[0] * z + 1.0")
KINDS = ("times one", "centred", "of a derivative", "of a while")
PLACED = (
    "plain",
    "loop",
    "loop of a traced length",
    "while of values",
    "scan",
    "while_loop",
    "branch",
    "vmap",
    "gufunc",
    "checkpoint",
    "custom_vjp",
    "gradient",
)
TAKEN = ("grad", "value_and_grad", "vjp", "jvp", "jacfwd", "jacrev", "hessian", "implicit")
ARGUMENTS = (np.array([0.6, -0.4]), np.array([0.5, 0.8]), np.array([[2.0, 0.3], [0.1, 1.8]]), 2)


def program(place, transformation, kind):
    level = Level(POINTS[kind], kind, transformation, "r")
    return Program(place, (level,), FUNCTION, "of the test").source


def together(sources, known):
    """One function of several programs, so that there is one compilation."""
    functions = [function_of(source, known) for source in sources]
    return lambda *args: [function(*args) for function in functions]


def check(run, sources):
    """The results are those of differences of values, and none of these is zero."""
    expected = together(sources, difference_names(1e-2, CENTRAL))(*ARGUMENTS)
    for source, one, other in zip(sources, run(*ARGUMENTS), expected, strict=True):
        assert np.abs(other).max() > 1e-3
        assert agree(one, other, 1e-6), f"{other} expected, found {one}\n{source}"


@pytest.mark.parametrize("transformation", TAKEN)
@pytest.mark.parametrize("place", PLACED)
def test_derivatives_at_computed_points(place, transformation):
    sources = [program(place, transformation, kind) for kind in KINDS]
    check(graph_jit(together(sources, ours()), backend="numpy"), sources)


@pytest.mark.parametrize("place", ["plain", "loop of a traced length"])
@pytest.mark.parametrize("backend", ["numba", "jax"])
def test_backends(backend, place):
    sources = [program(place, transformation, "centred") for transformation in TAKEN[:-1]]
    check(graph_jit(together(sources, ours()), backend=backend), sources)


def test_functions_of_jax():
    import jax

    from numbagraph.jax_bridge.translate import x64

    sources = [program("plain", transformation, "of a derivative") for transformation in TAKEN[:-1]]
    with x64():
        check(jax.jit(to_jax(together(sources, ours())), static_argnums=3), sources)


@pytest.mark.parametrize("kind", [kind for kind in POINTS if kind != "stopped"])
def test_points(kind):
    sources = [program("plain", transformation, kind) for transformation in ("grad", "jvp", "hessian")]
    check(graph_jit(together(sources, ours()), backend="numpy"), sources)


def test_all_transformations_and_places_are_known():
    assert set(TAKEN) < set(TRANSFORMATIONS)
    assert set(PLACED) < set(PLACES)

"""The programs of `asv_benchmarks` give NumPy's results, and slopes that differences of their values have."""

import numpy as np
import pytest

import numbagraph as ng
from asv_benchmarks.workloads.programs import PROGRAMS, of_squares

DIFFERENTIABLE = [name for name, program in PROGRAMS.items() if program.argnums]
STEP = 1e-6


def of(value):
    return list(value) if isinstance(value, tuple) else [value]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_numpy_gives(name):
    program = PROGRAMS[name]
    args = program.args(program.tiny)
    results, expected = of(ng.graph_jit(program.function)(*args)), of(program.function(*args))
    assert len(results) == len(expected)
    for ours, theirs in zip(results, expected, strict=True):
        assert np.asarray(ours).dtype == np.asarray(theirs).dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", [name for name, program in PROGRAMS.items() if program.loops])
def test_loops_give_what_the_program_gives(name):
    program = PROGRAMS[name]
    args = program.args(program.tiny)
    for loops, expected in zip(of(program.loops(*args)), of(program.function(*args)), strict=True):
        np.testing.assert_allclose(loops, expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_a_gradient_is_that_of_differences(name):
    program = PROGRAMS[name]
    args, loss = program.args(program.tiny), of_squares(program.function)
    value, slopes = ng.graph_jit(ng.value_and_grad(loss, argnums=program.argnums))(*args)
    np.testing.assert_allclose(value, loss(*args), rtol=1e-11)
    rng = np.random.default_rng(0)
    directions = [rng.normal(size=np.shape(args[number])) for number in program.argnums]
    moved = []
    for sign in (1, -1):
        others = list(args)
        for number, direction in zip(program.argnums, directions, strict=True):
            others[number] = args[number] + sign * STEP * direction
        moved.append(loss(*others))
    along = sum(np.sum(slope * direction) for slope, direction in zip(slopes, directions, strict=True))
    np.testing.assert_allclose(along, (moved[0] - moved[1]) / (2 * STEP), rtol=1e-5, atol=1e-6)

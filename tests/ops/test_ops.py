"""Every op of the registry against NumPy: what follows from its declaration and its samples. A new op is in here."""

import importlib.util
import itertools
import zlib

import numpy as np
import optree
import pytest

from numbagraph.ir.op import load, registry
from numbagraph.ir.types import COMPLEX128, DTYPES, FLOAT32, FLOAT64
from numbagraph.ir.values import ArrayType, Input, Unsupported
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.testing import (
    check_batching,
    check_donations,
    check_gradients,
    check_op,
    check_own_memory,
    may_raise,
)
from numbagraph.testing.checks import REPRESENTATIVE
from numbagraph.testing.gradients import direction, inexact, is_inexact, pullback
from numbagraph.testing.op_calls import accepted, applied, main_dtype
from numbagraph.tracing.memory_layout import input_shape
from numbagraph.tracing.trace import tracing
from numbagraph.tracing.tracer import Tracer
from tests.support.late import LATE

WITHOUT_JAX = importlib.util.find_spec("jax") is None
DISPATCHED = (np.ufunc, type(np.sum))
"""What NumPy lets a traced array answer; SciPy's ufuncs are the former."""

UNDEFINED = ("empty", "empty_like")
"""Their elements are whatever was in memory: there is nothing to compare with."""

NESTED = ("histogramdd",)
"""Their results are tuples in tuples, which `check_batching` does not compare."""

DEFINED = ("stop_gradient",)
"""Their derivatives are what somebody says, not what finite differences are: see tests/api/test_derivatives.py."""


def can_change(call):
    """Whether results follow their arguments smoothly, as far as dtypes tell."""
    value = call.expected(call.arrays)
    results = value if isinstance(value, (tuple, list)) else [value]
    return bool(inexact(call.arrays)) and any(map(is_inexact, results))


def first_calls(op):
    """The op's samples of its main dtype."""
    return list(accepted(op, main_dtype(op)))


def dtypes_of(op, backend, extent):
    """The dtypes that an op is tried with: all, or one; for some ops usually one more, often one with its own code.

    These are not the same for all ops, so that they stand for the others. What is a function of other ops has the code
    of these, and JAX's code is the same for all dtypes, so they have the one.
    """
    first, turn = main_dtype(op), zlib.crc32(op.name.encode())
    if extent == "all":
        return DTYPES
    if backend == "numpy":
        return (first, *(dtype for dtype in DTYPES[turn % 3 :: 3] if dtype != first))
    found = [first]
    if extent == "usual" and backend == "numba" and op.kind != "decomposition" and turn // 64 % 4 == 0:
        group = (REPRESENTATIVE, DTYPES)[turn % 2]
        begin = turn // 2 % len(group)
        left = [dtype for dtype in (*group[begin:], *group[:begin]) if dtype not in found]
        found += [*itertools.islice((dtype for dtype in left if has_samples(op, dtype)), 1)]
    return tuple(found)


def has_samples(op, dtype):
    return any(True for _ in accepted(op, dtype))


def has(op, name):
    return op.kind == "decomposition" or not isinstance(getattr(op, name), Unsupported)


NAMES = sorted(op.name for op in registry if not isinstance(op.frontend, Unsupported) and op.name not in UNDEFINED)
ON_JAX = [name for name in NAMES if has(registry[name], "jnp") and name not in LATE]
SMOOTH = [name for name in NAMES if any(map(can_change, accepted(registry[name], FLOAT64, COMPLEX128)))]
DIFFERENTIABLE = [name for name in SMOOTH if has(registry[name], "vjp") and name not in DEFINED]
BATCHED = [
    name
    for name in NAMES
    if has(registry[name], "batch")
    and name not in (*LATE, *NESTED)
    and any(call.arrays for call in accepted(registry[name], main_dtype(registry[name])))
]


def marks_on_jax(name):
    """Some stand for the others: of functions of other ops, which JAX is given as these, fewer."""
    repeats = zlib.crc32(name.encode()) % (6 if registry[name].kind == "decomposition" else 3)
    return [pytest.mark.skipif(WITHOUT_JAX, reason="JAX is not installed"), *[pytest.mark.repeats] * bool(repeats)]


def run_all(check, cases):
    """Run a check on every case, so that one failure does not hide another."""
    failures = []
    for case in cases:
        try:
            check(case)
        except AssertionError as error:
            failures.append(str(error))
        except Exception as error:  # noqa: BLE001  an op may fail in any way
            failures.append(f"{case}: {type(error).__name__}: {error}")
    assert not failures, f"{len(failures)} failures\n" + "\n".join(failures[:12])


@pytest.mark.parametrize(
    ("backend", "name"),
    [
        *[pytest.param("numba", name, marks=pytest.mark.quick) for name in NAMES],
        *[pytest.param("numpy", name, marks=[pytest.mark.repeats] * (zlib.crc32(name.encode()) % 2)) for name in NAMES],
        *[pytest.param("jax", name, marks=marks_on_jax(name)) for name in ON_JAX],
    ],
)
def test_values(backend, name, extent):
    compared, op, sparing = [], registry[name], extent != "all"
    run_all(
        lambda dtype: compared.append(check_op(op, dtype, backend, sparing=sparing)), dtypes_of(op, backend, extent)
    )
    assert sum(compared), "the op has no samples that NumPy accepts"


def test_a_call_that_fails_leaves_donated_arguments_alone():
    """Of each op that may fail and is not made of others, one sample."""
    ops = [registry[name] for name in NAMES if registry[name].kind != "decomposition"]
    found = [next(filter(may_raise, accepted(op, FLOAT64)), None) for op in ops]
    failed = {}

    def check(call):
        failed[call.op.name] = check_donations(call)

    run_all(check, filter(None, found))
    assert sum(failed.values()) > 6, failed


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_results_have_memory_of_their_own(backend):
    """Of each op on NumPy, and of one op of each kind as native code, where the op has no say."""
    ops = [registry[name] for name in NAMES if has_samples(registry[name], main_dtype(registry[name]))]
    if backend == "numba":
        ops = {op.kind: op for op in ops}.values()
    run_all(lambda op: check_own_memory(first_calls(op)[0], backend), ops)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients(name, extent):
    """That of the gradient is compiled for one sample of a dtype: the rules for it are the same for all of them.

    What is not compiled is evaluated with NumPy: the rules are tested all the same. Usually the gradient is
    differentiated for one sample of a dtype alone, and compiled for one dtype, but for functions of other ops, of which
    every other sample is left out.
    """

    of_others = registry[name].kind == "decomposition"
    compiled = iter([] if of_others else [1])

    def check(call):
        orders = {"compiled": 1 if call.number else 2}
        if extent != "all":
            if of_others and call.number % 2:
                return
            orders = {"compiled": next(compiled, 0), "order": 1 if call.number else 2}
        check_gradients(call.determined, call.arrays, **orders)

    run_all(check, accepted(registry[name], FLOAT64, COMPLEX128))


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_keep_dtypes_and_shapes(name):
    def check(call):
        value = GraphFunction(call.function, backend="numpy")(*call.arrays)
        pulled = pullback(call.function, cotangent_of(value))
        cotangents = GraphFunction(pulled, backend="numpy")(*call.arrays)
        for each, primal in zip(cotangents, inexact(call.arrays), strict=True):
            assert (np.asarray(each).dtype, np.shape(each)) == (primal.dtype, primal.shape), call

    run_all(check, filter(can_change, accepted(registry[name], FLOAT32)))


def cotangent_of(value):
    rng = np.random.default_rng(0)
    return optree.tree_map(lambda each: direction(rng, each), value)


FACTORS_OF_OTHERS = {
    *("factors_of_blocks", "hessenberg_form", "hessenberg_pair"),  # SciPy's
    *("qr_reflections", "schur_form", "solve_tridiagonal_factored", "tridiagonal_factors"),  # PyTensor's
}
"""Ops of one library alone, without a derivative: they refuse by name."""


def test_every_op_of_real_or_complex_numbers_has_a_gradient():
    smooth = {name for name in SMOOTH if registry[name].kind != "special function"}
    assert smooth - {*DIFFERENTIABLE, *DEFINED} == FACTORS_OF_OTHERS


@pytest.mark.repeats
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=marks_on_jax(name)) for name in DIFFERENTIABLE if name not in LATE]
)
def test_gradients_agree_with_jax(name, extent):
    compared = []

    def check(call):
        if compared and extent != "all":
            return
        value = GraphFunction(call.determined, backend="numpy")(*call.arrays)
        cotangent = cotangent_of(value)
        try:
            expected = jax_gradients(call, cotangent)
        except (NotImplementedError, TypeError):  # JAX lacks the derivative, or the op
            return
        compared.append(call)
        backend = "numba" if extent == "all" else "numpy"
        found = GraphFunction(pullback(call.determined, cotangent), backend=backend)(*call.arrays)
        for each, wanted in zip(found, expected, strict=True):
            scale = np.abs(np.asarray(wanted)).max(initial=1e-3)
            assert np.allclose(each, wanted, rtol=1e-7, atol=1e-7 * scale), f"{call}: {wanted} expected, found {each}"

    run_all(check, filter(can_change, accepted(registry[name], FLOAT64)))
    if not compared:
        pytest.skip("JAX cannot differentiate it")


def jax_gradients(call, cotangent):
    """The cotangents of the inexact arguments, by JAX alone."""
    import jax

    from numbagraph.jax_bridge import to_jax

    translated = to_jax(GraphFunction(call.determined).graph(*call.arrays))

    def of_inexact(*arrays):
        rest = iter(arrays)
        return translated(*[next(rest) if is_inexact(each) else each for each in call.arrays])

    @jax.jit  # compiling all of it at once takes less than compiling each operation
    def pulled(primals, given):
        results, pull = jax.vjp(of_inexact, *primals)
        return pull(tuple(each.astype(result.dtype) for each, result in zip(given, results, strict=True)))

    with jax.enable_x64(True):
        return pulled(inexact(call.arrays), optree.tree_leaves(cotangent))


@pytest.mark.repeats(but_each=2)
@pytest.mark.parametrize("name", BATCHED)
def test_batching(name, extent):
    cases, sparing = [call for call in first_calls(registry[name]) if call.arrays], extent != "all"
    few = 1 if registry[name].kind == "decomposition" else 2
    run_all(lambda call: check_batching(call, sparing=sparing), cases[:few] if sparing else cases)


@pytest.mark.parametrize("name", [name for name in NAMES if registry[name].implements])
def test_numpy_s_functions_are_traced_to_the_op(name):
    op, call = registry[name], first_calls(registry[name])[0]
    for implemented in op.implements:
        function = load(implemented) if isinstance(implemented, str) else implemented
        assert registry.find(function) is op
        if isinstance(function, DISPATCHED) and call.arrays:
            with tracing():
                tracers = [stand_in(array, number) for number, array in enumerate(call.arrays)]
                by_numpy, by_op = applied(function, call.fill(tracers)), call.function(*tracers)
                assert values_of(by_numpy) == values_of(by_op), function


def stand_in(array, number):
    name = f"x{number}"
    return Tracer(Input(ArrayType(array.dtype, input_shape(name, [length == 1 for length in array.shape])), name))


def values_of(result):
    """Equal computations are the same nodes."""
    return [id(each.value) for each in optree.tree_leaves(result)]

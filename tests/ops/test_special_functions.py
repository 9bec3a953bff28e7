"""SciPy's functions whose kernels are called as they are: all of them, in few compiled functions.

They share their code, so that what follows from the registry is tested for some of them only (see conftest.py).
"""

import re
import warnings

import numpy as np
import pytest
from scipy import special

from numbagraph import grad, graph_jit, vmap
from numbagraph.api.differentiation import vjp
from numbagraph.intrinsics.emitters.target import Target, emitting_for
from numbagraph.ir.op import load, registry
from numbagraph.ir.types import DTYPES, FLOAT32, FLOAT64, INT64
from numbagraph.ir.values import ArrayType, Input, Node, Unsupported
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.ops.deferred import NAMES
from numbagraph.ops.special.scipy_kernels import IN_JAX, KIND
from numbagraph.testing import check_gradients, samples
from numbagraph.testing.compare import alike
from numbagraph.tracing.trace import tracing
from tests.support.references import IN_SINGLE, in_double

MODULES = {module: [registry[name] for name in names.split()] for module, names in NAMES.items()}
MODULES = {module: ops for module, ops in MODULES.items() if ops[0].kind == KIND}
OPS = [op for ops in MODULES.values() for op in ops]
VALUES = (0.0, -0.0, 0.5, -1.0, 3.0, np.inf, -np.inf, np.nan)
INTEGERS = (0, 1, -1, 3)
MANY_OPERANDS = 3
"""Of more than these, not all combinations of special values are tried."""
INACCURATE = ("itairy", "stdtridf")
"""SciPy's values are off by 1e-6: differences of them are no derivatives."""


def ufunc_of(op):
    return load(op.implements[0])


def arrays_of(op, dtype):
    (call,) = samples(op, dtype)
    return call.arrays


def specials_of(op, dtype):
    """Special values in all combinations."""
    kinds = [np.array(INTEGERS) if each.dtype == INT64 else np.array(VALUES, dtype) for each in arrays_of(op, dtype)]
    return [each.ravel() for each in np.meshgrid(*kinds)]


def accepts(op, arrays):
    try:
        ufunc_of(op)(*arrays)
    except TypeError:
        return False
    return True


def expected_of(op, arrays):
    return in_double(ufunc_of(op), *arrays) if op.name in IN_SINGLE else ufunc_of(op)(*arrays)


def check_values(cases, **options):
    """Each op on its arrays, all in one compiled function."""
    counts = np.cumsum([0, *[len(arrays) for _, arrays in cases]])

    def every(*arrays):
        return [
            ufunc_of(op)(*arrays[first:last]) for (op, _), first, last in zip(cases, counts, counts[1:], strict=False)
        ]

    found = graph_jit(every, **options)(*[each for _, arrays in cases for each in arrays])
    wrong = []
    for (op, arrays), results in zip(cases, found, strict=True):
        expected = expected_of(op, arrays)
        pairs = zip(results, expected, strict=True) if isinstance(expected, tuple) else [(results, expected)]
        for number, (one, other) in enumerate(pairs):
            if one.dtype != other.dtype or not alike(np.asarray(one), np.asarray(other), op.ulp, op.scale).all():
                wrong.append(f"{op.name}, result {number}: {one} of {one.dtype}, not {other} of {other.dtype}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [FLOAT64, FLOAT32], ids=str)
@pytest.mark.parametrize("module", MODULES)
def test_values_are_scipy_s(module, dtype):
    """Bit for bit where SciPy's function is called, with special values too, in native code."""
    cases = [(op, arrays_of(op, dtype)) for op in MODULES[module]]
    few = [op for op in MODULES[module] if len(arrays_of(op, dtype)) < MANY_OPERANDS]
    check_values([each for each in cases + [(op, specials_of(op, dtype)) for op in few] if accepts(*each)])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_dtypes_are_scipy_s(op):
    ufunc = ufunc_of(op)
    for dtype in DTYPES:
        with tracing():
            operands = [Input(ArrayType(dtype, (3,)), "x") for _ in range(ufunc.nin)]
            try:
                expected = ufunc.resolve_dtypes((dtype,) * ufunc.nin + (None,) * ufunc.nout)[-1]
            except TypeError:
                expected = np.dtype(complex)
            if expected.kind == "c":
                with pytest.raises(TypeError):
                    op(*operands)
                continue
            found = op(*operands)
        assert (found[0] if isinstance(found, tuple) else found).dtype == expected, dtype


def held_operands(op, arrays):
    """The operands by which there is no derivative."""
    with tracing():
        value = op(*[Input(ArrayType(each.dtype, each.shape), "x") for each in arrays])
    node = value[0] if isinstance(value, tuple) else value
    assert isinstance(node, Node)
    cotangents = op.vjp(node, node, *node.inputs, **node.attrs)
    return [
        isinstance(each, Unsupported) or array.dtype == INT64 for each, array in zip(cotangents, arrays, strict=True)
    ]


@pytest.mark.repeats(but_each=2)
@pytest.mark.parametrize("op", [op for op in OPS if op.name not in INACCURATE], ids=lambda op: op.name)
def test_derivatives(op):
    """To second order where there is one, by the operands that have one."""
    if isinstance(op.vjp, Unsupported):
        with pytest.raises(NotImplementedError, match=op.name):
            graph_jit(grad(lambda x: np.sum(ufunc_of(op)(*[x] * ufunc_of(op).nin))), backend="numpy")(0.5)
        return
    arrays = arrays_of(op, FLOAT64)
    held = held_operands(op, arrays)
    free = [each for each, flag in zip(arrays, held, strict=True) if not flag]

    def function(*given):
        rest = iter(given)
        return ufunc_of(op)(*[each if flag else next(rest) for each, flag in zip(arrays, held, strict=True)])

    if free:
        check_gradients(function, free, order=1, compiled=0)
        try:
            check_gradients(function, free, order=2, compiled=0)
        except NotImplementedError as error:
            assert "second derivative" in str(error)  # noqa: PT017  of incomplete functions, by their parameters


SPECIAL_POINTS = {
    "agm": (2.0, [1.0, 2.0]),
    "beip": [0.0],
    "boxcox": (1.7, [0.0, 1.0]),
    "dawsn": [0.0],
    "ellipe": [0.0],
    "ellipeinc": (1.2, [0.0]),
    "ellipk": [0.0],
    "ellipkinc": (1.2, [0.0]),
    "exprel": [0.0, 1e-9],
    "expn": (0, [1.5]),
    "it2j0y0": [1.0],
    "it2struve0": [0.0],
    "pdtr": (0, [1.5]),
    "rgamma": [0.0, -1.0, -2.0],
    "spence": [1.0],
    "stdtr": (2.0, [0.0]),
    "struve": (1, [0.5]),
}
"""The numbers at which formulas are quotients of zeros, or change, after a first operand that is held."""


@pytest.mark.parametrize("function", SPECIAL_POINTS)
def test_derivatives_at_special_points(function):
    ufunc, given = getattr(special, function), SPECIAL_POINTS[function]
    held, points = ((given[0],), given[1]) if isinstance(given, tuple) else ((), given)

    def first(x):
        found = ufunc(*held, x)
        return found[0] if ufunc.nout > 1 else found

    step = 1e-5
    for point in points:
        wanted = (first(point + step) - first(point - step)) / (2 * step)
        np.testing.assert_allclose(graph_jit(grad(first), backend="numpy")(point), wanted, rtol=2e-6, atol=1e-9)


def test_derivatives_in_native_code():
    def function(x, y):
        return special.expn(2, x) + special.sici(x)[1] * special.kv(1.5, y) + special.stdtrit(x, 0.3)

    x, y = np.array([0.5, 1.5]), np.array([1.0, 2.0])
    check_gradients(function, [x, y], order=1, compiled=1)


def test_powers_whose_exponent_is_known_have_derivatives():
    for exponent in (0.0, 1.0, 2.0, -1.5):
        slope = graph_jit(grad(lambda x, exponent=exponent: special.powm1(x, exponent)))
        np.testing.assert_allclose(slope(1.5), exponent * 1.5 ** (exponent - 1), rtol=1e-14)
    np.testing.assert_allclose(graph_jit(grad(lambda y: special.powm1(2.0, y)))(1.5), 2**1.5 * np.log(2), rtol=1e-14)


def test_integrals_of_airy_s_functions_have_these_as_derivatives():
    x = np.array([0.5, 1.5])
    for number, wanted in enumerate((special.airy(x)[0], special.airy(x)[2], special.airy(-x)[0], special.airy(-x)[2])):
        found = graph_jit(grad(lambda x, number=number: special.itairy(x)[number].sum()), backend="numpy")(x)
        np.testing.assert_array_equal(found, wanted)


def test_the_inverse_by_the_degrees_of_freedom_has_the_reciprocal_derivative():
    p, t = 0.87, 1.4
    v = special.stdtridf(p, t)
    forward = graph_jit(grad(lambda v: special.stdtr(v, t)))(v)
    np.testing.assert_allclose(graph_jit(grad(lambda p: special.stdtridf(p, t)))(p), 1 / forward, rtol=1e-12)


def test_results_of_one_call_are_computed_at_once():
    def calls(function):
        return len(re.findall(r"\t(?:call\w*|blr?)\t", graph_jit(function).asm(np.ones(5))))  # of x86 and of ARM

    assert calls(lambda x: special.sici(x)) == calls(lambda x: special.it2struve0(x)) + 1


COUNTING = (special.bdtr, special.expn, special.kn, special.yn, special.nbdtr, special.pdtri, special.smirnov)


@pytest.mark.parametrize("ufunc", COUNTING, ids=lambda each: each.__name__)
def test_counts_that_are_not_whole_are_truncated_without_a_warning(ufunc):
    """SciPy warns of them, from Python: native code does not."""
    counts = np.array([2.5, -0.5, 3.0, np.nan, 1e10, np.inf, -np.inf])
    arrays = [counts] * (ufunc.nin - 1) + [np.full(counts.shape, 0.3)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = ufunc(*arrays)
    for backend in ("numba", "numpy"):
        found = graph_jit(lambda *arrays: ufunc(*arrays), backend=backend)(*arrays)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("ufunc", [each for each in COUNTING if each is not special.smirnov], ids=lambda x: x.__name__)
def test_derivatives_take_the_same_counts(ufunc):
    def slope(counts):
        arrays = [counts] * (ufunc.nin - 1)
        return graph_jit(grad(lambda x: ufunc(*arrays, x).sum()))(np.full(counts.shape, 0.3))

    counts = np.array([2.5, 0.5, 3.0, 1.99])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(slope(counts), slope(np.trunc(counts)))


def test_on_arm_counts_beyond_int_are_the_greatest_one():
    """What its instruction makes of them, and so SciPy there."""
    function = GraphFunction(lambda n, x: special.expn(n, x), cache=False)
    with emitting_for(Target("aarch64-unknown-linux-gnu", "neoverse-n1")):
        assert "2147483647" in function.llvm(np.ones(3), np.ones(3))


def test_batches_and_several_results():
    x = np.linspace(0.1, 2.0, 6).reshape(2, 3)
    found = graph_jit(vmap(lambda row: special.ellipj(row, 0.3)))(x)
    for one, other in zip(found, special.ellipj(x, 0.3), strict=True):
        np.testing.assert_array_equal(one, other)


def test_strided_and_empty_arrays_and_scalars():
    x, function = np.linspace(0.1, 2.0, 12), graph_jit(lambda x: (special.it2struve0(x), *special.sici(x)))
    for each in (x[::3], x[::-1], x[:0], x[:1], x.reshape(3, 4).T, np.float32(0.5), np.float64(0.25), 3, True):
        for one, other in zip(function(each), function.function(each), strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)


def test_weak_numbers_and_integers():
    x, i = np.array([0.5, 1.5], np.float32), np.array([0, 3], np.int8)
    for function in (
        lambda x, i: special.kv(2, x),
        lambda x, i: special.kv(2.5, x),
        lambda x, i: special.kv(i, x),
        lambda x, i: special.expn(i, x),
        lambda x, i: special.eval_legendre(i, x),
        lambda x, i: special.eval_hermite(i, x.astype(np.float64)),
        lambda x, i: special.it2struve0(i),
    ):
        found, expected = graph_jit(function)(x, i), function(x, i)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_complex_numbers_are_refused_by_name():
    for function in (special.kv, special.hyp1f1):
        nin = function.nin
        with pytest.raises(TypeError, match=f"{function.__name__} of complex numbers is not supported"):
            graph_jit(lambda z, function=function, nin=nin: function(*[1.0] * (nin - 1), z))(np.array([1j]))


def test_values_on_jax():
    """Of all in one function, as JAX compiles slowly."""
    pytest.importorskip("jax")
    ops = [op for op in OPS if not isinstance(op.jnp, Unsupported)]
    arrays = [arrays_of(op, FLOAT64) for op in ops]

    def every(*rows):
        return [ufunc_of(op)(*row) for op, row in zip(ops, rows, strict=True)]

    assert {op.name for op in ops} >= IN_JAX
    for op, found, expected in zip(ops, graph_jit(every, backend="jax")(*arrays), every(*arrays), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=op.name)


def test_what_jax_has_not_is_refused_by_name():
    pytest.importorskip("jax")
    with pytest.raises(NotImplementedError, match="JAX has no kolmogorov"):
        graph_jit(lambda x: special.kolmogorov(x), backend="jax")(np.ones(3))


def test_vjp_of_several_results():
    x = np.array([0.3, 0.8])

    def pulled(x):
        return vjp(special.shichi, x)[1]((np.ones(2), np.full(2, 2.0)))

    (found,) = graph_jit(pulled)(x)
    np.testing.assert_allclose(found, np.sinh(x) / x + 2 * np.cosh(x) / x, rtol=1e-14)

"""The ops of the registry in code that Numba compiles."""

import collections
import importlib.util
import itertools
import math
import pickle
import pkgutil

import numpy as np
import pytest
from numba import njit

from numbagraph import intrinsics
from numbagraph.blockwise.kinds import Keywords
from numbagraph.ir.op import registry
from numbagraph.ir.types import DTYPES, FLOAT64
from numbagraph.ir.values import Unsupported
from numbagraph.testing import assert_same, samples
from numbagraph.testing.checks import Checker
from numbagraph.testing.op_calls import is_supported
from tests.support.late import LATE

NAMES = sorted(op.name for op in registry if not isinstance(op.frontend, Unsupported))

RNG = np.random.default_rng(0)
X, W = RNG.normal(size=(50, 7)), RNG.normal(size=7)


def test_no_op_is_hidden_by_a_module():
    modules = {module.name for module in pkgutil.iter_modules(intrinsics.__path__)}
    assert not modules & {op.name for op in registry}
    assert importlib.util.find_spec("numbagraph.intrinsics.expm1") is None


def test_op_from_python_is_numpy():
    np.testing.assert_array_equal(intrinsics.expm1(W), np.expm1(W))
    assert intrinsics.expm1 is intrinsics.expm1
    assert pickle.loads(pickle.dumps(intrinsics.expm1)) is not None
    assert "expm1" in dir(intrinsics)
    with pytest.raises(AttributeError, match="no op 'expm2'"):
        _ = intrinsics.expm2


def test_ops_called_like_functions_of_python_hide_none():
    assert intrinsics.any is intrinsics.any
    assert not vars(intrinsics).keys() & {*NAMES}


def test_op_in_scalar_loop_is_inlined():
    @njit
    def caller(x):
        result = 0.0
        for i in range(x.size):
            result += intrinsics.square(x[i]) * 2.0 - intrinsics.absolute(x[i])
        return result

    np.testing.assert_allclose(caller(W), np.sum(np.square(W) * 2.0 - np.abs(W)))
    code = next(iter(caller.inspect_llvm().values()))
    assert "graph" not in code.replace("numbagraph", "")  # the names of our functions
    assert "llvm.fabs" in code


def test_arguments_of_ops_are_constants():
    @njit
    def caller(x):
        return (
            intrinsics.sum(x, 0),
            intrinsics.sum(x, axis=(0, -1)),
            intrinsics.sum(x, axis=None, dtype=np.float32),
            intrinsics.einsum("ij->j", x),
            intrinsics.power(x, 2),
        )

    expected = X.sum(0), X.sum(), X.sum(dtype=np.float32), X.sum(0), X**2
    for found, each in zip(caller(X), expected, strict=True):
        np.testing.assert_allclose(found, each, rtol=1e-6)


def is_unwritable(argument):
    """Whether Numba has no literal for an argument: it does not tell the values in a tuple of tuples, for example, and
    lists in lists have one length."""
    if isinstance(argument, list) and any(isinstance(each, list) for each in argument):
        return True
    inner = [each for each in argument if isinstance(each, (tuple, list))] if isinstance(argument, tuple) else []
    nested = any(isinstance(number, int) for each in inner for number in each)
    return nested or argument is np._NoValue or (isinstance(argument, float) and not math.isfinite(argument))


def caller_of(call):
    """An njit function of the arrays and NumPy scalars of a sample, with everything else as a literal."""
    names, values, scope = [], [], {"np": np, "intrinsics": intrinsics}

    def spell(argument):
        if isinstance(argument, (np.ndarray, np.generic)):
            names.append(f"x{len(names)}")
            values.append(argument)
            return names[-1]
        if isinstance(argument, (tuple, list)):
            return f"({''.join(f'{spell(each)}, ' for each in argument)})"
        if isinstance(argument, (slice, np.dtype, type)):
            name = f"constant{len(scope)}"
            scope[name] = np.dtype(argument) if isinstance(argument, type) else argument
            return name
        return repr(argument)

    arguments = list(call.arguments)
    while arguments and arguments[-1] is np._NoValue:
        arguments.pop()
    options = arguments.pop() if arguments and isinstance(arguments[-1], Keywords) else {}
    if any(map(is_unwritable, [*arguments, *options.values()])):
        return None
    spelled = ", ".join([*map(spell, arguments), *(f"{name}={spell(each)}" for name, each in options.items())])
    exec(f"def caller({', '.join(names)}):\n    return intrinsics.{call.op.name}({spelled})", scope)
    return njit(scope["caller"]), values


def like(found, expected):
    """What Numba returns, with its Python scalars as the NumPy scalars that stand for them."""
    if isinstance(expected, (tuple, list)):
        return tuple(like(*each) for each in zip(found, expected, strict=True))
    return found if isinstance(found, np.ndarray) else np.asarray(expected).dtype.type(found)


def callers(name):
    """The samples of an op that can be written in njit code and that NumPy accepts, those of float64 first."""
    for dtype in (FLOAT64, *DTYPES):
        for call in samples(registry[name], dtype):
            expected, built = call.expected(call.arrays), caller_of(call)
            if is_supported(expected) and built is not None:
                yield call, expected, *built


def parameters():
    """Ops of a kind become intrinsics in one way: some of each kind stand for the others."""
    met = collections.Counter()
    for name in NAMES:
        kind = registry[name].kind
        met[kind] += 1
        yield pytest.param(name, marks=[pytest.mark.repeats] if met[kind] % 8 != 1 else [])


@pytest.mark.parametrize("name", [*parameters()])
def test_every_op_in_njit_code(name):
    if name in LATE:
        pytest.skip("native callers must know how long a result is")
    found = list(itertools.islice(callers(name), 8))
    if not found:
        pytest.skip("the op has no samples")
    call, expected, function, values = found[-1]
    checker = Checker(call, "numba")
    scale = checker.scale(call.arrays)
    actual, expected = map(call.op.determined, (like(function(*values), expected), expected))
    assert_same(actual, expected, ulp=checker.ulp, scale=scale, boxed=False, what=str(call))

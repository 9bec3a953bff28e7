"""Mathematical functions that are called rather than inlined: the same bits, little to compile, kept on disk."""

import ctypes
import math
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from numba import njit
from scipy import special

from numbagraph import graph_jit, gufunc, scan
from numbagraph.emit import nest
from numbagraph.intrinsics.emitters.target import Target, current_target, emitting_for
from numbagraph.intrinsics.emitters.vecmath.calls import MATH, VECTOR
from numbagraph.intrinsics.emitters.vecmath.deferred import functions
from numbagraph.ir.op import numpy_function, registry
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.runtime import math_library
from numbagraph.runtime.interruption import keeping
from numbagraph.testing import samples

pytestmark = pytest.mark.skipif(not current_target().has_fma, reason="the formulas need fused multiply-add")

CALLABLE = sorted(name for name, each in functions.items() if each.fallback is not None and name in registry)


def as_many(count):
    return lambda x: sum(np.exp(x * k) for k in range(1, count + 1))


def test_a_number_is_computed_by_a_call():
    code = graph_jit(np.exp).llvm(0.5)
    assert f"{MATH}exp.float64" in code
    assert VECTOR not in code


def test_functions_of_code_from_disk_are_declared_with_their_ops():
    text = """
import numpy as np
import numbagraph
from numbagraph.runtime.math_library import MATH, math_functions
assert MATH + "k0.float64" not in math_functions.libraries
assert math_functions.compile([MATH + "k0.float64"])
"""
    subprocess.run([sys.executable, "-c", text], check=True)


def test_functions_are_those_of_the_target(monkeypatch):
    """Vectors of another target have other lengths: its functions take as many numbers."""
    target = current_target()
    if not target.has("avx512f"):
        pytest.skip("there are no shorter vectors")
    shorter = Target(target.triple, target.processor, f"{target.features},-avx512f")
    monkeypatch.setattr(nest, "MOST_INLINED", 0)
    x = np.linspace(0.1, 2.0, 37)
    for each in (shorter, target, shorter):
        with emitting_for(each):
            found = GraphFunction(lambda x: np.exp(x), cache=False)(x)
        np.testing.assert_allclose(found, np.exp(x), rtol=1e-15)


def test_numbers_of_a_chain_are_libm_s():
    """Where the next step waits for a number. What is computed apart from the chain is what it is of arrays."""

    def chain(x):
        return scan(lambda so_far, each: (np.power(so_far, each), (np.sin(so_far), np.exp(each))), 1.5, x)

    x = np.linspace(0.5, 1.5, 100)
    last, (sines, exponentials) = graph_jit(chain)(x)
    expected = [1.5]
    for each in x:
        expected.append(math.pow(expected[-1], each))
    assert last == expected[-1]
    np.testing.assert_array_equal(sines, graph_jit(np.sin)(np.array(expected[:-1])))
    np.testing.assert_array_equal(exponentials, graph_jit(np.exp)(x))


def test_numbers_in_branches_of_a_chain_are_libm_s():
    x = np.linspace(0.5, 1.5, 100)
    expected = [0.5]
    for each in x[1:]:
        expected.append(math.atan2(expected[-1], each))
    np.testing.assert_array_equal(graph_jit(lambda x: np.arctan2.accumulate(x))(x), expected)


def test_a_loop_has_room_for_some():
    x = np.ones(100)
    few, many = (graph_jit(as_many(count)) for count in (nest.MOST_INLINED, nest.MOST_INLINED + 1))
    assert MATH not in few.llvm(x)
    code = many.llvm(x)
    if current_target().vector_bytes:
        assert f"call <{current_target().vector_bytes // 8} x double> @{MATH}exp.float64{VECTOR}" in code
    np.testing.assert_allclose(many(x), as_many(nest.MOST_INLINED + 1)(x), rtol=1e-14)


def test_long_functions_take_more_room():
    x = np.full(100, 0.5)
    room = functions["erfinv"].room
    assert 1 < room <= nest.MOST_INLINED < 2 * room
    assert MATH not in graph_jit(lambda x: special.erfinv(x) + np.exp(x)).llvm(x)
    code = graph_jit(lambda x: special.erfinv(x) + special.erfinv(x * x) + np.exp(x)).llvm(x)
    assert f"{MATH}erfinv.float64" in code
    assert f"{MATH}exp.float64" not in code


def test_several_functions_are_called_in_one_loop(monkeypatch):
    monkeypatch.setattr(nest, "MOST_INLINED", 0)
    x = np.linspace(0.1, 0.9, 50)

    def mixed(x):
        return np.exp(x) + np.log(x) * np.sin(x) - np.tanh(x) ** 2

    np.testing.assert_allclose(graph_jit(mixed, cache=False)(x), mixed(x), rtol=1e-13)


@pytest.mark.repeats(but_each=3)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", CALLABLE)
def test_the_same_bits_by_all_ways(name, dtype, monkeypatch):
    function = numpy_function(registry[name])
    call = next(iter(samples(registry[name], dtype)))
    arrays = [np.resize(np.broadcast_to(each, call.arrays[0].shape), 67).astype(dtype) for each in call.arrays]
    inlined = graph_jit(function, cache=False)(*arrays)
    of_numbers = graph_jit(function, cache=False)
    numbers = [of_numbers(*each) for each in zip(*arrays, strict=True)]
    np.testing.assert_array_equal(inlined, np.array(numbers, dtype=dtype))
    monkeypatch.setattr(nest, "MOST_INLINED", 0)
    np.testing.assert_array_equal(graph_jit(function, cache=False)(*arrays), inlined)


def test_njit_code_has_functions_of_its_own():
    many = graph_jit(as_many(2 * nest.MOST_INLINED))

    @njit
    def caller(x):
        return many(x), many(x[0])

    x = np.linspace(0.0, 0.1, 20)
    array, number = caller(x)
    np.testing.assert_allclose(array, many(x), rtol=1e-15)
    np.testing.assert_allclose(number, many(x[0]), rtol=1e-15)


def test_those_of_a_graph_are_compiled_together_and_kept_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBAGRAPH_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("NUMBAGRAPH_CACHE", raising=False)
    script = """
import numpy as np, numbagraph
from numbagraph.runtime import compile, math_library
compiled = []
original = math_library.compile_module
math_library.compile_module = lambda *args: compiled.append(args) or original(*args)
print(numbagraph.graph_jit(lambda x: np.exp(x) + np.exp(2 * x))(0.25), len(compiled))
print(numbagraph.graph_jit(lambda x: np.exp(x) + np.log(x) * np.tanh(x))(0.25), len(compiled))
print(numbagraph.graph_jit(lambda x: np.log(x))(0.5), len(compiled))
"""
    runs = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(2)
    ]
    assert runs[0][::2] == runs[1][::2]
    assert [each[1::2] for each in runs] == [["1", "2", "2"], ["0", "0", "0"]]


def random_matrices(length):
    rng = np.random.default_rng(length)
    a = rng.normal(size=(5, length, length))
    return a @ a.swapaxes(1, 2) + np.eye(length)


@pytest.fixture
def fresh_core_ops(monkeypatch):
    """A process that has loaded none, and has no cache."""
    monkeypatch.setenv("NUMBAGRAPH_CACHE", "0")
    monkeypatch.setattr(math_library.core_ops, "by_target", {})
    return math_library.core_ops


def test_a_core_op_is_compiled_for_the_lengths_that_it_meets(fresh_core_ops):
    factor = graph_jit(np.linalg.cholesky)
    for length, kind in ((2, "unrolled2"), (3, "unrolled3"), (7, "loops"), (20, "library"), (8, "loops")):
        a = random_matrices(length)
        np.testing.assert_allclose(factor(a), np.linalg.cholesky(a), rtol=1e-10)
        assert next(reversed(fresh_core_ops.libraries)).endswith(kind) or length == 8
    assert len(fresh_core_ops.libraries) == 4


CALLS = {
    "flat": lambda: graph_jit(np.linalg.cholesky),
    "static": lambda: partial(
        graph_jit(lambda a, power: np.linalg.cholesky(a) ** power, static_argnames="power"), power=1
    ),
    "tree": lambda: partial(graph_jit(lambda scale, a: np.linalg.cholesky(a) * scale["all"]), {"all": 1.0}),
    "parallel": lambda: graph_jit(np.linalg.cholesky, parallel=True),
    "out": lambda: lambda a, factor=graph_jit(np.linalg.cholesky): factor(a, out=np.empty_like(a)),  # noqa: B008
    "gufunc": lambda: gufunc(signature="(n,n)->(n,n)")(np.linalg.cholesky),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("trouble", [MemoryError, KeyboardInterrupt])
def test_what_is_raised_while_a_core_op_is_loaded_reaches_the_caller(fresh_core_ops, monkeypatch, trouble, name):
    """Python would print it and go on."""
    compile_module, left, ignored = math_library.compile_module, [trouble], []

    def fail_once(*args):
        if left:
            raise left.pop()
        return compile_module(*args)

    monkeypatch.setattr(sys, "unraisablehook", lambda each: ignored.append(each.exc_type))
    function, a = CALLS[name](), random_matrices(7)
    function(random_matrices(2))  # now the entry knows the function, but not its core op for 7 rows
    monkeypatch.setattr(math_library, "compile_module", fail_once)
    with pytest.raises(trouble):
        function(a)
    assert not left
    for _ in range(2):
        np.testing.assert_allclose(function(a), np.linalg.cholesky(a), rtol=1e-10)
    assert not ignored


def test_what_is_raised_in_helpers_reaches_the_caller_of_the_function():
    def fail():
        raise MemoryError

    f, failing = graph_jit(lambda x, i: x[i]), ctypes.PYFUNCTYPE(None)(keeping(fail))
    capsule = ctypes.CDLL(None).pthread_create, ctypes.CDLL(None).pthread_join
    thread = ctypes.c_ulong()
    body = ctypes.CFUNCTYPE(None)(failing)  # without the GIL, as a thread that Python has not made
    assert capsule[0](ctypes.byref(thread), None, ctypes.cast(body, ctypes.c_void_p), None) == 0
    assert capsule[1](thread, None) == 0
    with pytest.raises(MemoryError):
        f(np.ones(3), 5)
    with pytest.raises(IndexError):
        f(np.ones(3), 5)

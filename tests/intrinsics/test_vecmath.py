"""The mathematical functions: accuracy, special values, and code without calls on every kind of processor."""

import re
import subprocess
import sys
from pathlib import Path

import mpmath
import numpy as np
import pytest

from numbagraph.emit import nest
from numbagraph.intrinsics.emitters.target import Target, emitting_for, host
from numbagraph.intrinsics.emitters.vecmath.deferred import functions
from numbagraph.ir import structs
from numbagraph.ir.op import registry
from numbagraph.ir.types import FLOAT32, FLOAT64, FLOATS
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.library.namespaces import public_function
from numbagraph.testing import accuracy, assert_same, special_values
from numbagraph.testing.arrays import combinations

ROOT = Path(__file__).parents[2]
HASWELL = Target("x86_64-unknown-linux-gnu", "haswell", "+avx,+avx2,+fma")
WITHOUT_FMA = Target("x86_64-unknown-linux-gnu", "x86-64-v2")
VECTORS = {
    "AVX-512": (Target("x86_64-unknown-linux-gnu", "skylake-avx512", "+avx,+avx2,+avx512f,+fma"), 64),
    "AVX2": (HASWELL, 32),
    "NEON": (Target("aarch64-unknown-linux-gnu", "neoverse-n1"), 16),
    "Apple": (Target("arm64-apple-macosx", "apple-m1"), 16),
    "SVE": (Target("aarch64-unknown-linux-gnu", "neoverse-v1", "+sve"), 16),
}
INSTRUCTIONS = {"llvm." + name for name in "copysign fabs floor fma get is ldexp masked rint sqrt trunc vscale".split()}
"""Intrinsic functions that are no calls in vectors, by the first word of their names."""

TAKE_LONG = (
    "bessel",
    "bessel_integrals",
    "error_function",
    "exponential_integrals",
    "gamma",
    "hyperbolic_integrals",
    "inverse_error_function",
    "kelvin",
    "modified_bessel",
)
"""Tables that take ten seconds or more each. What they are for is measured by the tests of accuracy."""

WRONG_AT_ENDS = ("ellipeinc", "elliprc", "elliprd", "elliprf", "elliprg")
"""SciPy takes small numbers for zero here, or its sums of large ones are infinite: mpmath has the right values."""

WRONG_FAR_AWAY = ("j0", "j1", "y0", "y1")
"""SciPy subtracts a part of pi from the number and rounds the difference, whose sine is then another one."""
FAR_AWAY = 1000

WITHOUT_DIGITS = ("ber", "bei", "beip", "berp", "iti0k0", "itj0y0", "kei", "keip", "ker", "kerp")
"""SciPy's series cancel where numbers are not small, its asymptotic ones begin at 10 or 20, and the least number is too
small: errors are measured with mpmath."""

CASES = [pytest.param(functions[name], dtype, id=f"{name}-{dtype}") for name in sorted(functions) for dtype in FLOATS]
EVERY = pytest.mark.parametrize(("function", "dtype"), CASES)


def runs_here(target):
    """Whether this machine can run another one's code."""
    wanted = {*target.features.split(",")} - {""}
    return host().triple == target.triple and wanted <= {*host().features.split(",")}


def each_nan(dtype):
    """NaNs of either sign, quiet and signalling, with the least and the greatest payloads."""
    bits = np.dtype(f"u{dtype.itemsize}")
    infinity, payload = np.array(np.inf, dtype).view(bits), np.finfo(dtype).nmant
    payloads = np.array([1, 2, (1 << payload) - 1, 1 << (payload - 1), (1 << (payload - 1)) + 1], bits)
    return np.concatenate([infinity | payloads, ~(infinity | payloads) | infinity | (infinity << 1) | 1]).view(dtype)


@EVERY
def test_errors_stay_below_the_bound(function, dtype):
    worst = accuracy.measure(function, dtype, 200)
    assert worst.ulp <= function.ulp, worst


@pytest.mark.repeats
@EVERY
def test_errors_stay_below_the_bound_in_sums(function, dtype):
    """Where multiplications and additions may fuse. The sum of two equal numbers is exact."""
    op = public_function(function.op, "numbagraph.numpy")
    arguments = accuracy.samples(function, dtype, 100)
    with np.errstate(all="ignore"):
        moderate = np.abs(function.among(op(*arguments))) < np.finfo(dtype).max / 4
    arguments = [each[moderate] for each in arguments]
    sums = GraphFunction(lambda *pairs: np.sum(function.among(op(*pairs)), axis=-1), cache=False)
    twice = sums(*[np.stack([each, each], axis=-1) for each in arguments])
    worst = accuracy.worst_of(function, arguments, twice / 2)
    assert worst.ulp <= function.ulp, worst


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_inaccurate_functions_are_found(dtype):
    def wrong(mpmath, x):
        return mpmath.exp(x) * (1 + 3 * float(np.finfo(dtype).eps))

    assert accuracy.measure(structs.replace(functions["exp"], exact=wrong), dtype, 200).ulp > functions["exp"].ulp
    results, nothing = np.array([1.0, np.nan, np.inf, 0.0], FLOAT32), np.zeros(4)
    assert np.isinf(accuracy.distances(results, np.array([np.nan, 1.0, np.nan, np.nan]), nothing)).all()
    found = accuracy.distances(results, np.array([1.0, np.nan, np.inf, 1e-300]), nothing)
    assert (found == 0).tolist() == [True] * 3 + [False]


def test_errors_count_beside_what_is_larger():
    off, unit = np.float32(1e-3 + 2**-23), float(np.finfo(FLOAT32).eps)
    assert accuracy.error_of(off, mpmath.mpf("1e-3"), 1.0) < 1.1 < accuracy.error_of(off, mpmath.mpf("1e-3"))
    assert accuracy.distances(np.array([off]), np.array([1e-3]), np.array([1.0])) * unit == pytest.approx(
        2**-23, rel=1e-3
    )


@pytest.mark.repeats(but_each=3)
@EVERY
@pytest.mark.parametrize("target", [host(), HASWELL, WITHOUT_FMA], ids=["host", "haswell", "without FMA"])
def test_special_values_are_numpy_s(function, dtype, target):
    if not runs_here(target):
        pytest.skip("this machine cannot run the code")
    numbers = special_values(dtype)
    if function.name in WRONG_AT_ENDS:
        size = np.abs(numbers)
        numbers = numbers[~((size > 0) & (size < 1e-30)) & ~((size > 1e30) & np.isfinite(size))]
    if function.name in WRONG_FAR_AWAY:
        numbers = numbers[~(np.abs(numbers) > FAR_AWAY) | np.isinf(numbers)]
    if function.op in WITHOUT_DIGITS:
        size = np.abs(numbers)
        numbers = numbers[((size > 1e-30) & (size < 5)) | (size == 0) | ~np.isfinite(size)]
    arguments = combinations([numbers] * function.arity)
    op = registry[function.op]
    with emitting_for(target):
        run = accuracy.compiled(function)
        expected = accuracy.reference(function, arguments)
        assert_same(run(*arguments), expected, ulp=op.ulp, scale=op.scale, what=function.name)
        if function.arity == 1:
            assert np.isnan(run(each_nan(dtype))).all()


@EVERY
def test_vectors_of_any_width_give_the_same_bits(function, dtype):
    if not runs_here(HASWELL):
        pytest.skip("this machine cannot run the code")
    arguments = accuracy.samples(function, dtype, 200)
    expected = accuracy.compiled(function)(*arguments)
    with emitting_for(HASWELL):
        assert_same(accuracy.compiled(function)(*arguments), expected, what=function.name)


def optimised(function, dtype):
    return accuracy.compiled(function).llvm(*[np.ones(9, dtype)] * function.arity)


def element_of(dtype):
    return "double" if dtype == FLOAT64 else "float"


def library_calls(code, text):
    """The functions outside of the module ``text`` that some of its code calls."""
    called = set(re.findall(r"call [^\n]*?@([\w.]+)\(", code))
    defined = set(re.findall(r"^define [^@]*@([\w.]+)\(", text, re.MULTILINE))
    return {each for each in called - defined if ".".join(each.split(".")[:2]) not in INSTRUCTIONS}


@EVERY
@pytest.mark.parametrize("name", VECTORS)
def test_loops_are_vectors_without_calls(function, dtype, name, monkeypatch):
    monkeypatch.setattr(nest, "MOST_INLINED", 1000)  # so that long ones are no calls of the library
    target, width = VECTORS[name]
    with emitting_for(target):
        text = optimised(function, dtype)
    loops = [block for block in re.split(r"\n(?=[\w.]+:)", text) if block.startswith("vector.body")]
    whole = rf"<(vscale x )?({width // dtype.itemsize} x {element_of(dtype)}|{width // 8} x double)>"
    assert any(re.search(whole, each) for each in loops)
    assert not library_calls("\n".join(loops), text)
    assert "@llvm.ldexp.f" not in "\n".join(loops)  # but of vectors, where they have an instruction for it
    assert name == "AVX-512" or "llvm.ldexp" not in text


@EVERY
def test_without_fma_functions_are_libm_s(function, dtype):
    with emitting_for(WITHOUT_FMA):
        text = optimised(function, dtype)
    assert library_calls(text, text)
    assert "llvm.fma" not in text


def test_functions_are_ops():
    assert {each.op for each in functions.values()} <= {op.name for op in registry}


FAMILIES = [
    pytest.param(file.stem, marks=[pytest.mark.repeats] if file.stem in TAKE_LONG else [])
    for file in sorted((ROOT / "tools" / "tables").glob("*.py"))
]


@pytest.mark.parametrize("family", FAMILIES)
def test_tables_are_what_they_approximate(family):
    command = [sys.executable, str(ROOT / "tools" / "coefficients.py"), "--check", family]
    assert subprocess.run(command, check=False).returncode == 0


def test_the_page_on_accuracy_has_every_function():
    page = (ROOT / "docs" / "accuracy.md").read_text()
    assert page.startswith(accuracy.HEADER)
    assert re.findall(r"^\| `([\w.]+)`", page, re.MULTILINE) == sorted(functions)

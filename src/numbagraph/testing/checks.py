"""Checks of an op that follow from its declaration: values, special values, layouts, ranks, weak scalars."""

from __future__ import annotations

import inspect
import itertools
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from numbagraph.ir.abi import PYTHON_SCALARS
from numbagraph.ir.op import numpy_function
from numbagraph.ir.types import BOOL, COMPLEX128, FLOAT32, FLOAT64, INT64
from numbagraph.ir.values import Op
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.runtime.arguments import flatten
from numbagraph.testing.arrays import LAYOUTS, Layout, combinations, memory_of, special_values
from numbagraph.testing.compare import alike, assert_same, category
from numbagraph.testing.op_calls import Call, is_supported, main_dtype, outcome, samples

CONTIGUOUS = {"C order": LAYOUTS["C order"]}
IN_TURN = ("Fortran order", "strided", "rows apart", "negative strides", "stride 0")
"""Layouts of which each sample has one in turn, where there are to be few: the code for C order reads all others."""

WITHOUT_LAYOUTS = ("elementwise", "decomposition")
"""Kinds of ops that need no checks of layouts: loops read for the former, and other ops for the latter."""

REPRESENTATIVE = (BOOL, np.dtype(np.uint8), INT64, FLOAT32, FLOAT64, COMPLEX128)
"""Dtypes for which emitters write different code; the code for other widths of a kind is the same."""

BOTH_LOOPS = (LAYOUTS["C order"], LAYOUTS["strided"])
SPECIAL = "special values"
WITH_WEAK_SCALARS = (np.dtype(np.uint8), FLOAT32)
NUMBERS = (True, 3, 2.5, 1 - 2j)
"""One number of each of Python's types."""
REFUSED = ("complex", "must be of integer", "Array must be")
"""The messages of errors where a Python number may be refused: a complex one, as an index, in place of a matrix."""
ACCEPTED = ("select",)
"""Ops that take numbers which NumPy refuses, though they fit."""

JAX_ULP = 256.0
"""The tolerance for JAX: XLA computes elementary functions with other algorithms than NumPy, and sums in another
order."""

COMPLEX_ULP = 4.0
"""The tolerance for complex numbers: NumPy's own complex arithmetic rounds differently from one processor to the next,
since it fuses products with sums."""

FAILURES = (TypeError, ValueError, IndexError, OverflowError)


def check_op(op: Op, dtype: Any, backend: str = "numba", *, sparing: bool = False, **options: Any) -> int:
    """Compare an op with NumPy on its samples of a dtype, in all layouts, ranks and with special values.

    Where NumPy refuses the dtype, or gives one that is not supported, the op must refuse it too. What differs in the
    dtype alone is not compiled for every layout and sample again. With ``sparing``, one sample of the main dtype has
    all ranks, and all layouts or, where these are of no concern to the op, two; others have one layout each; of other
    dtypes, and of functions of other ops, there is a part of the samples.
    ``options`` are those of `numbagraph.graph_jit`.

    Returns
    -------
    int
        The number of results that were compared.
    """
    compared, dtype, main = 0, np.dtype(dtype), main_dtype(op)
    for call in samples(op, dtype):
        if call.number and (dtype not in REPRESENTATIVE or (sparing and is_spared(call, dtype, main, backend))):
            continue
        checker = Checker(call, backend, **options)
        if not is_supported(call.expected(call.arrays)):
            checker.refuses(call.arrays)
            continue
        thorough = is_thorough(call, dtype) and not (sparing and (call.number or dtype != main))
        layouts = layouts_of(call, dtype, backend, thorough=thorough, sparing=sparing)
        for what, arrays in variations(call, dtype, backend, layouts):
            checker.check(arrays, what)
        if backend != "jax" and thorough and len(call.arrays) == len(call.arguments):
            checker.check_rank0()
        if backend == "numba" and dtype == FLOAT64 and (call.number == 0 or (op.kind != "elementwise" and not sparing)):
            check_known_lengths(call, sparing=sparing, **options)
        if backend == "numpy" and dtype in WITH_WEAK_SCALARS and is_public(op):
            check_python_numbers(call)
            check_lengths_of_one(call)
        compared += checker.compared
    return compared


def check_known_lengths(call: Call, *, sparing: bool = False, **options: Any) -> None:
    """The op is right where the lengths of its arguments are known when it is compiled, in any order of memory.

    With ``sparing`` in one of the orders: in C order where no array has another one. What a function of other ops makes
    of known lengths is its trace, which is then evaluated with NumPy.
    """
    backend = "numpy" if sparing and call.op.kind == "decomposition" else "numba"
    known = Checker(call.with_known_lengths(), backend, **options)
    several = any(array.ndim > 1 for array in call.arrays)
    if several:
        known.check([LAYOUTS["Fortran order"](array) for array in call.arrays], "known lengths, Fortran order")
    if not (several and sparing):
        known.check(call.arrays, "known lengths")


def check_python_numbers(call: Call) -> None:
    """The op is right with Python numbers in place of each array, known in each call or when it is traced.

    Whether they are weak is the front end's matter, so nothing is compiled.
    """
    beside = {"arrays": call.arrays, "0-d arrays": call.rank0()} if len(call.arrays) > 1 else {"nothing": call.arrays}
    for others, arrays in beside.items():
        for position, number in itertools.product(range(len(arrays)), NUMBERS):
            before, after = arrays[:position], arrays[position + 1 :]
            given = [*before, number, *after]
            what = f"the Python number {number} as argument {position} beside {others}"
            Checker(call, "numpy").check_weak(given, what)
            if before or after:
                Checker(Call(call.op, call.fill(given), call.number), "numpy").check_weak([*before, *after], what)


def is_public(op: Op) -> bool:
    """Whether the op is a function of NumPy's or SciPy's, rather than a part of one."""
    function = numpy_function(op)
    return function is not None and not (getattr(function, "__module__", None) or "").startswith("numbagraph")


def check_lengths_of_one(call: Call) -> None:
    """One length of one array made 1 broadcasts where NumPy's does, and is an error where it is one."""
    for position, array in enumerate(call.arrays if len(call.arrays) > 1 else ()):
        for axis in range(array.ndim):
            cut = array[(slice(None),) * axis + (slice(1),)]
            given = [*call.arrays[:position], cut, *call.arrays[position + 1 :]]
            Checker(call, "numpy").check_weak(given, f"length 1 along axis {axis} of array {position}")


def is_thorough(call: Call, dtype: np.dtype) -> bool:
    """Whether to try all layouts and variations: with every sample of float64, and with the first sample of dtypes with
    code of their own."""
    return dtype == FLOAT64 or (dtype in REPRESENTATIVE and call.number == 0)


def is_spared(call: Call, dtype: np.dtype, main: np.dtype, backend: str) -> bool:
    """Whether a sample is left out: every other one of other dtypes than the main one, of JAX's, and of those that are
    compiled of a function of other ops, which the NumPy backend has whole. JAX's code is the same for all dtypes, so
    that others have the first sample alone there."""
    if dtype != main and backend == "jax":
        return True
    by_halves = dtype != main or backend == "jax" or (backend == "numba" and call.op.kind == "decomposition")
    return by_halves and turn_of(call, dtype) % 2 == 1


def turn_of(call: Call, dtype: np.dtype) -> int:
    """A number that decides what a sample is tried with: it differs between neighbouring samples, and between ops."""
    return call.number + dtype.num + zlib.crc32(call.op.name.encode())


def layouts_of(call: Call, dtype: np.dtype, backend: str, *, thorough: bool, sparing: bool) -> Mapping[str, Layout]:
    """The memory layouts to try a sample in."""
    if backend == "jax" or not is_thorough(call, dtype):
        return CONTIGUOUS
    possible = {name: each for name, each in LAYOUTS.items() if not (name == "stride 0" and call.op.regular)}
    few = sparing and backend == "numba"
    if thorough and not (few and call.op.kind in WITHOUT_LAYOUTS):
        return possible  # with a stride of 0 all rows are equal: see `Op.regular`
    in_turn = [name for name in IN_TURN if name in possible]
    turn = turn_of(call, dtype)
    if few and call.number:
        name = [*CONTIGUOUS, *in_turn][turn % (1 + len(in_turn))]
        return {name: possible[name]}
    name = in_turn[turn % len(in_turn)]
    return {each: layout for each, layout in possible.items() if each == name or each not in IN_TURN}


def variations(
    call: Call, dtype: np.dtype, backend: str, layouts: Mapping[str, Layout]
) -> Iterator[tuple[str, list[Any]]]:
    """Yield the arguments to call an op with, each with a description."""
    for name, layout in layouts.items():
        yield name, [layout(array) for array in call.arrays]
    if backend == "jax":  # compiles for every shape anew, and has its own special values
        return
    if "C order" not in layouts:  # what follows is in C order
        return
    for length in dict.fromkeys(call.arrays[0].shape[::-1] if call.arrays else ()):
        if length in call.static:  # which says that it is there
            continue
        yield f"lengths of {length} made 0", [emptied(array, length) for array in call.arrays]
    if call.op.kind == "elementwise":
        yield from special_variations(call, "strided" in layouts)
        if dtype in WITH_WEAK_SCALARS or backend == "numpy":
            yield from weak_variations(call)


def emptied(array: np.ndarray, length: int) -> np.ndarray:
    """Cut an array to no elements along all dimensions of some length, so that equal lengths stay equal."""
    return array[tuple(slice(0 if each == length else None) for each in array.shape)]


def special_variations(call: Call, in_strides: bool) -> Iterator[tuple[str, list[Any]]]:
    """Special values in every combination."""
    arrays = call.arrays
    if not 1 <= len(arrays) <= 3:
        return
    specials = combinations([special_values(array.dtype) for array in arrays])
    yield SPECIAL, specials
    yield f"{SPECIAL}, twice", [np.tile(each, 2) if each.shape[-1] > 1 else each for each in specials]
    if in_strides:
        yield f"{SPECIAL}, strided", [LAYOUTS["strided"](each) for each in specials]


def weak_variations(call: Call) -> Iterator[tuple[str, list[Any]]]:
    """Python scalars beside arrays."""
    arrays = call.arrays
    if len(arrays) == 2 and arrays[0].dtype == arrays[1].dtype:
        for scalar in (3, -2, 2.5, True, *([1 - 2j] if any(samples(call.op, COMPLEX128)) else [])):
            yield f"the Python number {scalar} on the right", [arrays[0], scalar]
        yield "a Python number on the left", [3, arrays[1]]


class Checker:
    """Compares one call of an op with NumPy's."""

    def __init__(self, call: Call, backend: str, **options: Any) -> None:
        self.call = call
        self.backend = backend
        self.compiled: GraphFunction = call.compiled(backend=backend, **options)
        self.compared = 0

    def check_rank0(self) -> None:
        """Check with NumPy scalars and with 0-d arrays. A compiled function cannot tell them apart, so where NumPy
        returns different kinds of results for the two, either will do."""
        arrays = self.call.rank0()
        scalars = [array[()] for array in arrays]
        results = [self.call.expected(arrays), self.call.expected(scalars)]
        if all(map(is_supported, results)):
            boxed = category(results[0]) == category(results[1])
            self.check(arrays, "0-d arrays", boxed=boxed)
            self.check(scalars, "NumPy scalars", boxed=boxed)

    def check_weak(self, arrays: Sequence[Any], what: str) -> None:
        """Check as `check` does, but let the first sample alone decide where NumPy or the op raises an error: other
        samples are made for arrays."""
        expected, actual = self.call.expected(arrays), outcome(self.compiled, arrays)
        if isinstance(actual, Exception) and (self.call.number or any(each in str(actual) for each in REFUSED)):
            return
        if not is_supported(expected):
            if not (isinstance(actual, Exception) or self.call.number or self.call.op.name in ACCEPTED):
                raise AssertionError(f"{self.call}, {what}: an exception expected ({expected!r}), found {actual!r}")
        elif type(actual) in PYTHON_SCALARS and type(expected) not in PYTHON_SCALARS:
            raise AssertionError(f"{self.call}, {what}: {expected!r} expected, found the Python number {actual!r}")
        else:
            with warnings.catch_warnings():  # of complex numbers that lose a part, as NumPy warns
                warnings.simplefilter("ignore")
                self.check(arrays, what, boxed=False)

    def check(self, arrays: Sequence[Any], what: str, *, boxed: bool = True) -> None:
        """Check that result, type and dtype are NumPy's, and that the arguments are unchanged; or that both raise the
        same error."""
        expected = self.call.expected(arrays)
        if not is_supported(expected):
            self.refuses(arrays, what, expected)
            return
        special = what.startswith(SPECIAL)
        what = f"{self.call}, {what}, {self.backend}"
        before = [memory_of(array) for array in arrays if isinstance(array, np.ndarray)]
        try:
            actual = self.compiled(*arrays)
        except Exception as error:
            if self.backend == "jax" and isinstance(error, TypeError) and any(map(np.iscomplexobj, arrays)):
                return  # JAX does not order complex numbers
            raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error
        after = [memory_of(array) for array in arrays if isinstance(array, np.ndarray)]
        if before != after:
            raise AssertionError(f"{what}: an argument was modified")
        assert_own_memory(actual, arrays, what)
        if special:
            actual, expected = self.specified(actual, expected, arrays)
        actual, expected = map(self.call.op.determined, (actual, expected))
        assert_same(actual, expected, ulp=self.ulp, scale=self.scale(arrays), boxed=boxed, what=what)
        self.compared += 1

    def specified(self, actual: Any, expected: Any, arrays: Sequence[Any]) -> tuple[Any, Any]:
        """Restrict a comparison to elements on which NumPy agrees with itself. Its loops for contiguous and for strided
        arrays differ where C leaves it open: in the sign of ``maximum(0.0, -0.0)``, or in the integer that NaN
        becomes."""
        loops = [self.call.expected([layout(array) for array in arrays]) for layout in BOTH_LOOPS]
        if isinstance(expected, (tuple, list)) or np.shape(expected) != np.shape(actual):
            return actual, expected
        agree = np.logical_and(*[alike(np.asarray(each), np.asarray(expected), self.ulp) for each in loops])
        return np.where(agree, actual, expected).astype(np.asarray(actual).dtype), expected

    def refuses(self, arrays: Sequence[Any], what: str = "refused", expected: Any = None) -> None:
        """Check that the op raises an error where NumPy does, or where NumPy's result has a dtype that is not
        supported."""
        expected = self.call.expected(arrays) if expected is None else expected
        if self.backend == "jax" or isinstance(expected, ZeroDivisionError):  # the latter depends on the numbers
            return
        actual = outcome(self.compiled, arrays)
        kind = family(expected) if isinstance(expected, Exception) else TypeError
        if not isinstance(actual, kind):
            raise AssertionError(
                f"{self.call}, {what}, {self.backend}: {kind.__name__} expected ({expected!r}), found {actual!r}"
            )

    @property
    def ulp(self) -> float:
        if self.backend == "jax":
            return JAX_ULP
        return max(self.call.op.ulp, COMPLEX_ULP if any(array.dtype.kind == "c" for array in self.call.arrays) else 0.0)

    def scale(self, arrays: Sequence[Any]) -> float:
        """The magnitude that errors are relative to: that of the terms, in a reduction or a product, or else that of
        the value."""
        if self.call.op.kind == "elementwise" and self.backend != "jax":
            return self.call.op.scale
        largest = 0.0
        for array in arrays:
            numbers = np.abs(np.asarray(array).astype(np.complex128))
            largest = max(largest, float(numbers.max(initial=0.0, where=np.isfinite(numbers))))
        return largest


def family(error: Exception) -> type[Exception]:
    """The plain exception class that an exception of NumPy's belongs to."""
    return next((kind for kind in FAILURES if isinstance(error, kind)), Exception)


def assert_own_memory(result: Any, arrays: Sequence[Any], what: str) -> None:
    """Raise unless results share no memory with arguments, nor with each other."""
    others = [each for each in arrays if isinstance(each, np.ndarray)]
    for each in flatten(result)[0]:
        if isinstance(each, np.ndarray):
            if any(np.may_share_memory(each, other) for other in others):
                raise AssertionError(f"{what}: the result shares memory with an argument, or with another result")
            others.append(each)


def check_own_memory(call: Call, backend: str = "numba", **options: Any) -> None:
    """Raise unless each array that a call returns has memory of its own, which no other call uses: equal results,
    arguments and captured arrays that are returned, and values that are the same in each call."""
    captured = np.arange(2.0)

    def function(*arrays: Any) -> Any:
        results = [call.function(*arrays), call.function(*arrays)]
        return {"results": results, "arguments": [*arrays, *arrays], "same": (captured, captured, np.zeros(2))}

    function.__signature__ = inspect.signature(call.function)  # type: ignore[attr-defined]
    compiled, what = GraphFunction(function, backend=backend, **options), f"{call}, {backend}"
    before, first = [memory_of(each) for each in (*call.arrays, captured)], compiled(*call.arrays)
    assert_own_memory(first, [*call.arrays, captured], what)
    arrays = [each for each in flatten(first)[0] if isinstance(each, np.ndarray)]
    wanted = [each.copy() for each in arrays]
    for each in arrays:
        each[...] = 1 - each if each.dtype.kind != "b" else ~each
    second = [each for each in flatten(compiled(*call.arrays))[0] if isinstance(each, np.ndarray)]
    assert_own_memory([arrays, second], [*call.arrays, captured], what)
    assert_same(second, wanted, what=f"{what}, after the results of another call were written to")
    if before != [memory_of(each) for each in (*call.arrays, captured)]:
        raise AssertionError(f"{what}: an argument was modified")

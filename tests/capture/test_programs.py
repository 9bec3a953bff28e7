"""Functions with Python's loops, branches and assignments give what Python gives."""

import collections
import copy
import functools
import importlib
import linecache
import sys
import traceback
import types
import zlib

import numpy as np
import optree
import pytest

import numbagraph as ng
from tests.support.programs import OTHERS, PROGRAMS, REFUSED

TAKE_LONG = ("nqueens", "longer_than_its_room", "rkf_adaptive")


def usual(function, backend):
    """How many of a program's arguments stand for all, one or two. Both backends run what one trace has made: usually
    NumPy that of one program in three, and native code that of the others."""
    if any(function is other for other, _ in OTHERS):
        return 0
    by_numpy = zlib.crc32(function.__name__.encode()) % 3 == 0 and function.__name__ not in TAKE_LONG
    return 1 + zlib.crc32(function.__name__.encode()) % 2 if by_numpy == (backend == "numpy") else 0


CASES = [
    pytest.param(
        *(function, arguments, backend),
        id=f"{function.__name__}-{number}-{backend}",
        marks=pytest.mark.repeats if number >= usual(function, backend) else (),
    )
    for function, sets in (*PROGRAMS, *OTHERS)
    for number, arguments in enumerate(sets)
    for backend in ("numba", "numpy")
]


def outcome(function, arguments):
    try:
        return function(*arguments)
    except Exception as error:  # noqa: BLE001  whatever it is, it is compared
        return error


def require_same(result, expected):
    """Equal values, shapes and dtypes, or errors of one type."""
    if isinstance(expected, Exception):
        assert type(result) is type(expected), result
        *_, (frame, line) = traceback.walk_tb(expected.__traceback__)
        if linecache.getline(frame.f_code.co_filename, line).strip().startswith(("raise", "assert")):
            assert result.args == expected.args
        if "is out of bounds for axis" in str(expected):
            assert str(result).partition("\n")[0] == str(expected)
        return
    if isinstance(result, Exception):
        raise result
    leaves, spec = optree.tree_flatten(result)
    known, structure = optree.tree_flatten(expected)
    assert spec == structure
    for one, other in zip(leaves, known, strict=True):
        assert type(one) is type(other)
        if isinstance(other, str):
            assert one == other
        elif isinstance(other, set):
            require_same(sorted(one), sorted(other))
        elif isinstance(other, collections.Counter):
            require_same(list(one.items()), list(other.items()))
        else:
            np.testing.assert_allclose(one, other, rtol=1e-12, strict=True)


def shown(arguments):
    """Arguments, with the states of generators of random numbers in their place."""
    return [each.bit_generator.state if isinstance(each, np.random.Generator) else each for each in arguments]


@functools.lru_cache(maxsize=4)
def kept(function, backend):
    """A compiled function for all arguments of a program, which follow one another: some share a version."""
    return ng.graph_jit(function, backend=backend)


@pytest.mark.parametrize(("function", "arguments", "backend"), CASES)
def test_programs(function, arguments, backend, extent):
    """Usually the arguments of a program are one function's; with ``--extent=all`` each is the first of a new one."""
    compiled = (kept.__wrapped__ if extent == "all" else kept)(function, backend)
    given, changed = copy.deepcopy(arguments), copy.deepcopy(arguments)
    expected = outcome(function, changed)
    require_same(outcome(compiled, given), expected)
    np.testing.assert_equal(shown(given), shown(arguments if isinstance(expected, Exception) else changed))
    require_same(outcome(compiled, copy.deepcopy(arguments)), expected)


@pytest.mark.parametrize(("function", "message", "sets"), REFUSED, ids=lambda each: getattr(each, "__name__", ""))
def test_what_nobody_knows_is_refused(function, message, sets):
    for arguments in sets:
        with pytest.raises((ng.TraceError, OverflowError), match=message) as caught:
            ng.graph_jit(function)(*copy.deepcopy(arguments))
        assert "support/programs" in str(caught.value)


def rows_in_a_loop(m, a, n):
    for _ in range(n):
        m[0, :] = m.sum(axis=1)


def rows_in_a_branch(m, a, n):
    if n > 0:
        m[0] = a


def sums_in_a_loop(m, a, n):
    for i in range(n):
        m[0, 0] = (m[i] + a)[1]


def rebound_in_a_loop(m, a, n):
    for _ in range(n):
        m = m + a
    return m


def rows_in_a_loop_of_three(m, a, n):
    i = 0
    while i < n:
        i += 1
        j = 0
        while j < 3:
            j += 1
            m[0, 3:] = a


def after_a_check(m, a, n):
    if n > 5:
        raise IndexError
    m[0] += a


@pytest.mark.parametrize("backend", ["numba", "numpy"])
@pytest.mark.parametrize(
    "function",
    [rows_in_a_loop, rows_in_a_branch, sums_in_a_loop, rebound_in_a_loop, rows_in_a_loop_of_three, after_a_check],
)
def test_lengths_that_do_not_fit_are_errors_where_statements_are_reached(function, backend):
    compiled = ng.graph_jit(function, backend=backend)
    array = np.arange(15.0).reshape(5, 3)
    for n in (2, 0, 6):
        own, changed = array.copy(), array.copy()
        expected = outcome(function, (changed, np.ones(5), n))
        found = outcome(compiled, (own, np.ones(5), n))
        if isinstance(expected, Exception):
            assert isinstance(found, type(expected))
            changed = array
        else:
            require_same(found, expected)
        np.testing.assert_array_equal(own, changed)


def swallowing(x, n):
    total = 0.0
    for _ in range(n):
        try:
            total += {1.0: 2.0}[x]
        except (TypeError, KeyError):
            total += 1.0
    return total


def digits(n):
    return len(str(n))


def palindrome(n, m):
    s = str(n)
    count = 0
    for _ in range(m):
        if s == s[::-1]:
            count += 1
    return count


@pytest.mark.parametrize(("function", "arguments"), [(swallowing, (2.0, 3)), (digits, (123,)), (palindrome, (123, 4))])
def test_refusals_are_not_handled_by_the_function(function, arguments):
    with pytest.raises(ng.TraceError, match="traced"):
        ng.graph_jit(function)(*arguments)


def test_a_traced_array_is_printed(capsys):
    written = []

    class Stream:
        def write(self, text):
            written.append(text)
            return len(text)

    def printing(x):
        print(x)
        print(x, file=Stream())
        return x

    assert ng.graph_jit(printing)(1.0) == 1.0
    assert capsys.readouterr().out == written[0] + "\n" == "Tracer(Python float)\n"


def test_functions_before_and_after_a_reload(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    path = tmp_path / "reloaded_program.py"
    text = "def total(x):\n    s = 0.0\n    for v in x:\n        if v > 0:\n            s += v\n    return s\n"
    path.write_text(text, encoding="utf-8")
    module = importlib.import_module("reloaded_program")
    before, never_called = module.total, types.FunctionType(module.total.__code__.replace(), {})
    assert ng.graph_jit(before)(np.ones(3)) == 3
    path.write_text("# another line\n" + text.replace("s = 0.0", "s = 100.0"), encoding="utf-8")
    importlib.invalidate_caches()
    importlib.reload(module)
    assert ng.graph_jit(module.total)(np.ones(3)) == 103
    assert ng.graph_jit(never_called)(np.ones(3)) == 3
    path.write_text("never = 1\n", encoding="utf-8")
    moved = before.__code__.replace(co_firstlineno=7)
    with pytest.raises(ng.TraceError, match="has changed since it was loaded"):
        ng.graph_jit(types.FunctionType(moved, {}))(np.ones(3))

"""Functions whose arguments choose how they are traced (axes, lengths, steps, flags, dtypes, functions, members of
enumerations) against NumPy, called with one value after the other, wrong ones among them."""

from __future__ import annotations

import copy
import enum
import linecache
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph import TraceError, graph_jit
from numbagraph.jit.options import Backend
from numbagraph.testing.op_calls import outcome
from tests.fuzz.runner import Difference, Report

__all__ = ["case", "names"]

BACKENDS: tuple[Backend, ...] = ("numpy", "numpy", "numba")
CALLS = 8
ERRORS = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, np.linalg.LinAlgError)
"""Of NumPy's own errors. Which of them is raised is compared as far as a caller would notice: that one is."""
TOLERANCE = 1e-9


REFUSALS = (TraceError, NotImplementedError)
REFUSED = ("must leave it as it is", "is complex in Python", "negative dimensions", "only known at run time")
"""Texts of other refusals: of arrays whose length a number decides, of numbers whose type it decides, of lengths below
-1, which NumPy takes for -1, and of ``squeeze`` of lengths that are computed."""
STRICT = ("integer", "known before values")
"""Texts of errors for floats and truth values, which some functions of NumPy's take for integers, and others do not."""
LENIENT = ("integer", "integral", "can't multiply sequence")
"""Texts of errors of those others."""


class Mode(enum.Enum):
    A = 1
    B = "b"


class Count(enum.IntEnum):
    ONE = 1
    TWO = 2


def halved(a: Any) -> Any:
    return a / 2


NUMBERS = (0, 1, 2, 3, 1, 2, -1, -2, 5, True, False, 1.0, 2.5, -0.5, None, Count.TWO)
TYPED = (np.int64, np.int32, np.float64, np.float32, np.bool_)
DTYPES = ("f", "d", np.float32, int, float, bool, complex, np.dtype("i4"), "int16", None)
FUNCTIONS = (np.sin, np.abs, halved, lambda a: a + 1, np.sum)
SLICES = (slice(1, 3), slice(None, None, 2), slice(None, None, -1), slice(-2, None), slice(5, 9), 1, -1, ...)
TEXTS = ("valid", "same", "full", "mean", "clip", "wrap")

FORMS = (
    *("np.sum(x, axis={n})", "x.mean({n})", "np.cumsum(x, axis={n})", "np.flip(x, {n})", "np.roll(x, {n}, axis={n})"),
    *("np.repeat(v, {n})", "np.repeat(x, {n}, axis={n})", "np.tile(v, {n})", "np.tile(x, (1, {n}))", "np.eye({n})"),
    *("v[{n}:]", "v[:{n}]", "v[{n}:{n}]", "v[::{n}]", "v[{n}]", "x[{n}]", "x[:, {n}]", "x[{n}, {n}]", "v[{n}::{n}]"),
    *("np.zeros({n})", "np.ones(({n}, 2))", "np.full({n}, v[0])", "np.arange({n})", "np.arange({n}, {n}) + v[0]"),
    *("np.linspace(0, 1, {n})", "np.linspace({n}, {n}, 4)", "v ** {n}", "{n} ** v", "2 ** {n}", "{n} ** {n}"),
    *("x.reshape({n}, -1)", "x.reshape(({n}, {n}))", "np.diff(v, n={n})", "np.diff(x, axis={n})", "np.eye(3, k={n})"),
    *("np.linalg.matrix_power(m, {n})", "np.tril(m, {n})", "np.diag(v, {n})", "np.diag(m, {n})", "np.trace(m, {n})"),
    *("np.sort(x, axis={n})", "np.argmax(x, axis={n})", "np.expand_dims(v, {n})", "np.concatenate([x, x], axis={n})"),
    *("np.stack([v, v], axis={n})", "np.take(x, [0, 1], axis={n})", "np.swapaxes(x, {n}, {n})"),
    *(
        "np.moveaxis(x, {n}, {n})",
        "np.array_split(v, {n})[0]",
        "np.split(v, {n})[-1]",
        "np.sum(x, axis=0, keepdims={n})",
    ),
    *("np.std(v, ddof={n})", "np.var(x, axis={n}, ddof={n})", "np.linalg.norm(v, {n})", "np.linalg.norm(x, axis={n})"),
    *("np.round(v, {n})", "np.clip(v, {n}, {n})", "np.vander(v, {n})", "np.pad(v, {n})", "np.pad(v, ({n}, {n}))"),
    *("np.rot90(x, {n})", "np.percentile(v, {n})", "np.quantile(v, {n})", "np.quantile(x, 0.5, axis={n})"),
    *("np.broadcast_to(v, ({n}, 5))", "kth(v, {n})", "np.fft.rfft(v, {n})", "np.delete(v, {n})"),
    *("np.convolve(v, np.ones({n}))", "np.tensordot(x, x.T, axes={n})", "np.insert(v, {n}, 1.0)", "np.triu(x, {n})"),
    *("[v, -v, v + 1][{n}]", "(v, -v)[{n}]", "{{1: v, 2: -v}}[{n}]", "{{1: v, None: v + 3}}.get({n}, -v)"),
    *("v if {n} else -v", "v * 2 if {n} is None else v * {n}", "v if {n} == 2 else v + 1", "v[:2] if {n} > 1 else v"),
    *("{n} // {n}", "{n} % {n}", "{n} / {n}", "max({n}, {n})", "abs({n})", "int({n})", "float({n})", "bool({n})"),
    *("v + {n}", "v * {n} + x.sum()", "np.float32({n}) * v", "x - {n}", "np.maximum(v, {n})", "v > {n}", "{n} < {n}"),
    *("sum([v[i] for i in range({n})])", "np.array([{n}, {n}]) + v[0]", "[v] * {n}", "np.histogram(v, bins={n})[0]"),
    *("len(v[{n}:])", "np.unravel_index({n}, x.shape)", "np.allclose(v, v + {n})", "round(v[0] + 0.123, {n})"),
    *("np.squeeze(x[:1], axis={n})", "np.any(x > 0, axis={n})", "np.cumprod(v)[{n}]", "np.ldexp(v, {n})"),
    *("np.searchsorted(np.sort(v), {n})", "isinstance({n}, int)", "np.apply_along_axis(np.sum, {n}, x)"),
    *("looped(v, {n})", "counted(v, {n})", "nested(x, {n})", "default(v, k={n})", "recursive({n}) * v"),
    *(
        "v.astype({d})",
        "np.zeros(3, {d})",
        "np.sum(v, dtype={d})",
        "np.asarray(x, dtype={d})",
        "np.ones_like(v, dtype={d})",
    ),
    *("{f}(v)", "{f}(x)", "np.sum({f}(v))", "applied({f}, v)", "v[{s}]", "x[{s}]", "x[:, {s}]", "x[{s}, {s}]"),
    *("np.convolve(v, v[:2], mode={t})", "getattr(v, {t})()", "np.take(v, 7, mode={t})", "v if {t} == 'same' else -v"),
    *(
        "v * 2 if {e} is Mode.A else v",
        "v if {e} == Mode.B else v.sum()",
        "{{Mode.A: v, Mode.B: -v}}[{e}]",
        "named({e}, v)",
    ),
)
"""Expressions of a vector ``v``, a matrix ``x``, a square one ``m``, and arguments: numbers, dtypes, functions,
members, slices, texts."""
HELPERS = """
def looped(v, n):
    s = 0.0
    for i in range(n):
        if v[i] > 0:
            s += v[i]
    return s

def counted(v, n):
    k = 0
    while k < n and v[k] < 10:
        k += 1
    return v * k

@jit
def nested(x, n):
    return x.sum(axis=n)

def default(v, k=1):
    return v[::k] if k else v

def kth(v, k):
    return np.partition(v, k)[k]

def recursive(n):
    return 1 if n <= 1 else n * recursive(n - 1)

def applied(f, v):
    return f(v) + 1

def named(e, v):
    return v if e.name == "A" else v + 1
"""
START = "\ndef program(x, v, m"
KINDS = {"n": NUMBERS, "d": DTYPES, "f": FUNCTIONS, "s": SLICES, "t": TEXTS, "e": tuple(Mode)}
MOST_ARGUMENTS = 3


def names() -> list[str]:
    return sorted(FORMS)


def case(rng: np.random.Generator, report: Report) -> None:
    """One function of one or two expressions, and calls of it."""
    chosen = [FORMS[rng.integers(len(FORMS))] for _ in range(rng.integers(1, 3))]
    kinds: list[str] = []
    expressions = [filled(each, kinds, rng) for each in chosen]
    steps = [[value_of(kind, rng) for kind in kinds] for _ in range(CALLS)]
    backend = BACKENDS[rng.integers(len(BACKENDS))]
    difference = compared(expressions, kinds, steps, backend, report)
    if difference is None:
        report.covered.update(chosen)
        return
    for each in expressions if len(expressions) > 1 else ():
        alone = compared([each], kinds, steps, backend, Report(0))
        if alone is not None:
            expressions, difference = [each], alone
            break
    source = source_of(expressions, kinds)
    raise Difference(f"backend {backend}: {difference}\n{source[source.index(START) :]}")


def filled(form: str, kinds: list[str], rng: np.random.Generator) -> str:
    """An expression with arguments in its gaps, which several gaps may share."""
    for kind in KINDS:
        while f"{{{kind}}}" in form:
            known = [number for number, each in enumerate(kinds) if each == kind]
            if not known or (len(kinds) < MOST_ARGUMENTS and rng.random() < 0.5):
                kinds.append(kind)
                known = [len(kinds) - 1]
            form = form.replace(f"{{{kind}}}", f"p{known[rng.integers(len(known))]}", 1)
    return form.replace("{{", "{").replace("}}", "}")


def value_of(kind: str, rng: np.random.Generator) -> Any:
    pool = KINDS[kind]
    value = pool[rng.integers(len(pool))]
    if kind == "n" and isinstance(value, (int, float)) and rng.random() < 0.2:
        found = np.float64(value).astype(TYPED[rng.integers(len(TYPED))])
        return found if value == found else value
    return value


def source_of(expressions: list[str], kinds: list[str]) -> str:
    parameters = "".join(f", p{number}" for number in range(len(kinds)))
    return f"{HELPERS}{START}{parameters}):\n    return {', '.join(expressions)}\n"


def function_of(source: str, jit: Callable[..., Any]) -> Callable[..., Any]:
    name = f"<program {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    space: dict[str, Any] = {"np": np, "Mode": Mode, "jit": jit, "__name__": "world"}
    exec(compile(source, name, "exec"), space)
    return space["program"]


def compared(
    expressions: list[str], kinds: list[str], steps: list[Any], backend: Backend, report: Report
) -> str | None:
    source = source_of(expressions, kinds)
    plain = function_of(source, lambda f: f)
    compiled = graph_jit(
        function_of(source, lambda f: graph_jit(f, backend=backend, cache=False)), backend=backend, cache=False
    )
    rng = np.random.default_rng(len(source))
    for number, given in enumerate(steps):
        n = 5 if number % 3 else 4
        arrays = [rng.uniform(-2, 2, (n, 3)), rng.uniform(-2, 2, n), rng.uniform(-1, 1, (3, 3))]
        kept = copy.deepcopy(arrays)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected, found = outcome(plain, [*arrays, *given]), outcome(compiled, [*arrays, *given])
        if any(one.tobytes() != other.tobytes() for one, other in zip(arrays, kept, strict=True)):
            return f"call {number} of {steps}: an argument was changed"
        if (difference := unlike(expected, found, given, report)) is not None:
            return f"call {number} of {steps[: number + 1]}: {difference}"
    return None


def is_of_kind(error: Any, texts: tuple[str, ...], given: list[Any]) -> bool:
    """Whether an error is about a float or a truth value in the place of an integer."""
    is_said = isinstance(error, TypeError) and any(text in str(error) for text in texts)
    return is_said and not all(type(each) in (int, np.int64, np.int32) for each in given)


def is_refused(error: Exception, given: list[Any]) -> bool:
    return any(text in str(error) for text in REFUSED) or is_of_kind(error, STRICT, given)


def unlike(expected: Any, found: Any, given: list[Any], report: Report) -> str | None:
    if isinstance(found, Exception) and (isinstance(found, REFUSALS) or is_refused(found, given)):
        report.refused[str(found).partition("\n")[0][:100]] += 1
        return None
    if isinstance(expected, Exception) or isinstance(found, Exception):
        if isinstance(expected, Exception) and (isinstance(found, ERRORS) or is_of_kind(expected, LENIENT, given)):
            return None
        text = "".join(traceback.format_exception(found)[-6:]) if isinstance(found, Exception) else repr(found)
        return f"{expected!r} expected, found {text}"
    if isinstance(expected, (tuple, list)):
        if type(found) is not type(expected) or len(found) != len(expected):
            return f"{expected!r} expected, found {found!r}"
        pairs = zip(expected, found, strict=True)
        return next((each for pair in pairs if (each := unlike(*pair, given, report)) is not None), None)
    one, other = np.asarray(expected), np.asarray(found)
    if one.dtype.kind not in "biufc" or one.shape != other.shape or (one.ndim and one.dtype != other.dtype):
        return None if one.dtype == other.dtype and one.dtype.kind == "O" else f"{expected!r} expected, found {found!r}"
    tolerance = 1e-4 if one.dtype.itemsize < 8 and one.dtype.kind == "f" else TOLERANCE
    if not np.allclose(other, one, tolerance, tolerance, equal_nan=True):
        return f"{expected!r} expected, found {found!r}"
    return None

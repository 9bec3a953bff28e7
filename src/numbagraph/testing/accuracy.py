"""The accuracy of the mathematical functions, measured with mpmath.

``python -m numbagraph.testing.accuracy [name ...]`` prints the worst errors found: on dense samples of each function's
domain, at all exponents, and near its roots and boundaries. ``--exhaustive`` tries all numbers of float32 for functions
of one argument, a minute or so each. ``--page FILE`` enters the figures into a page of the documentation.
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

from numbagraph.intrinsics.emitters.vecmath.declare import MathFunction
from numbagraph.intrinsics.emitters.vecmath.deferred import functions
from numbagraph.ir.op import numpy_function, quiet, registry
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import FLOAT32, FLOAT64
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.library.namespaces import public_function

BITS = 250
"""The precision, in bits, of the numbers that results are compared with."""
CHUNK = 1 << 17
"""The number of float32 numbers that are tried at once: their arrays stay in the cache."""

Arrays = Sequence[np.ndarray]


class Worst(Struct):
    """The largest error found, in units in the last place, and its arguments."""

    ulp: float
    arguments: tuple[float, ...]

    def __str__(self) -> str:
        where = ", ".join(f"{each:.9g}" for each in self.arguments)
        return f"{self.ulp:.2f} at {where}"


def compiled(function: MathFunction) -> GraphFunction:
    """The op of a function, compiled."""
    op = public_function(function.op, "numbagraph.numpy")
    return GraphFunction(lambda *arguments: function.among(op(*arguments)))


def reference(function: MathFunction, arguments: Arrays) -> np.ndarray:
    """The results of NumPy or SciPy."""
    op = registry[function.op]
    return function.among(quiet(numpy_function(op) or op.reference, *arguments))


def samples(function: MathFunction, dtype: np.dtype, count: int) -> list[np.ndarray]:
    """Arguments to measure a function at: ``count`` in its domain and at exponents each, and some near points."""
    rng = np.random.default_rng(zlib.crc32(function.name.encode()))
    columns = [np.concatenate(list(_parts(function, each, dtype, count, rng))) for each in range(function.arity)]
    for column in columns[1:]:
        rng.shuffle(column)
    length = min(map(len, columns))
    return [column[:length] for column in columns]


def _parts(
    function: MathFunction, position: int, dtype: np.dtype, count: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    low, high = function.domain[position]
    limits = np.finfo(dtype)

    def inside(numbers: np.ndarray) -> np.ndarray:
        return numbers[(numbers >= low) & (numbers <= high)].astype(dtype)

    yield rng.uniform(low, high, count // 2).astype(dtype)
    yield inside(rng.choice([-1, 1], count) * 2 ** rng.uniform(-10, np.log2(max(abs(low), abs(high))), count))
    for point in (*function.near, low, high):
        steps = np.concatenate([np.arange(-8, 9), rng.choice([-1, 1], 64) * 2 ** rng.uniform(3, limits.nmant, 64)])
        near = point + float(np.spacing(np.asarray(abs(point), dtype))) * steps
        yield near.astype(dtype) if function.everywhere else inside(near)
    if function.everywhere:
        exponents = np.linspace(limits.minexp - limits.nmant, limits.maxexp, count // 2, endpoint=False)
        sizes = 2 ** exponents.astype(np.longdouble)
        yield np.concatenate([sizes, -sizes]).astype(dtype)


def exact(function: MathFunction, arguments: Iterable[float]) -> Any:
    """The exact value, a number of mpmath; None where there is no finite one."""
    with mpmath.workprec(BITS):
        try:
            value = function.exact(mpmath, *[mpmath.mpf(each) for each in arguments])
        except (ValueError, ZeroDivisionError):
            return None
        return value if isinstance(value, mpmath.mpf) and mpmath.isfinite(value) else None


def error_of(result: np.floating, wanted: Any, least: float = 0.0) -> float:
    """The distance of a result from the exact value in units in the last place of that, or of what is larger; infinity
    counts as the next number."""
    limits = np.finfo(result.dtype)
    if wanted is None:
        return float("inf") if np.isfinite(result) else 0.0
    if np.isnan(result):
        return float("inf")
    with mpmath.workprec(BITS):
        largest = mpmath.mpf(2) ** int(limits.maxexp)
        number = mpmath.mpf(float(result)) if np.isfinite(result) else mpmath.sign(result) * largest
        bounded = min(max(wanted, -largest), largest)
        size = max(abs(bounded), mpmath.mpf(least))
        exponent = max(mpmath.frexp(size)[1] - 1, int(limits.minexp)) if size else int(limits.minexp)
        return float(abs(number - bounded) / mpmath.mpf(2) ** (exponent - int(limits.nmant)))


def worst_of(function: MathFunction, arguments: Arrays, results: np.ndarray) -> Worst:
    """The largest error of some results."""
    found = Worst(0.0, tuple(float(each[0]) for each in arguments))
    sizes = quiet(function.beside, *[each.astype(FLOAT64) for each in arguments])
    for number, result in enumerate(results):
        point = tuple(float(each[number]) for each in arguments)
        error = error_of(result, exact(function, point), float(sizes[number]))
        if error > found.ulp:
            one = [each[number : number + 1] for each in arguments]
            if not is_specified(function, one, results[number : number + 1])[0]:
                found = Worst(error, point)
    return found


def is_specified(function: MathFunction, arguments: Arrays, results: np.ndarray) -> np.ndarray:
    """A mask of results that are zero or infinite where NumPy's are so, too: these are right by definition."""
    return (results == reference(function, arguments)) & ((results == 0) | np.isinf(results))


def measure(function: MathFunction, dtype: np.dtype, count: int) -> Worst:
    """The largest error on samples."""
    arguments = samples(function, dtype, count)
    return worst_of(function, arguments, compiled(function)(*arguments))


def measure_all(function: MathFunction) -> Worst:
    """The largest error on all numbers of float32: of each chunk, the result that is farthest from that of float64.

    The results of float64 are numbagraph's own, which `measure` compares with mpmath's: SciPy's take up to fifty times
    as long.
    """
    run, found = compiled(function), Worst(0.0, (0.0,))
    low, high = function.domain[0]
    for start in range(0, 1 << 32, CHUNK):
        x = np.arange(start, start + CHUNK, dtype=np.uint32).view(np.float32)
        if not function.everywhere:
            x = x[(x >= low) & (x <= high)]
            if not x.size:
                continue
        results = run(x)
        wide = quiet(x.astype, FLOAT64)
        distance = distances(results, run(wide), quiet(function.beside, wide))
        doubtful = np.flatnonzero(distance > function.ulp)
        distance[doubtful[is_specified(function, [x[doubtful]], results[doubtful])]] = 0.0
        worst_at = int(np.argmax(distance))
        if distance[worst_at] > 0.9 * found.ulp:
            worst = worst_of(function, [x[worst_at : worst_at + 1]], results[worst_at : worst_at + 1])
            found = max(found, worst, key=lambda each: each.ulp)
    return found


@cache
def finite_distances() -> GraphFunction:
    """`distances` of finite numbers, in one pass over memory."""
    limits = np.finfo(FLOAT32)

    def compare(results: np.ndarray, wanted: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        # The power of two in a number (S. M. Rump, "Ultimately fast accurate summation", 2009).
        product = np.maximum(np.abs(wanted), sizes) * (2.0**52 + 1.0)
        power = np.abs(product - product * (1.0 - 2.0**-53))
        return np.abs(results - wanted) / (np.maximum(power, float(limits.tiny)) * float(limits.eps))

    return GraphFunction(compare)


def distances(results: np.ndarray, wanted: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The distances of float32 results from float64 ones, in units in the last place of the latter, or of ``sizes``
    where these are larger; infinite if only one is NaN."""
    distance = finite_distances()(results, wanted, sizes)
    finite = np.isfinite(distance)
    if not finite.all():
        with np.errstate(all="ignore"):
            same = (results == wanted.astype(FLOAT32)) | (np.isnan(results) & np.isnan(wanted))
        distance = np.where(finite, distance, np.where(same, 0.0, np.inf))
    return distance


HEADER = """# Accuracy

Written by `python -m numbagraph.testing.accuracy --page docs/accuracy.md`: the largest error found of each mathematical
function, in units in the last place of the exact value, and the argument at which it was found.

Errors are measured on samples of the function's domain, at all exponents, and near roots and boundaries; with
`--exhaustive`, those of functions of one argument are measured on all numbers of float32, and the page says so: the
result farthest from ours in float64 is looked for, and then compared with the exact value. A zero or an infinity is
right where NumPy or SciPy gives the same, too. Processors without FMA use the C library instead.

`gammaln` and `digamma` are measured on positive numbers. Of negative ones, the error is at most 8 units in the last
place of the largest of 1, the result, and (`gammaln`) the result at 1 minus the argument. So near their negative
roots, of which there are up to two between any two poles, results have as few right digits as they are small.
`shichi.1` is measured beyond its root, around which its error is small beside 1.
`logaddexp` and `logaddexp2` are measured on positive numbers too: elsewhere terms of either sign may cancel.
Errors of `j0`, `j1`, `y0` and `y1` are measured beside the amplitude of the oscillation, `sqrt(2 / (pi * x))`, where
that is larger than the value: from 2 on, of `y0` from 0.5, and of `y1` and `itj0y0.1` from 1.5. Those of Kelvin's
functions are measured beside the complex function of which they are a part, from before their first root on.

| function | bound | float64 | float32 |
| --- | --- | --- | --- |
"""


def row(function: MathFunction, worst: Sequence[Worst], *, of_all: bool) -> str:
    cells = [f"`{function.name}`", f"{function.ulp:g}", *map(str, worst)]
    return f"| {' | '.join(cells)}{', of all numbers' if of_all else ''} |"


def enter(page: Path, rows: dict[str, str]) -> None:
    """Write rows into the page, in place of those of the same functions."""
    lines = page.read_text().splitlines() if page.exists() else []
    known = {line.split("`")[1]: line for line in lines if line.startswith("| `")}
    known.update(rows)
    page.write_text(HEADER + "\n".join(known[name] for name in sorted(known) if name in functions) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m numbagraph.testing.accuracy", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help="a function; without one, all")
    parser.add_argument("--samples", type=int, default=4000, help="how many in the domain, and at exponents each")
    parser.add_argument("--exhaustive", action="store_true", help="try all numbers of float32")
    parser.add_argument("--page", type=Path, help="a page that the figures are entered into")
    options = parser.parse_args()
    rows, failed = {}, False
    for name in options.names or sorted(functions):
        function = functions[name]
        of_all = options.exhaustive and function.arity == 1
        worst = [
            measure_all(function) if of_all and dtype == FLOAT32 else measure(function, dtype, options.samples)
            for dtype in (FLOAT64, FLOAT32)
        ]
        rows[name] = row(function, worst, of_all=of_all)
        failed |= any(each.ulp > function.ulp for each in worst)
        sys.stdout.write(rows[name] + "\n")
        sys.stdout.flush()
    if options.page:
        enter(options.page, rows)
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())

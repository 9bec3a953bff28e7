"""The sign of zero: results that are zero have NumPy's, for zeros of both signs among the operands."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from numbagraph.runtime.arguments import flatten
from numbagraph.testing.arrays import LAYOUTS
from numbagraph.testing.op_calls import Call, is_supported, outcome

LAYOUTS_OF_LOOPS = (LAYOUTS["C order"], LAYOUTS["strided"], LAYOUTS["Fortran order"])
"""The layouts for which NumPy has loops of its own, which differ where C leaves a result open."""


def check_signs_of_zero(call: Call, backend: str = "numba", **options: Any) -> int:
    """Compare the signs of the zeros of a call's results with NumPy's, where that agrees with itself.

    Arrays are zeros of either sign, of both, and zeros of both among the numbers of the sample.

    Returns
    -------
    int
        The number of zeros that were compared.
    """
    compiled, compared = call.compiled(backend=backend, **options), 0
    for what, arrays in with_zeros(call):
        expected = [call.expected([layout(each) for each in arrays]) for layout in LAYOUTS_OF_LOOPS]
        if not all(map(is_supported, expected)):
            continue
        found = outcome(compiled, arrays)
        if isinstance(found, Exception):
            raise AssertionError(f"{call}, {what}, {backend}: {type(found).__name__}: {found}") from found
        for position, (each, *wanted) in enumerate(zip(*[parts(result) for result in (found, *expected)], strict=True)):
            if any(other.shape != each.shape for other in wanted):
                continue
            zeros = (each == 0) & np.logical_and.reduce([other == 0 for other in wanted])
            signs = [np.signbit(other) for other in wanted]
            zeros &= np.logical_and.reduce([sign == signs[0] for sign in signs])
            wrong = zeros & (np.signbit(each) != signs[0])
            compared += int(zeros.sum())
            if wrong.any():
                index = tuple(int(axis) for axis in np.argwhere(wrong)[0])
                sign = "-" if signs[0][index] else "+"
                raise AssertionError(
                    f"{call}, {what}, {backend}: {wrong.sum()} of {zeros.sum()} zeros of part {position} have another "
                    f"sign than NumPy's; {sign}0 expected at {index}"
                )
    return compared


def parts(result: Any) -> list[Any]:
    """The real and the imaginary parts of results that are inexact."""
    arrays: list[Any] = [np.asarray(each) for each in flatten(result)[0]]
    inexact = [each for each in arrays if each.dtype.kind in "fc"]
    return [part for each in inexact for part in ((each.real, each.imag) if each.dtype.kind == "c" else (each,))]


SHARES = {"+0": (1, 0, 0), "-0": (0, 1, 0), "zeros": (1, 1, 0), "zeros and numbers": (1, 1, 1)}
"""The relative shares of an array's elements that become 0, that become -0, and that stay."""


def with_zeros(call: Call) -> Iterator[tuple[str, list[Any]]]:
    """The arrays of a call with zeros in them: of the same kind in all, and of every pair of kinds in two."""
    rng = np.random.default_rng(call.number)
    positions = [position for position, each in enumerate(call.arrays) if each.dtype.kind in "fc"]
    kinds = list(product(SHARES, repeat=2)) if len(positions) == 2 else [(name,) * len(positions) for name in SHARES]
    for names in kinds:
        arrays = list(call.arrays)
        for position, name in zip(positions, names, strict=True):
            arrays[position] = zeroed(arrays[position], SHARES[name], rng)
        yield " and ".join(names) if len(set(names)) > 1 else names[0], arrays


def zeroed(array: Any, shares: tuple[int, int, int], rng: np.random.Generator) -> Any:
    """An array with zeros in place of some numbers, or of their real and imaginary parts."""
    if array.dtype.kind == "c":
        result: Any = np.empty_like(array)
        result.real, result.imag = zeroed(array.real, shares, rng), zeroed(array.imag, shares, rng)
        return result
    chosen = rng.choice(3, array.shape, p=np.array(shares) / sum(shares))
    return np.choose(chosen, [array.dtype.type(0), array.dtype.type(-0.0), array]).astype(array.dtype)

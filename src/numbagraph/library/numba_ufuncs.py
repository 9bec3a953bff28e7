"""Functions of `numba.vectorize` and `numba.guvectorize`, traced from their Python functions as those of `numba.njit`
are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numbagraph.api.gufunc import GUFunc, Loop
from numbagraph.blockwise.signature import Signature, parse
from numbagraph.capture.builtins.numbers import Function, is_traced
from numbagraph.capture.builtins.replacements import with_arrays
from numbagraph.capture.operators import call

_MODULES = ("numba.np.ufunc.dufunc", "numba.np.ufunc.gufunc")


def traced_ufunc(function: Any) -> Function | None:
    """Return the replacement of a function of arrays that Numba has made of a Python function; None for any other
    one."""
    if type(function).__module__ not in _MODULES:
        return None

    def of_arrays(*args: Any, out: Any = None, **options: Any) -> Any:
        if not is_traced(args, out):
            return function(*args, **({} if out is None else {"out": out}), **options)
        count = function.nin if elementwise(function) else len(parse(function.gufunc_builder.signature).inputs)
        args, out = with_arrays(args, out)
        targets = [*args[count:], *(out if isinstance(out, tuple) else [] if out is None else [out])]
        found = as_gufunc(function, targets)(*args[:count], **options)
        for target, result in zip(targets, found if isinstance(found, tuple) else (found,), strict=bool(targets)):
            target[...] = result
        return (targets[0] if len(targets) == 1 else tuple(targets)) if targets else found

    return of_arrays


def elementwise(function: Any) -> bool:
    return not hasattr(function, "gufunc_builder")


def as_gufunc(function: Any, targets: Sequence[Any]) -> GUFunc:
    """Return an equivalent gufunc, for results of the dtypes of ``targets``, if Numba was given none."""
    python = function._dispatcher.py_func
    if elementwise(function):
        signature = f"{','.join(['()'] * function.nin)}->()"
        return GUFunc(python, signature, dtypes=function.types if function._frozen else None)
    signature = function.gufunc_builder.signature
    types = None if function.is_dynamic else function.ufunc.types
    core = core_of(python, parse(signature), types, [each.dtype for each in targets], taken_as_arrays(function))
    return GUFunc(core, signature, dtypes=types)


def taken_as_arrays(function: Any) -> list[bool]:
    """Whether the Python function takes each argument as an array: one without core dimensions may be an array of one
    element."""
    signature = next(iter(function._dispatcher.overloads), ())
    return [hasattr(each, "ndim") for each in getattr(signature, "args", signature)]


def core_of(
    python: Function, cores: Signature, types: Sequence[str] | None, dtypes: Sequence[np.dtype], as_arrays: list[bool]
) -> Callable[..., Any]:
    """Return a function that returns the arrays which ``python`` writes into, those behind its operands."""
    loops = [Loop.parse(each) for each in types or ()]

    def core(*operands: Any) -> Any:
        own = tuple(each.dtype for each in operands)
        of_results = next((each.outputs for each in loops if each.inputs == own), dtypes)
        lengths: dict[str, Any] = {}
        for each, operand in zip(cores.inputs, operands, strict=True):
            lengths.update(zip(each.labels, operand.shape, strict=True))
        shapes = [tuple(lengths[label] for label in each.labels) for each in cores.outputs]
        results = [call(np.zeros)(shape or (1,), dtype) for shape, dtype in zip(shapes, of_results, strict=True)]
        given = [
            np.reshape(operand, (1,)) if is_array and not operand.ndim else operand
            for operand, is_array in zip(operands, as_arrays or [False] * len(operands), strict=False)
        ]
        call(python)(*given, *results)
        found = [result if shape else result[0] for result, shape in zip(results, shapes, strict=True)]
        return tuple(found) if len(found) > 1 else found[0]

    core.__name__ = python.__name__
    return core

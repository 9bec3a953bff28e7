"""Factorisations of matrices without derivatives. Most are calls of SciPy from compiled code."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np

from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.capture.builtins.printing import write_later
from numbagraph.ir.op import load, registry
from numbagraph.library.scipy.arguments import Function, bound, called, inexact, known, refuse
from numbagraph.tracing.tracer import apply

ARRAYS = {
    "qz": ("A", "B"),
    "cossin": ("X",),
    "qr_insert": ("Q", "R", "u"),
    "qr_delete": ("Q", "R"),
    "qr_update": ("Q", "R", "u", "v"),
}
"""The arguments that are arrays."""

SMOOTH = {
    "qz": "np.linalg.eig of np.linalg.solve(B, A) has one",
    "cossin": "np.linalg.svd of each block has one",
    "qr_insert": "np.linalg.qr of the matrix with the rows has one",
    "qr_delete": "np.linalg.qr of the matrix without the rows has one",
    "qr_update": "np.linalg.qr of the sum has one",
}
"""Functions that have a derivative, and can be used in their place."""


def factorisation(name: str) -> Function:
    """Return a function of `scipy.linalg`. The lengths of its arrays are known during tracing, so the types of its
    results are those for unit matrices."""
    path = f"scipy.linalg:{name}"
    signature = inspect.signature(load(path))

    def call(*args: Any, **kwargs: Any) -> Any:
        options = signature.bind(*args, **kwargs).arguments
        if isinstance(options.get("X"), (tuple, list)):
            options = of_blocks(options)
        arrays = [inexact(options.pop(each)) for each in ARRAYS[name]]
        options = {key: each for key, each in options.items() if not key.startswith("overwrite")}
        if is_traced((), options):
            refuse(f"scipy.linalg.{name} with traced {' or '.join(options)}", "pass a number of Python")
        if options.get("sort") is not None:
            refuse(f"scipy.linalg.{name} with sort=", "scipy.linalg.ordqz outside")
        function = bound(path, **options)
        like = function(*(unit(known(each, f"scipy.linalg.{name}"), each.dtype) for each in arrays))

        def refused(*_: Any) -> None:
            refuse(f"the derivative of scipy.linalg.{name}", SMOOTH[name])

        return called(function, like, *arrays, vjp=refused)

    call.__name__ = name
    return call


def of_blocks(options: dict[str, Any]) -> dict[str, Any]:
    """Join the four blocks of a matrix, and return it with the lengths of the first block."""
    blocks = [np.atleast_2d(inexact(each)) for each in options["X"]]
    if len(blocks) != 4:
        raise ValueError(f"When p and q are None, exactly four arrays should be in X, got {len(blocks)}")
    rows, columns = known(blocks[0], "scipy.linalg.cossin")
    return {**options, "X": np.block([blocks[:2], blocks[2:]]), "p": rows, "q": columns}


def unit(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    return np.ones(shape, dtype) if len(shape) < 2 else np.broadcast_to(np.eye(*shape[-2:], dtype=dtype), shape).copy()


def ldl(
    A: Any, lower: bool = True, hermitian: bool = True, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Any, Any, Any]:
    """`scipy.linalg.ldl`."""
    del overwrite_a
    options = {"lower": lower, "hermitian": hermitian, "check_finite": check_finite}
    options = {name: each for name, each in options.items() if is_traced((), {name: each})}
    if options:
        refuse(f"scipy.linalg.ldl with traced {' or '.join(options)}", "pass a number of Python")
    matrix = np.atleast_2d(inexact(A))
    matrix = apply(registry["asarray_chkfinite"], matrix) if check_finite else matrix
    if hermitian and matrix.dtype.kind == "c":
        ignored = np.any(np.imag(np.diagonal(matrix, 0, -2, -1)))
        write_later("scipy.linalg.ldl", warn_of_what_is_ignored, (ignored,))
    return apply(registry["factors_of_blocks"], matrix, lower, hermitian)


def warn_of_what_is_ignored(ignored: np.bool_) -> None:
    if ignored:
        text = "scipy.linalg.ldl ignores the imaginary parts of the diagonal: hermitian=False is for symmetric matrices"
        warnings.warn(text, np.exceptions.ComplexWarning, stacklevel=2)


FUNCTIONS: dict[str, Function] = {"ldl": ldl, **{name: factorisation(name) for name in ARRAYS}}

"""The addresses of what emitted code calls and the process does not export, such as functions of SciPy's modules."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Iterable
from functools import cache, partial
from importlib import import_module

from numbagraph.forking import importing

SCIPY = "numbagraph.scipy."
"""The prefix of external symbols that are functions of `scipy.special.cython_special`."""
BLAS = "numbagraph.blas."
"""The prefix of external symbols that are functions of `scipy.linalg.cython_blas`."""
LAPACK = "numbagraph.lapack."
"""The prefix of external symbols that are functions of `scipy.linalg.cython_lapack`."""

NUMPY_LOOP = "numbagraph.numpy_loop."
"""The prefix of external symbols that are inner loops of the ufuncs of `numpy.fft`, and what these loops are handed:
"name.number.loop" and "name.number.data", by the number among the ufunc's types."""

NUMPY_RANDOM = "numbagraph.numpy_random."
"""The prefix of external symbols that are NumPy's distributions, which `numpy.random` exports for callers from C."""

_capsule_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def external_symbols(names: Collection[str]) -> dict[str, int]:
    """The addresses of the external symbols among ``names`` that are ours to bind. SciPy is imported if it has any."""
    found: dict[str, int] = {}
    for prefix, find in FINDERS.items():
        ours = [name for name in names if name.startswith(prefix)]
        found.update(zip(ours, find([name.removeprefix(prefix) for name in ours]), strict=True))
    return found


def one_by_one(find: Callable[[str], int]) -> Callable[[list[str]], Iterable[int]]:
    """What finds the addresses of several symbols, if ``find`` finds that of one."""
    return lambda names: map(find, names)


def _functions(module: str) -> dict[str, object]:
    with importing:
        return import_module(module).__pyx_capi__


@cache
def _address(module: str, name: str) -> int:
    function = _functions(module)[name]
    return _capsule_pointer(function, _capsule_name(function))


@cache
def _special_address(name: str) -> int:
    """The address of a function of doubles; Cython numbers the versions of one that is defined for several types."""
    functions = _functions("scipy.special.cython_special")
    for key in (name, f"__pyx_fuse_0{name}", f"__pyx_fuse_1{name}"):
        if key in functions:
            signature = _capsule_name(functions[key])
            if signature.startswith(b"double (double, "):
                return _capsule_pointer(functions[key], signature)
    raise LookupError(f"scipy.special.cython_special has no function {name} of doubles; SciPy 1.14 or newer has it")


@cache
def _loop_address(name: str) -> int:
    """The address of an inner loop, or of its data, from the ufunc's record (NumPy's ``PyUFuncObject``)."""
    ufunc, number, what = name.split(".")
    with importing:
        record = id(getattr(import_module("numpy.fft._pocketfft_umath"), ufunc))
    word = ctypes.sizeof(ctypes.c_void_p)
    # an object's head, four integers; then the loops, and the data of each, which may be none
    table = ctypes.c_void_p.from_address(record + 4 * word + (0 if what == "loop" else word)).value
    return (ctypes.c_void_p.from_address(table + int(number) * word).value or 0) if table else 0


@cache
def _random_functions() -> ctypes.CDLL:
    """NumPy's module of distributions, as a library (NumPy's manual, "Extending via Numba and CFFI")."""
    with importing:
        return ctypes.CDLL(import_module("numpy.random._generator").__file__)


def _random_address(name: str) -> int:
    return ctypes.cast(_random_functions()[name], ctypes.c_void_p).value or 0


FINDERS: dict[str, Callable[[list[str]], Iterable[int]]] = {
    SCIPY: one_by_one(_special_address),
    BLAS: one_by_one(partial(_address, "scipy.linalg.cython_blas")),
    NUMPY_LOOP: one_by_one(_loop_address),
    NUMPY_RANDOM: one_by_one(_random_address),
    LAPACK: one_by_one(partial(_address, "scipy.linalg.cython_lapack")),
}
"""What finds the addresses of symbols, by their prefix. `numbagraph.runtime` adds those of its own native code."""

"""The addresses of functions that emitted code calls and the process does not export, such as those of SciPy's
modules."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Collection, Iterable
from functools import cache, partial
from typing import NamedTuple

from numbagraph.forking import import_module, importing
from numbagraph.intrinsics.emitters.extension_modules import extension_module

SCIPY = "numbagraph.scipy."
"""The prefix of external symbols that are functions of `scipy.special.cython_special`, by name and types (`Types`)."""
BOOST = "numbagraph.boost."
"""The prefix of external symbols that are functions of Boost's that `scipy.stats` calls, by name and precision."""
BLAS = "numbagraph.blas."
"""The prefix of external symbols that are functions of `scipy.linalg.cython_blas`."""
LAPACK = "numbagraph.lapack."
"""The prefix of external symbols that are functions of `scipy.linalg.cython_lapack`."""

NUMPY_LOOP = "numbagraph.numpy_loop."
"""The prefix of external symbols that are inner loops of the ufuncs of `numpy.fft`, and what these loops are handed:
"name.number.loop" and "name.number.data", by the number among the ufunc's types."""

NUMPY_SORT = "numbagraph.numpy_sort."
"""The prefix of external symbols that sort elements of NumPy's dtypes: "name.dtype.kind", as in "argsort.int8.stable".
The name is "sort" or "argsort", and the kind one of `SORTS`."""

SORTS = ("quicksort", "heapsort", "stable")

NUMPY_RANDOM = "numbagraph.numpy_random."
"""The prefix of external symbols that are NumPy's distributions, which `numpy.random` exports for callers from C."""

_capsule_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def external_symbols(names: Collection[str]) -> dict[str, int]:
    """Return the addresses of the external symbols among ``names`` that belong to numbagraph. SciPy is imported if it
    has any of them."""
    found: dict[str, int] = {}
    for prefix, find in FINDERS.items():
        ours = [name for name in names if name.startswith(prefix)]
        found.update(zip(ours, find([name.removeprefix(prefix) for name in ours]), strict=True))
    return found


def one_by_one(find: Callable[[str], int]) -> Callable[[list[str]], Iterable[int]]:
    """Return a function that finds the addresses of several symbols, by ``find``, which finds that of one."""
    return lambda names: map(find, names)


@cache
def _address(module: str, name: str) -> int:
    function = extension_module(module).__pyx_capi__[name]
    return _capsule_pointer(function, _capsule_name(function))


class Types(NamedTuple):
    """The types of the operands and results of a function of `scipy.special`: a letter each, as in the types of
    ufuncs."""

    operands: str
    results: str

    @property
    def by_address(self) -> bool:
        """Whether the results are written to addresses that follow the operands."""
        return len(self.results) > 1


_LETTERS = {"double": "d", "float": "f", "long": "l", "Py_ssize_t": "l", "__pyx_t_double_complex": "D"}


@cache
def special_functions() -> dict[str, dict[Types, int]]:
    """Return the addresses of SciPy's functions of numbers, by name and types. Cython numbers the versions of a
    function for several types in an order of its own, so its numbers identify none."""
    found: dict[str, dict[Types, int]] = {}
    with importing:
        functions = import_module("scipy.special.cython_special").__pyx_capi__
    for key, capsule in functions.items():
        signature = _capsule_name(capsule)
        types = _types(signature.decode())
        if types is not None:
            name = re.sub(r"^__pyx_fuse_(\d+_)*\d+", "", key)
            found.setdefault(name, {}).setdefault(types, _capsule_pointer(capsule, signature))
    return found


def _types(signature: str) -> Types | None:
    """Return the types of a C function from its signature, without its options; None for one that takes other things
    than numbers."""
    result, _, rest = signature.rstrip(")").partition(" (")
    arguments = [each for each in rest.split(", ") if not each.startswith(("int __pyx_skip_dispatch", "struct "))]
    operands = [_LETTERS.get(each) for each in arguments if not each.endswith(" *")]
    targets = [each.removesuffix(" *") for each in arguments if each.endswith(" *")]
    results = [_LETTERS.get(each) for each in (targets if result == "void" else [result])]
    if None in operands or None in results or (targets and result != "void"):
        return None
    return Types("".join(map(str, operands)), "".join(map(str, results)))


def special_types(name: str, operands: str) -> Types:
    """Return the version of a function for operands of some types, which has these types or wider ones: few functions
    exist for single precision, and few for integers."""
    versions = special_functions().get(name, {})
    for wanted in (operands, operands.replace("f", "d"), "d" * len(operands)):
        for types in versions:
            if types.operands == wanted and "D" not in types.results:
                return types
    raise LookupError(
        f"scipy.special.cython_special has no function {name} of such numbers; SciPy 1.14 or newer has it"
    )


def _special_address(symbol: str) -> int:
    name, operands, results = symbol.split(".")
    try:
        return special_functions()[name][Types(operands, results)]
    except KeyError:
        text = f"scipy.special.cython_special has no function {name} ({operands}->{results})"
        raise LookupError(text) from None


@cache
def _boost_address(name: str) -> int:
    """Return the address of a function of Boost's, from the variable in which SciPy's modules pass it to each other."""
    with importing:
        exported = import_module("scipy.special._ufuncs_cxx").__pyx_capi__
    try:
        variable = exported[f"_export_{name}"]
    except KeyError:
        raise LookupError(f"scipy.special has no function {name}; SciPy 1.17 has it") from None
    return ctypes.c_void_p.from_address(_capsule_pointer(variable, _capsule_name(variable))).value or 0


@cache
def _loop_address(name: str) -> int:
    """The address of an inner loop, or of its data, from the ufunc's record (NumPy's ``PyUFuncObject``)."""
    ufunc, number, what = name.split(".")
    with importing:
        record = id(getattr(import_module("numpy.fft._pocketfft_umath"), ufunc))
    # an object's head, four integers; then the loops, and the data of each, which may be none
    table = ctypes.c_void_p.from_address(record + 4 * _WORD + (0 if what == "loop" else _WORD)).value
    return (ctypes.c_void_p.from_address(table + int(number) * _WORD).value or 0) if table else 0


_WORD = ctypes.sizeof(ctypes.c_void_p)
_FUNCTIONS_OF_DTYPES = 365
"""The place of ``_PyDataType_GetArrFuncs`` in NumPy's table of functions (``PyArray_API``)."""
_FIRST_SORT = 33
"""The place of ``sort`` in ``PyArray_ArrFuncs``, behind the casts and twelve functions; ``argsort`` follows."""


@cache
def _functions_of_dtype(dtype: str) -> int:
    """The address of the functions of a dtype (NumPy's manual, "PyArray_ArrFuncs")."""
    with importing:
        numpy = import_module("numpy")
        table = _capsule_pointer(import_module("numpy._core._multiarray_umath")._ARRAY_API, None)
    address = ctypes.c_void_p.from_address(table + _FUNCTIONS_OF_DTYPES * _WORD).value or 0
    return ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(address)(numpy.dtype(dtype))


def _sort_address(symbol: str) -> int:
    name, dtype, kind = symbol.split(".")
    place = _FIRST_SORT + (len(SORTS) if name == "argsort" else 0) + SORTS.index(kind)
    address = ctypes.c_void_p.from_address(_functions_of_dtype(dtype) + place * _WORD).value
    if not address:
        raise LookupError(f"this NumPy has no {kind} {name} of {dtype}")
    return address


@cache
def _random_functions() -> ctypes.CDLL:
    """NumPy's module of distributions, as a library (NumPy's manual, "Extending via Numba and CFFI")."""
    with importing:
        return ctypes.CDLL(import_module("numpy.random._generator").__file__)


def _random_address(name: str) -> int:
    return ctypes.cast(_random_functions()[name], ctypes.c_void_p).value or 0


FINDERS: dict[str, Callable[[list[str]], Iterable[int]]] = {
    SCIPY: one_by_one(_special_address),
    BOOST: one_by_one(_boost_address),
    BLAS: one_by_one(partial(_address, "scipy.linalg.cython_blas")),
    NUMPY_LOOP: one_by_one(_loop_address),
    NUMPY_SORT: one_by_one(_sort_address),
    NUMPY_RANDOM: one_by_one(_random_address),
    LAPACK: one_by_one(partial(_address, "scipy.linalg.cython_lapack")),
}
"""By their prefix, the functions that find the addresses of symbols. `numbagraph.runtime` adds those of its own native
code."""

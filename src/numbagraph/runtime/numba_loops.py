"""Loops that users write for gufuncs, compiled by Numba to C functions that programs call."""

from __future__ import annotations

from typing import Any

from numbagraph.blockwise.loop_core import LOOPS, LoopCore
from numbagraph.forking import importing
from numbagraph.intrinsics.emitters.external import FINDERS, one_by_one

_cores: dict[str, LoopCore] = {}
_compiled: dict[str, Any] = {}
"""Numba's functions by their symbols. They are never freed, since any program may call them."""


def announce(core: LoopCore) -> None:
    """Register a core by its symbol; it is compiled when a program needs it."""
    _cores[core.symbol] = core


def compiled(core: LoopCore) -> Any:
    """A C function ``int32 f(addresses..., lengths...)`` that returns 1 where the loops raise an exception.

    Operands are read-only, since they are memory of the caller; indices are checked; numbers are divided as NumPy does.
    """
    with importing:
        import numba  # noqa: PLC0415  only where someone writes loops

    labels = [f"n{number}" for number in range(len(core.labels))]
    pointers = [f"p{number}" for number in range(len(core.cores))]
    arguments = [
        argument(pointer, [labels[core.labels.index(each)] for each in dims.labels], number, number < len(core.inputs))
        for number, (pointer, dims) in enumerate(zip(pointers, core.cores, strict=True))
    ]
    source = f"""
def call({", ".join([*pointers, *labels])}):
    try:
        core({", ".join(arguments)})
    except Exception:
        return 1
    return 0
"""
    dtypes = {f"t{number}": dtype for number, dtype in enumerate((*core.inputs, *core.outputs))}
    loops = numba.njit(types_of(core), boundscheck=True, error_model="numpy")(core.function)
    scope = {"core": loops, "carray": numba.carray, **dtypes}  # pyright: ignore[reportPrivateImportUsage]
    exec(source, scope)
    voids, lengths = [numba.types.voidptr] * len(pointers), [numba.types.int64] * len(labels)
    return numba.cfunc(numba.types.int32(*voids, *lengths))(scope["call"])


def types_of(core: LoopCore) -> tuple[Any, ...]:
    """The Numba types of the loops' arguments."""
    with importing:
        import numba  # noqa: PLC0415  only where someone writes loops

    scalars = [numba.from_dtype(dtype) for dtype in (*core.inputs, *core.outputs)]
    inputs = [
        numba.types.Array(scalar, len(each), "C", readonly=True) if len(each) else scalar
        for scalar, each in zip(scalars, core.signature.inputs, strict=False)
    ]
    outputs = [
        numba.types.Array(scalar, len(each) or 1, "C")
        for scalar, each in zip(scalars[len(inputs) :], core.signature.outputs, strict=True)
    ]
    return (*inputs, *outputs)


def argument(pointer: str, lengths: list[str], number: int, is_input: bool) -> str:
    """An operand or a result as the loops take it."""
    shape = "".join(f"{each}, " for each in lengths or ["1"])
    array = f"carray({pointer}, ({shape}), t{number})"
    return array if lengths or not is_input else f"{array}[0]"


def address_of(name: str) -> int:
    symbol = LOOPS + name
    if symbol not in _compiled:
        _compiled[symbol] = compiled(_cores[symbol])
    return _compiled[symbol].address


FINDERS[LOOPS] = one_by_one(address_of)

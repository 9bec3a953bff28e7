"""Compiled functions as `scipy.LowLevelCallable`, which SciPy calls from C."""

from __future__ import annotations

import ctypes
from typing import Any

from llvmlite import ir

from numbagraph.emit.c_function import fixed_address
from numbagraph.emit.scipy_function import FORMS, Form, emit_scipy_function
from numbagraph.forking import importing
from numbagraph.ir.abi import ArrayLeaf, Leaf, ScalarLeaf
from numbagraph.ir.types import FLOAT64
from numbagraph.jit.native_layouts import c_layout
from numbagraph.runtime.arguments import Placeholder
from numbagraph.runtime.callbacks import symbols_for_c
from numbagraph.runtime.compile import Library, compile_module
from numbagraph.runtime.embedding import Embedding
from numbagraph.runtime.specialise import compiling

NAME = "scipy_function"
LINE = c_layout(ArrayLeaf(FLOAT64, (False,)))
NUMBER = ScalarLeaf(float)
CTYPES = {"double": ctypes.c_double, "int": ctypes.c_int, "npy_intp": ctypes.c_ssize_t, "void*": ctypes.c_void_p}


def scipy_callable(function: Any, signature: str, user_data: Any = None) -> Any:
    """Return the callable of `GraphFunction.scipy_callable`."""
    with importing:
        from scipy import LowLevelCallable  # noqa: PLC0415  SciPy takes its time to be imported

    text = "".join(signature.split()) if isinstance(signature, str) else None
    if text is None or text not in FORMS:
        raise ValueError(f"signature must be one of {', '.join(map(repr, FORMS))}, not {signature!r}")
    form, count = FORMS[text], len(function.definition.signature.parameters)
    if form.takes != "count" and count != 1:
        raise TypeError(f"{function._described} takes {count} arguments, and {signature!r} gives it one")
    layouts: list[Leaf] = [NUMBER if form.takes == "number" else LINE]
    if form.takes == "count" and count != 1:
        layouts = [NUMBER] * count
    embedding = function.native_callers.embedding(
        tuple(Placeholder(layout, number) for number, layout in enumerate(layouts)), {}
    )
    require_result(embedding, form, function._described, signature)
    library = compiled(embedding, form, 0 if layouts[0] is LINE else count)
    call = prototype(text)(library.address(NAME))
    call.owners = (library, embedding, function)  # it lives as long as the callable
    return LowLevelCallable(call, user_data)


def require_result(embedding: Embedding, form: Form, described: str, signature: str) -> None:
    """Raise for results that SciPy would not read as they are."""
    outputs = embedding.versions[0].graph.outputs
    rank = 1 if form.gives == "line" else 0
    if len(outputs) != 1 or outputs[0].dtype != FLOAT64 or outputs[0].ndim != rank:
        found = ", ".join(str(each.type) for each in outputs) or "no arrays or traced numbers"
        wanted = "an array of float64 with one dimension" if rank else "one number, of float64"
        raise TypeError(f"{described} gives {found}, and as {signature!r} it must give {wanted}")


def compiled(embedding: Embedding, form: Form, numbers: int) -> Library:
    module = ir.Module(NAME)
    emit_scipy_function(
        module, NAME, form, numbers, lambda builder: embedding.call(builder, fixed_address, symbols_for_c)
    )
    with compiling:
        return Library(compile_module(str(module)), {})


def prototype(text: str) -> Any:
    """The type of the function, from which SciPy reads its signature."""
    result, _, rest = text.partition("(")
    return ctypes.CFUNCTYPE(CTYPES[result], *map(ctype, rest.removesuffix(")").split(",")))


def ctype(name: str) -> Any:
    if name in CTYPES:
        return CTYPES[name]
    pointed: Any = CTYPES[name.removesuffix("*")]
    return ctypes.POINTER(pointed)

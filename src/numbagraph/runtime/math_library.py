"""What is compiled once a machine: mathematical functions, and core ops on batches. Each is compiled when it is first
asked for, and kept on disk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import cache, partial

from llvmlite import ir

from numbagraph.intrinsics.call import EXTERNAL
from numbagraph.intrinsics.core import CORE, BatchedCall
from numbagraph.intrinsics.external import FINDERS, external_symbols
from numbagraph.intrinsics.vecmath.calls import MATH
from numbagraph.intrinsics.vecmath.library import define
from numbagraph.runtime.cache import default_cache, sources
from numbagraph.runtime.compile import Library, compile_module, target_fingerprint
from numbagraph.version import __version__

Define = Callable[[ir.Module, str], ir.Function]


def define_core(module: ir.Module, symbol: str) -> ir.Function:
    return BatchedCall.of(symbol).emit(module)


@cache
def library_of(symbol: str, define: Define) -> Library:
    """One function, loaded. It is never freed, since any code may call it."""
    key = hashlib.sha256(repr((symbol, __version__, sources(), target_fingerprint())).encode()).hexdigest()
    stored = default_cache()
    content = stored.get(key) if stored else None
    if content is None:
        module = ir.Module(symbol)
        define(module, symbol)
        needed = [name for name in module.globals if name.startswith(EXTERNAL) and name != symbol]
        content = json.dumps(needed).encode() + b"\n" + compile_module(str(module))
        if stored:
            stored.put(key, content)
    header, _, code = content.partition(b"\n")
    return Library(code, external_symbols(json.loads(header)))


def address_of(prefix: str, define: Define, name: str) -> int:
    """The address of a function of the library, by its symbol without the prefix."""
    return library_of(prefix + name, define).address(prefix + name)


FINDERS[MATH] = partial(address_of, MATH, define)
FINDERS[CORE] = partial(address_of, CORE, define_core)

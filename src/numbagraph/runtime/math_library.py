"""The mathematical functions in native code: each is compiled when it is first asked for, and kept on disk."""

from __future__ import annotations

import hashlib
from functools import cache

from llvmlite import ir

from numbagraph.intrinsics.external import FINDERS
from numbagraph.intrinsics.vecmath.calls import MATH
from numbagraph.intrinsics.vecmath.library import define
from numbagraph.runtime.cache import default_cache, sources
from numbagraph.runtime.compile import Library, compile_module, target_fingerprint
from numbagraph.version import __version__


@cache
def library_of(symbol: str) -> Library:
    """One function, loaded. It is never freed, since any code may call it."""
    key = hashlib.sha256(repr((symbol, __version__, sources(), target_fingerprint())).encode()).hexdigest()
    stored = default_cache()
    code = stored.get(key) if stored else None
    if code is None:
        module = ir.Module(symbol)
        define(module, symbol)
        code = compile_module(str(module))
        if stored:
            stored.put(key, code)
    return Library(code, {})


def address_of(name: str) -> int:
    """The address of a function of the library, by its symbol without the prefix."""
    symbol = MATH + name
    return library_of(symbol).address(symbol)


FINDERS[MATH] = address_of

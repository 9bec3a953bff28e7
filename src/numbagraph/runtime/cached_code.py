"""Object code from the cache on disk. All that is loaded from there comes this way: what does not link is made anew."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

from numbagraph.emit.call import EXTERNAL
from numbagraph.intrinsics.emitters.external import external_symbols
from numbagraph.runtime.cache import DiskCache
from numbagraph.runtime.compile import Library, LinkError


def found(cache: DiskCache | None, key: str, link: Callable[[bytes], Library]) -> Library | None:
    """Load the library that is stored under a key; None if there is none, or none that can be loaded."""
    content = cache.get(key) if cache is not None else None
    if cache is None or content is None:
        return None
    try:
        return link(content)
    except (LinkError, LookupError, ValueError) as error:
        cache.reject(key, error)
        return None


def load(cache: DiskCache | None, key: str, compile: Callable[[], bytes], link: Callable[[bytes], Library]) -> Library:
    """Load the library that is stored under a key, or else compile one and store it."""
    library = found(cache, key, link)
    if library is None:
        content = compile()
        library = link(content)
        if cache is not None:
            cache.put(key, content)
    return library


def with_names(names: Iterable[str], *codes: bytes) -> bytes:
    """Object code of some modules, preceded by the names of the external symbols that they need, and by sizes."""
    sizes = " ".join(str(len(code)) for code in codes)
    return "\0".join(names).encode() + b"\n" + sizes.encode() + b"\n" + b"".join(codes)


def linked(content: bytes, functions: Iterable[str] = ()) -> Library:
    """Load the content that `with_names` made, and check that it has these functions."""
    header, _, rest = content.partition(b"\n")
    sizes, _, code = rest.partition(b"\n")
    names = header.decode().split("\0") if header else []
    if not all(name.startswith(EXTERNAL) for name in names):
        raise LinkError(f"what object code names as its external symbols are none: {header[:80]!r}")
    ends = list(itertools.accumulate(int(size) for size in sizes.split()))
    codes = [code[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    return checked(Library(codes, external_symbols(names)), functions)


def checked(library: Library, functions: Iterable[str]) -> Library:
    """Check that a library has these functions, and return it: LLVM looks up the symbols that a library needs on first
    use."""
    for name in functions:
        library.address(name)
    return library

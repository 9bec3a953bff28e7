"""Object code from the cache on disk. All that is loaded from there comes this way: what does not link is made anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from numbagraph.emit.call import EXTERNAL
from numbagraph.intrinsics.emitters.external import external_symbols
from numbagraph.runtime.cache import DiskCache
from numbagraph.runtime.compile import Library, LinkError


def found(cache: DiskCache | None, key: str, link: Callable[[bytes], Library]) -> Library | None:
    """What is stored under a key, loaded; None where nothing is, or nothing that can be."""
    content = cache.get(key) if cache is not None else None
    if cache is None or content is None:
        return None
    try:
        return link(content)
    except (LinkError, LookupError, ValueError) as error:
        cache.reject(key, error)
        return None


def load(cache: DiskCache | None, key: str, compile: Callable[[], bytes], link: Callable[[bytes], Library]) -> Library:
    """What is stored under a key, loaded, or else what ``compile`` gives, which is stored then."""
    library = found(cache, key, link)
    if library is None:
        content = compile()
        library = link(content)
        if cache is not None:
            cache.put(key, content)
    return library


def with_names(names: Iterable[str], code: bytes) -> bytes:
    """Object code behind the names of the external symbols that it needs."""
    return "\0".join(names).encode() + b"\n" + code


def linked(content: bytes, functions: Iterable[str] = ()) -> Library:
    """What `with_names` gave, loaded, if it has these functions."""
    header, _, code = content.partition(b"\n")
    names = header.decode().split("\0") if header else []
    if not all(name.startswith(EXTERNAL) for name in names):
        raise LinkError(f"what object code names as its external symbols are none: {header[:80]!r}")
    return checked(Library(code, external_symbols(names)), functions)


def checked(library: Library, functions: Iterable[str]) -> Library:
    """The library, if it has these functions: LLVM looks for the symbols that it needs when one is first asked for."""
    for name in functions:
        library.address(name)
    return library

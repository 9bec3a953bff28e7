"""Compiled code on disk. Nothing that goes wrong here stops a call: the code is then compiled again."""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
import warnings
from functools import cache
from pathlib import Path

import platformdirs

from numbagraph.runtime.trusted_files import DamageError, UnsafeError, make_directory, read_file, resolved, write_file

DEFAULT_MAX_BYTES = 512 * 2**20

_HEADER = struct.Struct("<8sIQ16s")
"""Magic, version, length of the content, checksum of the key and the content."""
_MAGIC = b"nbgraph\n"
_VERSION = 2

_ENTRY_SUFFIX = ".bin"
_UNFINISHED_SUFFIX = ".part"
_ABANDONED_SECONDS = 3600.0
"""An unfinished file of this age was left by a process that died."""

_KEPT_SHARE = 0.75
"""The share of the bound that remains after the cache has grown too large, so that it need not be tidied again at
once."""


class CacheWarning(UserWarning):
    """The cache cannot be used as it should; results are right, but take longer to compile."""


class DiskCache:
    """A directory of byte strings by key, bounded in size, which any number of processes may share.

    What is read runs as machine code, so only what the user alone can have written is (`private`), and each entry says
    which key it belongs to.
    """

    def __init__(self, directory: str | os.PathLike[str], max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        self.directory = Path(os.path.abspath(directory))
        self.max_bytes = max_bytes
        self.hits = 0
        self.misses = 0
        self._warned: set[str] = set()

    def get(self, key: str) -> bytes | None:
        """The content stored under a key, or None."""
        content = self._read(key)
        if content is None:
            self.misses += 1
        else:
            self.hits += 1
        return content

    def _read(self, key: str) -> bytes | None:
        path = ""
        try:
            path = os.path.join(resolved(str(self.directory)), name_of(key))
            content = _unpack(key, read_file(path, self.max_bytes))
            with contextlib.suppress(OSError):
                os.utime(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._warn("read", f"cannot read the compilation cache: {error}")
            return None
        except DamageError as error:
            self._remove(path)
            self._warn("damage", f"an entry of the compilation cache is damaged; it is replaced: {error}")
            return None
        except UnsafeError as error:
            if path:
                self._remove(path)
            self._warn_unsafe(error)
            return None
        return content

    def put(self, key: str, content: bytes) -> None:
        """Store content under a key. Readers see all of it or nothing."""
        packed = _pack(key, content)
        if len(packed) > self.max_bytes:
            return
        unfinished = ""
        try:
            make_directory(str(self.directory))
            directory, name = resolved(str(self.directory)), name_of(key)
            unfinished = os.path.join(directory, f"{name}.{os.getpid()}-{os.urandom(8).hex()}{_UNFINISHED_SUFFIX}")
            write_file(unfinished, packed)
            now = os.stat(unfinished).st_mtime
            os.replace(unfinished, os.path.join(directory, name))
            # Names are hashes, so this is one put in sixteen, over all processes, and takes no bookkeeping.
            if name.startswith("0"):
                self._tidy(now)
        except UnsafeError as error:
            self._warn_unsafe(error)
        except OSError as error:
            if unfinished:
                self._remove(unfinished)
            self._warn("write", f"cannot write to the compilation cache: {error}")

    def reject(self, key: str, reason: Exception) -> None:
        """Remove an entry that is whole, but cannot be used."""
        with contextlib.suppress(OSError, UnsafeError):
            self._remove(os.path.join(resolved(str(self.directory)), name_of(key)))
        self._warn("reject", f"an entry of the compilation cache cannot be used; it is replaced: {reason}")

    def entries(self) -> list[tuple[str, int]]:
        """The path and the size of each file of the cache."""
        found: list[tuple[str, int]] = []
        with contextlib.suppress(OSError), os.scandir(self.directory) as files:
            for file in files:
                with contextlib.suppress(FileNotFoundError):
                    if file.name.endswith((_ENTRY_SUFFIX, _UNFINISHED_SUFFIX)):
                        found.append((file.path, file.stat(follow_symlinks=False).st_size))
        return found

    def clear(self) -> int:
        """Remove all entries, and return their number. Processes that have loaded an entry keep its code."""
        found = self.entries()
        for path, _ in found:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        return len(found)

    def _remove(self, path: str) -> None:
        with contextlib.suppress(OSError):
            os.unlink(path)

    def _warn_unsafe(self, error: UnsafeError) -> None:
        self._warn("unsafe", f"the compilation cache is not used, since it could run the code of others: {error}")

    def _warn(self, trouble: str, message: str) -> None:
        if trouble not in self._warned:
            self._warned.add(trouble)
            warnings.warn(message, CacheWarning, stacklevel=3)

    def _tidy(self, now: float) -> None:
        """Remove what dead processes left and, if the cache is too large, what was not used for longest.

        The time is that of the disk, which may have a clock of its own. What is from a later time, since a clock was
        set back, counts as used now, so that it is neither removed for that nor kept for ever.
        """
        entries: list[tuple[float, int, str]] = []
        with os.scandir(self.directory) as files:
            for file in files:
                with contextlib.suppress(OSError):
                    status = file.stat(follow_symlinks=False)
                    if file.name.endswith((_ENTRY_SUFFIX, _UNFINISHED_SUFFIX)) and status.st_mtime > now:
                        os.utime(file.path, (now, now), follow_symlinks=False)
                    if file.name.endswith(_ENTRY_SUFFIX):
                        entries.append((min(status.st_mtime, now), status.st_size, file.path))
                    elif file.name.endswith(_UNFINISHED_SUFFIX) and now - status.st_mtime > _ABANDONED_SECONDS:
                        os.unlink(file.path)
        size = sum(entry[1] for entry in entries)
        if size <= self.max_bytes:
            return
        for _, length, path in sorted(entries):
            if size <= _KEPT_SHARE * self.max_bytes:
                break
            self._remove(path)
            size -= length


def name_of(key: str) -> str:
    """The name of the file for a key. What another version of this file stores has other names."""
    return hashlib.blake2b(f"{_VERSION} {key}".encode(), digest_size=20).hexdigest() + _ENTRY_SUFFIX


def _checksum(key: str, content: bytes) -> bytes:
    digest = hashlib.blake2b(content, digest_size=16, key=hashlib.blake2b(key.encode(), digest_size=32).digest())
    return digest.digest()


def _pack(key: str, content: bytes) -> bytes:
    return _HEADER.pack(_MAGIC, _VERSION, len(content), _checksum(key, content)) + content


def _unpack(key: str, stored: bytes) -> bytes:
    """The content of an entry of a key."""
    if len(stored) >= _HEADER.size:
        magic, version, length, checksum = _HEADER.unpack_from(stored)
        content = stored[_HEADER.size :]
        if (magic, version, length) == (_MAGIC, _VERSION, len(content)) and checksum == _checksum(key, content):
            return content
    raise DamageError(f"{name_of(key)} is not what was stored")


_opened: dict[str, DiskCache] = {}


def default_cache() -> DiskCache | None:
    """The user's cache, in ``NUMBAGRAPH_CACHE_DIR`` if that is set; None if ``NUMBAGRAPH_CACHE`` is 0."""
    if os.environ.get("NUMBAGRAPH_CACHE") == "0":
        return None
    try:
        directory = os.environ.get("NUMBAGRAPH_CACHE_DIR") or _usual_directory()
        return _opened.get(directory) or _opened.setdefault(directory, DiskCache(directory))
    except (RuntimeError, KeyError, OSError) as error:
        _warn_of_no_directory(str(error))
        return None


def cache_clear() -> None:
    """Remove all compiled code that is kept on disk for the user: in the next process, functions are compiled again.

    Functions that have been compiled in this process, or in another one that runs, keep what they have; to let one of
    them be traced anew, see `GraphFunction.cache_clear`. ``python -m numbagraph cache`` tells where the code is, and
    how much of it.

    Raises
    ------
    OSError
        If an entry may not be removed.

    Examples
    --------
    >>> import numbagraph
    >>> numbagraph.cache_clear()  # doctest: +SKIP
    """
    found = default_cache()
    if found is not None:
        found.clear()


def _usual_directory() -> str:
    """The user's cache directory for this package; users without a home directory, as in containers, have none."""
    directory = platformdirs.user_cache_dir("numbagraph", appauthor=False)
    if not os.path.isabs(directory):
        raise OSError(f"{directory!r} is no place for it")
    return directory


@cache
def _warn_of_no_directory(reason: str) -> None:
    text = f"there is no directory for the compilation cache, and nothing is kept: {reason}"
    way = "set NUMBAGRAPH_CACHE_DIR to a directory of your own, or NUMBAGRAPH_CACHE=0"
    warnings.warn(f"{text}; {way}", CacheWarning, stacklevel=2)


WITHOUT_CODE = {
    "__pycache__",
    "api",
    "capture",
    "explain",
    "jit",
    "library",
    "purity",
    "tracing",
    "jax_bridge",
    "pymc_bridge",
    "random",
    "testing",
}
"""The folders whose code makes graphs, or only reads them, so that compiled code does not depend on it: the key has the
content of the graph."""


@cache
def sources() -> str:
    """The state of the files that make code of a graph: in a checkout, the code changes without a new version."""
    state: list[tuple[str, int, int]] = []
    folders = [os.path.dirname(os.path.dirname(__file__))]
    while folders:
        for entry in os.scandir(folders.pop()):
            if entry.name.endswith(".py"):
                status = entry.stat()
                state.append((entry.path, status.st_size, status.st_mtime_ns))
            elif entry.name not in WITHOUT_CODE and entry.is_dir():
                folders.append(entry.path)
    return repr(sorted(state))

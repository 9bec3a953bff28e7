"""Compiled code on disk. Nothing that goes wrong here stops a call: the code is then compiled again."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import struct
import threading
import time
import warnings
from functools import cache
from pathlib import Path

import platformdirs

DEFAULT_MAX_BYTES = 512 * 2**20

_HEADER = struct.Struct("<8sIQ16s")
"""Magic, version, length of the content, checksum of the content."""
_MAGIC = b"nbgraph\n"
_VERSION = 1

_ENTRY_SUFFIX = ".bin"
_UNFINISHED_SUFFIX = ".part"
_ABANDONED_SECONDS = 3600.0
"""An unfinished file of this age was left by a process that died."""

_KEPT_SHARE = 0.75
"""What remains when the cache has grown too large, so that it is not tidied again at once."""

_numbers = itertools.count()


class CacheWarning(UserWarning):
    """The cache cannot be used as it should; results are right, but take longer to compile."""


class DiskCache:
    """A directory of byte strings by key, bounded in size, which any number of processes may share."""

    def __init__(self, directory: str | os.PathLike[str], max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        self.directory = Path(directory)
        self.max_bytes = max_bytes
        self.hits = 0
        self.misses = 0
        self._warned: set[str] = set()

    def get(self, key: str) -> bytes | None:
        """The content stored under a key, or None."""
        path = self._path(key)
        try:
            with open(path, "rb") as file:
                stored = file.read()
        except FileNotFoundError:
            self.misses += 1
            return None
        except OSError as error:
            self.misses += 1
            self._warn("read", f"cannot read the compilation cache: {error}")
            return None
        content = _unpack(stored)
        if content is None:
            self.misses += 1
            with contextlib.suppress(OSError):
                os.unlink(path)
            self._warn("damage", f"an entry of the compilation cache in {self.directory} is damaged; it is replaced")
            return None
        self.hits += 1
        with contextlib.suppress(OSError):
            os.utime(path)
        return content

    def put(self, key: str, content: bytes) -> None:
        """Store content under a key. Readers see all of it or nothing."""
        path = self._path(key)
        unfinished = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}-{next(_numbers)}{_UNFINISHED_SUFFIX}")
        try:
            os.makedirs(self.directory, mode=0o700, exist_ok=True)
            with open(unfinished, "wb") as file:
                file.write(_pack(content))
            os.replace(unfinished, path)
            # Names are hashes, so this is one put in sixteen, over all processes, and takes no bookkeeping.
            if path.name.startswith("0"):
                self._tidy()
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(unfinished)
            self._warn("write", f"cannot write to the compilation cache: {error}")

    def _path(self, key: str) -> Path:
        return self.directory / (hashlib.blake2b(key.encode(), digest_size=20).hexdigest() + _ENTRY_SUFFIX)

    def _warn(self, trouble: str, message: str) -> None:
        if trouble not in self._warned:
            self._warned.add(trouble)
            warnings.warn(message, CacheWarning, stacklevel=3)

    def _tidy(self) -> None:
        """Remove what dead processes left and, if the cache is too large, what was not used for longest."""
        now = time.time()
        entries: list[tuple[float, int, str]] = []
        with os.scandir(self.directory) as files:
            for file in files:
                with contextlib.suppress(FileNotFoundError):
                    status = file.stat()
                    if file.name.endswith(_ENTRY_SUFFIX):
                        entries.append((status.st_mtime, status.st_size, file.path))
                    elif file.name.endswith(_UNFINISHED_SUFFIX) and now - status.st_mtime > _ABANDONED_SECONDS:
                        os.unlink(file.path)
        size = sum(entry[1] for entry in entries)
        if size <= self.max_bytes:
            return
        for _, length, path in sorted(entries):
            if size <= _KEPT_SHARE * self.max_bytes:
                break
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            size -= length


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def _pack(content: bytes) -> bytes:
    return _HEADER.pack(_MAGIC, _VERSION, len(content), _checksum(content)) + content


def _unpack(stored: bytes) -> bytes | None:
    """The content of an entry, or None if it is not whole."""
    if len(stored) < _HEADER.size:
        return None
    magic, version, length, checksum = _HEADER.unpack_from(stored)
    content = stored[_HEADER.size :]
    if (magic, version, length) != (_MAGIC, _VERSION, len(content)) or checksum != _checksum(content):
        return None
    return content


_opened: dict[str, DiskCache] = {}


def default_cache() -> DiskCache | None:
    """The user's cache, in ``NUMBAGRAPH_CACHE_DIR`` if that is set; None if ``NUMBAGRAPH_CACHE`` is 0."""
    if os.environ.get("NUMBAGRAPH_CACHE") == "0":
        return None
    directory = os.environ.get("NUMBAGRAPH_CACHE_DIR") or platformdirs.user_cache_dir("numbagraph", appauthor=False)
    return _opened.get(directory) or _opened.setdefault(directory, DiskCache(directory))


@cache
def sources() -> str:
    """The state of numbagraph's own files: in a checkout, the code that they emit changes without a new version."""
    state: list[tuple[str, int, int]] = []
    folders = [os.path.dirname(os.path.dirname(__file__))]
    while folders:
        for entry in os.scandir(folders.pop()):
            if entry.name.endswith(".py"):
                status = entry.stat()
                state.append((entry.path, status.st_size, status.st_mtime_ns))
            elif entry.is_dir() and entry.name != "__pycache__":
                folders.append(entry.path)
    return repr(sorted(state))

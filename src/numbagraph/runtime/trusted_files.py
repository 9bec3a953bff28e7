"""Files that only the user can have written: code that is loaded from them runs as the user."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator

_MOST_LINKS = 40
_FOR_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_HAS_OWNERS = hasattr(os, "geteuid")  # not on Windows, where a user's folders are the user's

_READING = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""The flags to open a file: no link is followed, and a pipe in place of a file does not wait for a writer."""
_CREATING = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)

_NOT_FILES = (errno.ELOOP, errno.EMLINK, errno.ENXIO)
"""The error codes of systems for links that are not followed, and for sockets."""


class UnsafeError(Exception):
    """A file or a directory may have been written by others. The message says what to do."""


class DamageError(Exception):
    """An error: the content of a file is not the content that was written."""


def resolved(directory: str) -> str:
    """Return the directory without links, if only its user, who is the caller, and root can change its content; raise
    otherwise.

    As OpenSSH does with its ``StrictModes``, this looks at all directories above it and at the links on the way, from
    the root on: who can write in one of them can put another directory in the place of this one. In a directory
    like ``/tmp``, where all may write, only owners can move what there is.
    """
    if not _HAS_OWNERS:
        return os.path.realpath(directory)
    path, status = "/", os.lstat("/")
    for path, status in _steps(directory):
        if status.st_uid not in (0, os.geteuid()):
            raise UnsafeError(f"{path} belongs to user {status.st_uid}, not to you: {_what_to_do()}")
        if stat.S_ISDIR(status.st_mode) and status.st_mode & _FOR_OTHERS and not status.st_mode & stat.S_ISVTX:
            raise UnsafeError(f"others can write in {path}: {_what_to_do(path)}")
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    if status.st_uid != os.geteuid():
        raise UnsafeError(f"{path} belongs to user {status.st_uid}, not to you: {_what_to_do()}")
    if status.st_mode & _FOR_OTHERS:
        raise UnsafeError(f"others can write in {path}: {_what_to_do(path)}")
    return path


def _what_to_do(path: str = "") -> str:
    way = f"take their permission (chmod go-w {path}), or " if path else ""
    return f"{way}set NUMBAGRAPH_CACHE_DIR to a directory of your own"


def _steps(directory: str) -> Iterator[tuple[str, os.stat_result]]:
    """Each directory and each link on the way from the root, and last the directory itself."""
    path, links = "/", 0
    yield path, os.lstat(path)
    rest = [each for each in reversed(directory.split("/")) if each]
    while rest:
        name = rest.pop()
        if name in (".", ".."):
            path = os.path.dirname(path) if name == ".." else path
            continue
        below = os.path.join(path, name)
        status = os.lstat(below)
        yield below, status
        if not stat.S_ISLNK(status.st_mode):
            path = below
            continue
        links += 1
        if links > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), directory)
        target = os.readlink(below)
        path = "/" if target.startswith("/") else path
        rest += [each for each in reversed(target.split("/")) if each]
    if links:  # the last of them may have led back to a directory that was looked at before
        yield path, os.lstat(path)


def make_directory(directory: str) -> None:
    """Make a directory, and those above it that are missing, for the user alone."""
    missing = []
    while not os.path.lexists(directory):
        missing.append(directory)
        directory = os.path.dirname(directory)
    for each in reversed(missing):
        with contextlib.suppress(FileExistsError):  # another process was faster
            os.mkdir(each, 0o700)


def read_file(path: str, most_bytes: int) -> bytes:
    """The content of a file that belongs to the user."""
    try:
        descriptor = os.open(path, _READING)
    except OSError as error:
        if error.errno in _NOT_FILES:
            raise DamageError(f"{path} is not a file") from None
        raise
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise DamageError(f"{path} is not a file")
        if _HAS_OWNERS and (status.st_uid != os.geteuid() or status.st_mode & _FOR_OTHERS):
            raise UnsafeError(f"others may have written {path}")
        if status.st_size > most_bytes:
            raise DamageError(f"{path} is too large")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def write_file(path: str, content: bytes) -> None:
    """Write a file that only the user can read or write."""
    with os.fdopen(os.open(path, _CREATING, 0o600), "wb") as file:
        file.write(content)

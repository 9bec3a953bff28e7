"""Small arrays in many chunks, so that parallel functions can be tested without large ones."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from unittest import mock

from numbagraph.emit import chunks
from numbagraph.loops import parallel


@contextlib.contextmanager
def small_chunks() -> Iterator[None]:
    """Cut loops that are compiled inside with ``parallel=True`` as finely as possible, so that threads share small
    arrays.

    The cache on disk does not know of it, so such functions should not use it.
    """
    with (
        mock.patch.multiple(chunks, GRAIN=1, THRESHOLD=1, LINE=1),
        mock.patch.object(parallel, "LEAST_ROWS", 1),
    ):
        yield

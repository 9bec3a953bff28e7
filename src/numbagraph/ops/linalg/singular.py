"""The choice for matrices that have no factor or solution: an error, as in NumPy, or NaN."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from numbagraph.ir.blocks import Choice

CHOICES = ("raise", "nan")
"""The choices of a user. Ops have a third one: to ignore a failure, where an earlier op has failed already."""
_chosen = Choice("raise")


def chosen() -> str:
    """Return the choice of the innermost block of code on this thread."""
    return _chosen.value


@contextmanager
def on_linalg_error(choice: str) -> Iterator[None]:
    """Choose, for a block of code, what happens where a matrix has no factor or a system no solution.

    It holds for compiled functions that are called in the block, and inside of a function that is traced for what
    stands in the block there. The innermost block counts.

    Parameters
    ----------
    choice : {"raise", "nan"}
        ``"raise"``, as outside of all blocks: `numpy.linalg.LinAlgError`, as in NumPy, if it happens to any matrix of a
        batch. ``"nan"``: the results that belong to the matrix are NaN, those of all others are what they are.

    Raises
    ------
    ValueError
        If ``choice`` is neither of these.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> factor = numbagraph.graph_jit(np.linalg.cholesky)
    >>> with numbagraph.on_linalg_error("nan"):
    ...     factor(np.array([[[4.0]], [[-1.0]]]))
    array([[[ 2.]],
    <BLANKLINE>
           [[nan]]])
    """
    if choice not in CHOICES:
        raise ValueError(f"on_linalg_error takes one of {', '.join(map(repr, CHOICES))}, not {choice!r}")
    with _chosen.block(choice):
        yield

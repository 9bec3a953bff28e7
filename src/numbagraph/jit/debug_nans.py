"""`debug_nans`: compiled functions whose results have NaN say which operation made it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from numbagraph.ir.blocks import Choice
from numbagraph.ir.later import Later

if TYPE_CHECKING:
    from numbagraph.jit.version import Traced
    from numbagraph.transforms import nans
else:  # few programs are watched
    nans = Later("numbagraph.transforms.nans")

_WATCHED: dict[Any, str] = {False: "", True: "nan", "inf": "inf"}
_chosen: Choice[str | None] = Choice(None)


def debug_nans(choice: bool | str = True) -> AbstractContextManager[None]:
    """For a block of code, let compiled functions raise an error where they make a NaN.

    A function that is called in the block, from Python, and whose result has a NaN is run once more with NumPy. The
    error names the first operation that made one of operands without any, its line, and of a loop the step. A NaN that
    comes from an argument or a constant is no error. Arguments that the function would write into, and shared
    variables, stay as they were.

    Parameters
    ----------
    choice : bool or "inf"
        ``"inf"``: infinities are errors too. ``False``: none are. The innermost block counts; all count more than the
        option of `graph_jit` that has the same name.

    Raises
    ------
    FloatingPointError
        By the functions that are called.

    Notes
    -----
    In the block functions have versions of their own, whose results are looked through, and which do not reuse the
    memory of donated arguments. Outside, nothing changes. Other threads, and callers from C and `@njit` code, are not
    in the block. `pure_callback` calls its function again, `debug_print` does not print again.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> @numbagraph.graph_jit
    ... def entropy(p):
    ...     return -np.sum(p * np.log(p))
    >>> entropy(np.array([0.5, 0.0]))
    np.float64(nan)
    >>> with numbagraph.debug_nans():
    ...     entropy(np.array([0.5, 0.0]))
    Traceback (most recent call last):
    FloatingPointError: element [1] of multiply(0.0, -inf) is NaN, and no operand is...
    """
    return _chosen.block(require_choice(choice))


def require_choice(choice: bool | str) -> str:
    """Return the values that results must not have: none, "nan", or "inf" for all that are not finite."""
    if not isinstance(choice, (bool, str)) or choice not in _WATCHED:
        raise ValueError(f'debug_nans is True, False or "inf", not {choice!r}')
    return _WATCHED[choice]


def how_watched(option: bool | str) -> str:
    """Return the values that a function's results must not have in this block of code, given the function's option."""
    return _WATCHED[option] if _chosen.value is None else _chosen.value


def watching(run: Callable[..., Any], traced: Traced) -> Callable[..., Any]:
    """Return a function that runs a version, and raises an error if a result has such a value."""

    def call(*given: Any) -> Any:
        results = run(*given)
        if results is not NotImplemented:
            look(traced, given, results)
        return results

    return call


def look(traced: Traced, given: tuple[Any, ...], results: Any) -> None:
    infs = traced.watched == "inf"
    if any(nans.faults(each, infs) is not None for each in each_of(results)):
        nans.blame(traced.graph, [*given, *traced.captured], infs)


def each_of(results: Any) -> Iterator[Any]:
    """The results of a version, which may be one result alone."""
    yield from results if isinstance(results, (tuple, list)) else (results,)

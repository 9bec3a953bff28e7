"""`graph_jit`, the decorator."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal, ParamSpec, TypeVar, Unpack, overload

import numpy as np

from numbagraph.jit.graph_function import GraphFunction
from numbagraph.jit.options import Backend, JitOptions, Names
from numbagraph.tracing.tracebacks import for_users

P = ParamSpec("P")
R = TypeVar("R")


@overload
def graph_jit(function: np.ufunc, **options: Unpack[JitOptions]) -> GraphFunction[..., Any]: ...
@overload
def graph_jit(function: Callable[P, R], **options: Unpack[JitOptions]) -> GraphFunction[P, R]: ...
@overload
def graph_jit(
    function: None = None, **options: Unpack[JitOptions]
) -> Callable[[Callable[P, R]], GraphFunction[P, R]]: ...
@for_users
def graph_jit(
    function: Callable[..., Any] | None = None,
    *,
    static_argnames: Names = (),
    donate_argnames: Names = (),
    mutates: Names | None = None,
    backend: Backend = "numba",
    cache: bool = True,
    parallel: bool = False,
    convert: bool = True,
    debug_nans: bool | Literal["inf"] = False,
    stabilise: bool = True,
) -> Any:
    """Compile a plain NumPy function to one native kernel.

    Parameters
    ----------
    function
        A function (or method) of arrays, numbers and pytrees of them, written in NumPy.
    static_argnames : str or iterable of str, optional
        Arguments whose values become part of the compiled code; they must be hashable.
    donate_argnames : str or iterable of str, optional
        Array arguments whose memory the function may reuse for a result: they are overwritten.
    mutates : str or iterable of str, optional
        The arguments that the function may write into (``x[0] = v``, ``x += v``): all by default, none with ``()``.
        They are written after success, all or none, and must be NumPy arrays that share no memory with others.
    backend : {"numba", "jax", "numpy"}, optional
        What runs the graph: native code, JAX (GPU and TPU), or NumPy, op by op.
    cache : bool, optional
        Whether compiled code is kept on disk for other processes.
    parallel : bool, optional
        Whether long loops run on several threads (see `numbagraph.threads`). Results do not depend on their number.
    convert : bool, optional
        Whether Python's loops and branches on traced values, and assignments to arrays that it makes, are captured:
        then a function that is refused as it is is traced once more, with them as calls. Otherwise they are errors.
    debug_nans : bool or "inf", optional
        As `numbagraph.debug_nans`, for all calls of this function from Python.
    stabilise : bool, optional
        Whether formulas may become forms that are right where they, as they are written, overflow, underflow or cancel:
        ``log(1 + exp(x))``, ``exp(x) / sum(exp(x))``. Without, results are infinite and NaN where NumPy's are, and so
        are derivatives that the function takes. It counts for functions that this one calls, whatever their options.
        XLA, with ``backend="jax"``, has some such forms of its own.

    Returns
    -------
    GraphFunction
        Called as ``function`` is. With ``out=``, which is no argument of ``function``, results are written there: an
        array, or a tree of arrays like the result. As in NumPy, it may share memory with arguments. With ``ctx=``,
        shared variables have the values of that `numbagraph.SharedContext`.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> @numbagraph.graph_jit
    ... def norm(x):
    ...     return np.sqrt(np.sum(x**2))
    >>> norm(np.array([3.0, 4.0]))
    np.float64(5.0)
    """
    make = functools.partial(
        GraphFunction,
        static_argnames=static_argnames,
        donate_argnames=donate_argnames,
        mutates=mutates,
        backend=backend,
        cache=cache,
        parallel=parallel,
        convert=convert,
        debug_nans=debug_nans,
        stabilise=stabilise,
    )
    return for_users(make) if function is None else make(function)

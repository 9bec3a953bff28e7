"""Conversions of functions to and from JAX: `to_jax` and `from_jax`. JAX is imported when they are used."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from numbagraph.api.transformed import Transformed
from numbagraph.forking import importing

P = ParamSpec("P")
R = TypeVar("R")


def to_jax(f: Callable[P, R], *, native: bool = False) -> Callable[P, R]:
    """A function as one of JAX's: for `jax.jit`, `jax.grad`, `jax.vmap`, `jax.export` and all else that traces.

    It is traced once for each combination of dtypes, ranks and lengths of 1, and becomes calls of `jax.numpy` and
    `jax.lax`: on a CPU, a GPU or a TPU, as JAX decides.

    Parameters
    ----------
    f : callable
        A function of arrays, numbers and trees of them, written in NumPy; or what `graph_jit`, `grad`, `vmap` and
        their like return. The arguments in ``static_argnames`` of a compiled function are those of `jax.jit`, too.
    native : bool, optional
        Whether XLA calls the native code that numbagraph compiles (through `jax.ffi`), rather than a translation: on
        the CPU alone, with reverse mode of any order and `jax.vmap`, which are native code as well.

    Returns
    -------
    callable
        Takes what ``f`` takes, with arrays of JAX, and gives arrays of JAX.

    Raises
    ------
    TypeError
        If ``f`` cannot be called. A call raises it for what JAX has no place for: functions that write into their
        arguments, shared variables, generators of random numbers.
    NotImplementedError
        Of a call: where lengths follow from elements (``x[x > 0]``).

    Notes
    -----
    Dtypes are what JAX's configuration allows: without ``jax_enable_x64`` arrays of float64, those that ``f`` captures
    too, are float32, and a sum of int32 is int32, where NumPy gives int64. Derivatives are JAX's own, but for functions
    with a `custom_vjp`, whose rule holds in reverse mode. JAX's ``while_loop`` has no reverse mode, so for loops whose
    number of steps is not known take `jax.jvp` or `jax.jacfwd`.

    As with JAX's functions, no error is raised under `jax.jit` for an index that is out of bounds, a singular matrix or
    a `check` that does not hold; a call on arrays that are there raises the error of NumPy. Numbers that lengths or
    the starts of slices follow from must be known: name them in ``static_argnums`` of `jax.jit`.

    With ``native=True`` it is compiled for each shape of the arguments, as JAX compiles; the code is kept until the
    process ends. Errors under `jax.jit` are `jax.errors.JaxRuntimeError`. There is no forward mode: take `jax.jacrev`
    for `jax.jacfwd`, and ``jacrev(jacrev(f))`` for `jax.hessian`. While loops have reverse mode, where the function's
    own `grad` has. Programs that call native code cannot be exported.

    Examples
    --------
    >>> import jax, numpy as np, numbagraph
    >>> f = numbagraph.to_jax(lambda x: np.sum(np.sin(x) ** 2))
    >>> jax.jit(jax.grad(f))(jax.numpy.zeros(3)).tolist()
    [0.0, 0.0, 0.0]
    >>> g = numbagraph.to_jax(lambda x: np.sum(np.sin(x) ** 2), native=True)
    >>> jax.jit(jax.vmap(jax.grad(g)))(jax.numpy.zeros((2, 1))).tolist()
    [[0.0], [0.0]]
    """
    if native:
        with importing:
            from numbagraph.jax_bridge.native import native as called_by_xla

        return called_by_xla(f)
    with importing:
        from numbagraph.jax_bridge.exported import exported

    return exported(f)


def from_jax(f: Callable[P, R]) -> Transformed[P, R]:
    """A function of JAX as one of numbagraph's: native code, without XLA.

    JAX traces it (`jax.make_jaxpr`), and each operation of the jaxpr becomes one of numbagraph's. It may be called on
    arrays, and inside of functions that `graph_jit`, `grad`, `vmap` and their like take. A function that calls it is
    compiled for each shape of its arguments, as JAX compiles.

    Parameters
    ----------
    f : callable
        A function of arrays and of JAX's trees of them, written with `jax.numpy`, `jax.lax` and what is made of them:
        elementwise functions, products, reductions, indexing, sorting, linear algebra, loops, branches, random numbers
        by keys (of `jax.random.PRNGKey`).

    Returns
    -------
    callable
        Takes what ``f`` takes, with arrays of NumPy, and gives arrays of NumPy. Sparse arrays of JAX are trees of such,
        and are differentiated by their elements. What is no array, such as a text or a
        static argument of `graph_jit`, reaches ``f`` as it is.

    Raises
    ------
    TypeError
        If ``f`` cannot be called.
    NotImplementedError
        Of a call: where ``f`` uses a primitive of JAX that has no translation, by its name.
    TraceError
        Of a call: where lengths are not known before the program runs (``x[x > 0]``, callers in native code).

    Notes
    -----
    ``f`` is traced with JAX's 64-bit types, whatever its configuration: so float64 stays float64, and `jax.numpy.zeros`
    gives float64. JAX's custom derivatives hold, in reverse mode and in forward mode. Where JAX clamps an index, or
    leaves an update out, so does this; where its linear algebra gives NaN, too.

    Examples
    --------
    >>> import jax, numpy as np, numbagraph
    >>> f = numbagraph.from_jax(lambda x: jax.nn.logsumexp(x))
    >>> f(np.zeros(2)), numbagraph.grad(f)(np.zeros(2))
    (np.float64(0.6931471805599453), array([0.5, 0.5]))
    """
    with importing:
        from numbagraph.jax_bridge.imported import imported

    return imported(f)

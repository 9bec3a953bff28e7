"""The kind of op whose scalar kernel is SciPy's own: ufuncs of `scipy.special`, called in native code as they are.

Each is one declaration: the domains of its operands in tests, and its derivatives by them. Results equal SciPy's, but
those of vector formulas of numbagraph's own, which differ by few units in the last place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import Any

import numpy as np

from numbagraph.blockwise.common import broadcasting_vjp
from numbagraph.blockwise.elementwise import elementwise_type
from numbagraph.blockwise.kinds import batch_elementwise, draw
from numbagraph.blockwise.lowering import Map
from numbagraph.blockwise.promotion import DtypeRule, Kind, promote
from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.ir import Emit
from numbagraph.ir.op import lazy, load, quiet, registry
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Cotangents, Op, Unsupported, Value, nowhere
from numbagraph.ops.rounding import trunc

KIND = "special function"
"""The value of `Op.kind` for these ops: they share their code, and are tested together."""

Domain = tuple[float, float] | range | Op
"""The values of an operand in tests: numbers of an interval, integers, or an op's value of the operands before."""
Slope = Callable[..., Any] | Unsupported | None
"""A derivative by one operand, ``slope(y, *operands)``; None is zero, as is a derivative that is None."""

IN_JAX = frozenset("beta betaln dawsn exp1 expi expn fresnel gammasgn hyp1f1 hyp2f1 poch sici spence".split())
"""Functions of `jax.scipy.special`."""
BY_PARAMETER = Unsupported("there is no derivative by this parameter: it has no formula in functions that SciPy has")


def kernel(
    name: str,
    operands: Sequence[Domain],
    *slopes: Slope,
    whole: Collection[int] = (),
    jnp: Callable[..., Any] | None = None,
    cost: float | None = None,
    kinks: Callable[..., Any] = nowhere,
    path: str = "",
    emit: Emit | None = None,
    ulp: float = 0.0,
    scale: float = 0.0,
) -> Op:
    """Declare a ufunc of `scipy.special` for real arguments.

    Parameters
    ----------
    name
        Its name; "special.name" where NumPy has another function of that name.
    operands
        Where tests take each operand from.
    slopes
        The derivatives by each of the operands, in public ops; none at all if it has none.
    whole
        The operands of which SciPy takes the integer part, which derivatives are given.
    jnp
        The translation, where it is not `jax.scipy.special`'s function.
    cost, kinks
        As of every op: see `Op`. Vector code costs a fifth of a call of SciPy's function, if nothing else is said.
    path
        Where SciPy has it, if it is not a public ufunc.
    emit, ulp
        Its LLVM, if that is no call of SciPy's function, and by how much results may then differ from SciPy's, in units
        in the last place.
    scale
        As of every op.
    """
    cost = cost if cost is not None else 40 if emit else 200
    return _declare(name, operands, [slopes], False, whole, jnp, cost, kinks, path, emit, ulp, scale)


def kernels(
    name: str,
    operands: Sequence[Domain],
    results: Sequence[Sequence[Slope]],
    cost: float = 400,
    emit: Emit | None = None,
    ulp: float = 0.0,
    scale: float = 0.0,
) -> Op:
    """Declare a ufunc of several results.

    ``results`` has a row of derivatives for each of them, which are given all results: ``slope(ys, *operands)``.
    ``emit`` is handed the number of one as ``result``.
    """
    return _declare(name, operands, results, True, (), None, cost, emit=emit, ulp=ulp, scale=scale)


def _declare(
    name: str,
    operands: Sequence[Domain],
    rows: Sequence[Sequence[Slope]],
    several: bool,
    whole: Collection[int],
    jnp: Callable[..., Any] | None,
    cost: float,
    kinks: Callable[..., Any] = nowhere,
    path: str = "",
    emit: Emit | None = None,
    ulp: float = 0.0,
    scale: float = 0.0,
) -> Op:
    plain = name.rpartition(".")[2]
    path = path or f"scipy.special:{plain}"
    rule = dtype_rule(path)

    def every(*inputs: Value) -> tuple[Value, ...]:
        return tuple(op.bind(*inputs, result=number) for number in range(len(rows)))

    def frontend(op: Op, *given: Any) -> Any:
        inputs = promote(rule, given)
        return every(*inputs) if several else op.bind(*inputs)

    def reference(*arrays: Any, result: int = 0) -> Any:
        if whole:
            return with_integers(load(path), whole, rule, arrays)
        found = quiet(load(path), *arrays)
        return found[result] if several else found

    def vjp(g: Value, y: Value, *inputs: Value, result: int = 0) -> Cotangents:
        known = every(*inputs) if several else y
        given = [trunc(each) if number in whole else each for number, each in enumerate(inputs)]

        def cotangent(slope: Slope) -> Value | Unsupported | None:
            if slope is None or isinstance(slope, Unsupported):
                return slope
            found = slope(known, *given)
            return None if found is None else g * found

        return [cotangent(each) for each in rows[result]]

    def translate(*arrays: Any, result: int = 0) -> Any:
        found = (jnp or lazy(f"jax.scipy.special:{plain}"))(*arrays)
        return found[result] if several else found

    op = registry.register(
        Op(
            name=name,
            kind=KIND,
            reference=reference,
            infer=elementwise_type(rule, plain),
            frontend=frontend,
            lower=Map(emit or libm.scipy(plain, whole)),
            vjp=broadcasting_vjp(vjp if rows[0] else Unsupported(f"there is no formula for derivatives of {plain}")),
            batch=batch_elementwise,
            jnp=translate if jnp or plain in IN_JAX else Unsupported(f"JAX has no {plain}"),
            samples=samples_of(operands),
            implements=(path,),
            cost=cost,
            ulp=ulp,
            scale=scale,
            kinks=kinks,
        )
    )
    return op


def dtype_rule(path: str) -> DtypeRule:
    """Return the rule by which SciPy's ufunc itself would choose its loop."""

    @cache
    def rule(kinds: tuple[Kind, ...]) -> tuple[np.dtype, ...]:
        ufunc = load(path)
        dtypes = ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout))
        if any(each.kind == "c" for each in dtypes):
            raise TypeError(f"{ufunc.__name__} of complex numbers is not supported")
        return dtypes[: ufunc.nin + 1]

    return rule


def samples_of(operands: Sequence[Domain]) -> Callable[..., Any]:
    """Return operands that broadcast against each other, in one dtype; integers stand for real numbers too."""

    def samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
        if dtype.kind == "c":
            return []
        shapes = ((3, 4), (4,), (3, 1), (1, 1), ())
        found: list[Any] = []
        for shape, domain in zip(shapes, operands, strict=False):
            if isinstance(domain, Op):
                found.append(np.asarray(domain.reference(*found)).astype(dtype))
            elif isinstance(domain, range):
                found.append(rng.choice(np.array(domain), shape).astype(INT64))
            else:
                found.append(draw(rng, dtype, shape, domain))
        return [tuple(found)]

    return samples


def with_integers(ufunc: Callable[..., Any], whole: Collection[int], rule: DtypeRule, arrays: Sequence[Any]) -> Any:
    """Return a ufunc on arrays of which some become integers, as `libm.scipy` has it."""
    given = list(map(np.asarray, arrays))
    dtype, unknown = rule(tuple(each.dtype for each in given))[-1], np.zeros((), np.bool_)
    for number in whole:
        each = given[number]
        if each.dtype.kind == "f":
            unknown = unknown | np.isnan(each)
            whole = np.where(np.abs(each) < -libm.LEAST_INT, each, libm.LEAST_INT).astype(INT64)
            above = (each >= -libm.LEAST_INT) & libm.has_greatest_int()
            given[number] = np.where(above, libm.GREATEST_INT, whole)
    return np.where(unknown, np.nan, quiet(ufunc, *given)).astype(dtype)[()]

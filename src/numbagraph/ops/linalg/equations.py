"""Matrix equations: Sylvester's and Lyapunov's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.core import promoted, require_square
from numbagraph.blockwise.kinds import core_op, decomposition
from numbagraph.blockwise.promotion import convert
from numbagraph.intrinsics.emitters.linalg import equations, spectral
from numbagraph.ir import shapes
from numbagraph.ir.op import load
from numbagraph.ir.types import real_dtype
from numbagraph.ir.values import Op, Value
from numbagraph.ops.linalg import samples, singular
from numbagraph.ops.linalg.common import adjoint, conj, product, reference, unit
from numbagraph.ops.linalg.matrix_functions import kron
from numbagraph.ops.linalg.solutions import inv, solve
from numbagraph.ops.linalg.spectra import LONGEST
from numbagraph.ops.product import transposed_matrix
from numbagraph.ops.shape import reshape_value

EQUATION = "(m,m),(n,n),(m,n)->(m,n)"
LYAPUNOV = "(m,m),(m,m)->(m,m)"


def sylvester_vjp(g: Value, y: Value, a: Value, b: Value, q: Value, *, on_error: str) -> tuple[Value, Value, Value]:
    """Return the cotangents of Sylvester's equation. It is linear in its right-hand side, so the transposed equation
    takes the cotangent back."""
    right = solve_sylvester.bind(transposed_matrix(a), transposed_matrix(b), g, on_error=on_error)
    turned = transposed_matrix(y)
    return -product(right, turned), -product(turned, right), right


def sylvester_evaluate(a: Any, b: Any, q: Any) -> Any:
    if not all(np.isfinite(each).all() for each in (a, b, q)):
        raise np.linalg.LinAlgError("solve_sylvester: array must not contain infs or NaNs")
    return load("scipy.linalg:solve_sylvester")(a, b, q)


def sylvester_jnp(a: Any, b: Any, q: Any, *, on_error: str) -> Any:
    """Solve with JAX a system of equations for all elements: JAX has no Schur form that can be differentiated."""
    jnp = load("jax:numpy")
    m, n = a.shape[-1], b.shape[-1]
    units = [jnp.eye(length, dtype=a.dtype) for length in (n, m)]
    matrix = jnp.einsum("...ij,kl->...ikjl", a, units[0]) + jnp.einsum("ij,...lk->...ikjl", units[1], b)
    right = q.reshape(*q.shape[:-2], m * n, 1)
    solution = jnp.linalg.solve(matrix.reshape(*matrix.shape[:-4], m * n, m * n), right)
    return solution.reshape(*solution.shape[:-2], m, n)


def sylvester_frontend(op: Op, a: Any, b: Any, q: Any) -> Value:
    left, right, given = promoted(a, b, q, ranks=(2, 2, 2))
    for number, matrix in enumerate((left, right)):
        require_square(matrix)
        lengths = shapes.resolve(matrix.shape[-1]), shapes.resolve(given.shape[number - 2])
        subject = f"solve_sylvester: matrix {number} has {lengths[0]} rows, and axis {number - 2} of q has {lengths[1]}"
        shapes.require_same(*lengths, subject)
    return op.bind(left, right, given, on_error=singular.chosen())


def sylvester_scratch(dtype: np.dtype, lengths: Mapping[str, Any], **_: Any) -> Sequence[tuple[np.dtype, Any]]:
    m, n = lengths["m"], lengths["n"]
    both = lowering.add(lowering.add(m, n), lowering.literal(1))
    squares = [(dtype, (each, each)) for each in (n, n, m, m)]
    return [*squares, (dtype, (m, n)), (dtype, (both, spectral.BLOCK)), (dtype, (both,)), (real_dtype(dtype), (both,))]


def sylvester_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    calls = []
    for m, n in ((3, 2), (1, 3), (12, 15)):
        left, right = (samples.dominant(rng, dtype, (length, length)) for length in (m, n))
        calls.append((left, right, samples.draw(rng, dtype, (m, n))))
    return [(*call, samples.Keywords()) for call in calls]


solve_sylvester = core_op(
    "scipy.linalg:solve_sylvester",
    EQUATION,
    evaluate=reference(EQUATION)(sylvester_evaluate),
    library=equations.sylvester,
    size="m",
    frontend=sylvester_frontend,
    vjp=sylvester_vjp,
    jnp=sylvester_jnp,
    scratch=sylvester_scratch,
    longest=LONGEST,
    regular=True,
    samples=samples.inexact(sylvester_samples),
)
"""The solution of ``a x + x b = q``."""


def lyapunov_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    matrix = samples.dominant(rng, dtype, (3, 3))
    matrix = (matrix / np.asarray(10, dtype)).astype(dtype)
    return [(matrix, samples.draw(rng, dtype, (3, 3)), samples.Keywords())]


def lyapunov_vjp(g: Value, y: Value, a: Value, q: Value, *, on_error: str) -> tuple[Value, Value]:
    """Return the cotangents as for Sylvester's equation, whose second matrix is the adjoint of the first."""
    right = solve_continuous_lyapunov.bind(transposed_matrix(a), g, on_error=on_error)
    turned = transposed_matrix(y)
    return -product(right, turned) - adjoint(product(turned, right)), right


def lyapunov_evaluate(a: Any, q: Any) -> Any:
    if not all(np.isfinite(each).all() for each in (a, q)):
        raise np.linalg.LinAlgError("solve_continuous_lyapunov: array must not contain infs or NaNs")
    return load("scipy.linalg:solve_continuous_lyapunov")(a, q)


def lyapunov_jnp(a: Any, q: Any, *, on_error: str) -> Any:
    jnp = load("jax:numpy")
    return sylvester_jnp(a, jnp.conj(jnp.swapaxes(a, -1, -2)), q, on_error=on_error)


def lyapunov_frontend(op: Op, a: Any, q: Any) -> Value:
    matrix, right = promoted(a, q, ranks=(2, 2))
    require_square(matrix)
    for axis in (-2, -1):
        lengths = shapes.resolve(matrix.shape[-1]), shapes.resolve(right.shape[axis])
        subject = f"solve_continuous_lyapunov: a has {lengths[0]} rows, and axis {axis} of q has {lengths[1]}"
        shapes.require_same(*lengths, subject)
    return op.bind(matrix, right, on_error=singular.chosen())


def lyapunov_scratch(dtype: np.dtype, lengths: Mapping[str, Any], **_: Any) -> Sequence[tuple[np.dtype, Any]]:
    m = lengths["m"]
    more = lowering.add(m, lowering.literal(1))
    squares = [(dtype, (m, m))] * 3
    return [*squares, (dtype, (more, spectral.BLOCK)), (dtype, (more,)), (real_dtype(dtype), (more,))]


solve_continuous_lyapunov = core_op(
    "scipy.linalg:solve_continuous_lyapunov",
    LYAPUNOV,
    evaluate=reference(LYAPUNOV)(lyapunov_evaluate),
    library=equations.lyapunov,
    frontend=lyapunov_frontend,
    vjp=lyapunov_vjp,
    jnp=lyapunov_jnp,
    scratch=lyapunov_scratch,
    longest=LONGEST,
    regular=True,
    ulp=256,
    samples=samples.inexact(lyapunov_samples),
)
"""The solution of ``a x + x a^H = q``."""


def discrete_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype not in (np.float64, np.complex128):
        return []
    ((matrix, right, _),) = lyapunov_samples(rng, dtype)
    return [(matrix, right, samples.Keywords(method=method)) for method in (None, "direct", "bilinear")]


@decomposition("scipy.linalg:solve_discrete_lyapunov", samples=discrete_samples, ulp=512)
def solve_discrete_lyapunov(a: Any, q: Any, method: str | None = None) -> Value:
    """Solve by the bilinear transformation unless "direct" is asked for: lengths are not known during tracing.

    The computation is in double precision, as in SciPy.
    """
    matrix, right = promoted(a, q, ranks=(2, 2))
    matrix, right = (convert(each, np.result_type(each.dtype, np.float64)) for each in (matrix, right))
    require_square(matrix)
    if method is not None and method.lower() not in ("direct", "bilinear"):
        raise ValueError(f"solve_discrete_lyapunov: method must be 'direct' or 'bilinear', not {method!r}")
    if method is not None and method.lower() == "direct":
        return directly(matrix, right)
    one = unit(matrix)
    turned = inv(matrix + one)
    middle = product(turned, matrix - one)
    changed = product(turned, right, adjoint(turned))
    return solve_continuous_lyapunov(middle, -2 * changed)  # type: ignore[return-value]


def directly(matrix: Value, right: Value) -> Value:
    """Solve a system of equations for all elements."""
    n = matrix.shape[-1]
    count = shapes.multiply(n, n)
    system = kron(matrix, conj(matrix))
    solution = solve(unit(system) - system, reshape_value(right, (*right.shape[:-2], count, 1)))
    return reshape_value(solution, right.shape)

"""Cases of JAX's primitives of linear algebra, of control flow, random numbers, callbacks and sparse arrays."""

import functools
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.ad_checkpoint import checkpoint_name
from jax.experimental import sparse

from tests.support.jax_elementwise import Case, specials

A = np.array([[4.0, 1.0, -2.0], [1.0, 3.0, 0.5], [-2.0, 0.5, 5.0]])
B = np.array([[1.0, 0.0], [-2.0, 3.0], [0.5, -1.0]])
X = np.array([0.5, -1.5, 2.0, 0.0])
SINGULAR = {
    "zero": np.zeros((3, 3)),
    "a zero on the diagonal": np.array([[0.0, 1.0, 2.0], [1.0, 2.0, 3.0], [2.0, 1.0, 1.0]]),
    "rank 1": np.ones((3, 3)),
    "rank 2": np.diag([1.0, 2.0, 0.0]),
    "nan": np.array([[1.0, np.nan, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    "infinite": np.array([[np.inf, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    "signed zeros": np.array([[-0.0, 1.0, 0.0], [1.0, -0.0, 0.0], [0.0, -0.0, -0.0]]),
}
MATRICES = [
    A,
    A.astype(np.float32),
    A + 1j * np.triu(A, 1) - 1j * np.tril(A, -1),
    np.stack([A, 2 * A]),
    *SINGULAR.values(),
]
DECOMPOSED = [A, *(SINGULAR[name] for name in ("zero", "rank 1", "rank 2"))]


def triangular(**options: Any) -> list[Case]:
    solve = functools.partial(lax.linalg.triangular_solve, **options)
    return [
        (solve, each, (B if options["left_side"] else B.T).astype(each.dtype)) for each in MATRICES if each.ndim == 2
    ]


def by_singular_values(x: Any) -> Any:
    """What is unique of a factorisation: the values, and the product of all factors."""
    u, s, vh = lax.linalg.svd(x, full_matrices=False)
    return s, (u * s) @ vh


def by_eigenvalues(x: Any) -> Any:
    vectors, values = lax.linalg.eigh(x)
    return values, (vectors * values) @ vectors.T


def by_reflections(x: Any) -> Any:
    q, r = lax.linalg.qr(x, full_matrices=False)
    return q @ r, jnp.abs(r)


DIAGONALS = np.array([[0.0, 1.0, 2.0], [4.0, -0.0, 5.0], [1.0, 0.5, 0.0]])
LINEAR: dict[str, list[Case]] = {
    "cholesky": [(functools.partial(lax.linalg.cholesky, symmetrize_input=False), each) for each in MATRICES],
    "eigh": [(by_eigenvalues, each) for each in DECOMPOSED],
    "lu": [(lax.linalg.lu, each) for each in MATRICES],
    "lu_pivots_to_permutation": [
        (lambda p: lax.linalg.lu_pivots_to_permutation(p, 4), np.array([2, 1, 3, 3], np.int32))
    ],
    "qr": [(by_reflections, A)],
    "svd": [(by_singular_values, each) for each in [*DECOMPOSED, B]],
    "triangular_solve": [
        *triangular(left_side=True, lower=True),
        *triangular(left_side=True, lower=False, transpose_a=True),
        *triangular(left_side=False, lower=True),
        *triangular(left_side=True, lower=False, unit_diagonal=True),
    ],
    "tridiagonal_solve": [
        (lax.linalg.tridiagonal_solve, DIAGONALS[0], DIAGONALS[1] + 6.0, DIAGONALS[2], B),
        (lax.linalg.tridiagonal_solve, np.zeros(3), np.array([1.0, 0.0, -0.0]), np.zeros(3), B),
    ],
    "custom_linear_solve": [(jnp.linalg.solve, each, B) for each in MATRICES if each.ndim == 2 and each.dtype == float],
}


@jax.custom_jvp
def twice(x: Any) -> Any:
    return x * 2.0


twice.defjvp(lambda x, t: (twice(*x), t[0] * 3.0))


@jax.custom_vjp
def thrice(x: Any) -> Any:
    return x * 3.0


thrice.defvjp(lambda x: (thrice(x), x), lambda x, g: (g * x,))


@jax.custom_batching.custom_vmap
def halved(x: Any) -> Any:
    return x / 2.0


halved.def_vmap(lambda size, batched, x: (x / 2.0, True))


def called_back(x: Any) -> Any:
    return jax.pure_callback(np.sqrt, jax.ShapeDtypeStruct(x.shape, x.dtype), jnp.abs(x), vmap_method="expand_dims")


def noted(x: Any) -> Any:
    jax.debug.callback(lambda y: None, x)
    return x + 1.0


def printed(x: Any) -> Any:
    jax.debug.print("")
    return x + 1.0


CONTROL: dict[str, list[Case]] = {
    "checkpoint": [(jax.checkpoint(jnp.sin), X), (jax.grad(lambda x: jnp.sum(jax.checkpoint(jnp.sin)(x))), X)],
    "composite": [(lax.composite(lambda x: x * 2.0, "my.double"), X)],
    "cond": [
        *((lambda x, p: lax.cond(p, jnp.sin, lambda x: x * 2.0, x), X, np.array(each)) for each in (True, False)),
        *((lambda x, i: lax.switch(i, [jnp.sin, jnp.cos, jnp.exp], x), X, np.array(each)) for each in (-3, 0, 1, 2, 9)),
    ],
    "custom_jvp_call": [(twice, X), (jax.grad(lambda x: jnp.sum(twice(x))), X)],
    "custom_vjp_call": [(thrice, X), (jax.grad(lambda x: jnp.sum(thrice(x))), X)],
    "custom_vmap_call": [(lambda x: halved(x), X), (jax.vmap(halved), X)],
    "debug_callback": [(noted, X)],
    "debug_print": [(printed, X)],
    "jit": [(jax.jit(jnp.sin), X)],
    "platform_index": [(lambda x: lax.platform_dependent(x, cpu=jnp.sin, default=jnp.cos), X)],
    "pure_callback": [(called_back, X)],
    "scan": [
        (lambda x: lax.scan(lambda c, y: (c * 0.5 + y, c), -0.0, x), X),
        (lambda x: lax.scan(lambda c, y: (c * 0.5 + y, c), 1.0, x, reverse=True), X),
        (lambda x: lax.scan(lambda c, y: (c + y, c), 1.0, x), X[:0]),
    ],
    "while": [
        (lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * c[1]), (0, x)), X),
        (jax.vmap(lambda x: lax.while_loop(lambda c: c < 3.0, lambda c: c + 1.0, x)), X),
    ],
    "name": [(lambda x: checkpoint_name(x, "x"), X)],
    "optimization_barrier": [(lax.optimization_barrier, X)],
}


def draws(shape: Any = (3,)) -> list[Case]:
    return [(lambda x: jax.random.normal(jax.random.key(3), shape) * x[0], X)]


WORDS = np.array([0, 2**32 - 1], np.uint32)
RANDOM: dict[str, list[Case]] = {
    "iota_2x32_shape": draws(),
    "random_bits": draws(),
    "random_clone": [(lambda x: jax.random.uniform(jax.random.clone(jax.random.key(1)), (3,)) * x[0], X)],
    "random_fold_in": [
        (
            lambda w, n: jax.random.key_data(jax.random.fold_in(jax.random.wrap_key_data(w), n)),
            WORDS,
            np.array(7, np.uint32),
        )
    ],
    "random_gamma": [(lambda a: jax.random.gamma(jax.random.key(2), a), np.array([0.1, 1.0, 30.0]))],
    "random_seed": [(lambda n: jax.random.key_data(jax.random.key(n)), np.array(each)) for each in (0, -1, 2**40)],
    "random_split": [(lambda w: jax.random.key_data(jax.random.split(jax.random.wrap_key_data(w))), WORDS)],
    "random_unwrap": [(lambda w: jax.random.key_data(jax.random.wrap_key_data(w)), WORDS)],
    "random_wrap": [(lambda w: jax.random.bits(jax.random.wrap_key_data(w), (4,)), WORDS)],
    "threefry2x32": draws(),
}

DENSE = np.where(np.abs(A) > 0.7, A, 0.0)
COO, CSR = sparse.COO.fromdense(DENSE), sparse.CSR.fromdense(DENSE)
BCOO, BCSR = sparse.BCOO.fromdense(DENSE), sparse.BCSR.fromdense(DENSE)
ODD = np.array([[0.0, np.nan, -0.0], [np.inf, 1.0, -1.0], [0.0, -0.0, -np.inf]])
SPARSE: dict[str, list[Case]] = {
    "bcoo_dot_general": [(lambda x: BCOO @ x, A)],
    "bcoo_dot_general_sampled": [
        (
            lambda x, y: sparse.bcoo_dot_general_sampled(
                x, y, BCOO.indices, dimension_numbers=(((1,), (0,)), ((), ()))
            ),
            A,
            A,
        )
    ],
    "bcoo_extract": [(lambda x: sparse.bcoo_extract(BCOO, x).data, A)],
    "bcoo_fromdense": [(lambda x: sparse.BCOO.fromdense(x, nse=9).todense(), each) for each in (DENSE, ODD)],
    "bcoo_sort_indices": [
        (lambda x: sparse.BCOO((x, BCOO.indices[::-1]), shape=(3, 3)).sort_indices().data, np.asarray(BCOO.data))
    ],
    "bcoo_spdot_general": [
        (lambda x: (sparse.BCOO((x, BCOO.indices), shape=(3, 3)) @ BCOO).todense(), np.asarray(BCOO.data))
    ],
    "bcoo_sum_duplicates": [
        (lambda x: sparse.BCOO((x, BCOO.indices), shape=(3, 3)).sum_duplicates(nse=9).todense(), np.asarray(BCOO.data))
    ],
    "bcoo_todense": [(lambda x: sparse.BCOO((x, BCOO.indices), shape=(3, 3)).todense(), np.asarray(BCOO.data))],
    "bcoo_transpose": [(lambda x: sparse.BCOO((x, BCOO.indices), shape=(3, 3)).T.todense(), np.asarray(BCOO.data))],
    "bcsr_dot_general": [(lambda x: BCSR @ x, A)],
    "bcsr_extract": [(lambda x: sparse.bcsr.bcsr_extract(BCSR.indices, BCSR.indptr, x), A)],
    "bcsr_fromdense": [(lambda x: sparse.BCSR.fromdense(x, nse=9).todense(), each) for each in (DENSE, ODD)],
    "bcsr_todense": [
        (lambda x: sparse.BCSR((x, BCSR.indices, BCSR.indptr), shape=(3, 3)).todense(), np.asarray(BCSR.data))
    ],
    "coo_fromdense": [(lambda x: sparse.COO.fromdense(x, nse=9).todense(), DENSE)],
    "coo_matmat": [(lambda x: COO @ x, A)],
    "coo_matvec": [(lambda x: COO @ x, A[0])],
    "coo_todense": [(lambda x: sparse.COO((x, COO.row, COO.col), shape=(3, 3)).todense(), np.asarray(COO.data))],
    "csr_fromdense": [(lambda x: sparse.CSR.fromdense(x, nse=9).todense(), DENSE)],
    "csr_matmat": [(lambda x: CSR @ x, A)],
    "csr_matvec": [(lambda x: CSR @ x, A[0])],
    "csr_todense": [(lambda x: sparse.CSR((x, CSR.indices, CSR.indptr), shape=(3, 3)).todense(), np.asarray(CSR.data))],
}
LATER: dict[str, list[Case]] = {
    "call_hi_primitive": [(lambda x: jnp.logaddexp(x, thrice(x)), X)],
    "empty": [(lambda x: lax.empty(x.shape, x.dtype).at[:].set(x), X)] if hasattr(lax, "empty") else [(jnp.copy, X)],
    "expand_dims": [(lambda x: lax.expand_dims(x, (0, 2)), ODD)],
    "log2": [(jnp.log2, specials(dtype)) for dtype in ("float64", "float32")],
    "one_minus_square": [(getattr(lax, "one_minus_square", jnp.square), specials("float64"))],
    "polynomial": [(jnp.polyval, np.array([1.5, -2.0, 0.25]), specials("float64"))],
    "stack": [(lambda x: jnp.stack([x, x + 1.0], 1), ODD)],
    "tile": [(lambda x: jnp.tile(x, (2, 3)), ODD)],
    "unstack": [(lambda x: jnp.unstack(x, axis=1), ODD)],
}
"""Rows of primitives that not every version of JAX has, and what makes them where it has."""
PROGRAMS = {**LINEAR, **CONTROL, **RANDOM, **SPARSE, **LATER}

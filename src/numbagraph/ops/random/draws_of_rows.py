"""Draws of NumPy's `Generator` that give a row of numbers each: permutations, and counts that have a given sum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import Keywords, core_op
from numbagraph.intrinsics.emitters.core import Algorithm
from numbagraph.intrinsics.emitters.random import rows as drawn_rows
from numbagraph.ir.types import INT64, UINT64
from numbagraph.ir.values import Op
from numbagraph.ops.random.draws import LONGEST, NO_BATCH, NO_JAX, drawn, no_derivative
from numbagraph.ops.random.generator_states import generator_of, words_of


def draws(
    name: str, operands: str, rows: Callable[..., np.ndarray], library: Algorithm, samples: Sequence[tuple[Any, ...]]
) -> Op:
    """Declare an op of a state and of operands, which gives a matrix and the state after it.

    ``rows(generator, *operands)`` draws the same with NumPy.
    """

    def evaluate(state: np.ndarray, *others: np.ndarray, source: str, on_error: str) -> tuple[np.ndarray, ...]:
        del on_error
        generator = generator_of(source, state)
        return rows(generator, *others), words_of(generator.bit_generator)

    def of_state(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
        words = words_of(np.random.PCG64(int(rng.integers(1000))))
        options = Keywords(source="PCG64", on_error="raise")
        return [(words, *each, options) for each in samples] if dtype == UINT64 else []

    return core_op(
        None,
        f"(s),{operands},(s)",
        name=f"draws.{name}",
        evaluate=evaluate,
        library=library,
        threaded=False,
        frontend=drawn,
        vjp=no_derivative,
        jnp=NO_JAX,
        batched=NO_BATCH,
        dtypes=lambda dtype, *_: (INT64, UINT64),
        samples=of_state,
        longest=LONGEST,
        ulp=0,
    )


def orders(generator: np.random.Generator, rows: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    found = np.empty((rows.shape[0], sizes.shape[0]), np.int64)
    for row in found:
        row[:] = generator.permutation(sizes.shape[0])
    return found


ORDERS = draws(
    "orders",
    "(r),(n)->(r,n)",
    orders,
    drawn_rows.orders,
    [(np.zeros(rows, bool), np.zeros(length, bool)) for rows, length in ((1, 1), (1, 9), (3, 4))],
)
"""The positions of arrays that are shuffled."""

MULTINOMIAL = draws(
    "multinomial",
    "(r),(r,d)->(r,d)",
    lambda generator, n, chances: generator.multinomial(n, chances),
    drawn_rows.multinomial,
    [(np.array([10, 0, 1000]), np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0], [0.3, 0.7, 0.0]]))],
)


def hypergeometric(method: Any) -> Op:
    def rows(generator: np.random.Generator, colours: np.ndarray, taken: np.ndarray, carrier: np.ndarray) -> np.ndarray:
        return generator.multivariate_hypergeometric(colours, taken[0], carrier.shape[0], method=method)

    return draws(
        f"multivariate_hypergeometric_{method}",
        "(d),(m),(r)->(r,d)",
        rows,
        drawn_rows.multivariate_hypergeometric(method),
        [(np.array([4, 0, 50]), np.array([7]), np.zeros(3, bool))],
    )


HYPERGEOMETRIC = {method: hypergeometric(method) for method in ("count", "marginals")}

"""Cases of JAX's primitives that move, reduce and order elements: special numbers among these, indices out of bounds,
functions as parameters."""

import functools
from typing import Any

import numpy as np
from jax import lax
from jax import numpy as jnp

from tests.support.jax_elementwise import Case, specials

DTYPES = ("float64", "float32", "int8", "int32", "uint8", "int64")
COMPARED = (*DTYPES, "bool")
ODD = np.array([[0.0, -0.0, np.nan, 1.0], [-np.inf, -0.0, 0.0, -1.0], [np.inf, 2.0, -np.nan, -np.inf]])
TIED = [
    np.array([0.0, -0.0, 0.0, -0.0, 1.0]),
    np.array([-0.0, 0.0, -0.0, 0.0]),
    np.array([np.nan, 1.0, -np.nan, np.inf, -np.inf, np.nan]),
    np.array([1.0, -np.nan, 2.0, 1.0]),
    np.array([2.0, 3.0, 3.0, 2.0]),
]
OUTSIDE = np.array([2, 0, 4, -1, -5, 100, 3, -100])
APART = np.array([2, 0, 4, -5, 100, 1, -100])
"""Indices that name no element twice."""
X, M = np.arange(1.0, 5.0), np.arange(12.0).reshape(3, 4)
C = M + 1j * M[::-1]


def rows(dtype: str) -> np.ndarray:
    """Special numbers as a matrix of four columns."""
    numbers = specials(dtype)
    return np.resize(numbers, (-(-len(numbers) // 4), 4))


def along(function: Any, dtypes: Any, *options: dict[str, Any]) -> list[Case]:
    return [(functools.partial(function, **each), rows(dtype)) for dtype in dtypes for each in options or ({},)]


def reduction(function: Any, dtypes: Any = COMPARED) -> list[Case]:
    cases = [(lambda x, axes=axes: function(x, axes), rows(dtype)) for dtype in dtypes for axes in ((0,), (1,), (0, 1))]
    cases += [(lambda x: function(x, (0,)), each) for each in TIED] if "float64" in dtypes else []
    return [*cases, *((lambda x: function(x, (0,)), np.zeros((0, 3), dtype)) for dtype in dtypes)]


def running(function: Any, dtypes: Any = DTYPES) -> list[Case]:
    return along(function, dtypes, {"axis": 0}, {"axis": 1, "reverse": True})


MODES = ("clip", "fill", "promise_in_bounds")


def at(method: str, modes: Any = ("clip", "fill"), places: np.ndarray = OUTSIDE) -> list[Case]:
    """Updates at positions of which some are out of bounds."""
    numbers = np.linspace(-2.0, 3.0, len(places))
    cases: list[Case] = [
        (lambda x, i, v, mode=mode: getattr(x.at[i], method)(v, mode=mode), X, places, numbers) for mode in modes
    ]
    cases += [
        (
            lambda x, i, v, mode=mode: getattr(x.at[i, 1:3], method)(v[:, None], mode=mode),
            np.tile(X, (4, 1)),
            places,
            numbers,
        )
        for mode in modes
    ]
    cases += [
        (
            lambda x, i, v: getattr(x.at[i], method)(v),
            X.astype(np.int32),
            places,
            np.arange(len(places), dtype=np.int32),
        )
    ]
    cases += [(lambda x, i, v: getattr(x.at[i], method)(v), ODD[0], np.array([0, 1, 2, 3]), ODD[2])]
    return cases


def windows(indices: Any, sizes: Any, mode: str) -> Any:
    numbers = lax.GatherDimensionNumbers(offset_dims=(1, 2), collapsed_slice_dims=(), start_index_map=(0, 1))
    return lambda x, i: lax.gather(x, i, numbers, sizes, mode=mode)


STARTS = np.array([[0, 0], [2, 3], [-1, 1], [1, 9], [5, -7]])
NUMBERS = lax.ScatterDimensionNumbers(
    update_window_dims=(), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,)
)


def applied(function: Any) -> Case:
    return (
        lambda x, i: lax.scatter_apply(x, i[:, None], function, NUMBERS, update_shape=i.shape, mode="drop"),
        X,
        APART,
    )


def convolved(**options: Any) -> Case:
    return (
        lambda x, k: lax.conv_general_dilated(x, k, (1,), [(1, 1)], **options),
        rows("float64")[None, :2],
        X.reshape(2, 2, 1)[:, :, [0, 0]],
    )


def windowed(function: Any, initial: Any) -> list[Case]:
    return [
        (lambda x: lax.reduce_window(x, initial(x.dtype), function, (2, 2), (1, 2), [(1, 0), (0, 1)]), rows(dtype))
        for dtype in ("float64", "int32")
    ]


def lowest(dtype: Any) -> Any:
    return dtype.type(-np.inf) if dtype.kind == "f" else dtype.type(np.iinfo(dtype).min)


def highest(dtype: Any) -> Any:
    return dtype.type(np.inf) if dtype.kind == "f" else dtype.type(np.iinfo(dtype).max)


def spread(function: Any) -> Case:
    """A reduction of windows, of which the derivative is asked for."""
    import jax

    return (
        jax.grad(
            lambda x: jnp.sum(lax.reduce_window(x, -np.inf, lax.max, (2,), (1,), "VALID") * X[:3] * function(1.0))
        ),
        X,
    )


def gathered_by_tangent() -> Case:
    import jax

    def tangent(x: Any, t: Any) -> Any:
        return jax.jvp(lambda x: lax.reduce_window(x, -np.inf, lax.max, (2,), (1,), "VALID"), (x,), (t,))[1]

    return (tangent, np.array([1.0, 3.0, 3.0, -0.0, 0.0]), np.arange(5.0))


STRUCTURE: dict[str, list[Case]] = {
    "approx_top_k": [(lambda x: (lax.approx_max_k(x, 2), lax.approx_min_k(x, 2)), X)],
    "argmax": along(lax.argmax, COMPARED, {"axis": 0, "index_dtype": np.int32}, {"axis": 1, "index_dtype": np.int64}),
    "argmin": along(lax.argmin, COMPARED, {"axis": 0, "index_dtype": np.int32}, {"axis": 1, "index_dtype": np.int64}),
    "broadcast_in_dim": [(lambda x: lax.broadcast_in_dim(x, (2, 3, 4, 1), (1, 2)), ODD)],
    "concatenate": [(lambda x, y: lax.concatenate([x, y], 1), ODD, ODD[:, :2])],
    "cumlogsumexp": running(lax.cumlogsumexp, ("float64", "float32")),
    "cummax": running(lax.cummax),
    "cummin": running(lax.cummin),
    "cumprod": running(lax.cumprod),
    "cumsum": running(lax.cumsum),
    "device_put": [(lambda x: __import__("jax").device_put(x), ODD)],
    "dot_general": [
        (lambda x, y: lax.dot_general(x, y, (((1,), (0,)), ((), ()))), M, M.T),
        (lambda x, y: lax.dot_general(x, y, (((1,), (0,)), ((), ()))), ODD, np.eye(4)),
        (lambda x, y: lax.dot_general(x, y, (((1,), (1,)), ((0,), (0,)))), M, M),
        (lambda x, y: lax.dot_general(x, y, (((1,), (0,)), ((), ()))), rows("int8"), rows("int8").T),
        (lambda x, y: lax.dot_general(x, y, (((1,), (0,)), ((), ()))), C, C.T),
        (lambda x, y: lax.dot_general(x, y, (((1,), (0,)), ((), ()))), np.zeros((2, 0)), np.zeros((0, 3))),
        (lambda x, y: lax.dot_general(x, y, (((1,), (0,)), ((), ()))), M > 4, M.T > 8),
    ],
    "dynamic_slice": [
        (lambda x, i, j: lax.dynamic_slice(x, (i, j), (2, 3)), ODD, np.array(first), np.array(second))
        for first, second in ((0, 0), (-1, 1), (9, -9), (1, 1))
    ],
    "dynamic_update_slice": [
        (lambda x, u, i, j: lax.dynamic_update_slice(x, u, (i, j)), ODD, M[:2, :3], np.array(first), np.array(second))
        for first, second in ((0, 0), (-1, 1), (9, -9), (1, 1))
    ],
    "fft": [
        *((lambda x, kind=kind: lax.fft(x, kind, (4,)), C) for kind in ("fft", "ifft")),
        (lambda x: lax.fft(x, "rfft", (4,)), M),
        (lambda x: lax.fft(x, "irfft", (6,)), C),
        (lambda x: lax.fft(x, "fft", (3, 4)), C),
    ],
    "gather": [
        *((lambda x, i, mode=mode: x.at[i].get(mode=mode), X, OUTSIDE) for mode in MODES),
        *((lambda x, i, mode=mode: x.at[i].get(mode=mode), ODD, OUTSIDE) for mode in MODES),
        *((lambda x, i, mode=mode: x.at[i, i[::-1]].get(mode=mode), ODD, OUTSIDE) for mode in MODES),
        *((windows(STARTS, (2, 3), mode), ODD, STARTS) for mode in MODES),
        *((lambda x, i: x[i], rows(dtype), OUTSIDE) for dtype in COMPARED),
        (lambda x, i: x[i], X, OUTSIDE.astype(np.int8)),
        (lambda x, i: x[i], X, np.array([0, 255, 128, 3], np.uint8)),
        (lambda x, i: x[i], X, np.array([0, 2**63, 2**64 - 1, 3], np.uint64)),
        (lambda x, i: x.at[i].get(mode="fill", fill_value=-0.0), X, OUTSIDE),
    ],
    "iota": [(lambda x: (lax.iota("int8", 5), lax.broadcasted_iota("float32", (2, 3), 1), x), X)],
    "pad": [
        (lambda x, config=config: lax.pad(x, x.dtype.type(0), config), ODD)
        for config in ([(1, 2, 1), (0, 0, 2)], [(-1, 1, 0), (2, -3, 1)], [(-2, -2, 3), (0, 0, 0)])
    ],
    "reduce": [
        (lambda x: lax.reduce(x, 1.0, lambda a, b: a * 0.5 + b, (1,)), M),
        (lambda x: lax.reduce(x, -0.0, lambda a, b: lax.select(a < b, a, b), (0, 1)), ODD),
        (lambda x: lax.reduce((x, x * 2), (0.0, 1.0), lambda a, b: (a[0] + b[0], a[1] * b[1]), (0,)), M),
        (lambda x: lax.reduce(x, 3.0, lambda a, b: a + b, (0,)), np.zeros((0, 2))),
    ],
    "reduce_and": reduction(lax.reduce_and, ("bool", "int8", "uint8", "int64")),
    "reduce_max": reduction(lax.reduce_max),
    "reduce_min": reduction(lax.reduce_min),
    "reduce_or": reduction(lax.reduce_or, ("bool", "int8", "uint8", "int64")),
    "reduce_prod": reduction(lax.reduce_prod, DTYPES),
    "reduce_sum": reduction(lax.reduce_sum, DTYPES),
    "reduce_xor": reduction(lax.reduce_xor, ("bool", "int8", "uint8", "int64")),
    "reshape": [(lambda x: lax.reshape(x, (2, 6)), ODD), (lambda x: lax.reshape(x, (2, 6), (1, 0)), ODD)],
    "rev": [(lambda x: lax.rev(x, (0, 1)), ODD)],
    "scatter": [
        *at("set", places=APART),
        (lambda x, i: x.at[i].apply(jnp.sin), X, APART),
        (lambda x, i: x.at[i].apply(lambda v: v * 2.0 + 1.0), X, APART),
        (lambda x, i: x.at[i, 1:].apply(jnp.exp), M, np.array([2, 0])),
        applied(lambda v: v * v),
        (lambda x: x.at[7].set(5.0).at[-9].set(6.0), X),
    ],
    "scatter-add": at("add"),
    "scatter-max": at("max"),
    "scatter-min": at("min"),
    "scatter-mul": at("multiply"),
    "scatter-sub": at("subtract"),
    "slice": [(lambda x: lax.slice(x, (0, 1), (3, 4), (2, 2)), ODD)],
    "sort": [
        *along(lax.sort, COMPARED, {"dimension": 0}, {"dimension": 1}),
        *((lambda x: lax.sort((x, jnp.arange(x.shape[0])), num_keys=1), each) for each in TIED),
        *((lambda x: lax.sort((x, -x, jnp.arange(x.shape[0])), num_keys=2), each) for each in TIED),
        (lambda x: lax.sort(x), np.array([1 + 2j, 1 - 1j, -2 + 0j, 1 + 0j])),
    ],
    "split": [(lambda x: lax.split(x, (1, 0, 3), axis=1), ODD)],
    "squeeze": [(lambda x: lax.squeeze(x, (0,)), ODD[None])],
    "top_k": [
        *((lambda x, k=k: lax.top_k(x, k), each) for each in TIED for k in (1, 3)),
        *along(lax.top_k, DTYPES, {"k": 3}),
    ],
    "transpose": [(lambda x: lax.transpose(x, (1, 0)), ODD)],
    "conv_general_dilated": [
        convolved(),
        convolved(lhs_dilation=(2,), rhs_dilation=(2,)),
        (lambda x, k: lax.conv(x, k, (1, 1), "SAME"), ODD[None, None], 1.0 + M[:2, :2][None, None]),
    ],
    "reduce_window": [
        (
            lambda x: lax.reduce_window(x, 0.0, lambda a, b: lax.select(abs(a) > abs(b), a, b), (2, 2), (1, 1), "SAME"),
            M,
        ),
        (lambda x: lax.reduce_window(x, 1.0, lax.mul, (2, 2), (1, 2), "VALID"), ODD),
    ],
    "reduce_window_max": windowed(lax.max, lowest),
    "reduce_window_min": windowed(lax.min, highest),
    "reduce_window_sum": windowed(lax.add, lambda dtype: dtype.type(0)),
    "select_and_gather_add": [gathered_by_tangent()],
    "select_and_scatter_add": [spread(lambda x: x)],
}

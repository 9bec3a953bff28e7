"""Methods of a `numpy.random.Generator` whose draws depend on each other: orders, choices, vectors with a sum."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.api.branches import cond
from numbagraph.blockwise.lengths import as_shape
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL, FLOAT64, INT64
from numbagraph.ir.values import Value
from numbagraph.library.random.choice import choice_of
from numbagraph.library.random.generator import TracedGenerator, array_of, parameter
from numbagraph.ops.creation import filled, number_as
from numbagraph.ops.shape import broadcast_value, reshape_value
from numbagraph.tracing.checks import require
from numbagraph.tracing.errors import TraceError, user_source
from numbagraph.tracing.tracer import Tracer, apply

FEW = 10**9
"""The bound of the sums that NumPy's algorithm "marginals" takes."""
NO_CHANCES = "pvals must have at least 1 dimension and the last dimension of pvals must be greater than 0."
SAME_SHAPE = "out must have the same shape as x"
SMALL = 0.1
"""The bound below which the parameters of a Dirichlet distribution must all lie for its vectors to be drawn as broken
sticks."""


class WholeGenerator(TracedGenerator):
    """A generator with all methods."""

    def _at(self, state: Tracer) -> Local:
        """Return a generator that draws from a state in a loop's body or a branch, which passes the state on itself."""
        local = object.__new__(Local)
        local._kind, local._state = self._kind, state
        return local

    def _choosing(self, condition: Any, yes: Callable[[Local], Any], no: Callable[[Local], Any]) -> Any:
        """Call one of two functions of a generator, as a condition says, and return the numbers that it draws."""
        if not isinstance(condition, Tracer):
            return yes(self) if condition else no(self)  # type: ignore[arg-type]
        self._require_place()

        def branch(function: Callable[[Local], Any]) -> Callable[[Tracer], Any]:
            def call(state: Tracer) -> Any:
                local = self._at(state)
                return function(local), local._state

            return call

        numbers, after = cond(condition, branch(yes), branch(no), self._state)
        self._renew(after)
        return numbers

    def _rows(self, name: str, shape: Any, given: tuple[Any, ...], operands: Callable[..., list[Value]]) -> Tracer:
        """Draw vectors in a shape: ``operands(rows, *given)`` are the operands of the op behind the state."""

        def drawn(state: Value, shape: Any, *given: Any) -> tuple[Value, Value]:
            outer = as_shape(shape)
            behind = operands(outer, shapes.product(outer), *given)
            both: Any = registry[f"draws.{name}"](state, *behind, source=self._kind, on_error="raise")
            numbers, after = both
            return reshape_value(numbers, (*outer, numbers.shape[-1])), after

        return self._apply(name.partition("_")[0], drawn, shape, *given)

    def permuted(self, x: Any, axis: int | None = None, out: Any = None) -> Any:
        array = apply(registry["asarray"], array_of(x))
        if out is not None and not isinstance(out, Tracer):
            raise TraceError(
                "out= of permuted is an argument, or what the function makes of arguments (np.empty_like(x)): assign "
                f"the result to others, out[...] = rng.permuted(x)\n  at {user_source()}"
            )
        if not array.ndim and axis is None:
            raise TypeError("len() of unsized object")
        if out is not None:
            if not np.can_cast(array.dtype, out.dtype, "safe"):
                raise TypeError(
                    f"Cannot cast array data from {array.dtype!r} to {out.dtype!r} according to the rule 'safe'"
                )
            if out.ndim != array.ndim:
                raise ValueError(SAME_SHAPE)
            for one, other in zip(out.shape, array.shape, strict=True):
                require(one == other, ValueError, SAME_SHAPE)
        if axis is None or not array.ndim:
            found = np.reshape(np.ravel(array)[self._orders(1, array.size)[0]], array.shape)
        else:
            place = operator.index(axis)
            if not -array.ndim <= place < array.ndim:
                raise np.exceptions.AxisError(place, array.ndim)
            last = np.moveaxis(array, place, -1)
            count = last.shape[-1]
            rows = shape_product(last.shape[:-1])
            positions: Any = self._orders(rows, count).reshape(last.shape)
            found = np.moveaxis(np.take_along_axis(last, positions, -1), -1, place)
        if out is None:
            return found
        out[...] = found
        return out

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
    ) -> Any:
        return choice_of(self, a, size, replace, p, axis, shuffle)

    def dirichlet(self, alpha: Any, size: Any = None) -> Any:
        values = array_of(alpha).astype(np.float64)
        if values.ndim != 1:
            raise ValueError("alpha must be one-dimensional")
        require(np.logical_not(values < 0), ValueError, "alpha < 0")
        outer = () if size is None else tuple(size) if isinstance(size, (tuple, list)) else (size,)
        if isinstance(values.shape[0], int) and values.shape[0] < 2:
            return self._by_gammas(values, outer)
        is_small = np.max(values, initial=0.0) < SMALL
        require(
            np.logical_not(is_small) | np.all(values > 0),
            ValueError,
            "dirichlet with all of alpha below 0.1 is compiled where all are positive",
        )
        return self._choosing(
            is_small, lambda local: local._by_sticks(values, outer), lambda local: local._by_gammas(values, outer)
        )

    def _by_gammas(self, alpha: Any, outer: tuple[Any, ...]) -> Any:
        numbers = self.standard_gamma(alpha, size=(*outer, alpha.shape[0]))
        return numbers * (1 / np.cumsum(numbers, axis=-1)[..., -1:])  # which adds as NumPy does here, one by one

    def _by_sticks(self, alpha: Any, outer: tuple[Any, ...]) -> Any:
        behind = np.cumsum(alpha[::-1])[::-1]
        shares = self.beta(alpha[:-1], behind[1:], size=(*outer, alpha.shape[0] - 1))
        left = np.cumprod(1.0 - shares, axis=-1)
        return np.concatenate([shares[..., :1], left[..., :-1] * shares[..., 1:], left[..., -1:]], axis=-1)

    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
        trials, chances = array_of(n), array_of(pvals)
        if not chances.ndim:
            raise ValueError(NO_CHANCES)
        require(chances.shape[-1] > 0, ValueError, NO_CHANCES)
        chances = chances.astype(np.float64)
        if trials.dtype.kind not in "biu":
            if isinstance(trials, Tracer) or trials.ndim:
                raise TypeError(f"n of multinomial is of dtype {trials.dtype}: convert it by astype(np.int64)")
            trials = np.asarray(int(trials))
        trials = trials.astype(np.int64)
        require((chances >= 0) & (chances <= 1), ValueError, "pvals < 0, pvals > 1 or pvals contains NaNs")
        require(np.sum(chances[..., :-1], axis=-1) <= 1 + 1e-12, ValueError, "sum(pvals[:-1]) > 1.0")
        require(trials >= 0, ValueError, "n < 0")
        common = shapes_of(trials, chances[..., 0])
        outer = common if size is None else size

        def operands(outer: Any, rows: Any, trials: Any, chances: Any) -> list[Value]:
            d = chances.shape[-1]
            spread = broadcast_value(parameter(trials, INT64), outer)
            matrix = broadcast_value(parameter(chances, FLOAT64), (*outer, d))
            return [reshape_value(spread, (rows,)), reshape_value(matrix, (rows, d))]

        return self._rows("multinomial", outer, (trials, chances), operands)

    def multivariate_hypergeometric(
        self, colors: Any, nsample: Any, size: Any = None, method: str = "marginals"
    ) -> Any:
        if method not in ("count", "marginals"):
            raise ValueError('method must be "count" or "marginals".')
        colours, taken = array_of(colors), array_of(nsample)
        most = np.iinfo(np.int64).max
        text = f"colors must be a one-dimensional sequence of nonnegative integers not exceeding {most}."
        if colours.ndim != 1 or (colours.dtype.kind not in "iu" and (isinstance(colours, Tracer) or colours.size)):
            raise ValueError(text)
        if taken.ndim or taken.dtype.kind not in "iu":
            raise ValueError("nsample must be an integer")
        require((colours >= 0) & (colours <= most), ValueError, text)
        require(taken >= 0, ValueError, "nsample must be nonnegative.")
        colours, taken = colours.astype(np.int64), taken.astype(np.int64)
        total = np.sum(colours)
        if method == "marginals":
            # one by one, too: a sum that overflows may be small
            text = 'When method is "marginals", sum(colors) must be less than 1000000000.'
            require(np.logical_and(np.all(colours < FEW), total < FEW), ValueError, text)
        require(taken <= total, ValueError, "nsample > sum(colors)")

        def operands(_: Any, rows: Any, colours: Any, taken: Any) -> list[Value]:
            carrier = filled(number_as(0, BOOL), (rows,))
            return [parameter(colours, INT64), reshape_value(parameter(taken, INT64), (1,)), carrier]

        name = f"multivariate_hypergeometric_{method}"
        return self._rows(name, () if size is None else size, (colours, taken), operands)

    def multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: Any = None,
        check_valid: str = "warn",
        tol: float = 1e-8,
        *,
        method: str = "svd",
    ) -> Any:
        if method not in ("eigh", "svd", "cholesky"):
            raise ValueError("method must be one of {'eigh', 'svd', 'cholesky'}")
        if check_valid not in ("warn", "raise", "ignore"):
            raise ValueError("check_valid must equal 'warn', 'raise', or 'ignore'")
        centre, matrix = array_of(mean), array_of(cov)
        if centre.ndim != 1:
            raise ValueError("mean must be 1 dimensional")
        if matrix.ndim != 2:
            raise ValueError("cov must be 2 dimensional and square")
        require(matrix.shape[0] == matrix.shape[1], ValueError, "cov must be 2 dimensional and square")
        require(centre.shape[0] == matrix.shape[0], ValueError, "mean and cov must have same length")
        matrix = matrix.astype(np.float64)
        outer = () if size is None else tuple(size) if isinstance(size, (tuple, list)) else (size,)
        numbers = self.standard_normal((*outer, centre.shape[0]))
        factor, is_valid = factor_of(matrix, method, tol)
        if check_valid != "ignore":
            require(is_valid, ValueError, "covariance is not symmetric positive-semidefinite.")
        return centre + np.matmul(numbers, factor.T)


class Local(WholeGenerator):
    """A generator in a loop's body or in a branch, whose state is one of the carried values or operands."""

    def _require_place(self) -> None:
        pass

    def _renew(self, after: Tracer) -> None:
        self._state = after


def factor_of(matrix: Any, method: str, tol: float) -> tuple[Any, Any]:
    """Return a factor of a covariance, as NumPy computes it, and whether the matrix is a covariance."""
    if method == "cholesky":
        return np.linalg.cholesky(matrix), True
    if method == "eigh":
        roots, vectors = np.linalg.eigh(matrix)
        return vectors * np.sqrt(abs(roots)), np.all(roots >= -tol)
    left, singular, right = np.linalg.svd(matrix)
    again = np.matmul(right.T * singular, right)
    return left * np.sqrt(singular), np.all(abs(again - matrix) <= tol + tol * abs(matrix))


def shape_product(shape: Any) -> Any:
    count: Any = 1
    for length in shape:
        count = count * length
    return count


def shapes_of(*arrays: Any) -> tuple[Any, ...]:
    """The shape to which arrays broadcast."""
    return tuple(np.broadcast_arrays(*arrays)[0].shape)

"""`scipy.spatial.distance`: each metric is a formula of two arrays of vectors, which are along the last axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.api.loops import while_loop
from numbagraph.forking import importing
from numbagraph.ir.op import registry
from numbagraph.library.scipy.arguments import Function, array, double, known, refuse, require
from numbagraph.ops.identity import differentiated_as
from numbagraph.tracing.tracer import apply


def total(terms: Any, w: Any = None) -> Any:
    return np.sum(terms if w is None else terms * w, axis=-1)


def quotient(numerator: Any, denominator: Any) -> Any:
    """Divide; the quotient is zero where both operands are."""
    inside = denominator != 0
    return np.where(inside | (numerator != 0), numerator / np.where(inside, denominator, 1.0), 0.0)


def ratio(numerator: Any, denominator: Any) -> Any:
    """Divide. Where the denominator is zero, so is the derivative: a row's distance to itself must not make that of
    others NaN."""
    inside = denominator != 0
    outside = np.where(numerator == 0, np.nan, np.copysign(np.inf, numerator))
    return np.where(inside, numerator / np.where(inside, denominator, 1.0), outside)


def root(x: Any) -> Any:
    """Return the square root, whose derivative is zero where the root is zero."""
    inside = x != 0
    return np.where(inside, np.sqrt(np.where(inside, x, 1.0)), x)


def size(x: Any, w: Any = None) -> Any:
    """The length of vectors. (Its derivative is zero where the length is zero.)"""
    return np.linalg.norm(x if w is None else np.sqrt(w) * x, axis=-1)


def euclidean(u: Any, v: Any, w: Any = None) -> Any:
    return size(u - v, w)


def sqeuclidean(u: Any, v: Any, w: Any = None) -> Any:
    difference = u - v
    return total(difference * difference, w)


def cityblock(u: Any, v: Any, w: Any = None) -> Any:
    return total(np.abs(u - v), w)


def chebyshev(u: Any, v: Any, w: Any = None) -> Any:
    difference = np.abs(u - v)
    return np.max(difference if w is None else np.where(w > 0, difference, 0.0), axis=-1, initial=0)


def minkowski(u: Any, v: Any, w: Any = None, p: Any = 2) -> Any:
    if not hasattr(p, "value"):
        if p <= 0:
            raise ValueError("p must be greater than 0")
        if p == 1:
            return cityblock(u, v, w)
        if p == 2:
            return euclidean(u, v, w)
        if np.isinf(p):
            return chebyshev(u, v, w)
        return power_mean(u, v, w, p)
    require(p > 0, "p must be greater than 0")
    largest = np.isinf(p)
    return np.where(largest, chebyshev(u, v, w), power_mean(u, v, w, np.where(largest, 2.0, p)))


def power_mean(u: Any, v: Any, w: Any, p: Any) -> Any:
    """Minkowski's distance of a finite order."""
    difference = np.abs(u - v)
    inside = difference > 0
    powers = np.where(inside, np.where(inside, difference, 1.0) ** p, 0.0)
    found = total(powers, w)
    some = found > 0
    return np.where(some, np.where(some, found, 1.0) ** (1.0 / p), found)


def cosine(u: Any, v: Any, w: Any = None) -> Any:
    found = total(u * v, w) / np.sqrt(total(u * u, w) * total(v * v, w))
    return 1.0 - apply(differentiated_as, np.clip(found, -1.0, 1.0), found)  # rounding goes beyond


def correlation(u: Any, v: Any, w: Any = None, centered: bool = True) -> Any:
    if not centered:
        return cosine(u, v, w)
    weights = None if w is None else w / np.sum(w)
    u, v = (
        each - (np.mean(each, -1, keepdims=True) if w is None else np.sum(each * weights, -1, keepdims=True))
        for each in (u, v)
    )
    return cosine(u, v, w)


def canberra(u: Any, v: Any, w: Any = None) -> Any:
    return total(quotient(np.abs(u - v), np.abs(u) + np.abs(v)), w)


def canberra_of_numbers(u: Any, v: Any, w: Any = None) -> Any:
    """The Canberra distance of two vectors alone: SciPy leaves out terms that are NaN there."""
    terms = quotient(np.abs(u - v), np.abs(u) + np.abs(v))
    return np.nansum(terms if w is None else terms * w, axis=-1)


def braycurtis(u: Any, v: Any, w: Any = None) -> Any:
    return ratio(total(np.abs(u - v), w), total(np.abs(u + v), w))


def jensenshannon(u: Any, v: Any, base: Any = None) -> Any:
    with importing:
        from scipy import special  # noqa: PLC0415  whoever calls this has imported it

    p, q = (each / np.sum(each, axis=-1, keepdims=True) for each in (u, v))
    middle = (p + q) / 2.0
    found = np.sum(special.rel_entr(p, middle) + special.rel_entr(q, middle), axis=-1)
    return root(found / (2.0 if base is None else 2.0 * np.log(base)))


def hamming(u: Any, v: Any, w: Any = None) -> Any:
    differ = (u != v) * 1.0
    return np.mean(differ, axis=-1) if w is None else total(differ, w / np.sum(w))


def counts(u: Any, v: Any, w: Any) -> tuple[Any, Any, Any, Any]:
    """The numbers of places that are true (one) in both, in the first alone, in the second alone, and in none."""
    return tuple(total(each, w) for each in (u * v, u * (1.0 - v), (1.0 - u) * v, (1.0 - u) * (1.0 - v)))  # type: ignore[return-value]


def jaccard(u: Any, v: Any, w: Any = None) -> Any:
    first, second = u != 0, v != 0
    return quotient(total((first != second) * 1.0, w), total((first | second) * 1.0, w))


def dice(u: Any, v: Any, w: Any = None) -> Any:
    both, first, second, _ = counts(u, v, w)
    return ratio(first + second, 2.0 * both + first + second)


def dice_of_rows(u: Any, v: Any, w: Any = None) -> Any:
    """`dice` as SciPy computes it for rows: with weights it counts, without them it multiplies."""
    if w is None:
        return dice(u, v)
    both, apart = total(((u != 0) & (v != 0)) * 1.0, w), total((u != v) * 1.0, w)
    return apart / (2.0 * both + apart)


def rogerstanimoto(u: Any, v: Any, w: Any = None) -> Any:
    both, first, second, none = counts(u, v, w)
    return 2.0 * (first + second) / (both + none + 2.0 * (first + second))


def russellrao(u: Any, v: Any, w: Any = None) -> Any:
    both, first, second, none = counts(u, v, w)
    return (first + second + none) / (both + first + second + none)


def sokalsneath(u: Any, v: Any, w: Any = None) -> Any:
    both, first, second, _ = counts(u, v, w)
    return 2.0 * (first + second) / (both + 2.0 * (first + second))


def yule(u: Any, v: Any, w: Any = None) -> Any:
    both, first, second, none = counts(u, v, w)
    return quotient(2.0 * first * second, both * none + first * second)


def seuclidean(u: Any, v: Any, V: Any) -> Any:
    return size((u - v) / np.sqrt(V))


def mahalanobis(u: Any, v: Any, VI: Any) -> Any:
    difference = u - v
    return root(np.sum((difference @ array(VI)) * difference, axis=-1))


METRICS: dict[str, Function] = {
    each.__name__: each
    for each in (
        euclidean, sqeuclidean, cityblock, chebyshev, minkowski, cosine, correlation, canberra, braycurtis,
        jensenshannon, hamming, jaccard, dice, rogerstanimoto, russellrao, sokalsneath, yule, seuclidean, mahalanobis,
    )
}  # fmt: skip
OF_TWO_VECTORS = {**METRICS, "canberra": canberra_of_numbers}
ALIASES = {"matching": "hamming", "l2": "euclidean", "l1": "cityblock", "manhattan": "cityblock", "linf": "chebyshev"}
OF_BOOLS = {"rogerstanimoto", "russellrao", "sokalsneath", "yule"}
AS_GIVEN = {"p", "centered", "VI"}
KEPT: dict[str, str] = {
    **dict.fromkeys(("cityblock", "chebyshev"), "iuf"),
    **dict.fromkeys(("sqeuclidean", "cosine", "correlation", "jensenshannon", "mahalanobis"), "f"),
}
"""The kinds of dtypes in which functions of two vectors compute; others become float64."""


def chosen(metric: Any, options: dict[str, Any], all_rows: Any) -> Function:
    """Return the metric, with its options, that a name or a function of SciPy stands for."""
    name = metric if isinstance(metric, str) else getattr(metric, "__name__", "")
    name = ALIASES.get(name.lower(), name.lower())
    if name not in METRICS or (callable(metric) and not metric.__module__.startswith("scipy.")):
        if isinstance(metric, str):
            raise ValueError(f"Unknown Distance Metric: {metric}")
        refuse("a distance of one's own", "numbagraph.vmap maps it over the rows")
    given = {key: each if key in AS_GIVEN else double(each) for key, each in options.items() if each is not None}
    if name == "seuclidean" and "V" not in given:
        given["V"] = np.var(all_rows(), axis=0, ddof=1)
    if name == "mahalanobis" and "VI" not in given:
        given["VI"] = np.linalg.inv(np.atleast_2d(np.cov(all_rows().T))).T
    if "w" in given:
        require(np.all(given["w"] >= 0), "Input weights should be all non-negative")
    if name == "dice":
        return lambda u, v: dice_of_rows(u, v, **given)
    if name in OF_BOOLS:
        return lambda u, v: METRICS[name]((u != 0) * 1.0, (v != 0) * 1.0, **given)
    return lambda u, v: METRICS[name](u, v, **given)


def rows_of(X: Any, name: str) -> Any:
    found = double(X)
    if found.ndim != 2:
        raise ValueError(f"{name} must be a 2-dimensional array.")
    return found


def cdist(XA: Any, XB: Any, metric: Any = "euclidean", *, out: Any = None, **kwargs: Any) -> Any:
    """`scipy.spatial.distance.cdist`."""
    if out is not None:
        refuse("scipy.spatial.distance.cdist with out=", "assign the result: out[...] = cdist(XA, XB)")
    one, other = rows_of(XA, "XA"), rows_of(XB, "XB")
    distance = chosen(metric, kwargs, lambda: np.concatenate([one, other]))
    return distance(one[:, None, :], other[None, :, :])


def pdist(X: Any, metric: Any = "euclidean", *, out: Any = None, **kwargs: Any) -> Any:
    """`scipy.spatial.distance.pdist`."""
    if out is not None:
        refuse("scipy.spatial.distance.pdist with out=", "assign the result: out[...] = pdist(X)")
    rows = rows_of(X, "A")
    distance = chosen(metric, kwargs, lambda: rows)
    return apply(registry["above_diagonal"], distance(rows[:, None, :], rows[None, :, :]))


def squareform(X: Any, force: str = "no", checks: bool = True) -> Any:
    """`scipy.spatial.distance.squareform`."""
    value = array(X)
    shape = known(value, "squareform")
    if force.lower() == "tomatrix" and len(shape) != 1:
        raise ValueError("Forcing 'tomatrix' but input X is not a distance vector.")
    if force.lower() == "tovector" and len(shape) != 2:
        raise ValueError("Forcing 'tovector' but input X is not a distance matrix.")
    if len(shape) == 1:
        if not shape[0]:
            return np.zeros((1, 1), dtype=value.dtype)
        count = int(np.ceil(np.sqrt(shape[0] * 2)))
        if count * (count - 1) != shape[0] * 2:
            raise ValueError(
                "Incompatible vector size. It must be a binomial coefficient n choose 2 for some integer n >= 2."
            )
        places = np.zeros((count, count), np.int64)
        places[np.triu_indices(count, 1)] = np.arange(shape[0])
        return np.where(np.eye(count, dtype=bool), np.zeros((), value.dtype), value[places + places.T])
    if len(shape) != 2:
        raise ValueError(
            "The first argument must be one or two dimensional array. "
            f"A {len(shape)}-dimensional array is not permitted"
        )
    if shape[0] != shape[1]:
        raise ValueError("The matrix argument must be square.")
    if checks:
        require(np.all(value == value.T), "Distance matrix 'X' must be symmetric.")
        require(np.all(np.diagonal(value) == 0), "Distance matrix 'X' diagonal must be zero.")
    return apply(registry["above_diagonal"], value)


def of_vectors(name: str) -> Function:
    """A metric as a function of two vectors."""

    def call(u: Any, v: Any, *args: Any, **kwargs: Any) -> Any:
        names = OF_TWO_VECTORS[name].__code__.co_varnames[2:]
        order = ("p", "w") if name == "minkowski" else ("base",) if name == "jensenshannon" else names
        options = {**dict(zip(order, args, strict=False)), **kwargs}
        given = (array(u), array(v))
        one, other = (each if each.dtype.kind in KEPT.get(name, "") else double(each) for each in given)
        if name == "jensenshannon":
            axis, keepdims = options.pop("axis", 0), options.pop("keepdims", False)
            found = OF_TWO_VECTORS[name](np.moveaxis(one, axis, -1), np.moveaxis(other, axis, -1), **options)
            return np.expand_dims(found, axis) if keepdims else found
        if one.ndim != 1 or other.ndim != 1:
            raise ValueError("Input vector should be 1-D.")
        options = {key: each if key in AS_GIVEN or each is None else double(each) for key, each in options.items()}
        return OF_TWO_VECTORS[name](one, other, **options)

    call.__name__ = name
    return call


def directed_hausdorff(u: Any, v: Any, rng: Any = 0, *, seed: Any = None) -> tuple[Any, Any, Any]:
    """`scipy.spatial.distance.directed_hausdorff`. Of several pairs at this distance, the first is given."""
    if not all(each is None or isinstance(each, (int, np.integer)) for each in (rng, seed)):
        refuse("scipy.spatial.distance.directed_hausdorff with a generator", "leave rng= out: it changes no distance")
    one, other = rows_of(u, "u"), rows_of(v, "v")
    (rows, width), (others, its) = known(one, "directed_hausdorff"), known(other, "directed_hausdorff")
    if width != its:
        raise ValueError("u and v need to have the same number of columns")
    if not rows or not others:
        raise ValueError("directed_hausdorff: both u and v must have a point")
    still = registry["stop_gradient"]
    at, nearest = farthest(apply(still, one), apply(still, other), rows, others)
    first, second = (apply(registry["gather"], points, place) for points, place in ((one, at), (other, nearest)))
    return euclidean(first, second), at, nearest


def farthest(one: Any, other: Any, rows: int, others: int) -> tuple[Any, Any]:
    """Find the row that is farthest from its nearest one among the others, and that nearest one. A row is left once one
    is nearer than the farthest so far: Taha and Hanbury, An efficient algorithm for calculating the exact Hausdorff
    distance (2015).

    Some rows come first, so that this distance is large before all follow in order: neighbours are alike, so the others
    are looked at from that one on at which the last row was left.
    """
    apart = -(-rows // rows.bit_length())
    first = -(-rows // apart)

    def look(row: Any, state: Any, far: Any, at: Any) -> Any:
        count, column, near, place, _ = state
        difference = one[row] - other[column]
        squares = np.sum(difference * difference)
        nearer = (squares < near) | ((squares == near) & ((place < 0) | (column < place)))
        left = (squares < far) | ((squares == far) & (row >= at))
        following = np.where(left | (column + 1 < others), np.where(left, column, column + 1), 0)
        return count + 1, following, np.where(nearer, squares, near), np.where(nearer, column, place), left

    def visit(state: Any) -> Any:
        count, column, far, at, nearest = state
        row = np.where(count < first, count * apart, count - first)
        initial = (0, column, np.inf, -1, False)
        _, column, near, place, left = while_loop(
            lambda each: (each[0] < others) & ~each[4], lambda each: look(row, each, far, at), initial
        )
        better = ~left & (place >= 0) & ((near > far) | ((near == far) & (row < at)))
        return count + 1, column, *(np.where(better, *pair) for pair in ((near, far), (row, at), (place, nearest)))

    found = while_loop(lambda state: state[0] < first + rows, visit, (0, 0, -1.0, 0, 0))
    return found[3], found[4]


def num_obs_dm(d: Any) -> Any:
    """`scipy.spatial.distance.num_obs_dm`."""
    return array(d).shape[0]


def num_obs_y(Y: Any) -> int:
    """`scipy.spatial.distance.num_obs_y`."""
    (pairs,) = known(array(Y), "num_obs_y")
    count = int(np.ceil(np.sqrt(pairs * 2)))
    if not pairs or count * (count - 1) != 2 * pairs:
        raise ValueError("The number of observations cannot be determined on an empty or invalid distance matrix.")
    return count


FUNCTIONS: dict[str, Function] = {
    "directed_hausdorff": directed_hausdorff,
    "num_obs_dm": num_obs_dm,
    "num_obs_y": num_obs_y,
    "cdist": cdist,
    "pdist": pdist,
    "squareform": squareform,
    **{name: of_vectors(name) for name in METRICS},
}

OBJECTS: dict[str, Any] = {}

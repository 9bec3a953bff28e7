"""Programs that take away outliers and other elements, step by step, or on some paths alone."""

import dataclasses

import numpy as np

from tests.support.programs.declared import another, case

R = np.random.default_rng(5)
X = np.concatenate([R.normal(size=12), [20.0, -30.0, 5.0]])
ONE = np.ones(1)
EQUAL = np.full(4, 2.0)


@case((X,), (EQUAL,), (X[:3].astype(np.float32),))
def sigma_clip(x):
    while True:
        keep = np.abs(x - x.mean()) < 2 * x.std()
        if keep.all() or not keep.any():
            return x
        x = x[keep]


@case((X, 5), (X, 0), (EQUAL, 2))
def clipped_by_the_median(x, most):
    for _ in range(most):
        keep = np.abs(x - np.median(x)) <= 2 * x.std()
        if keep.all():
            break
        x = x[keep]
    return x, len(x)


@case((X, np.abs(X) + 1), (EQUAL, EQUAL))
def weighted_clip(x, w):
    while True:
        m = np.sum(w * x) / np.sum(w)
        keep = np.abs(x - m) <= 1.5 * np.sqrt(np.sum(w * (x - m) ** 2) / np.sum(w))
        if keep.all():
            return m, x, w
        x, w = x[keep], w[keep]


@case((X,), (EQUAL,))
def clip_until_nothing_is_left(x):
    while True:
        if len(x) < 5:
            raise ValueError("too few numbers")
        keep = x < x.max()
        if x.mean() < -3:
            return x, x.std()
        x = x[keep]


@case((X,), (X[:2],))
def outliers_one_by_one(x):
    while len(x) > 2:
        i = np.argmax(np.abs(x - x.mean()))
        if np.abs(x[i] - x.mean()) < 2 * x.std():
            break
        x = np.delete(x, i)
    return x.mean()


@case((X,), (X[:1],), (X[:0],))
def rows_clipped(x):
    a = np.stack([x, x**2], axis=1)
    while len(a) > 4:
        a = a[a[:, 0] > a[:, 0].min()]
    return a, a.sum()


@case((X, np.arange(len(X))), (X[:5], np.arange(5)))
def a_tuple_of_arrays_clipped(x, w):
    both = x, w
    while True:
        values, weights = both
        keep = np.abs(values) < np.abs(values).max()
        if values.std() < 1 or len(values) < 3:
            break
        both = values[keep], weights[keep]
    return both


@dataclasses.dataclass
class Sample:
    x: np.ndarray
    steps: int = 0


@case((X,), (EQUAL,))
def an_attribute_clipped(x):
    sample = Sample(x)
    while True:
        keep = np.abs(sample.x - sample.x.mean()) <= 2 * sample.x.std()
        if keep.all():
            break
        sample.x = sample.x[keep]
        sample.steps += 1
    return sample.x, sample.steps


@case((X, 3), (X, 0))
def a_dict_of_arrays_clipped(x, n):
    columns = {"x": x, "y": x**2}
    for _ in range(n):
        keep = columns["x"] < columns["x"].max()
        columns = {name: each[keep] for name, each in columns.items()}
    return columns["x"], columns["y"].sum()


@case((X,), (X[:1],))
def quickselect(a):
    k = len(a) // 2
    while True:
        p = a[len(a) // 2]
        low, high = a[a < p], a[a > p]
        same = len(a) - len(low) - len(high)
        if k < len(low):
            a = low
        elif k < len(low) + same:
            return p
        else:
            k -= len(low) + same
            a = high


@case((X,), (EQUAL,))
def clips_in_each_step(x):
    out = np.zeros(3)
    for j in range(3):
        y = x * (j + 1.0) + j
        while True:
            keep = np.abs(y - y.mean()) <= 2 * y.std()
            if keep.all():
                break
            y = y[keep]
        out[j] = y.mean()
    return out


@case((np.array([0.0, 1.0]),), (np.array([0.0, 4.0]),))
def refined_where_it_bends(x):
    while True:
        middle = (x[1:] + x[:-1]) / 2
        bends = np.abs(np.sqrt(middle) - (np.sqrt(x[1:]) + np.sqrt(x[:-1])) / 2) > 1e-2
        if not bends.any():
            return x
        x = np.sort(np.concatenate([x, middle[bends]]))


@case((X, 2), (X, 1), (X[:4], 1))
def two_arrays_that_change_places(x, n):
    a, b = x, x**2
    for _ in range(n):
        a, b = b[b >= b.mean()], a[1:]
    return a, b


@case((X,), (X[:0],))
def windows_of_several_lengths(x):
    total, last = np.float64(0.0), np.zeros(0)
    for i in range(len(x)):
        if x[i] > 0:
            y = x[:i]
        else:
            y = x[i:]
        total += y.sum() * len(y)
        last = y
    return total, last


@case((np.where(X > 5, np.nan, X),), (X,), (np.full(2, np.nan),))
def nans_left_out_if_there_are_any(x):
    if np.isnan(x).any():
        x = x[~np.isnan(x)]
    return x.sum(), np.sort(x), len(x)


@case((X,), (-X,), (EQUAL,))
def lengths_by_path(x):
    if x[0] > 0:
        y, w = x[x > 0], x[x > 1]
    elif x[1] > 0:
        y, w = x[x < 0], x[x < -1]
    else:
        y, w = x[:3], -x
    return y, w.sum(), len(w)


@case((X, X[:5]), (-X, X[:5]), (X[:5], X[:5]))
def one_of_two_parts(x, y):
    z = x[2:] if x[0] > 0 else y * 2
    return z * 2, z.sum()


@case((X,), (-X,), (X[:0],))
def returned_early_at_several_lengths(x):
    if len(x) < 3:
        return x
    if x.sum() > 0:
        return x[x > x.mean()]
    return x[1:]


@case((X,), (-X,))
def rows_by_path(x):
    a = np.stack([x, x * 2], 1)
    if x.sum() > 0:
        a = a[x > 0]
    return a, a.sum(axis=0)


@case((X,), (np.abs(X),))
def none_or_an_array(x):
    best = None
    for i in range(len(x)):
        if x[i] < 0:
            best = x[: i + 1]
    return x.sum() if best is None else best.sum()


@another((X,), (EQUAL,))
def writes_after_a_clip(x):
    x = x.copy()
    while len(x) > 5:
        x = x[x >= x.mean()]
        if x.std() == 0:
            break
        x[0] += 1.0
    y = x.copy()
    for i in range(len(y)):
        y[i] *= 2
    return y, np.sort(x), y[y > 0]


@another((X, 3), (X[:4], 2))
def clips_by_a_helper(x, n):
    def clip(v, most):
        for _ in range(most):
            keep = np.abs(v - v.mean()) <= 2 * v.std()
            if keep.all():
                break
            v = v[keep]
        return v

    return clip(x, n).mean() + clip(x * 2, 1).std()

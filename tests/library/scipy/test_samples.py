"""Functions of samples of `scipy.stats` in compiled functions: values, shapes, dtypes and derivatives."""

import numpy as np
import pytest
import scipy.stats as st

from numbagraph import grad, graph_jit, vmap

RNG = np.random.default_rng(0)
x = np.round(RNG.normal(size=9), 1)
y = x * 0.5 + RNG.normal(size=9)
M = RNG.normal(size=(5, 4))
xi = RNG.integers(0, 5, 9)
f4 = x.astype("f4")
one = np.array([2.0])
const = np.ones(4)
nan = np.array([1.0, np.nan, 2.0])
CASES = []
for n in "zscore sem gmean hmean skew kurtosis variation iqr entropy".split():
    f = getattr(st, n)
    for a in (x, abs(x) + 0.1, M, abs(M) + 0.1, xi, f4, one, const, nan):
        CASES.append((n, lambda a, f=f: f(a), a))
        CASES.append((n + " axis", lambda a, f=f: f(a, axis=None), a))
    CASES.append((n + " axis1", lambda a, f=f: f(a, axis=1), M))
    CASES.append((n + " neg", lambda a, f=f: f(a, axis=-1), M))
    if n != "zscore":
        CASES.append((n + " kd", lambda a, f=f: f(a, axis=1, keepdims=True), M))
for m in ("average", "min", "max", "dense", "ordinal"):
    for a in (x, xi, f4, nan, one, np.array([])):
        CASES.append(("rank " + m, lambda a, m=m: st.rankdata(a, method=m), a))
    CASES.append(("rank axis " + m, lambda a, m=m: st.rankdata(a, method=m, axis=1), np.round(M)))
for alt in ("two-sided", "less", "greater"):
    CASES += [
        ("pearson " + alt, lambda a, b, al=alt: tuple(st.pearsonr(a, b, alternative=al)), x, y),
        ("pearson2", lambda a, b, al=alt: tuple(st.pearsonr(a, b, alternative=al)), x[:2], y[:2]),
        ("spearman " + alt, lambda a, b, al=alt: tuple(st.spearmanr(a, b, alternative=al)), x, y),
        ("lin " + alt, lambda a, b, al=alt: tuple(st.linregress(a, b, alternative=al)), x, y),
        ("t1 " + alt, lambda a, al=alt: tuple(st.ttest_1samp(a, 0.3, alternative=al)), x),
        ("t1 ax", lambda a, al=alt: tuple(st.ttest_1samp(a, 0.3, axis=1, alternative=al)), M),
        ("trel", lambda a, b, al=alt: tuple(st.ttest_rel(a, b, alternative=al)), x, y),
        ("tind", lambda a, b, al=alt: tuple(st.ttest_ind(a, b, alternative=al)), x, y[:6]),
        ("welch", lambda a, b, al=alt: tuple(st.ttest_ind(a, b, equal_var=False, alternative=al)), x, y[:6]),
        ("tind M", lambda a, b, al=alt: tuple(st.ttest_ind(a, b, alternative=al, axis=1)), M, M * 2),
    ]
CASES += [
    ("skew unb", lambda a: st.skew(a, bias=False), x),
    ("kurt unb", lambda a: st.kurtosis(a, bias=False, fisher=False), x),
    ("moment", lambda a: st.moment(a, 3), x),
    ("moment c", lambda a: st.moment(a, 2, center=1.0), x),
    ("z ddof", lambda a: st.zscore(a, ddof=1, axis=1), M),
    ("zmap", lambda a, b: st.zmap(a, b), x, y),
    ("ent2", lambda a, b: st.entropy(a, b, base=2), abs(x) + 0.1, abs(y) + 0.1),
    ("iqr2", lambda a: st.iqr(a, RNG=(10, 80), scale="normal"), x),
    ("gm w", lambda a, w: st.gmean(a, weights=w), abs(x) + 0.1, abs(y)),
    ("lin const", lambda a, b: tuple(st.linregress(a, b)), x, np.ones(9)),
    ("attr", lambda a, b: st.pearsonr(a, b).statistic + st.linregress(a, b).slope + st.ttest_ind(a, b).pvalue, x, y),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_samples(case):
    name, function, *args = case
    if name.startswith("rank") and not name.endswith("average") and np.isnan(args[0]).any():
        with pytest.raises(ValueError, match="NaN has none"):
            graph_jit(function)(*args)
        return
    try:
        expected = function(*args)
    except Exception as error:  # noqa: BLE001  whatever it is, it is compared
        with pytest.raises(type(error)):
            graph_jit(function)(*args)
        return
    found = graph_jit(function)(*args)
    np.testing.assert_allclose(
        np.asarray(found, float), np.asarray(expected, float), rtol=2e-6 if args[0].dtype == np.float32 else 1e-9
    )
    if not isinstance(expected, tuple):
        assert np.asarray(found).dtype == np.asarray(expected).dtype
        assert np.shape(found) == np.shape(expected)


def differences(function, x, step=1e-6):
    return np.array([(function(x + step * e) - function(x - step * e)) / (2 * step) for e in np.eye(len(x))])


DERIVED = {
    "zscore": lambda a: st.zscore(a) @ y,
    "pearsonr": lambda a: st.pearsonr(a, y).pvalue,
    "linregress": lambda a: st.linregress(a, y).slope + st.linregress(a, y).pvalue,
    "ttest_ind": lambda a: st.ttest_ind(a, y).statistic,
    "skew": lambda a: st.skew(a) + st.kurtosis(a),
    "gmean": lambda a: st.gmean(np.abs(a)),
    "entropy": lambda a: st.entropy(np.abs(a)),
    "spearmanr": lambda a: st.spearmanr(a, y)[0],
}


@pytest.mark.parametrize("name", DERIVED)
def test_derivatives(name):
    point = np.random.default_rng(1).normal(size=9)
    np.testing.assert_allclose(grad(DERIVED[name])(point), differences(DERIVED[name], point), 1e-4, 1e-7)


def test_in_loops_and_batches():
    rows = np.stack([x, y, x * 2])

    @graph_jit
    def loop(rows):
        total = 0.0
        for row in rows:
            if st.zscore(row)[1] > 0:
                total += st.pearsonr(row, y)[0]
        return total

    np.testing.assert_allclose(loop(rows), loop.function(rows))
    found = vmap(lambda row: st.pearsonr(row, y).statistic)(rows)
    np.testing.assert_allclose(found, [st.pearsonr(row, y).statistic for row in rows])

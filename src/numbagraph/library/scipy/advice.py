"""Advice for functions of SciPy that take no traced arrays.

Functions that a formula can replace have one. Of the others some have a counterpart here (`fori_loop`, `grad`), and
some are calls of Python (`pure_callback`), whose derivatives follow from an equation that the result fulfils.
"""

from __future__ import annotations

CALLBACK = "numbagraph.pure_callback calls it from compiled code"
"""The advice where no better one is known."""

OUTSIDE = "call it outside, with what the compiled function returns; or numbagraph.pure_callback calls it from there"

OTHERS: dict[str, str] = dict.fromkeys(
    ("scipy.stats", "scipy.stats.contingency", "scipy.stats.mstats", "scipy.stats.qmc"), OUTSIDE
)
"""The advice for functions of a module that have none of their own below."""

SOLVED = (
    "compile the function that it calls, with numbagraph.value_and_grad, and call {} outside; inside of a compiled "
    "function numbagraph.while_loop runs Newton's steps"
)
INTERPOLANT = "make it outside, and call it"

ADVICE: dict[str, dict[str, str]] = {
    "scipy.cluster.hierarchy": dict.fromkeys(
        ("linkage", "fcluster", "ward", "average", "single", "complete"),
        "call it outside: it joins points step by step",
    ),
    "scipy.fft": {"fhtoffset": "call it outside: it depends on the spacing alone"},
    "scipy.integrate": {
        "newton_cotes": "call it outside: its argument is a number of points",
        **dict.fromkeys(("ode", "RK45"), "scipy.integrate.solve_ivp, with the times in t_eval"),
        "qmc_quad": "scipy.integrate.quad",
    },
    "scipy.interpolate": {
        **dict.fromkeys(
            ("splprep", "bisplrep"), "call it outside: how many knots it has is for the data to decide"
        ),
        "bisplev": "scipy.interpolate.RectBivariateSpline or SmoothBivariateSpline, and its ev(x, y)",
        "insert": "call it outside, with the compiled function's coefficients",
        **dict.fromkeys(
            ("lagrange", "approximate_taylor_polynomial"),
            "scipy.interpolate.BarycentricInterpolator is the same polynomial at points",
        ),
        "pade": "scipy.linalg.solve of its equations, scipy.linalg.toeplitz(an) in part",
        "sproot": "scipy.optimize.brentq, between two points",
        **dict.fromkeys(
            ("NdPPoly", "SmoothSphereBivariateSpline", "LSQSphereBivariateSpline", "RectSphereBivariateSpline"),
            f"{INTERPOLANT} with numbagraph.pure_callback; scipy.interpolate.RegularGridInterpolator is native",
        ),
    },
    "scipy.linalg": {
        "funm": "np.linalg.eigh(a) gives (v * f(w)) @ v.T for a symmetric matrix",
        "fractional_matrix_power": "scipy.linalg.expm(p * scipy.linalg.logm(a)) is it",
    },
    "scipy.ndimage": {
        "fourier_gaussian": "multiply the Fourier transform by the Gaussian of np.fft.fftfreq",
        "find_objects": "call it outside: how many there are is for the data to decide; a label's rows and columns are "
        "r, c = np.nonzero(labels == i), between r.min() and r.max(), c.min() and c.max()",
        "labeled_comprehension": "[f(x[labels == i]) for i in (1, 2)], with the labels outside",
        "extrema": "scipy.ndimage.minimum and maximum; np.argmin and np.argmax are the positions",
        **dict.fromkeys(
            ("maximum_position", "minimum_position"),
            "np.unravel_index(np.argmax(np.where(labels == i, x, -np.inf)), x.shape) is one label's",
        ),
    },
    "scipy.optimize": {
        **{
            name: SOLVED.format(name)
            for name in (
                "shgo", "direct",
            )
        },
        "fmin_cobyla": "scipy.optimize.fmin_slsqp, or scipy.optimize.minimize with method='trust-constr', which take "
        "constraints and exact derivatives",
        "fmin_tnc": "scipy.optimize.fmin_l_bfgs_b, which takes the same bounds",
        "quadratic_assignment": "call it outside; numbagraph.pure_callback calls it from compiled code",
    },
    "scipy.signal": {
        "find_peaks_cwt": "scipy.signal.find_peaks",
        **dict.fromkeys(
            ("buttord", "cheb1ord", "cheb2ord", "ellipord", "iirdesign", "kaiserord"),
            "call it outside: the order decides how many coefficients there are",
        ),
        **dict.fromkeys(
            ("firls", "remez", "iircomb", "gammatone", "minimum_phase"),
            "design the filter outside, and pass its coefficients",
        ),
        "ShortTimeFFT": "scipy.signal.stft, istft and spectrogram",
        **dict.fromkeys(
            ("lti", "dlti", "StateSpace", "TransferFunction", "ZerosPolesGain"),
            "scipy.signal.lsim, step and freqresp take the tuple of a system's parts",
        ),
    },
    "scipy.spatial": {
        **dict.fromkeys(
            ("ConvexHull", "Delaunay", "Voronoi", "HalfspaceIntersection", "SphericalVoronoi"),
            "how many parts it has is for the points to decide: call it outside, and pass its indices; "
            "scipy.interpolate.LinearNDInterpolator takes traced points",
        ),
        "tsearch": "delaunay.find_simplex(xi)",
    },
    "scipy.spatial.transform": {
        "RotationSpline": "scipy.spatial.transform.Slerp, or make it outside",
    },
    "scipy.spatial.distance": {
        "is_valid_dm": "np.all(X == X.T) and np.all(np.diagonal(X) == 0) tell",
        "is_valid_y": "call it outside: it depends on the length alone",
    },
    "scipy.sparse.linalg": {
        **dict.fromkeys(
            ("lsqr", "lsmr", "qmr", "tfqmr", "gcrotmk"), "numbagraph.while_loop runs an iteration with A @ x"
        ),
        "eigsh": "np.linalg.eigh(A.toarray())", "eigs": "np.linalg.eig(A.toarray())",
        "svds": "np.linalg.svd(A.toarray())", "splu": "np.linalg.solve(A.toarray(), b)",
        "expm_multiply": "scipy.linalg.expm(A.toarray()) @ b", "norm": "np.linalg.norm(A.toarray()), or of A.data",
    },
    "scipy.stats": {
        "pmean": "np.mean(x**p) ** (1 / p)",
        "tmean": "np.mean(np.where(inside, x, 0)) / np.mean(inside), with the limits as a mask",
        "trim_mean": "np.mean(np.sort(x)[k:-k]), with the number k outside",
        "median_abs_deviation": "np.median(np.abs(x - np.median(x)))",
        "mode": "values, counts = np.unique(x, return_counts=True); values[np.argmax(counts)]",
        "describe": "np.min, np.max, np.mean and np.var(ddof=1) are its parts",
        "scoreatpercentile": "np.percentile(x, per)",
        "percentileofscore": "100 * np.mean(x <= score)",
        "chisquare": "e = np.mean(x); s = np.sum((x - e) ** 2 / e); s, scipy.stats.chi2.sf(s, len(x) - 1)",
        "f_oneway": "the ratio of the variances between and within groups, and scipy.stats.f.sf of it",
        "wasserstein_distance": "np.mean(np.abs(np.sort(x) - np.sort(y)))",
        "boxcox": "scipy.special.boxcox(x, lmbda), for a lambda that is found outside",
        "binned_statistic": "np.bincount(np.digitize(x, edges), weights=values) are sums by bins",
        "dirichlet": "from scipy.special import gammaln, xlogy; "
        "np.sum(xlogy(alpha - 1, x)) + gammaln(np.sum(alpha)) - np.sum(gammaln(alpha))",
        "multinomial": "from scipy.special import gammaln, xlogy; "
        "gammaln(np.sum(x) + 1) + np.sum(xlogy(x, p) - gammaln(x + 1))",
        "gzscore": "v = np.log(x); (v - np.mean(v)) / np.std(v)",
        "gstd": "np.exp(np.std(np.log(x), ddof=1))",
        "tvar": "np.var(x, ddof=1), of what is within the limits",
        "tstd": "np.std(x, ddof=1), of what is within the limits",
        "tsem": "np.std(x, ddof=1) / np.sqrt(len(x)), of what is within the limits",
        "tmin": "np.min(x, where=x > lower, initial=np.inf)",
        "tmax": "np.max(x, where=x < upper, initial=-np.inf)",
        "quantile": "np.quantile(x, p)",
        "sigmaclip": "numbagraph.while_loop with a mask of what is kept; it gives as many as the data say",
        "cumfreq": "np.cumsum(np.histogram(x, bins, (first, last))[0])",
        "relfreq": "np.histogram(x, bins, (first, last))[0] / len(x)",
        "pointbiserialr": "np.corrcoef(x, y)[0, 1]",
        "energy_distance": "d = lambda u, v: np.mean(np.abs(u[:, None] - v)); "
        "np.sqrt(2 * d(x, y) - d(x, x) - d(y, y))",
        "jarque_bera": "z = (x - np.mean(x)) / np.std(x); "
        "s = len(x) / 6 * (np.mean(z**3) ** 2 + (np.mean(z**4) - 3) ** 2 / 4); s, scipy.stats.chi2.sf(s, 2)",
        "circmean": "np.angle(np.mean(np.exp(1j * x))) % (2 * np.pi)",
        "circvar": "1 - np.abs(np.mean(np.exp(1j * x)))",
        "circstd": "np.sqrt(-2 * np.log(np.abs(np.mean(np.exp(1j * x)))))",
        "boxcox_llf": "(lmb - 1) * np.sum(np.log(x)) - len(x) / 2 * np.log(np.var(scipy.special.boxcox(x, lmb)))",
    },
    "scipy.stats.contingency": {
        "expected_freq": "np.sum(table, 1)[:, None] * np.sum(table, 0) / np.sum(table)",
    },
}  # fmt: skip
"""The advice by the module from which users know a function, and its name."""

OBJECTS_OF_STATS = ("multivariate_normal", "dirichlet", "multinomial", "gaussian_kde")
"""Objects of `scipy.stats` whose methods share one advice."""

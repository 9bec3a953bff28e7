"""Forty tasks of a day with data, written for NumPy and SciPy, with the options that people pass."""

import dataclasses

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import interpolate, linalg, ndimage, signal, sparse, special, stats
from scipy.sparse.linalg import spsolve
from tests.support.programs.declared import case

T = np.linspace(0.0, 4.0, 80)
SERIES = np.sin(2 * np.pi * T) + 0.3 * np.cos(9 * T) + 0.2 * T
OTHER = np.sin(2 * np.pi * T + 0.4) - 0.1 * T
SHORT = SERIES[:17].copy()
MATRIX = np.sin(np.arange(60.0)).reshape(20, 3) + np.arange(3.0)
IMAGE = np.sin(np.arange(12.0))[:, None] * np.cos(np.arange(14.0) / 2) + 0.1
LABELS = np.arange(20) % 4


@case((SERIES, 5), (SHORT, 3), (SERIES, 9))
def moving_average(y, width):
    return np.convolve(y, np.ones(width) / width, mode="valid")


@case((SERIES, 8), (SERIES, 5))
def rolling_spread(y, width):
    return sliding_window_view(y, width).std(axis=-1, ddof=1)


@case((T, SERIES, 1), (T, SERIES, 3))
def detrended(t, y, degree):
    return y - np.polyval(np.polyfit(t, y, degree), t)


@case((SERIES, 3.0), (np.append(SERIES, [40.0, -30.0]), 3.0))
def clipped_mean(y, limit):
    for _ in range(10):
        keep = np.abs(y - y.mean()) <= limit * y.std()
        if keep.all():
            break
        y = y[keep]
    return y.mean(), y.std(), len(y)


@case((SERIES, 0.05), (OTHER, 0.1))
def dominant_frequency(y, dt):
    power = np.abs(np.fft.rfft(y - y.mean())) ** 2
    return np.fft.rfftfreq(len(y), dt)[np.argmax(power)], power.max()


@case((SERIES, 10), (OTHER, 3))
def autocorrelation(y, lags):
    z = y - y.mean()
    return np.array([np.sum(z[: len(z) - k] * z[k:]) for k in range(lags)]) / np.sum(z**2)


@case((SERIES, OTHER, 7), (SHORT, SHORT[::-1].copy(), 2))
def best_lag(x, y, most):
    best, where = -np.inf, 0
    for lag in range(-most, most + 1):
        a, b = (x[lag:], y[: len(y) - lag]) if lag >= 0 else (x[:lag], y[-lag:])
        r = np.corrcoef(a, b)[0, 1]
        if r > best:
            best, where = r, lag
    return where, best


@case((SERIES, 42, 50), (SERIES, 7, 20))
def bootstrap_interval(y, seed, draws):
    rng = np.random.default_rng(seed)
    means = np.array([rng.choice(y, size=len(y)).mean() for _ in range(draws)])
    return np.percentile(means, [2.5, 97.5])


@case((SERIES, OTHER), (SHORT, OTHER))
def compared_means(a, b):
    result = stats.ttest_ind(a, b, equal_var=False)
    return result.statistic, result.pvalue, stats.zscore(a).max()


@case(
    (SERIES, OTHER),
)
def ranks_and_correlations(x, y):
    return stats.pearsonr(x, y)[0], stats.spearmanr(x, y).pvalue, stats.rankdata(x), stats.linregress(x, y).slope


@case((SERIES, T), (OTHER, T[::8]))
def smoothed_density(data, points):
    return stats.gaussian_kde(data)(points)


@case((SERIES, 7, 2, 0), (SERIES, 9, 3, 1))
def smooth_derivative(y, width, order, deriv):
    return signal.savgol_filter(y, width, order, deriv=deriv)


@case(
    (SERIES, [0.2, 0.3], [1.0, -0.5]),
)
def filtered(y, b, a):
    return signal.lfilter(b, a, y)


@case((SERIES, 0.2), (SHORT, 0.7))
def smoothed_exponentially(y, alpha):
    level = y[0]
    out = []
    for v in y:
        level = alpha * v + (1 - alpha) * level
        out.append(level)
    return np.array(out)


@case(
    (T, SERIES),
)
def area(t, y):
    return np.trapezoid(y, t), np.cumsum((y[1:] + y[:-1]) / 2 * np.diff(t))


@case((T, SERIES, np.array([0.33, 1.7, 3.9])), (T, OTHER, np.array([2.0])))
def interpolated(t, y, at):
    return np.interp(at, t, y), interpolate.CubicSpline(t, y)(at)


@case((MATRIX, 2), (MATRIX, 1))
def principal_components(X, k):
    Z = X - X.mean(axis=0)
    U, s, Vt = np.linalg.svd(Z, full_matrices=False)
    return np.abs(Z @ Vt[:k].T), s[:k] ** 2 / np.sum(s**2)


@case(
    (MATRIX, MATRIX[:, 0] ** 2 + 1),
)
def regression(X, y):
    A = np.column_stack([np.ones(len(X)), X])
    beta, *_ = np.linalg.lstsq(A, y, rcond=None)
    residual = y - A @ beta
    return beta, residual @ residual


@case((MATRIX, (MATRIX[:, 0] > 0.2).astype(float), 1e-8), (MATRIX, (MATRIX[:, 1] > 1).astype(float), 1e-3))
def logistic_regression(X, y, tol):
    w = np.zeros(X.shape[1])
    for it in range(30):
        p = special.expit(X @ w)
        H = (X * (p * (1 - p))[:, None]).T @ X + 1e-3 * np.eye(X.shape[1])
        step = np.linalg.solve(H, X.T @ (y - p) - 1e-3 * w)
        w = w + step
        if np.linalg.norm(step) < tol:
            break
    return w, it


@case((MATRIX, 3, 10), (MATRIX, 2, 4))
def k_means(X, k, steps):
    centres = X[:k].copy()
    for _ in range(steps):
        nearest = ((X[:, None] - centres) ** 2).sum(axis=-1).argmin(axis=1)
        for j in range(k):
            if np.any(nearest == j):
                centres[j] = X[nearest == j].mean(axis=0)
    return centres, nearest


@case((MATRIX, MATRIX[3]), (MATRIX, MATRIX[0] * 1.1))
def nearest_neighbours(X, point):
    d = np.sqrt(((X - point) ** 2).sum(axis=1))
    order = np.argsort(d, kind="stable")[:3]
    return order, d[order]


@case(
    (SERIES[:20], LABELS, 4),
)
def means_by_group(y, group, count):
    sums = np.bincount(group, weights=y, minlength=count)
    return sums / np.bincount(group, minlength=count)


@case(
    (np.array([3, 1, 3, 2, 1, 1]), np.arange(6.0)),
)
def totals_by_key(keys, values):
    names, where = np.unique(keys, return_inverse=True)
    total = np.zeros(len(names))
    np.add.at(total, where, values)
    return names, total


@case((SERIES, 6), (OTHER, 9))
def histogram_entropy(y, bins):
    counts, edges = np.histogram(y, bins=bins)
    return stats.entropy(counts + 1), edges[counts.argmax()]


@case((IMAGE, 1.5, 0), (IMAGE, 0.7, 1))
def blurred(image, sigma, order):
    return ndimage.gaussian_filter(image, sigma, order=order)


@case((IMAGE, 3), (IMAGE, 5))
def without_specks(image, size):
    return ndimage.median_filter(image, size=size)


@case((IMAGE, 0.3), (IMAGE, -0.2))
def blobs(image, threshold):
    labels, count = ndimage.label(image > threshold)
    sizes = np.bincount(labels.ravel())[1:]
    return labels, count, sizes.max(), ndimage.center_of_mass(image - image.min(), labels, 1)


@case(
    (IMAGE, 0.3),
)
def distance_to_edge(image, threshold):
    return ndimage.distance_transform_edt(image > threshold).max()


@case(
    (np.array([52.5, 48.1]), np.array([13.4, 11.6]), np.array([40.7, -33.9]), np.array([-74.0, 151.2])),
)
def great_circle(lat1, lon1, lat2, lon2):
    a, b, c, d = map(np.radians, (lat1, lon1, lat2, lon2))
    h = np.sin((c - a) / 2) ** 2 + np.cos(a) * np.cos(c) * np.sin((d - b) / 2) ** 2
    return 2 * 6371.0 * np.arcsin(np.sqrt(h))


def lotka_volterra(y, *rates):
    a, b, c, d = rates
    return np.array([a * y[0] - b * y[0] * y[1], c * y[0] * y[1] - d * y[1]])


@case(
    (np.array([10.0, 5.0]), np.array([1.1, 0.4, 0.1, 0.4]), 0.05, 60),
)
def predators(y, p, dt, steps):
    path = [y]
    for _ in range(steps):
        k1 = lotka_volterra(y, *p)
        k2 = lotka_volterra(y + dt / 2 * k1, *p)
        k3 = lotka_volterra(y + dt / 2 * k2, *p)
        k4 = lotka_volterra(y + dt * k3, *p)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(y)
    return np.array(path)


@case((SHORT, 0.2, 30), (SERIES, 0.4, 10))
def heat(u, r, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += r * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


@case((0.5, 200, 3), (2.0, 50, 4))
def metropolis(scale, steps, seed):
    rng = np.random.default_rng(seed)
    x, accepted, chain = 0.0, 0, np.empty(steps)
    for i in range(steps):
        proposal = x + scale * rng.normal()
        if np.log(rng.uniform()) < 0.5 * (x**2 - proposal**2):
            x = proposal
            accepted += 1
        chain[i] = x
    return chain, accepted / steps


class Kalman:
    def __init__(self, q, r):
        self.q, self.r = q, r
        self.x, self.p = 0.0, 1.0

    @property
    def gain(self):
        return self.p / (self.p + self.r)

    def update(self, z):
        self.p += self.q
        k = self.gain
        self.x += k * (z - self.x)
        self.p *= 1 - k
        return self.x


@case((SERIES, 0.01, 0.5), (SHORT, 0.1, 0.2))
def tracked(z, q, r):
    f = Kalman(q, r)
    return np.array([f.update(v) for v in z]), f.p


@dataclasses.dataclass
class Controller:
    kp: float
    ki: float
    kd: float
    total: float = 0.0
    last: float = 0.0

    def __call__(self, error, dt):
        self.total += error * dt
        slope = (error - self.last) / dt
        self.last = error
        return self.kp * error + self.ki * self.total + self.kd * slope


@case((1.0, 0.1, 50), (2.5, 0.05, 20))
def controlled(target, dt, steps):
    pid = Controller(2.0, 1.0, 0.05)
    y, history = 0.0, []
    for _ in range(steps):
        y += dt * (pid(target - y, dt) - y)
        history.append(y)
    return np.array(history), pid.total


def model(t, *p):
    return p[0] * np.exp(-p[1] * t) + p[2]


@case(
    (T, 3 * np.exp(-1.5 * T) + 0.5, np.array([1.0, 1.0, 0.0]), 15),
)
def fitted(t, y, p, steps):
    for _ in range(steps):
        r = model(t, *p) - y
        J = np.empty((len(t), len(p)))
        for j in range(len(p)):
            e = np.zeros(len(p))
            e[j] = 1e-6
            J[:, j] = (model(t, *(p + e)) - model(t, *p)) / 1e-6
        p = p - np.linalg.solve(J.T @ J + 1e-9 * np.eye(len(p)), J.T @ r)
    return p


@case((MATRIX, MATRIX @ np.array([1.0, -2.0, 0.5]), 0.1, 40), (MATRIX, MATRIX[:, 0], 0.01, 5))
def trained_by_adam(X, y, rate, steps):
    params = {"w": np.zeros(X.shape[1]), "b": 0.0}
    m = v = {"w": np.zeros(X.shape[1]), "b": 0.0}
    best, kept = np.inf, params
    for i in range(1, steps + 1):
        r = X @ params["w"] + params["b"] - y
        loss = np.mean(r**2)
        if loss < best:
            best, kept = loss, params
        g = {"w": 2 * X.T @ r / len(y), "b": 2 * np.mean(r)}
        m = {k: 0.9 * m[k] + 0.1 * g[k] for k in g}
        v = {k: 0.999 * v[k] + 0.001 * g[k] ** 2 for k in g}
        params = {k: params[k] - rate * (m[k] / (1 - 0.9**i)) / (np.sqrt(v[k] / (1 - 0.999**i)) + 1e-8) for k in params}
    return best, kept


@case((2.0, 1e-12), (0.5, 1e-6))
def square_root(a, tol):
    x, n = a, 0
    while abs(x * x - a) > tol:
        x = 0.5 * (x + a / x)
        n += 1
    return x, n


@case(
    (0.0, 2.0, 1e-10),
)
def bisected(low, high, tol):
    f = lambda x: np.cos(x) - x  # noqa: E731
    while high - low > tol:
        middle = (low + high) / 2
        if f(low) * f(middle) <= 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2


@case((6, np.arange(6.0)), (12, np.ones(12)))
def poisson(n, f):
    off = -np.ones(n - 1)
    A = sparse.diags_array([off, 2 * np.ones(n), off], offsets=[-1, 0, 1]).tocsc()
    return spsolve(A, f)


@case(
    (MATRIX[:5, :2] - 1, np.array([0.1, 0.2]), np.array([[2.0, 0.3], [0.3, 1.0]])),
)
def gaussian_likelihood(X, mean, cov):
    by_scipy = stats.multivariate_normal(mean, cov).logpdf(X)
    L = linalg.cholesky(cov, lower=True)
    z = linalg.solve_triangular(L, (X - mean).T, lower=True)
    return by_scipy, -0.5 * (z**2).sum(axis=0) - np.log(np.diag(L)).sum() - np.log(2 * np.pi)


@case((IMAGE, 0), (IMAGE, 1), (IMAGE, None))
def summaries(image, axis):
    return (
        image.sum(axis=axis),
        np.median(image, axis=axis),
        np.percentile(image, 30, axis=axis),
        stats.iqr(image, axis),
    )


@case((SERIES, 2, 3), (SERIES, 10, 7))
def thinned(chain, burn, thin):
    kept = chain[burn::thin]
    return kept, kept.mean(), len(kept)


@case((SERIES, np.abs(OTHER) + 0.1, 0.3), (OTHER, np.ones(80), 0.5))
def weighted_quantile(y, w, q):
    order = np.argsort(y)
    share = np.cumsum(w[order]) / w.sum()
    return y[order][np.searchsorted(share, q)]


@case((np.array([[1.0, 2.0], [0.5, 1.5]]), 3), (np.eye(2) * 2, -1))
def transitions(P, n):
    P = P / P.sum(axis=1, keepdims=True)
    return np.linalg.matrix_power(P, n), linalg.expm(P * n)

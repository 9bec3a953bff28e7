"""Programs in NumPy: faster, with gradients, over batches."""

import numpy as np
import scipy.special
from scipy import optimize
from scipy.integrate import solve_ivp
from tasks import task

import numbagraph as ng


@task()
def numpy_function():
    """Make a NumPy function faster."""

    @ng.graph_jit
    def log_likelihood(x, mean, scale):
        z = (x - mean) / scale
        return np.sum(-0.5 * z**2 - np.log(scale) - 0.5 * np.log(2 * np.pi))

    x = np.random.default_rng(0).normal(size=10_000)
    np.testing.assert_allclose(log_likelihood(x, 0.1, 1.2), log_likelihood.function(x, 0.1, 1.2))


@task()
def loops():
    """Compile plain loops over a grid, with branches, as one would for `njit`."""

    @ng.graph_jit
    def mandelbrot(n, steps):
        counts = np.zeros((n, n), dtype=np.int64)
        for i in range(n):
            for j in range(n):
                c = complex(-2.0 + 3.0 * j / n, -1.5 + 3.0 * i / n)
                z = 0j
                for _ in range(steps):
                    if abs(z) > 2.0:
                        break
                    z = z * z + c
                    counts[i, j] += 1
        return counts

    np.testing.assert_array_equal(mandelbrot(20, 30), mandelbrot.function(20, 30))


@task()
def time_series():
    """Filter a time series by a recursion, and take its gradient with respect to a parameter."""

    @ng.graph_jit
    def smoothed_error(x, alpha):
        level = x[0]
        total = 0.0
        for t in range(1, len(x)):
            total += (x[t] - level) ** 2
            level = alpha * x[t] + (1 - alpha) * level
        return total / (len(x) - 1)

    x = np.random.default_rng(1).normal(size=200).cumsum()
    np.testing.assert_allclose(smoothed_error(x, 0.3), smoothed_error.function(x, 0.3))
    slope = ng.grad(smoothed_error, argnums=1)(x, 0.3)
    differences = (smoothed_error.function(x, 0.3 + 1e-6) - smoothed_error.function(x, 0.3 - 1e-6)) / 2e-6
    np.testing.assert_allclose(slope, differences, rtol=1e-6)


@task()
def differential_equation():
    """Give `solve_ivp` a compiled right-hand side and its Jacobian."""

    def van_der_pol(t, y, mu):
        return np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])

    rhs = ng.graph_jit(van_der_pol)
    jacobian = ng.graph_jit(ng.jacfwd(van_der_pol, argnums=1))
    options = {"t_span": (0.0, 20.0), "y0": [2.0, 0.0], "method": "Radau", "args": (10.0,), "rtol": 1e-8, "atol": 1e-8}
    found = solve_ivp(rhs, jac=jacobian, **options)
    expected = solve_ivp(van_der_pol, **options)
    np.testing.assert_allclose(found.y[:, -1], expected.y[:, -1], rtol=1e-5)


@task()
def curve_fit():
    """Fit a curve with the model's own Jacobian."""

    @ng.graph_jit
    def model(t, height, rate, offset):
        return height * np.exp(-rate * t) + offset

    @ng.graph_jit
    def jacobian(t, height, rate, offset):
        return np.stack(ng.jacfwd(model, argnums=(1, 2, 3))(t, height, rate, offset), axis=1)

    t = np.linspace(0, 5, 100)
    y = model.function(t, 2.5, 1.3, 0.5) + np.random.default_rng(2).normal(0, 0.05, t.size)
    found, covariance = optimize.curve_fit(model, t, y, p0=[1, 1, 1], jac=jacobian)
    expected, expected_covariance = optimize.curve_fit(model.function, t, y, p0=[1, 1, 1])
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    np.testing.assert_allclose(covariance, expected_covariance, rtol=1e-3)


@task()
def gradients():
    """Minimise by gradient and Hessian, and compare the gradient with SciPy's differences."""

    def rosenbrock(x):
        return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    objective = ng.graph_jit(ng.value_and_grad(rosenbrock))
    hessian = ng.graph_jit(ng.hessian(rosenbrock))
    start = np.array([-1.2, 1.0, 0.5])
    found = optimize.minimize(objective, start, jac=True, hess=hessian, method="Newton-CG")
    np.testing.assert_allclose(found.x, np.ones(3), atol=1e-4)
    np.testing.assert_allclose(hessian(start), optimize.rosen_hess(start), rtol=1e-12)
    assert optimize.check_grad(rosenbrock, ng.grad(rosenbrock), start) < 1e-4


@task()
def vmap():
    """Evaluate one function, and its gradient, at many parameters."""

    @ng.graph_jit
    def misfit(parameters, t, y):
        return np.mean((parameters[0] * np.sin(parameters[1] * t) - y) ** 2)

    rng = np.random.default_rng(3)
    many, t, y = rng.normal(size=(50, 2)), np.linspace(0, 3, 40), rng.normal(size=40)
    values = ng.graph_jit(ng.vmap(misfit, in_axes=(0, None, None)))(many, t, y)
    np.testing.assert_allclose(values, [misfit.function(p, t, y) for p in many])
    slopes = ng.graph_jit(ng.vmap(ng.grad(misfit), in_axes=(0, None, None)))(many, t, y)
    np.testing.assert_allclose(slopes[7], ng.grad(misfit)(many[7], t, y))


@task()
def gufuncs():
    """Write a generalised ufunc and call it over other axes, as NumPy's are."""

    @ng.gufunc("(n),(n)->()")
    def distance(x, y):
        return np.sqrt(np.sum((x - y) ** 2))

    x = np.random.default_rng(4).normal(size=(3, 5, 4))
    y = np.ones(4)
    np.testing.assert_allclose(distance(x, y), np.linalg.norm(x - y, axis=-1))
    np.testing.assert_allclose(distance(x, np.zeros(3), axes=[(0,), (0,), ()]), np.linalg.norm(x, axis=0))
    assert distance(x, y, keepdims=True).shape == (3, 5, 1)


@task()
def random_draws():
    """Simulate with NumPy's generator, and get NumPy's own numbers."""

    @ng.graph_jit
    def price(rng, start, drift, volatility, steps, paths):
        noise = rng.normal(size=(paths, steps))
        logs = np.cumsum(drift + volatility * noise, axis=1)
        return np.mean(np.maximum(start * np.exp(logs[:, -1]) - start, 0.0))

    arguments = (100.0, 0.0001, 0.01, 50, 200)
    found = price(np.random.default_rng(5), *arguments)
    np.testing.assert_allclose(found, price.function(np.random.default_rng(5), *arguments))


@task()
def random_keys():
    """Draw from keys under `vmap`: each chain has its own numbers, and the same ones next time."""

    @ng.graph_jit
    def mean_of_chain(key):
        return np.mean(ng.random.normal(key, 1000))

    keys = ng.random.split(ng.random.key(11), 4)
    means = ng.graph_jit(ng.vmap(mean_of_chain))(keys)
    assert means.shape == (4,)
    assert len(set(means.tolist())) == 4
    assert np.all(np.abs(means) < 0.2)
    np.testing.assert_array_equal(means, ng.graph_jit(ng.vmap(mean_of_chain))(keys))


@task()
def masks():
    """Leave out missing values, and return as many numbers as there are."""

    @ng.graph_jit
    def statistics(x):
        valid = x[~np.isnan(x)]
        return valid.mean(), valid.std(), np.sort(valid), np.where(np.isnan(x), 0.0, x)

    x = np.array([3.0, np.nan, 1.0, 2.0, np.nan])
    for found, expected in zip(statistics(x), statistics.function(x), strict=True):
        np.testing.assert_allclose(found, expected)


@task()
def histogram():
    """Bin data, and interpolate in a table."""

    @ng.graph_jit
    def calibrated(x, edges, knots, values):
        counts, _ = np.histogram(x, bins=edges)
        return counts, np.interp(x, knots, values), np.quantile(x, [0.1, 0.5, 0.9])

    x = np.random.default_rng(7).normal(size=500)
    arguments = (x, np.linspace(-3, 3, 13), np.array([-4.0, 0.0, 4.0]), np.array([0.0, 1.0, 0.5]))
    for found, expected in zip(calibrated(*arguments), calibrated.function(*arguments), strict=True):
        np.testing.assert_allclose(found, expected)


@task()
def linear_algebra():
    """Compute the marginal likelihood of a Gaussian process and its gradient by the length scale."""

    def log_marginal(scale, x, y):
        kernel = np.exp(-0.5 * (x[:, None] - x[None, :]) ** 2 / scale**2) + 0.1 * np.eye(len(x))
        factor = np.linalg.cholesky(kernel)
        z = np.linalg.solve(factor, y)
        return -0.5 * z @ z - np.sum(np.log(np.diag(factor))) - 0.5 * len(x) * np.log(2 * np.pi)

    x = np.linspace(0, 4, 30)
    y = np.sin(x)
    value, slope = ng.graph_jit(ng.value_and_grad(log_marginal))(0.8, x, y)
    np.testing.assert_allclose(value, log_marginal(0.8, x, y))
    differences = (log_marginal(0.8 + 1e-6, x, y) - log_marginal(0.8 - 1e-6, x, y)) / 2e-6
    np.testing.assert_allclose(slope, differences, rtol=1e-5)


@task()
def special_functions():
    """Use `scipy.special` and `scipy.stats` inside of a compiled function."""
    from scipy import stats

    @ng.graph_jit
    def log_density(x, shape, rate):
        mine = shape * np.log(rate) - scipy.special.gammaln(shape) + (shape - 1) * np.log(x) - rate * x
        return mine, stats.gamma.logpdf(x, shape, scale=1 / rate), scipy.special.gammainc(shape, rate * x)

    x = np.linspace(0.1, 5, 50)
    mine, ready, lower = log_density(x, 2.5, 1.5)
    np.testing.assert_allclose(mine, stats.gamma.logpdf(x, 2.5, scale=1 / 1.5))
    np.testing.assert_allclose(ready, mine)
    np.testing.assert_allclose(lower, stats.gamma.cdf(x, 2.5, scale=1 / 1.5))


@task()
def complex_numbers():
    """Compute a spectrum with complex numbers and FFT."""

    @ng.graph_jit
    def response(signal, frequency):
        spectrum = np.fft.rfft(signal)
        low_pass = 1 / (1 + 1j * np.arange(len(spectrum)) / frequency)
        return np.fft.irfft(spectrum * low_pass, n=len(signal)), np.abs(spectrum) ** 2, np.angle(low_pass)

    signal = np.random.default_rng(8).normal(size=64)
    for found, expected in zip(response(signal, 5.0), response.function(signal, 5.0), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)

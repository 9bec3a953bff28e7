"""Compiled functions: what they take, who calls them, what they tell of themselves."""

import multiprocessing
import os
import pickle
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.special
from numba import njit
from scipy import optimize
from scipy.integrate import quad
from tasks import refused, task

import numbagraph as ng


@dataclass
class Oscillator:
    """Parameters with names."""

    mass: float
    stiffness: float
    damping: float = 0.0


@task()
def dataclasses():
    """Pass parameters as a dataclass and as a dict, and get gradients of the same form."""

    @ng.graph_jit
    def energy(system, state):
        return 0.5 * system.mass * state["velocity"] ** 2 + 0.5 * system.stiffness * state["position"] ** 2

    system, state = Oscillator(2.0, 3.0), {"position": 1.0, "velocity": 2.0}
    assert energy(system, state) == 5.5
    by_system = ng.grad(energy)(system, state)
    assert (by_system.mass, by_system.stiffness, by_system.damping) == (2.0, 0.5, 0.0)
    by_state = ng.grad(energy, argnums=1)(system, state)
    assert by_state == {"position": 3.0, "velocity": 4.0}


@task()
def methods():
    """Compile a method of a class."""

    class Network:
        def __init__(self, rng):
            self.weights = rng.normal(size=(3, 2))
            self.bias = np.zeros(2)

        @ng.graph_jit
        def predict(self, x):
            return np.tanh(x @ self.weights + self.bias)

    network = Network(np.random.default_rng(9))
    x = np.ones((4, 3))
    np.testing.assert_allclose(network.predict(x), np.tanh(x @ network.weights + network.bias))


@task()
def static_arguments():
    """Choose between formulas by a string and an axis by a number."""

    @ng.graph_jit(static_argnames=("kind", "axis"))
    def norm(x, kind="euclidean", axis=None):
        if kind == "euclidean":
            return np.sqrt(np.sum(x**2, axis=axis))
        if kind == "maximum":
            return np.max(np.abs(x), axis=axis)
        raise ValueError(f"unknown kind {kind!r}")

    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(norm(x), np.linalg.norm(x))
    np.testing.assert_allclose(norm(x, "maximum", axis=1), [2.0, 5.0])
    with refused(ValueError, "unknown kind 'taxicab'"):
        norm(x, kind="taxicab")


@task()
def own_memory():
    """Write into arrays of one's own: `out=`, a donated argument, a function that changes its argument."""

    def step(u, rate):
        return u + rate * (np.roll(u, 1) - 2 * u + np.roll(u, -1))

    expected = np.exp(-(np.linspace(-2, 2, 50) ** 2))
    u, donated, changed = expected.copy(), expected.copy(), expected.copy()
    compiled = ng.graph_jit(step)
    giving = ng.graph_jit(step, donate_argnames="u")

    @ng.graph_jit
    def advance(u, rate):
        u[:] = step(u, rate)

    for _ in range(10):
        expected = step(expected, 0.2)
        assert compiled(u, 0.2, out=u) is u
        donated = giving(donated, 0.2)
        advance(changed, 0.2)
    for found in (u, donated, changed):
        np.testing.assert_allclose(found, expected)


@task()
def numba_callers():
    """Call a compiled function from `@njit` code, an `@njit` function from a compiled one, and integrate with SciPy."""

    @ng.graph_jit
    def integrand(x):
        return np.exp(-(x**2)) * np.cos(x)

    @njit
    def midpoints(a, b, n):
        total = 0.0
        for i in range(n):
            total += integrand(a + (i + 0.5) * (b - a) / n)
        return total * (b - a) / n

    expected = quad(integrand.function, 0.0, 2.0)[0]
    np.testing.assert_allclose(midpoints(0.0, 2.0, 2000), expected, rtol=1e-6)
    np.testing.assert_allclose(quad(integrand, 0.0, 2.0)[0], expected)

    @njit
    def collatz(n):
        steps = 0
        while n != 1:
            n = 3 * n + 1 if n % 2 else n // 2
            steps += 1
        return steps

    @ng.graph_jit
    def total_steps(numbers):
        total = 0
        for i in range(len(numbers)):
            total += collatz(numbers[i])
        return total

    assert total_steps(np.array([1, 2, 3, 27])) == sum(collatz.py_func(n) for n in (1, 2, 3, 27))


@task()
def callbacks():
    """Call what cannot be compiled, a root finder of SciPy, from compiled code, with its derivative."""

    def wright(x):
        return optimize.brentq(lambda w: w * np.exp(w) - x, 0.0, 10.0, xtol=1e-14)

    def root(x):
        return ng.pure_callback(wright, ng.Abstract(()), x, vjp=lambda g, w, x: (g / ((1 + w) * np.exp(w)),))

    value, slope = ng.graph_jit(ng.value_and_grad(lambda x: root(x) ** 2))(2.0)
    w = scipy.special.lambertw(2.0).real
    np.testing.assert_allclose(value, w**2)
    np.testing.assert_allclose(slope, 2 * w * w / (2.0 * (1 + w)))


@ng.graph_jit
def simulate(seed, steps):
    """Walk at random: a function at the top level, as processes need it."""
    key = ng.random.key(seed)
    return np.max(np.abs(np.cumsum(ng.random.normal(key, steps))))


def energy_of_waves(x):
    return np.sum(np.sin(x))


@task()
def pickles():
    """Pickle a compiled function and a compiled gradient."""
    again = pickle.loads(pickle.dumps(simulate))
    assert again(3, 100) == simulate(3, 100)
    slope = pickle.loads(pickle.dumps(ng.graph_jit(ng.grad(energy_of_waves))))
    np.testing.assert_allclose(slope(np.zeros(3)), np.ones(3))


@task()
def processes():
    """Run compiled functions in worker processes."""
    expected = [simulate(seed, 100) for seed in range(4)]
    for method in ("spawn", "fork") if "fork" in multiprocessing.get_all_start_methods() else ("spawn",):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.starmap(simulate, [(seed, 100) for seed in range(4)]) == expected


@task()
def threads():
    """Use several threads in one call, and several threads that call."""

    @ng.graph_jit(parallel=True)
    def total(x):
        return np.sum(np.exp(-(x**2)))

    x = np.linspace(-3, 3, 400_000)
    np.testing.assert_allclose(total(x), total.function(x))
    with ng.threads(1):
        one = total(x)
    assert total(x) == one
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(total, [x] * 8)) == [one] * 8


@task()
def debugging():
    """Find a mistake: shapes that do not fit, a NaN, a value in a loop."""

    @ng.graph_jit
    def weighted(x, weights):
        return np.sum(x * weights) / np.sum(weights)

    with refused(ValueError, "3", "4", Path(__file__).name):
        weighted(np.ones(3), np.ones(4))

    @ng.graph_jit
    def entropy(p):
        return -np.sum(p * np.log(p))

    p = np.array([0.5, 0.5, 0.0])
    assert np.isnan(entropy(p))
    with refused(FloatingPointError, "NaN"), ng.debug_nans():
        entropy(p)
    np.testing.assert_allclose(entropy.function(p[:2]), ng.graph_jit(entropy.function, backend="numpy")(p[:2]))


@task()
def inspection():
    """See what was fused, where the time goes, and save a page for a notebook."""

    @ng.graph_jit
    def spectrum(x):
        return np.sum(np.sqrt(np.sort(np.abs(np.sin(x)))))

    x = np.linspace(0, 10, 20_000)
    explanation = spectrum.explain(x)
    assert "nest" in str(explanation)
    assert explanation._repr_html_().lstrip().startswith("<")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "spectrum.html"
        explanation.to_html(page)
        assert "sqrt" in page.read_text(encoding="utf-8")
    assert "sort" in str(ng.profile(spectrum, x))
    assert str(spectrum.graph(x)).startswith("def spectrum")


@task()
def caching():
    """Compile before the data are there, and find the code again in another process."""
    program = (
        "import numpy as np, numbagraph as ng\n"
        "f = ng.graph_jit(lambda x: np.sum(np.sin(x) ** 2))\n"
        "f.warmup(ng.Abstract((10,)))\n"
        "print(f(np.arange(7.0)), f.cache_info().versions)\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBAGRAPH_CACHE_DIR": folder}
        command = [sys.executable, "-c", program]
        first = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
        files = sorted(Path(folder).rglob("*"))
        second = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
        assert first == second
        np.testing.assert_allclose(float(first.split()[0]), np.sum(np.sin(np.arange(7.0)) ** 2))
        assert files
        assert files == sorted(Path(folder).rglob("*"))


@task()
def doctor():
    """Ask whether the installation works."""
    told = subprocess.run([sys.executable, "-m", "numbagraph", "doctor"], capture_output=True, text=True, check=True)
    assert ng.__version__ in told.stdout
    assert np.__version__ in told.stdout

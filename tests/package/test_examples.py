"""The examples of loops, against the same in plain NumPy."""

import itertools

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.stats import multivariate_normal, poisson

from examples.loops import (
    autoregression,
    clusters,
    dormand_prince,
    edit_distance,
    epidemic,
    gillespie,
    hidden_markov,
    implicit,
    kalman,
    ode,
    semi_markov,
)
from numbagraph import grad, graph_jit

RNG = np.random.default_rng(22)


def slopes_of(function, point):
    """The gradient by central differences."""
    result = np.zeros_like(point)
    for index in np.ndindex(point.shape):
        step = np.zeros_like(point)
        step[index] = 1e-6
        result[index] = (function(point + step) - function(point - step)) / 2e-6
    return result


P, Y0, TIMES = np.array([1.1, 0.4, 0.1, 0.4]), np.array([10.0, 5.0]), np.linspace(0, 5, 60)


def plain_slope(y, p):
    return np.array([p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]])


def plain_rk4(p):
    found = [Y0]
    for h in np.diff(TIMES):
        y = found[-1]
        k1 = plain_slope(y, p)
        k2 = plain_slope(y + h / 2 * k1, p)
        k3 = plain_slope(y + h / 2 * k2, p)
        k4 = plain_slope(y + h * k3, p)
        found.append(y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    return np.array(found)


def test_a_differential_equation_and_its_gradient():
    data = plain_rk4(P) + RNG.normal(size=(60, 2)) / 10

    def misfit(p):
        return np.sum((plain_rk4(p) - data) ** 2)

    np.testing.assert_allclose(ode.misfit(P, Y0, TIMES, data), misfit(P), rtol=1e-10)
    expected = slopes_of(misfit, P)
    np.testing.assert_allclose(ode.slope_of_misfit(P, Y0, TIMES, data), expected, rtol=1e-6, atol=1e-5)


def test_adaptive_steps():
    expected = solve_ivp(lambda t, y: plain_slope(y, P), (0, 20), Y0, rtol=1e-12, atol=1e-12).y[:, -1]
    found, steps = ode.solve(Y0, 20.0, P)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert 50 < steps < 1000


def plain_kalman(y, mean, cov, a, q, h, r):
    total, filtered, predicted = 0.0, [], []
    for each in y:
        predicted.append((mean, cov))
        residual, s = each - h @ mean, h @ cov @ h.T + r
        gain = cov @ h.T @ np.linalg.inv(s)
        total -= 0.5 * (residual @ np.linalg.inv(s) @ residual + np.log(np.linalg.det(2 * np.pi * s)))
        mean, cov = mean + gain @ residual, cov - gain @ h @ cov
        filtered.append((mean, cov))
        mean, cov = a @ mean, a @ cov @ a.T + q
    return total, filtered, predicted


A, Q, H, R = np.array([[1.0, 0.1], [-0.1, 0.9]]), 0.1 * np.eye(2), np.array([[1.0, 0.0]]), np.array([[0.2]])
MODEL = (np.zeros(2), np.eye(2), A, Q, H, R)


def test_kalman_filter_and_smoother():
    y = RNG.normal(size=(12, 1))
    total, filtered, predicted = plain_kalman(y, *MODEL)
    found = kalman.kalman_filter(y, *MODEL)
    np.testing.assert_allclose(found[0], total, rtol=1e-10)
    for number in range(2):
        np.testing.assert_allclose(found[1][number], [each[number] for each in filtered], rtol=1e-9, atol=1e-12)
    smoothed = [filtered[-1]]
    for (mean, cov), (next_mean, next_cov) in zip(filtered[-2::-1], predicted[:0:-1], strict=True):
        gain = cov @ A.T @ np.linalg.inv(next_cov)
        smoothed.append(
            (mean + gain @ (smoothed[-1][0] - next_mean), cov + gain @ (smoothed[-1][1] - next_cov) @ gain.T)
        )
    means, covs = kalman.smoother(y, *MODEL)
    np.testing.assert_allclose(means, [each[0] for each in smoothed[::-1]], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(covs, [each[1] for each in smoothed[::-1]], rtol=1e-9, atol=1e-12)


def test_gradient_of_kalman_likelihood():
    y = RNG.normal(size=(12, 1))
    slope = graph_jit(grad(lambda a: kalman.kalman_filter(y, *MODEL[:2], a, Q, H, R)[0]))
    expected = slopes_of(lambda a: plain_kalman(y, *MODEL[:2], a, Q, H, R)[0], A)
    np.testing.assert_allclose(slope(A), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("length", [1, 2, 30])
def test_hidden_markov_model(length):
    start, transition = np.log(RNG.dirichlet(np.ones(4))), np.log(RNG.dirichlet(np.ones(4), size=4))
    emission = RNG.normal(size=(length, 4))

    def forward(transition):
        alpha = np.exp(start + emission[0])
        for each in emission[1:]:
            alpha = (alpha @ np.exp(transition)) * np.exp(each)
        return np.log(np.sum(alpha))

    np.testing.assert_allclose(
        hidden_markov.log_likelihood(start, transition, emission), forward(transition), rtol=1e-10
    )
    slope = graph_jit(grad(hidden_markov.log_likelihood, argnums=1))(start, transition, emission)
    np.testing.assert_allclose(slope, slopes_of(forward, transition), rtol=1e-6, atol=1e-7)

    best, origins = start + emission[0], []
    for each in emission[1:]:
        paths = best[:, None] + transition
        origins.append(np.argmax(paths, axis=0))
        best = np.max(paths, axis=0) + each
    path = [int(np.argmax(best))]
    for origin in origins[::-1]:
        path.append(int(origin[path[-1]]))
    found, probability = hidden_markov.viterbi(start, transition, emission)
    assert found.tolist() == path[::-1]
    np.testing.assert_allclose(probability, np.max(best), rtol=1e-12)


def test_newtons_method_until_it_has_converged():
    for a in (0.0, 0.3, 0.9):
        x, count = implicit.newton_root(a, 1.0)
        assert abs(x - a * np.sin(x) - 1) < 1e-14
        assert count < 10


def test_a_fixed_point_and_its_implicit_derivative():
    w, b = RNG.normal(size=(3, 3)) / 6, RNG.normal(size=3)

    def loss(w, b):
        x = np.zeros(3)
        for _ in range(200):
            x = np.tanh(w @ x + b)
        return np.sum(x**2)

    for_w, for_b = implicit.loss_gradient(w, b)
    np.testing.assert_allclose(for_w, slopes_of(lambda w: loss(w, b), w), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(for_b, slopes_of(lambda b: loss(w, b), b), rtol=1e-6, atol=1e-8)


def test_k_means():
    points = np.concatenate([RNG.normal(size=(20, 2)) + centre for centre in ([0, 0], [4, 4], [0, 5])])
    centres, labels, count = points[[0, 1, 2]], None, 0
    first = centres
    while True:
        new = np.argmin(((points[:, None] - centres) ** 2).sum(axis=2), axis=1)
        if labels is not None and (new == labels).all():
            break
        labels, count = new, count + 1
        centres = np.array([points[labels == k].mean(axis=0) if (labels == k).any() else centres[k] for k in range(3)])
    found, own, steps = clusters.k_means(points, first)
    np.testing.assert_allclose(found, centres, rtol=1e-12)
    assert own.tolist() == labels.tolist()
    assert steps == count


def plain_distance(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), int)
    table[:, 0], table[0] = np.arange(len(a) + 1), np.arange(len(b) + 1)
    for i, x in enumerate(a, 1):
        for j, y in enumerate(b, 1):
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (x != y))
    return table[-1, -1]


@pytest.mark.parametrize(
    ("one", "other"), [("kitten", "sitting"), ("", "abc"), ("abc", ""), ("", ""), ("same", "same")]
)
def test_edit_distance(one, other):
    a, b = (np.frombuffer(each.encode(), np.uint8) for each in (one, other))
    assert edit_distance.edit_distance(a, b) == plain_distance(one, other)


def test_gillespies_simulation():
    for birth, death in ((1.0, 0.5), (0.2, 1.0)):
        uniform = RNG.uniform(size=(40, 2))
        time, count, expected = 0.0, 4.0, []
        for first, second in uniform:
            if count > 0:
                time += -np.log1p(-first) / ((birth + death) * count)
                count += 1.0 if second * (birth + death) < birth else -1.0
            expected.append((time, count))
        times, counts = gillespie.births_and_deaths(birth, death, 4.0, uniform)
        np.testing.assert_allclose(times, [each[0] for each in expected], rtol=1e-12)
        assert counts.tolist() == [each[1] for each in expected]


FORCED, AT_REST = np.array([1.5, 0.8, 1.1]), np.array([1.0, 0.0])


@pytest.mark.parametrize("end", [0.0, 0.01, 10.0])
def test_adaptive_steps_as_plain_python(end):
    found, accepted, rejected = dormand_prince.compiled(AT_REST, 0.0, end, FORCED)
    expected, *counts = dormand_prince.solve(AT_REST, 0.0, end, FORCED)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert [accepted, rejected] == counts
    assert (rejected > 0) is (end == 10.0)

    def slope(t, y):
        return [y[1], FORCED[0] * (1 - y[0] ** 2) * y[1] - y[0] + FORCED[1] * np.cos(FORCED[2] * t)]

    solution = solve_ivp(slope, (0, end), AT_REST, rtol=1e-12, atol=1e-12).y[:, -1]
    np.testing.assert_allclose(found, solution, rtol=1e-6)


@pytest.mark.parametrize("end", [0.0, 0.01, 10.0])
def test_gradient_through_adaptive_steps(end):
    observed = np.ones(2)
    found = dormand_prince.slope_of_misfit(FORCED, AT_REST, end, observed)
    expected = slopes_of(lambda p: dormand_prince.misfit(p, AT_REST, end, observed), FORCED)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


VAR = {
    "c": np.array([0.1, -0.2]),
    "a": np.array([[0.4, 0.1], [-0.2, 0.3]]),
    "b": np.array([[0.2, 0.0], [0.1, -0.1]]),
    "factor": np.array([[1.0, 0.0], [0.3, 0.8]]),
}


@pytest.mark.parametrize("length", [2, 3, 25])
def test_vector_autoregression(length):
    first, noise = RNG.normal(size=(2, 2)), RNG.normal(size=(length - 2, 2))
    y = autoregression.simulated(VAR, first, noise)
    np.testing.assert_allclose(y, autoregression.simulate(VAR, first, noise), rtol=1e-12)
    means = [VAR["c"] + VAR["a"] @ y[t - 1] + VAR["b"] @ y[t - 2] for t in range(2, length)]
    cov = VAR["factor"] @ VAR["factor"].T
    value, slopes = autoregression.fit(VAR, y)
    expected = sum(multivariate_normal(mean, cov).logpdf(each) for mean, each in zip(means, y[2:], strict=True))
    np.testing.assert_allclose(value, expected, rtol=1e-10)
    for name, slope in slopes.items():
        found = slopes_of(lambda each, name=name: autoregression.log_likelihood(VAR | {name: each}, y), VAR[name])
        np.testing.assert_allclose(slope, found, rtol=1e-6, atol=1e-6)
    for steps in (0, 1, 4):
        found = autoregression.expected(VAR, y, steps)
        np.testing.assert_allclose(found, autoregression.forecast(VAR, y, steps), rtol=1e-12)


@pytest.mark.parametrize("days", [0, 1, 40])
def test_epidemic(days):
    rates = np.array([0.5, 0.2, 0.6, 12.0])
    expected = epidemic.daily_cases(rates, 10.0, 1e4, days)
    np.testing.assert_allclose(epidemic.cases(rates, 10.0, 1e4, days), expected, rtol=1e-12)
    observed = RNG.poisson(expected)
    value, slopes = epidemic.fit(rates, 10.0, 1e4, observed)
    np.testing.assert_allclose(value, np.sum(poisson(expected).logpmf(observed)), rtol=1e-10)

    def likelihood(rates):
        return np.sum(poisson(epidemic.daily_cases(rates, 10.0, 1e4, days)).logpmf(observed))

    np.testing.assert_allclose(slopes, slopes_of(likelihood, rates), rtol=1e-5, atol=1e-4)


def segmentations(times, longest):
    """All ways to write a number as a sum of durations."""
    if not times:
        yield ()
    for first in range(1, min(times, longest) + 1):
        for rest in segmentations(times - first, longest):
            yield (first, *rest)


@pytest.mark.parametrize("times", [1, 2, 5])
def test_hidden_semi_markov_model(times):
    states, longest = 3, 4
    start, duration = np.log(RNG.dirichlet(np.ones(states))), np.log(RNG.dirichlet(np.ones(longest), size=states)).T
    moves = RNG.uniform(size=(states, states)) * (1 - np.eye(states))
    with np.errstate(divide="ignore"):
        transition = np.log(moves / moves.sum(axis=1, keepdims=True))
    emission = RNG.normal(size=(times, states))

    def enumerated(duration, emission):
        total = 0.0
        for durations in segmentations(times, longest):
            for path in itertools.product(range(states), repeat=len(durations)):
                weight, t = start[path[0]], 0
                weight += sum(transition[pair] for pair in itertools.pairwise(path))
                for state, d in zip(path, durations, strict=True):
                    weight += duration[d - 1, state] + np.sum(emission[t : t + d, state])
                    t += d
                total += np.exp(weight)
        return np.log(total)

    found = semi_markov.likelihood(start, transition, duration, emission)
    np.testing.assert_allclose(found, enumerated(duration, emission), rtol=1e-10)
    slopes = semi_markov.slopes(start, transition, duration, emission)
    expected = slopes_of(lambda each: enumerated(each, emission), duration)
    np.testing.assert_allclose(slopes[0], expected, rtol=1e-6, atol=1e-7)
    expected = slopes_of(lambda each: enumerated(duration, each), emission)
    np.testing.assert_allclose(slopes[1], expected, rtol=1e-6, atol=1e-7)

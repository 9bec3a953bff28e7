"""The examples of loops, against the same in plain NumPy."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from examples.loops import clusters, edit_distance, gillespie, hidden_markov, implicit, kalman, ode
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

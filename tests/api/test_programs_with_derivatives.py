"""Programs of people that take derivatives on their way, under one compilation, against derivatives by hand."""

import numpy as np
import pytest

import numbagraph as ng

RNG = np.random.default_rng(48)
DATA = RNG.normal(size=(12, 3))
LABELS = np.where(DATA @ [1.0, -2.0, 0.5] + RNG.normal(size=12) > 0, 1.0, -1.0)
START = np.array([0.3, -0.2, 0.1])
COUPLING = np.array([[1.5, 0.4, 0.0], [0.4, 1.0, -0.3], [0.0, -0.3, 0.8]])

each_backend = pytest.mark.parametrize("backend", ["numba", "numpy"])


def near(found, expected, rtol=1e-9):
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-11)


# ---- a loss and its derivatives by hand ----


def loss(w, x, y):
    return np.mean(np.log1p(np.exp(-y * (x @ w)))) + 0.05 * np.sum(w**2)


def slope(w, x, y):
    return -x.T @ (y / (1 + np.exp(y * (x @ w)))) / len(y) + 0.1 * w


def curvature(w, x, y):
    p = 1 / (1 + np.exp(-y * (x @ w)))
    return (x.T * (p * (1 - p))) @ x / len(y) + 0.1 * np.eye(len(w))


# ---- optimisers ----


def test_two_steps_of_descent():
    @ng.graph_jit
    def descended(w, x, y, rate):
        for _ in range(2):
            w = w - rate * ng.grad(loss)(w, x, y)
        return w

    @ng.graph_jit
    def by_hand(w, x, y, rate):
        g = ng.grad(loss)
        first = w - rate * g(w, x, y)
        return first - rate * g(first, x, y)

    first = START - 0.7 * slope(START, DATA, LABELS)
    expected = first - 0.7 * slope(first, DATA, LABELS)
    near(descended(START, DATA, LABELS, 0.7), expected)
    near(by_hand(START, DATA, LABELS, 0.7), expected)


@each_backend
@pytest.mark.parametrize("momentum", [0.0, 0.8])
def test_descent(backend, momentum):
    def descent(w, x, y, steps, derivative):
        velocity, losses = np.zeros_like(w), np.zeros(steps)
        for k in range(steps):
            losses[k], g = derivative(w, x, y)
            velocity = momentum * velocity - 0.5 * g
            w = w + velocity
        return w, losses

    compiled = ng.graph_jit(lambda w, x, y, steps: descent(w, x, y, steps, ng.value_and_grad(loss)), backend=backend)
    for steps in (0, 1, 9):
        expected = descent(START, DATA, LABELS, steps, lambda *at: (loss(*at), slope(*at)))
        for each, other in zip(compiled(START, DATA, LABELS, steps), expected, strict=True):
            near(each, other)


@each_backend
def test_newton(backend):
    def newton(w, x, y, tolerance, derivative, second):
        g, steps = derivative(w, x, y), 0
        while np.sqrt(g @ g) > tolerance and steps < 20:
            w = w - np.linalg.solve(second(w, x, y), g)
            g = derivative(w, x, y)
            steps += 1
        return w, steps

    def program(w, x, y, tolerance):
        return newton(w, x, y, tolerance, ng.grad(loss), ng.hessian(loss))

    compiled = ng.graph_jit(program, backend=backend)
    for tolerance in (10.0, 1e-2, 1e-8):
        found = compiled(START, DATA, LABELS, tolerance)
        expected = newton(START, DATA, LABELS, tolerance, slope, curvature)
        near(found[0], expected[0])
        assert found[1] == expected[1]


def rosenbrock(x):
    return np.sum(10.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_slope(x):
    g = np.zeros_like(x)
    g[1:] += 20.0 * (x[1:] - x[:-1] ** 2)
    g[:-1] -= 40.0 * x[:-1] * (x[1:] - x[:-1] ** 2) + 2 * (1 - x[:-1])
    return g


@each_backend
def test_bfgs(backend):
    def bfgs(x, steps, f, derivative):
        inverse, one = np.eye(len(x)), np.eye(len(x))
        g = derivative(x)
        for _ in range(steps):
            direction = -inverse @ g
            t, value = 1.0, f(x)
            while f(x + t * direction) > value + 1e-4 * t * (g @ direction):
                t = 0.5 * t
            s = t * direction
            after = derivative(x + s)
            change = after - g
            scale = 1.0 / (s @ change)
            left = one - scale * np.outer(s, change)
            inverse = left @ inverse @ left.T + scale * np.outer(s, s)
            x, g = x + s, after
        return x, g

    compiled = ng.graph_jit(lambda x, steps: bfgs(x, steps, rosenbrock, ng.grad(rosenbrock)), backend=backend)
    for steps in (1, 6):
        found, expected = compiled(START, steps), bfgs(START, steps, rosenbrock, rosenbrock_slope)
        near(found[0], expected[0], 1e-7)
        near(found[1], expected[1], 1e-6)


# ---- samplers ----


def log_density(x):
    return -0.5 * x @ COUPLING @ x - 0.1 * np.sum(x**4)


def log_density_slope(x):
    return -COUPLING @ x - 0.4 * x**3


@each_backend
def test_hamiltonian_monte_carlo(backend):
    def sampled(rng, x, draws, leaps, step, both):
        kept = np.zeros((draws, len(x)))
        value, g = both(x)
        for k in range(draws):
            momentum = rng.normal(size=len(x))
            at, p, new, slope_there = x, momentum, value, g
            for _ in range(leaps):
                p = p + 0.5 * step * slope_there
                at = at + step * p
                new, slope_there = both(at)
                p = p + 0.5 * step * slope_there
            if np.log(rng.uniform()) < new - value - 0.5 * (p @ p - momentum @ momentum):
                x, value, g = at, new, slope_there
            kept[k] = x
        return kept

    def program(rng, x, draws, leaps, step):
        return sampled(rng, x, draws, leaps, step, ng.value_and_grad(log_density))

    compiled = ng.graph_jit(program, backend=backend)
    for leaps in (1, 5):
        found = compiled(np.random.default_rng(leaps), START, 8, leaps, 0.3)
        both = lambda x: (log_density(x), log_density_slope(x))  # noqa: E731
        expected = sampled(np.random.default_rng(leaps), START, 8, leaps, 0.3, both)
        near(found, expected)
        assert len(np.unique(expected[:, 0])) > 3


@each_backend
def test_metropolis_adjusted_langevin(backend):
    def sampled(rng, x, step, derivative):
        kept = []
        for _ in range(12):
            mean = x + step * derivative(x)
            new = mean + np.sqrt(2 * step) * rng.normal(size=len(x))
            back = new + step * derivative(new)
            forth, again = np.sum((new - mean) ** 2), np.sum((x - back) ** 2)
            accepted = np.log(rng.uniform()) < log_density(new) - log_density(x) + (forth - again) / (4 * step)
            x = np.where(accepted, new, x)
            kept.append(x)
        return np.stack(kept)

    compiled = ng.graph_jit(lambda rng, x, step: sampled(rng, x, step, ng.grad(log_density)), backend=backend)
    found = compiled(np.random.default_rng(3), START, 0.2)
    near(found, sampled(np.random.default_rng(3), START, 0.2, log_density_slope))


# ---- mechanics ----


@each_backend
def test_verlet(backend):
    """Particles that repel each other in a trap, by a potential of all of them."""

    def potential(x):
        apart = x[:, None, :] - x[None, :, :]
        return 0.5 * np.sum(x**2) + 0.5 * np.sum(np.exp(-np.sum(apart**2, axis=-1)))

    def force(x):
        apart = x[:, None, :] - x[None, :, :]
        return -x + 2 * np.sum(apart * np.exp(-np.sum(apart**2, axis=-1))[:, :, None], axis=1)

    def path(x, v, steps, h, force):
        a = force(x)
        visited = np.zeros((steps, *x.shape))
        for k in range(steps):
            x = x + h * v + 0.5 * h * h * a
            after = force(x)
            v = v + 0.5 * h * (a + after)
            a = after
            visited[k] = x
        return visited, v

    x, v = RNG.normal(size=(2, 4, 2))
    down = ng.grad(potential)
    compiled = ng.graph_jit(lambda x, v, n, h: path(x, v, n, h, lambda at: -down(at)), backend=backend)
    for steps in (0, 7):
        for found, expected in zip(compiled(x, v, steps, 0.05), path(x, v, steps, 0.05, force), strict=True):
            near(found, expected)


MASSES = (1.0, 0.7, 1.2, 0.9, 9.81)


def lagrangian(q, v):
    m1, m2, l1, l2, g = MASSES
    still = (m1 + m2) * g * l1 * np.cos(q[0]) + m2 * g * l2 * np.cos(q[1])
    cross = m2 * l1 * l2 * v[0] * v[1] * np.cos(q[0] - q[1])
    return 0.5 * (m1 + m2) * (l1 * v[0]) ** 2 + 0.5 * m2 * (l2 * v[1]) ** 2 + cross + still


def by_euler_and_lagrange(q, v):
    mass = ng.hessian(lagrangian, argnums=1)(q, v)
    mixed = ng.jacfwd(ng.grad(lagrangian, argnums=1), argnums=0)(q, v)
    return np.linalg.solve(mass, ng.grad(lagrangian)(q, v) - mixed @ v)


def double_pendulum(q, v):
    m1, m2, l1, l2, g = MASSES
    c, s = m2 * l1 * l2 * np.cos(q[0] - q[1]), m2 * l1 * l2 * np.sin(q[0] - q[1])
    mass = np.array([[(m1 + m2) * l1**2, c], [c, m2 * l2**2]])
    return np.linalg.solve(
        mass, [-s * v[1] ** 2 - (m1 + m2) * g * l1 * np.sin(q[0]), s * v[0] ** 2 - m2 * g * l2 * np.sin(q[1])]
    )


@each_backend
def test_lagrangian_mechanics(backend):
    def path(q, v, steps, h, acceleration):
        for _ in range(steps):
            k1, l1 = v, acceleration(q, v)
            k2, l2 = v + 0.5 * h * l1, acceleration(q + 0.5 * h * k1, v + 0.5 * h * l1)
            k3, l3 = v + 0.5 * h * l2, acceleration(q + 0.5 * h * k2, v + 0.5 * h * l2)
            k4, l4 = v + h * l3, acceleration(q + h * k3, v + h * l3)
            q, v = q + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6, v + h * (l1 + 2 * l2 + 2 * l3 + l4) / 6
        return q, v

    compiled = ng.graph_jit(lambda q, v, n, h: path(q, v, n, h, by_euler_and_lagrange), backend=backend)
    q, v = np.array([1.2, -0.4]), np.array([0.3, 0.1])
    for steps in (1, 10):
        for found, expected in zip(compiled(q, v, steps, 0.02), path(q, v, steps, 0.02, double_pendulum), strict=True):
            near(found, expected)


# ---- derivatives of programs with derivatives ----


@each_backend
@pytest.mark.parametrize("length", ["constant", "traced"])
def test_hypergradients(backend, length):
    """The derivative of a loss by the rate of the descent on another one, through all steps."""
    train, valid = (DATA[:8], LABELS[:8]), (DATA[8:], LABELS[8:])

    def validated(rate, w, steps):
        for _ in range(5 if length == "constant" else steps):
            w = w - rate * ng.grad(loss)(w, *train)
        return loss(w, *valid)

    w, along = START, np.zeros(3)
    for _ in range(5):
        g = slope(w, *train)
        along = along - g - 0.4 * curvature(w, *train) @ along
        w = w - 0.4 * g
    expected = slope(w, *valid) @ along
    value, reverse = ng.graph_jit(ng.value_and_grad(validated), backend=backend)(0.4, START, 5)
    near(value, loss(w, *valid))
    near(reverse, expected)

    def forward(rate, w, steps):
        return ng.jvp(lambda r: validated(r, w, steps), (rate,), (1.0,))[1]

    near(ng.graph_jit(forward, backend=backend)(0.4, START, 5), expected)


@each_backend
def test_an_implicit_layer(backend):
    """The fixed point of a layer, whose derivative is the solution of a linear equation."""

    def layer(z, weights, x):
        return np.tanh(weights @ z + x)

    @ng.custom_vjp
    def settled(weights, x):
        z, change = np.zeros_like(x), 1.0
        while change > 1e-13:
            new = layer(z, weights, x)
            change = np.max(np.abs(new - z))
            z = new
        return z

    def forward(weights, x):
        z = settled(weights, x)
        return z, (z, weights, x)

    def backward(kept, g):
        z, weights, x = kept
        around = ng.jacrev(layer)(z, weights, x)
        u = np.linalg.solve(np.eye(len(z)) - around.T, g)
        return ng.vjp(lambda weights, x: layer(z, weights, x), weights, x)[1](u)

    settled.defvjp(forward, backward)
    weights, aim = 0.3 * RNG.normal(size=(3, 3)), np.array([0.2, -0.1, 0.4])

    def trained(weights, x, steps):
        for _ in range(steps):
            by_weights, by_x = ng.grad(lambda weights, x: np.sum((settled(weights, x) - aim) ** 2), (0, 1))(weights, x)
            weights, x = weights - 0.1 * by_weights, x - 0.1 * by_x
        return weights, x

    found = ng.graph_jit(trained, backend=backend)(weights, START, 3)
    x = START
    for _ in range(3):
        z = np.zeros(3)
        for _ in range(200):
            z = layer(z, weights, x)
        scaled = np.diag(1 - z**2)
        u = scaled @ np.linalg.solve((np.eye(3) - scaled @ weights).T, 2 * (z - aim))
        weights, x = weights - 0.1 * np.outer(u, z), x - 0.1 * u
    near(found[0], weights)
    near(found[1], x)


@each_backend
def test_meta_learning(backend):
    """The gradient of the loss after a step for each task, over a batch of tasks, in a descent of its own."""
    tasks = RNG.normal(size=(4, 10, 3))
    labels = np.where(RNG.normal(size=(4, 10)) > 0, 1.0, -1.0)

    def after_a_step(w, x, y):
        adapted = w - 0.5 * ng.grad(loss)(w, x[:5], y[:5])
        return loss(adapted, x[5:], y[5:])

    def learnt(w, tasks, labels, steps):
        def total(w):
            return np.mean(ng.vmap(after_a_step, in_axes=(None, 0, 0))(w, tasks, labels))

        for _ in range(steps):
            w = w - 0.3 * ng.grad(total)(w)
        return w

    found = ng.graph_jit(learnt, backend=backend)(START, tasks, labels, 3)
    w = START
    for _ in range(3):
        total = np.zeros(3)
        for x, y in zip(tasks, labels, strict=True):
            adapted = w - 0.5 * slope(w, x[:5], y[:5])
            total += (np.eye(3) - 0.5 * curvature(w, x[:5], y[:5])) @ slope(adapted, x[5:], y[5:])
        w = w - 0.3 * total / len(tasks)
    near(found, w)

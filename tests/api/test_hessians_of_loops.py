"""Second derivatives of while loops whose steps are loops."""

import numpy as np
import pytest

from numbagraph import custom_vjp, grad, graph_jit, hessian, jacrev, scan, while_loop

A = np.array([[0.3, 0.1], [0.2, 0.4]])
XS = np.array([[0.3, -0.1], [0.5, 0.2], [-0.4, 0.1]])


def rows(h, x):
    """A scan that reads rows, and adds up what the captured argument gives."""
    return scan(lambda c, row: ((np.tanh(A @ c[0] + x * row), c[1] + c[0] * x), None), (h, h * 0), XS)[0]


STEPS = {
    "a recurrence": lambda h, x: scan(lambda c, _: (np.tanh(A @ c + x), None), h, None, length=3)[0],
    "rows and a sum": lambda h, x: rows(h, x)[0] * 0.5 + rows(h, x)[1] * 0.1,
    "what is stacked": lambda h, x: np.sum(scan(lambda c, row: (c * row + x, c * x), h, XS, reverse=True)[1], axis=0),
}


def plainly(name, h, x):
    """A step, by Python's loops."""
    match name:
        case "a recurrence":
            for _ in range(3):
                h = np.tanh(A @ h + x)
            return h
        case "rows and a sum":
            c, total = h, h * 0
            for row in XS:
                c, total = np.tanh(A @ c + x * row), total + c * x
            return c * 0.5 + total * 0.1
        case _:
            total = h * 0
            for row in XS[::-1]:
                h, total = h * row + x, total + h * x
            return total


@pytest.mark.parametrize(
    "name", [name if name == "a recurrence" else pytest.param(name, marks=pytest.mark.repeats) for name in STEPS]
)
def test_hessian_of_a_while_loop_with_scans_in_its_step(name):
    def value(x):
        state = while_loop(lambda c: c[1] < 3, lambda c: (STEPS[name](c[0], x), c[1] + 1), (x, 0))
        return np.sum(state[0] ** 2)

    def plain(x):
        h = x
        for _ in range(3):
            h = plainly(name, h, x)
        return np.sum(h**2)

    def slope(x, index):
        return plain(x + 1e-30j * np.eye(2)[index]).imag / 1e-30

    x, h = np.array([0.3, -0.2]), 1e-5
    expected = [[(slope(x + h * e, i) - slope(x - h * e, i)) / (2 * h) for e in np.eye(2)] for i in range(2)]
    np.testing.assert_allclose(graph_jit(hessian(value))(x), expected, rtol=1e-7, atol=1e-9)


def in_a_scan(h, x):
    """A scan of scans."""
    return scan(lambda c, row: (scan(lambda d, _: (np.sin(d + x), None), c * row, None, length=2)[0], None), h, XS)[0]


def of_scans_that_add_up(h, x):
    """What inner loops stack is summed, and what they carry depends on what the outer one reads."""

    def outer(c, row):
        last, before = scan(lambda d, each: (d * np.cos(each * row[0]), d), c, x)
        return last + row[1], before.sum(axis=0)

    last, sums = scan(outer, h, XS)
    return h * 0.9 + last * 0.1 + sums.sum(axis=0) * 0.01


def elimination(h, x):
    """Loops whose lengths change from step to step, which write into an array."""
    m = np.outer(h, x) + np.eye(len(x))
    for k in range(len(x)):
        for i in range(k + 1, len(x)):
            factor = m[i, k] / m[k, k]
            for j in range(k, len(x)):
                m[i, j] = m[i, j] - factor * m[k, j]
    return np.sum(m, axis=0)


@pytest.mark.parametrize(
    "step",
    [in_a_scan, *(pytest.param(each, marks=pytest.mark.repeats) for each in (of_scans_that_add_up, elimination))],
)
def test_hessian_of_a_while_loop_with_loops_in_loops_in_its_step(step):
    def value(x):
        return np.sum(while_loop(lambda c: c[1] < 3, lambda c: (step(c[0], x), c[1] + 1), (x, 0))[0] ** 2)

    x, h = np.array([0.3, -0.2]), 1e-6
    slope = graph_jit(grad(value))
    expected = np.stack([(slope(x + h * e) - slope(x - h * e)) / (2 * h) for e in np.eye(2)])
    values = graph_jit(value)
    differences = [(values(x + h * e) - values(x - h * e)) / (2 * h) for e in np.eye(2)]
    np.testing.assert_allclose(slope(x), differences, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(graph_jit(hessian(value))(x), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(graph_jit(jacrev(grad(value)))(x), expected, rtol=1e-6, atol=1e-8)


def test_a_while_loop_around_a_loop_of_numbers():
    def value(x):
        s, k = x[0], 0
        while s < 20.0 and k < 50:
            for each in x:
                s = s + each * np.sqrt(s)
            k += 1
        return s

    x, h = np.linspace(0.2, 0.9, 5), 1e-30j
    slope = graph_jit(grad(value))
    found = graph_jit(hessian(value))(x)
    for place, e in enumerate(np.eye(5)):
        np.testing.assert_allclose(slope(x)[place], value_at(x + h * e).imag / 1e-30, rtol=1e-12)
        difference = (slope(x + 1e-6 * e) - slope(x - 1e-6 * e)) / 2e-6
        np.testing.assert_allclose(found[place], difference, rtol=1e-7)


def value_at(x):
    """The same by Python, of complex numbers."""
    s, k = x[0], 0
    while s.real < 20.0 and k < 50:
        for each in x:
            s = s + each * np.sqrt(s)
        k += 1
    return s


def test_of_rules_that_are_not_linear_the_other_way_is_named():
    @custom_vjp
    def doubled(x):
        return 2 * x

    doubled.defvjp(lambda x: (2 * x, x), lambda x, g: (2 * g * np.abs(g),))

    def value(x):
        def step(h):
            return scan(lambda c, _: (doubled(np.sin(c)), None), h, None, length=2)[0]

        return np.sum(while_loop(lambda c: c[1] < 3, lambda c: (step(c[0]), c[1] + 1), (x, 0))[0])

    with pytest.raises(NotImplementedError, match=r"Take jacrev\(grad\(f\)\)"):
        graph_jit(hessian(value))(np.ones(2))


def test_of_a_loop_that_writes_what_it_adds_up():
    def value(p, xs):
        total, ys = 0.0, np.zeros(len(xs))
        for i in range(len(xs)):
            total = total * p[0] + xs[i] * p[1]
            ys[i] = np.log1p(total**2)
        return np.sum(ys)

    p, xs, h = np.array([0.2, 0.1]), np.linspace(-1, 2, 7), 1e-6
    slope = graph_jit(grad(value))
    differences = [(value(p + h * e, xs) - value(p - h * e, xs)) / (2 * h) for e in np.eye(2)]
    np.testing.assert_allclose(slope(p, xs), differences, rtol=1e-7)
    expected = [(slope(p + h * e, xs) - slope(p - h * e, xs)) / (2 * h) for e in np.eye(2)]
    np.testing.assert_allclose(graph_jit(hessian(value))(p, xs), expected, rtol=1e-7)

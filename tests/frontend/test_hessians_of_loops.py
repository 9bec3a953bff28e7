"""Second derivatives of while loops whose steps are loops."""

import numpy as np
import pytest

from numbagraph import graph_jit, hessian, scan, while_loop

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


def test_of_scans_in_scans_the_other_way_is_named():
    def step(h, x):
        return scan(lambda c, row: (scan(lambda d, _: (np.sin(d + x), None), c * row, None, length=2)[0], None), h, XS)[
            0
        ]

    def value(x):
        return np.sum(while_loop(lambda c: c[1] < 3, lambda c: (step(c[0], x), c[1] + 1), (x, 0))[0])

    with pytest.raises(NotImplementedError, match=r"take jacrev\(grad\(f\)\)"):
        graph_jit(hessian(value))(np.ones(2))

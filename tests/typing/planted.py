"""Mistakes that type checkers find, each in a line that says `wrong`, among lines that are right.

This file is read by pyright and mypy, and never run: `test_types.py` compares what they report with the marks.
"""

import numpy as np

import numbagraph as ng
from numbagraph import fft, grad, graph_jit, gufunc, hessian, jacfwd, jacrev, linalg, special, value_and_grad, vmap

Array = np.ndarray


@graph_jit
def scaled(x: Array, factor: float = 1.0) -> Array:
    return x * factor


@graph_jit(parallel=True, static_argnames="count", debug_nans="inf")
def repeated(x: Array, count: int) -> float:
    return float(np.sum(x) * count)


@value_and_grad
def loss(w: Array, y: Array) -> float:
    return float(np.sum((w - y) ** 2))


class Model:
    def __init__(self, data: Array) -> None:
        self.data = data

    @graph_jit
    def logp(self, mu: float) -> float:
        return float(np.sum(self.data - mu))

    @graph_jit(backend="numpy")
    def shifted(self, x: Array, by: float) -> Array:
        return x + by


@gufunc("(n)->()", parallel=True)
def mean(x: Array) -> np.floating:
    return np.mean(x)


class Energy:
    @grad
    def force(self, x: Array) -> float:
        return float(np.sum(x**2))


@ng.custom_vjp
def clipped(x: Array) -> Array:
    return np.clip(x, 0.0, 1.0)


x = np.ones(3)
model = Model(x)

# What is right.
first: Array = scaled(x, 2.0)
second: Array = scaled(x, factor=2.0)
third: Array = scaled(x, out=np.empty(3))
fourth: float = repeated(x, 3)
fifth: float = model.logp(1.0)
sixth: Array = model.shifted(x, by=1.0)
seventh: Array = clipped(x)
value, gradient = loss(x, x)
print(grad(scaled)(x), vmap(scaled)(x, 2.0), hessian(scaled)(x), jacrev(scaled)(x), jacfwd(scaled)(x))
print(mean(x, axis=0), mean(x, keepdims=True))
print(linalg.cholesky(x), linalg.solve_triangular(x, x, lower=True), special.softmax(x, axis=0), fft.rfft(x))
print(scaled.explain(x), scaled.graph(x), scaled.cache_info(), graph_jit(np.sin)(x), vmap(np.sin)(x))
print(ng.numpy.zeros(3), ng.numpy.float64, ng.numpy.pi, ng.linalg.LinAlgError, ng.fft.fftfreq(3))

print(Energy().force(x), grad(scaled).explain(x), grad(scaled).cache_info())

# Arguments.
scaled(x, 2.0, 3.0)  # wrong: one too many
scaled()  # wrong: one too few
scaled(x, factr=2.0)  # wrong: no such argument
scaled("x")  # wrong: of another type
loss(x)  # wrong: one too few
grad(scaled)(x, 1.0, 2.0)  # wrong: one too many
vmap(scaled)(x, 1.0, 2.0)  # wrong: one too many
hessian(scaled)()  # wrong: one too few
jacrev(scaled)(x, factr=2.0)  # wrong: no such argument
jacfwd(scaled)(x, 1.0, 2.0)  # wrong: one too many
graph_jit(grad(scaled))(x, 1.0, 2.0)  # wrong: one too many
clipped(x, 0.0)  # wrong: one too many

# Methods.
model.logp()  # wrong: one too few
model.logp(1.0, 2.0)  # wrong: one too many
model.shifted(x, off=1.0)  # wrong: no such argument
Energy().force(x, x)  # wrong: one too many
grad(scaled).explian(x)  # wrong: misspelt
model.lopg(1.0)  # wrong: misspelt

# Options.
graph_jit(scaled, bakend="numba")  # wrong: misspelt
graph_jit(paralel=True)  # wrong: misspelt
graph_jit(backend="cuda")  # wrong: no such backend
graph_jit(static_argnames=1)  # wrong: a position
grad(scaled, argnum=0)  # wrong: misspelt
value_and_grad(scaled, has_aux="yes")  # wrong: of another type
vmap(scaled, in_axis=0)  # wrong: misspelt
vmap(scaled, axis_size="3")  # wrong: of another type
gufunc("(n)->()", paralel=True)  # wrong: misspelt
gufunc("(n)->()", mutates="x")  # wrong: a gufunc writes into nothing
mean(x, axs=0)  # wrong: misspelt

# Names.
linalg.choleski(x)  # wrong: misspelt
special.soft_max(x)  # wrong: misspelt
fft.rfft3(x)  # wrong: misspelt
ng.numpy.zeroes(3)  # wrong: misspelt
ng.value_and_gard(scaled)  # wrong: misspelt
scaled.explian(x)  # wrong: misspelt
linalg.cholesky(x, x)  # wrong: one too many
fft.rfft(x, axes=0)  # wrong: no such argument
special.softmax(x, axes=0)  # wrong: no such argument

# Results.
eighth: str = repeated(x, 3)  # wrong: a number
ninth: int = scaled(x)  # wrong: an array

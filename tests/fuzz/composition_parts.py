"""The parts of programs that take derivatives inside of other code: points, functions, transformations and places.

Each is source text, in which ``np``, ``special`` and ``ng`` are those of numbagraph, of JAX, or of differences.
"""

from __future__ import annotations

POINTS = {
    "argument": "p = y",
    "times one": "p = y * 1.0",
    "one times": "p = 1.0 * y",
    "plus zero": "p = y + 0.0",
    "divided by one": "p = y / 1.0",
    "to the first": "p = y**1",
    "negative twice": "p = -(-y)",
    "there and back": "p = np.log(np.exp(y))",
    "back and there": "p = np.exp(np.log(y * y + 0.2)) - 0.3",
    "root of a square": "p = np.sqrt(y * y)",
    "cancelled": "p = y * y / y",
    "added and taken": "p = y + y - y",
    "doubled": "p = y + y",
    "copy": "p = y.copy()",
    "centred": "p = y - y.mean()",
    "normalised": "p = y / np.sum(np.exp(y))",
    "softmax": "p = np.exp(y) / np.sum(np.exp(y))",
    "sorted": "p = np.sort(y)",
    "sorted by positions": "p = y[np.argsort(y)]",
    "reversed": "p = y[::-1]",
    "reversed twice": "p = y[::-1][::-1]",
    "gathered": "p = y[np.argsort(np.cos(3.0 * y))]",
    "joined": "p = np.concatenate([y[1:], y[:1]])",
    "reshaped": "p = np.reshape(np.reshape(y, (1, len(y))), (len(y),))",
    "transposed": "p = np.outer(y, y).T[0]",
    "diagonal": "p = np.diagonal(np.outer(y, w))",
    "cumulated": "p = np.cumsum(y)",
    "chosen": "p = np.where(y > 0.1, y, 0.5 * y)",
    "chosen from equals": "p = np.where(y > 0.1, y, y)",
    "clipped": "p = np.clip(y, -50.0, 50.0)",
    "larger of equals": "p = np.maximum(y, y)",
    "repeated": "p = np.broadcast_to(y[0], y.shape)",
    "filled": "p = np.full(y.shape, y[0] * y[-1])",
    "product": "p = a @ y",
    "product with one": "p = np.eye(len(y)) @ y",
    "product with an inverse": "p = np.linalg.inv(a) @ y",
    "solution": "p = np.linalg.solve(a, y)",
    "solution of a product": "p = np.linalg.solve(a, a @ y)",
    "transposed twice": "p = (y.T @ a.T).T",
    "whole": "p = np.floor(4.0 * y) * 0.3",
    "truncated": "p = (4.0 * y).astype(int) * 0.3",
    "of positions": "p = np.arange(len(y)) * 0.5",
    "of a length": "p = y * len(y)",
    "of an integer": "p = y * n",
    "zeros": "p = np.zeros(y.shape)",
    "ones": "p = np.ones_like(y)",
    "constant": "p = CONSTANT[: len(y)]",
    "zero times": "p = 0.0 * y + 0.4",
    "stopped": "p = ng.stop_gradient(y) * 2.0",
    "called back": "p = host(y)",
    "of a value": "p = y - 0.1 * f(y)",
    "of a derivative": "p = y - 0.1 * ng.grad(f)(y)",
    "of a derivative again": "p = y - 0.1 * ng.grad(f)(y); p = p - 0.1 * ng.grad(f)(p)",
    "of a hessian": "p = y - 0.1 * ng.hessian(f)(y) @ w",
    "of a Newton step": "p = y - np.linalg.solve(ng.hessian(f)(y) + 20.0 * np.eye(len(y)), ng.grad(f)(y))",
    "of a pullback": "p = ng.vjp(F, y)[1](w)[0] * 1.0",
    "of a tangent": "p = y + 0.1 * ng.jvp(F, (y,), (w,))[1]",
    "of a batch": "p = ng.vmap(lambda t: t * 1.0)(y)",
    "of a checkpoint": "p = ng.checkpoint(lambda t: np.sin(t) * 1.0)(y)",
    "of a loop": "p = y\nfor i in range(3):\n    p = p * 0.8",
    "of a loop of a traced length": "p = y\nfor i in range(n):\n    p = p * 0.8 + 0.1",
    "of a while": "p, i = y, 0.0\nwhile i < n:\n    i, p = i + 1.0, p * 0.5",
    "of a scan": "p, _ = ng.scan(lambda c, t: (c * 0.7 + t, t), y, w)",
    "of a fori_loop": "p = ng.fori_loop(0, n, lambda i, c: c * 0.7 + 0.1, y)",
    "of a while_loop": "_, p = ng.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] * 0.6), (0, y))",
    "of a branch": "p = 0.5 * y\nif n > 1:\n    p = 2.0 * y",
    "of a cond": "p = ng.cond(n > 1, lambda t: 0.5 * t, lambda t: 2.0 * t, y)",
}
"""Statements that compute a point ``p`` of the vector ``y``, by kind."""

FUNCTIONS = {
    "square": ("np.sum((z - 1.0) ** 2)", "(z - 1.0) ** 2"),
    "sine": ("np.sum(np.sin(z) * w)", "np.sin(z) * w"),
    "cube": ("np.sum(z**3) * w[0]", "z**3 + z[0]"),
    "product": ("np.prod(np.cos(z))", "np.cos(z) * np.sum(z * w)"),
    "form": ("z @ a @ z", "a @ np.sin(z)"),
    "solution": ("np.sum(np.linalg.solve(a + np.outer(z, z), w))", "np.linalg.solve(a, z * z)"),
    "logarithm": ("np.log(np.sum(np.exp(z)))", "np.exp(z) / np.sum(np.exp(z))"),
    "logarithm of one": ("np.sum(np.log1p(np.exp(z)))", "np.log1p(np.exp(z))"),
    "closed over": ("np.sum(np.sin(z) * x * y)", "z * z * y + x"),
    "choice": ("np.sum(np.where(z > 0.07, z * z, 0.1 * z))", "np.where(z > 0.07, z * z, 0.1 * z)"),
    "cumulated": ("np.sum(np.cumsum(z) ** 2)", "np.cumsum(np.sin(z))"),
    "norm": ("np.sqrt(np.sum(z * z) + 0.1)", "z / np.sqrt(np.sum(z * z) + 0.1)"),
    "loop": ("np.sum(looped(z) * w)", "looped(z)"),
    "loop of a traced length": ("np.sum(traced(z) * w)", "traced(z)"),
    "while": ("np.sum(ended(z) * w)", "ended(z)"),
    "scan": ("np.sum(ng.scan(lambda c, t: (np.sin(c) + t, t), z, w)[0])", "ng.scan(scanned, z, w)[0]"),
    "branch": ("np.sum(branched(z))", "branched(z)"),
    "checkpoint": ("ng.checkpoint(lambda t: np.sum(np.sin(t) ** 2))(z)", "ng.checkpoint(np.sin)(z)"),
    "batch": ("np.sum(ng.vmap(lambda t: np.sin(t) * t)(z))", "ng.vmap(lambda t: np.sin(t) * t)(z)"),
    "callback": ("np.sum(host(z) * w)", "host(z) * w"),
    "derivative": ("np.sum(np.sin(ng.grad(lambda t: np.sum(t**3))(z)))", "ng.grad(lambda t: np.sum(t**3) * w[0])(z)"),
}
"""What is differentiated: a number and a vector that follow from the vector ``z``, by kind."""

HELPERS = {
    "looped": "for _ in range(2):\n    z = np.sin(z) + 0.3 * z[::-1]\nreturn z",
    "traced": "for _ in range(n):\n    z = np.sin(z) + 0.3 * z[::-1]\nreturn z",
    "ended": "i = 0\nwhile i < n:\n    i, z = i + 1, 0.9 * z * z + 0.1\nreturn z",
    "branched": "if n > 1:\n    return np.sin(z) * z\nreturn z**3",
}
"""Functions of ``z`` with statements, which those call."""

FIXED = """def step(u, t):
    return 0.05 * np.sin(u) + 0.02 * u[::-1] + np.sin(t)
def solve(t):
    u = 0.0 * t
    for _ in range(11):
        u = step(u, t)
    return u
def forward(t):
    u = solve(t)
    return u, (u, t)
def backward(kept, g):
    u, t = kept
    slope = ng.jacrev(lambda v: step(v, t))(u)
    return (ng.vjp(lambda s: step(u, s), t)[1](np.linalg.solve(np.eye(len(u)) - slope.T, g))[0],)
fixed = ng.custom_vjp(solve)
fixed.defvjp(forward, backward)
r = ng.grad(lambda t: np.sum(F(fixed(t)) * w))(p)"""
"""A function whose value solves an equation, and the derivative that the equation has."""

RULE = """def forward(z):
    return f(z), z
def backward(z, g):
    return (g * ng.grad(f)(z * 1.0),)
ruled = ng.custom_vjp(f)
ruled.defvjp(forward, backward)
r = ng.grad(ruled)(p)"""

TRANSFORMATIONS = {
    "grad": (1, "r = ng.grad(f)(p)"),
    "grad of several": (1, "q, r = ng.grad(lambda z, u: f(z) + np.sum(F(u) * z), argnums=(0, 1))(p, p)\nr = q + r"),
    "grad with more": (1, "r, more = ng.grad(lambda z: (f(z), F(z)), has_aux=True)(p)\nr = r * more"),
    "value_and_grad": (1, "v, r = ng.value_and_grad(f)(p)\nr = r * v"),
    "vjp": (1, "v, pull = ng.vjp(F, p)\n(r,) = pull(w * v)"),
    "jvp": (1, "v, r = ng.jvp(F, (p,), (w,))\nr = r * v"),
    "jvp along the point": (1, "_, r = ng.jvp(F, (p,), (p,))"),
    "jacfwd": (1, "r = ng.jacfwd(F)(p) @ w"),
    "jacrev": (1, "r = w @ ng.jacrev(F)(p)"),
    "hessian": (2, "r = ng.hessian(f)(p) @ w"),
    "vmap": (1, "r = np.sum(ng.vmap(ng.grad(f))(np.stack([p, w, p])), axis=0)"),
    "vmap of numbers": (1, "r = ng.vmap(ng.grad(lambda t: np.sum(F(t * w))))(p)"),
    "checkpoint": (1, "r = ng.grad(ng.checkpoint(f))(p)"),
    "custom_vjp": (1, RULE),
    "implicit": (1, FIXED),
}
"""How often each differentiates, and how it makes a vector ``r`` of ``f`` and ``F`` at ``p``."""

RULED_PLACE = """def forward(t):
    return d(t), t
def backward(t, g):
    return (ng.vjp(d, t)[1](g)[0],)
ruled = ng.custom_vjp(d)
ruled.defvjp(forward, backward)
v, pull = ng.vjp(ruled, x)
return v + pull(w)[0]"""

WHILE = """t, i = x, 0
while i < 3 and np.sum(t * t) > 0.3:
    i, t = i + 1, 0.8 * t - 0.1 * d(t)
return t"""

DESCENDED = """def descended(t):
    for _ in range(n):
        t = t - 0.1 * d(t)
    return np.sum(t * w)
return ng.grad(descended)(x)"""

PLACES = {
    "plain": (0, "return d(x)"),
    "loop": (0, "t = x\nfor _ in range(2):\n    t = t - 0.1 * d(t)\nreturn t"),
    "loop of a traced length": (0, "t = x\nfor _ in range(n):\n    t = t - 0.1 * d(t)\nreturn t"),
    "loop over elements": (0, "t = 0.0 * x\nfor i in range(len(x)):\n    t = t + d(x) * x[i]\nreturn t"),
    "while": (0, "t, i = x, 0\nwhile i < n:\n    i, t = i + 1, t - 0.1 * d(t)\nreturn t"),
    "while of values": (0, WHILE),
    "scan": (0, "t, more = ng.scan(lambda c, u: (c - 0.1 * d(c), c * u), x, w)\nreturn t + np.sum(more, axis=0)"),
    "fori_loop": (0, "return ng.fori_loop(0, n, lambda i, c: c - 0.1 * d(c), x)"),
    "while_loop": (
        0,
        "return ng.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] - 0.1 * d(c[1])), (0, x))[1]",
    ),
    "map": (0, "return np.sum(ng.map(d, np.stack([x, 2.0 * x])), axis=0)"),
    "branch": (0, "if n > 1:\n    return d(x)\nreturn 2.0 * d(0.5 * x)"),
    "cond": (0, "return ng.cond(n > 1, d, lambda t: 2.0 * d(0.5 * t), x)"),
    "switch": (0, "return ng.switch(n, [lambda t: t, d, lambda t: 0.5 * d(t * 1.0)], x)"),
    "vmap": (0, "return np.sum(ng.vmap(d)(np.stack([x, 0.5 * x])), axis=0)"),
    "gufunc": (0, 'return np.sum(ng.gufunc("(n)->(n)")(d)(np.stack([x, 0.5 * x])), axis=0)'),
    "compiled": (0, "return ng.graph_jit(d)(x * 1.0)"),
    "checkpoint": (0, "return ng.checkpoint(d)(x)"),
    "custom_vjp": (1, RULED_PLACE),
    "gradient": (1, "return ng.grad(lambda t: np.sum(np.sin(d(t)) * w))(x)"),
    "pullback": (1, "return ng.vjp(d, x)[1](w)[0]"),
    "tangent": (1, "return ng.jvp(d, (x,), (w,))[1]"),
    "jacobian": (1, "return ng.jacfwd(d)(x) @ w"),
    "gradient of a loop": (1, DESCENDED),
    "callback": (0, "return host(d(host(x)))"),
}
"""How often each differentiates, and what it returns of the function ``d`` at ``x``."""

ENDINGS = ("r", "r", "r + p", "r * p", "r + np.sin(p) * y", "r + y")
"""What is returned of a derivative and its point."""

"""What stands for numbagraph's transformations where a program runs elsewhere: in JAX, or by differences of values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.special

import numbagraph
from tests.fuzz import plain_loops

Function = Callable[..., Any]
Names = dict[str, Any]

CONSTANT = np.array([0.5, -0.3, 0.8, 0.1])
"""An array that programs capture."""


TRANSFORMATIONS = ("grad", "value_and_grad", "vjp", "jvp", "jacfwd", "jacrev", "hessian")
LOOPS = ("scan", "fori_loop", "while_loop", "map", "cond", "switch")


class Inexpressible(Exception):
    """What a reference has no counterpart of."""


def ours() -> Names:
    """Names of programs that numbagraph runs."""

    def host(x: Any) -> Any:
        return numbagraph.pure_callback(np.sin, x, x, vjp=lambda g, y, x: (g * np.cos(x),))

    return {"np": np, "special": scipy.special, "ng": numbagraph, "host": host, "CONSTANT": CONSTANT}


# ---- JAX ----


def jax_names() -> Names:
    """Names of programs that JAX runs. Loops are Python's: XLA would compile each that is another function."""
    import jax
    from jax import numpy, scipy

    @jax.custom_jvp
    def host(x: Any) -> Any:
        return jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x, vmap_method="sequential")

    host.defjvp(lambda primals, tangents: (host(*primals), tangents[0] * numpy.cos(primals[0])))
    ng = SimpleNamespace(
        **{name: getattr(jax, name) for name in (*TRANSFORMATIONS, "vmap", "custom_vjp")},
        **{name: getattr(plain_loops, name) for name in LOOPS},
        stop_gradient=jax.lax.stop_gradient,
        checkpoint=lambda f: f,
        gufunc=lambda signature: lambda f: numpy.vectorize(f, signature=signature),
        graph_jit=lambda f: f,
    )
    return {"np": numpy, "special": scipy.special, "ng": ng, "host": host, "CONSTANT": numpy.asarray(CONSTANT)}


# ---- differences ----

Stencil = dict[int, float]
CENTRAL: Stencil = {-3: -1, -2: 9, -1: -45, 1: 45, 2: -9, 3: 1}
SKEWED: Stencil = {-2: 2, -1: -24, 0: -35, 1: 80, 2: -30, 3: 8, 4: -1}
"""Differences of sixth order, by the weights of steps in sixtieths. At a kink, such as that of `abs`, they differ."""
DIFFERENCES = ((1e-2, CENTRAL), (1.7e-2, SKEWED))
"""Where a program is smooth, both give the same numbers."""
SHORT_DIFFERENCES = ((1e-3, CENTRAL), (1.3e-3, SKEWED))
FARTHEST = 1e5
"""Of points beyond it, steps are lost in rounding."""


class Differences:
    """Transformations of NumPy's functions by differences, which nest."""

    def __init__(self, step: float, stencil: Stencil) -> None:
        self.step, self.stencil = step, stencil

    def along(self, f: Function, x: Any, direction: Any) -> Any:
        """The derivative of an array that ``f`` gives, along a direction."""
        if np.abs(x).max(initial=0.0) > FARTHEST:
            raise Inexpressible
        moved = ((weight, f(x + k * self.step * direction)) for k, weight in self.stencil.items())
        return sum(weight * np.asarray(value, float) for weight, value in moved) / (60 * self.step)

    def jacobian(self, f: Function) -> Function:
        def found(x: Any) -> Any:
            x = np.asarray(x, float)
            columns = [self.along(f, x, unit) for unit in np.eye(x.size).reshape((x.size, *x.shape))]
            return np.stack(columns, axis=-1).reshape((*columns[0].shape, *x.shape))

        return found

    def value_and_grad(self, f: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
        def found(*args: Any) -> Any:
            def by(number: int) -> Any:
                def one(x: Any) -> Any:
                    result = f(*args[:number], x, *args[number + 1 :])
                    return result[0] if has_aux else result

                return self.jacobian(one)(args[number])

            return f(*args), tuple(map(by, argnums)) if isinstance(argnums, tuple) else by(argnums)

        return found

    def grad(self, f: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
        def found(*args: Any) -> Any:
            value, slope = self.value_and_grad(f, argnums, has_aux)(*args)
            return (slope, value[1]) if has_aux else slope

        return found

    def vjp(self, f: Function, x: Any) -> Any:
        return f(x), lambda g: (np.tensordot(g, self.jacobian(f)(x), np.ndim(g)),)

    def jvp(self, f: Function, primals: Any, tangents: Any) -> Any:
        return f(*primals), self.along(f, *primals, *tangents)

    def hessian(self, f: Function) -> Function:
        return self.jacobian(self.jacobian(f))

    jacfwd = jacrev = jacobian


class Ruled:
    """A function whose rule is that of its own derivative, which differences need not be told."""

    def __init__(self, f: Function) -> None:
        self.function = f

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)

    def defvjp(self, forward: Function, backward: Function) -> None:
        pass


def batched(f: Function) -> Function:
    return lambda *args: np.stack([np.asarray(f(*each)) for each in zip(*args, strict=True)])


def stopped(*given: Any) -> Any:
    raise Inexpressible


def difference_names(step: float, stencil: Stencil) -> Names:
    """Names of programs that NumPy runs, and whose derivatives are differences."""
    differences = Differences(step, stencil)
    ng = SimpleNamespace(
        **{name: getattr(differences, name) for name in TRANSFORMATIONS},
        **{name: getattr(plain_loops, name) for name in LOOPS},
        vmap=batched,
        checkpoint=lambda f: f,
        graph_jit=lambda f: f,
        custom_vjp=Ruled,
        gufunc=lambda signature: batched,
        stop_gradient=stopped,
    )
    return {"np": np, "special": scipy.special, "ng": ng, "host": np.sin, "CONSTANT": CONSTANT}


def agree(found: Any, expected: Any, bound: float) -> bool:
    """Whether two arrays are equal up to rounding, which counts by the largest element."""
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    if found.shape != expected.shape:
        return False
    return bool(np.all(np.abs(found - expected) <= bound * (1 + np.abs(expected).max(initial=0.0))))


def finite(values: Sequence[Any], most: float) -> bool:
    return all(np.all(np.isfinite(each)) and np.abs(each).max(initial=0.0) < most for each in values)

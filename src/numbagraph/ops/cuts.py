"""Functions of complex numbers in JAX, which takes zeros of both signs for one: on a branch cut it is on one side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numbagraph.ir.op import load


def mirrored(name: str, part: str, *, below: bool = False) -> Callable[[Any], Any]:
    """Return JAX's function for one half of the plane, and its mirror image for the other half.

    Parameters
    ----------
    name
        The function in `jax.numpy`.
    part
        The part whose sign says in which half a number is: ``"imag"`` of a function that conjugates with its
        argument, ``"real"`` of one that is odd besides.
    below
        Whether JAX is right where this part is negative, rather than where it is positive.
    """

    def function(x: Any) -> Any:
        jnp, of = load("jax:numpy"), load(f"jax.numpy:{name}")
        if not jnp.iscomplexobj(x):
            return of(x)
        turn = jnp.conj if part == "imag" else lambda z: -jnp.conj(z)
        other = jnp.signbit(getattr(jnp, part)(x)) != below
        found = of(jnp.where(other, turn(x), x))
        return jnp.where(other, turn(found), found)

    return function


def arccosh(x: Any) -> Any:
    """Compute `arccosh` with JAX, with another derivative: that of JAX 0.10 has the wrong sign where the real part is
    negative."""
    of = mirrored("arccosh", "imag")
    if not load("jax.numpy:iscomplexobj")(x):
        return of(x)
    root, ruled = mirrored("sqrt", "imag"), load("jax:custom_jvp")(of)
    ruled.defjvps(lambda tangent, _, x: tangent / (root(x - 1) * root(x + 1)))
    return ruled(x)

"""`cmath`, of traced numbers."""

from __future__ import annotations

import cmath
from typing import Any

import numpy as np

from numbagraph.capture.builtins.numbers import Function, number, required, weakened, with_python
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL, COMPLEX128, FLOAT64
from numbagraph.ir.values import Value
from numbagraph.tracing.tracer import Tracer


def of_cmath(name: str, op: str, outside: Function | None = None, overflows: bool = False) -> Function:
    """Return the replacement of a function of `cmath`: it gives a Python complex number, and raises the error
    ``outside`` where it is not defined."""

    @with_python(getattr(cmath, name))
    def call(value: Any) -> Any:
        found = weakened(number(value, name), COMPLEX128)
        if outside is not None:
            required(registry["logical_not"](outside(found)), "math domain error", ValueError)
        result = registry[op](found)
        if overflows:
            fine = registry["logical_or"](
                registry["isfinite"](result), registry["logical_not"](registry["isfinite"](found))
            )
            required(fine, "math range error", OverflowError)
        own = {"c": COMPLEX128, "f": FLOAT64, "b": BOOL}[result.dtype.kind]
        return Tracer(weakened(result, own))

    return call


def _turns_for_ever(z: Value) -> Value:
    """No direction: an infinite imaginary part, unless the magnitude is zero or unknown."""
    real = registry["real"](z)
    settled = registry["logical_or"](registry["isnan"](real), registry["equal"](real, -np.inf))
    return registry["logical_and"](registry["isinf"](registry["imag"](z)), registry["logical_not"](settled))


def _is_zero(z: Value) -> Value:
    return registry["equal"](z, 0)


def _has_pole(z: Value) -> Value:
    """The ends of the branch cuts of the inverse hyperbolic tangent."""
    return registry["logical_and"](
        registry["equal"](registry["imag"](z), 0), registry["equal"](registry["absolute"](registry["real"](z)), 1)
    )


def _has_pole_upwards(z: Value) -> Value:
    return registry["logical_and"](
        registry["equal"](registry["real"](z), 0), registry["equal"](registry["absolute"](registry["imag"](z)), 1)
    )


_natural = of_cmath("log", "log", _is_zero)
_magnitude = of_cmath("polar", "absolute")


@with_python(cmath.log)
def logarithm(z: Any, base: Any = None) -> Any:
    return _natural(z) if base is None else _natural(z) / _natural(base)


@with_python(cmath.phase)
def phase(z: Any) -> Any:
    found = weakened(number(z, "phase"), COMPLEX128)
    return Tracer(weakened(registry["arctan2"](registry["imag"](found), registry["real"](found)), FLOAT64))


@with_python(cmath.polar)
def polar(z: Any) -> Any:
    return _magnitude(z), phase(z)


@with_python(cmath.rect)
def rectangular(r: Any, phi: Any) -> Any:
    size, angle = (weakened(number(each, "rect"), FLOAT64) for each in (r, phi))
    parts = [registry["multiply"](size, registry[each](angle)) for each in ("cos", "sin")]
    return Tracer(weakened(registry["add"](parts[0], registry["multiply"](parts[1], 1j)), COMPLEX128))


CMATH: dict[Any, Function] = {
    cmath.exp: of_cmath("exp", "exp", _turns_for_ever, overflows=True),
    cmath.log: logarithm,
    cmath.log10: of_cmath("log10", "log10", _is_zero),
    cmath.sqrt: of_cmath("sqrt", "sqrt"),
    cmath.phase: phase,
    cmath.polar: polar,
    cmath.rect: rectangular,
    **{getattr(cmath, each): of_cmath(each, each) for each in "sin cos tan sinh cosh tanh".split()},
    **{getattr(cmath, f"a{each}"): of_cmath(f"a{each}", f"arc{each}") for each in "sin cos sinh cosh".split()},
    cmath.atan: of_cmath("atan", "arctan", _has_pole_upwards),
    cmath.atanh: of_cmath("atanh", "arctanh", _has_pole),
    **{getattr(cmath, each): of_cmath(each, each) for each in ("isnan", "isinf", "isfinite")},
}

"""`math` and `cmath`, of traced numbers."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from numbagraph.capture.builtins.numbers import Function, as_int, number, required, weakened, with_python
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL, FLOAT64, INT64
from numbagraph.ir.values import Value
from numbagraph.tracing.python_arithmetic import OVERFLOW
from numbagraph.tracing.tracer import Tracer, user_source


def of_math(name: str, op: str, message: str = "math domain error", inside: Function | None = None) -> Function:
    """Return the replacement of a function of `math`: it gives a Python float, and raises where it is not defined."""

    @with_python(getattr(math, name))
    def call(*args: Any) -> Any:
        values = [weakened(number(each, name), FLOAT64) for each in args]
        if inside is not None:
            required(inside(*values), message, ValueError)
        result = registry[op](*values)
        finite = functools.reduce(registry["logical_and"], [registry["isfinite"](each) for each in values])
        if op in _OVERFLOWING:
            fine = registry["logical_or"](registry["isfinite"](result), registry["logical_not"](finite))
            required(fine, "math range error", OverflowError)
        elif op in _PERIODIC:
            known = registry["logical_not"](registry["isinf"](values[0]))
            required(known, "math domain error", ValueError)
        return Tracer(weakened(result, result.dtype) if result.dtype == FLOAT64 else result)

    return call


_OVERFLOWING = {"exp", "expm1", "sinh", "cosh", "power", "exp2", "gamma", "gammaln"}
_PERIODIC = {"sin", "cos", "tan"}


def _not(name: str, bound: float) -> Function:
    return lambda x: registry["logical_not"](registry[name](x, bound))


def _within_one(x: Value) -> Value:
    return registry["logical_not"](registry["greater"](registry["absolute"](x), 1.0))


def whole_of(name: str) -> Function:
    """Return the replacement of ``math.floor`` and its like, which give integers."""

    @with_python(getattr(math, name))
    def call(value: Any) -> Any:
        found = number(value, name)
        return as_int(Tracer(registry[name](found) if found.dtype.kind == "f" else found))

    return call


def truth_of(name: str) -> Function:
    @with_python(getattr(math, name))
    def call(value: Any) -> Any:
        return Tracer(weakened(registry[name](number(value, name)), BOOL))

    return call


def _power_is_real(base: Value, exponent: Value) -> Value:
    """C's rule: no pole at 0, no fractional powers of negative numbers; infinities and NaN are numbers here."""
    finite, less = registry["isfinite"], registry["less"]
    limited = registry["logical_and"](finite(base), finite(exponent))
    pole = registry["logical_and"](registry["equal"](base, 0.0), less(exponent, 0.0))
    whole = registry["equal"](registry["floor"](exponent), exponent)
    complex_ = registry["logical_and"](less(base, 0.0), registry["logical_not"](whole))
    return registry["logical_not"](registry["logical_and"](limited, registry["logical_or"](pole, complex_)))


_natural = of_math("log", "log", inside=_not("less_equal", 0.0))


@with_python(math.log)
def logarithm(value: Any, base: Any = math.e) -> Any:
    return _natural(value) if base is math.e else _natural(value) / _natural(base)


def _has_no_pole(x: Value) -> Value:
    """Where the gamma function is defined: not at zero, the negative integers, and minus infinity."""
    whole = registry["equal"](registry["floor"](x), x)
    return registry["logical_not"](registry["logical_and"](registry["less_equal"](x, 0.0), whole))


@with_python(math.lgamma)
def logarithm_of_gamma(value: Any) -> Any:
    """SciPy's function is infinite for subnormal numbers already, and -inf for -inf."""
    x = weakened(number(value, "lgamma"), FLOAT64)
    small = registry["less"](registry["absolute"](x), 1e-300)
    is_near = registry["logical_and"](small, registry["not_equal"](x, 0.0))
    far = registry["where"](registry["isinf"](x), np.inf, x)
    found = _logarithm_of_gamma(Tracer(weakened(registry["where"](is_near, 1.0, far), FLOAT64))).value
    near = registry["negative"](registry["log"](registry["absolute"](x)))
    return Tracer(weakened(registry["where"](small, near, found), FLOAT64))


_logarithm_of_gamma = of_math("lgamma", "gammaln", inside=_has_no_pole)


def _inside_one(x: Value) -> Value:
    return registry["logical_not"](registry["greater_equal"](registry["absolute"](x), 1.0))


def _has_remainder(x: Value, y: Value) -> Value:
    either = registry["logical_or"](registry["isnan"](x), registry["isnan"](y))
    defined = registry["logical_and"](registry["not_equal"](y, 0.0), registry["logical_not"](registry["isinf"](x)))
    return registry["logical_or"](either, defined)


_hypotenuse = of_math("hypot", "hypot")


@with_python(math.hypot)
def length_of(*coordinates: Any) -> Any:
    return functools.reduce(_hypotenuse, coordinates) if len(coordinates) > 1 else _hypotenuse(*coordinates, 0.0)


def integer(value: Any, name: str) -> Tracer:
    found = number(value, name)
    if found.dtype.kind not in "iub":
        raise TypeError(f"math.{name} takes integers, not {found.type}\n  at {user_source()}")
    return Tracer(weakened(found, INT64))


@with_python(math.gcd)
def divisor(*values: Any) -> Any:
    found = [integer(each, "gcd").value for each in (*values, 0)]
    common = functools.reduce(registry["gcd"], found)
    required(registry["greater_equal"](common, 0), OVERFLOW, OverflowError)  # of -(2**63) alone
    return Tracer(weakened(common, INT64))


@with_python(math.lcm)
def multiple(*values: Any) -> Any:
    def both(one: Any, other: Any) -> Any:
        common = divisor(one, other).value
        safe = Tracer(weakened(registry["where"](registry["equal"](common, 0), 1, common), INT64))
        return abs(one) // safe * abs(other)

    return functools.reduce(both, [integer(each, "lcm") for each in values], 1)


@with_python(math.isqrt)
def whole_root(value: Any) -> Any:
    n = integer(value, "isqrt").value
    required(registry["greater_equal"](n, 0), "isqrt() argument must be nonnegative", ValueError)
    near = registry["cast"](registry["sqrt"](registry["cast"](n, FLOAT64)), INT64)
    near = registry["minimum"](near, 3037000499)  # the root of 2**63 - 1
    above = registry["greater"](registry["multiply"](near, near), n)
    root = registry["subtract"](near, registry["cast"](above, INT64))
    return Tracer(weakened(root, INT64))


@with_python(math.isclose)
def is_close(a: Any, b: Any, *, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> Any:
    one, other = (weakened(number(each, "isclose"), FLOAT64) for each in (a, b))
    sizes = [registry["absolute"](each) for each in (one, other)]
    most = registry["maximum"](registry["multiply"](registry["maximum"](*sizes), rel_tol), abs_tol)
    near = registry["less_equal"](registry["absolute"](registry["subtract"](one, other)), most)
    finite = registry["logical_and"](registry["isfinite"](one), registry["isfinite"](other))
    found = registry["logical_or"](registry["equal"](one, other), registry["logical_and"](near, finite))
    return Tracer(weakened(found, BOOL))


MATH: dict[Any, Function] = {
    **{getattr(math, each): of_math(each, each) for each in "sin cos tan exp expm1 sinh cosh tanh exp2 cbrt".split()
       if hasattr(math, each)},
    math.atan: of_math("atan", "arctan"),
    math.asinh: of_math("asinh", "arcsinh"),
    math.fabs: of_math("fabs", "absolute"),
    math.degrees: of_math("degrees", "degrees"),
    math.radians: of_math("radians", "radians"),
    math.atan2: of_math("atan2", "arctan2"),
    math.hypot: length_of,
    math.gamma: of_math("gamma", "gamma", inside=_has_no_pole),
    math.lgamma: logarithm_of_gamma,
    math.atanh: of_math("atanh", "arctanh", inside=_inside_one),
    math.fmod: of_math("fmod", "fmod", inside=_has_remainder),
    math.gcd: divisor,
    math.lcm: multiple,
    math.isqrt: whole_root,
    math.isclose: is_close,
    math.copysign: of_math("copysign", "copysign"),
    math.erf: of_math("erf", "erf"),
    math.erfc: of_math("erfc", "erfc"),
    math.sqrt: of_math("sqrt", "sqrt", inside=_not("less", 0.0)),
    math.log: logarithm,
    math.log2: of_math("log2", "log2", inside=_not("less_equal", 0.0)),
    math.log10: of_math("log10", "log10", inside=_not("less_equal", 0.0)),
    math.log1p: of_math("log1p", "log1p", inside=_not("less_equal", -1.0)),
    math.asin: of_math("asin", "arcsin", inside=_within_one),
    math.acos: of_math("acos", "arccos", inside=_within_one),
    math.acosh: of_math("acosh", "arccosh", inside=_not("less", 1.0)),
    math.pow: of_math("pow", "power", inside=_power_is_real),
    **{getattr(math, each): whole_of(each) for each in ("floor", "ceil", "trunc")},
    **{getattr(math, each): truth_of(each) for each in ("isnan", "isinf", "isfinite")},
}  # fmt: skip

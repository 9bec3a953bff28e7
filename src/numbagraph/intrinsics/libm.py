"""The mathematical functions, each one emitter, by calls of the C library (and, where it has none, of SciPy).

This is the only file that knows where a function comes from: vector code for one takes its place here.
"""

from __future__ import annotations

from llvmlite import ir

from numbagraph.intrinsics.emitter import F32, F64, I32, Emitter, Operand
from numbagraph.intrinsics.external import SCIPY
from numbagraph.intrinsics.formula import wrap
from numbagraph.intrinsics.ir import Emit
from numbagraph.ir.types import COMPLEX128, FLOAT32, FLOAT64


def real(name: str) -> Emit:
    """A function of libm: ``name`` on float64, and ``namef`` on float32."""

    def emit(emitter: Emitter, *operands: Operand) -> ir.Value:
        single = operands[0].dtype == FLOAT32
        values = [each.value for each in operands]
        return emitter.call(f"{name}f" if single else name, F32 if single else F64, *values)

    return emit


def complex_(name: str) -> Emit:
    """A complex function of libm, computed in double precision: by the C convention, a complex64 is passed in another
    way on each platform, but a complex128 is two doubles on all that have registers for it."""

    def emit(emitter: Emitter, *operands: Operand) -> ir.Value:
        parts = []
        for operand in operands:
            wide = wrap(emitter, Operand(emitter.cast(operand, COMPLEX128), COMPLEX128))
            parts += [wide.real.value, wide.imag.value]
        result = emitter.call(f"c{name}", ir.LiteralStructType([F64, F64]), *parts)
        return emitter.cast(Operand(result, COMPLEX128), operands[0].dtype)

    return emit


def scipy(name: str) -> Emit:
    """A function of `scipy.special.cython_special`, in double precision."""

    def emit(emitter: Emitter, *operands: Operand) -> ir.Value:
        values = [emitter.cast(each, FLOAT64) for each in operands]
        skip_dispatch = ir.Constant(I32, 0)
        result = emitter.call(SCIPY + name, F64, *values, skip_dispatch)
        return emitter.cast(Operand(result, FLOAT64), operands[0].dtype)

    return emit


exp, exp2, expm1 = real("exp"), real("exp2"), real("expm1")
log, log2, log10, log1p = real("log"), real("log2"), real("log10"), real("log1p")
sin, cos, tan = real("sin"), real("cos"), real("tan")
arcsin, arccos, arctan, arctan2 = real("asin"), real("acos"), real("atan"), real("atan2")
sinh, cosh, tanh = real("sinh"), real("cosh"), real("tanh")
arcsinh, arccosh, arctanh = real("asinh"), real("acosh"), real("atanh")
power, cbrt, hypot = real("pow"), real("cbrt"), real("hypot")
erf, erfc, lgamma = real("erf"), real("erfc"), real("lgamma")
nextafter = real("nextafter")
erfcx, erfinv, erfcinv, ndtri, digamma = (scipy(name) for name in ("erfcx", "erfinv", "erfcinv", "ndtri", "psi"))
i0, i0e, i1, i1e = (scipy(name) for name in ("i0", "i0e", "i1", "i1e"))
gammainc, gammaincc, betainc = (scipy(name) for name in ("gammainc", "gammaincc", "betainc"))
gammaincinv, gammainccinv, betaincinv = (scipy(name) for name in ("gammaincinv", "gammainccinv", "betaincinv"))
owens_t = scipy("owens_t")
gamma, j0, j1, jv, iv, ive, kve = (scipy(name) for name in ("gamma", "j0", "j1", "jv", "iv", "ive", "kve"))

"""The mathematical functions, each one emitter, by calls of the C library (and, where it has none, of SciPy).

This is the only module that decides where a function comes from: vector code for one takes its place here.
"""

from __future__ import annotations

import math
from collections.abc import Collection

from llvmlite import ir

from numbagraph.intrinsics.emitters.emitter import F32, F64, I32, POINTER, Emitter, Operand, llvm_type
from numbagraph.intrinsics.emitters.external import BOOST, SCIPY, Types, special_types
from numbagraph.intrinsics.emitters.formula import absolute, wrap
from numbagraph.intrinsics.emitters.ir import Emit
from numbagraph.intrinsics.emitters.target import current_target
from numbagraph.ir.types import COMPLEX128, FLOAT32, FLOAT64, INT64


def real(name: str) -> Emit:
    """Return the emitter of a function of libm: ``name`` on float64, and ``namef`` on float32."""

    def emit(emitter: Emitter, *operands: Operand) -> ir.Value:
        single = operands[0].dtype == FLOAT32
        values = [each.value for each in operands]
        return emitter.call(f"{name}f" if single else name, F32 if single else F64, *values)

    return emit


def complex_(name: str) -> Emit:
    """Return the emitter of a complex function of libm, in double precision: by the C convention, a complex64 is passed
    in another way on each platform, but a complex128 is two doubles on all that have registers for it."""

    def emit(emitter: Emitter, *operands: Operand) -> ir.Value:
        parts = []
        for operand in operands:
            wide = wrap(emitter, Operand(emitter.cast(operand, COMPLEX128), COMPLEX128))
            parts += [wide.real.value, wide.imag.value]
        result = emitter.call(f"c{name}", ir.LiteralStructType([F64, F64]), *parts)
        return emitter.cast(Operand(result, COMPLEX128), operands[0].dtype)

    return emit


LEAST_INT, GREATEST_INT = -(2.0**31), 2**31 - 1


def has_greatest_int() -> bool:
    """Whether a float beyond C's ``int`` becomes the greatest one, as on ARM; elsewhere it becomes the least one."""
    return current_target().is_arm


LETTERS = {FLOAT32: "f", INT64: "l"}
NUMBERS = {"f": FLOAT32, "d": FLOAT64, "l": INT64, "D": COMPLEX128}


def scipy(name: str, whole: Collection[int] = ()) -> Emit:
    """Return the emitter of a function of `scipy.special.cython_special`, in the precision that SciPy computes in.

    For a function of several results, an attribute chooses one.

    The operands at the positions ``whole`` become integers, as C makes them of floats, and NaN gives NaN. SciPy's own
    versions for floats do that too, and warn of those that are not whole, for which they call Python.
    """

    def emit(emitter: Emitter, *operands: Operand, result: int = 0) -> ir.Value:
        given = [
            _as_integer(emitter, each) if number in whole and each.dtype.kind == "f" else each
            for number, each in enumerate(operands)
        ]
        types = special_types(name, "".join(LETTERS.get(each.dtype, "d") for each in given))
        values = [emitter.cast(each, NUMBERS[letter]) for each, letter in zip(given, types.operands, strict=True)]
        symbol = f"{SCIPY}{name}.{types.operands}.{types.results}"
        computed = NUMBERS[types.results[0]]
        if types.by_address:
            value = emitter.builder.extract_value(_several(emitter, symbol, types, values), result)
        else:
            value = emitter.call(symbol, llvm_type(computed), *values, ir.Constant(I32, 0))  # without Cython's dispatch
        for each, integer in zip(operands, given, strict=True):
            if integer is not each:
                known = emitter.builder.fcmp_ordered("ord", each.value, each.value)
                value = emitter.builder.select(known, value, ir.Constant(value.type, math.nan))
        single = any(each.dtype == FLOAT32 for each in operands)
        return emitter.cast(Operand(value, computed), FLOAT32 if single else FLOAT64)

    return emit


def spherical(name: str) -> Emit:
    """Return the emitter of a spherical Bessel function of `scipy.special.cython_special`, whose options are at an
    address, here none."""

    def emit(emitter: Emitter, order: Operand, x: Operand) -> ir.Value:
        values = emitter.cast(order, INT64), emitter.cast(x, FLOAT64)
        value = emitter.call(f"{SCIPY}{name}.ld.d", F64, *values, ir.Constant(I32, 0), ir.Constant(POINTER, None))
        return emitter.cast(Operand(value, FLOAT64), x.dtype)

    return emit


def boost(name: str) -> Emit:
    """Return the emitter of a distribution of Boost, in the precision of its operands, as `scipy.stats` has it."""

    def emit(emitter: Emitter, *operands: Operand) -> ir.Value:
        type_ = llvm_type(operands[0].dtype)
        precision = "float" if operands[0].dtype == FLOAT32 else "double"
        return emitter.call(f"{BOOST}{name}_{precision}", type_, *[each.value for each in operands])

    return emit


def _as_integer(emitter: Emitter, operand: Operand) -> Operand:
    """Return a float as C's ``int``; the result for NaN does not matter."""
    number = wrap(emitter, operand)
    fitting = (absolute(number) < -LEAST_INT).where(number, LEAST_INT)
    whole = emitter.cast(fitting.operand, INT64)
    if has_greatest_int():
        above = (number >= -LEAST_INT).value
        whole = emitter.builder.select(above, ir.Constant(whole.type, GREATEST_INT), whole)
    return Operand(whole, INT64)


def _several(emitter: Emitter, symbol: str, types: Types, values: list[ir.Value]) -> ir.Value:
    """Return all results of a function that writes them to addresses, through a pure function that is not inlined: LLVM
    makes one call of those for several results of the same operands."""
    name = f"numbagraph.results.{symbol.removeprefix(SCIPY)}"
    found = emitter.module.globals.get(name)
    if not isinstance(found, ir.Function):
        numbers = [llvm_type(NUMBERS[letter]) for letter in types.results]
        found = emitter.function(name, ir.LiteralStructType(numbers), [each.type for each in values])
        found.linkage = "internal"
        set.add(found.attributes, "noinline")
        inside = Emitter(ir.IRBuilder(found.append_basic_block("entry")))
        memory = [inside.builder.alloca(each) for each in numbers]
        arguments = [each.type for each in (*values, *memory)]
        function = inside.function(symbol, ir.VoidType(), arguments, pure=False)
        inside.builder.call(function, [*found.args, *memory])
        filled = ir.Constant(found.function_type.return_type, ir.Undefined)
        for number, each in enumerate(memory):
            filled = inside.builder.insert_value(filled, inside.builder.load(each), number)
        inside.builder.ret(filled)
    return emitter.builder.call(found, values)


exp, exp2, expm1 = real("exp"), real("exp2"), real("expm1")
log, log2, log10, log1p = real("log"), real("log2"), real("log10"), real("log1p")
sin, cos, tan = real("sin"), real("cos"), real("tan")
arcsin, arccos, arctan, arctan2 = real("asin"), real("acos"), real("atan"), real("atan2")
sinh, cosh, tanh = real("sinh"), real("cosh"), real("tanh")
arcsinh, arccosh, arctanh = real("asinh"), real("acosh"), real("atanh")
power, cbrt, hypot = real("pow"), real("cbrt"), real("hypot")
erf, erfc, lgamma = real("erf"), real("erfc"), real("lgamma")
erfcx, erfinv, erfcinv, ndtri, digamma = (scipy(name) for name in ("erfcx", "erfinv", "erfcinv", "ndtri", "psi"))
gammainc, gammaincc, betainc = (scipy(name) for name in ("gammainc", "gammaincc", "betainc"))
gammaincinv, gammainccinv, betaincinv = (scipy(name) for name in ("gammaincinv", "gammainccinv", "betaincinv"))
owens_t = scipy("owens_t")
gamma, jv, iv, ive, kve = (scipy(name) for name in ("gamma", "jv", "iv", "ive", "kve"))

"""Translation of elementwise ops: a table from the classes of PyTensor's scalar ops to numbagraph's ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from pymc.distributions import dist_math
from pytensor.graph.basic import Apply
from pytensor.scalar.loop import ScalarLoop
from pytensor.tensor.elemwise import Elemwise

from numbagraph.blockwise.promotion import convert
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL, FLOAT64, canonical_dtype
from numbagraph.ir.values import Constant, Node, Value, constant
from numbagraph.ops.shape import broadcast_value
from numbagraph.pymc_bridge.compatibility import rows, scalars, special
from numbagraph.pymc_bridge.importer import Importer, UnsupportedOp, imports
from numbagraph.pymc_bridge.translations.scalar_loop import scalar_loop

Build = Callable[..., Value]

IN_RESULT_DTYPE: dict[type, str] = {
    scalars.Add: "add",
    scalars.Sub: "subtract",
    scalars.Mul: "multiply",
    scalars.TrueDiv: "divide",
    scalars.IntDiv: "floor_divide",
    scalars.Mod: "remainder",
    scalars.Maximum: "maximum",
    scalars.Minimum: "minimum",
    scalars.Neg: "negative",
    scalars.Sign: "sign",
    scalars.Sqr: "square",
    scalars.Sqrt: "sqrt",
    scalars.Reciprocal: "reciprocal",
    scalars.Exp: "exp",
    scalars.Exp2: "exp2",
    scalars.Expm1: "expm1",
    scalars.Log: "log",
    scalars.Log2: "log2",
    scalars.Log10: "log10",
    scalars.Log1p: "log1p",
    scalars.Sin: "sin",
    scalars.Cos: "cos",
    scalars.Tan: "tan",
    scalars.ArcSin: "arcsin",
    scalars.ArcCos: "arccos",
    scalars.ArcTan: "arctan",
    scalars.ArcTan2: "arctan2",
    scalars.Sinh: "sinh",
    scalars.Cosh: "cosh",
    scalars.Tanh: "tanh",
    scalars.ArcSinh: "arcsinh",
    scalars.ArcCosh: "arccosh",
    scalars.ArcTanh: "arctanh",
    scalars.Ceil: "ceil",
    scalars.Floor: "floor",
    scalars.Trunc: "trunc",
    scalars.RoundHalfToEven: "rint",
    scalars.Deg2Rad: "radians",
    scalars.Rad2Deg: "degrees",
    scalars.Conj: "conjugate",
    special.Erf: "erf",
    special.Erfc: "erfc",
    special.Erfcx: "erfcx",
    special.Erfinv: "erfinv",
    special.Erfcinv: "erfcinv",
    special.NdtriExp: "ndtri_exp",
    special.GammaLn: "gammaln",
    special.Psi: "digamma",
    special.Sigmoid: "expit",
    special.Softplus: "softplus",
    special.Log1mexp: "log1mexp",
    special.Gamma: "gamma",
    special.GammaInc: "gammainc",
    special.GammaIncC: "gammaincc",
    special.GammaIncInv: "gammaincinv",
    special.GammaIncCInv: "gammainccinv",
    special.BetaInc: "betainc",
    special.BetaIncInv: "betaincinv",
    special.I0: "i0",
    special.I1: "i1",
    special.Iv: "iv",
    special.Ive: "ive",
    special.Kve: "kve",
    special.J0: "j0",
    special.J1: "j1",
    special.Jv: "jv",
    special.Owens_t: "owens_t",
    special.Hyp2F1: "hyp2f1",
    dist_math.I0e: "i0e",
    dist_math.I1e: "i1e",
}
"""Functions whose operands are converted to the dtype of the result first."""

AS_THEY_ARE: dict[type, str] = {
    scalars.Abs: "absolute",
    scalars.LT: "less",
    scalars.LE: "less_equal",
    scalars.GT: "greater",
    scalars.GE: "greater_equal",
    scalars.EQ: "equal",
    scalars.NEQ: "not_equal",
    scalars.IsNan: "isnan",
    scalars.IsInf: "isinf",
    scalars.AND: "bitwise_and",
    scalars.OR: "bitwise_or",
    scalars.XOR: "bitwise_xor",
    scalars.Invert: "invert",
    scalars.Real: "real",
    scalars.Imag: "imag",
    scalars.Complex: "complex_of",
}
"""The functions that take operands as they are: those that compare find their common dtype by themselves."""

ON_TRUTH_VALUES = {"bitwise_and": "logical_and", "bitwise_or": "logical_or", "bitwise_xor": "logical_xor"}


def own_op(name: str, scalar_op: Any) -> Any:
    """One of numbagraph's ops by its name."""
    if name not in registry:
        raise UnsupportedOp(f"PyTensor's op {scalar_op} needs numbagraph's op {name!r}, which there is not")
    return registry[name]


def switch(dtype: np.dtype, condition: Value, x: Value, y: Value) -> Value:
    return registry["where"](convert(condition, BOOL), convert(x, dtype), convert(y, dtype))


def second(dtype: np.dtype, x: Value, y: Value) -> Value:
    shape = shapes.broadcast_shapes([x.shape, y.shape], "second")
    return broadcast_value(convert(y, dtype), shape)


def polygamma(dtype: np.dtype, order: Value, x: Value) -> Value:
    order = number_behind(order)
    if not isinstance(order, Constant) or order.ndim:
        raise UnsupportedOp("polygamma of an order that is not a constant")
    return registry["polygamma"](int(order.data), convert(x, dtype))


def xlogy0(dtype: np.dtype, x: Value, y: Value) -> Value:
    """``x * log(y)``, which is 0 where x is 0, whatever y is."""
    x, y = convert(x, dtype), convert(y, dtype)
    nothing = registry["logical_and"](registry["equal"](x, 0), registry["isnan"](y))
    return registry["where"](nothing, constant(0, dtype=dtype), registry["xlogy"](x, y))


def incomplete(name: str, dtype: np.dtype, k: Value, x: Value) -> Value:
    """An incomplete gamma function that is not divided by the complete one, which may overflow in single precision."""
    k, x = convert(k, FLOAT64), convert(x, FLOAT64)
    return convert(registry[name](k, x) * registry["gamma"](k), dtype)


def number_behind(value: Value) -> Value:
    """Strip dimensions of length 1 from a value, which PyTensor adds to numbers to make ranks alike."""
    while isinstance(value, Node) and value.op.name == "expand_dims":
        value = value.inputs[0]
    if isinstance(value, Constant) and value.data.size == 1:
        return constant(value.data.reshape(()), dtype=value.dtype)
    return value


def power(dtype: np.dtype, x: Value, exponent: Value) -> Value:
    """A power. A constant exponent may have an op of its own, once it is a number."""
    number = number_behind(exponent)
    if isinstance(number, Constant) and not number.ndim and exponent.ndim <= x.ndim:
        exponent = number
    return registry["power"](convert(x, dtype), convert(exponent, dtype))


def round_half_away(dtype: np.dtype, x: Value) -> Value:
    x = convert(x, dtype)
    return registry["copysign"](registry["floor"](abs(x) + constant(0.5, dtype=dtype)), x)


def clip(dtype: np.dtype, x: Value, least: Value, most: Value) -> Value:
    """Clip elements. Where the lower end is above the upper one, elements below the lower end become that, as in
    PyTensor."""
    x, least, most = (convert(each, dtype) for each in (x, least, most))
    ends = [each.data for each in map(number_behind, (least, most)) if isinstance(each, Constant)]
    if len(ends) == 2 and np.all(ends[0] <= ends[1]):
        return registry["clip"](x, least, most)
    above = registry["where"](registry["greater"](x, most), most, x)
    return registry["where"](registry["less"](x, least), least, above)


OTHERS: dict[type, Build] = {
    scalars.Clip: clip,
    scalars.Switch: switch,
    scalars.Second: second,
    scalars.Cast: lambda dtype, x: convert(x, dtype),
    scalars.Identity: lambda dtype, x: convert(x, dtype),
    scalars.Pow: power,
    scalars.RoundHalfAwayFromZero: round_half_away,
    scalars.Angle: lambda dtype, x: registry["angle"](x if x.dtype.kind == "c" else convert(x, dtype)),
    special.TriGamma: lambda dtype, x: registry["polygamma"](1, convert(x, dtype)),
    special.PolyGamma: polygamma,
    special.GammaL: partial(incomplete, "gammainc"),
    special.GammaU: partial(incomplete, "gammaincc"),
    rows.XlogY0: xlogy0,
    rows.XlogX: lambda dtype, x: registry["xlogy"](convert(x, dtype), convert(x, dtype)),
}
"""The functions that are no op of numbagraph's, called with the dtype of the result."""


def apply_scalar(scalar_op: Any, dtype: np.dtype, inputs: Sequence[Value]) -> Value:
    """A scalar op of PyTensor on arrays."""
    kind = next((each for each in type(scalar_op).__mro__ if each in TRANSLATED), None)
    if kind in OTHERS:
        return OTHERS[kind](dtype, *inputs)
    if kind in IN_RESULT_DTYPE:
        op = own_op(IN_RESULT_DTYPE[kind], scalar_op)
        return chained(op, [convert(each, dtype) for each in inputs])
    if kind in AS_THEY_ARE:
        name = AS_THEY_ARE[kind]
        if all(each.dtype == BOOL for each in inputs):
            name = ON_TRUTH_VALUES.get(name, name)
        return chained(registry[name], inputs)
    where = f"{type(scalar_op).__module__}.{type(scalar_op).__name__}"
    raise UnsupportedOp(f"PyTensor's elementwise op {scalar_op} ({where}) has no translation")


TRANSLATED = {*OTHERS, *IN_RESULT_DTYPE, *AS_THEY_ARE}
CHAINED = ("add", "multiply", "maximum", "minimum", *ON_TRUTH_VALUES, *ON_TRUTH_VALUES.values())


def chained(op: Any, inputs: Sequence[Value]) -> Value:
    """Combine any number of operands, as PyTensor's sums and similar ops do."""
    if op.name not in CHAINED:
        return op(*inputs)
    result = inputs[0]
    for each in inputs[1:]:
        result = op(result, each)
    return result


def composite(importer: Importer, op: Any, inputs: Sequence[Value]) -> list[Value]:
    """Several scalar ops in one, which PyTensor's fusion makes."""
    return importer.inner(op.fgraph, inputs)


def by_elements(importer: Importer, op: Any, node: Apply, inputs: Sequence[Value]) -> Value | list[Value]:
    """A scalar op, which may have a graph inside of it."""
    if isinstance(op, scalars.Composite):
        return composite(importer, op, inputs)
    if isinstance(op, ScalarLoop):
        return scalar_loop(importer, op, inputs)
    dtype = canonical_dtype(node.outputs[0].type.dtype)
    return apply_scalar(op, wide_enough(op, dtype, inputs), inputs)


def wide_enough(op: Any, dtype: np.dtype, inputs: Sequence[Value]) -> np.dtype:
    """The dtype to compute in: that of the result, or of wider integers (`running_dtype`), which are converted then."""
    if dtype.kind not in "biu" or isinstance(op, scalars.Cast):
        return dtype
    return max([dtype, *(each.dtype for each in inputs if each.dtype.kind in "iu")], key=lambda each: each.itemsize)


def require_equal_lengths(node: Apply, inputs: Sequence[Value]) -> None:
    """Require equal lengths: PyTensor repeats along the dimensions that its types know to have length 1, not along
    those that turn out to have it."""
    op: Any = node.op
    repeated = [each.type.broadcastable for each in node.inputs]
    for axis in range(node.outputs[0].type.ndim):
        lengths = [each.shape[axis] for each, known in zip(inputs, repeated, strict=True) if not known[axis]]
        for each in lengths[1:]:
            if not shapes.same(lengths[0], each):
                name = op.scalar_op.name or type(op.scalar_op).__name__.lower()
                given = " ".join(shapes.shape_text(each.shape) for each in inputs)
                text = f"{name}: operands could not be broadcast together with shapes {given}"
                shapes.require_same(lengths[0], each, text)


@imports(Elemwise)
def elemwise(importer: Importer, node: Apply, *inputs: Value) -> Value | list[Value]:
    require_equal_lengths(node, inputs)
    return by_elements(importer, node.op.scalar_op, node, inputs)


@imports(scalars.ScalarOp)
def scalar(importer: Importer, node: Apply, *inputs: Value) -> Value | list[Value]:
    return by_elements(importer, node.op, node, inputs)

"""Applications of PyTensor's ops to drawn operands: one function for each op that the bridge translates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
from pymc.distributions import dist_math
from pymc.math import BatchedDiag
from pytensor import gradient
from pytensor import scalar as scalars
from pytensor.compile.builders import OpFromGraph
from pytensor.compile.ops import DeepCopyOp
from pytensor.graph.basic import Apply
from pytensor.raise_op import Assert
from pytensor.tensor import basic, elemwise, extra_ops, reshape
from pytensor.tensor import math as tensor_math
from pytensor.tensor import special as rows
from pytensor.tensor.blockwise import Blockwise
from scipy.interpolate import InterpolatedUnivariateSpline, make_interp_spline

from numbagraph.ir.types import DTYPES
from numbagraph.pymc_bridge import importer
from numbagraph.pymc_bridge.compatibility import conditional
from numbagraph.pymc_bridge.translations import linalg, nested_ops, scalar_ops

Draw = Any
"""`tests.fuzz.pytensor_graphs.Draw`: gives operands."""
Make = Callable[[Draw], Any]
"""Gives a variable, or several; None where there is no operand that would do."""

NEVER = {
    "Elemwise": "its scalar ops are drawn instead",
    "ScalarOp": "drawn as elementwise ops",
    "MinibatchOp": "always refused",
    "Scan": "tests/pymc_bridge/test_scan.py has loops",
    "RandomVariable": "always refused: PyTensor runs it",
    "MinibatchRandomVariable": "draws",
    "FunctionOp": "our own op",
    "LUFactorTridiagonal": "made by solve, which has the others",
    "Unique": "tests/pymc_bridge/test_data_dependent.py has lengths that elements decide on",
}
"""Ops that are translated, or refused, but not drawn, and why."""

MODULES = (scalars.basic, scalars.math, pt.xlogx, dist_math)
INSTANCES = {
    type(each): each for module in MODULES for each in vars(module).values() if isinstance(each, scalars.ScalarOp)
}
"""An op for each class of elementwise ops that has one without parameters."""
CASTS = [str(each) for each in DTYPES]


def exists(kind: type) -> bool:
    """Whether this version of PyTensor has an op, rather than the bridge a place for it."""
    return not kind.__module__.startswith("numbagraph") and not kind.__module__.startswith(
        ("pytensor.sparse", "pytensor.xtensor")
    )


def name_of(op: Any) -> str | None:
    """The name that an op has here: that of the class that the bridge translates."""
    op = linalg.core_of(op)
    if isinstance(op, elemwise.Elemwise):
        op, table = op.scalar_op, scalar_ops.TRANSLATED
    else:
        table = importer._handlers
    found = next((each for each in type(op).__mro__ if each in table), None)
    return None if found is None else label(found)


def label(kind: type) -> str:
    return kind.__name__ if kind not in scalar_ops.TRANSLATED else f"{kind.__name__} of elements"


def names() -> list[str]:
    """What the bridge has a translation for."""
    tables = (importer._handlers, scalar_ops.TRANSLATED, nested_ops.BATCHED)
    kinds = {each for table in tables for each in table if exists(each)}
    return sorted({label(each) for each in kinds if each.__name__ not in NEVER})


MAKERS: dict[str, Make] = {}


def makes(*names: str) -> Callable[[Make], Make]:
    def register(make: Make) -> Make:
        MAKERS.update(dict.fromkeys(names, make))
        return make

    return register


def elementwise_maker(kind: type) -> Make:
    op = INSTANCES[kind]

    def make(draw: Draw) -> Any:
        count = op.nin
        if count < 0:  # PyTensor leaves it open of BetaIncInv, too
            count = draw.integer(2, 4) if kind in (scalars.Add, scalars.Mul) else op.nfunc_spec[1]
        return elemwise.Elemwise(op)(*draw.alike(count))

    return make


@makes("Cast of elements")
def cast(draw: Draw) -> Any:
    return pt.cast(draw.any(), draw.choose(CASTS))


@makes("PolyGamma of elements")
def polygamma(draw: Draw) -> Any:
    return pt.polygamma(draw.integer(1, 4), draw.real())


# ---- structure ----


@makes("DimShuffle")
def dim_shuffle(draw: Draw) -> Any:
    x = draw.any()
    dropped = [axis for axis, known in enumerate(x.type.broadcastable) if known and draw.chance(0.5)]
    order: list[Any] = [int(each) for each in draw.rng.permutation(x.ndim) if each not in dropped]
    for _ in range(draw.integer(0, 2)):
        order.insert(draw.integer(0, len(order) + 1), "x")
    return x.dimshuffle(*order)


@makes("TypeCastingOp", "CpuContiguous", "DeepCopyOp")
def same(draw: Draw) -> Any:
    return draw.choose([extra_ops.cpu_contiguous, DeepCopyOp()])(draw.any())


@makes("TensorFromScalar", "ScalarFromTensor")
def number(draw: Draw) -> Any:
    return pt.tensor_from_scalar(pt.scalar_from_tensor(draw.any(ndim=0)))


@makes("ZeroGrad", "DisconnectedGrad", "UndefinedGrad")
def without_gradient(draw: Draw) -> Any:
    return draw.choose([gradient.zero_grad, gradient.disconnected_grad, gradient.undefined_grad])(draw.any())


@makes("SpecifyShape")
def specify_shape(draw: Draw) -> Any:
    x = draw.any()
    return pt.specify_shape(x, [draw.choose([None, draw.length(each)]) for each in draw.shape(x)])


@makes("Shape", "Shape_i")
def shape(draw: Draw) -> Any:
    x = draw.any(least=1)
    return draw.choose([x.shape, x.shape[draw.integer(0, x.ndim)] * 2, x.size])


@makes("Reshape")
def reshaped(draw: Draw) -> Any:
    x = draw.any()
    lengths = draw.factors(int(np.prod(draw.shape(x))))
    sizes = [draw.length(each) for each in lengths]
    if draw.chance(0.4):
        sizes[draw.integer(0, len(sizes))] = -1
    return pt.reshape(x, sizes, ndim=len(sizes))


@makes("JoinDims", "SplitDims")
def joined_dims(draw: Draw) -> Any:
    x = draw.any(least=1)
    axis = draw.integer(0, x.ndim)
    if draw.chance(0.5):
        return reshape.JoinDims(axis, draw.integer(1, x.ndim - axis + 1))(x)
    sizes = draw.factors(draw.shape(x)[axis])
    return reshape.SplitDims(axis)(x, pt.stack([draw.length(each) for each in sizes]))


@makes("Alloc", "AllocEmpty")
def alloc(draw: Draw) -> Any:
    x = draw.any()
    lengths = [draw.length(draw.integer(1, 4)) for _ in range(draw.integer(0, 2))]
    lengths += [draw.length(each) for each in draw.shape(x)]
    if draw.chance(0.5):
        return pt.alloc(x, *lengths)
    return pt.set_subtensor(basic.AllocEmpty(x.dtype)(*lengths)[...], x)


@makes("MakeVector")
def vector(draw: Draw) -> Any:
    return pt.stack([draw.any(ndim=0) for _ in range(draw.integer(1, 4))])


@makes("Join")
def join(draw: Draw) -> Any:
    x = draw.any(least=1)
    axis = draw.integer(-x.ndim, x.ndim)
    return pt.concatenate([draw.operand(x) for _ in range(draw.integer(1, 4))], axis=axis)


@makes("Split")
def split(draw: Draw) -> Any:
    x = draw.any(least=1)
    axis = draw.integer(0, x.ndim)
    length = draw.shape(x)[axis]
    first = draw.integer(0, length + 1)
    sizes = [first, length - first] if draw.chance(0.5) else [0, first, length - first]
    return pt.split(x, draw.vector(sizes), n_splits=len(sizes), axis=axis)


@makes("ARange")
def arange(draw: Draw) -> Any:
    ends = [draw.integer(-3, 3), draw.integer(-3, 8), draw.choose([1, 2, -1, -2])]
    if draw.chance(0.3):
        return pt.arange(*[each / 2 for each in ends], dtype=draw.choose(["float64", "float32"]))
    return pt.arange(*[draw.length(each) for each in ends])


@makes("Eye")
def eye(draw: Draw) -> Any:
    return pt.eye(draw.length(draw.integer(0, 4)), draw.length(draw.integer(1, 4)), draw.integer(-2, 3))


@makes("ExtractDiag")
def diagonal(draw: Draw) -> Any:
    x = draw.any(least=2)
    first, second = draw.rng.permutation(x.ndim)[:2]
    return pt.diagonal(x, draw.integer(-2, 3), int(first), int(second))


@makes("AllocDiag", "BatchedDiag")
def diagonal_matrix(draw: Draw) -> Any:
    if draw.chance(0.3):
        return BatchedDiag()(draw.any(ndim=2))
    return pt.basic.alloc_diag(draw.any(least=1), draw.integer(-1, 2), axis1=-2, axis2=-1)


@makes("Repeat")
def repeat(draw: Draw) -> Any:
    x = draw.any(least=1)
    axis = draw.integer(0, x.ndim)
    count = draw.shape(x)[axis]
    repeats = draw.length(draw.integer(0, 4)) if draw.chance(0.5) else draw.rng.integers(0, 3, count)
    return extra_ops.Repeat(axis)(x, pt.as_tensor(repeats))


@makes("FillDiagonal", "FillDiagonalOffset")
def fill_diagonal(draw: Draw) -> Any:
    x = draw.any(ndim=2)
    value = pt.cast(draw.any(ndim=0, kinds="biuf"), x.dtype)
    if draw.chance(0.5):
        return pt.fill_diagonal(x, value)
    return pt.fill_diagonal_offset(x, value, draw.length(draw.integer(-2, 3)))


@makes("IfElse")
def branches(draw: Draw) -> Any:
    x = draw.any()
    other = draw.operand(x)
    return conditional.ifelse(draw.any(ndim=0, kinds="biuf") > 0, x, other)


@makes("CheckAndRaise")
def check(draw: Draw) -> Any:
    x = draw.any()
    return Assert("a number is too large")(x, pt.all(draw.real() < 50), pt.gt(draw.length(2), 1))


@makes("OpFromGraph")
def graph_in_an_op(draw: Draw) -> Any:
    x, y = draw.any(), draw.any()
    one, other = x.type(), y.type()
    return OpFromGraph([one, other], [one.sum() + 1, pt.exp(other) * 2])(x, y)


@makes("Blockwise")
def batch(draw: Draw) -> Any:
    x = draw.any(ndim=3)
    length = draw.shape(x)[-1]
    cumulative = Blockwise(extra_ops.CumOp(axis=0), signature="(i)->(i)")(x)
    i = draw.vector(draw.rng.integers(-length, length, 2))
    return draw.choose([cumulative, pt.vectorize(lambda row: row[i], signature="(n)->(m)")(x)])


# ---- indexing ----


def key(draw: Draw, lengths: Sequence[int], *, advanced: bool) -> tuple[Any, ...]:
    """A key of ``x[key]``: numbers, slices, new axes, arrays."""
    entries: list[Any] = []
    rows = draw.integer(1, 4)
    for length in lengths[: draw.integer(1, len(lengths) + 1)]:
        kind = draw.choose(["number", "slice", "slice", "backwards", "all", "array" if advanced else "slice"])
        if kind == "number" and length:
            entries.append(draw.length(draw.integer(-length, length)))
        elif kind in ("slice", "backwards"):
            ends = [draw.choose([None, draw.length(draw.integer(-length - 2, length + 3))]) for _ in range(2)]
            entries.append(slice(*ends, -draw.integer(1, 3) if kind == "backwards" else draw.choose([None, 1, 2])))
        elif kind == "array" and length:
            entries.append(draw.vector(draw.rng.integers(-length, length, rows)))
        else:
            entries.append(slice(None))
        if draw.chance(0.1):
            entries.append(None)
    if draw.chance(0.2):
        entries.append(...)
    return tuple(entries)


@makes("Subtensor")
def part(draw: Draw) -> Any:
    x = draw.any(least=1)
    return x[key(draw, draw.shape(x), advanced=False)]


@makes("AdvancedSubtensor", "AdvancedSubtensor1", "MakeSlice")
def selected(draw: Draw) -> Any:
    x = draw.any(least=1)
    if draw.chance(0.2):
        return x[np.asarray(draw.rng.random(draw.shape(x)[0]) < 0.5)]
    return x[key(draw, draw.shape(x), advanced=True)]


@makes("RavelMultiIndex", "UnravelIndex")
def positions(draw: Draw) -> Any:
    i, j = (draw.vector(draw.rng.integers(0, length, 3)) for length in (3, 4))
    flat = pt.ravel_multi_index((i, j), (3, 4))
    return draw.choose([flat, list(pt.unravel_index(flat, (2, 6)))])


@makes("Nonzero")
def nonzero(draw: Draw) -> Any:
    x = draw.any(least=1)
    return x[pt.as_tensor(draw.rng.random(draw.shape(x)) < 0.5).nonzero()]


@makes("IncSubtensor", "AdvancedIncSubtensor", "AdvancedIncSubtensor1")
def changed(draw: Draw) -> Any:
    x = draw.any(least=1)
    found = x[key(draw, draw.shape(x), advanced=draw.chance(0.5))]
    draw.take(found)
    shape = draw.shape(found)[draw.integer(0, found.ndim + 1) :]
    update = draw.new(tuple(1 if draw.chance(0.15) else each for each in shape), x.dtype)
    options = {"inplace": draw.chance(0.3)} | ({"set_instead_of_inc": draw.chance(0.5)})
    if options["set_instead_of_inc"] or x.dtype == "bool":
        return pt.subtensor.set_subtensor(found, update, inplace=options["inplace"])
    return pt.subtensor.inc_subtensor(found, update, inplace=options["inplace"])


@makes("PermuteRowElements")
def permuted(draw: Draw) -> Any:
    x = draw.any(ndim=1)
    order = pt.argsort(draw.vector(draw.rng.permutation(draw.shape(x)[0])))
    return basic.PermuteRowElements(inverse=draw.chance(0.5))(x, order)


# ---- reductions, orders, rows ----


def axes(draw: Draw, x: Any) -> Any:
    chosen = [axis for axis in range(x.ndim) if draw.chance(0.5)]
    return None if draw.chance(0.3) or not chosen else tuple(chosen)


@makes("CAReduce")
def reduction(draw: Draw) -> Any:
    x = draw.any(least=1)
    if x.dtype == "bool":
        return draw.choose([pt.all, pt.any, pt.sum])(x, axis=axes(draw, x))
    if x.dtype.startswith("complex"):
        return draw.choose([pt.sum, pt.prod])(x, axis=axes(draw, x))
    return draw.choose([pt.sum, pt.prod, pt.max, pt.min])(x, axis=axes(draw, x), keepdims=draw.chance(0.3))


@makes("ProdWithoutZeros")
def product_without_zeros(draw: Draw) -> Any:
    x = draw.any(least=1, kinds="f")
    return tensor_math.ProdWithoutZeros(axis=axes(draw, x))(x)


@makes("Argmax")
def argmax(draw: Draw) -> Any:
    x = draw.any(least=1, kinds="iuf")
    return pt.argmax(x, axis=axes(draw, x))


@makes("CumOp")
def cumulative(draw: Draw) -> Any:
    x = draw.any(least=1)
    axis = draw.choose([None, draw.integer(0, x.ndim)])
    if x.type.dtype[0] in "biu":  # PyTensor's types promise the same dtype, and its values have 64 bits
        x = pt.cast(x, "int64")
    return draw.choose([pt.cumsum, pt.cumprod])(x, axis=axis)


@makes("SortOp", "ArgSortOp")
def order(draw: Draw) -> Any:
    x = draw.any(least=1, kinds="biuf")
    axis = draw.choose([None, draw.integer(-x.ndim, x.ndim)])
    return pt.sort(x, axis) if draw.chance(0.5) else pt.argsort(x, axis, kind="stable")


@makes("SearchsortedOp")
def searchsorted(draw: Draw) -> Any:
    return pt.searchsorted(pt.sort(draw.real(ndim=1)), draw.real(), side=draw.choose(["left", "right"]))


@makes("Convolve1d")
def convolution(draw: Draw) -> Any:
    x = draw.real(ndim=1)
    return pt.signal.convolve1d(x, draw.new((2,), x.dtype), mode=draw.choose(["full", "valid", "same"]))


@makes("SplineWrapper")
def spline(draw: Draw) -> Any:
    make = draw.choose([make_interp_spline, InterpolatedUnivariateSpline])
    curve = make(np.arange(5.0), draw.rng.normal(size=5), k=draw.choose([1, 2, 3]))
    return dist_math.SplineWrapper(curve)(draw.any(ndim=1, kinds="f", dtype="float64"))


@makes("Softmax", "LogSoftmax", "SoftmaxGrad")
def softmax(draw: Draw) -> Any:
    x = draw.any(least=1, kinds="f")
    axis = draw.choose([None, draw.integer(-x.ndim, x.ndim)])
    result = draw.choose([rows.softmax, rows.log_softmax])(x, axis=axis)
    return [result, pytensor.grad((result * draw.operand(x)).sum(), x)] if draw.chance(0.5) else result


@makes("LogSumExp")
def logsumexp(draw: Draw) -> Any:
    x = draw.any(least=1, kinds="f")
    return pt.logsumexp(x, axis=draw.choose([None, draw.integer(-x.ndim, x.ndim)]), keepdims=draw.chance(0.5))


@makes("LogAddExp")
def logaddexp(draw: Draw) -> Any:
    return pt.logaddexp(*draw.alike(2))


@makes("XLogY", "XLog1PY")
def product_with_logarithm(draw: Draw) -> Any:
    return draw.choose([rows.xlogy, rows.xlog1py])(*draw.alike(2))


def names_in(nodes: Sequence[Apply]) -> set[str]:
    """The names of the ops of a graph."""
    found = {name_of(each.op) for each in nodes} | {"Blockwise" for each in nodes if isinstance(each.op, Blockwise)}
    return {each for each in found if each is not None}

"""PyTensor's graphs, run op by op by PyTensor's own Python code: nothing is rewritten, and nothing is compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np
from pytensor.compile.builders import OpFromGraph
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.traversal import ancestors, toposort
from pytensor.link.c.op import COp
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar.basic import LE, Add, Cast, Cosh, Exp, Expm1, Mul, RoundHalfAwayFromZero
from pytensor.scalar.loop import ScalarLoop
from pytensor.scalar.math import Erfc, GammaLn, PolyGamma, TriGamma
from pytensor.tensor.basic import ARange
from pytensor.tensor.elemwise import CAReduce, Elemwise
from pytensor.tensor.extra_ops import FillDiagonalOffset
from pytensor.tensor.math import Dot, ProdWithoutZeros
from pytensor.tensor.special import LogSoftmax

from numbagraph.pymc_bridge.compatibility import blas, conditional, indexing, linalg, math
from numbagraph.pymc_bridge.translations.linalg import TABLE, core_of
from tests.fuzz.near import perturbed, perturbed_matrix

IfElse = conditional.IfElse
LONGEST = 1e9
"""Elements of an array: one that is longer is an error."""
EXACT = frozenset(
    """
    AdvancedSubtensor AdvancedSubtensor1 Alloc AllocDiag Assert CheckAndRaise CpuContiguous DeepCopyOp DimShuffle
    ExtractDiag IfElse Join JoinDims MakeVector Reshape ScalarFromTensor SortOp SpecifyShape Split SplitDims Subtensor
    TensorFromScalar
    """.split()
)
"""Ops that round nothing: they move elements."""
BY_ROWS = (linalg.Cholesky, linalg.CholeskySolve, linalg.SolveTriangular)
"""Functions of matrices whose algorithm leaves small elements apart from large ones."""
ELIMINATING = (linalg.Solve, linalg.MatrixInverse, linalg.Det, linalg.SLogDet, linalg.LU, linalg.LUFactor, linalg.QR)
"""Those that add multiples of rows to others. All that are not named here rotate a matrix; PyTensor's `LogDet` does so,
too, since it sums logarithms of singular values."""
SCALED = (blas.Gemv, blas.Gemm, blas.Ger)
PRODUCTS = (Dot, blas.Dot22, blas.BatchedDot)
SELECTING = (indexing.AdvancedSubtensor, indexing.AdvancedSubtensor1)
UPDATING = (indexing.AdvancedIncSubtensor, indexing.AdvancedIncSubtensor1)
SUMS = {Add: np.add, Mul: np.multiply}
"""Ops of any number of operands, which NumPy's functions take two of."""
SMALL = 1e-5
"""A constant that is compared with terms of a series is below this."""
FAR_BELOW = -1e6
"""SciPy's polygamma takes a step for each unit between an argument and 0."""
HUGE = 1e15
HUGE_SINGLE = 1e6
"""Where the elements of a matrix are larger, or no numbers, LAPACK says nothing about its functions: what it adds to
others takes all of their digits."""


class Failed:
    """What is there in place of a value that could not be computed."""

    def __init__(self, errors: Sequence[Exception]) -> None:
        self.errors = each_once(errors)


def each_once(errors: Sequence[Exception]) -> list[Exception]:
    """Errors without repetition: as many ways as lead from one to a result, so often it would be there."""
    return list({id(each): each for each in errors}.values())


class Undecided(np.linalg.LinAlgError):
    """PyTensor's Python code has no answer of its own: an error is as good as any value."""


class OfNativeCode(np.linalg.LinAlgError):
    """An error of native code: PyTensor's own, which runs where that refuses lengths, has other answers, or none."""


class TooLong(ValueError):
    """An array is longer than an array may be, or than there is memory for: then NumPy has a `MemoryError`."""


class Failures(Exception):
    """All errors of a graph, which one function would raise one of."""

    def __init__(self, errors: Sequence[Exception]) -> None:
        self.errors = each_once(errors)
        super().__init__("; ".join(map(repr, self.errors)))


Values = dict[Variable, Any]


class Evaluation:
    """Some variables, ready to be computed of others again and again."""

    def __init__(self, outputs: Sequence[Variable], inputs: Sequence[Variable]) -> None:
        self.outputs = list(outputs)
        self.order = list(toposort(outputs, blockers=list(inputs)))
        found = {each for each in ancestors(outputs, blockers=list(inputs)) if each.owner is None}
        self.constants = {each: each.data for each in found if isinstance(each, Constant)}
        self.shared = [each for each in found - set(inputs) if isinstance(each, SharedVariable)]
        self.runs: dict[Apply, Callable[..., list[Any]]] = {}
        self.anywhere = False
        """Whether index arrays out of bounds select some elements, instead of raising an error."""

    def __call__(self, given: Mapping[Variable, Any], rounding: np.random.Generator | None = None) -> list[Any]:
        """The values, in memory of their own; with ``rounding``, each result has another error."""
        values = self.compute(given, rounding)
        failed = [values[each] for each in self.outputs if isinstance(values[each], Failed)]
        if failed:
            raise Failures([error for each in failed for error in each.errors])
        return [np.array(values[each]) for each in self.outputs]

    def compute(self, given: Mapping[Variable, Any], rounding: np.random.Generator | None = None) -> Values:
        """The values of all variables on the way."""
        values = {**self.constants, **{each: each.get_value() for each in self.shared}, **given}
        for node in self.order:
            if any(each not in values for each in node.outputs):
                results = self.results_of(node, [values[each] for each in node.inputs], rounding)
                values.update(zip(node.outputs, results, strict=True))
        return values

    def results_of(self, node: Apply, inputs: list[Any], rounding: np.random.Generator | None) -> list[Any]:
        if isinstance(node.op, IfElse):
            return branch_of(node, inputs)
        errors = [error for each in inputs if isinstance(each, Failed) for error in each.errors]
        if isinstance(node.op, CheckAndRaise) and not all(map(is_true, inputs[1:])):
            errors.append(node.op.exc_type(node.op.msg))  # its conditions have values, though what they guard has none
        if errors and isinstance(node.op, SELECTING):
            errors.append(IndexError("positions may not fit what there would be"))
            if any(isinstance(each, (MemoryError, TooLong)) for each in errors):
                errors.append(Undecided("what is selected of an array that is filled needs no memory for it"))
        if errors and is_overwritten(node):
            errors.append(Undecided("what nobody reads raises no error: docs/sharp_bits.md"))
        if errors:
            return [Failed(errors)] * len(node.outputs)
        try:
            with np.errstate(all="ignore"):
                if node not in self.runs:
                    self.runs[node] = run_of(node)
                results = self.runs[node](inputs, rounding)
        except IndexError as error:
            found = self.in_bounds(node, inputs, rounding) if self.anywhere else None
            if found is None:
                return [Failed([error])] * len(node.outputs)
            results = found
        except Exception as error:  # noqa: BLE001  whatever an op raises is what is expected
            empty = any(0 in getattr(each.type, "shape", ()) for each in node.outputs)
            needs_none = empty and "array is too big" in str(error)  # an array without elements needs no memory
            return [Failed([Undecided(str(error)) if needs_none else error])] * len(node.outputs)
        if rounding is None or type(core_of(node.op)).__name__ in EXACT:
            return results
        if isinstance(node.op, SCALED):
            results = in_another_order(node.op, inputs, rounding)
        if isinstance(core_of(node.op), PRODUCTS):
            results = [product_in_another_way(*inputs, each, rounding) for each in results]
        if isinstance(node.op, CAReduce):  # of a sum whose terms cancel, their order decides what is left
            results = self.runs[node]([perturbed(each, rounding) for each in inputs], rounding)
        if type(core_of(node.op)) in TABLE:
            results = self.of_near_operands(node, inputs, results, rounding)
        return rounded(node, inputs, results, rounding)

    def in_bounds(self, node: Apply, inputs: list[Any], rounding: np.random.Generator | None) -> list[Any] | None:
        """What an op gives for positions that are in bounds, if it is one that takes positions."""
        lengths = [each for each in np.shape(inputs[0]) if each]
        if not isinstance(node.op, (*SELECTING, *UPDATING)) or not lengths:
            return None
        arrays = 2 if isinstance(node.op, UPDATING) else 1
        positions = [wrapped(each, min(lengths)) for each in inputs[arrays:]]
        try:
            return self.runs[node]([*inputs[:arrays], *positions], rounding)
        except IndexError:  # along a dimension without elements there is none
            return None

    def of_near_operands(
        self, node: Apply, inputs: list[Any], results: list[Any], rounding: np.random.Generator
    ) -> list[Any]:
        """LAPACK's results are right for operands near those that are given: what is 0 for these may be of either sign.
        An error of an op stays what it is."""
        core: Any = core_of(node.op)
        near = partial(perturbed_matrix, rotated=not isinstance(core, ELIMINATING))
        near = perturbed if isinstance(core, BY_ROWS) else near
        try:
            with np.errstate(all="ignore"):
                found = self.runs[node]([near(each, rounding) for each in inputs], rounding)
                if isinstance(core, math.LogDet):
                    return [logarithm_of_none(*each, rounding) for each in zip(found, results, strict=True)]
                return [cancelled(*each, rounding) for each in zip(found, results, strict=True)]
        except Exception:  # noqa: BLE001
            return results


def is_overwritten(node: Apply) -> bool:
    """Whether an op replaces all of an array."""
    op: Any = node.op
    return (
        isinstance(op, indexing.IncSubtensor)
        and op.set_instead_of_inc
        and all(each == slice(None) for each in op.idx_list)
    )


def is_true(condition: Any) -> bool:
    return isinstance(condition, Failed) or bool(condition)


def wrapped(positions: Any, length: int) -> Any:
    """Positions that are in bounds of a length."""
    if not isinstance(positions, np.ndarray) or positions.dtype.kind not in "iu":
        return positions
    return positions.astype(np.int64) % length


def rounded(node: Apply, inputs: list[Any], results: list[Any], rounding: np.random.Generator) -> list[Any]:
    """An op's results with other rounding errors, where it has any."""
    if isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, Cast):
        return [converted(inputs[0], results[0], rounding)]
    if type(core_of(node.op)) in TABLE and any(is_huge(each, largest_for(core_of(node.op), each)) for each in inputs):
        numbers = rounding.normal(size=5) * [0.1, 1, 10, 1e2, 1e4]
        noise = rounding.choice([np.nan] * 4 + [np.inf, -np.inf, 0.0, *numbers])
        return [np.full(np.shape(each), noise).astype(each.dtype) for each in results]
    if isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, ScalarLoop):
        largest = precision_of(node.op.scalar_op)
        results = [each + largest * rounding.uniform(-1, 1, np.shape(each)) for each in results[:-1]] + results[-1:]
    results = [with_errors(each, inputs, rounding) for each in results]
    if isinstance(node.op, LogSoftmax) or (isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, GammaLn)):
        # they are right to their zeros, not to the digits of small results
        return [each + 2 * np.finfo(each.dtype).eps * rounding.uniform(-1, 1, np.shape(each)) for each in results]
    if isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, (Cosh, Erfc, Exp, Expm1)):
        return [of_finite_logarithm(each, inputs[0]) for each in results]
    if type(node.op).__name__ == "SplineWrapper":  # powers of numbers far away overflow in one order, and not in others
        return [np.where(np.abs(inputs[0]) > HUGE, rounding.choice([np.nan, -np.inf, np.inf, 0.0]), results[0])]
    return results


def of_finite_logarithm(result: Any, x: Any) -> Any:
    """An exponential, or the like, that neither overflows nor underflows: the logarithm of its double is finite."""
    if result.dtype.kind != "f":
        return result
    limits = np.finfo(result.dtype)
    kept = np.where(np.isinf(result) & np.isfinite(x), np.sqrt(limits.max), result)
    return np.where((result == 0) & np.isfinite(x) & (x != 0), np.sqrt(limits.tiny), kept).astype(result.dtype)


def cancelled(near: Any, result: Any, rng: np.random.Generator) -> Any:
    """A result for other operands; what is no larger than its error may as well be 0, of
    either sign."""
    array = np.array(near)
    if array.dtype.kind in "fc" and array.shape == np.shape(result):
        lost = (np.abs(near - result) >= np.abs(result) / 2) & (rng.random(array.shape) < 0.5)
        array[lost] = np.copysign(0, rng.normal(size=lost.sum()))
    return array


def logarithm_of_none(near: Any, result: Any, rng: np.random.Generator) -> Any:
    """The logarithm of a determinant for another matrix; of one that is singular but for rounding, it may be of 0."""
    lost = (np.abs(near - result) > np.log(1.5)) & (rng.random(np.shape(near)) < 0.5)
    return np.where(lost, -np.inf, near).astype(np.asarray(near).dtype)


def in_another_order(op: Any, inputs: list[Any], rng: np.random.Generator) -> list[Any]:
    """A product of two matrices and a number, which BLAS takes in the order that it likes: that decides what overflows
    on the way. What has a factor of 0 BLAS does not read, and PyTensor's own code, where it finds no BLAS, does."""
    added, number, x, y, *factor = inputs
    if isinstance(op, blas.Ger):
        x, y, factor = x[:, None], y[None], [added.dtype.type(1)]
    with np.errstate(all="ignore"):
        products = (lambda: (number * x) @ y, lambda: x @ (number * y), lambda: number * (x @ y))
        parts = [(factor[0], factor[0] * added), (number, products[int(rng.integers(3))]())]
        if rng.integers(2):
            parts = [(each, part if each else np.zeros_like(part)) for each, part in parts]
        return [parts[0][1] + parts[1][1]]


def product_in_another_way(x: Any, y: Any, result: Any, rng: np.random.Generator) -> Any:
    """A product of matrices of which zeros read nothing, as those of a diagonal matrix; where a product overflows, or a
    sum of them does, it is a matter of order and of fused operations what comes out."""
    x, y, found = (np.asarray(each) for each in (x, y, result))
    if found.dtype.kind not in "fc":
        return result
    left, right = x if x.ndim > 1 else x[None], y if y.ndim > 1 else y[:, None]
    with np.errstate(all="ignore"):
        products = left[..., :, :, None] * right[..., None, :, :]
        zero = (left == 0)[..., :, :, None] | (right == 0)[..., None, :, :]
        without = np.where(zero, 0, products).sum(-2).reshape(found.shape).astype(found.dtype)
        finite = np.isfinite(left)[..., :, :, None] & np.isfinite(right)[..., None, :, :]
        infinite = np.isinf(products).any(-2).reshape(found.shape)  # of equal factors it is their product with a sum
        wide = left[..., :, :, None] * right[..., None, :, :].astype(np.clongdouble)
        sizes = np.where(finite, np.abs(wide), 0).sum(-2)
        fused = (wide if found.dtype.kind == "c" else wide.real).sum(-2).reshape(found.shape).astype(found.dtype)
    overflows = ~(sizes <= np.finfo(found.dtype).max).reshape(found.shape)
    ends = np.where(rng.random(found.shape) < 0.5, fused, rng.choice([np.nan, np.inf, -np.inf], found.shape))
    changed = np.where(overflows | (infinite & np.isnan(found)), ends, found)
    unread = np.isnan(found) & ~np.isnan(without) & (rng.random() < 0.5)
    return np.where(unread, without, changed).astype(found.dtype)


def precision_of(loop: ScalarLoop) -> float:
    """Where a loop ends that sums a series: when a term, or its logarithm, is below a constant."""
    if not loop.is_while:
        return 0.0
    compared = [each.owner for each in ancestors([loop.fgraph.outputs[-1]]) if each.owner is not None]
    bounds = [
        float(each.inputs[1].data)
        for each in compared
        if isinstance(each.op, LE) and isinstance(each.inputs[1], Constant)
    ]
    return max((np.exp(each) if each < 0 else each for each in bounds if each < SMALL), default=0.0)


def largest_for(core: Any, value: Any) -> float:
    """What elements of a matrix may be: an exponential must not overflow on the way."""
    dtype = np.asarray(value).dtype
    if isinstance(core, linalg.Expm) and dtype.kind in "fc":
        return float(np.log(np.finfo(dtype).max))
    return HUGE_SINGLE if dtype == np.float32 else HUGE


def is_huge(value: Any, largest: float) -> bool:
    with np.errstate(all="ignore"):
        sizes = np.abs(np.asarray(value).astype(complex))
    return not np.all(sizes <= largest)


def with_errors(result: Any, inputs: list[Any], rng: np.random.Generator) -> Any:
    """A result with rounding errors: those of its operands' dtype, where NumPy computes in that one."""
    kinds = {np.asarray(each).dtype for each in inputs if np.asarray(each).dtype.kind in "fc"}
    if kinds == {np.dtype(np.float32)} and np.asarray(result).dtype == np.float64:
        return perturbed(np.asarray(result, np.float32), rng).astype(np.float64)
    return perturbed(result, rng)


def branch_of(node: Apply, inputs: list[Any]) -> list[Any]:
    """The results of the branch that is taken; what is in the other one does not matter."""
    condition, *branches = inputs
    count = node.op.n_outs
    if isinstance(condition, Failed):
        return [condition] * count
    return branches[:count] if condition else branches[count:]


def run_of(node: Apply) -> Callable[..., list[Any]]:
    """What runs an op's Python code."""
    if isinstance(node.op, OpFromGraph):
        inner = node.op.fgraph
        inside = Evaluation(inner.outputs, inner.inputs)

        def run_graph(inputs: list[Any], rounding: Any) -> list[Any]:
            values = inside.compute(dict(zip(inner.inputs, inputs, strict=True)), rounding)
            return [values[each] for each in inner.outputs]

        return run_graph
    if isinstance(node.op, ProdWithoutZeros):  # PyTensor's Python code lacks the identity that its C code begins with
        return lambda inputs, _: [product_without_zeros(node, inputs[0])]
    if isinstance(node.op, ARange):
        return lambda inputs, _: [arange(node, inputs)]
    if isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, Cast):  # PyTensor's Python code takes some for
        dtype = node.outputs[0].type.dtype  # Python's numbers, which raise errors where they do not fit
        return lambda inputs, _: [np.asarray(inputs[0]).astype(dtype)]
    if isinstance(node.op, Elemwise) and type(node.op.scalar_op) in SUMS and len(node.inputs) > 2:
        return lambda inputs, _: [sum_of(node, inputs)]  # Python's numbers, again
    if isinstance(node.op, CAReduce) and node.inputs[0].type.ndim == 0:
        dtype = node.outputs[0].type.dtype  # PyTensor has an axis of a number; its Python code alone does not
        return lambda inputs, _: [np.asarray(node.op.ufunc.reduce(inputs[0], axis=None), dtype)]
    thunk = thunk_of(node)
    core = core_of(node.op)

    def run(inputs: list[Any], _: Any) -> list[Any]:
        if node.op.destroy_map:
            inputs = [each.copy() if isinstance(each, np.ndarray) else each for each in inputs]
        require_answer(node, inputs)
        try:
            results = thunk(widened(node, inputs))
        except NotImplementedError as error:  # a batch without elements
            raise Undecided(str(error)) from error
        except ValueError as error:
            if isinstance(core, linalg.Solve) and ("broadcast" in str(error) or not are_finite(inputs)):
                raise Undecided(str(error)) from error  # of a batch: what has no solution has the matrix's shape
            raise
        if isinstance(core, linalg.Solve) and np.all(np.isnan(results[0])):  # PyTensor gives them the matrix's shape
            results = [np.full(shape_of_solution(core, *inputs), np.nan, results[0].dtype)]
        if isinstance(core, linalg.Solve) and results[0].shape != shape_of_solution(core, *inputs):
            raise Undecided("one matrix of a batch has no solution, and makes PyTensor's others those of its shape")
        if isinstance(core, linalg.Solve) and not are_finite(inputs) and np.array_equal(results[0], inputs[1]):
            raise Undecided("SciPy gives the right-hand side back where the matrix is not finite")
        if isinstance(core, linalg.LU) and not core.permute_l:
            results = [permutation_of(inputs[0], results[0]), *results[1:]]
        if isinstance(getattr(node.op, "scalar_op", None), RoundHalfAwayFromZero):
            results = [np.copysign(results[0], inputs[0])]  # PyTensor's Python code has -0.0 for 0.0, its C code 0.0
        return [as_declared(value, each) for value, each in zip(results, node.outputs, strict=True)]

    return run


def product_without_zeros(node: Apply, x: Any) -> np.ndarray:
    if not np.size(x):
        raise Undecided("PyTensor's product of no numbers is 0")
    axes: Any = node.op
    return np.prod(np.where(x == 0, 1, x), axis=axes.axis).astype(node.outputs[0].type.dtype)


def are_finite(arrays: list[Any]) -> bool:
    return all(np.all(np.isfinite(each)) for each in arrays)


def sum_of(node: Apply, inputs: list[Any]) -> np.ndarray:
    """A sum or product of several operands, in the dtype of the result."""
    op: Any = node.op
    op._check_runtime_broadcast(node, inputs)
    dtype = node.outputs[0].type.dtype
    return np.asarray(reduce(SUMS[type(op.scalar_op)], [np.asarray(each).astype(dtype) for each in inputs]))


def require_answer(node: Apply, inputs: list[Any]) -> None:
    """Raise where PyTensor's Python code, or LAPACK, has no answer that is worth waiting for."""
    core, operand = core_of(node.op), np.asarray(inputs[0])
    if isinstance(getattr(core, "scalar_op", None), (PolyGamma, TriGamma)):
        x = np.asarray(inputs[-1])
        if np.any((x < FAR_BELOW) & (x != np.floor(x))):
            raise Undecided("SciPy would take hours")
    if isinstance(core, FillDiagonalOffset) and not -operand.shape[0] <= inputs[2] <= operand.shape[1]:
        raise Undecided("PyTensor counts a negative number of elements from the end of the matrix")
    if isinstance(core, (linalg.SVD, linalg.MatrixPinv, math.LogDet)) and not np.all(np.isfinite(operand)):
        native = operand.dtype.kind != "c" and not isinstance(core, math.LogDet)
        raise (OfNativeCode if native else Undecided)("SVD did not converge")  # after hours, if at all


def permutation_of(a: np.ndarray, found: np.ndarray) -> np.ndarray:
    """That of PyTensor, which is complex if the matrix is."""
    if not a.size and a.shape[-2]:
        raise Undecided("SciPy's has no rows where a matrix without columns has some: docs/limits.md")
    return np.real(found)


def shape_of_solution(core: Any, a: np.ndarray, b: np.ndarray) -> tuple[int, ...]:
    batch, columns = b.shape[: b.ndim - core.b_ndim], b.shape[b.ndim - core.b_ndim :]
    return np.broadcast_shapes(a.shape[:-2], batch) + columns


def thunk_of(node: Apply) -> Callable[[list[Any]], list[Any]]:
    """What runs an op's Python code on values, and gives what it gives."""
    storage: dict[Variable, list[Any]] = {each: [None] for each in (*node.inputs, *node.outputs)}
    done = {each: [True] for each in storage}
    thunk = node.op.make_thunk(node, storage, done, [], "py" if isinstance(node.op, COp) else None)

    def run(inputs: list[Any]) -> list[Any]:
        for variable, value in zip(node.inputs, inputs, strict=True):
            storage[variable][0] = value
        for variable in node.outputs:
            storage[variable][0] = None
        thunk()
        return [storage[each][0] for each in node.outputs]

    return run


def widened(node: Apply, inputs: list[Any]) -> list[Any]:
    """Small integers, whose real functions NumPy computes in half or single precision, in more bits."""
    kinds = {np.dtype(each.type.dtype).kind for each in node.outputs if hasattr(each.type, "dtype")}
    if not isinstance(node.op, Elemwise) or kinds != {"f"}:
        return inputs
    arrays = [np.asarray(each) for each in inputs]
    return [each.astype(np.int32) if each.dtype.kind in "iub" and each.itemsize < 4 else each for each in arrays]


def arange(node: Apply, ends: list[Any]) -> np.ndarray:
    """NumPy's, whose numbers of integers overflow without a word; but it rounds their count: see docs/limits.md."""
    start, stop, step = (np.asarray(each).item() for each in ends)
    if step and (stop - start) / step > LONGEST:
        raise TooLong("Maximum allowed size exceeded")
    if step and all(isinstance(each, int) for each in (start, stop, step)):
        return np.array(range(start, stop, step)).astype(node.outputs[0].type.dtype)
    return np.arange(start, stop, step, dtype=node.outputs[0].type.dtype)


def as_declared(value: Any, variable: Variable) -> Any:
    """The value in the dtype that its type has: a few of PyTensor's ops give another one.

    Where the value is complex, and the type is not, the value's counts.
    """
    dtype = getattr(variable.type, "dtype", None)
    if not isinstance(value, np.ndarray) or dtype is None or value.dtype.kind == "c":
        return value
    return value.astype(dtype, copy=False)


def converted(given: Any, result: Any, rng: np.random.Generator) -> Any:
    """A conversion to integers: of what they do not hold, anything may come out."""
    given, result = np.asarray(given), np.array(result)
    if given.dtype.kind not in "fc" or result.dtype.kind not in "iu":
        return result
    limits = np.iinfo(result.dtype)
    outside = ~((given.real > float(limits.min) - 1) & (given.real < float(limits.max)))
    result[outside] = rng.integers(0, 100, outside.sum())
    return result

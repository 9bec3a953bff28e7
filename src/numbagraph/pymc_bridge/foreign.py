"""PyTensor's own implementations of ops: of those that have no translation, and where native code refuses lengths."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pytensor
from pytensor.compile.builders import OpFromGraph
from pytensor.compile.mode import Mode
from pytensor.graph.basic import Apply, Variable, clone_get_equiv
from pytensor.graph.traversal import toposort, walk
from pytensor.link.c.op import COp
from pytensor.link.vm import VMLinker
from pytensor.scalar.basic import Add, Cast, Mul
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.extra_ops import CumOp
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.type import TensorType

from numbagraph.ir.shapes import ShapeError
from numbagraph.ir.structs import cached_property
from numbagraph.pymc_bridge.array_function import TypeRefused
from numbagraph.pymc_bridge.compatibility import conditional, linalg, running_dtype
from numbagraph.pymc_bridge.graph_partition import Partition
from numbagraph.pymc_bridge.importer import describe
from numbagraph.pymc_bridge.sampling.initial_point import INLINED
from numbagraph.pymc_bridge.translations.draws import NotDrawn
from numbagraph.pymc_bridge.translations.sparse_matrix import is_sparse

Cell = list[Any]
"""The cell in which PyTensor keeps the value of a variable: a list of one element."""


REFUSALS = (ShapeError, TypeRefused)
"""The errors of native code for lengths that it is not made for, and for arrays that are not of their variables'
types."""


class FallbackWarning(UserWarning):
    """An op has no translation, or is not made for the lengths that it is given, so PyTensor runs it."""


def foreign_step(node: Apply, storage: dict[Variable, Cell]) -> Callable[[], None]:
    """PyTensor's own implementation of an op, without compiling C for it."""
    op: Any = node.op
    implementation = "py" if isinstance(op, COp) else None
    thunk = op.make_thunk(node, storage, {each: [True] for each in storage}, [], implementation)
    thunk.inputs = [storage[each] for each in node.inputs]
    thunk.outputs = [storage[each] for each in node.outputs]

    def step() -> None:
        try:
            thunk()
        except Exception as error:
            error.add_note(f"  in PyTensor's op {op}, which computes {describe(node.outputs[0])}")
            raise

    return step


class ByPytensor:
    """Computes a partition by PyTensor's Python code, which is compiled on the first call."""

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.warned: set[str] = set()
        """The refusals of which a warning has told."""

    def __call__(self, arrays: Sequence[Any], refusal: ShapeError | TypeRefused) -> Sequence[Any]:
        """Compute the results where native code refuses lengths: PyTensor may accept them, as it decides at run time.
        The same holds for results of its own ops that are complex where their types are real.

        If it does not, or if they are not those that its types promise, the error is the refusal, which names the
        user's line, unless PyTensor raises one of another kind.
        """
        if not all(map(can_be_given, self.partition.inputs, arrays)):
            raise refusal
        try:
            results = self.function(*arrays)
        except Exception as error:
            if isinstance(refusal, type(error)) and not isinstance(refusal, NotDrawn):
                raise refusal from error
            raise
        text = f"PyTensor itself runs what native code is not made for: {refusal}"
        if text not in self.warned:
            self.warned.add(text)
            warnings.warn(text, FallbackWarning, stacklevel=2)
        return list(map(as_promised, self.partition.outputs, results))

    @cached_property
    def function(self) -> Callable[..., Sequence[Any]]:
        """The function that PyTensor makes of the partition. It also computes the inputs of graphs inside of ops: once
        these are inlined, unused inputs would be removed, with their errors."""
        inputs, outputs = self.partition.inputs, self.partition.outputs
        given: Any = {each: each.type() for each in inputs}  # a shared variable cannot be an argument itself
        copies: Any = clone_get_equiv(inputs, outputs, memo={**given})
        mode = Mode(VMLinker(use_cloop=False, c_thunks=False), INLINED)
        results = [copies[each] for each in outputs]
        required = given_inside(results)
        for node in toposort(results):
            op: Any = node.op
            if isinstance(op, RandomVariable) and op.inplace:
                node.op = type(op)(**{**op._props_dict(), "inplace": False})
            elif isinstance(op, Elemwise) and isinstance(op.scalar_op, Cast) and node.inputs[0].type.dtype != "bool":
                node.op = Elemwise(op.scalar_op, nfunc_spec=("positive", 1, 1))  # numbers wrap round, as in compiled
                # code: Python's would be an error
            elif is_of_many_integers(node):
                node.op = Elemwise(op.scalar_op, nfunc_spec=op.nfunc_spec)
                node.op.ufunc = OneByOne(op.nfunc_spec[0], node.outputs[0])
        options: Any = {"mode": mode, "on_unused_input": "ignore", "trust_input": True}
        run: Any = pytensor.function([*given.values()], [*results, *required], **options)
        return lambda *arrays: run(*arrays)[: len(results)]


def given_inside(outputs: Sequence[Variable]) -> list[Variable]:
    """The inputs of graphs inside of ops, except those for a branch, which may not be run."""

    def needed(variable: Variable) -> Sequence[Variable] | None:
        node: Any = variable.owner
        if node is None:
            return None
        return node.inputs[:1] if isinstance(node.op, conditional.IfElse) else node.inputs

    nodes = dict.fromkeys(each.owner for each in walk(outputs, needed))
    inside = [node for node in nodes if node is not None and isinstance(node.op, OpFromGraph)]
    return [each for node in inside for each in node.inputs if each.owner is not None]


def is_of_many_integers(node: Apply) -> bool:
    """Whether a node adds or multiplies more integers than NumPy's functions take: PyTensor does so with Python's
    integers."""
    op: Any = node.op
    is_one = isinstance(op, Elemwise) and isinstance(op.scalar_op, (Add, Mul))
    return is_one and len(node.inputs) > 2 and node.outputs[0].type.numpy_dtype.kind in "iu"


class OneByOne:
    """A function of NumPy of two arrays that takes any number of them. Integers wrap round, as in compiled code."""

    nout = 1

    def __init__(self, name: str, result: Any) -> None:
        self.ufunc: np.ufunc = getattr(np, name)
        self.dtype: np.dtype = result.type.numpy_dtype

    def __call__(self, *arrays: Any) -> Any:
        with np.errstate(over="ignore"):  # of numbers
            return reduce(lambda x, y: self.ufunc(x, y, dtype=self.dtype, casting="unsafe"), arrays)


def as_promised(variable: Variable, result: Any) -> Any:
    """Convert a result to an array of its type's dtype, which the caller may write to: Python code of some ops returns
    a number, another integer, or a read-only array. The kind of number stays that of the result."""
    kind: Any = variable.type
    if not isinstance(kind, TensorType) or is_sparse(variable):
        return result
    array, dtype = np.require(result, requirements="W"), promised_dtype(variable)
    if is_permutation(variable):
        array = np.array(array.real)
    return array.astype(dtype, copy=False) if (array.dtype.kind == "c") == (dtype.kind == "c") else array


def promised_dtype(variable: Variable) -> np.dtype:
    """The dtype of a result: that of its type, or the one that running sums really have."""
    kind: Any = variable.type
    node: Any = variable.owner
    if node is None or not isinstance(node.op, CumOp):
        return kind.numpy_dtype
    return running_dtype(kind.numpy_dtype, node.inputs[0].type.ndim, node.op.mode)


def is_permutation(variable: Variable) -> bool:
    """Whether a result is the permutation of an LU factorisation, which PyTensor makes complex if the matrix is."""
    op: Any = variable.owner.op if variable.owner is not None else None
    core = getattr(op, "core_op", op)
    return isinstance(core, linalg.LU) and not core.permute_l and getattr(variable, "index", None) == 0


def can_be_given(variable: Variable, array: Any) -> bool:
    """Whether an array is of a variable's type. If the variable is the result of an op, its dtype may differ: types of
    some results for complex matrices are not those of the values."""
    kind: Any = variable.type
    if variable.owner is not None and isinstance(array, np.ndarray) and hasattr(kind, "dtype"):
        kind = kind.clone(dtype=str(array.dtype))
    return kind.is_valid_value(array)

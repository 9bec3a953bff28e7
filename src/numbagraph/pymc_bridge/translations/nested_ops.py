"""Translation of ops around others: checks, graphs inside an op, and ops on batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pymc.data import MinibatchOp
from pymc.logprob.utils import CheckParameterValue
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply, Variable
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.basic import Alloc, ARange
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.math import Dot
from pytensor.tensor.shape import Reshape

from numbagraph.api.vmap import over_batches
from numbagraph.blockwise.promotion import convert
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL
from numbagraph.ir.values import Value
from numbagraph.pymc_bridge.importer import (
    Importer,
    UnsupportedOp,
    describe,
    handler_of,
    imports,
    static_shape,
)
from numbagraph.pymc_bridge.translations import linalg, structure
from numbagraph.pymc_bridge.translations.mathematics import all_of, matrix_product


@imports(CheckAndRaise, moves=True)
def check(importer: Importer, node: Apply, x: Value, *conditions: Value) -> Value:
    """The value as it is. The condition is kept apart: see `numbagraph.pymc_bridge.importer.finish`."""
    if isinstance(node.op, CheckParameterValue) and not importer.check_parameters:
        return x
    condition = all_of([registry["all"](convert(each, BOOL)) for each in conditions])
    importer.require(condition, node.op.msg, node.op.exc_type, node.outputs[0])
    return x


@imports(OpFromGraph, moves=True)
def inner_graph(importer: Importer, node: Apply, *inputs: Any) -> list[Any]:
    return importer.inner(node.op.fgraph, inputs)


BATCHED: dict[type, Callable[..., Any]] = {
    Dot: matrix_product,
    Alloc: structure.alloc_each,
    ARange: structure.arange_each,
    Reshape: structure.reshape_each,
    linalg.ops.PivotToPermutations: linalg.permutation,
    linalg.ops.LUFactorTridiagonal: linalg.tridiagonal_factors,
    linalg.ops.SolveLUFactorTridiagonal: linalg.tridiagonal_solution,
    **dict.fromkeys(linalg.TABLE, linalg.linear_algebra),
}
"""Translations of ops on batches, by the class of the op on one element of the batch."""


@imports(Blockwise)
def blockwise(importer: Importer, node: Apply, *inputs: Value) -> Any:
    core = node.op.core_op
    handler = BATCHED.get(type(core))
    if handler is not None:
        return handler(importer, node, *inputs)
    handler = handler_of(core)
    if handler is None:
        return importer.computed_now(node)
    checks = len(importer.requirements)

    def of_one(elements: list[Value]) -> list[Value]:
        results = handler(importer, of_one_element(node), *elements)
        return list(results) if isinstance(results, (list, tuple)) else [results]

    results = over_batches(of_one, inputs, [len(each) for each in node.op.inputs_sig], describe(node.outputs[0]))
    if len(importer.requirements) > checks:
        raise UnsupportedOp(f"PyTensor's op {core} on a batch has no translation: it checks each element")
    return results


def of_one_element(node: Apply) -> Apply:
    """The application of an op to one element of the batch that a `Blockwise` has."""

    def element(variable: Variable, core: Sequence[str]) -> Variable:
        return variable.type.clone(shape=static_shape(variable)[variable.ndim - len(core) :])(variable.name)

    inputs, outputs = (
        [element(*each) for each in zip(variables, cores, strict=True)]
        for variables, cores in ((node.inputs, node.op.inputs_sig), (node.outputs, node.op.outputs_sig))
    )
    return Apply(node.op.core_op, inputs, outputs)


IN_THE_MODE = 'PyTensor runs it in pm.sample and pm.fit with compile_kwargs={"mode": "NUMBAGRAPH"}'


@imports(MinibatchOp)
def minibatch(importer: Importer, node: Apply, *inputs: Any) -> Any:
    raise UnsupportedOp(
        f"{describe(node.outputs[0])} is a random part of the data (pm.Minibatch), another one for each evaluation: a "
        "compiled log-density has none",
        advice=f"Use all of the data here. {IN_THE_MODE}",
    )

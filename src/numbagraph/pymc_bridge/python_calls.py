"""PyTensor's ops that are Python alone, in compiled log-densities: native code calls their ``perform``.

Such are black-box likelihoods, solvers of differential equations, and functions under ``as_op``. Derivatives are those
that the op gives, as a graph of PyTensor.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pytensor.gradient import DisconnectedType
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.null_type import NullType
from pytensor.tensor.type import TensorType

from numbagraph.ir import shapes
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import canonical_dtype
from numbagraph.ir.values import Extent, Value
from numbagraph.ops.callback import Call, Callback, Kind, callback_of
from numbagraph.ops.rules.custom_rule import with_rule
from numbagraph.pymc_bridge.compatibility import inferred_shapes, pullback_of
from numbagraph.pymc_bridge.foreign import FallbackWarning
from numbagraph.pymc_bridge.importer import Importer, UnsupportedOp, describe, static_shape
from numbagraph.pymc_bridge.origin import origin_of
from numbagraph.pymc_bridge.sampling.failures import Failures

Shapes = Callable[[Importer, Apply], Sequence[tuple[int, ...]] | None]


class PythonCalls:
    """Makes callbacks of applications of ops, for one compiled model."""

    def __init__(self, probe: Shapes, failures: Failures, warned: set[str]) -> None:
        self.probe = probe
        """Finds the shapes of results by a run, for an op that does not infer them."""
        self.failures = failures
        self.known: dict[Any, Callback] = {}
        self.warned = warned

        self.expected: dict[Variable, tuple[Extent, ...]] = {}
        """The shapes that results must have, whatever their types say: a derivative has the shape of the variable that
        it is taken by."""

    def __call__(self, importer: Importer, node: Apply) -> list[Value] | None:
        """The results of an application; None if it is not one of arrays, or has no Python code."""
        values = [importer.values[each] for each in node.inputs]
        variables = (*node.inputs, *node.outputs)
        if not hasattr(node.op, "perform") or not all(isinstance(each.type, TensorType) for each in variables):
            return None
        if not all(isinstance(each, Value) for each in values):
            return None
        self.warn(node)
        sizes: list[Value] = []
        kinds = []
        shapes_of_results = self.shapes(importer, node)
        for each, shape in zip(node.outputs, shapes_of_results, strict=True):
            if not are_promised(each, shape):
                importer.doubted.add(each)
            known, passed = shapes.split_extents(shape)
            kinds.append(Kind(canonical_dtype(each.type.dtype), known))
            sizes += passed
        callback = self.callback(node, [Kind(each.dtype, (None,) * each.ndim) for each in values], kinds)
        results = callback.applied(values, sizes)
        rule = Derivative(self, importer, node, results)
        return with_rule(results, values, rule.cotangents)

    def warn(self, node: Apply) -> None:
        name = str(node.op)
        if name not in self.warned:
            self.warned.add(name)
            warnings.warn(
                f"PyTensor's op {name} runs in Python at each evaluation (it computes {describe(node.outputs[0])}): "
                "a call takes 3 µs more than the op itself, and chains wait for each other meanwhile",
                FallbackWarning,
                stacklevel=2,
            )

    def callback(self, node: Apply, inputs: Sequence[Kind], outputs: Sequence[Kind]) -> Callback:
        """The callback of an op, or that of an equal op: derivatives use the op's results once more."""
        key = (node.op, *inputs, *outputs)
        if key not in self.known:
            perform = Perform(node, self.failures)
            call = Call(perform, id(perform), str(node.op), origin_of(node), tuple(inputs), tuple(outputs))
            self.known[key] = callback_of(call, OpCallback)
        return self.known[key]

    def shapes(self, importer: Importer, node: Apply) -> list[tuple[Extent, ...]]:
        """The shapes of the results: as they must be, as their types have them, as the op infers them, or as they were
        once.

        PyTensor does not check them. A type that an operand has may be no more than ``x.type()``, so then the op infers
        them.
        """
        if all(each in self.expected for each in node.outputs):
            return [self.expected[each] for each in node.outputs]
        known = list(map(static_shape, node.outputs))
        are_known = all(None not in shape for shape in known)
        if are_known and not any(is_copied(each, node.inputs) for each in node.outputs):
            return known  # type: ignore[return-value]
        found = inferred_shapes(node)
        if found is not None:
            inside = importer.part()
            inside.values.update({each: importer.values[each] for each in node.inputs})
            return [tuple(length_of(inside, each) for each in shape) for shape in found]
        failure, probed = None, None
        try:
            probed = self.probe(importer, node)
        except Exception as error:  # noqa: BLE001  of a user's op, where chains begin
            failure = error
        if probed is not None:
            return list(probed)
        if are_known:
            return known  # type: ignore[return-value]
        raise UnsupportedOp(
            f"the shape of {describe(node.outputs[0])}, which Python computes, is not known",
            advice="Give its type a shape (pt.TensorType(dtype, shape=(3,))), or the op an infer_shape",
        ) from failure


def is_copied(variable: Variable, operands: Sequence[Variable]) -> bool:
    """Whether the type of a result, with its known lengths, is that of an operand."""
    return bool(static_shape(variable)) and any(each.type == variable.type for each in operands)


def are_promised(variable: Variable, shape: Sequence[Extent]) -> bool:
    """Whether a shape has the lengths that a variable's type has."""
    return all(
        known is None or shapes.same(known, length) for known, length in zip(static_shape(variable), shape, strict=True)
    )


def are_unequal(left: Extent, right: Extent) -> bool:
    return isinstance(left, int) and isinstance(right, int) and left != right


def length_of(importer: Importer, length: Any) -> Extent:
    return shapes.resolve(importer(length)) if isinstance(length, Variable) else int(length)


class OpCallback(Callback):
    """A callback that runs an op of PyTensor."""

    promise = (
        "its type, or its infer_shape, or its derivative's argument says {}: let make_node of the op give its results "
        "the types that they have, or write an infer_shape"
    )


class Perform:
    """Runs an op's Python code on arrays."""

    def __init__(self, node: Apply, failures: Failures) -> None:
        self.node, self.failures = node, failures
        node.op.prepare_node(node, None, None, "py")

    def __call__(self, *arrays: Any) -> list[np.ndarray]:
        self.failures.require_going_on()
        node = self.node
        storage: list[list[Any]] = [[None] for _ in node.outputs]
        node.op.perform(node, [np.asarray(each) for each in arrays], storage)
        return [
            np.asarray(found).astype(each.type.dtype, casting="same_kind", copy=False)
            for (found,), each in zip(storage, node.outputs, strict=True)
        ]


class Derivative(Struct, eq=False):
    """The derivative of an op, which is a graph of PyTensor. It is imported when it is needed."""

    calls: PythonCalls
    importer: Importer
    node: Apply
    results: Sequence[Value]

    def cotangents(self, arguments: Sequence[Value], given: Sequence[Value]) -> list[Value | None]:
        node, op = self.node, self.node.op
        weights = [each.type() for each in node.outputs]
        try:
            found = pullback_of(op)(node.inputs, node.outputs, weights)
        except Exception as error:
            raise self.refusal() from error
        inside = self.importer.part()
        for variables, values in ((node.outputs, self.results), (weights, given), (node.inputs, arguments)):
            inside.values.update(zip(variables, values, strict=True))
        for output, weight in zip(node.outputs, weights, strict=True):
            if output in inside.doubted:
                inside.doubted.add(weight)
        return [self.cotangent(inside, *each) for each in zip(node.inputs, found, arguments, strict=True)]

    def cotangent(self, inside: Importer, variable: Variable, found: Variable, argument: Value) -> Value | None:
        if isinstance(found.type, DisconnectedType) or canonical_dtype(variable.type.dtype).kind not in "fc":
            return None
        if isinstance(found.type, NullType):
            raise self.refusal()
        if isinstance(found.type, TensorType) and found.type.ndim == argument.ndim:
            self.calls.expected.setdefault(found, argument.shape)
        value = inside(found)
        if value.ndim != argument.ndim or any(map(are_unequal, value.shape, argument.shape)):
            given, needed = shapes.shape_text(value.shape), shapes.shape_text(argument.shape)
            raise shapes.ShapeError(
                f"PyTensor's op {self.node.op} gives a derivative of shape {given} by {describe(variable)}, whose "
                f"shape is {needed}: its L_op (pullback) must give that"
            )
        return value

    def refusal(self) -> UnsupportedOp:
        return UnsupportedOp(
            f"PyTensor's op {self.node.op} has no derivative. It computes {describe(self.node.outputs[0])}",
            advice="Give it an L_op (pullback), or compile the log-density alone: compile_logp(gradient=False)",
        )

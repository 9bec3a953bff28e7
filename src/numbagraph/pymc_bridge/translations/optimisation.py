"""Translation of PyTensor's ops that call SciPy's solvers: minima and roots, natively, with the derivatives of the
equation that the solution fulfils."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply
from pytensor.tensor.optimize import MinimizeOp, MinimizeScalarOp, RootOp, RootScalarOp
from scipy import optimize

from numbagraph.blockwise.promotion import as_value, convert
from numbagraph.ir import shapes
from numbagraph.ir.types import BOOL, canonical_dtype
from numbagraph.ir.values import Value
from numbagraph.jit.conversion import converter
from numbagraph.pymc_bridge.importer import Importer, UnsupportedOp, describe, imports
from numbagraph.pymc_bridge.translations.nested_ops import IN_THE_MODE
from numbagraph.tracing.errors import TraceError
from numbagraph.tracing.trace import converted, tracing
from numbagraph.tracing.tracer import Tracer, to_value

Function = Callable[..., Any]


class InnerFunction:
    """One of the outputs of the graph inside of an op, as a function of traced arrays."""

    def __init__(self, importer: Importer, op: Any, number: int) -> None:
        self.importer, self.op, self.number = importer, op, number

    def __call__(self, x: Any, *args: Any) -> Any:
        graph = self.op.fgraph
        own = graph.inputs[0]
        x = np.reshape(x, ()) if not own.ndim else x
        point = convert(as_value(to_value(x)), canonical_dtype(own.type.dtype))
        inside = self.importer.part()
        inside.requirements = []
        inside.values.update(zip(graph.inputs, [point, *(as_value(to_value(each)) for each in args)], strict=True))
        found = inside(graph.outputs[self.number])
        for each in inside.requirements:
            shapes.require(each.condition, each.message, each.error)
        return Tracer(found)


def solved(importer: Importer, node: Apply, inputs: tuple[Value, ...], solve: Function) -> list[Value]:
    """Return the results of ``solve(arrays...)``, a point and whether it is a solution."""
    with tracing(str(node.op), converter()) as current:
        try:
            x, is_solved = solve(*[Tracer(each, argument=True) for each in inputs])
        except TraceError as error:  # of a method or an option that native code does not have
            raise UnsupportedOp(f"{describe(node.outputs[0])}: {error}", advice=IN_THE_MODE) from error
        first = node.outputs[0]
        x = np.reshape(x, inputs[0].shape)  # type: ignore[arg-type]
        found = [convert(as_value(to_value(x)), canonical_dtype(first.type.dtype)), as_value(to_value(is_solved))]
    shapes.require_all(current.guards)
    importer.arrays.update(current.captured.snapshots)
    return [found[0], convert(found[1], BOOL)]


def parts(op: Any, arrays: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...], Mapping[str, Any]]:
    """The starting point, the arguments of the function, and the options of an op."""
    count = len(op.fgraph.inputs)
    bounds = dict(zip(getattr(op, "bound_kwargs", ()), arrays[count:], strict=True))
    return arrays[0], arrays[1:count], {"method": op.method, **bounds, **op.optimizer_kwargs}


@imports(MinimizeScalarOp)
def scalar_minimum(importer: Importer, node: Apply, *inputs: Value) -> list[Value]:
    def solve(*arrays: Any) -> Any:
        _, args, options = parts(node.op, arrays)
        fun = InnerFunction(importer, node.op, 0)
        found = converted(optimize.minimize_scalar)(fun, args=args, **options)
        return found.x, found.success

    return solved(importer, node, inputs, solve)


@imports(MinimizeOp)
def minimum(importer: Importer, node: Apply, *inputs: Value) -> list[Value]:
    def solve(*arrays: Any) -> Any:
        x, args, options = parts(node.op, arrays)
        fun = InnerFunction(importer, node.op, 0)
        jac = InnerFunction(importer, node.op, 1) if node.op.jac else None
        hess = InnerFunction(importer, node.op, 2) if node.op.hess else None
        found = converted(optimize.minimize)(fun, np.ravel(x), args=args, jac=jac, hess=hess, **options)
        return found.x, found.success

    return solved(importer, node, inputs, solve)


@imports(RootScalarOp)
def scalar_root(importer: Importer, node: Apply, *inputs: Value) -> list[Value]:
    def solve(*arrays: Any) -> Any:
        x, args, options = parts(node.op, arrays)
        fun = InnerFunction(importer, node.op, 0)
        fprime = InnerFunction(importer, node.op, 1) if node.op.jac else None
        fprime2 = InnerFunction(importer, node.op, 2) if node.op.hess else None
        found = converted(optimize.root_scalar)(fun, x0=x, args=args, fprime=fprime, fprime2=fprime2, **options)
        return found.root, found.converged

    return solved(importer, node, inputs, solve)


@imports(RootOp)
def root(importer: Importer, node: Apply, *inputs: Value) -> list[Value]:
    def solve(*arrays: Any) -> Any:
        x, args, options = parts(node.op, arrays)
        fun = InnerFunction(importer, node.op, 0)
        jac = InnerFunction(importer, node.op, 1) if node.op.jac else None
        found = converted(optimize.root)(fun, np.ravel(x), args=args, jac=jac, **options)
        return found.x, found.success

    return solved(importer, node, inputs, solve)

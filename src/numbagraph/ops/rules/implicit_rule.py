"""Derivatives of the solutions of equations, by the implicit function theorem."""

from __future__ import annotations

from collections.abc import Sequence

from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph, substitute
from numbagraph.ir.op import registry
from numbagraph.ir.regions import Closed, operand_lengths
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import ArrayType, Input, Value, constant
from numbagraph.ops.identity import GradientRule, stop_gradient
from numbagraph.ops.rules.custom_rule import BatchedRule
from numbagraph.transforms.autodiff import cotangents
from numbagraph.transforms.batching import batch


def solution(value: Value, is_solved: Value, equation: Closed, elementwise: bool = False) -> Value:
    """Return a solution ``x`` of ``F(x) = 0``, with the derivatives that follow from the equation.

    Parameters
    ----------
    value
        The solution, a vector or a number. How it was found is not differentiated.
    is_solved
        Whether it is one: where not, derivatives are NaN.
    equation
        The region of ``F``: a vector or number like ``x``, of ``x`` and of what else it is computed from.
    elementwise
        Whether each element of ``F`` is an equation of one element of ``x``, so that the Jacobian is diagonal.
    """
    fixed = stop_gradient(value)
    return bound(ImplicitRule(equation.region, elementwise), (fixed, is_solved, *equation.captures))


def bound(rule: GradientRule, arguments: Sequence[Value]) -> Value:
    return registry["with_rule"].bind(arguments[0], *arguments, rule=rule, result=0, results=1)


class ImplicitRule(Struct):
    """The rule of a solution ``x`` of ``F(x, a) = 0``: ``dx = -(dF/dx)^-1 dF/da da``.

    The solution in the rule is the one that has the rule, so that derivatives of any order follow.
    """

    region: Graph
    elementwise: bool = False

    @property
    def captured(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "implicit"

    def cotangents(self, arguments: Sequence[Value], given: Sequence[Value]) -> list[Value | None]:
        _, is_solved, *captures = arguments
        x, (output,) = bound(self, arguments), self.region.outputs
        mapped = operand_lengths(self.region, (x, *captures))
        seed = Input(ArrayType(output.dtype, output.shape), "cotangent")
        with shapes.collect_guards():  # the equation was solved: what it requires has been checked
            by_x, *rest = cotangents(self.region.outputs, [seed], self.region.inputs)
            if by_x is None:
                by_x = registry["zeros_like"](self.region.inputs[0])
            adjoint = transposed_solution(by_x, seed, given[0], mapped, self.elementwise, is_solved)
            sign = registry["where"](is_solved, -1.0, float("nan"))  # a factor: forward mode transposes the rule
            mapped[seed] = registry["multiply"](adjoint, registry["cast"].bind(sign, dtype=adjoint.dtype))
            found = iter(substitute([each for each in rest if each is not None], mapped))
        return [None, None, *(None if each is None else next(found) for each in rest)]

    def batched(self, batched: Sequence[bool]) -> GradientRule:
        return BatchedRule(self, tuple(batched))


def transposed_solution(
    by_x: Value, seed: Input, given: Value, mapped: dict[Value, Value], elementwise: bool, is_solved: Value
) -> Value:
    """Return the vector ``v`` of ``J^T v = given``, where ``by_x`` is ``J^T seed``.

    Where the equation is not solved, its Jacobian may be singular: any other matrix keeps the solution from an error.
    """
    if elementwise or not seed.ndim:
        ones = registry["ones_like"](given) if seed.ndim else constant(1.0, dtype=seed.dtype)
        (slope,) = substitute([by_x], {**mapped, seed: ones})
        return registry["divide"](given, slope)
    (row,) = substitute([by_x], mapped)
    count = given.shape[0]
    identity = registry["eye"](count, dtype=seed.dtype)
    ((matrix, is_batched),) = batch([row], {seed: identity}, count)
    if not is_batched:  # the equation does not depend on the solution
        matrix = registry["broadcast_to"](matrix, (count, count))
    if not is_solved.ndim:
        matrix = registry["where"](is_solved, matrix, identity)
    return registry["solve"](registry["transpose"](matrix), given)

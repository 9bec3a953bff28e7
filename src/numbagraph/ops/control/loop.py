"""The operands of a loop with a known number of steps, by their roles."""

from __future__ import annotations

from typing import Any

from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph
from numbagraph.ir.op import registry
from numbagraph.ir.regions import output_type
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import ArrayType, Value
from numbagraph.ops.control.operands import row_type


class Loop(Struct):
    """The operands of a scan, by their roles. Its region has an input for each but the length, and gives the next
    carries, and then the outputs that are stacked.

    The results, by number: the last carries; what was stacked; and the carries before each step, stacked.
    """

    length: Value
    operands: tuple[Value, ...]
    body: Graph
    carries: int
    sequences: int
    reverse: bool
    unroll: int = 1
    """Steps that JAX writes out in one iteration; LLVM decides itself."""
    checkpoint: bool = False
    """Whether a derivative takes the loop in segments (`numbagraph.ops.control.segments`)."""

    @property
    def initial(self) -> tuple[Value, ...]:
        return self.operands[: self.carries]

    @property
    def xs(self) -> tuple[Value, ...]:
        return self.operands[self.carries : self.carries + self.sequences]

    @property
    def captures(self) -> tuple[Value, ...]:
        return self.operands[self.carries + self.sequences :]

    @property
    def outputs(self) -> int:
        return len(self.body.outputs)

    def in_step(self) -> list[ArrayType]:
        """The types of the region's inputs, in terms of the enclosing graph."""
        return [each.type for each in self.initial] + [row_type(each) for each in self.xs] + [
            each.type for each in self.captures
        ]  # fmt: skip

    def type_of(self, result: int) -> ArrayType:
        """The type of a result."""
        if result < self.carries:
            return self.operands[result].type
        length = shapes.resolve(self.length)
        if result < self.outputs:
            varying = self.in_step()[: self.carries + self.sequences]
            one = output_type(self.body, result, [*varying, *self.captures])
        else:
            one = self.operands[result - self.outputs].type
        return ArrayType(one.dtype, (length, *one.shape))

    def result(self, number: int) -> Value:
        return registry["scan"].bind(
            self.length,
            *self.operands,
            body=self.body,
            carries=self.carries,
            sequences=self.sequences,
            reverse=self.reverse,
            unroll=self.unroll,
            result=number,
            **({"checkpoint": True} if self.checkpoint else {}),
        )

    def before(self, carry: int) -> Value:
        """A carry before each step."""
        return self.result(self.outputs + carry)


def loop_of(length: Any, *operands: Any, **attrs: Any) -> Loop:
    return Loop(length, operands, **attrs)

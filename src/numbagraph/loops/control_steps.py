"""The steps of a program that run others: loops, and branches, whose regions are programs of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field

from numbagraph.intrinsics.emitters.ir import Buffer, Load, Scalar, walk
from numbagraph.ir.abi import NativeSignature
from numbagraph.ir.graph import Graph
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Source
from numbagraph.loops.ir import Program, Step


class RegionOptions(Struct):
    """The options by which the regions of a program become programs."""

    versioned: bool
    """Whether loops have a version without the checks that are made before them."""
    stabilised: bool
    """The value of `Graph.stabilised` of the function that the regions are parts of."""


class Region(Struct, frozen=False):
    """The body of a loop or of a branch, as a program of its own, with a leaf for each operand."""

    graph: Graph
    signature: NativeSignature
    program: Program
    varies: bool
    """Whether the sizes of its temporaries may change from one step of the loop to the next."""


def updated(region: Region) -> set[tuple[int | None, int | None]]:
    """The numbers of the inputs that a region updates where they lie, and of the results that they become."""
    return {(leaf.leaf, result.result) for leaf, result in region.program.donations}


def taken(region: Region, place: int) -> int | None:
    """The number of the input in whose memory a region makes a result, if it does so."""
    return next((leaf for leaf, result in updated(region) if result == place), None)


Operand = Buffer | Scalar
"""An operand of a region: an array in memory, or a number."""


def buffers_of(operands: Iterable[Operand]) -> list[Buffer]:
    return list(dict.fromkeys(each for each in operands if isinstance(each, Buffer)))


class Carried(Struct, frozen=False):
    """A value that a loop carries: where it is before the first step and, if that is wanted, after the last; memory for
    the steps between; and what it is before each step, if that is wanted."""

    initial: Operand
    last: Buffer
    other: Buffer
    before: Buffer | None = None
    takes: int | None = None
    """The number of the carried array in whose memory a step makes it: its own, if it is updated in place."""
    is_result: bool = True
    stride: int | None = None
    """The constant that each step adds to an integer, if it does nothing else to it. The value then follows from the
    number of the step."""


class Loop(Step, frozen=False):
    """Steps that a region describes, one after the other. Its inputs are what is carried, elements of sequences, and
    captures, in this order; its outputs are what is carried on, and elements of what is stacked."""

    name: str
    body: Region
    carried: list[Carried]
    sequences: list[Buffer]
    captures: list[Operand]
    stacked: list[Buffer]
    trips: Scalar | None = None
    """The number of steps; None where ``condition`` ends the loop."""
    most: int | None = None
    """An upper bound of ``trips``, if one is known."""
    condition: Region | None = None
    """A region that takes the inputs of the body and returns one boolean: whether there is another step."""
    reverse: bool = False
    source: Source | None = None
    with_checks: Callable[[], Region] | None = None
    """A function that makes the body with all of its checks. That body runs in the rare case that ``safe`` does not
    hold, so it is made only when it is needed."""
    safe: Scalar | None = None
    bounded_by_length: bool = False
    """Whether there are at most as many steps as an array has elements along some dimension."""
    uninterruptible: bool = False
    """Whether nothing ends the loop once it has begun: it does not poll for signals, and where ``safe`` does not hold,
    it runs on copies of the arrays that it updates."""

    def scalars(self) -> Iterator[Scalar]:
        lengths = [extent for buffer in self.buffers() for extent in (*buffer.extents, *(buffer.strides or ()))]
        numbers = [each for each in (*self.operands(), self.trips, self.safe) if isinstance(each, Scalar)]
        return walk([*lengths, *numbers])

    def operands(self) -> list[Operand]:
        return [*(each.initial for each in self.carried), *self.sequences, *self.captures]

    def reads(self) -> list[Buffer]:
        return buffers_of(self.operands())

    def writes(self) -> list[Buffer]:
        carried = [buffer for each in self.carried for buffer in (each.last, each.other)]
        return [*carried, *(each.before for each in self.carried if each.before is not None), *self.stacked]

    def checks(self) -> bool:
        return not self.uninterruptible


class ReverseLoop(Step, frozen=False):
    """A loop that ends on a condition, which stores something of each step, and then a loop over these steps, from the
    last to the first."""

    name: str
    forward: Loop
    back: Loop
    """The loop in reverse. Its sequences are the values that the forward loop stacks, which have no memory of their
    own. It begins with results of the forward loop."""

    def scalars(self) -> Iterator[Scalar]:
        found = [*self.forward.scalars(), *self.back.scalars()]
        return iter([each for each in found if not (isinstance(each, Load) and each.buffer in self.forward.writes())])

    def operands(self) -> list[Operand]:
        inside = set(self.forward.writes())
        found = [*self.forward.operands(), *self.back.operands()]
        return [each for each in found if (each.buffer if isinstance(each, Load) else each) not in inside]

    def reads(self) -> list[Buffer]:
        return buffers_of(self.operands())

    def writes(self) -> list[Buffer]:
        return [each for each in (*self.forward.writes(), *self.back.writes()) if each not in self.forward.stacked]

    def checks(self) -> bool:
        return True


class Branch(Step, frozen=False):
    """One of several regions with the same inputs and outputs, by a number."""

    name: str
    index: Scalar
    regions: list[Region]
    operands: list[Operand]
    outputs: list[Buffer]
    source: Source | None = None
    in_place: list[tuple[int, int]] = field(default_factory=list)
    """The operands that all regions update where they lie, or leave as they are, and the outputs that they become."""

    def scalars(self) -> Iterator[Scalar]:
        lengths = [extent for buffer in self.buffers() for extent in (*buffer.extents, *(buffer.strides or ()))]
        return walk([*lengths, self.index, *(each for each in self.operands if isinstance(each, Scalar))])

    def reads(self) -> list[Buffer]:
        return buffers_of(self.operands)

    def writes(self) -> list[Buffer]:
        return self.outputs

    def checks(self) -> bool:
        return True

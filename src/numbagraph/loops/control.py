"""From the nodes of loops and branches to steps of a program: regions become programs of their own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from numbagraph.blockwise.lowering import extent_scalar
from numbagraph.intrinsics.ir import Buffer, Register, Scalar, literal
from numbagraph.ir import shapes
from numbagraph.ir.abi import ArrayLeaf, Leaf, NativeSignature, Result, ScalarLeaf
from numbagraph.ir.graph import Graph, guard_values
from numbagraph.ir.regions import with_lengths
from numbagraph.ir.values import ArrayType, Constant, Input, Node, Value, python_type, toposort
from numbagraph.loops.ir import Branch, Carried, Loop, Operand, Program, Region, ReverseLoop, Step
from numbagraph.loops.tiling import tiled
from numbagraph.rewrite.pipeline import optimise

InMemory = Callable[[Value], tuple[Buffer, list[Step]]]
Number = Callable[[Value], Scalar]
Build = Callable[..., Program]


class ControlBuilder:
    """The step of one node, for those of its results that are wanted."""

    def __init__(
        self, node: Node, wanted: Mapping[int, Buffer], in_memory: InMemory, number: Number, build: Build
    ) -> None:
        self.node = node
        self.wanted = wanted
        self.build = build
        self.before: list[Step] = []
        """What brings operands into memory."""
        self._in_memory = in_memory
        self._number = number
        self._known: dict[Value, Buffer] = {}

    def step(self) -> Step:
        return {
            "scan": self.scan,
            "while_loop": self.while_loop,
            "while_pullback": self.while_pullback,
            "switch": self.switch,
        }[self.node.op.name]()

    def operand(self, value: Value) -> Operand:
        return self.array(value) if value.ndim else self._number(value)

    def array(self, value: Value) -> Buffer:
        if value not in self._known:
            self._known[value], steps = self._in_memory(value)
            self.before += steps
        return self._known[value]

    def scan(self) -> Loop:
        attrs, (length, *operands) = self.node.attrs, self.node.inputs
        body, carries, sequences = attrs["body"], attrs["carries"], attrs["sequences"]
        outputs = len(body.outputs)
        stacked = [number for number in range(carries, outputs) if number in self.wanted]
        shown = [number % outputs for number in self.wanted]
        kept = needed_carries(body, carries, shown)
        roots = [body.outputs[number] for number in (*kept, *stacked)] + guard_values(body.guards)
        reached, end = set(toposort(roots)), carries + sequences
        xs = {number for number in range(carries, end) if body.inputs[number] in reached}
        inputs = with_lengths(body.inputs, kept | xs | set(range(end, len(operands))))
        kept, xs = ([each for each in inputs if low <= each < high] for low, high in ((0, carries), (carries, end)))
        results = tuple(body.outputs[number] for number in (*kept, *stacked))
        graph = Graph(tuple(body.inputs[each] for each in inputs), results, body.guards, (), body.name)
        varying = set(graph.inputs[: len(kept) + len(xs)])
        free = [place for place, each in enumerate(kept) if outputs + each not in self.wanted]
        region = self.region(graph, varying, free)
        return Loop(
            self.node.op.name,
            region,
            [self.carried(number, operands[number], outputs, region, place) for place, number in enumerate(kept)],
            [self.array(operands[number]) for number in xs],
            [self.operand(each) for each in operands[end:]],
            [self.wanted[number] for number in stacked],
            trips=trips_of(length),
            reverse=attrs["reverse"],
            source=self.node.source,
        )

    def while_loop(self) -> Loop:
        attrs, operands = self.node.attrs, self.node.inputs
        carries = attrs["carries"]
        body, condition = attrs["body"], attrs["condition"]
        region = self.region(body, body.inputs[:carries], range(carries))
        return Loop(
            self.node.op.name,
            region,
            [self.carried(number, operands[number], carries, region, number) for number in range(carries)],
            [],
            [self.operand(each) for each in operands[carries:]],
            [],
            condition=self.region(condition, condition.inputs[:carries]),
            source=self.node.source,
        )

    def while_pullback(self) -> ReverseLoop:
        node, attrs = self.node, self.node.attrs
        carries, end = attrs["carries"], attrs["carries"] + attrs["captures"]
        count, pullback = attrs["carried"], attrs["pullback"]
        body, condition = attrs["body"], attrs["condition"]
        region = self.region(pullback, pullback.inputs[: count + carries], range(count))
        starts = node.inputs[end : end + count]
        stored = [
            Buffer(
                f"before{number}",
                ArrayType(each.dtype, (0, *each.shape)),
                (literal(0), *map(extent_scalar, each.shape)),
            )
            for number, each in enumerate(node.inputs[:carries])
        ]
        back = Loop(
            node.op.name,
            region,
            [self.carried(number, each, count, region, number) for number, each in enumerate(starts)],
            stored,
            [self.operand(each) for each in (*node.inputs[carries:end], *node.inputs[end + count :])],
            [],
            reverse=True,
            source=node.source,
        )
        return ReverseLoop(
            node.op.name,
            self.region(body, body.inputs[:carries]),
            self.region(condition, condition.inputs[:carries]),
            [self.operand(each) for each in node.inputs[:carries]],
            [self.operand(each) for each in node.inputs[carries:end]],
            back,
        )

    def switch(self) -> Branch:
        index, *operands = self.node.inputs
        results = sorted(self.wanted)
        regions = [
            self.region(
                Graph(each.inputs, tuple(each.outputs[number] for number in results), each.guards, (), each.name), ()
            )
            for each in self.node.attrs["branches"]
        ]
        return Branch(
            self.node.op.name,
            self._number(index),
            regions,
            [self.operand(each) for each in operands],
            [self.wanted[number] for number in results],
            self.node.source,
        )

    def carried(self, number: int, initial: Value, outputs: int, region: Region, place: int) -> Carried:
        first = self.operand(initial)
        name, extents = f"{self.node.op.name}{number}", tuple(map(extent_scalar, initial.shape))
        type_ = initial.type.with_shape(initial.shape)
        last = self.wanted.get(number) or Buffer(f"{name}_last", type_, extents)
        in_place = any((leaf.leaf, result.result) == (place, place) for leaf, result in region.program.donations)
        other = last if in_place else Buffer(f"{name}_other", type_, extents)
        return Carried(first, last, other, self.wanted.get(outputs + number), in_place)

    def region(self, graph: Graph, varying: Iterable[Value], given: Collection[int] = ()) -> Region:
        """A region as a program, which may overwrite the inputs that are ``given``. Its temporaries are of one size in
        all steps, unless that depends on what varies."""
        final = optimise(graph).final
        leaves = tuple(map(layout, final.inputs))
        program = tiled(self.build(final, leaves, given={number: number for number in given}))
        results = tuple(Result(each.dtype, each.ndim) for each in final.outputs)
        sizes = [extent for slot in program.body.slots for buffer in slot for extent in buffer.extents]
        values = {each.value for each in sizes if isinstance(each, Register) and isinstance(each.value, Value)}
        varies = not set(varying).isdisjoint(toposort(values))
        return Region(final, NativeSignature(leaves, (), results, single=False), program, varies)


def layout(value: Input) -> Leaf:
    """How an operand lies in memory."""
    kind = python_type(value.type)
    if kind is not None:
        return ScalarLeaf(kind)
    return ArrayLeaf(value.dtype, tuple(shapes.resolve(extent) == 1 for extent in value.shape))


def trips_of(length: Value) -> Scalar:
    return literal(int(length.data)) if isinstance(length, Constant) else extent_scalar(length)


def needed_carries(body: Graph, carries: int, wanted: Iterable[int]) -> set[int]:
    """The carries that some outputs depend on, in any step."""
    numbers = set(wanted)
    needed = {number for number in numbers if number < carries}
    while True:
        roots = [body.outputs[number] for number in numbers | needed] + guard_values(body.guards)
        reached = set(toposort(roots))
        more = needed | {number for number in range(carries) if body.inputs[number] in reached}
        if more == needed:
            return needed
        needed = more

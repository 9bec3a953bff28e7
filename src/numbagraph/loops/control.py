"""Builds the steps of loops and branches from their nodes: regions become programs of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from numbagraph.blockwise.lowering import Reduce, extent_scalar
from numbagraph.intrinsics.emitters.ir import Buffer, Load, Register, Scalar, literal
from numbagraph.ir import shapes
from numbagraph.ir.abi import ArrayLeaf, Leaf, NativeSignature, Result, ScalarLeaf
from numbagraph.ir.graph import Graph, guard_values
from numbagraph.ir.regions import output_type, with_lengths
from numbagraph.ir.structs import replace
from numbagraph.ir.types import INT64
from numbagraph.ir.values import ArrayType, Constant, Extent, Input, Node, Value, extent_values, python_type, toposort
from numbagraph.loops.conditions import condition_of
from numbagraph.loops.control_steps import (
    Branch,
    Carried,
    Loop,
    Operand,
    Region,
    RegionOptions,
    ReverseLoop,
    taken,
    updated,
)
from numbagraph.loops.early_exits import is_bounded_by_length
from numbagraph.loops.fusion import is_computed_at_use
from numbagraph.loops.ir import Compute, Program, Step
from numbagraph.loops.nests import ElementBuilder, build_nest
from numbagraph.loops.tiling import tiled
from numbagraph.loops.versions import leaves_of, versions, without_checks_of_while
from numbagraph.ops.control.operands import may_fail
from numbagraph.ops.control.recorded_while import recorded
from numbagraph.rewrite.pipeline import optimise

NOTHING: Mapping[int, int] = {}
InMemory = Callable[[Value], tuple[Buffer, list[Step]]]
Build = Callable[..., Program]


class ControlBuilder:
    """The step of one node, for those of its results that are wanted."""

    def __init__(
        self,
        node: Node,
        wanted: Mapping[int, Buffer],
        in_memory: InMemory,
        numbers: ElementBuilder,
        build: Build,
        options: RegionOptions,
    ) -> None:
        self.node = node
        self.wanted = wanted
        self.build = build
        self.versioned = options.versioned
        self.stabilised = options.stabilised
        self.before: list[Step] = []
        """The steps that bring operands into memory."""
        self._in_memory = in_memory
        self._numbers = numbers
        self._known: dict[Value, Buffer] = {}

    def step(self) -> Step:
        return {
            "scan": self.scan,
            "while_loop": self.while_loop,
            "while_pullback": self.while_pullback,
            "switch": self.switch,
        }[self.node.op.name]()

    def operand(self, value: Value) -> Operand:
        return self.array(value) if value.ndim else self._numbers.rank0(value)

    def array(self, value: Value) -> Buffer:
        if value not in self._known:
            self._known[value], steps = self._in_memory(value)
            self.before += steps
        return self._known[value]

    def scan(self) -> Loop:
        attrs, (length, *operands) = self.node.attrs, self.node.inputs
        body, carries, end = attrs["body"], attrs["carries"], attrs["carries"] + attrs["sequences"]
        outputs = len(body.outputs)
        stacked = [number for number in range(carries, outputs) if number in self.wanted]
        inputs = self.needed_inputs(stacked)
        kept, xs = ([each for each in inputs if low <= each < high] for low, high in ((0, carries), (carries, end)))
        step, with_checks, safe = self.steps_of_scan(inputs, [*kept, *stacked])
        return Loop(
            self.node.op.name,
            step,
            [
                self.carried(number, operands[number], self.wanted, outputs, step, place)
                for place, number in enumerate(kept)
            ],
            [self.array(operands[number]) for number in xs],
            [self.operand(operands[number]) for number in range(end, len(operands))],
            [self.wanted[number] for number in stacked],
            trips=trips_of(length),
            most=bound_of(length),
            reverse=attrs["reverse"],
            source=self.node.source,
            with_checks=with_checks,
            safe=safe,
            bounded_by_length=is_bounded_by_length(self.node),
        )

    def needed_inputs(self, stacked: Iterable[int]) -> list[int]:
        """The inputs of the body of a loop of which something wanted is made, and its captures."""
        attrs = self.node.attrs
        body, carries, end = attrs["body"], attrs["carries"], attrs["carries"] + attrs["sequences"]
        stacked, wanted = list(stacked), {number % len(body.outputs) for number in self.wanted}
        while True:
            kept = needed_carries(body, carries, wanted)
            roots = [body.outputs[number] for number in (*kept, *stacked)] + guard_values(body.guards)
            reached = set(toposort(roots))
            xs = {number for number in range(carries, end) if body.inputs[number] in reached}
            found = with_lengths(body.inputs, kept | xs | set(range(end, len(body.inputs))), reached)
            for_lengths = {number for number in found if number < carries} - kept
            if not for_lengths:
                return found
            wanted |= for_lengths

    def steps_of_scan(
        self, inputs: Sequence[int], results: Sequence[int]
    ) -> tuple[Region, Callable[[], Region] | None, Scalar | None]:
        """Return the region of a step. If some checks are left out under a condition, also return a function that makes
        the region with them, and the condition as a scalar."""
        attrs = self.node.attrs
        carries, end = attrs["carries"], attrs["carries"] + attrs["sequences"]
        kept = [number for number in inputs if number < carries]
        free = [place for place, each in enumerate(kept) if len(attrs["body"].outputs) + each not in self.wanted]

        def region(body: Graph, versioned: bool) -> Region:
            wanted = tuple(body.outputs[number] for number in results)
            graph = Graph(tuple(body.inputs[each] for each in inputs), wanted, body.guards, (), body.name)
            varying = [body.inputs[number] for number in inputs if number < end]
            return self.step_region(graph, varying, free, versioned)

        fast, safe = self.versions()
        step = region(fast, self.versioned)
        if safe is None:
            return step, None, None
        return step, cache(lambda: region(attrs["body"], False)), safe

    def versions(self) -> tuple[Graph, Scalar | None]:
        """The body of a loop without those checks that can be made before it, and the condition under which they hold
        in all steps. The condition is None where nothing has to be checked."""
        found, body = versions(self.node) if self.versioned else None, self.node.attrs["body"]
        if found is None:
            return body, None
        if not found.needed:
            return found.body, None
        condition = condition_of(found, leaves_of(self.node))
        added = self.added([condition])
        if not all(map(is_condition, added)):
            return body, None
        for each in added:
            if is_reduced(each):
                self.before.append(build_nest(each.op.name, [each], self._numbers.memory))
            elif not each.ndim:
                self.compute([each])
        return found.body, self._numbers.rank0(condition)

    def added(self, values: Iterable[Value]) -> list[Node]:
        """The nodes from which some values are computed and which the program does not compute already."""
        return [each for each in toposort(values, self._numbers.memory.order) if isinstance(each, Node)]

    def compute(self, numbers: Iterable[Node]) -> None:
        memory = self._numbers.memory  # a builder for each: all that is below would be walked through for each scalar
        self.before += [Compute(each, ElementBuilder(memory).compute(each, ())) for each in numbers]

    def while_loop(self) -> Loop:
        attrs, operands = self.node.attrs, self.node.inputs
        carries = attrs["carries"]
        body, condition = without_checks_of_while(self.node) or attrs["body"], attrs["condition"]
        region = self.step_region(body, body.inputs[:carries], range(carries))
        return Loop(
            self.node.op.name,
            region,
            [self.carried(number, operands[number], self.wanted, carries, region, number) for number in range(carries)],
            [],
            [self.operand(each) for each in operands[carries:]],
            [],
            condition=self.region(condition, condition.inputs[:carries]),
            source=self.node.source,
        )

    def while_pullback(self) -> ReverseLoop:
        node, found = self.node, recorded(self.node)
        carries, count = node.attrs["carries"], node.attrs["carried"]
        end = carries + node.attrs["captures"]
        last = {number: self.new_buffer(f"last{number}", node.inputs[number].type) for number in found.restored}
        operands = [*node.inputs[:carries], *found.captures]
        types = [output_type(found.body, number, operands) for number in range(carries, len(found.body.outputs))]
        self.compute(self.added(extent for each in types for extent in extent_values(each)))
        stored = [
            Buffer(f"stored{number}", ArrayType(each.dtype, (0, *each.shape)), extents_of((0, *each.shape)))
            for number, each in enumerate(types)
        ]
        step = self.step_region(found.body, found.body.inputs[:carries], range(carries))
        forward = Loop(
            node.op.name,
            step,
            [self.carried(number, node.inputs[number], last, carries, step, number) for number in range(carries)],
            [],
            [self.operand(each) for each in found.captures],
            stored,
            condition=self.region(found.condition, found.condition.inputs[:carries]),
            source=node.source,
        )
        starts = node.inputs[end : end + count]
        first = count + len(last)
        region = self.step_region(found.pullback, found.pullback.inputs[: first + len(stored)], range(first))
        restored = [
            self.carried(place, node.inputs[number], {}, first, region, place, started=last[number])
            for place, number in enumerate(found.restored, count)
        ]
        back = Loop(
            node.op.name,
            region,
            [
                *(self.carried(number, each, self.wanted, first, region, number) for number, each in enumerate(starts)),
                *restored,
            ],
            stored,
            [self.operand(each) for each in found.captured],
            [],
            reverse=True,
            source=node.source,
        )
        return ReverseLoop(node.op.name, forward, back)

    def switch(self) -> Branch:
        index, *operands = self.node.inputs
        results = sorted(self.wanted)
        branches = [
            Graph(each.inputs, tuple(each.outputs[number] for number in results), each.guards, (), each.name)
            for each in self.node.attrs["branches"]
        ]
        given = kept_operands(branches)
        regions = [self.region(each, (), given) for each in branches]
        in_place = {pair for pair in given.items() if all(pair in updated(each) for each in regions)}
        regions = [
            each if updated(each) <= in_place else self.region(branch, (), dict(in_place))
            for each, branch in zip(regions, branches, strict=True)
        ]
        return Branch(
            self.node.op.name,
            self._numbers.rank0(index),
            regions,
            [self.operand(each) for each in operands],
            [self.wanted[number] for number in results],
            self.node.source,
            sorted(in_place),
        )

    def carried(
        self,
        number: int,
        initial: Value,
        wanted: Mapping[int, Buffer],
        outputs: int,
        region: Region,
        place: int,
        started: Buffer | None = None,
    ) -> Carried:
        """The `Carried` record of a carry of a loop, of whose results some are ``wanted``. If another loop has
        ``started`` the carry, it begins with that loop's result."""
        first = self.operand(initial) if started is None else started if initial.ndim else Load(started, ())
        last = wanted.get(number) or self.new_buffer(f"{number}_last", initial.type)
        takes = taken(region, place)
        results = sum(each < outputs for each in wanted)
        is_alone = takes == place or (takes is not None and results < 2)
        other = last if is_alone else self.new_buffer(f"{number}_other", initial.type)
        before, stride = wanted.get(outputs + number), stride_of(self.node, number)
        return Carried(first, last, other, before, takes, number in wanted, stride)

    def new_buffer(self, name: str, type: ArrayType) -> Buffer:
        return Buffer(f"{self.node.op.name}{name}", type.with_shape(type.shape), extents_of(type.shape))

    def step_region(
        self, graph: Graph, varying: Iterable[Value], free: Sequence[int], versioned: bool | None = None
    ) -> Region:
        """The region of a loop's step, which may overwrite the carried arrays that are ``free``: with the results that
        are made of them, where all arrays that change places can."""
        exchanged = exchanges(graph, free)
        given = {place: place for place in free} | exchanged
        region = self.region(graph, varying, given, versioned)
        if exchanged.items() <= updated(region):
            return region
        return self.region(graph, varying, {place: place for place in free}, versioned)

    def region(
        self, graph: Graph, varying: Iterable[Value], given: Mapping[int, int] = NOTHING, versioned: bool | None = None
    ) -> Region:
        """A region as a program, which may overwrite the inputs that are ``given`` for a result. Its temporaries are of
        one size in all steps, unless that depends on what varies."""
        versioned = self.versioned if versioned is None else versioned
        if graph.stabilised != self.stabilised:
            graph = replace(graph, stabilised=self.stabilised)
        final = optimise(graph).final
        leaves = tuple(map(layout, final.inputs))
        program = tiled(self.build(final, leaves, given=given, versioned=versioned))
        results = tuple(Result(each.dtype, each.ndim) for each in final.outputs)
        sizes = [extent for slot in program.body.slots for buffer in slot for extent in buffer.extents]
        values = {each.value for each in sizes if isinstance(each, Register) and isinstance(each.value, Value)}
        varies = not set(varying).isdisjoint(toposort(values))
        return Region(final, NativeSignature(leaves, (), results, single=False), program, varies)


def extents_of(shape: Iterable[Extent]) -> tuple[Scalar, ...]:
    return tuple(map(extent_scalar, shape))


def exchanges(graph: Graph, free: Sequence[int]) -> dict[int, int]:
    """The carried arrays of a step that change places, and the results that they become, or are updated to."""
    made = {
        place: graph.inputs.index(begun)
        for place in free
        if graph.outputs[place].ndim and (begun := origin(graph.outputs[place])) in graph.inputs
    }
    found: dict[int, int] = {}
    for place in made:
        ring = [place]
        while (number := made.get(ring[-1])) is not None and number not in ring:
            ring.append(number)
        if number == place and len(ring) > 1:
            found.update({made[each]: each for each in ring})
    return found


def stride_of(node: Node, number: int) -> int | None:
    """The constant that each step of a scan adds to a carried integer; None if a step does anything else to it."""
    if node.op.name != "scan":
        return None
    body = node.attrs["body"]
    before, after = body.inputs[number], body.outputs[number]
    if before.dtype != INT64 or before.ndim or not isinstance(after, Node) or after.op.name != "add":
        return None
    first, second = after.inputs
    return int(second.data) if first is before and isinstance(second, Constant) and second.dtype == INT64 else None


def kept_operands(branches: Sequence[Graph]) -> dict[int, int]:
    """The operands that every branch returns or updates, and the results that they are: they may be updated where they
    lie. What a branch updates is a guess, to be compared with what its program does."""
    found: dict[int, int] = {}
    for place, results in enumerate(zip(*(each.outputs for each in branches), strict=True)):
        if not results[0].ndim:
            continue
        begun = [origin(result) for result in results]
        numbers = {
            each.inputs.index(value) if value in each.inputs else None
            for each, value in zip(branches, begun, strict=True)
        }
        number = numbers.pop()
        if number is not None and not numbers and number not in found:
            found[number] = place
    return found


def origin(value: Value) -> Value:
    """The array that updates made a value from: the first operand of one type, and so on."""
    while isinstance(value, Node):
        place = first_of(value)
        if place is None or value.inputs[place].type != value.type:
            break
        value = value.inputs[place]
    return value


def first_of(node: Node) -> int | None:
    """The position of the operand that a node may be an update of; None if it is no update."""
    if not node.inputs or node.op.kind != "control":
        return 0 if node.inputs else None
    attrs = node.attrs
    if node.op.name == "switch":
        kept = kept_operands(attrs["branches"])
        return next((1 + number for number, place in kept.items() if place == attrs["result"]), None)
    if node.op.name in ("scan", "while_loop") and attrs["result"] < attrs["carries"]:
        return attrs["result"] + (node.op.name == "scan")
    return None


def layout(value: Input) -> Leaf:
    """The layout of an operand in memory."""
    kind = python_type(value.type)
    if kind is not None:
        return ScalarLeaf(kind)
    return ArrayLeaf(value.dtype, tuple(shapes.resolve(extent) == 1 for extent in value.shape))


def trips_of(length: Value) -> Scalar:
    return literal(int(length.data)) if isinstance(length, Constant) else extent_scalar(length)


def bound_of(length: Value) -> int | None:
    """A bound of a number of steps that is seen in how it is computed."""
    if isinstance(length, Node) and length.op.name == "minimum":
        length = length.inputs[1]
    return int(length.data) if isinstance(length, Constant) else None


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


def is_condition(node: Node) -> bool:
    """Whether a node may be computed for the condition of a loop: a number, or an array that needs no memory and no
    check of its own."""
    return is_reduced(node) or (is_computed_at_use(node) and not (node.ndim and may_fail(node)))


def is_reduced(node: Node) -> bool:
    return not node.ndim and isinstance(node.op.lower, Reduce)

"""Puts loop nests, calls and rank-0 values in order, and writes the program down."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any

from numbagraph.blockwise import lowering
from numbagraph.blockwise.lowering import Index, extent_scalar
from numbagraph.intrinsics.emitters.ir import (
    Buffer,
    CheckedIndex,
    LeafStride,
    Literal,
    Load,
    LoopIndex,
    Register,
    Scalar,
    literal,
    register,
    walk,
)
from numbagraph.ir import shapes
from numbagraph.ir.abi import ArrayLeaf, Leaf
from numbagraph.ir.graph import Graph
from numbagraph.ir.later import Later
from numbagraph.ir.types import BOOL, INT64
from numbagraph.ir.values import ArrayType, Extent, Input, Node, Value, toposort
from numbagraph.loops.anti_dependences import before_updates
from numbagraph.loops.buffered import with_buffered_parts
from numbagraph.loops.buffers import plan_memory
from numbagraph.loops.control_steps import Loop, RegionOptions, ReverseLoop, buffers_of
from numbagraph.loops.copies import without_copies
from numbagraph.loops.distinct_arrays import with_distinct_outputs, with_distinct_starts
from numbagraph.loops.early_checks import with_early_checks
from numbagraph.loops.early_exits import mark_uninterruptible
from numbagraph.loops.fusion import Plan, everything, extents_of, is_barrier, is_call
from numbagraph.loops.ir import Block, Call, Check, Compute, Entry, Kernel, Program, Reduction, Scatter, Step, Store
from numbagraph.loops.late_guards import after_checks, late_conditions
from numbagraph.loops.lengths import advice, array_of_computed_length, refusal
from numbagraph.loops.needed_columns import with_needed_columns
from numbagraph.loops.nests import ElementBuilder, Memory, build_nest, element_count, flattened_operand, loops_of
from numbagraph.loops.order import needs_fill
from numbagraph.loops.own_positions import with_own_positions
from numbagraph.loops.packing import with_packed_operands
from numbagraph.loops.parallel import split_nests

if TYPE_CHECKING:
    from numbagraph.loops import control
    from numbagraph.loops import inner_lengths as rest
else:
    control, rest = Later("numbagraph.loops.control"), Later("numbagraph.loops.inner_lengths")

Action = tuple[Step, ...]
NOTHING: Mapping[int, int] = {}
TRUE = Literal(True, BOOL)
WHILE_TRIPS = 1000
"""The assumed number of steps of a loop that ends on a condition, or whose number of steps is computed."""
CALL_WORK = 8
"""The rough number of operations of a call for each element of its operands and results."""


class LengthNotKnown(ValueError):
    """An error: a length must be known before the loops run, but follows from their results. (A `ValueError`, since
    users see it.)"""


def build_program(
    graph: Graph,
    leaves: Sequence[Leaf],
    *,
    parallel: bool = False,
    given: Mapping[int, int] = NOTHING,
    versioned: bool = True,
    is_region: bool = False,
) -> Program:
    """The program of an optimised graph, for arguments of the layouts ``leaves``; with ``parallel``, for threads.
    Arguments in ``given`` may live in the memory of a result, which is then updated. Loops are ``versioned``, except in
    the version with checks. A region is split where lengths follow from values that it computes itself."""
    graph = with_distinct_starts(with_distinct_outputs(graph))
    graph = graph if is_region else with_own_positions(graph)
    plan = Plan(graph, given)
    as_planned = partial(scheduled, parallel=parallel, given=given, versioned=versioned, is_region=is_region)
    try:
        return as_planned(plan, leaves, ())
    except LengthNotKnown:
        pass
    try:  # a length may follow from elements that get memory, but can be computed a second time
        at_entry = needed_at_entry(graph)
        return as_planned(plan, leaves, at_entry)
    except LengthNotKnown:
        parted = rest.with_the_rest_apart(graph) if is_region else None
        if parted is not None:
            return as_planned(Plan(parted, given), leaves, ())
        array = array_of_computed_length(graph)
        error = LengthNotKnown(refusal(array))
    error.add_note(advice(graph, array))
    raise error


def scheduled(
    plan: Plan,
    leaves: Sequence[Leaf],
    at_entry: Collection[Value],
    *,
    parallel: bool,
    given: Mapping[int, int],
    versioned: bool,
    is_region: bool,
) -> Program:
    """The program of a plan. Numbers in ``at_entry`` are computed from arguments, whatever has memory on the way."""
    graph, memory = plan.graph, allocate(plan.graph, plan, leaves)
    builder = ElementBuilder(memory)
    inlined: set[Value] = {value for value in memory.buffers if isinstance(value, Node) and not is_barrier(value)}
    options = RegionOptions(versioned, graph.stabilised)
    actions: list[Action] = []
    producer: dict[object, int] = {}
    for value in plan.order:
        if isinstance(value, Node) and not value.ndim and not is_barrier(value):
            producer[value] = len(actions)
            # of the registers of its inputs: what is below those would be walked through for each scalar
            computed = ElementBuilder(memory, inlined if value in at_entry else frozenset()).compute(value, ())
            actions.append((Compute(value, computed),))
    for live_outs in plan.nests:
        for live_out in live_outs:
            producer[live_out if not live_out.ndim else memory.buffers[live_out]] = len(actions)
        actions.append(tuple(nest_steps(live_outs, memory, options)))
    late = late_conditions(graph)
    checks = range(len(actions), len(actions) + len(late))
    actions += [(Check(builder.rank0(condition)),) for condition in late]
    needed = {number: dependencies(action, producer) - {number} for number, action in enumerate(actions)}
    keys = {value: memory.buffers.get(value) if value.ndim else value for value in plan.order if is_barrier(value)}
    barriers = {value: producer[key] for value, key in keys.items() if key in producer}
    failing = {barriers[value] for value in barriers if isinstance(value, Node) and value.op.kind == "control"}
    needed = before_updates(actions, after_checks(needed, checks, set(barriers.values()), failing), given)
    ordered = [step for number in in_order(actions, needed) for step in actions[number]]
    steps, donations = without_copies(with_buffered_parts(ordered, given), given)
    overwritten = [result for _, result in donations]
    if donations and not is_region:  # the loop that a region belongs to may take longer, and does not ask in its steps
        mark_uninterruptible(steps, overwritten)
    if donations:
        steps = with_early_checks(steps, overwritten)
    steps = with_packed_operands(steps, parallel=parallel)
    with_needed_columns(steps)
    if parallel:
        split_nests(steps)
    results = [memory.buffers[value] if value.ndim else builder.rank0(value) for value in graph.outputs]
    program = Program(
        body=Block(steps, plan_memory(steps, overwritten)),
        entry=Entry(
            # a guard keeps its number, by which errors are found, where it is checked later
            guards=[TRUE if each.condition in late else builder.rank0(each.condition) for each in graph.guards],
            extents=[tuple(extent_scalar(extent) for extent in value.shape) for value in graph.outputs],
            work=[estimate_work(steps)],
        ),
        results=list(results),
        donations=donations,
        leaves={each.leaf: each for each in memory.leaves.values() if each.leaf is not None},
        name=graph.name,
    )
    program.entry.prologue = prologue(program)
    nodes = [(value, reason) for value, reason in plan.reasons.items() if isinstance(value, Node)]
    program.notes = [f"{value.op.name} has memory: {reason}" for value, reason in nodes]
    return program


def allocate(graph: Graph, plan: Plan, leaves: Sequence[Leaf]) -> Memory:
    """A buffer for each array argument and each materialised value, and for each number that a call leaves."""
    memory = Memory(order=plan.position)
    for number, (value, leaf) in enumerate(zip(graph.inputs, leaves, strict=True)):
        if value.ndim:
            strides, fortran = None, isinstance(leaf, ArrayLeaf) and leaf.fortran
            if isinstance(leaf, ArrayLeaf) and leaf.strided:
                strides = strides_of(number, leaf)
            extents = tuple(extent_scalar(extent) for extent in value.shape)
            memory.leaves[value] = Buffer(value.name, value.type, extents, strides, fortran, leaf=number)
    results = {value: number for number, value in enumerate(graph.outputs)}
    for value in plan.reasons:
        if value.ndim or is_call(value):
            extents = tuple(extent_scalar(extent) for extent in value.shape)
            name = f"result{results[value]}" if value in results else f"temporary{len(memory.buffers)}"
            memory.buffers[value] = Buffer(name, value.type, extents, result=results.get(value), value=value)
    return memory


def strides_of(number: int, leaf: ArrayLeaf) -> tuple[LeafStride | Literal, ...]:
    """The strides of an argument, as far as they are known before the call."""
    strides = [LeafStride(number, axis) for axis in range(leaf.ndim)]
    return (*strides[:-1], literal(leaf.dtype.itemsize)) if leaf.rows else tuple(strides)


def nest_steps(live_outs: list[Value], memory: Memory, options: RegionOptions) -> list[Step]:
    """The steps that compute one group of live-outs: fills, and a loop nest or a call."""
    first = live_outs[0]
    name = "_".join(dict.fromkeys(live_out.op.name for live_out in live_outs if isinstance(live_out, Node))) or "copy"
    if isinstance(first, Node) and isinstance(first.op.lower, lowering.Control):
        return control_steps(first, live_outs, memory, options)
    if isinstance(first, Node) and is_call(first):
        return call_steps(name, first, live_outs, memory)
    if isinstance(first, Node) and isinstance(first.op.lower, lowering.Assemble):
        return assemble(name, first, first.op.lower, memory)
    kernel = build_nest(name[:60], live_outs, memory)
    if first.ndim and len(live_outs) == 1:
        kernel.reshapes = reshaped(first, memory.buffers[first], memory)
    fills = [
        each
        for output in kernel.outputs
        if isinstance(output, Scatter) or (isinstance(output, Reduction) and needs_fill(output, kernel))
        for each in fill_accumulators(output)
    ]
    return [*fills, kernel]


def reshaped(value: Value, target: Buffer, memory: Memory) -> Buffer | None:
    """The buffer whose elements a value has in their order, but in another shape, if both are contiguous."""
    if not isinstance(value, Node):
        return None
    lower = value.op.lower
    if not isinstance(lower, lowering.View) or not lower.in_order:
        return None
    source = memory.of(value.inputs[0])
    return source if source is not None and source.contiguous and target.contiguous else None


def call_steps(name: str, first: Node, live_outs: Iterable[Value], memory: Memory) -> list[Step]:
    """The call that has some results, which ``first`` is one of, and what makes its operands contiguous."""
    lower = first.op.lower
    assert isinstance(lower, lowering.Routine)
    packs = [in_memory(source, memory) for source in first.inputs]
    outputs, scratch = (memory.buffers[first],), ()
    if isinstance(lower, lowering.Core):
        wanted = {
            live_out.attrs.get("result", 0): memory.buffers[live_out]
            for live_out in live_outs
            if isinstance(live_out, Node)
        }
        outputs = tuple(wanted.get(number) or unwanted(first, number, lower) for number in range(lower.results))
        scratch = tuple(Buffer(f"{name}_scratch", *each) for each in lower.scratch(first))
    call = Call(name, lower.emit, tuple(buffer for buffer, _ in packs), outputs, first.attrs, scratch)
    call.cores, call.in_place, call.fails_first = (*lower.operands, *lower.ranks), lower.in_place, lower.fails_first
    if isinstance(lower, lowering.Core):
        call.cores, call.least_rows = lower.cores or call.cores, lower.least_rows
    numbers = [Compute(live_out, Load(memory.buffers[live_out], ())) for live_out in live_outs if not live_out.ndim]
    return [*(step for _, steps in packs for step in steps), *lengths_of(scratch, memory), call, *numbers]


def lengths_of(scratch: Iterable[Buffer], memory: Memory) -> list[Compute]:
    """The steps that compute those lengths of scratch memory that nothing else in the program uses: the lengths of
    operands may have been unified since those of the results were inferred."""
    registers = [each.value for buffer in scratch for each in walk(buffer.extents) if isinstance(each, Register)]
    found = [each for each in registers if isinstance(each, Value)]
    missing = [each for each in toposort(found, memory.order) if isinstance(each, Node)]
    return [Compute(each, ElementBuilder(memory).compute(each, ())) for each in missing]


def control_steps(node: Node, live_outs: Iterable[Value], memory: Memory, options: RegionOptions) -> list[Step]:
    """The loop or the branch that has some results, and what brings its operands into memory."""
    wanted = {each.attrs["result"]: memory.buffers[each] for each in live_outs if isinstance(each, Node)}
    within = partial(in_memory, memory=memory)
    builder = control.ControlBuilder(
        node, wanted, within, ElementBuilder(memory), partial(build_program, is_region=True), options
    )
    step = builder.step()
    results = [Compute(each, Load(memory.buffers[each], ())) for each in live_outs if not each.ndim]
    return [*builder.before, step, *results]


def in_memory(value: Value, memory: Memory) -> tuple[Buffer, list[Step]]:
    """An operand in a C-contiguous buffer, and the steps that bring it there if need be."""
    return pack(operand(value, memory)) if value.ndim else spill(value, memory)


def unwanted(node: Node, number: int, lower: lowering.Core) -> Buffer:
    """Memory for a result that is not used: of one element of the batch, which all others overwrite."""
    type_ = node.op.infer(*node.inputs, **{**node.attrs, "result": number})
    shape = type_.shape[type_.ndim - lower.ranks[number] :]
    extents = tuple(extent_scalar(extent) for extent in shape)
    return Buffer(f"{node.op.name}_unwanted", type_.with_shape(shape), extents)


def operand(value: Value, memory: Memory) -> Buffer:
    buffer = memory.of(value)
    assert buffer is not None, f"{value!r} has no memory"
    return buffer


def pack(buffer: Buffer) -> tuple[Buffer, list[Step]]:
    """A C-contiguous buffer with the elements of ``buffer``, and the steps that copy them there if need be."""
    if buffer.contiguous:
        return buffer, []
    packed = Buffer(f"{buffer.name}_packed", buffer.type, buffer.extents)
    loops = tuple(LoopIndex(f"i{depth}", extent) for depth, extent in enumerate(buffer.extents))
    return packed, [Kernel("pack", loops, [Store(packed, loops, Load(buffer, loops))])]


def spill(value: Value, memory: Memory) -> tuple[Buffer, list[Step]]:
    """A number in memory, where calls find their operands, and the steps that store it there."""
    spilled = Buffer("number", value.type, ())
    return spilled, [Kernel("spill", (), [Store(spilled, (), ElementBuilder(memory).rank0(value))])]


def fill_accumulators(output: Reduction | Scatter) -> list[Kernel]:
    """The nests that initialise the memory in which a reduction accumulates. A reduction for positions also needs the
    extrema."""
    buffer, reducer, dtype = output.buffer, output.reducer, output.value.dtype
    assert buffer is not None
    if not reducer.positional:
        return [fill(buffer, reducer.identity_of(buffer.dtype))]
    assert isinstance(output, Reduction)
    output.extrema = Buffer(f"{buffer.name}_extrema", ArrayType(dtype, buffer.type.shape), buffer.extents)
    return [fill(buffer, reducer.NOWHERE), fill(output.extrema, reducer.identity_of(dtype))]


def fill(buffer: Buffer, value: Any) -> Kernel:
    """A nest that sets every element of a buffer."""
    loop = LoopIndex("i", element_count(buffer.extents))
    return Kernel("fill", (loop,), [Store(buffer, (loop,), Literal(value, buffer.dtype), flat=True)])


MOST_SIDE_BY_SIDE = 8
"""The largest number of pieces that one nest stores: each is read from memory of its own."""


def assemble(name: str, live_out: Node, lower: lowering.Assemble, memory: Memory) -> list[Step]:
    """One nest for each piece, which stores it where it belongs, or for several whose elements stand side by side."""
    steps: list[Step] = []
    spaces: dict[tuple[Extent, ...], tuple[LoopIndex, ...]] = {}
    for value, target in lower.pieces(live_out):
        source = flattened_operand(value)
        extents = loops_of(source.shape)
        if extents not in spaces:
            spaces[extents] = tuple(LoopIndex(f"i{depth}", extent_scalar(each)) for depth, each in enumerate(extents))
        loops = spaces[extents]
        remaining = iter(loops)
        index = tuple(literal(0) if shapes.resolve(extent) == 1 else next(remaining) for extent in source.shape)
        position = index
        if source is not value:
            position = (lowering.linear_index(index, list(map(extent_scalar, source.shape))),)
        builder = ElementBuilder(memory)
        place = target(position, builder.element)
        if not loops:
            checks, place = checked_before(place)
            steps += checks
        element, target_buffer = builder.element(source, index), memory.buffers[live_out]
        if lower.reducer is not None and steps:
            steps.append(Kernel(name, loops, [Scatter(lower.reducer, element, target_buffer, place, live_out.source)]))
            continue
        store = Store(target_buffer, place, element, live_out.source)
        store.apart = lower.begin is not None
        last = steps[-1] if steps else None
        if isinstance(last, Kernel) and loops and last.loops is loops and stands_beside(store, last):
            last.outputs.append(store)
        else:
            begins = {loops[-1]: lower.begin(index)} if lower.begin is not None else {}
            kernel = Kernel(name, loops, [store], begins=begins)
            if value.shape == live_out.shape and place == index:
                kernel.reshapes = reshaped(value, store.buffer, memory)
            steps.append(kernel)
    return steps


def stands_beside(store: Store, kernel: Kernel) -> bool:
    """Whether a nest may store one more element beside its own: the last indices are constants that differ."""
    places = [each.indices[-1] for each in (*kernel.outputs, store)]
    if len(places) > MOST_SIDE_BY_SIDE or not all(isinstance(each, Literal) for each in places):
        return False
    return len({each.value for each in places if isinstance(each, Literal)}) == len(places)


def checked_before(place: Index) -> tuple[list[Compute], Index]:
    """The checks of one element's position as steps, and the position: nothing is written yet where one fails."""
    keys = {each: Input(ArrayType(INT64, ()), "position") for each in place if isinstance(each, CheckedIndex)}
    steps = [Compute(key, each) for each, key in keys.items()]
    return steps, tuple(register(keys[each]) if isinstance(each, CheckedIndex) else each for each in place)


def dependencies(action: Action, producer: dict[object, int]) -> set[int]:
    """The actions that must have run before this one."""
    needed: set[int] = set()
    for step in action:
        needed.update(producer.get(each, -1) for each in (*step.registers(), *step.reads()))
    return needed - {-1}


def in_order(actions: Sequence[Action], needed: Mapping[int, set[int]]) -> list[int]:
    """An order in which each action follows what it needs.

    Nests and calls stand as close together as possible, since neighbours may run together. Scalars among them stand
    before the first that uses them, so that few are alive at a time: LLVM's register allocator takes quadratic time
    where many are.
    """
    scalars = {number for number, action in enumerate(actions) if all(isinstance(step, Compute) for step in action)}
    others = [number for number in TopologicalSorter(needed).static_order() if number not in scalars]
    position = {number: index for index, number in enumerate(others)}
    after: list[list[int]] = [[] for _ in range(len(others) + 1)]
    """The scalars that follow the first nests and calls, by their number."""
    used = set().union(*needed.values())
    for number in depth_first([*others, *sorted(scalars - used)], needed):
        if number in scalars:
            latest = max((position[each] + (each not in scalars) for each in needed[number]), default=0)
            position[number] = latest
            after[latest].append(number)
    return [
        *after[0],
        *(each for number, scalars in zip(others, after[1:], strict=True) for each in (number, *scalars)),
    ]


def depth_first(roots: Iterable[int], needed: Mapping[int, set[int]]) -> list[int]:
    """All that the roots need, each behind what it needs itself, and as close to its first use as possible."""
    found: dict[int, None] = {}
    stack = [(root, False) for root in reversed(list(roots))]
    while stack:
        number, complete = stack.pop()
        if complete:
            found[number] = None
        elif number not in found:
            stack.append((number, True))
            stack += ((each, False) for each in sorted(needed[number], reverse=True) if each not in found)
    return list(found)


def needed_at_entry(graph: Graph) -> set[Value]:
    """The values that lengths and guards follow from."""
    lengths = [length for value in everything(graph) for length in extents_of(value)]
    late = late_conditions(graph)
    conditions = [guard.condition for guard in graph.guards if guard.condition not in late]
    return set(toposort([*dict.fromkeys(lengths), *conditions]))


def prologue(program: Program) -> list[Compute]:
    """The rank-0 values that guards and extents need, which the entry computes before anything else.

    The lengths of loop nests are among them, whose product it checks: the estimate of the work has lost those beside a
    length that is known to be 0; and those of a region's arguments, which the size of a tile of rows follows from.
    """
    block, entry = program.body, program.entry
    computes = {step.value: step for step in block.steps if isinstance(step, Compute)}
    registers = {value for step in block.steps for value in step.results()} - computes.keys()
    roots = [*entry.guards, *(extent for extents in entry.extents for extent in extents), *entry.work]
    roots += [extent for slot in (*block.slots, program.leaves.values()) for each in slot for extent in each.extents]
    roots += [extent for step in block.members() if isinstance(step, Kernel) for extent in step.lengths]
    needed: set[Value] = set()
    stack = list(walk(roots))
    while stack:
        scalar = stack.pop()
        if isinstance(scalar, Load) and scalar.buffer.leaf is None and scalar.buffer.literal is None:
            raise LengthNotKnown
        if isinstance(scalar, Register) and scalar.value not in needed:
            if scalar.value in registers:
                raise LengthNotKnown
            needed.add(scalar.value)
            if scalar.value in computes:
                stack.extend(walk([computes[scalar.value].scalar]))
    return [step for value, step in computes.items() if value in needed]


def estimate_work(steps: list[Step]) -> Scalar:
    """About how many scalar operations the program runs."""
    works: list[Scalar] = []
    for step in steps:
        if isinstance(step, Kernel):
            trips: Scalar = literal(max(1, sum(1 for _ in step.scalars()) // 8))
            for loop in step.loops:
                trips = lowering.multiply(trips, loop.extent)
            works.append(trips)
        elif isinstance(step, Loop):
            works.append(work_of_loop(step))
        elif isinstance(step, ReverseLoop):
            works += [work_of_loop(step.forward), work_of_loop(step.back)]
        elif isinstance(step, Call) and step.work is not None:
            works.append(step.work)
        elif isinstance(step, Call):
            for buffer in (*step.inputs, *step.outputs):
                works.append(lowering.multiply(literal(CALL_WORK), element_count(buffer.extents)))
    return lowering.combined(map(lowering.parts, works)).scalar()


def work_of_loop(loop: Loop) -> Scalar:
    """The cost of a loop: for each step, the number of elements of its operands and results."""
    work: Scalar = literal(CALL_WORK * max(1, len(loop.body.program.body.steps)))
    for buffer in buffers_of([*loop.captures, *(each.last for each in loop.carried)]):
        work = lowering.add(work, element_count(buffer.extents))
    trips = loop.trips if loop.trips is not None and known_at_entry(loop.trips) else literal(WHILE_TRIPS)
    return lowering.multiply(work, trips)


def known_at_entry(scalar: Scalar) -> bool:
    """Whether a number does not follow from what loop nests compute."""
    values = [each.value for each in walk([scalar]) if isinstance(each, Register) and isinstance(each.value, Value)]
    return not any(map(is_barrier, toposort(values)))

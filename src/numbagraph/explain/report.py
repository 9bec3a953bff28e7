"""`explain`: a report on a compiled function for its user."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from numbagraph.intrinsics.emitters.ir import Apply, Buffer, CheckedIndex, Literal, Load, Register, Scalar, walk
from numbagraph.ir.abi import ArrayLeaf, ScalarLeaf
from numbagraph.ir.graph import Graph
from numbagraph.ir.shapes import resolve
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Dim, Input, Node, Value, toposort
from numbagraph.loops.control_steps import Branch, Loop, Region, ReverseLoop
from numbagraph.loops.ir import (
    Block,
    Call,
    Compute,
    Kernel,
    Output,
    Program,
    Reduction,
    Scan,
    Scatter,
    Store,
    TiledLoop,
)

INDEX_ARITHMETIC = {"add", "subtract", "multiply", "divide", "remainder", "widen", "stretch", "if_at_least"}


def lengths_of(inputs: Sequence[Input], arrays: Sequence[Any]) -> dict[Value, int]:
    """The length that each symbol stands for in one call."""
    known: dict[Value, int] = {}
    for value, array in zip(inputs, arrays, strict=True):
        for extent, length in zip(value.shape, getattr(array, "shape", ()), strict=True):
            symbol = resolve(extent)
            if isinstance(symbol, Dim):
                known[symbol] = length
        if not value.ndim and value.dtype.kind in "iu":
            known[value] = int(array)
    return known


def evaluate_length(scalar: Scalar, known: Mapping[Value, int]) -> int | None:
    """A length as a number; None where it depends on more than lengths and integer arguments."""
    numbers: dict[Scalar, int] = {}
    for each in walk([scalar]):
        if isinstance(each, Literal):
            numbers[each] = int(each.value)
        elif isinstance(each, Register):
            number = evaluate_value(each.value, known)
            if number is None:
                return None
            numbers[each] = number
        elif isinstance(each, Apply) and each.name == "multiply":
            numbers[each] = numbers[each.arguments[0]] * numbers[each.arguments[1]]
        elif isinstance(each, Apply) and each.name == "add":
            numbers[each] = numbers[each.arguments[0]] + numbers[each.arguments[1]]
        elif isinstance(each, Apply) and each.name == "if_at_least":
            value, length, least = (numbers[argument] for argument in each.arguments)
            numbers[each] = value if length >= least else 0
        else:
            return None
    return numbers[scalar]


def evaluate_value(value: Value, known: Mapping[Value, int]) -> int | None:
    """The number that a value of the graph is; None where it depends on more than lengths and integer arguments."""
    numbers: dict[Value, Any] = dict(known)
    for each in toposort([value], known=numbers):
        if isinstance(each, Node):
            numbers[each] = each.op.reference(*[numbers[source] for source in each.inputs], **each.attrs)
        elif isinstance(each, Dim):
            representative = resolve(each)
            numbers[each] = representative if isinstance(representative, int) else numbers.get(representative)
        elif hasattr(each, "data"):
            numbers[each] = each.data[()]  # type: ignore[attr-defined]
        else:
            return None
        if numbers[each] is None:
            return None
    return int(numbers[value])


def known_in(
    region: Region, operands: Sequence[tuple[Any, int]], known: Mapping[Value, int]
) -> Iterator[tuple[Value, int]]:
    """The lengths of a region's inputs, whose operands come with the number of dimensions that run along steps."""
    for value, (operand, first) in zip(region.graph.inputs, operands, strict=True):
        extents = operand.extents[first:] if isinstance(operand, Buffer) else ()
        for own, extent in zip(value.shape, extents, strict=True):
            length = evaluate_length(extent, known)
            if isinstance(own, Dim) and length is not None:
                yield own, length


class Report:
    """The text of `explain` for one version of a function and the lengths of one call."""

    @classmethod
    def of_call(cls, graph: Graph, program: Program, leaves: Sequence[Any], arrays: Sequence[Any]) -> Report:
        return cls(graph, program, leaves, lengths_of(graph.inputs, arrays))

    def __init__(self, graph: Graph, program: Program, leaves: Sequence[Any], known: Mapping[Value, int]) -> None:
        self.program = program
        self.leaves = leaves
        self.graph = graph
        self.known = known
        """The length of each symbol, as far as it is known."""
        self.lines: list[str] = []

    def text(self, title: str, rewrites: Sequence[Any]) -> str:
        self.lines.append(title)
        self._arguments()
        self._rules(rewrites)
        self._steps()
        self._buffers()
        return "\n".join(self.lines)

    def _arguments(self) -> None:
        self.lines.append("arguments:")
        for value, leaf in zip(self.graph.inputs, self.leaves, strict=True):
            if isinstance(leaf, ScalarLeaf):
                layout = f"Python {leaf.kind.__name__}"
            else:
                layout = f"{value.type}, {order_of(leaf)}"
            self.lines.append(f"  {value.name}: {layout}")

    def _rules(self, rewrites: Sequence[Any]) -> None:
        self.lines.append(f"rewriting: {len(rewrites)} rules fired")
        counts = Counter((applied.rule.name, short(applied.rule.source)) for applied in rewrites)
        for (name, source), count in sorted(counts.items()):
            self.lines.append(f"  {count} x {name}   [{source}]")

    def _steps(self) -> None:
        self.lines.append(f"program: {content(self.program.body)}")
        self._listed(self.program.body)

    def _listed(self, block: Block) -> None:
        number = 0
        for step in block.steps:
            if isinstance(step, TiledLoop) and len(step.steps) > 1:
                calls = len(step.steps) - len(step.kernels)
                what = f"{len(step.kernels)} nests" + (f" and {calls} calls" if calls else "")
                self.lines.append(f"  {what}, together for as many rows at a time as stay in cache:")
            for each in step.members():
                if isinstance(each, Kernel):
                    number += 1
                    self._nest(number, each)
                elif isinstance(each, Call):
                    self._call(each)
                elif isinstance(each, (Loop, ReverseLoop, Branch)):
                    self._control(each)

    def _control(self, step: Loop | ReverseLoop | Branch) -> None:
        """A loop or a branch, and below it the steps of its regions."""
        if isinstance(step, Branch):
            self.lines.append(f"  branch ({step.name}), one of:")
        elif isinstance(step, ReverseLoop):
            self.lines.append(f"  loop ({step.name}) until a condition fails, then in reverse over what it has stored:")
        else:
            trips = "until a condition fails" if step.trips is None else f"of {self._length(step.trips)} steps"
            self.lines.append(f"  loop ({step.name}) {trips}: {carried(step)}")
            if step.with_checks is not None:
                self.lines.append("    indices are checked once before the loop; where one will fail, in each step")
            if step.uninterruptible:
                self.lines.append("    asks for no signals: it updates an argument where that lies")
        for region, operands in regions_of(step):
            known = dict(known_in(region, operands, self.known))
            inner = Report(region.graph, region.program, region.signature.leaves, known)
            inner._steps()
            title = inner.lines[0].replace("program", region.graph.name)
            self.lines += [f"    {line}" for line in (title, *inner.lines[1:])]

    def _call(self, call: Call) -> None:
        operands, results = (", ".join(each.name for each in part) for part in (call.inputs, call.outputs))
        ranks = zip((*call.inputs, *call.outputs), call.cores, strict=False)
        is_batched = any(len(buffer.extents) > rank for buffer, rank in ranks)
        over = "for each element of a batch" if is_batched else "on whole arrays"
        self.lines.append(f"  call {call.name}({operands}) -> {results}, {over}")
        if is_batched and call.work is not None:
            self.lines.append("    note: several threads run parts of the batch, where it is long enough")

    def _nest(self, number: int, kernel: Kernel) -> None:
        loops = " x ".join(f"{loop.name} < {self._length(loop.extent)}" for loop in kernel.loops) or "no loop"
        self.lines.append(f"  nest {number} ({kernel.name}): {loops}")
        fused = Counter(each.name for each in kernel.scalars() if isinstance(each, Apply) and not is_index(each))
        if fused:
            counts = (f"{name} x{count}" if count > 1 else name for name, count in sorted(fused.items()))
            self.lines.append("    fused: " + ", ".join(counts))
        reads = dict.fromkeys(each.buffer.name for each in kernel.scalars() if isinstance(each, Load))
        if reads:
            self.lines.append(f"    reads: {', '.join(reads)}")
        if any(isinstance(each, CheckedIndex) for each in kernel.scalars()):
            self.lines.append("    run-time indices are checked inside the loop")
        for output in kernel.outputs:
            self.lines.append(f"    {self._output(output, kernel)}")
        self.lines.append(f"    moves {self._moved(kernel)}")
        self.lines.extend(f"    note: {note}" for note in kernel.notes)

    def _output(self, output: Output, kernel: Kernel) -> str:
        target = output.buffer.name if output.buffer is not None else "a register"
        source = f"   [{short(output.source)}]" if output.source is not None else ""
        if isinstance(output, Store):
            return f"stores {target}{source}"
        names = {Reduction: "reduces", Scan: "scans", Scatter: "scatters"}
        text = f"{names[type(output)]} ({output.reducer.name}) into {target}"
        if isinstance(output, Reduction) and len(output.reduced) < len(kernel.loops):
            text += " over " + ", ".join(sorted(loop.name for loop in output.reduced))
        return text + source

    def _moved(self, kernel: Kernel) -> str:
        """The bytes of the arrays that the nest reads and writes, each once."""
        total = bytes_of(kernel.buffers(), self.known)
        return "an amount that is known only at run time" if total is None else format_bytes(total)

    def _length(self, extent: Scalar) -> str:
        number = evaluate_length(extent, self.known)
        return repr(extent) if number is None else str(number)

    def _buffers(self) -> None:
        block = self.program.body
        self.lines.append(f"memory: {sum(map(len, block.slots))} temporaries in {len(block.slots)} slots")
        in_tiles = {buffer for step in block.steps if isinstance(step, TiledLoop) for buffer in step.in_tile}
        for slot in block.slots:
            size = bytes_of(slot[:1], self.known)
            names = ", then ".join(buffer.name for buffer in slot)
            rest = ", of which there are only as many rows as run together" if slot[0] in in_tiles else ""
            self.lines.append(f"  {names}: {'?' if size is None else format_bytes(size)}{rest}")
        self.lines.append("why values have memory:")
        self.lines.extend(f"  {note}" for note in dict.fromkeys(self.program.notes))


def order_of(leaf: ArrayLeaf) -> str:
    """The order of an argument's elements in memory."""
    if leaf.rows:
        return "in rows that lie apart"
    return "strided" if leaf.strided else "in Fortran's order" if leaf.fortran else "contiguous"


def bytes_of(buffers: Iterable[Buffer], known: Mapping[Value, int]) -> int | None:
    """The bytes of some arrays together; None where a length is known only at run time."""
    total = 0
    for buffer in buffers:
        size = buffer.dtype.itemsize
        for extent in buffer.extents:
            length = evaluate_length(extent, known)
            if length is None:
                return None
            size *= length
        total += size
    return total


def content(block: Block) -> str:
    """The number of steps of a block, by their kind."""
    counts = Counter(type(step) for step in block.members())
    text = f"{counts[Kernel]} loop nests, {counts[Call]} calls, {counts[Compute]} scalar operations"
    others = (
        (Loop, "loop of steps", "loops of steps"),
        (ReverseLoop, "loop in reverse", "loops in reverse"),
        (Branch, "branch", "branches"),
    )
    named = [f"{counts[kind]} {one if counts[kind] == 1 else more}" for kind, one, more in others if counts[kind]]
    return ", ".join([text, *named])


def carried(loop: Loop) -> str:
    """A description of the carries of a loop."""
    arrays = [each for each in loop.carried if isinstance(each.initial, Buffer)]
    in_place = sum(each.takes is not None for each in arrays)
    text = f"carries {len(loop.carried) - len(arrays)} numbers and {len(arrays)} arrays"
    text += f", {in_place} of them updated in place" if in_place else ""
    stored = len(loop.stacked) + sum(each.before is not None for each in loop.carried)
    return f"{text}, stores {stored} values of each step" if stored else text


def regions_of(step: Loop | ReverseLoop | Branch) -> Iterator[tuple[Region, list[tuple[Any, int]]]]:
    """The regions of a step, and their operands, with how many dimensions of each run along the steps."""
    if isinstance(step, Branch):
        for region in step.regions:
            yield region, [(each, 0) for each in step.operands]
        return
    if isinstance(step, ReverseLoop):
        yield from regions_of(step.forward)
        yield from regions_of(step.back)
        return
    operands: list[tuple[Any, int]] = [(each.initial, 0) for each in step.carried]
    operands += [*((each, 1) for each in step.sequences), *((each, 0) for each in step.captures)]
    if step.condition is not None:
        yield step.condition, operands
    yield step.body, operands


def is_index(scalar: Apply) -> bool:
    """Whether an operation computes the position of an element, rather than its value."""
    return scalar.name in INDEX_ARITHMETIC and scalar.dtype == INT64


def format_bytes(count: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def short(source: Any) -> str:
    """The text of a source line, with only the last part of its path."""
    return Path(str(source)).name

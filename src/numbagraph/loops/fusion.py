"""The plan of a program for a graph: which values get memory, and which loop nests compute them.

A value without memory is computed at its use, inside each nest that needs it. *Materialised* values get memory: the
results, whatever is accumulated (reductions, scans, scatters), what an opaque call reads, and what would be expensive
to compute twice. Those over the same loops are live-outs of one nest when none depends on another's accumulation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from numbagraph.blockwise import lowering
from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph
from numbagraph.ir.values import Constant, Dim, Input, Node, Value, toposort
from numbagraph.loops.anti_dependences import is_part, updated_array
from numbagraph.loops.nests import Domain, domain_of

RECOMPUTE_THRESHOLD = 8.0
"""The cost an element, in additions, above which a value is stored rather than computed again in a second nest."""

REPEATED_THRESHOLD = 4.0
"""The cost from which an element is stored that a gather of more dimensions reads, each element several times: that of
a division."""

MOST_IN_A_ROW = 200
"""The number of operations that may follow each other in one loop nest. LLVM's vectoriser takes quadratic time for
more, beside which memory costs nothing."""

BARRIERS = (lowering.Reduce, lowering.Running, lowering.ScatterInto, lowering.Assemble, lowering.Opaque)


def extents_of(value: Value) -> list[Value]:
    """The symbolic extents in a value's shape, each by its representative. For one of several results of a call, the
    extents of all results: the call needs memory for each."""
    found = list(value.shape)
    if isinstance(value, Node) and isinstance(value.op.lower, lowering.Core) and value.op.multi_result:
        with shapes.collect_guards():  # what the call requires was required when it was made
            for number in range(value.op.lower.results):
                found += value.op.infer(*value.inputs, **{**value.attrs, "result": number}).shape
    resolved = [shapes.resolve(extent) for extent in found]
    return [extent for extent in resolved if isinstance(extent, Value)]


def everything(graph: Graph) -> list[Value]:
    """Every value that the program computes, the lengths among them, in dependency order."""
    roots = list(graph.outputs) + [guard.condition for guard in graph.guards]
    order = toposort(roots)
    while True:
        known = set(order)
        lengths = [each for value in order for each in extents_of(value) if each not in known]
        if not any(isinstance(each, Node) for each in lengths):
            return [*dict.fromkeys(lengths), *order]
        roots = [*dict.fromkeys(lengths), *roots]
        order = toposort(roots)


def is_barrier(value: Value) -> bool:
    """Whether a value only exists once a whole loop nest has run."""
    return isinstance(value, Node) and isinstance(value.op.lower, BARRIERS)


def is_call(value: Value) -> bool:
    """Whether a value is a result of an opaque operation, of a loop or of a branch."""
    return isinstance(value, Node) and isinstance(value.op.lower, lowering.Opaque)


def is_routine(value: Value) -> bool:
    """Whether a value is a result of an opaque operation that is neither a loop nor a branch."""
    return isinstance(value, Node) and isinstance(value.op.lower, lowering.Routine)


def reads_elsewhere(node: Node) -> bool:
    """Whether an element is computed from elements at another index."""
    return isinstance(node.op.lower, (lowering.View, lowering.Gather)) and node.op.kind != "identity"


def is_computed_at_use(value: Value) -> bool:
    return isinstance(value, Node) and lowering.is_computed_at_use(value.op.lower)


def members(mask: int, live_outs: Sequence[Value]) -> Iterator[Value]:
    """The live-outs whose bits are set in ``mask``."""
    while mask:
        yield live_outs[(mask & -mask).bit_length() - 1]
        mask &= mask - 1


def is_reshaped_gather(value: Node) -> bool:
    """Whether a value is the same memory as what is gathered, in another shape. By the loops of its own shape, indices
    would be quotients and remainders, and rows not those of what it is gathered from."""
    lower, source = value.op.lower, value.inputs[0] if value.inputs else None
    is_view = isinstance(lower, lowering.View) and lower.in_order
    return is_view and isinstance(source, Node) and isinstance(source.op.lower, lowering.Gather)


def is_of_rows(operand: Value, consumer: Node) -> bool:
    """Whether an operand is the same along the inner loops of what is computed from it, so that it is computed once
    for each of their rows, which costs an element next to nothing."""
    if not isinstance(consumer.op.lower, lowering.Map) or not operand.ndim:
        return False
    own = [axis for axis, extent in enumerate(operand.shape) if shapes.resolve(extent) != 1]
    inner = consumer.shape[consumer.ndim - operand.ndim + own[-1] + 1 :] if own else consumer.shape
    return any(shapes.resolve(extent) != 1 for extent in inner)


class Groups:
    """The nests that values are put into. Sets of values, and of nests, are the bits of integers."""

    def __init__(self) -> None:
        self.before: list[int] = []
        """The nests that each nest waits for."""
        self._values: list[int] = []
        self._ends: list[int] = []
        """The values of each nest that only exist once it has run."""
        self._firm: list[int] = []
        self._numbers: dict[Domain, list[int]] = defaultdict(list)

    def number_for(self, domain: Domain | None, required: Iterable[int], *, behind: int, apart: int, done: int) -> int:
        """The nest of a value over the loops of ``domain``; None stands for a nest of its own.

        The value waits for the nests ``required``. It is computed from the values ``behind``, from ``apart`` at another
        index, and stands after ``done``.
        """
        closure = later = 0
        for each in required:
            later |= self.before[each]
            closure |= self.before[each] | (1 << each)
        numbers = [] if domain is None else self._numbers[domain]
        for number in reversed(numbers):
            if not (
                self._values[number] & done
                or self._ends[number] & behind
                or self._firm[number] & apart
                or later >> number & 1
            ):
                self._wait(number, closure & ~(1 << number))
                return number
        numbers.append(len(self.before))
        self.before.append(closure)
        for each in (self._values, self._ends, self._firm):
            each.append(0)
        return len(self.before) - 1

    def add(self, number: int, bit: int, *, is_end: bool, is_firm: bool) -> None:
        self._values[number] |= bit
        self._ends[number] |= bit if is_end else 0
        self._firm[number] |= bit if is_firm else 0

    def _wait(self, number: int, others: int) -> None:
        """Let a nest, and every nest that waits for it, wait for others, too."""
        if others & ~self.before[number]:
            self.before[number] |= others
            for each, mask in enumerate(self.before):
                if mask >> number & 1:
                    self.before[each] |= self.before[number]


class Plan:
    """Materialised values, and the nest that each belongs to."""

    def __init__(self, graph: Graph, given: Mapping[int, int] = MappingProxyType({})) -> None:
        self.graph = graph
        self.order = everything(graph)
        self.position = {value: position for position, value in enumerate(self.order)}
        self.consumers: dict[Value, list[Node]] = defaultdict(list)
        for value in self.order:
            if isinstance(value, Node):
                for source in value.inputs:
                    self.consumers[source].append(value)
        self.reasons: dict[Value, str] = {}
        self.firm: set[Value] = set()
        """The values that are not computed again for their own nest where it reads them at another index."""
        self.cuts: set[Value] = set()
        """The values at which long nests end: nests that read them are separate."""
        self.alone: set[Value] = set()
        """The values that get nests of their own."""
        self.cost: dict[Value, float] = {}
        self._weigh()
        self._cut()
        self._choose_materialised()
        self.nests: list[list[Value]] = []
        self._group()
        for _ in range(3):
            shared = self._shared_and_expensive()
            if not shared:
                break
            for value in shared:
                self.reasons[value] = "needed by several loop nests, and expensive to compute twice"
            self._group()
        parts = self._parts_read_late({graph.inputs[number] for number in given})
        for value in parts:
            self._materialise(value, "a part of an array that is updated before it is needed")
        if parts:
            self.alone.update(parts)
            self._group()

    def is_materialised(self, value: Value) -> bool:
        return value in self.reasons

    def _weigh(self) -> None:
        """The cost of one element of each value, were everything below it that has no memory computed anew."""
        for value in self.order:
            if isinstance(value, Node) and value.ndim and not is_barrier(value):
                below = sum(self.cost.get(each, 0.0) for each in set(value.inputs) if not is_of_rows(each, value))
                self.cost[value] = value.op.cost + below
                if self.cost[value] >= RECOMPUTE_THRESHOLD and self._read_apart(value):
                    self._materialise(value, "expensive, and read at several indices for one element", firm=True)

    def _cut(self) -> None:
        """Store values at which too many operations would follow each other in one nest."""
        length: dict[Value, int] = {}
        for value in self.order:
            if isinstance(value, Node) and value.ndim and is_computed_at_use(value) and not self.is_materialised(value):
                length[value] = 1 + max((length.get(source, 0) for source in value.inputs), default=0)
                if length[value] >= MOST_IN_A_ROW and isinstance(value.op.lower, lowering.Map):
                    self._materialise(value, "the end of a long row of operations")
                    self.cuts.add(value)
                    length[value] = 0

    def _read_apart(self, value: Value) -> bool:
        """Whether one element of what is computed from a value needs several of its own. Without memory, a chain of
        such values would be computed twice as often at each link."""
        consumers = {each for each in self.consumers[value] if each.ndim}
        views = {each for each in consumers if reads_elsewhere(each) and each.inputs[0] is value}
        maps = any(isinstance(each.op.lower, (lowering.Map, lowering.Cast)) for each in consumers)
        return len(views) + maps > 1

    def _choose_materialised(self) -> None:
        for value in self.graph.outputs:
            if value.ndim:
                self._materialise(value, "a result")
                if isinstance(value, Node) and is_reshaped_gather(value):
                    self._materialise(value.inputs[0], "a result in another shape")
        for value in self.order:
            if not isinstance(value, Node):
                continue
            if is_barrier(value):
                self._materialise(value, "accumulated over a whole loop nest")
            lower = value.op.lower
            if isinstance(lower, lowering.Opaque):
                for source in value.inputs:
                    if source.ndim:
                        self._materialise(source, f"an operand of {value.op.name}, which works on whole arrays")
            if isinstance(lower, lowering.Gather):
                source = value.inputs[0]
                is_repeated = value.ndim > source.ndim
                if self.cost.get(source, 0.0) >= (REPEATED_THRESHOLD if is_repeated else RECOMPUTE_THRESHOLD):
                    self._materialise(source, "gathered from, and expensive to compute for each position", firm=True)
            for source in value.inputs:
                if self._lacks_dimensions(source, value):
                    self._materialise(source, "expensive, and the same along a dimension of what is computed from it")

    def _lacks_dimensions(self, source: Value, consumer: Node) -> bool:
        """Whether an operand is expensive, and does not have all loops of what is computed from it.

        It would be computed anew for each step of an outer loop, or before an inner one: then it would be one number at
        a time and no vector.
        """
        if not isinstance(consumer.op.lower, lowering.Map) or self.cost.get(source, 0.0) < RECOMPUTE_THRESHOLD:
            return False
        own = [axis for axis, extent in enumerate(source.shape) if shapes.resolve(extent) != 1]
        if not own or len(own) == consumer.ndim:
            return False
        before = consumer.ndim - source.ndim
        others = consumer.shape[: before + own[0]] + consumer.shape[before + own[-1] + 1 :]
        return any(shapes.resolve(extent) != 1 for extent in others)

    def _materialise(self, value: Value, reason: str, *, firm: bool = False) -> None:
        if isinstance(value, Input) and value not in self.graph.outputs:
            return
        if isinstance(value, (Constant, Dim)) and value not in self.graph.outputs:
            return
        if firm:
            self.firm.add(value)
        if value not in self.reasons:
            self.reasons[value] = reason
            self.cost[value] = 0.0

    def _group(self) -> None:
        """Put each materialised value into the latest nest over the same loops that it can join without a cycle."""
        bit: dict[Value, int] = {}
        self.nests, self.nest_of = [], {}
        live_outs: list[Value] = []
        needs: dict[Value, int] = {}
        nearest: dict[Value, int] = {}
        away: dict[Value, int] = {}
        after: dict[Value, int] = {}
        groups = Groups()
        for value in self.order:
            mask = near = moved = done = 0
            if isinstance(value, Node):
                for source in value.inputs:
                    mask |= needs[source]
                    near |= nearest[source]
                    moved |= needs[source] if reads_elsewhere(value) else away[source]
                    done |= after[source]
            if self.is_materialised(value):
                required = {self.nest_of[live_out] for live_out in members(near, live_outs)}
                bit[value] = near = 1 << len(live_outs)
                live_outs.append(value)
                domain = None if value in self.alone or self._is_memory_of_call(value) else domain_of(value)
                number = groups.number_for(domain, required, behind=mask, apart=moved, done=done)
                if number == len(self.nests):
                    self.nests.append([])
                self.nests[number].append(value)
                self.nest_of[value] = number
                is_end = is_barrier(value) or not is_computed_at_use(value) or value in self.cuts
                groups.add(number, near, is_end=is_end, is_firm=value in self.firm)
                mask |= bit[value]
            elif not value.ndim:
                done = mask  # a scalar is computed between two nests: what uses it stands after all that it reads
            needs[value], nearest[value], away[value], after[value] = mask, near, moved, done
        self.before = groups.before

    def _is_memory_of_call(self, value: Value) -> bool:
        """Whether a value is what a call reads or writes, in another shape: in a nest of its own, it takes no time."""
        if not isinstance(value, Node) or not isinstance(value.op.lower, lowering.View) or not value.op.lower.in_order:
            return False
        source = value.inputs[0]
        called = any(is_routine(each) for each in (source, *self.consumers[value]))
        return called and (isinstance(source, Input) or self.is_materialised(source))

    def _parts_read_late(self, donated: Collection[Value]) -> list[Value]:
        """The parts of arrays that nests read after the update of the array. In memory and nests of their own, they can
        be read before it. Parts as large as the array would be a copy, too."""
        found: dict[Value, None] = {}
        for update in self.order:
            base = updated_array(update)
            if base is None or not (self.is_materialised(base) or base in donated):
                continue
            parts = [each for each in self.consumers[base] if is_part(each, base)]
            if parts:
                number = self.nest_of[update]
                late = [nest for nest, before in zip(self.nests, self.before, strict=True) if before >> number & 1]
                computed = [self.computed_at_use_by(nest) for nest in late]
                found |= dict.fromkeys(part for part in parts if any(part in each for each in computed))
        return list(found)

    def computed_at_use_by(self, live_outs: Iterable[Value]) -> set[Value]:
        """Every value without memory that a nest with these live-outs computes."""
        live_outs = list(live_outs)
        found: set[Value] = set()
        stack = [source for live_out in live_outs if isinstance(live_out, Node) for source in live_out.inputs]
        stack += [live_out for live_out in live_outs if is_computed_at_use(live_out)]
        while stack:
            value = stack.pop()
            if value in found or not value.ndim or not is_computed_at_use(value):
                continue
            if self.is_materialised(value) and value not in live_outs:
                continue
            found.add(value)
            assert isinstance(value, Node)
            stack.extend(value.inputs)
        return found

    def _shared_and_expensive(self) -> list[Value]:
        """The outermost values that several nests would each compute, at a cost that a pass over memory saves."""
        nests_of: dict[Value, set[int]] = defaultdict(set)
        for number, live_outs in enumerate(self.nests):
            for value in self.computed_at_use_by(live_outs):
                nests_of[value].add(number)
        shared = []
        for value, numbers in nests_of.items():
            if len(numbers) < 2 or self.is_materialised(value) or self.cost.get(value, 0.0) < RECOMPUTE_THRESHOLD:
                continue
            outer = [each for each in self.consumers[value] if nests_of.get(each, set()) >= numbers]
            if not outer and isinstance(value.op.lower, (lowering.Map, lowering.Gather)):  # type: ignore[attr-defined]
                shared.append(value)
        return sorted(shared, key=self.position.__getitem__)

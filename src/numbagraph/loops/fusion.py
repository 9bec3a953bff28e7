"""From a graph to a program: which values get memory, and which loop nests compute them.

A value without memory is pulled: recomputed inside each nest that needs it. *Roots* get memory. They are the
results, whatever is accumulated (reductions, scans, scatters), what an opaque call reads, and what would be
dear to compute twice. Roots over the same loops share one nest when none depends on another's accumulation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from numbagraph.blockwise import lowering
from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph
from numbagraph.ir.values import Constant, Dim, Input, Node, Value, toposort
from numbagraph.loops.nests import Domain, domain_of

RECOMPUTE_THRESHOLD = 8.0
"""Cost an element (in additions) above which a value is stored rather than computed again in a second nest."""

MOST_IN_A_ROW = 200
"""Operations that follow each other in one loop nest. LLVM's vectoriser takes quadratic time for more, beside which
memory costs nothing."""

BARRIERS = (lowering.Reduce, lowering.Running, lowering.ScatterInto, lowering.Assemble, lowering.Opaque)


def extents_of(value: Value) -> list[Value]:
    """The symbolic extents in a value's shape, each by its representative. Of one of the results of a call, those of
    all of them: it needs memory for each."""
    found = list(value.shape)
    if isinstance(value, Node) and isinstance(value.op.lower, lowering.Core) and value.op.joint:
        for number in range(value.op.lower.results):
            found += value.op.infer(*value.inputs, **{**value.attrs, "result": number}).shape
    resolved = [shapes.resolve(extent) for extent in found]
    return [extent for extent in resolved if isinstance(extent, Value)]


def everything(graph: Graph) -> list[Value]:
    """Every value that the program computes, the lengths among them, in dependency order."""
    outputs = list(graph.outputs) + [guard.condition for guard in graph.guards]
    order = toposort(outputs)
    while True:
        known = set(order)
        lengths = [each for value in order for each in extents_of(value) if each not in known]
        if not lengths:
            return order
        order = toposort([*dict.fromkeys(lengths), *outputs])


def is_barrier(value: Value) -> bool:
    """Whether a value only exists once a whole loop nest has run."""
    return isinstance(value, Node) and isinstance(value.op.lower, BARRIERS)


def reads_elsewhere(node: Node) -> bool:
    """Whether an element is computed from elements at another index."""
    return isinstance(node.op.lower, (lowering.View, lowering.Gather)) and node.op.kind != "identity"


def is_pulled(value: Value) -> bool:
    return isinstance(value, Node) and lowering.is_pulled(value.op.lower)


def members(mask: int, roots: Sequence[Value]) -> Iterator[Value]:
    """Those of the roots whose bits are set."""
    while mask:
        yield roots[(mask & -mask).bit_length() - 1]
        mask &= mask - 1


class Plan:
    """Roots, and the nest that each belongs to."""

    def __init__(self, graph: Graph) -> None:
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
        """Roots that are not computed again for the nest that computes them where it reads them at another index."""
        self.cuts: set[Value] = set()
        """Roots at which long nests end: what reads them is computed by other ones."""
        self.cost: dict[Value, float] = {}
        self._weigh()
        self._cut()
        self._choose_roots()
        self.nests: list[list[Value]] = []
        self._group()
        for _ in range(3):
            shared = self._shared_and_dear()
            if not shared:
                break
            for value in shared:
                self.reasons[value] = "needed by several loop nests, and dear to compute twice"
            self._group()

    def is_root(self, value: Value) -> bool:
        return value in self.reasons

    def _weigh(self) -> None:
        """The cost of one element of each value, were everything below it that has no memory computed anew."""
        for value in self.order:
            if isinstance(value, Node) and value.ndim and not is_barrier(value):
                below = sum(self.cost.get(source, 0.0) for source in set(value.inputs))
                self.cost[value] = value.op.cost + below
                if self.cost[value] >= RECOMPUTE_THRESHOLD and self._read_apart(value):
                    self._make_root(value, "dear, and read at several places for one element", firm=True)

    def _cut(self) -> None:
        """Store values at which too many operations would follow each other in one nest."""
        length: dict[Value, int] = {}
        for value in self.order:
            if isinstance(value, Node) and value.ndim and is_pulled(value) and not self.is_root(value):
                length[value] = 1 + max((length.get(source, 0) for source in value.inputs), default=0)
                if length[value] >= MOST_IN_A_ROW and isinstance(value.op.lower, lowering.Map):
                    self._make_root(value, "the end of a long row of operations")
                    self.cuts.add(value)
                    length[value] = 0

    def _read_apart(self, value: Value) -> bool:
        """Whether one element of what is computed from a value needs several of its own. Without memory, a chain of
        such values would be computed twice as often at each link."""
        consumers = {each for each in self.consumers[value] if each.ndim}
        views = {each for each in consumers if reads_elsewhere(each) and each.inputs[0] is value}
        maps = any(isinstance(each.op.lower, (lowering.Map, lowering.Cast)) for each in consumers)
        return len(views) + maps > 1

    def _choose_roots(self) -> None:
        for value in self.graph.outputs:
            if value.ndim:
                self._make_root(value, "a result")
        for value in self.order:
            if not isinstance(value, Node):
                continue
            if is_barrier(value):
                self._make_root(value, "accumulated over a whole loop nest")
            lower = value.op.lower
            if isinstance(lower, lowering.Opaque):
                for source in value.inputs:
                    if source.ndim:
                        self._make_root(source, f"an operand of {value.op.name}, which works on whole arrays")
            if isinstance(lower, lowering.Gather):
                source = value.inputs[0]
                if self.cost.get(source, 0.0) >= RECOMPUTE_THRESHOLD:
                    self._make_root(source, "gathered from, and dear to compute for each position", firm=True)
            for source in value.inputs:
                if self._lacks_dimensions(source, value):
                    self._make_root(source, "dear, and the same along a dimension of what is computed from it")

    def _lacks_dimensions(self, source: Value, consumer: Node) -> bool:
        """Whether an operand is dear, and does not have all loops of what is computed from it.

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

    def _make_root(self, value: Value, reason: str, *, firm: bool = False) -> None:
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
        """Put each root into the latest nest over the same loops that it can join without a cycle."""
        bit: dict[Value, int] = {}
        self.nests, self.nest_of = [], {}
        roots: list[Value] = []
        needs: dict[Value, int] = {}
        nearest: dict[Value, int] = {}
        away: dict[Value, int] = {}
        after: dict[Value, int] = {}
        numbers: dict[Domain, list[int]] = defaultdict(list)
        before: list[int] = []
        for value in self.order:
            mask = near = moved = done = 0
            if isinstance(value, Node):
                for source in value.inputs:
                    mask |= needs[source]
                    near |= nearest[source]
                    moved |= needs[source] if reads_elsewhere(value) else away[source]
                    done |= after[source]
            if self.is_root(value):
                required = {self.nest_of[root] for root in members(near, roots)}
                bit[value] = near = 1 << len(roots)
                roots.append(value)
                self.nest_of[value] = self._place(value, mask, moved, done, bit, required, numbers, before)
                mask |= bit[value]
            elif not value.ndim:
                done = mask  # a scalar is computed between two nests: what uses it stands after all that it reads
            needs[value], nearest[value], away[value], after[value] = mask, near, moved, done
        self.before = before

    def _place(
        self,
        value: Value,
        mask: int,
        apart: int,
        done: int,
        bit: dict[Value, int],
        required: set[int],
        numbers: dict[Domain, list[int]],
        before: list[int],
    ) -> int:
        domain = domain_of(value)
        required_closure = 0
        for number in required:
            required_closure |= before[number] | (1 << number)
        if domain is not None:
            for number in reversed(numbers[domain]):
                if self._may_join(number, mask, apart, done, bit, required, before):
                    self.nests[number].append(value)
                    before[number] |= required_closure & ~(1 << number)
                    self._propagate(number, before)
                    return number
            numbers[domain].append(len(self.nests))
        self.nests.append([value])
        before.append(required_closure)
        return len(self.nests) - 1

    def _may_join(
        self,
        number: int,
        mask: int,
        apart: int,
        done: int,
        bit: dict[Value, int],
        required: set[int],
        before: list[int],
    ) -> bool:
        for member in self.nests[number]:
            if bit[member] & done:
                return False
            if bit[member] & mask and (is_barrier(member) or not is_pulled(member) or member in self.cuts):
                return False
            if bit[member] & apart and member in self.firm:
                return False
        return not any(other != number and before[other] >> number & 1 for other in required)

    @staticmethod
    def _propagate(number: int, before: list[int]) -> None:
        """What nest ``number`` now waits for, those that wait for it wait for as well."""
        for other, mask in enumerate(before):
            if mask >> number & 1:
                before[other] |= before[number]

    def pulled_by(self, roots: Iterable[Value]) -> set[Value]:
        """Every value without memory that a nest with these roots computes."""
        roots = list(roots)
        found: set[Value] = set()
        stack = [source for root in roots if isinstance(root, Node) for source in root.inputs]
        stack += [root for root in roots if is_pulled(root)]
        while stack:
            value = stack.pop()
            if value in found or not value.ndim or not is_pulled(value):
                continue
            if self.is_root(value) and value not in roots:
                continue
            found.add(value)
            assert isinstance(value, Node)
            stack.extend(value.inputs)
        return found

    def _shared_and_dear(self) -> list[Value]:
        """The outermost values that several nests would each compute, at a cost that a pass over memory saves."""
        nests_of: dict[Value, set[int]] = defaultdict(set)
        for number, roots in enumerate(self.nests):
            for value in self.pulled_by(roots):
                nests_of[value].add(number)
        shared = []
        for value, numbers in nests_of.items():
            if len(numbers) < 2 or self.is_root(value) or self.cost.get(value, 0.0) < RECOMPUTE_THRESHOLD:
                continue
            outer = [each for each in self.consumers[value] if nests_of.get(each, set()) >= numbers]
            if not outer and isinstance(value.op.lower, (lowering.Map, lowering.Gather)):  # type: ignore[attr-defined]
                shared.append(value)
        return sorted(shared, key=self.position.__getitem__)

"""The conditions before a loop under which an inequality holds in each of its steps, found by Fourier-Motzkin
elimination of the number of the step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import product

from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph, substitute
from numbagraph.ir.types import BOOL, INT64
from numbagraph.ir.values import ArrayType, Constant, Dim, Input, Node, Value, toposort
from numbagraph.loops.counters import FARTHEST, increments
from numbagraph.loops.implications import (
    FITS,
    Implication,
    TooHard,
    bounded,
    implications,
    total,
    without_captured_conditions,
)
from numbagraph.loops.polynomials import Polynomial, as_polynomial, polynomial

SHORT = 2**24
"""The number of steps up to which an inner loop does not poll for signals: they take some milliseconds."""


class Place:
    """The inputs of a region, in terms of the enclosing graph."""

    def __init__(self, inputs: Sequence[Input], operands: Sequence[Value], along: range = range(0)) -> None:
        self.same: dict[Value, Value] = {}
        """The values that are the same in all runs: captures, and lengths. Of an operand ``along`` the steps, each run
        has one row."""
        for place, (own, operand) in enumerate(zip(inputs, operands, strict=True)):
            extents = operand.shape[1:] if place in along else operand.shape
            if place >= along.stop:
                self.same[own] = operand
            for dim, extent in zip(own.shape, extents, strict=True):
                if isinstance(dim, Dim):
                    self.same[dim] = self.same[shapes.as_value(dim)] = shapes.as_value(extent)
        self.known = {own: polynomial(each) for own, each in self.same.items() if is_integer(own)}
        """Polynomials in values of the enclosing graph, and in the number of the step."""
        self.bounds: dict[Value, Polynomial] = {}
        """The largest magnitudes of carried numbers that are no polynomials."""
        self._outside: dict[Polynomial, Polynomial] = {}

    def before(self, needed: Iterable[Implication]) -> Iterator[Implication]:
        """The conditions outside the region under which ``needed`` holds in each run."""
        return without_captured_conditions(self.taken_out(needed))

    def taken_out(self, needed: Iterable[Implication]) -> Iterator[Implication]:
        """The conditions outside under which ``needed`` holds in each run. Conditions that are captured by the region
        may still stand for the inequalities that they require."""
        raise NotImplementedError

    def condition(self, condition: Value) -> Iterator[Implication]:
        """The conditions outside the region under which ``condition`` holds in each run."""
        return self.before(implications(condition))

    def outside(self, number: Polynomial) -> Polynomial:
        """Express a polynomial in values of the enclosing graph and in the number of the step."""
        if number not in self._outside:
            for each in number.values():
                if each not in self.known:
                    outer = self.same_value(each)
                    self.known[each] = self.varying(each) if outer is None else polynomial(outer)
            self._outside[number] = bounded(number.replaced(self.known))
        return self._outside[number]

    def varying(self, value: Value) -> Polynomial:
        """A value that is not the same in all runs."""
        raise TooHard(value)

    def magnitude(self, number: Polynomial) -> Polynomial:
        """A bound of the magnitude in all runs, in terms of the enclosing graph."""
        for each in number.values():
            if each not in self.bounds and each not in self.known:
                bound = self.bound(each)
                if bound is not None:
                    self.bounds[each] = bound
        self.outside(Polynomial(dict.fromkeys(((each,) for each in number.values() if each not in self.bounds), 1)))
        bounds = {value: self.bounds.get(value, each.magnitude) for value, each in self.known.items()}
        return bounded(number.replaced(self.bounds | bounds))

    def same_value(self, value: Value) -> Value | None:
        """A value of the enclosing graph that this one is in all runs, if there is one."""
        leaves = (each for each in toposort([value]) if not isinstance(each, (Node, Constant)))
        if any(each not in self.same for each in leaves):
            return None
        with shapes.collect_guards():
            return substitute([value], self.same)[0]

    def bound(self, value: Value) -> Polynomial | None:
        """A bound of the magnitude of a value that is no polynomial, if there is one."""
        return bound_of_operation(value)


class Taken(Place):
    """A branch of a `switch` where it is taken."""

    def __init__(self, node: Node, number: int) -> None:
        branches = node.attrs["branches"]
        super().__init__(branches[number].inputs, node.inputs[1:])
        self.premises: tuple[Polynomial, ...] = ()
        """The polynomials that are at least 1 where the branch is taken, as far as they can be derived from its
        condition."""
        self.compared = Polynomial()
        """The magnitude of the numbers that the condition of the branch compares."""
        if len(branches) == 2:
            with suppress(TooHard):
                found = [*implications(node.inputs[0], negated=number == 0, given=True)]
                self.premises = tuple(each.goal + 1 for each in found)
                self.compared = total(each.magnitude for each in found)

    def taken_out(self, needed: Iterable[Implication]) -> Iterator[Implication]:
        for each in needed:
            if each.fits:
                yield Implication((), as_polynomial(FITS), bounded(self.magnitude(each.magnitude)))
                continue
            premises = list(self.premises)
            for premise in each.premises:
                with suppress(TooHard):
                    premises.append(self.outside(premise))
            magnitude = bounded(self.magnitude(each.magnitude) + self.compared)
            yield Implication(tuple(premises), self.outside(each.goal), magnitude)


class Steps(Place):
    """The steps of one loop (`scan`)."""

    def __init__(self, node: Node) -> None:
        body, carries, sequences = (node.attrs[name] for name in ("body", "carries", "sequences"))
        length, *operands = node.inputs
        self.number = Input(ArrayType(INT64, ()), "step")
        self.trips = trips_of(length)
        super().__init__(body.inputs, operands, range(carries, carries + sequences))
        for own, operand, after in zip(body.inputs[:carries], operands, body.outputs, strict=False):
            stride = (polynomial(after) - polynomial(own)).known if is_integer(own) else None
            if stride is not None:
                self.known[own] = polynomial(operand) + Polynomial({(self.number,): 1}) * stride
        counters = bounds_of_counters(body, operands[:carries])
        self.bounds |= {own: bound for own, bound in counters.items() if own not in self.known}
        self.choices: dict[Value, list[Polynomial]] = {}
        """The values that a number chosen by branches may have, in terms of the enclosing graph and of the number of
        the step in which it was set. In polynomials such a number stands for itself."""
        self._pending = set[Value]()
        """The numbers whose options are being computed."""
        self._carried = dict(zip(body.inputs[:carries], zip(operands, body.outputs, strict=False), strict=False))

    def varying(self, value: Value) -> Polynomial:
        if value in self._pending or not is_integer(value):
            raise TooHard
        if value not in self.choices:
            self._pending.add(value)
            try:
                found = list(dict.fromkeys(self.options(value)))
            finally:
                self._pending.remove(value)
            if any(not self.choices.keys().isdisjoint(each.values()) for each in found):
                raise TooHard
            self.choices[value] = found
            self.bounds[value] = total(each.magnitude for each in found)
        return Polynomial({(value,): 1})

    def options(self, value: Value) -> Iterator[Polynomial]:
        """The numbers that a value of the body is one of, in any step."""
        pending, done = [value], set[Value]()
        while pending:
            each = plain(pending.pop())
            if each in done:
                continue
            done.add(each)
            if each in self._carried and (each in self.choices or each not in self.known):
                initial, after = self._carried[each]
                yield polynomial(initial)
                pending.append(after)
            elif isinstance(each, Node) and each.op.name == "where":
                pending += each.inputs[1:]
            elif isinstance(each, Node) and each.op.name == "switch":
                pending += chosen_by(each)
            elif each is value:
                raise TooHard
            else:
                yield self.outside(polynomial(each))

    def bound(self, value: Value) -> Polynomial | None:
        if value not in self._carried or value in self._pending:
            return super().bound(value)
        self._pending.add(value)
        try:
            return self.growth(value)
        except TooHard:
            return None
        finally:
            self._pending.remove(value)

    def growth(self, own: Value) -> Polynomial:
        """A bound of what an integer becomes to which each step adds something, or that it sets anew."""
        initial, after = self._carried[own]
        added, others = list[Polynomial](), [polynomial(initial).magnitude]
        pending: list[tuple[Value, Polynomial]] = [(after, Polynomial())]
        while pending:
            each, more = pending.pop()
            each = plain(each)
            if each is own:
                added.append(more)
            elif isinstance(each, Node) and each.op.name == "where":
                pending += [(option, more) for option in each.inputs[1:]]
            elif isinstance(each, Node) and each.op.name == "switch":
                pending += [(option, more) for option in chosen_by(each)]
            elif isinstance(each, Node) and each.op.name in ("add", "subtract") and own in toposort([each]):
                first, second = each.inputs
                if own not in toposort([first]):
                    first, second = second, first
                pending.append((first, more + self.magnitude(polynomial(second).magnitude)))
            else:
                others.append(more + self.magnitude(polynomial(each).magnitude))
        return total([*dict.fromkeys(others), self.trips.magnitude * total(dict.fromkeys(added))])

    def taken_out(self, needed: Iterable[Implication]) -> Iterator[Implication]:
        for each in needed:
            yield from self.eliminated(each)

    def condition(self, condition: Value) -> Iterator[Implication]:
        """The conditions before the loop under which ``condition`` holds in each step."""
        outer = self.same_value(condition)
        if outer is None:
            yield from self.before(implications(condition))
            return
        found = (Implication((*each.premises, self.trips), each.goal, each.magnitude) for each in implications(outer))
        yield from without_captured_conditions(found)

    def magnitude(self, number: Polynomial) -> Polynomial:
        return bounded(super().magnitude(number).replaced({self.number: self.trips.magnitude}))

    def eliminated(self, needed: Implication) -> Iterator[Implication]:
        if needed.fits:
            yield Implication((), as_polynomial(FITS), self.magnitude(needed.magnitude))
            return
        outside, magnitude = self.outside(needed.goal), self.magnitude(needed.magnitude)
        for each in self.chosen(outside):
            # premises say in which steps a chosen number is used, not in which it was set
            is_set_before = each is not outside and self.number in each.values()
            yield from self.in_all_steps(each, () if is_set_before else needed.premises, magnitude)

    def chosen(self, goal: Polynomial) -> list[Polynomial]:
        """The goal, once for each value that a chosen number in it may have."""
        found = [each for each in goal.values() if each in self.choices]
        if not found:
            return [goal]
        if len(found) > 1 or self.number in goal.values():
            raise TooHard
        return [bounded(goal.replaced({found[0]: each})) for each in self.choices[found[0]]]

    def in_all_steps(
        self, number: Polynomial, premises: Iterable[Polynomial], magnitude: Polynomial
    ) -> Iterator[Implication]:
        """The conditions before the loop under which a number is not negative in any step in which the premises
        hold."""
        goal, slope = self.linear(number)
        lows, highs, kept = self.range(premises)
        if slope.known == 0:
            yield Implication(kept, goal, magnitude)
            return
        rises, falls = slope.known is not None and slope.known > 0, slope.known is not None and slope.known < 0
        for end in lows if not falls else ():
            largest = (bounded(end - other + 1) for other in lows if other is not end)
            yield Implication((*kept, *largest), bounded(goal + slope * end), magnitude)
        for end in highs if not rises else ():
            smallest = (bounded(other - end + 1) for other in highs if other is not end)
            yield Implication((*kept, *smallest), bounded(goal + slope * end), magnitude)

    def range(
        self, premises: Iterable[Polynomial]
    ) -> tuple[list[Polynomial], list[Polynomial], tuple[Polynomial, ...]]:
        """The bounds of the numbers of steps that premises leave, below and above, and the premises that all of them
        have in common. A premise that is too hard is left out: what holds without it holds with it."""
        lows, highs, kept = [Polynomial()], [bounded(self.trips - 1)], list[Polynomial]()
        for each in premises:
            try:
                premise, change = self.linear(self.outside(each))
            except TooHard:
                continue
            if change.known == 0:
                kept.append(premise)
            elif change.known == 1:
                lows.append(bounded(-premise + 1))
            elif change.known == -1:
                highs.append(bounded(premise - 1))
        kept += [bounded(high - low + 1) for low, high in product(lows, highs)]
        return lows, highs, tuple(kept)

    def linear(self, number: Polynomial) -> tuple[Polynomial, Polynomial]:
        """The value of a polynomial in the first step, and the amount by which it changes with each step."""
        slope = number.slope(self.number)
        if slope is None or not self.choices.keys().isdisjoint(number.values()):
            raise TooHard
        return number - slope * Polynomial({(self.number,): 1}), slope


class WhileSteps(Place):
    """The steps of a loop that ends on a condition (`while_loop`). A carry has no value outside the loop: it stands for
    itself, and the inequalities that the condition implies for it are premises."""

    def __init__(self, node: Node) -> None:
        body, condition, carries = (node.attrs[name] for name in ("body", "condition", "carries"))
        super().__init__(body.inputs, node.inputs, range(carries, carries))
        numbers = [each for each in body.inputs[:carries] if is_integer(each)]
        self.known |= {each: Polynomial({(each,): 1}) for each in numbers}
        self.bounds |= bounds_of_counters(body, node.inputs[:carries])
        self.premises = tuple(self.directions(body, node.inputs[:carries]))
        """The polynomials that are at least 1 in each step."""
        same = dict(zip(condition.inputs, body.inputs, strict=True))
        with shapes.collect_guards():
            holds = substitute([condition.outputs[0]], same)[0]
        self.premises += tuple(self.said_by(holds))

    def said_by(self, condition: Value) -> Iterator[Polynomial]:
        """The polynomials that are at least 1 where a condition holds, as far as none of the numbers that it computes
        can be too large."""
        if isinstance(condition, Node) and condition.op.name in ("logical_and", "bitwise_and"):
            for each in condition.inputs:
                yield from self.said_by(each)
        elif isinstance(condition, Node) and condition.op.name == "cast" and condition.inputs[0].dtype == BOOL:
            yield from self.said_by(condition.inputs[0])
        elif isinstance(condition, Node):
            with suppress(TooHard):
                for each in implications(condition, given=True):
                    exact = all(isinstance(plain(part), (Input, Dim, Constant)) for part in condition.inputs)
                    if exact or Implication((), each.goal, self.magnitude(each.magnitude)).is_small:
                        yield self.outside(each.goal + 1)

    def directions(self, body: Graph, initial: Sequence[Value]) -> Iterator[Polynomial]:
        """The premises that hold for counters which only grow, or only fall: they stay on one side of their initial
        values."""
        for number, before in enumerate(initial):
            found = increments(body, number)
            if found is not None and isinstance(before, Constant):
                change = Polynomial({(body.inputs[number],): 1}) - polynomial(before)
                if found.least >= 0:
                    yield change + 1
                if found.largest <= 0:
                    yield -change + 1

    def taken_out(self, needed: Iterable[Implication]) -> Iterator[Implication]:
        for each in needed:
            premises = list(self.premises)
            for premise in each.premises:
                with suppress(TooHard):
                    premises.append(self.outside(premise))
            yield Implication(tuple(premises), self.outside(each.goal), self.magnitude(each.magnitude))


def plain(value: Value) -> Value:
    """The number that is converted without a change."""
    while isinstance(value, Node) and value.op.name == "cast" and value.inputs[0].dtype == value.dtype:
        (value,) = value.inputs
    return value


def bounds_of_counters(body: Graph, initial: Iterable[Value]) -> dict[Value, Polynomial]:
    """The magnitudes of carried integers that small constants are added to."""
    return {
        body.inputs[number]: polynomial(before).magnitude + FARTHEST
        for number, before in enumerate(initial)
        if increments(body, number) is not None
    }


def chosen_by(switch: Node) -> Iterator[Value]:
    """The values of the enclosing graph that a branch may choose."""
    for branch in switch.attrs["branches"]:
        operands = dict(zip(branch.inputs, switch.inputs[1:], strict=True))
        with shapes.collect_guards():
            yield substitute([branch.outputs[switch.attrs["result"]]], operands)[0]


def bound_of_operation(value: Value) -> Polynomial | None:
    """A bound of the magnitude of a remainder, or of an integer that was of few bits."""
    if not isinstance(value, Node) or value.ndim:
        return None
    if (
        value.op.name == "cast"
        and value.inputs[0].dtype.kind in "biu"
        and value.inputs[0].dtype.itemsize < INT64.itemsize
    ):
        return as_polynomial(2 ** (8 * value.inputs[0].dtype.itemsize))
    if value.op.name == "remainder" and isinstance(value.inputs[1], Constant) and not value.inputs[1].ndim:
        return as_polynomial(abs(int(value.inputs[1].data)))
    return None


def trips_of(length: Value) -> Polynomial:
    """The number of steps, or a number below 0 where there are none. That a loop is short is left out: what holds in
    more steps holds in these."""
    trips = shapes.as_value(length) if isinstance(length, Dim) else length
    for bound, number in (("minimum", SHORT), ("maximum", 0)):
        if isinstance(trips, Node) and trips.op.name == bound:
            inner, other = trips.inputs
            if isinstance(other, Constant) and not other.ndim and other.data == number:
                trips = inner
    return bounded(polynomial(trips))


def is_integer(value: Value) -> bool:
    return not value.ndim and value.dtype == INT64

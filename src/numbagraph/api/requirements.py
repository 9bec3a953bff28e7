"""What the function of one element requires, as requirements of a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numbagraph.ir import shapes
from numbagraph.ir.graph import Guard, guard_values, with_guard_values
from numbagraph.ir.later import Later
from numbagraph.ir.structs import replace
from numbagraph.ir.values import Extent, Value
from numbagraph.ops.effects import after_all
from numbagraph.rewrite.masks import under_masks, without_masks
from numbagraph.tracing.regions import dependents
from numbagraph.tracing.trace import current_trace
from numbagraph.transforms.batching import Batched, batch_with_guards

if TYPE_CHECKING:
    from numbagraph.loops import versions
    from numbagraph.ops.control import scan
else:
    versions = Later("numbagraph.loops.versions")
    scan = Later("numbagraph.ops.control.scan")


class Requirements:
    """The guards of a function of one element, which must hold for all elements of a batch, and the order of its
    effects."""

    def __init__(self) -> None:
        self.guards = shapes.current_collector()
        self.mark = len(self.guards.guards)
        self.found: list[Guard] = []
        self.trace = current_trace()
        self.before = self.trace.order if self.trace is not None else None
        self.order: Value | None = None
        """The order of effects, if there are any."""

    def take(self) -> None:
        """Take the guards that have arisen so far out of the trace."""
        self.found = self.taken()
        conditions = [each.condition for each in self.found]
        if self.trace is not None and self.trace.order is not None and self.trace.order is not self.before:
            *conditions, self.order = under_masks([*conditions, self.trace.order])
        else:
            conditions = under_masks(conditions)
        self.found = [replace(guard, condition=each) for guard, each in zip(self.found, conditions, strict=True)]

    def taken(self) -> list[Guard]:
        """The guards that have arisen, which are left out of the trace."""
        found = self.guards.guards[self.mark :]
        del self.guards.guards[self.mark :]
        return found

    def along(self, values: Sequence[Value], arrays: Mapping[Value, Value], size: Extent) -> list[Batched]:
        """Extend the guards to a batch with one more dimension, and return ``values`` as those of the batch: both may
        follow from the same loops."""
        order = [] if self.order is None else [self.order]
        count = len(order) + len(values)
        of_one = versions.with_checks_that_may_fail([*order, *values, *guard_values(self.found)])
        self.found = list(with_guard_values(self.found, of_one[count:]))
        try:
            found, required = batch_with_guards(of_one[:count], self.found, dict(arrays), size)
        except NotImplementedError as error:
            self.taken()  # by what was batched until then
            found, required = self.by_element(of_one[:count], arrays, error), []
        self.found = [*self.taken(), *required]
        if self.order is not None:
            self.order = found[0][0]
        return found[len(order) :]

    def by_element(
        self, values: Sequence[Value], arrays: Mapping[Value, Value], error: NotImplementedError
    ) -> list[Batched]:
        """Return values of a batch, computed for one element after the other, where lengths inside of the function
        differ from element to element, which is the ``error`` of the batch. Lengths of its results must not."""
        points: Any = list(arrays)
        numbers = guard_values(self.found)
        with shapes.collect_guards():  # they are among those that are found already
            whole = without_masks([*values, *numbers])
        own = whole[: len(values)]
        lengths = [each for value in own for each in value.shape if isinstance(each, Value)]
        varying = dependents(points, [*own, *lengths])
        if self.order is not None or not varying.isdisjoint(lengths):
            raise error
        guards = with_guard_values(self.found, whole[len(values) :])
        chosen = [each for each in dict.fromkeys(own) if each in varying]
        found = scan.over_elements([arrays[each] for each in points], [True] * len(points), points, chosen, guards)
        by_value = dict(zip(chosen, found, strict=True))
        return [(by_value.get(each, each), each in by_value) for each in own]

    def give(self) -> None:
        """Add the guards to the trace."""
        for guard in self.found:
            self.guards.add(guard)
        if self.trace is not None and self.order is not None:
            self.trace.order = after_all(self.order)

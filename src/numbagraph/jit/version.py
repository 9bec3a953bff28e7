"""A function's graph for one layout of its arguments, traced by calling it."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from types import FunctionType, MappingProxyType, MethodType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import optree

from numbagraph.ir.abi import ArrayLeaf, Leaf, ScalarLeaf
from numbagraph.ir.array_classes import refuse_labelled_and_lazy
from numbagraph.ir.graph import Graph
from numbagraph.ir.later import Later
from numbagraph.ir.regions import regions_of
from numbagraph.ir.static import typed_names
from numbagraph.ir.structs import Struct, cached_property, replace
from numbagraph.ir.values import ArrayType, Dim, Extent, Input, Value
from numbagraph.jit.binding import MOST_LEAVES, too_many
from numbagraph.jit.conversion import converter
from numbagraph.jit.mutated_arguments import argument, written
from numbagraph.jit.phases import Phases
from numbagraph.jit.shared_variables import Uses, uses
from numbagraph.ops import effects
from numbagraph.rewrite.fold_captured import fold_captured
from numbagraph.rewrite.masks import guards_without_masks
from numbagraph.runtime.arguments import flatten
from numbagraph.runtime.guards import read
from numbagraph.runtime.specialise import Specialisation
from numbagraph.tracing.errors import OnlyTraced, TraceError, UnknownValueError, require_own, user_source
from numbagraph.tracing.memory_layout import input_shape
from numbagraph.tracing.sparse_pytrees import whole
from numbagraph.tracing.static_lengths import lengths_of
from numbagraph.tracing.trace import tracing
from numbagraph.tracing.tracer import Tracer, to_value
from numbagraph.tracing.user_code import entries_of

if TYPE_CHECKING:
    from numbagraph.capture import returned_values
else:  # few functions are captured
    returned_values = Later("numbagraph.capture.returned_values")


class Outputs(Struct):
    """A description of how the returned object is built from the results of a graph."""

    spec: optree.PyTreeSpec
    slots: tuple[int | None, ...]
    """For each leaf of the returned tree, the number of its result; None for a static leaf."""
    static: tuple[Any, ...]
    """The leaves that are the same in each call, as they were when the function was traced."""
    count: int
    """The number of results."""
    written: tuple[int, ...] = ()
    """The arguments that hold the last results after the call, whether these are returned or not."""
    has_effects: bool = False
    """Whether there is a result before the others, which is not returned, so that effects take place, and do so
    first."""

    @property
    def flat(self) -> bool:
        """Whether the native entry can build the returned object itself: one result, or a tuple of them."""
        return self.in_order and (self.spec.is_leaf() or self.is_plain_tuple)

    @property
    def is_plain_tuple(self) -> bool:
        return self.spec.type is tuple and self.spec.num_nodes == len(self.slots) + 1

    @cached_property
    def in_order(self) -> bool:
        """Whether the results are the leaves of the returned tree."""
        return self.slots == tuple(range(self.count)) and bool(self.slots)

    def behind_effects(self) -> Outputs:
        return replace(self.with_hidden(0, 1), has_effects=True)

    @property
    def single(self) -> bool:
        """Whether the function returns one result itself, rather than a tree of results."""
        return self.flat and self.spec.is_leaf()

    @property
    def alike(self) -> Any:
        """A key that is equal for outputs that are rebuilt in the same way."""
        static = any(slot is None for slot in self.slots)
        return id(self) if static else (self.spec, typed_names(self.spec), self.slots, self.count)

    def with_hidden(self, first: int, count: int) -> Outputs:
        """Return these outputs with ``count`` more results from ``first`` on, which are not returned."""
        slots = tuple(slot if slot is None or slot < first else slot + count for slot in self.slots)
        return replace(self, slots=slots, count=self.count + count)

    @property
    def rebuilder(self) -> Callable[[Sequence[Any]], Any]:
        """`rebuild`, or an equivalent function that takes a tenth of its time."""
        if self.spec.type is type(None):
            return nothing
        if None not in self.slots and (self.spec.is_leaf() or (self.is_plain_tuple and len(self.slots) > 1)):
            return operator.itemgetter(*self.slots)
        if None not in self.slots and self.spec.num_nodes <= MOST_NODES and is_plain(self.spec):
            text = expression(optree.tree_unflatten(self.spec, self.slots))
            if text is not None:
                return eval(f"lambda results: {text}")
        return self.rebuild

    def rebuild(self, results: Sequence[Any]) -> Any:
        """Build the returned object from the results of the graph."""
        if self.in_order:
            return optree.tree_unflatten(self.spec, results)
        leaves = [
            own_copy(static) if slot is None else results[slot]
            for slot, static in zip(self.slots, self.static, strict=True)
        ]
        return optree.tree_unflatten(self.spec, leaves)


PLAIN = (tuple, list, dict, type(None))
MOST_NODES = 64
"""Of a returned tree that is built by an expression: Python's parser bounds how deep one is."""


def is_plain(spec: optree.PyTreeSpec) -> bool:
    """Whether a tree is one of Python's own containers alone: others may look at their leaves when they are built."""
    return spec.is_leaf() or (spec.type in PLAIN and all(map(is_plain, spec.children())))


def expression(tree: Any) -> str | None:
    """Python's text for a plain tree, whose leaves are numbers of ``results``; None if a dict has another key."""
    if tree is None:
        return "None"
    if type(tree) is int:
        return f"results[{tree}]"
    if type(tree) is dict:
        if any(type(key) is not str for key in tree):
            return None
        parts, brackets = [(f"{key!r}: ", expression(value)) for key, value in tree.items()], "{}"
    else:
        parts, brackets = [("", expression(value)) for value in tree], "()" if type(tree) is tuple else "[]"
    if any(value is None for _, value in parts):
        return None
    return brackets[0] + "".join(f"{key}{value}, " for key, value in parts) + brackets[1]


def nothing(results: Sequence[Any]) -> None:
    """Return None, for a function that only writes into its arguments."""


class Version(NamedTuple):
    """A compiled graph: ``run`` takes the leaves of arguments, and ``rebuild`` makes the returned object of the tuple
    of results, unless it is that tuple."""

    run: Callable[..., Any]
    rebuild: Callable[[Any], Any] | None

    @property
    def call(self) -> Callable[..., Any]:
        """Both functions in one, which returns NotImplemented where ``run`` does."""
        run, rebuild = self
        if rebuild is None:
            return run

        def call(*leaves: Any) -> Any:
            result = run(*leaves)
            return result if result is NotImplemented else rebuild(result)

        return call


class CacheInfo(NamedTuple):
    """The result of `GraphFunction.cache_info`."""

    versions: int
    compiled: int
    found: int

    @classmethod
    def of(cls, traced: Sequence[Traced]) -> CacheInfo:
        ready = [each for each in traced if each.version is not None]
        compiled = sum(each.is_compiled for each in ready)
        return cls(len(traced), compiled, len(ready) - compiled)


class Traced(Struct, frozen=False):
    """A function's graph for one dispatch key, with its native code once that is compiled."""

    graph: Graph
    captured: tuple[np.ndarray, ...]
    leaves: tuple[Leaf, ...]
    outputs: Outputs
    shared: Uses = Uses()
    native: Callable[..., Any] | None = None
    """A function that runs the graph, on leaves and the values of shared variables."""
    version: Version | None = None
    specialisation: Specialisation | None = None
    phases: Phases | None = None
    """The programs that run one after the other, where lengths follow from elements that are computed."""
    is_kept: bool = True
    """Whether later calls may use it: the state that it reads did not change while it was traced."""
    fixed: Mapping[str, Any] = MappingProxyType({})
    """The values of arguments, and their lengths, that the version is made for alone, by their names."""
    watched: str = ""
    """The values that results must not have (`numbagraph.jit.debug_nans`)."""
    apart: Traced | None = None
    """The version for lengths that are not equal, though a statement that may not be reached requires it."""
    assumed: tuple[tuple[Place, ...], ...] = ()
    """Lengths taken to be equal since they were in the call for which it was traced; other calls use another
    version."""

    def fits(self, leaves: Sequence[Any]) -> bool:
        """Whether the lengths of a call are equal where the version takes them to be."""
        if not self.assumed:
            return True
        lengths = lengths_of(leaves)
        return all(len({lengths[number][axis] for number, axis in places}) == 1 for places in self.assumed)

    def inputs(self, leaves: Sequence[Any], shared: Sequence[Any] | None = None) -> list[Any]:
        """The graph's inputs for a call: its leaves, the values of shared variables, and captured arrays."""
        return [*leaves, *(self.shared.values() if shared is None else shared), *self.captured]

    @property
    def only_program(self) -> Specialisation | None:
        """The native program, if there is only one."""
        return self.specialisation if self.phases is None else None

    @property
    def is_compiled(self) -> bool:
        """Whether any of the code was compiled here, rather than found on disk."""
        parts = (self.specialisation,) if self.phases is None else self.phases.specialisations
        return any(each is not None and each.compiled for each in parts)

    @property
    def is_direct(self) -> bool:
        """Whether calls write no arguments and use no shared variables."""
        return not self.outputs.written and not self.shared.variables

    @property
    def may_skip_statements(self) -> bool:
        """Whether some statement of the function may not be reached: there are loops, branches or checks."""
        is_checked = any(guard.ordered for guard in self.graph.guards)
        return bool(self.graph.equalities) and (is_checked or any(map(regions_of, self.graph.order)))

    def is_dispatched(self) -> bool:
        """Whether later calls try this version before they look for one."""
        ready = self.version is not None and not self.watched
        return ready and (self.phases is None or self.is_direct)

    @property
    def is_one(self) -> bool:
        """Whether a call is one native program, with nothing around it."""
        return self.is_direct and self.phases is None and not self.watched


def trace(
    call: Callable[[list[Tracer]], Any],
    layouts: Sequence[Leaf],
    names: Sequence[str],
    name: str,
    described: str,
    writable: Collection[int] | None = None,
    converts: bool = False,
    *,
    apart: bool = False,
    lengths: Sequence[tuple[int, ...]] | None = None,
    last: bool = False,
    room: int = 1,
    stabilise: bool = True,
    unrolled: bool = False,
) -> Traced:
    """The graph of ``call`` on tracers, one for each of ``layouts``; ``name`` is the graph's own, ``described`` how an
    error speaks of the function. It may write into those arguments that are ``writable``; None stands for callers that
    take results alone, and have no place for shared variables either. ``converts``: whether its loops and branches are
    captured. ``apart``: whether lengths that must be equal are compared where a statement says so, not at entry.
    ``lengths`` are those of the arguments of a call: where they are equal, they may be taken to be so in each.
    ``last``: whether no derivative is taken of the graph.
    ``room``: how much there is for lists that loops make longer. ``stabilise`` is that of `graph_jit`.
    ``unrolled``: whether loops over lengths are unrolled, for lack of source."""
    with tracing(described, converter() if converts else None, stabilise) as current:
        if unrolled:
            current.guards.watch = StepLimit(described).count
        known = lengths or [None] * len(layouts)
        inputs = [make_input(*each, apart=apart) for each in zip(layouts, names, known, strict=True)]
        current.shared = None if writable is None else {}
        current.inputs, current.room = tuple(inputs), room
        pairs = zip(inputs, layouts, strict=True)
        tracers = [argument(*each, number in (writable or ())) for number, each in enumerate(pairs)]
        returned = call(tracers)
        changed = written(tracers, inputs)
        values, outputs = collect_outputs(returned, described, tracers, changed)
        if current.order is not None and current.order is not effects.first():
            values, outputs = (current.order, *values), outputs.behind_effects()
        shared, shared_inputs, updates = uses(current.shared or {}, len(values) - len(changed))
        outputs = outputs.with_hidden(shared.first, len(updates))
        values = (*values[: shared.first], *updates, *values[shared.first :])
        hidden = tuple(current.captured.snapshots)
        captured = tuple(current.captured.snapshots.values())
        guards = current.guards
        values, conditions = guards_without_masks(values, tuple(guards.guards), last=last)
        leaves = (*inputs, *shared_inputs, *hidden)
        graph = Graph(leaves, values, conditions, tuple(guards.equalities), name, stabilise)
        require_own(graph)
    graph, captured = fold_captured(graph, captured)
    hidden_layouts = [ArrayLeaf(array.dtype, tuple(length == 1 for length in array.shape)) for array in captured]
    return Traced(
        graph, captured, (*layouts, *shared.layouts, *hidden_layouts), outputs, shared, assumed=assumed_equal(inputs)
    )


class StepLimit:
    """Raises in a trace when a loop has too many steps to be unrolled."""

    most = 20_000

    def __init__(self, described: str) -> None:
        self.described = described
        self.found = 0

    def count(self, _: Value) -> None:
        self.found += 1
        if self.found > self.most:
            raise TraceError(
                f"the loops of {self.described} unroll to more than {self.most:,} operations, because its source is "
                f"not known: define it in a file, or give linecache its source\n  at {user_source()}"
            )


def make_input(layout: Leaf, name: str, lengths: tuple[int, ...] | None, *, apart: bool = False) -> Input:
    if isinstance(layout, ScalarLeaf):
        return Input(ArrayType(layout.dtype, (), weak=True), name)
    return Input(ArrayType(layout.dtype, input_shape(name, layout.ones, apart=apart, lengths=lengths)), name)


Place = tuple[int, int]
"""A length of a call: the argument, and the axis."""


def assumed_equal(inputs: Sequence[Input]) -> tuple[tuple[Place, ...], ...]:
    """The groups of lengths that are one in a graph though the function itself does not require it."""
    groups: dict[Extent, list[Place]] = {}
    assumed: set[Extent] = set()
    for number, each in enumerate(inputs):
        for axis, extent in enumerate(each.shape):
            if isinstance(extent, Dim):
                groups.setdefault(extent.representative, []).append((number, axis))
                assumed.update([extent.representative] if extent.assumed else [])
    return tuple(tuple(places) for extent, places in groups.items() if extent in assumed)


def collect_outputs(
    returned: Any, described: str, tracers: Sequence[Tracer], changed: tuple[int, ...]
) -> tuple[tuple[Value, ...], Outputs]:
    """Return the graph's outputs, one for each traced leaf of the returned tree even if several are equal, and how to
    build that tree from them. The last ones are the new values of the arguments that are ``changed``."""
    leaves, spec = flatten(whole(returned))
    if any(isinstance(leaf, OnlyTraced) for leaf in leaves):
        leaves, spec = flatten(returned_values.with_numbers(whole(returned)))
    if len(leaves) > MOST_LEAVES and sum(isinstance(leaf, Tracer) for leaf in leaves) > MOST_LEAVES:
        raise too_many(f"the results of {described}", len(leaves))
    for leaf in leaves:
        if isinstance(leaf, OnlyTraced):
            raise TraceError(f"{described} returns {leaf!r}: {leaf.advice}")
        if isinstance(leaf, str) and "Tracer(" in leaf:
            raise UnknownValueError(
                f"{described} returns a text that was made of traced arrays, {leaf!r}: return the arrays, and make the "
                "text outside; numbagraph.debug_print prints values"
            )
        if isinstance(leaf, (Iterator, Coroutine)):
            raise TypeError(
                f"{described} returns a {type(leaf).__name__}, which can be read once, while each call would give the "
                f"same one: return a list or a tuple"
            )
        if not isinstance(leaf, Tracer) and any(isinstance(each, Tracer) for each in held_by(leaf)):
            raise TraceError(
                f"{described} returns a {type(leaf).__name__} that holds traced arrays, which mean nothing outside. "
                f"Return the arrays, and make it outside, or use a dataclass or a class that optree knows"
            )
    targets = {id(tracers[number]) for number in changed}
    new = [leaf for leaf in leaves if isinstance(leaf, Tracer) and id(leaf) not in targets]
    last = {id(tracers[number]): slot for slot, number in enumerate(changed, len(new))}
    numbers = itertools.count()
    slots = tuple(
        (last[id(leaf)] if id(leaf) in last else next(numbers)) if isinstance(leaf, Tracer) else None for leaf in leaves
    )
    static = tuple(None if isinstance(leaf, Tracer) else own_copy(leaf) for leaf in leaves)
    values = tuple(to_value(leaf) for leaf in [*new, *(tracers[number] for number in changed)])
    return values, Outputs(spec, slots, static, len(values), changed)


def held_by(leaf: Any) -> list[Any]:
    """The objects that an object holds, as far as they can be found: attributes, variables of a function, arguments of
    a partial."""
    if isinstance(leaf, FunctionType):
        return [read(each, None) for each in leaf.__closure__ or ()]
    if isinstance(leaf, functools.partial):
        return [leaf.func, *leaf.args, *leaf.keywords.values()]
    if isinstance(leaf, MethodType):
        return [leaf.__self__]
    return list((entries_of(leaf) or {}).values())


def own_copy(leaf: Any) -> Any:
    """Return a copy of a static leaf that may be changed; a leaf of another kind as it is. Raise for arrays of
    libraries whose arrays are more than arrays."""
    refuse_labelled_and_lazy(leaf, "what a traced function returns")
    return leaf.copy() if isinstance(leaf, (np.ndarray, set, bytearray)) else leaf

"""Functions with lengths that depend on the data: native programs that run one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from numbagraph.ir.graph import Graph
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Node, toposort
from numbagraph.runtime.entry import make_callable
from numbagraph.runtime.specialise import Specialisation, compiler, signature_of

if TYPE_CHECKING:
    from numbagraph.loops.phases import Phase


class Phases(Struct):
    """The phases of one version."""

    phases: tuple[Phase, ...]
    specialisations: tuple[Specialisation, ...]

    def runner(self, *, guarded: bool) -> Callable[..., Any]:
        """Return a function that runs all phases on the leaves. It returns `NotImplemented` if a phase does.

        ``guarded``: whether it looks at what the function read when it was traced.
        """
        parts = [
            (make_callable([each.make_plan(guarded=guarded and number == 0)], each.name), phase.handed)
            for number, (each, phase) in enumerate(zip(self.specialisations, self.phases, strict=True))
        ]
        (run_first, _), *middle, (run_last, last_handed) = parts

        def run(*leaves: Any) -> Any:
            found = run_first(*leaves)
            if found is NotImplemented:
                return found
            for part, handed in middle:
                more = part(*leaves, *[found[number] for number in handed])
                if more is NotImplemented:
                    return more
                found = (*found, *more)
            return run_last(*leaves, *[found[number] for number in last_handed])

        return run

    def calls(self, leaves: Sequence[Any]) -> list[tuple[Specialisation, list[Any]]]:
        """Return the programs, each with the leaves that it is called with; run all but the last one."""
        found: tuple[Any, ...] = ()
        calls = []
        for each, phase in zip(self.specialisations, self.phases, strict=True):
            given = [*leaves, *[found[number] for number in phase.handed]]
            calls.append((each, [*given, *each.captured]))
            if len(calls) < len(self.phases):
                results = make_callable([each.make_plan(guarded=False)], each.name)(*given)
                if results is NotImplemented:
                    return calls
                found = (*found, *results)
        return calls


def has_late_lengths(special: Specialisation) -> bool:
    """Whether a program would need lengths before it runs that follow from values it computes."""
    if not may_be_late(special.graph) or compiler.array_of_computed_length(special.graph, inside=False) is None:
        return False
    try:
        special.program  # noqa: B018  rules may have found the lengths, or numbers can be computed twice
    except compiler.LengthNotKnown:
        return True
    return False


def may_be_late(graph: Graph) -> bool:
    """Whether some length follows from elements, or from a loop. Mostly none does, and no further module is
    imported."""
    lengths = {extent for value in graph.values for extent in value.type.shape if isinstance(extent, Node)}
    return any(each.ndim or (isinstance(each, Node) and each.op.kind == "control") for each in toposort(lengths))


def refuse_effects(described: str) -> NoReturn:
    raise NotImplementedError(
        f"{described} prints (debug_print) and has lengths that elements decide, which need several programs, whose "
        "prints would be out of order. Keep all elements (np.where), or print outside of the function"
    )


def in_phases(special: Specialisation) -> Phases:
    """Split a specialisation, whose lengths are not all known before it runs, into phases."""
    captured = len(special.captured)
    phases = tuple(compiler.phases_of(special.graph, captured))
    arguments = special.signature.arguments
    found = []
    for number, phase in enumerate(phases):
        single = special.signature.single and number == len(phases) - 1
        leaves = (*arguments, *phase.leaves, *special.signature.captured)
        part = special.copy()
        part.graph, part.signature = phase.graph, signature_of(phase.graph, leaves, captured, single)
        part.name = f"{special.name}_{number}"
        found.append(part)
    return Phases(phases, tuple(found))

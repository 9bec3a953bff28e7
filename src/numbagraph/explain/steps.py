"""The steps of a program one after the other, those of loops and branches below them, with a description of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from numbagraph.explain.report import bytes_of, evaluate_length, is_index, known_in, regions_of, short
from numbagraph.intrinsics.emitters.ir import Apply, Load, Scalar, walk
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Node, Source, Value
from numbagraph.loops.control_steps import Branch, Loop, ReverseLoop
from numbagraph.loops.ir import Block, Call, Kernel, Output, Reduction, Scan, Scatter, Step, Store, TiledLoop

KINDS = {Kernel: "nest", Call: "call", TiledLoop: "tiled", Loop: "loop", ReverseLoop: "loop", Branch: "branch"}
"""The steps that take time, and their names."""

VERBS = {Store: "stores", Reduction: "reduces", Scan: "scans", Scatter: "scatters"}


class Listed(Struct):
    """A step, its depth, and the lengths that are known there."""

    step: Step
    depth: int
    known: Mapping[Value, int]


def listed(block: Block, known: Mapping[Value, int], depth: int = 0) -> Iterator[Listed]:
    """The steps of a block, each before those that it contains."""
    for step in block.steps:
        if type(step) not in KINDS:
            continue
        yield Listed(step, depth, known)
        if isinstance(step, TiledLoop):
            yield from (Listed(each, depth + 1, known) for each in step.steps)
        elif isinstance(step, (Loop, ReverseLoop, Branch)):
            for region, operands in regions_of(step):
                inner = dict(known_in(region, operands, known))
                yield from listed(region.program.body, inner, depth + 1)


def name_of(step: Step) -> str:
    if isinstance(step, TiledLoop):
        calls = len(step.steps) - len(step.kernels)
        return f"{len(step.kernels)} nests" + (f" and {calls} calls" if calls else "")
    return getattr(step, "name", "")


def sources_of(step: Step) -> list[Source]:
    """The user's lines that a step comes from."""
    if isinstance(step, (Loop, Branch)):
        found = [step.source]
    elif isinstance(step, ReverseLoop):
        found = [step.back.source]
    elif isinstance(step, Kernel):
        found = [each.source for each in step.outputs]
    else:
        found = [each.value.source for each in step.writes() if isinstance(each.value, Node)]
    return list(dict.fromkeys(each for each in found if each is not None))


def loops_of(step: Step, known: Mapping[Value, int]) -> str:
    """The lengths of the loops of a step, or its number of steps."""
    if isinstance(step, Kernel):
        return " × ".join(length_text(each, known) for each in step.lengths)
    if isinstance(step, Loop) and step.trips is not None:
        return f"{length_text(step.trips, known)} steps"
    return ""


def length_text(scalar: Scalar, known: Mapping[Value, int]) -> str:
    number = evaluate_length(scalar, known)
    return "?" if number is None else f"{number:,}"


def details_of(step: Step) -> list[str]:
    """The values that a step computes, reads and writes, in lines of text."""
    if isinstance(step, Call):
        operands, results = (", ".join(each.name for each in part) for part in (step.inputs, step.outputs))
        return [f"({operands}) → {results}"]
    if not isinstance(step, Kernel):
        return []
    fused = Counter(each.name for each in step.scalars() if isinstance(each, Apply) and not is_index(each))
    counts = (f"{name} ×{count}" if count > 1 else name for name, count in sorted(fused.items()))
    reads = dict.fromkeys(each.buffer.name for each in step.scalars() if isinstance(each, Load))
    lines = [f"computes {', '.join(counts)}"] if fused else []
    lines += [f"reads {', '.join(reads)}"] if reads else []
    return [*lines, *map(output_text, step.outputs), *(f"note: {each}" for each in step.notes)]


def output_text(output: Output) -> str:
    target = output.buffer.name if output.buffer is not None else "a register"
    reducer = "" if isinstance(output, Store) else f" ({output.reducer.name}) into"
    return f"{VERBS[type(output)]}{reducer} {target}"


def marks_of(step: Step) -> list[str]:
    """Marks for accesses that make a step slower than its bytes say, and for steps that only fill or copy."""
    if not isinstance(step, Kernel):
        return []
    loads = [each for each in step.scalars() if isinstance(each, Load)]
    marks = ["gather"] if any(reads_memory(each.indices) for each in loads) else []
    scattered = any(isinstance(each, Scatter) or reads_memory(each.indices) for each in step.outputs)
    marks += ["scatter"] if scattered else []
    if step.is_fill:
        return [*marks, "fill"]
    computes = any(isinstance(each, Apply) and not is_index(each) for each in step.scalars())
    if not marks and not computes and all(isinstance(each, Store) for each in step.outputs):
        return ["copy"]
    return marks


def reads_memory(indices: Sequence[Scalar]) -> bool:
    """Whether indices follow from elements of arrays."""
    return any(isinstance(each, Load) for each in walk(indices))


def moved_by(step: Step, known: Mapping[Value, int]) -> int | None:
    """The bytes of the arrays that a nest or a call reads and writes, each once; None where they are not known."""
    if isinstance(step, Kernel):
        return bytes_of(step.buffers(), known)
    return bytes_of(dict.fromkeys((*step.inputs, *step.outputs)), known) if isinstance(step, Call) else None


def line_of(step: Step) -> str:
    """The first of the user's lines, with only the last part of its path."""
    return next((short(each) for each in sources_of(step)), "")

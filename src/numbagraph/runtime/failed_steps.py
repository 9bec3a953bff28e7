"""The error of a step of a loop that failed in native code: the step is run once more with NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from numbagraph.ir.sources import Source
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Input
from numbagraph.loops.control_steps import Branch, Loop, Region, ReverseLoop
from numbagraph.loops.ir import Program
from numbagraph.runtime.failures import Operand, StepRecord
from numbagraph.runtime.specialise import Specialisation
from numbagraph.transforms.interpret import effects, evaluate, extended


def error_of(special: Specialisation, steps: Sequence[StepRecord]) -> Exception | None:
    """The error of the innermost step that failed, with the steps of the loops around it; None where NumPy raises no
    error, since the difference may be a matter of rounding."""
    known = {each.name: each for each in regions_of(special.tiled, f"{special.name}.program")}
    if not steps or any(each.name not in known for each in steps):
        return None
    region = known[steps[0].name].region
    operands = [array_of(*pair) for pair in zip(region.graph.inputs, steps[0].operands, strict=True)]
    try:
        with effects.suppressed():
            evaluate(region.graph, operands)
    except Exception as error:  # noqa: BLE001  whoever asked for it raises it
        for each in steps:
            error = extended(error, f"in step {each.number}")
            for what, source in known[each.name].places:
                error = extended(error, what, source)
        return error
    return None


class Place(Struct):
    """A region of a loop, the name of its native function, and its position: the loop and the branches around it, up to
    the next loop."""

    name: str
    region: Region
    places: tuple[tuple[str, Source | None], ...]


def regions_of(program: Program, name: str, branches: tuple[tuple[str, Source | None], ...] = ()) -> Iterator[Place]:
    """The regions of all loops in a program. ``branches`` are those that the program itself is in."""
    for number, step in enumerate(program.body.steps):
        prefix = f"{name}.{number}"
        if isinstance(step, Branch):
            around = (("in a branch", step.source), *branches)
            for k, region in enumerate(step.regions):
                yield from regions_of(region.program, f"{prefix}.branch{k}.program", around)
        elif isinstance(step, (Loop, ReverseLoop)):
            loop = step if isinstance(step, Loop) else step.forward
            parts = {"step": loop.body, "condition": loop.condition}
            if isinstance(step, ReverseLoop):
                parts["back"] = step.back.body
            elif step.with_checks is not None:
                parts["checked"] = step.with_checks()
            for title, region in parts.items():
                if region is not None:
                    own = f"{prefix}.{title}.program"
                    yield Place(own, region, (("in a loop", loop.source), *branches))
                    yield from regions_of(region.program, own)


def array_of(leaf: Input, operand: Operand) -> np.ndarray:
    """A leaf of a step as an array."""
    return np.frombuffer(operand.content, leaf.dtype).reshape(operand.lengths)

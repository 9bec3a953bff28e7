"""A compiled function as one HTML file for browsers: its passes, its steps and its source side by side.

The file loads nothing: style and script are in it, and its policy forbids everything else.
"""

from __future__ import annotations

import linecache
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path

from numbagraph.explain.html import escape
from numbagraph.explain.printing import Names, Printer
from numbagraph.explain.profile import ProfiledStep, format_time
from numbagraph.explain.report import evaluate_value, format_bytes, short
from numbagraph.explain.steps import (
    KINDS,
    Listed,
    details_of,
    listed,
    loops_of,
    marks_of,
    moved_by,
    name_of,
    sources_of,
)
from numbagraph.explain.viewer_page import POLICY, SCRIPT, STYLE
from numbagraph.ir.graph import Graph
from numbagraph.ir.regions import regions_of
from numbagraph.ir.sources import Source, cell_of
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Node, Value, toposort
from numbagraph.loops.ir import Program, Step
from numbagraph.rewrite.stages import Stage, Stages

AROUND = 2
"""The number of lines of source that are shown before and after a line of interest."""


LEGEND = (
    "The number on a button: how many rules the pass applied. <b>▌ made by this pass</b>, "
    "<em>replaced by the next</em>. Point at a line to find it in the source; a click keeps it marked."
)


class Part(Struct, frozen=False):
    """One native program: its passes, its steps, and the lengths of one call."""

    stages: Stages
    program: Program
    known: Mapping[Value, int]
    times: Mapping[Step, ProfiledStep]
    """The measured times of steps; empty if the program was not measured."""


def page(title: str, parts: Sequence[Part]) -> str:
    """The whole file."""
    steps = [each for part in parts for each in listed(part.program.body, part.known)]
    graphs = [stage.graph for part in parts for stage in part.stages]
    body = [f"<header><h1>{escape(title)}</h1></header>", '<main><div class="left">']
    for number, part in enumerate(parts):
        name = f"Program {number + 1} of {len(parts)}: " if len(parts) > 1 else ""
        body += [*passes(part, name, number), *table_of_steps(part, name)]
    body += ["</div>", '<div class="right"><h2>Source</h2>', *source_lines([*lines_of(graphs), *lines_in(steps)])]
    head = f'<meta charset="utf-8">{POLICY}<title>{escape(title)}</title><style>{STYLE}</style>'
    content = "\n".join([*body, "</div></main>"])
    body_text = f"<body>\n{content}\n<script>{SCRIPT}</script></body>"
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>{body_text}</html>\n'


class TypedPrinter(Printer):
    """A printer that remembers which value each name stands for, and the values that a line returns."""

    def __init__(self, graph: Graph, names: Names, values: dict[str, Value] | None = None) -> None:
        super().__init__(graph, names)
        self.values: dict[str, Value] = {} if values is None else values

    def inner(self, graph: Graph) -> Printer:
        return TypedPrinter(graph, self.names, self.values)

    def body(self) -> Iterator[str]:
        line = ""
        for line in super().body():
            yield line
        self.values.update((text, value) for value, text in self.texts.items() if isinstance(value, Node))
        if len(self.graph.outputs) == 1:
            self.values[code_of(line)] = self.graph.outputs[0]


def code_of(line: str) -> str:
    """A line without the comment beside it."""
    return line.partition("  # ")[0].strip()


def passes(part: Part, name: str, number: int) -> Iterator[str]:
    """The graph after each pass, one of which is shown at a time."""
    stages = list(part.stages)
    yield f"<h2>{escape(name)}Graph after each pass</h2>"
    buttons = [button(each, f"{number}.{place}", each is stages[-1]) for place, each in enumerate(stages)]
    yield f'<nav data-program="{number}">{"".join(buttons)}</nav>'
    yield f'<p class="legend">{LEGEND}</p>'
    held = [nodes_of(each.graph) for each in stages]
    for place, each in enumerate(stages):
        before, after = held[max(place - 1, 0)], held[min(place + 1, len(stages) - 1)]
        shown = "" if each is stages[-1] else " hidden"
        yield f'<section data-program="{number}" data-pass="{number}.{place}"{shown}>'
        yield from graph_lines(each.graph, part.known, before, after)
        yield from rules_of(each)
        yield "</section>"


def button(stage: Stage, place: str, is_shown: bool) -> str:
    """The button that shows the graph after a pass, with the number of rules that the pass applied."""
    chosen = ' class="on"' if is_shown else ""
    count = f"<small>{len(stage.rewrites)}</small>" if stage.rewrites else ""
    return f'<button data-pass="{place}"{chosen}>{escape(stage.name)}{count}</button>'


def nodes_of(graph: Graph) -> dict[Node, None]:
    """The nodes of a graph, in order, and of the regions in it."""
    found: dict[Node, None] = {}
    for each in toposort([*graph.outputs, *(guard.condition for guard in graph.guards)]):
        if isinstance(each, Node):
            found[each] = None
            for region in regions_of(each):
                found |= nodes_of(region)
    return found


def graph_lines(
    graph: Graph, known: Mapping[Value, int], before: Container[Value], after: Container[Value]
) -> Iterator[str]:
    """One line an operation, with the type of its result; marked where a pass has made it, or the next will drop it."""
    printer = TypedPrinter(graph, Names())
    lines = list(printer.lines())
    yield '<ol class="graph">'
    for line in lines:
        code, _, comment = line.partition("  # ")
        value = printer.values.get(code_of(line).partition(" = ")[0])
        kinds = ["requires"] if code.strip().startswith("assert ") else []
        if isinstance(value, Node):
            kinds = [*(["new"] * (value not in before)), *(["goes"] * (value not in after))]
        note = "" if value is None else escape(type_text(value, known))
        is_line = comment and "requires" not in kinds
        place = f' data-line="{escape(comment.strip())}"' if is_line else ""
        texts = f"<code>{escape(code.rstrip())}</code><i>{note}</i><u>{escape(comment.strip())}</u>"
        yield f'<li class="{" ".join(kinds)}"{place}>{texts}</li>'
    yield "</ol>"


def type_text(value: Value, known: Mapping[Value, int]) -> str:
    """The dtype, the shape and the bytes of a value."""
    lengths = [each if isinstance(each, int) else evaluate_value(each, known) for each in value.shape]
    shape = " × ".join("?" if each is None else f"{each:,}" for each in lengths)
    if not value.ndim:
        return str(value.dtype)
    size = value.dtype.itemsize
    for each in lengths:
        if each is None:
            return f"{value.dtype} {shape}"
        size *= each
    return f"{value.dtype} {shape}, {format_bytes(size)}"


def rules_of(stage: Stage) -> Iterator[str]:
    """The rules that a pass applied."""
    counts = Counter((each.rule.name, short(each.rule.source)) for each in stage.rewrites)
    if counts:
        items = (
            f"<li>{count} × <b>{escape(name)}</b> {escape(at)}</li>" for (name, at), count in sorted(counts.items())
        )
        yield f"<details><summary>{len(stage.rewrites)} rules fired</summary><ul>{''.join(items)}</ul></details>"


def table_of_steps(part: Part, name: str) -> Iterator[str]:
    """A table of the loop nests, calls, loops and branches, with the bytes that they move and, if measured, their
    times."""
    measured = bool(part.times)
    head = ["step", "runs over", "bytes", *(["runs", "time", "bandwidth", "of a copy's"] if measured else []), "what"]
    yield f"<h2>{escape(name)}Steps</h2>"
    yield f"<table><tr>{''.join(f'<th>{each}</th>' for each in head)}</tr>"
    top = sum(each.seconds for each in part.times.values() if not each.depth)
    for each in listed(part.program.body, part.known):
        yield step_row(each, part.times, top)
    yield "</table>"
    notes = "".join(f"<li>{escape(note)}</li>" for note in dict.fromkeys(part.program.notes))
    if notes:
        yield f"<details><summary>why values have memory</summary><ul>{notes}</ul></details>"


def step_row(entry: Listed, times: Mapping[Step, ProfiledStep], top: float) -> str:
    step, found = entry.step, times.get(entry.step)
    marks = "".join(f'<span class="mark {each}">{each}</span>' for each in marks_of(step))
    title = f'<span class="kind">{KINDS[type(step)]}</span> {escape(name_of(step))} {marks}'
    moved = moved_by(step, entry.known) if found is None else found.bytes or None
    cells = [loops_of(step, entry.known), "" if moved is None else format_bytes(moved)]
    if times:
        cells += ["", "", "", ""] if found is None else measured_cells(found)
    texts = "".join(f"<td>{escape(each)}</td>" for each in cells)
    lines = [short(each) for each in sources_of(step)]
    share = f' style="--share: {found.seconds / top:.3f}"' if found is not None and top else ""
    place = f' data-line="{escape(lines[0])}"' if lines else ""
    what = "<br>".join(map(escape, [*details_of(step), *lines]))
    indent = f' style="padding-left: {0.5 + 1.2 * entry.depth}em"'
    row = f'<td{indent}>{title}</td>{texts}<td class="what">{what}</td>'
    return f'<tr class="{KINDS[type(step)]}"{place}{share}>{row}</tr>'


def measured_cells(found: ProfiledStep) -> list[str]:
    rate = "" if found.bandwidth is None else f"{found.bandwidth / 1e9:.1f} GB/s"
    limit = "" if found.of_limit is None else f"{found.of_limit:.0%}"
    return [f"{found.runs:,}", format_time(found.seconds), rate, limit]


def lines_of(graphs: Sequence[Graph]) -> Iterator[Source]:
    """The user's lines that graphs come from."""
    nodes = (node for graph in graphs for node in nodes_of(graph))
    yield from (each.source for each in nodes if each.source is not None)


def lines_in(steps: Sequence[Listed]) -> Iterator[Source]:
    yield from (source for each in steps for source in sources_of(each.step))


def source_lines(sources: Sequence[Source]) -> Iterator[str]:
    """The files of some source lines: those lines, and a few around them."""
    files: dict[str, set[int]] = {}
    for each in sources:
        files.setdefault(each.file, set()).add(each.line)
    for file, numbers in files.items():
        yield f"<h3>{escape(cell_of(file) or Path(file).name)}</h3><ol class='source'>"
        lines = linecache.getlines(file)
        wanted = {near for each in numbers for near in range(each - AROUND, each + AROUND + 1)}
        last = None
        for number in sorted(each for each in wanted if 1 <= each <= len(lines)):
            gap = ' class="gap"' if last is not None and number > last + 1 else ""
            place = f' data-line="{escape(short(Source(file, number)))}"' if number in numbers else ""
            yield f'<li value="{number}"{gap}{place}><code>{escape(lines[number - 1].rstrip()) or " "}</code></li>'
            last = number
        yield "</ol>" if lines else "<li>its lines are not at hand</li></ol>"

"""The stages of a compiled function, shown to users: its graph, the passes over it, its native code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numbagraph.explain.text  # noqa: F401  gives graphs their text
from numbagraph.ir.graph import Graph
from numbagraph.ir.later import Later
from numbagraph.jit.definition import Definition
from numbagraph.jit.version import Traced
from numbagraph.jit.versions import Versions
from numbagraph.runtime.specialise import Specialisation
from numbagraph.tracing.errors import is_located
from numbagraph.tracing.tracer import Tracer

if TYPE_CHECKING:
    from numbagraph.explain import html, memory_use, report, viewer
    from numbagraph.explain.html import Explanation
else:  # few programs are looked at
    html = Later("numbagraph.explain.html")
    memory_use = Later("numbagraph.explain.memory_use")
    report = Later("numbagraph.explain.report")
    viewer = Later("numbagraph.explain.viewer")


class Introspection:
    """Shows the stages of the versions of one compiled function."""

    def __init__(self, definition: Definition, versions: Versions) -> None:
        self.definition, self.versions = definition, versions

    def compile(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Compile the version for some arguments."""
        arguments = self.definition.bind(args, kwargs)
        self.versions.ready(self.versions.find(arguments)[0], arguments.key)

    def program(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Specialisation, list[Any]]:
        """The version for some arguments, and its leaves."""
        traced, leaves = self._find(args, kwargs)
        assert traced.specialisation is not None
        return traced.specialisation, traced.inputs(leaves)

    def programs(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[Specialisation, list[Any]]]:
        """The programs that run one after the other, mostly one, and the leaves of each."""
        traced, leaves = self._find(args, kwargs)
        return [self.program(args, kwargs)] if traced.phases is None else traced.phases.calls(leaves)

    def result_dtypes(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The dtypes of the leaves of a result."""
        traced, _ = self._find(args, kwargs)
        return [traced.graph.outputs[slot].dtype for slot in traced.outputs.slots if slot is not None]

    def stages(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Graph]:
        """The graph after each pass, by the pass's name, numbered where a pass runs twice."""
        result: dict[str, Graph] = {}
        for stage in self.program(args, kwargs)[0].stages:
            count = sum(name.partition(" ")[0] == stage.name for name in result)
            result[f"{stage.name} {count + 1}" if count else stage.name] = stage.graph
        return result

    def explanation(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Explanation:
        """Report rules, loop nests and memory for some arguments."""
        title, fixed = self.definition.title, self._find(args, kwargs)[0].fixed
        if fixed:
            title += f"\na version for {', '.join(f'{name} = {value!r}' for name, value in fixed.items())} alone"
        texts, shown, programs = [], [], self.programs(args, kwargs)
        for number, (special, leaves) in enumerate(programs, start=1):
            part = f", program {number} of {len(programs)}" if len(programs) > 1 else ""
            program, known = special.tiled, report.lengths_of(special.graph.inputs, leaves)
            found = report.Report(special.graph, program, special.signature.leaves, known)
            texts.append(found.text(f"{title}{part}", special.stages.rewrites))
            shown.append((special.stages, program, known))
        return html.Explanation("\n\n".join(texts), lambda: page_of(title, shown))

    def html(self) -> str:
        """The function and its versions as HTML."""
        rows = []
        for traced in self.versions.all():
            names = ", ".join(f"{each.name}: {each.type}" for each in traced.graph.inputs[: len(traced.leaves)])
            state = "traced" if traced.version is None else "compiled" if traced.is_compiled else "found on disk"
            results = ", ".join(str(each.type) for each in traced.graph.outputs)
            rows.append((names, results, str(len(traced.graph.order)), state))
        versions = html.table(("arguments", "results", "values", "state"), rows) if rows else "no version yet: call it"
        return f"<div><code>{html.escape(self.definition.title)}</code>{versions}</div>"

    def explain_memory(self, error: MemoryError, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raise an error with the largest array and its line, if native code is what ran out of memory."""
        definition = self.definition
        given = {name: each for name, each in kwargs.items() if name != "out" or definition.has_own_out}
        arguments = definition.bind(args, given)
        if not is_located(error) and not any(isinstance(leaf, Tracer) for leaf in arguments.leaves):
            traced, leaves, _ = self.versions.known(arguments)
            if traced is not None and traced.version is not None and (special := traced.only_program) is not None:
                raise MemoryError(memory_use.too_large(special, traced.inputs(leaves), definition.described))

    def _find(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Traced, list[Any]]:
        return self.versions.find(self.definition.bind(args, kwargs))


def page_of(title: str, shown: list[tuple[Any, Any, Any]]) -> str:
    """A page about programs: the passes, the program and the known lengths of each."""
    return viewer.page(title, [viewer.Part(stages, program, known, {}) for stages, program, known in shown])

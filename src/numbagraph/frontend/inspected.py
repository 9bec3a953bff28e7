"""What the compiler made of a function, for people."""

from __future__ import annotations

from typing import Any

from numbagraph.frontend.binding import Arguments
from numbagraph.frontend.traced import Traced
from numbagraph.inspect.report import Report
from numbagraph.ir.graph import Graph
from numbagraph.runtime.specialise import Specialisation


class Inspected:
    """A compiled function, as it shows what became of it."""

    backend: str
    parallel: bool

    def _find(self, arguments: Arguments) -> tuple[Traced, list[Any]]:
        raise NotImplementedError

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        raise NotImplementedError

    @property
    def _described(self) -> str:
        raise NotImplementedError

    def _inspect(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Specialisation, list[Any]]:
        traced, leaves = self._find(self._bind(args, kwargs))
        assert traced.specialisation is not None
        return traced.specialisation, [*leaves, *traced.captured]

    def _programs(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[Specialisation, list[Any]]]:
        """The programs that run one after the other, mostly one, and what each is called with."""
        traced, leaves = self._find(self._bind(args, kwargs))
        return [self._inspect(args, kwargs)] if traced.phases is None else traced.phases.calls(leaves)

    def graph(self, *args: Any, **kwargs: Any) -> Graph:
        """The graph that is traced for these arguments; ``print`` shows it as Python."""
        return self._inspect(args, kwargs)[0].graph

    def stages(self, *args: Any, **kwargs: Any) -> dict[str, Graph]:
        """The graph after each pass, by the pass's name (numbered where a pass runs twice)."""
        result: dict[str, Graph] = {}
        for stage in self._inspect(args, kwargs)[0].stages:
            count = sum(name.partition(" ")[0] == stage.name for name in result)
            result[f"{stage.name} {count + 1}" if count else stage.name] = stage.graph
        return result

    def explain(self, *args: Any, **kwargs: Any) -> str:
        """What the compiler does with the function for these arguments: rules, loop nests, memory."""
        title = f"{self._described}, backend {self.backend}{', parallel' if self.parallel else ''}"
        texts, programs = [], self._programs(args, kwargs)
        for number, (special, leaves) in enumerate(programs, start=1):
            part = f", program {number} of {len(programs)}" if len(programs) > 1 else ""
            report = Report.of_call(special.graph, special.tiled, special.signature.leaves, leaves)
            texts.append(report.text(f"{title}{part}", special.stages.rewrites))
        return "\n\n".join(texts)

    def llvm(self, *args: Any, optimised: bool = True, **kwargs: Any) -> str:
        """The LLVM of the version for these arguments, optimised or as it was emitted."""
        return "\n".join(special.llvm(optimised=optimised) for special, _ in self._programs(args, kwargs))

    def asm(self, *args: Any, **kwargs: Any) -> str:
        """The machine code of the version for these arguments, as assembly."""
        return "\n".join(special.assembly() for special, _ in self._programs(args, kwargs))

"""The methods by which a compiled function shows its graph, the passes over it, and its native code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numbagraph.explain.text  # noqa: F401  gives graphs their text
from numbagraph.ir.abi import Leaf
from numbagraph.ir.graph import Graph
from numbagraph.ir.later import Later
from numbagraph.jit.binding import Arguments
from numbagraph.jit.version import CacheInfo, Traced, Version
from numbagraph.runtime.specialise import Specialisation
from numbagraph.tracing.errors import is_located
from numbagraph.tracing.tracebacks import for_users
from numbagraph.tracing.tracer import Tracer

if TYPE_CHECKING:
    from numbagraph.explain import html, memory_use, viewer
    from numbagraph.explain import report as report_module
    from numbagraph.explain.html import Explanation
else:  # few programs are looked at
    html = Later("numbagraph.explain.html")
    memory_use = Later("numbagraph.explain.memory_use")
    report_module = Later("numbagraph.explain.report")
    viewer = Later("numbagraph.explain.viewer")


def too_large(special: Specialisation, leaves: list[Any], described: str) -> str:
    """A text that names the array of a call for which memory was too small."""
    return memory_use.too_large(special, leaves, described)


def page_of(title: str, shown: list[tuple[Any, Any, Any]]) -> str:
    """A page about programs: the passes, the program and the known lengths of each."""
    return viewer.page(title, [viewer.Part(stages, program, known, {}) for stages, program, known in shown])


class Inspected:
    """The methods of `numbagraph.jit.graph_function.GraphFunction` that show the stages of a version."""

    backend: str
    parallel: bool
    _has_own_out: bool
    _described: str

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        raise NotImplementedError

    _traced: dict[Any, dict[Any, Traced]]

    def _ready(self, traced: Traced, key: Any) -> Version:
        raise NotImplementedError

    def _find(self, arguments: Arguments) -> tuple[Traced, list[Any]]:
        raise NotImplementedError

    def _known(self, arguments: Arguments) -> tuple[Traced | None, list[Any], tuple[Leaf, ...]]:
        raise NotImplementedError

    def _say_what_is_too_large(self, error: MemoryError, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raise an error with the largest array and its line, if native code ran out of memory."""
        arguments = self._bind(args, {k: v for k, v in kwargs.items() if k != "out" or self._has_own_out})
        if not is_located(error) and not any(isinstance(leaf, Tracer) for leaf in arguments.leaves):
            traced, leaves, _ = self._known(arguments)
            if traced is not None and traced.version is not None and (special := traced.only_program) is not None:
                raise MemoryError(too_large(special, traced.inputs(leaves), self._described))

    def _inspect(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Specialisation, list[Any]]:
        """Return the version for some arguments, and its leaves."""
        traced, leaves = self._find(self._bind(args, kwargs))
        assert traced.specialisation is not None
        return traced.specialisation, traced.inputs(leaves)

    def _programs(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[Specialisation, list[Any]]]:
        """Return the programs that run one after the other, mostly one, each with its leaves."""
        traced, leaves = self._find(self._bind(args, kwargs))
        return [self._inspect(args, kwargs)] if traced.phases is None else traced.phases.calls(leaves)

    def _repr_html_(self) -> str:
        """Return the text that notebooks show: the function, and its versions."""
        rows = []
        for traced in [each for group in list(self._traced.values()) for each in list(group.values())]:
            names = ", ".join(f"{each.name}: {each.type}" for each in traced.graph.inputs[: len(traced.leaves)])
            state = "traced" if traced.version is None else "compiled" if traced.is_compiled else "found on disk"
            results = ", ".join(str(each.type) for each in traced.graph.outputs)
            rows.append((names, results, str(len(traced.graph.order)), state))
        versions = html.table(("arguments", "results", "values", "state"), rows) if rows else "no version yet: call it"
        title = f"{self._described}, backend {self.backend}{', parallel' if self.parallel else ''}"
        return f"<div><code>{html.escape(title)}</code>{versions}</div>"

    @for_users
    def warmup(self, *args: Any, **kwargs: Any) -> None:
        """Compile for some arguments without running.

        Parameters
        ----------
        *args, **kwargs
            Arguments like those of a call; their values do not matter, and `numbagraph.Abstract` stands for an array.

        Examples
        --------
        >>> import numpy as np, numbagraph
        >>> f = numbagraph.graph_jit(lambda x: np.sum(x))
        >>> f.warmup(numbagraph.Abstract((100,), np.float32))
        >>> f.cache_info().versions
        1
        """
        arguments = self._bind(args, kwargs)
        self._ready(self._find(arguments)[0], arguments.key)

    def cache_info(self) -> CacheInfo:
        """Return the number of versions, and how many of them were compiled here or found on disk.

        Returns
        -------
        CacheInfo
            A tuple with ``versions``, ``compiled`` and ``found``.

        Examples
        --------
        >>> import numbagraph
        >>> numbagraph.graph_jit(lambda x: 2 * x).cache_info()
        CacheInfo(versions=0, compiled=0, found=0)
        """
        return CacheInfo.of([each for group in list(self._traced.values()) for each in list(group.values())])

    @for_users
    def graph(self, *args: Any, **kwargs: Any) -> Graph:
        """The graph that is traced for some arguments.

        Parameters
        ----------
        *args, **kwargs
            Arguments like those of a call; their values do not matter, and `numbagraph.Abstract` stands for an array.

        Returns
        -------
        Graph
            ``print`` shows it as Python; it has ``inputs``, ``outputs`` and ``order``.

        Examples
        --------
        >>> import numpy as np, numbagraph
        >>> print(numbagraph.graph_jit(lambda x: np.sin(x) + 1).graph(np.ones(3)))
        def xlambda(x: float64[n]):
            a = sin(x) ...
            return a + 1.0 ...
        """
        return self._inspect(args, kwargs)[0].graph

    @for_users
    def result_dtypes(self, *args: Any, **kwargs: Any) -> list[Any]:
        """The dtypes of the result for some arguments.

        Parameters
        ----------
        *args, **kwargs
            Arguments like those of a call; their values do not matter, and `numbagraph.Abstract` stands for an array.

        Returns
        -------
        list of numpy.dtype
            One a leaf of the result.

        Examples
        --------
        >>> import numpy as np, numbagraph
        >>> numbagraph.graph_jit(lambda x: (x, x > 0)).result_dtypes(np.ones(3))
        [dtype('float64'), dtype('bool')]
        """
        traced = self._find(self._bind(args, kwargs))[0]
        return [traced.graph.outputs[slot].dtype for slot in traced.outputs.slots if slot is not None]

    @for_users
    def stages(self, *args: Any, **kwargs: Any) -> dict[str, Graph]:
        """The graph after each pass.

        Parameters
        ----------
        *args, **kwargs
            Arguments like those of a call; their values do not matter, and `numbagraph.Abstract` stands for an array.

        Returns
        -------
        dict of Graph
            By the pass's name, in their order; numbered where a pass runs twice.

        Examples
        --------
        >>> import numpy as np, numbagraph
        >>> f = numbagraph.graph_jit(lambda x: np.log(np.exp(x)))
        >>> list(f.stages(1.0))
        ['traced', 'canonicalise', 'stabilise', 'canonicalise 2', 'specialise']
        """
        result: dict[str, Graph] = {}
        for stage in self._inspect(args, kwargs)[0].stages:
            count = sum(name.partition(" ")[0] == stage.name for name in result)
            result[f"{stage.name} {count + 1}" if count else stage.name] = stage.graph
        return result

    @for_users
    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """Return a report on the compilation for some arguments: rules, loop nests, memory.

        Parameters
        ----------
        *args, **kwargs
            Arguments like those of a call; their values do not matter, and `numbagraph.Abstract` stands for an array.

        Returns
        -------
        Explanation
            The text, a str for people to read: its form may change. Its method ``to_html(path)`` writes a page for
            browsers, with the graph after each pass, loop nests and source lines.

        Examples
        --------
        >>> import numpy as np, numbagraph
        >>> print(numbagraph.graph_jit(lambda x: np.sum(x**2)).explain(np.ones(3)))
        <lambda> (...), backend numba
        arguments:
          x: float64[x.shape[0]], contiguous
        ...
          nest 1 (sum): i0 < 3
            fused: square
            reads: x
            reduces (sum) into a register ...
            moves 24 bytes
        ...
        """
        title = f"{self._described}, backend {self.backend}{', parallel' if self.parallel else ''}"
        texts, shown, programs = [], [], self._programs(args, kwargs)
        for number, (special, leaves) in enumerate(programs, start=1):
            part = f", program {number} of {len(programs)}" if len(programs) > 1 else ""
            program, known = special.tiled, report_module.lengths_of(special.graph.inputs, leaves)
            report = report_module.Report(special.graph, program, special.signature.leaves, known)
            texts.append(report.text(f"{title}{part}", special.stages.rewrites))
            shown.append((special.stages, program, known))
        return html.Explanation("\n\n".join(texts), lambda: page_of(title, shown))

    @for_users
    def llvm(self, *args: Any, optimised: bool = True, **kwargs: Any) -> str:
        """The LLVM of the version for some arguments.

        Parameters
        ----------
        *args
            Arguments like those of a call; their values do not matter, and `numbagraph.Abstract` stands for an array.
        optimised : bool, optional
            Whether it is shown as LLVM has optimised it, or else as it was emitted.
        **kwargs
            More arguments like those of a call.

        Returns
        -------
        str
            LLVM's intermediate representation.

        Examples
        --------
        >>> import numpy as np, numbagraph
        >>> "fadd" in numbagraph.graph_jit(lambda x: x + 1).llvm(1.0)
        True
        """
        return "\n".join(special.llvm(optimised=optimised) for special, _ in self._programs(args, kwargs))

    @for_users
    def asm(self, *args: Any, **kwargs: Any) -> str:
        """The machine code of the version for some arguments.

        Parameters
        ----------
        *args, **kwargs
            Arguments like those of a call; their values do not matter, and `numbagraph.Abstract` stands for an array.

        Returns
        -------
        str
            Assembly, of this machine.

        Examples
        --------
        >>> import numpy as np, numbagraph
        >>> "ret" in numbagraph.graph_jit(lambda x: x + 1).asm(1.0)
        True
        """
        return "\n".join(special.assembly() for special, _ in self._programs(args, kwargs))

"""Functions that are written as loops into their results, mapped over all other dimensions of their operands."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numbagraph.api.differentiation import vjp
from numbagraph.api.vmap import completed, over_batches, pulled_back, without_missing
from numbagraph.blockwise.common import sum_to
from numbagraph.blockwise.loop_core import LoopCore
from numbagraph.blockwise.promotion import as_value, convert
from numbagraph.blockwise.signature import Lengths, Signature
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.values import Value
from numbagraph.jit.conversion import converter
from numbagraph.ops.rules.custom_rule import with_rule
from numbagraph.runtime.numba_loops import announce
from numbagraph.tracing.tracer import Tracer, apply, to_value


def writes_results(function: Callable[..., Any], signature: Signature) -> bool:
    """Whether a function takes arrays for its results behind its operands."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return False  # of a ufunc Python does not know it
    required = [each for each in parameters if each.kind in kinds and each.default is inspect.Parameter.empty]
    return len(required) == len(signature.inputs) + len(signature.outputs)


class LoopFunction:
    """A core that Numba compiles, for the dtypes of each call."""

    def __init__(
        self,
        function: Callable[..., None],
        signature: Signature,
        name: str,
        vjp: Callable[..., Any] | None,
        core_shape: Callable[..., Any] | None,
    ) -> None:
        if any(core.parameter for core in signature.inputs):
            raise TypeError(f"{name}: a function that writes into its results finds their lengths there: no <n>")
        if signature.open and core_shape is None:
            raise TypeError(f"{name}: give core_shape, which says what {', '.join(signature.open)} is in {signature}")
        self.function = function
        self.signature = signature
        self.name = name
        self.vjp = vjp
        self.core_shape = core_shape
        self.cores: dict[tuple[np.dtype, ...], LoopCore] = {}

    def __call__(self, operands: Sequence[Value], outputs: Sequence[np.dtype] | None) -> list[Value]:
        values = [convert(each, each.dtype) for each in operands]
        if outputs is None:
            outputs = [np.result_type(*(each.dtype for each in values))] * len(self.signature.outputs)
        cores = self.signature.inputs
        binding = self.signature.bind(self.name, [each.shape for each in values])
        arrays = [completed(each, core, binding) for core, each in zip(cores, values, strict=True)]
        results = self.results(arrays, outputs)
        results = with_rule(results, arrays, lambda given, g: self.cotangents(given, g, outputs))
        pairs = zip(self.signature.outputs, results, strict=True)
        return [without_missing(each, core, binding) for core, each in pairs]

    def results(self, arrays: Sequence[Value], outputs: Sequence[np.dtype]) -> list[Value]:
        dtypes = tuple(each.dtype for each in arrays)
        core = self.cores.get((*dtypes, *outputs))
        if core is None:
            core = LoopCore(self.name, self.function, self.signature, dtypes, tuple(outputs), self.sizes)
            self.cores[*dtypes, *outputs] = core
            announce(core)
        return core.results(arrays)

    def sizes(self, lengths: Lengths) -> Lengths:
        """The lengths that ``core_shape`` computes."""
        names = self.signature.open
        if not names:
            return {}
        assert self.core_shape is not None
        given = {name: extent for name, extent in lengths.items() if name.isidentifier()}
        found = self.core_shape(**{name: argument(extent) for name, extent in given.items()})
        found = found if isinstance(found, (tuple, list)) else (found,)
        if len(found) != len(names):
            raise TypeError(f"{self.name}: core_shape gave {len(found)} lengths for {', '.join(names)}")
        return {name: shapes.resolve(to_value(each)) for name, each in zip(names, found, strict=True)}

    def cotangents(
        self, arrays: Sequence[Value], given: Sequence[Value], outputs: Sequence[np.dtype]
    ) -> list[Value | None]:
        """Apply the given rule to each element, and return the cotangents."""
        rule = self.vjp or self.derived
        count, single = len(arrays), len(outputs) == 1
        known: list[int] = []

        def of_cores(values: list[Value]) -> list[Value]:
            tracers = [Tracer(each) for each in values]
            operands, y, g = tracers[:count], tracers[count : -len(given)], tracers[-len(given) :]
            of_results = (g[0], y[0]) if single else (tuple(g), tuple(y))
            found = pulled_back(rule, self.name, *of_results, operands)
            known[:] = [number for number, each in enumerate(found) if each is not None]
            return [as_value(to_value(found[number])) for number in known]

        cores = (*self.signature.inputs, *self.signature.outputs, *self.signature.outputs)
        values = [*arrays, *self.results(arrays, outputs), *given]
        found = dict.fromkeys(range(count))
        results = over_batches(of_cores, values, [len(core) for core in cores], self.name)
        for number, each in zip(known, results, strict=True):
            found[number] = sum_to(each, arrays[number])
        return [found[number] for number in range(count)]

    def derived(self, g: Any, y: Any, *operands: Any) -> tuple[Any, ...]:
        """Return the cotangents of one element's operands by the loops themselves."""
        results = y if isinstance(y, tuple) else (y,)

        def function(*operands: Any) -> Any:
            made = tuple(apply(registry["zeros_like"], each).copy() for each in results)
            converter()(self.function)(*operands, *made)
            return made if isinstance(y, tuple) else made[0]

        found: tuple[Any, ...] = vjp(function, *operands)[1](g)
        return found


def argument(extent: Any) -> Any:
    """Return a length in the form that a function takes."""
    return extent if isinstance(extent, int) else Tracer(extent)

"""Models of PyMC: `compile_logp` against PyTensor's Python code, op by op, on the graphs that PyMC makes.

The log-density and its gradient at the initial point, at random points, far away and at the edges of supports; calls in
sequence, with changing data, writes to results, and the errors of parameters that distributions refuse.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pymc as pm
import pytensor
from pymc.logprob.utils import ParameterValueError
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.utils import rewrite_graph
from pytensor.graph.traversal import ancestors

from numbagraph.pymc_bridge import UnsupportedOp, compile_logp
from tests.fuzz.evaluation import Evaluation, Failures, Undecided
from tests.fuzz.model_parts import Draw, draw_model, names
from tests.fuzz.near import difference
from tests.fuzz.runner import Difference, OutOfTime, Report, limited

__all__ = ["case", "names"]

RUNS_TO_BE_SURE = 12
FEWEST_RUNS = 6
"""Of those that must have values for their spread to say what rounding does: else it decides whether there is one."""
STABLE = {"include": ("canonicalize", "stabilize", "specialize"), "exclude": ("cxx_only", "inplace", "fusion")}
"""PyTensor's stable forms: for points where formulas as they are written lose their digits."""
PATIENCE = 30.0
"""Seconds of the processor's time for that. Its rewrites undo each other in a few graphs, without end."""
ENDLESS = "PyTensor comes to no stable form"
LONG_SECONDS = 100.0
"""Of the processor's time, for all references of a model: series in loops of Python take minutes."""
LONG = "PyTensor's Python code takes too long"
EDGES = (0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 4.0, 9.0, 1e-12, -40.0, 40.0)
FAR = (10.0, -10.0, 40.0)


def case(rng: np.random.Generator, report: Report) -> None:
    """One model, at several points."""
    with pytensor.config.change_flags(cxx=""), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = draw_model(rng, names())
        except Exception as error:  # noqa: BLE001  PyMC refuses parameters with errors of all kinds
            report.refused[f"PyMC: {type(error).__name__}: {str(error)[:60]}"] += 1
            return
        try:
            check = Check(found, rng)
        except UnsupportedOp as error:
            report.refused[str(error).partition("\n")[0][:80]] += 1
            return
        check.run()
        if check.reference.is_endless:
            report.refused[ENDLESS] += 1
        if check.reference.seconds_left <= 0:
            report.refused[LONG] += 1
        report.covered.update(found.used)


class FromInputs(Evaluation):
    """A copy of a graph; its inputs are named by those that they are copies of."""

    def __init__(self, graph: FunctionGraph, inputs: Sequence[Variable]) -> None:
        super().__init__(graph.outputs, graph.inputs)
        self.sources = dict(zip(inputs, graph.inputs, strict=True))


class Reference:
    """A model's log-density and gradient as PyMC writes them down, or in PyTensor's stable form."""

    def __init__(self, model: pm.Model) -> None:
        self.values = {each.name: each for each in model.value_vars}
        density = model.logp()
        continuous = [each for each in model.value_vars if np.dtype(each.type.dtype).kind == "f"]
        self.has_gradient = len(continuous) == len(model.value_vars)
        slopes = pytensor.grad(density, continuous, disconnected_inputs="ignore") if self.has_gradient else []
        self.names = [each.name for each in continuous] if self.has_gradient else []
        self.outputs: list[Variable] = [density, *slopes]
        self.shared = [each for each in ancestors(self.outputs) if isinstance(each, SharedVariable)]
        self.evaluations: dict[bool, FromInputs] = {}
        self.is_endless = False
        """Whether PyTensor comes to no stable form."""
        self.seconds_left = LONG_SECONDS

    def evaluation(self, *, stable: bool) -> FromInputs:
        if stable not in self.evaluations:
            inputs = [*self.values.values(), *self.shared]
            graph = FunctionGraph(inputs, self.outputs, clone=True)
            if stable:
                with limited(PATIENCE):
                    rewrite_graph(graph, **STABLE)
            self.evaluations[stable] = FromInputs(graph, inputs)
        return self.evaluations[stable]

    def __call__(
        self, point: dict[str, np.ndarray], *, stable: bool = False, rounding: np.random.Generator | None = None
    ) -> Any:
        """The value and the gradient as one vector, or the errors."""
        values = {self.values[name]: np.asarray(each, self.values[name].type.dtype) for name, each in point.items()}
        values |= {each: each.get_value() for each in self.shared}
        if stable and self.is_endless:
            return Undecided(ENDLESS)
        try:
            run = self.evaluation(stable=stable)
        except OutOfTime:
            self.is_endless = True
            return Undecided(ENDLESS)
        try:
            density, *slopes = self.within_time(
                lambda: run({own: values[each] for each, own in run.sources.items()}, rounding)
            )
        except Failures as error:
            return error
        except OutOfTime:
            return Undecided(LONG)
        by_name = dict(zip(self.names, slopes, strict=True))
        gradient = [by_name[name].ravel() for name in point] if self.has_gradient else []
        return np.concatenate([np.ravel(density), *gradient]).astype(float)

    def within_time(self, run: Callable[[], list[Any]]) -> list[Any]:
        """What it gives, as long as there is time left."""
        if self.seconds_left <= 0:
            raise OutOfTime
        start = time.process_time()
        try:
            with limited(self.seconds_left):
                return run()
        finally:
            self.seconds_left -= time.process_time() - start


class Check:
    """A model's native log-density beside PyMC's."""

    def __init__(self, found: Draw, rng: np.random.Generator) -> None:
        self.found, self.rng, self.model = found, rng, found.model
        self.compiled, self.reference = compile_logp(self.model), Reference(self.model)
        self.begin = np.concatenate([np.ravel(each).astype(float) for each in self.model.initial_point(0).values()])

    def run(self) -> None:
        reference = self.reference
        points = list(self.points())
        for what, x in points:
            self.compare(what, x, self.compiled, reference)
        self.compare("again", points[0][1], self.compiled, reference)
        if self.model.data_vars:
            self.compare_with_changing_data(points[1][1], reference)

    def points(self) -> list[tuple[str, np.ndarray]]:
        begin, rng, size = self.begin, self.rng, self.begin.size
        if not self.compiled.point.is_continuous:
            return [("initial point", begin), ("next", begin + 1), ("far below", begin - 9), ("zeros", begin * 0)]
        edges = begin + rng.normal(size=size) * 0.3
        chosen = rng.random(size) < 0.5
        edges[chosen] = rng.choice(EDGES, int(chosen.sum()))
        return [
            ("initial point", begin),
            ("random point", begin + rng.normal(size=size)),
            ("another point", begin - 2 * rng.normal(size=size)),
            ("at edges", edges),
            ("far away", begin + rng.choice(FAR)),
            ("all zero", np.zeros(size)),
            ("one is far", begin + np.eye(size)[rng.integers(size)] * rng.choice(FAR)),
        ]

    def compare_with_changing_data(self, x: np.ndarray, reference: Reference) -> None:
        """Data, and the lengths of some, change between calls."""
        compiled = compile_logp(self.model, freeze=False)
        self.compare("data that may change", x, compiled, reference)
        for what, values in (("other data", self.found.other_data()), ("longer data", self.found.longer_data())):
            with self.model:
                pm.set_data(values)
            self.compare(what, x, compiled, reference)

    def compare(self, what: str, x: np.ndarray, compiled: Any, reference: Reference) -> None:
        parts = zip(compiled.point.names, compiled.point.split(x), strict=True)
        point = {name: np.array(part) for name, part in parts}
        x = np.array(x)
        before = x.copy()
        try:
            found = compiled(x)
        except Exception as error:  # noqa: BLE001
            found = error
        if not np.array_equal(x, before, equal_nan=True):
            self.fail(what, x, "the point was changed")
        expected = reference(point)
        if isinstance(expected, Undecided):
            return
        if isinstance(found, Exception) or isinstance(expected, Failures):
            self.check_errors(what, x, found, expected, lambda: reference(point, stable=True))
            return
        parts = found if compiled.has_gradient else (found,)
        actual = np.concatenate([np.ravel(each) for each in parts])
        message = self.is_wrong(actual, point, reference)
        if message:
            self.fail(what, x, message)
        self.check_memory(what, x, found, compiled)

    def is_wrong(self, actual: np.ndarray, point: dict[str, np.ndarray], reference: Reference) -> str | None:
        """How it differs from PyMC's, as it is written and in its stable form, by more than rounding does there."""
        messages = []
        for stable in (False, True):
            expected = reference(point, stable=stable)
            if isinstance(expected, Undecided):
                return None
            if isinstance(expected, Exception):
                continue
            if differs(actual, expected, [expected]) is None:
                return None
            seeds = range(RUNS_TO_BE_SURE)
            runs = [reference(point, stable=stable, rounding=np.random.default_rng(seed)) for seed in seeds]
            if any(isinstance(each, Undecided) for each in runs):
                return None
            runs = [each for each in runs if not isinstance(each, Exception)]
            message = differs(actual, expected, runs)
            if message is None or len(runs) < FEWEST_RUNS:
                return None
            messages.append(message)
        return "; ".join(messages) or None

    def check_errors(self, what: str, x: np.ndarray, found: Any, expected: Any, stable: Callable[[], Any]) -> None:
        for run in (lambda: expected, stable):
            each = run()
            if isinstance(each, Undecided):
                return
            if isinstance(each, Failures) and isinstance(found, Exception) and same_kind(found, each.errors):
                return
            if not isinstance(each, Failures) and not isinstance(found, Exception):
                return
        self.fail(what, x, f"found {found!r}, expected {expected!r}")

    def check_memory(self, what: str, x: np.ndarray, found: Any, compiled: Any) -> None:
        """A gradient is the caller's to write to."""
        if not compiled.has_gradient:
            return
        value, gradient = found
        kept = gradient.copy()
        gradient[...] = np.nan
        again = compiled(x)
        if not np.array_equal([again[0], *again[1]], [value, *kept], equal_nan=True):
            self.fail(what, x, "another call gives another result")
        if np.may_share_memory(again[1], gradient):
            self.fail(what, x, "results of two calls share memory")

    def fail(self, what: str, x: np.ndarray, text: str) -> None:
        raise Difference(f"{what}: {text}\nat {x!r}\n{self.found}")


def differs(actual: np.ndarray, expected: np.ndarray, runs: Sequence[np.ndarray]) -> str | None:
    """The value differs, or a derivative of a value that is finite, unless PyTensor's came out as 0 * inf."""
    message = difference(actual[:1], expected[:1], [each[:1] for each in runs])
    if message is not None:
        return f"value: {message}"
    if not np.isfinite(expected[0]) or actual.size == 1:
        return None
    actual = np.where(np.isnan(expected), expected, actual)
    scale = max(1.0, float(np.abs(expected[np.isfinite(expected)]).max(initial=1.0)))
    return difference(actual / scale, expected / scale, [each / scale for each in runs])


def same_kind(found: Exception, errors: Sequence[Exception]) -> bool:
    kinds = (ParameterValueError, np.linalg.LinAlgError, IndexError, AssertionError, ValueError)
    kind = next((each for each in kinds if isinstance(found, each)), type(found))
    return any(isinstance(each, kind) for each in errors)

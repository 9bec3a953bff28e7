"""The log-density of a PyMC model and its gradient, as one native function of a point."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pymc as pm
import pytensor
from pymc.distributions.custom import CustomDistRV
from pymc.pytensorf import constant_fold
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors

from numbagraph.blockwise.promotion import convert
from numbagraph.explain.report import Report
from numbagraph.forking import new_lock
from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph
from numbagraph.ir.later import Later
from numbagraph.ir.op import registry
from numbagraph.ir.public import Public
from numbagraph.ir.structs import cached_property
from numbagraph.ir.types import FLOAT64, canonical_dtype
from numbagraph.ir.values import ArrayType, Input, Value, constant
from numbagraph.jit.phases import may_be_late
from numbagraph.loops.lengths import array_of_computed_length, refusal
from numbagraph.pymc_bridge.importer import ImportedGraph, Importer, UnsupportedOp, checked_input, describe, finish
from numbagraph.pymc_bridge.native import Record, VectorFunction, VectorPart, names_of, parts_of
from numbagraph.pymc_bridge.parametrisations import CANCELLATIONS, PARAMETRISATIONS
from numbagraph.pymc_bridge.python_calls import PythonCalls
from numbagraph.pymc_bridge.sampling.failures import Failures
from numbagraph.pymc_bridge.sampling.initial_point import InitialPoint
from numbagraph.pymc_bridge.sampling.minibatches import Minibatches
from numbagraph.pymc_bridge.sampling.snapshot import Snapshot, unpickled
from numbagraph.pymc_bridge.switches import SWITCHES
from numbagraph.pymc_bridge.translations.sparse_matrix import is_sparse
from numbagraph.rewrite.engine import rewrite_values
from numbagraph.rewrite.pipeline import optimise, prepare
from numbagraph.runtime.garbage_collection import collector_at_rest
from numbagraph.runtime.interruption import raise_kept
from numbagraph.tracing.tracebacks import for_users
from numbagraph.transforms.autodiff import cotangents
from numbagraph.transforms.interpret import evaluate

if TYPE_CHECKING:
    from numbagraph.pymc_bridge.translations import named_dimensions
else:  # few models name dimensions
    named_dimensions = Later("numbagraph.pymc_bridge.translations.named_dimensions")

MOST_NAMES = 8
"""The largest number of variables that a message names."""


class Point:
    """The free variables of a model, flattened into one vector of doubles in the order of `pm.Model.initial_point`."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.model = model = snapshot.model
        self.names = snapshot.names
        values = {variable.name: variable for variable in model.value_vars}
        self.variables: list[Any] = [values[name] for name in self.names]
        snapshot.shapes = self.shapes = snapshot.shapes or self._shapes()
        self.size = sum(part.size for part in parts_of(self.shapes))

    def _shapes(self) -> list[tuple[int, ...]]:
        """The shapes of the variables, from an initial point where PyTensor's types and rules do not say."""
        shapes = [inferred_shape(self.model, each) for each in self.variables]
        known = [each for each in shapes if each is not None]
        if len(known) == len(shapes):
            return known
        return [value.shape for value in InitialPoint(self.model, self.names, jitter=False).values(0)]

    def __repr__(self) -> str:
        shown = self.names if len(self.names) <= MOST_NAMES else [*self.names[:MOST_NAMES], "..."]
        return f"a vector of {self.size} numbers ({', '.join(shown)})"

    @property
    def is_continuous(self) -> bool:
        return all(np.dtype(variable.type.dtype).kind == "f" for variable in self.variables)

    def inputs(self) -> list[Input]:
        return [Input(ArrayType(FLOAT64, shape), name) for name, shape in zip(self.names, self.shapes, strict=True)]

    def bind(self, importer: Importer, inputs: Sequence[Input]) -> None:
        """Let an importer know the variables as ``inputs``, which are doubles whatever their dtypes are."""
        for variable, value in zip(self.variables, inputs, strict=True):
            importer.values[variable] = convert(value, canonical_dtype(variable.type.dtype))

    def split(self, vector: np.ndarray) -> list[np.ndarray]:
        """The parts of a vector."""
        return [vector[part.begin : part.begin + part.size].reshape(part.shape) for part in parts_of(self.shapes)]


def inferred_shape(model: Any, variable: Any) -> tuple[int, ...] | None:
    """The shape of a value variable, if it follows from constants. Drawing it could make PyTensor compile a loop."""
    if None not in variable.type.shape:
        return tuple(variable.type.shape)
    drawn = model.values_to_rvs[variable]
    transform = model.rvs_to_transforms[drawn]
    value = drawn if transform is None else transform.forward(drawn, *drawn.owner.inputs)
    lengths = constant_fold([value.shape[axis] for axis in range(value.type.ndim)], raise_not_constant=False)
    return None if any(isinstance(each, Variable) for each in lengths) else tuple(map(int, lengths))


def shared_variables(outputs: Sequence[Variable]) -> list[Any]:
    """The arrays that a graph reads and that may change."""
    found = [each for each in ancestors(outputs) if isinstance(each, SharedVariable)]
    found = [each for each in found if hasattr(each.type, "dtype")]
    names = [each.name for each in found]
    for each in found:
        if each.name is not None and names.count(each.name) > 1:
            raise ValueError(f"shared variables must have names of their own, but there is {each!r}")
        if is_sparse(each):
            raise UnsupportedOp(
                f"native code is made for the pattern of a sparse matrix, but that of {each.name!r} may change",
                advice="With freeze=True, pm.Data are constant",
            )
    return found


LIBRARIES = ("abc", "builtins", "pymc.", "pytensor.")
"""The packages whose op classes no user wrote; classes made by a call are in `abc`."""


DENSITY = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, *[ctypes.c_void_p] * 4)
"""The function that samplers call. It takes the size of a point, the point, the gradient, the value, and data."""

FRAMES = 20
"""The frames of a stack that PyTensor keeps: its usual 8 no longer reach from an index to the line that has it."""


def density_of(model: Any) -> Variable:
    """The log-density as PyTensor's graph.

    PyTensor records the line of each op that it makes, which takes a quarter of the time. None of these lines is the
    user's, unless a distribution is.
    """
    kinds = {kind for each in model.basic_RVs for kind in type(each.owner.op).__mro__}
    users = CustomDistRV in kinds or any(not kind.__module__.startswith(LIBRARIES) for kind in kinds)
    with pytensor.config.change_flags(traceback__limit=FRAMES if users else 0):
        return model.logp()


def gradient_of(value: Value, inputs: Sequence[Input]) -> list[Value]:
    """The derivatives of a value, which are zero where it does not depend on an input."""
    try:
        found = cotangents([value], [constant(1, dtype=value.dtype)], inputs)
    except NotImplementedError as error:
        raise (error.__cause__ if isinstance(error.__cause__, UnsupportedOp) else error) from None
    return [registry["zeros_like"](each) if given is None else given for each, given in zip(inputs, found, strict=True)]


def refuse_computed_lengths(graph: Graph, *, shared: bool) -> None:
    """Refuse lengths that follow from elements; ``shared``: data may change. Of constant data they are computed
    before."""
    if not may_be_late(graph) or array_of_computed_length(graph) is None:
        return
    array = array_of_computed_length(optimise(graph).final)  # what nobody needs is no trouble
    if array is not None:
        of_data = "With freeze=True, pm.Data are constant, and so are lengths"
        of_point = "A sum of what a mask selects needs no length, nor does pt.where, with a value for what is left out"
        raise UnsupportedOp(refusal(array), advice=of_data if shared else of_point)


def as_double(value: Value, variable: Variable) -> Value:
    """Convert a result to double, as native code returns it."""
    if value.dtype.kind == "c":
        raise UnsupportedOp(f"{describe(variable)} is complex, and samplers keep real numbers only")
    return convert(value, FLOAT64)


class Parts:
    """The parts of a model from which native code is made: its point, its data, and graphs of both."""

    def __init__(self, snapshot: Snapshot, *, minibatches: Minibatches | None = None) -> None:
        """``minibatches``: if given, rows that are drawn at random become data."""
        self.minibatches = minibatches
        self.snapshot, self.model, self.freeze = snapshot, snapshot.model, snapshot.freeze
        self.point = Point(snapshot)
        self.inputs: list[Input] = []
        """The inputs of the graph in progress that are the variables of the point."""
        self.shared: dict[Any, str] = {}
        """Variables that may change, and the names of their values; some variables have no names themselves."""
        self.failures = Failures()
        self.python_calls = PythonCalls(self.shapes_at_initial_point, self.failures, snapshot.warned)

    def add_shared(self, outputs: Sequence[Variable]) -> list[Any]:
        """The shared variables that some variables depend on and that may change."""
        rows = [each.numbers for each in self.minibatches.rows] if self.minibatches is not None else []
        found = rows if self.freeze else shared_variables(outputs)
        for each in found:
            self.shared.setdefault(each, each.name or f"shared variable {len(self.shared)}")
        return found

    @cached_property
    def beginning(self) -> list[np.ndarray]:
        """The variables where a chain may begin."""
        return InitialPoint(self.model, self.point.names, jitter=False).values(0)

    def shapes_at_initial_point(self, importer: Importer, node: Any) -> list[tuple[int, ...]] | None:
        """The shapes of an op's results, from one run with the data: constant data allow no others."""
        values = [importer.values[each] for each in node.inputs]
        reached = tuple(each for each in Graph((), tuple(values)).order if isinstance(each, Input))
        given = {**dict(zip(self.inputs, self.beginning, strict=True)), **importer.arrays} if self.freeze else {}
        if not self.freeze or any(each not in given for each in reached):
            return None
        with np.errstate(all="ignore"):
            operands = evaluate(Graph(reached, tuple(values)), [given[each] for each in reached])
        storage: list[list[Any]] = [[None] for _ in node.outputs]
        node.op.perform(node, [np.array(each) for each in operands], storage)
        return [np.shape(each) for (each,) in storage]

    def graph(self, variables: Sequence[Variable], name: str, build: Callable[..., Any]) -> ImportedGraph:
        """The graph that ``build(values, inputs)`` makes of the variables' values; ``inputs`` are the parts of the
        point."""
        if "pytensor.xtensor" in sys.modules:
            variables = named_dimensions.without_names(variables)
        if self.minibatches is not None:
            variables = self.minibatches.replaced(variables)
        shared, inputs = self.add_shared(variables), self.point.inputs()
        self.inputs = inputs
        with shapes.collect_guards() as guards:
            importer = Importer(check_parameters=self.snapshot.check_parameters)
            importer.read = self.snapshot.read
            importer.python_calls = self.python_calls
            importer.values.update({each: checked_input(each, self.shared[each]) for each in shared})
            self.point.bind(importer, inputs)
            values = build([as_double(importer(each), each) for each in variables], inputs)
            own = [*inputs, *(importer.values[each] for each in shared)]
            graph = finish(importer, own, variables, values, guards, name)
        refuse_computed_lengths(graph, shared=bool(shared))
        return graph

    def density(self, *, gradient: bool) -> ImportedGraph:
        """The log-density, and its derivatives."""

        def build(values: list[Value], inputs: list[Input]) -> list[Value]:
            prepared = rewrite_values(prepare(rewrite_values(values, PARAMETRISATIONS)), CANCELLATIONS)
            results = [*prepared, *gradient_of(prepared[0], inputs)] if gradient else prepared
            return rewrite_values(results, SWITCHES)

        if self.snapshot.density is None:
            self.snapshot.density = density_of(self.model)
        return self.graph([self.snapshot.density], "logp", build)

    def record(self, *graphs: ImportedGraph) -> Record:
        """The record that native code reads: shared variables, and the arrays that graphs captured."""
        arrays = {name: as_array(each.get_value(borrow=True)) for each, name in self.shared.items()}
        for graph in graphs:
            for name, captured in zip(names_of(graph), graph.captured, strict=True):
                if name in arrays:
                    raise ValueError(f"data cannot be called {name!r}: an array of the compiled model is")
                arrays[name] = captured
        return Record(arrays)

    def density_function(self, graph: ImportedGraph, record: Record, *, gradient: bool) -> VectorFunction:
        results, sizes = [VectorPart(0, 0, ())], [1]
        if gradient:
            results, sizes = [*results, *parts_of(self.point.shapes, 1)], [1, self.point.size]
        names = self.names(graph)
        return VectorFunction(graph, self.point.shapes, results, sizes, record, names, failures=self.failures)

    def names(self, graph: ImportedGraph) -> list[str]:
        """The names of the inputs of a graph behind the parts of the point."""
        first, last = len(self.point.names), len(graph.inputs) - len(graph.captured)
        return [*(each.name for each in graph.inputs[first:last]), *names_of(graph)]


class CompiledLogp(Public):
    """The log-density of a model: what `compile_logp` returns."""

    def __init__(self, snapshot: Snapshot, *, gradient: bool) -> None:
        self._snapshot = snapshot
        self._minibatches = Minibatches()
        parts = Parts(snapshot, minibatches=self._minibatches)
        self.point = parts.point
        self.has_gradient = gradient and self.point.is_continuous
        graph = parts.density(gradient=self.has_gradient)
        self._shared = parts.shared
        self._lock = new_lock()
        self._values = {name: each.get_value(borrow=True) for each, name in self._shared.items()}
        self.function = parts.density_function(graph, parts.record(graph), gradient=self.has_gradient)

    def __repr__(self) -> str:
        return f"<log-density{' and gradient' if self.has_gradient else ''} of {self.point!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """The model, which is compiled again where it is unpickled: the code is found on disk.

        A copy has its own data: those that shared variables hold when it is made.
        """
        return restored, (self._snapshot.pickled({"gradient": self.has_gradient}),)

    def __copy__(self) -> CompiledLogp:
        return self

    def __deepcopy__(self, memo: object) -> CompiledLogp:
        return self

    @property
    def address(self) -> int:
        """The address of ``int64 logp(uint64 size, double *x, double *gradient, double *value, void *data)``.

        It returns 0; 1 where a check fails, 3 where the gradient is not finite, 4 where the value is not; -1 for a
        point of another size, and -2 where there is no memory. ``data`` is null, or the address of a record like
        ``function.record.memory``. It needs no GIL, may run on several threads at once, and is valid as long as this
        object lives.
        """
        return self.function.address

    @property
    def ctypes(self) -> tuple[Any, ctypes.c_void_p]:
        """A `ctypes` function at `address`, and the data that it takes last, which hold what shared variables hold now.

        This is how samplers take densities that others have compiled. The function keeps this object alive; it gives
        up the GIL while it runs, and is called as `address` says.

        Returns
        -------
        tuple
            ``(function, data)``.

        Examples
        --------
        >>> import ctypes, numpy as np, pymc as pm
        >>> with pm.Model() as model:
        ...     x = pm.Normal("x", 0, 1)
        >>> function, data = compile_logp(model).ctypes
        >>> point, gradient, value = np.array([2.0]), np.empty(1), np.empty(1)
        >>> as_pointers = [each.ctypes.data for each in (point, gradient, value)]
        >>> function(1, *as_pointers, data), gradient[0]
        (0, np.float64(-2.0))
        """
        with self._lock:
            self._follow_shared()
        function: Any = DENSITY(self.address)
        function.owner = self
        return function, ctypes.c_void_p(self.function.record.address)

    def __call__(self, x: Any) -> Any:
        if not self._shared:
            return self._evaluated(x)
        with self._lock:  # data of one call are not those of another
            self._follow_shared()
            return self._evaluated(x)

    def _evaluated(self, x: Any) -> Any:
        result = self.function.entry(x)
        if result is not NotImplemented:
            return result
        raise_kept()
        if isinstance(x, dict):
            instead = (
                "np.concatenate([np.ravel(each) for each in point.values()]) is one, in the order of initial_point()"
            )
            raise TypeError(f"a point of this model is {self.point!r}, not a dict: {instead}")
        vector = np.ascontiguousarray(x, dtype=np.float64)
        if vector.shape != (self.point.size,):
            raise ValueError(f"a point of this model is {self.point!r}, not of shape {vector.shape}")
        result = self.function.entry(vector)
        return self._in_numpy(vector) if result is NotImplemented else result

    def _follow_shared(self) -> None:
        """Read the present contents of shared variables; draw the rows of minibatches."""
        self._minibatches.draw()
        for each, name in self._shared.items():
            value = each.get_value(borrow=True)
            if value is not self._values[name]:
                self._values[name] = value
                self.function.record.put(name, as_array(value))

    def _in_numpy(self, vector: np.ndarray) -> Any:
        """Evaluate by NumPy after a check has failed: NumPy's interpreter runs into the same error, and names the
        place; if it does not, its results count."""
        raise_kept()
        graph = self.function.graph
        with np.errstate(all="ignore"):
            value, *gradient = evaluate(graph, [*self.point.split(vector), *self.function.arrays])
        if not self.has_gradient:
            return np.float64(value)
        layout = self.function.vectors
        result = np.empty(self.point.size)
        for each, part in zip(gradient, layout.results[1:], strict=True):
            result[part.begin : part.begin + part.size] = np.ravel(each)
        for source, target in layout.copies:
            result[target.begin : target.begin + target.size] = result[source.begin : source.begin + source.size]
        return np.float64(value), result

    def explain(self) -> str:
        """A report on the compiled model: rules, loop nests, memory."""
        special = self.function.special
        arrays = [*self.point.split(np.zeros(self.point.size)), *self.function.arrays]
        report = Report.of_call(special.graph, special.program, special.signature.leaves, arrays)
        return report.text("logp", special.stages.rewrites)

    def llvm(self, *, optimised: bool = True) -> str:
        """The LLVM of the compiled code."""
        return self.function.special.llvm(optimised=optimised)


def as_array(value: Any) -> np.ndarray:
    """A shared value as an array that native code can read."""
    array = np.asarray(value)
    return np.asarray(array, dtype=canonical_dtype(array.dtype), order="C")


@for_users
@collector_at_rest
def compile_logp(model: Any = None, *, gradient: bool = True, freeze: bool = True) -> CompiledLogp:
    """Compile a model's log-density.

    Parameters
    ----------
    model : pymc.Model, optional
        By default that of the context.
    gradient
        Whether the gradient is computed as well. It never is for a model with discrete free variables.
    freeze
        Whether the model's data are constants. If not, each call uses what `pm.set_data` has set last.

    Returns
    -------
    CompiledLogp
        A function of a point, flattened as `pymc.blocking.DictToArrayBijection` does it: it gives the log-density
        (``float64``), or a pair of it and the gradient (``float64[size]``). `CompiledLogp.address` is for C.

    Raises
    ------
    UnsupportedOp
        Where the model uses an op of PyTensor that has no translation.

    Notes
    -----
    Of `pm.Minibatch`, each call draws other rows, those that PyTensor would draw. `CompiledLogp.ctypes` draws them
    once, when it is asked for, and native callers evaluate these.

    Examples
    --------
    >>> import numpy as np, pymc as pm
    >>> with pm.Model() as model:
    ...     x = pm.Normal("x", 0, 1)
    >>> value, gradient = compile_logp(model)(np.array([1.0]))
    >>> gradient
    array([-1.])
    """
    return CompiledLogp(Snapshot(pm.modelcontext(model), freeze=freeze), gradient=gradient)


@collector_at_rest
def restored(pickled: bytes) -> CompiledLogp:
    """Compile a pickled model again."""
    snapshot, options = unpickled(pickled)
    return CompiledLogp(snapshot, **options)

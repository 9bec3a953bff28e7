"""The differences between the versions of PyTensor and PyMC, so that no other file checks for a version.

nutpie and ArviZ are imported when they are used: where PyMC has not imported them, they take a second, for they bring
Numba and much of SciPy along.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pymc
import xarray
from pytensor.graph.op import Op

from numbagraph.forking import import_module, importing

if TYPE_CHECKING:
    from nutpie.compile_pymc import CompiledPyMCModel

WIDEST = 8
"""The size of the widest integers in bytes."""

NOT_EVERYWHERE = frozenset(
    """
    AddSD AddSS AddSSData AddSparseDense AddSparseSparse AddSparseSparseData AdvancedIncSubtensor1
    AdvancedSubtensor1 Angle Deg2Rad EighGrad GammaL GammaU Ger Iv LogAddExp LogDet LogSumExp MultiplySparseDense
    MultiplySparseDenseVector MultiplySparseSparse NdtriExp PosDefMatrix Rad2Deg SoftmaxGrad SparseDenseMultiply
    SparseDenseVectorMultiply SparseSparseMultiply StructuredAddSV StructuredAddSparseDenseVector XLog1PY XLogY
    XlogX XlogY0
    """.split()
)
"""Ops that one of the versions lacks."""


class VersionNames:
    """The names of several modules: each is taken from the first module that has it.

    An op that this version lacks is a class of which there are no objects: so tables have the ops of all
    versions.
    """

    def __init__(self, *modules: str) -> None:
        self._modules = modules

    def __getattr__(self, name: str) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # a module that was moved says so of names it never had
            for module in self._modules:
                try:
                    return getattr(import_module(module), name)
                except (ImportError, AttributeError):
                    continue
        if name not in NOT_EVERYWHERE:
            raise AttributeError(f"none of {', '.join(self._modules)} has {name}")
        return type(name, (), {})


scalars = VersionNames("pytensor.scalar.basic")
special = VersionNames("pytensor.scalar.math")
rows = VersionNames("pytensor.tensor.special", "pytensor.tensor.xlogx")
linalg = VersionNames(
    "pytensor.tensor.linalg",
    "pytensor.tensor.slinalg",
    "pytensor.tensor.nlinalg",
    "pytensor.tensor.linalg.solvers.linear_control",
    "pytensor.tensor.linalg.solvers.tridiagonal",
    "pytensor.tensor._linalg.solve.linear_control",
    "pytensor.tensor._linalg.solve.tridiagonal",
)
math = VersionNames("pymc.math")
blas = VersionNames("pytensor.tensor.blas")
multivariate = VersionNames("pymc.distributions.multivariate")
conditional = VersionNames("pytensor.conditional.op", "pytensor.ifelse")
indexing = VersionNames("pytensor.tensor.subtensor")
sparse = VersionNames("pytensor.sparse.basic", "pytensor.sparse.math")
arviz = VersionNames("arviz_base", "arviz.data.base")
traces = VersionNames("pymc.backends.arviz")


def index_of(op: Any, indices: Sequence[Any]) -> tuple[Any, ...]:
    """The key of ``x[key]``, of the run-time inputs of a `Subtensor` or one of its kin."""
    pattern = getattr(op, "idx_list", None)
    if pattern is None:
        return tuple(indices)
    if any(isinstance(each, int) for each in _entries(pattern)):  # PyTensor 3: an entry is the position of its input
        return tuple(_filled(each, indices) for each in pattern)
    return tuple(indexing.indices_from_subtensor(list(indices), pattern))


def _entries(pattern: Sequence[Any]) -> list[Any]:
    found = []
    for each in pattern:
        found += [each.start, each.stop, each.step] if isinstance(each, slice) else [each]
    return found


def as_in_pytensor_3(kind: Any) -> Any:
    """Adapt a class of ops, written for PyTensor 3. For PyTensor 2, `pullback` is `L_op`, and `infer_shape` takes more
    arguments."""
    if not hasattr(kind.__base__, "pullback"):
        infer_shape = kind.infer_shape
        kind.L_op = kind.pullback
        kind.infer_shape = lambda self, _, node, input_shapes: infer_shape(self, node, input_shapes)
    return kind


def running_dtype(dtype: np.dtype, ndim: int, mode: str) -> np.dtype:
    """The dtype of running sums and products. By PyTensor's types it is that of the numbers, as it is in C code.

    PyTensor 3 runs them by Numba: of vectors they are wide, but for products of integers without sign, and what follows
    from them computes with the wide numbers.
    """
    by_numba = hasattr(Op, "pullback")
    if not by_numba or ndim != 1 or dtype.kind not in "biu" or dtype.itemsize == WIDEST:
        return dtype
    return dtype if mode == "mul" and dtype.kind == "u" else np.dtype(np.int64)


def pullback_of(op: Any) -> Callable[..., Any]:
    """The function that returns an op's derivative, from its inputs, its outputs and their cotangents. PyTensor 2's
    name of it works for any op; the new name warns of ops that only have the old one."""
    return op.L_op if hasattr(op, "L_op") else op.pullback


def inferred_shapes(node: Any) -> Any:
    """The shapes of an op's results, in terms of those of its inputs; None if the op does not infer them."""
    infer = getattr(node.op, "infer_shape", None)
    lengths = [tuple(each.shape[axis] for axis in range(each.type.ndim)) for each in node.inputs]
    if infer is None:
        return None
    return infer(node, lengths) if hasattr(node.op, "pullback") else infer(None, node, lengths)


def _filled(entry: Any, indices: Sequence[Any]) -> Any:
    if isinstance(entry, slice):
        return slice(*(_filled(each, indices) for each in (entry.start, entry.stop, entry.step)))
    return indices[entry] if isinstance(entry, int) else entry


def axis_apart(op: Any, operands: Sequence[Any], position: int) -> tuple[Any, list[Any]]:
    """The axis of a `Join` or `Split`, which PyTensor 2 has among the operands, and the other operands."""
    if hasattr(op, "axis"):
        return op.axis, list(operands)
    return operands[position], [*operands[:position], *operands[position + 1 :]]


def triangle_of(op: Any) -> str:
    """The triangle of a symmetric matrix that an `Eigh` reads."""
    return op.UPLO if hasattr(op, "UPLO") else "L" if op.lower else "U"


def refuses_nan(op: Any) -> bool:
    """Whether an op raises an error for numbers that are not finite: ops that call SciPy without an option do."""
    return isinstance(op, (linalg.LU, linalg.Eigvalsh, math.LogDet)) or (
        isinstance(op, linalg.Eigh) and not hasattr(op, "UPLO")
    )


def compiled_model(kind: type[CompiledPyMCModel], shared: Mapping[Any, str], **parts: Any) -> CompiledPyMCModel:
    """nutpie's model, made of its parts, some of which some versions lack; ``shared`` names the variables that hold
    data."""
    parts["shared_var_keys"] = dict(shared)
    known = {field.name for field in fields(kind)}
    return kind(**{name: each for name, each in parts.items() if name in known})


def sorted_axis(op: Any, *operand: Any) -> int:
    """The axis along which an op sorts: its second operand, or with PyTensor 3 its own."""
    return int(operand[0]) if operand else op.axis


STATISTICS = {
    "depth": "tree_depth",
    "logp": "lp",
    "maxdepth_reached": "reached_max_treedepth",
    "mean_tree_accept": "acceptance_rate",
}
"""PyMC 5's names for the statistics of nutpie's sampler; PyMC 6 has nutpie's own names."""


def finished(trace: Any, model: Any, hidden: Sequence[str], attributes: dict[str, Any]) -> Any:
    """Convert a trace of nutpie to the form that PyMC returns: without hidden variables, with data and attributes.

    nutpie has doubles only: variables get their own dtypes back.
    """
    with importing:
        import nutpie  # noqa: PLC0415

    dtypes = {each.name: each.type.dtype for each in model.unobserved_RVs}
    coordinates, _ = traces.coords_and_dims_for_inferencedata(model)
    coordinates = {name: each for name, each in coordinates.items() if np.ndim(each) == 1}  # tuples stay text

    def shown(group: Any) -> Any:
        group = group.drop_vars(hidden, errors="ignore")
        group = group.assign({name: each.astype(dtypes.get(name, each.dtype)) for name, each in group.items()})
        return group.assign_coords({name: each for name, each in coordinates.items() if name in group.dims})

    for group in ("posterior", "warmup_posterior"):
        change_group(trace, group, shown)
    trace.posterior.attrs.update(arviz.make_attrs(attributes, nutpie))
    data = {"constant_data": traces.find_constants(model), "observed_data": traces.find_observations(model)}
    if isinstance(trace, xarray.DataTree):
        for name, found in data.items():
            trace[name] = xarray.DataTree(dataset_of(model, found, sample_dims=[], inference_library=pymc))
        return trace
    for group in ("sample_stats", "warmup_sample_stats"):
        change_group(trace, group, lambda each: each.rename(STATISTICS))
    for name, found in data.items():
        if found:
            group = dataset_of(model, found, default_dims=[], library=pymc)
            numbers = [f"{each}_dim_0" for each, value in found.items() if np.ndim(value) == 0]
            trace.add_groups({name: group.squeeze(numbers, drop=True)})  # ArviZ makes vectors of numbers
    return trace


def change_group(trace: Any, name: str, change: Callable[[Any], Any]) -> None:
    """Replace a group of a trace by the result of a function, if there is such a group."""
    if isinstance(trace, xarray.DataTree):
        if name in trace.children:
            trace[name] = xarray.DataTree(change(trace[name].to_dataset()))
    elif name in trace.groups():
        setattr(trace, name, change(trace[name]))


def dataset_of(model: Any, arrays: dict[str, Any], **options: Any) -> Any:
    """Arrays with the dimensions and coordinates that the model gives them."""
    coordinates, dims = traces.coords_and_dims_for_inferencedata(model)
    return arviz.dict_to_dataset(arrays, coords=coordinates, dims=dims, **options)

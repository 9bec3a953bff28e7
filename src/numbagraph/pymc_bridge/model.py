"""PyMC models for nutpie's sampler, which calls native code without the GIL."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pymc as pm

from numbagraph.ir.later import Later
from numbagraph.ir.structs import Struct
from numbagraph.pymc_bridge.compatibility import compiled_model
from numbagraph.pymc_bridge.importer import ImportedGraph, UnsupportedOp
from numbagraph.pymc_bridge.logp import Parts
from numbagraph.pymc_bridge.native import Record, VectorFunction, VectorPart, parts_of
from numbagraph.pymc_bridge.sampling.initial_point import InitialPoint
from numbagraph.pymc_bridge.sampling.snapshot import Snapshot, unpickled
from numbagraph.runtime.garbage_collection import collector_at_rest
from numbagraph.tracing.tracebacks import for_users
from numbagraph.transforms.interpret import bind, check_entry, evaluate

if TYPE_CHECKING:
    from nutpie.compile_pymc import CompiledPyMCModel

    from numbagraph.pymc_bridge.sampling import native_model
else:  # nutpie takes a second to import
    native_model = Later("numbagraph.pymc_bridge.sampling.native_model")


@for_users
@collector_at_rest
def compile_model(
    model: Any = None,
    *,
    freeze: bool = True,
    var_names: Iterable[str] | None = None,
    initial_points: Mapping[Any, Any] | None = None,
    jitter: bool = True,
    default_initialization_strategy: str = "support_point",
) -> CompiledPyMCModel:
    """Compile a model for `nutpie.sample`.

    Parameters
    ----------
    model : pymc.Model, optional
        By default that of the context. All of its free variables are continuous.
    freeze
        Whether the model's data are constants. If not, ``with_data`` of the result replaces them, by others of which
        no variable of the model gets another shape.
    var_names : iterable of str, optional
        Which variables that follow from others are kept; all by default.
    initial_points : mapping, optional
        Where chains begin, for variables or their names; others begin where PyMC would.
    jitter
        Whether initial points are moved at random. Otherwise only those elements are by which the derivative is 0,
        of which nutpie cannot begin to adapt.
    default_initialization_strategy : {"support_point", "prior"}, optional
        Where a variable begins that says nothing about it.

    Returns
    -------
    nutpie.compile_pymc.CompiledPyMCModel
        Log-density, gradient, and all variables of a point, as native functions.

    Raises
    ------
    UnsupportedOp
        Where the model uses an op of PyTensor that has no translation.
    ValueError
        Where a free variable is discrete, or for a name that is not among the variables.

    Examples
    --------
    >>> import pymc as pm
    >>> with pm.Model() as model:
    ...     x = pm.HalfNormal("x", 1, shape=2)
    >>> compile_model(model).shapes
    {'x_log__': (2,), 'x': (2,)}
    """
    if not isinstance(initial_points or {}, Mapping):
        raise TypeError("initial points are one mapping from variables to values, which holds for all chains")
    snapshot = Snapshot(pm.modelcontext(model), freeze=freeze)
    initial = InitialPoint(
        snapshot.model,
        snapshot.names,
        jitter=jitter,
        strategy=default_initialization_strategy,
        overrides={getattr(each, "name", each): value for each, value in (initial_points or {}).items()},
    )
    return compiled_of(snapshot, initial, None if var_names is None else tuple(var_names))


@collector_at_rest
def restored(pickled: bytes) -> CompiledPyMCModel:
    """Compile a pickled model again."""
    snapshot, options = unpickled(pickled)
    adaptation = options.pop("adaptation")
    model = compiled_of(snapshot, **options)
    return model if adaptation is None else model.with_transform_adapt(**adaptation)


def compiled_of(snapshot: Snapshot, initial: InitialPoint, var_names: Sequence[str] | None) -> CompiledPyMCModel:
    """A model, compiled."""
    parts = Parts(snapshot)
    point = parts.point
    if not point.is_continuous:
        names = ", ".join(each.name for each in point.variables if np.dtype(each.type.dtype).kind != "f")
        raise ValueError(
            f"{names}: discrete free variables have no gradient; pm.sample has step methods for them, which are native "
            'code with compile_kwargs={"mode": "NUMBAGRAPH"}'
        )
    density = parts.density(gradient=True)
    variables = variables_behind(parts, var_names)
    expanded = expanded_graph(parts, variables)
    record = parts.record(density, expanded)
    shapes = shapes_of(parts, expanded, record.arrays)
    names = [*point.names, *(each.name for each in variables)]
    named_shapes = dict(zip(names, [*point.shapes, *shapes], strict=True))
    shape_info = (names, slices_of([*point.shapes, *shapes]), [*point.shapes, *shapes])
    density_function = parts.density_function(density, record, gradient=True)
    beginning = initial if initial.jitter else Beginning(initial, density_function)
    expand_function = expansion(parts, expanded, shapes, record)

    def shapes_with(data: Mapping[str, np.ndarray]) -> dict[str, tuple[int, ...]]:
        check_lengths(parts, data)
        arrays = {**record.arrays, **data}
        check_entry(density, bind(density, arguments(parts, density, np.zeros(point.size), arrays)))
        found = shapes_of(parts, expanded, arrays)
        return dict(zip(names[len(point.names) :], found, strict=True))

    return compiled_model(
        native_model.NativeModel,
        parts.shared,
        shapes_with=shapes_with,
        failures=parts.failures,
        recipe=Recipe(restored, snapshot, {"initial": initial, "var_names": var_names}, parts.shared),
        _n_dim=point.size,
        dims=dimensions(parts.model),
        _coords=coordinates(parts, named_shapes),
        _shapes=named_shapes,
        compiled_logp_func=density_function,  # nutpie asks for its `address` alone
        compiled_expand_func=expand_function,
        initial_point_func=beginning,
        shared_data={name: record.arrays[name] for name in parts.shared.values()},
        user_data=record.memory,
        n_expanded=expand_function.vectors.sizes[0],
        shape_info=shape_info,
        logp_func=density_function,
        expand_func=expand_function,
        reparameterized_names=transformed_names(parts.model),
    )


class Recipe(Struct, eq=False):
    """A pickled model's recipe: a function that makes a compiled model of pickled data, and those data."""

    make: Callable[[bytes], Any]
    snapshot: Snapshot
    options: Mapping[str, Any]
    shared: Mapping[Any, str]
    """The variables that hold data, and the names of the data."""

    def pickled(self, data: Mapping[str, np.ndarray], adaptation: Mapping[str, Any] | None) -> bytes:
        held = {each: data[name] for each, name in self.shared.items()}
        return self.snapshot.pickled({**self.options, "adaptation": adaptation}, held)


NUDGE = 0.01
"""The standard deviation of the random move of those elements of a point by which the derivative is 0."""


class Beginning:
    """Draws the vector that a chain begins with, where nutpie can adapt: it takes the first scales of the posterior
    from the derivatives there, and refuses 0, as they are at modes."""

    def __init__(self, initial: InitialPoint, density: VectorFunction) -> None:
        self.initial, self.density = initial, density

    def __call__(self, seed: int | None = None) -> np.ndarray:
        x = self.initial(seed)
        try:
            found = self.density.entry(x)
        except Exception:  # noqa: BLE001  the sampler meets it, too, and says so
            return x
        flat = found[1] == 0 if found is not NotImplemented else np.zeros(x.size, dtype=bool)
        return np.where(flat, x + np.random.default_rng(seed).normal(0, NUDGE, x.size), x)


def expanded_graph(parts: Parts, variables: Sequence[Any]) -> ImportedGraph:
    """The graph of the variables that follow from a point."""
    try:
        return parts.graph(variables, "expand", lambda values, _: values)
    except UnsupportedOp as error:
        error.add_note(
            "  The log-density does without it. Name the other variables in var_names; pm.compute_deterministics gives "
            "this one afterwards"
        )
        raise


def transformed_names(model: Any) -> list[str]:
    """The names of the variables that samplers see in place of others."""
    return [model.rvs_to_values[each].name for each in model.free_RVs if model.rvs_to_transforms[each] is not None]


def variables_behind(parts: Parts, var_names: Iterable[str] | None) -> list[Any]:
    """The variables that follow from those of a point: untransformed ones, and deterministic ones."""
    kept = parts.snapshot.order if var_names is None else known_names(parts.snapshot.order, var_names)
    rest = [each for each in parts.model.unobserved_value_vars if each.name not in parts.point.names]
    return sorted((each for each in rest if each.name in kept), key=lambda each: parts.snapshot.order[each.name])


def known_names(known: Collection[str], var_names: Iterable[str]) -> list[str]:
    names = list(var_names)
    unknown = [each for each in names if each not in known]
    if unknown:
        raise ValueError(f"{', '.join(unknown)}: not among the variables {', '.join(sorted(known))}")
    return names


def check_lengths(parts: Parts, data: Mapping[str, np.ndarray]) -> None:
    """Refuse data with other lengths than those that PyTensor knows."""
    for each, name in parts.shared.items():
        found = data[name].shape
        if any(known not in (None, length) for known, length in zip(each.type.shape, found, strict=True)):
            raise ValueError(f"{name!r} must have the shape {each.type.shape}, and {found} is another one")


def shapes_of(parts: Parts, graph: ImportedGraph, arrays: Mapping[str, np.ndarray]) -> list[tuple[int, ...]]:
    """The shapes of a graph's results. Where they depend on data, they are those for the data in ``arrays``."""
    if all(isinstance(extent, int) for output in graph.outputs for extent in output.shape):
        return [output.shape for output in graph.outputs]  # type: ignore[misc]
    point = InitialPoint(parts.model, parts.point.names, jitter=False)(0)
    return [np.shape(each) for each in evaluate(graph, arguments(parts, graph, point, arrays))]


def arguments(
    parts: Parts, graph: ImportedGraph, point: np.ndarray, arrays: Mapping[str, np.ndarray]
) -> list[np.ndarray]:
    """The arguments of a graph: the parts of a point, and data."""
    return [*parts.point.split(point), *(arrays[name] for name in parts.names(graph))]


def slices_of(shapes: Sequence[tuple[int, ...]]) -> list[slice]:
    return [slice(part.begin, part.begin + part.size) for part in parts_of(shapes)]


def expansion(parts: Parts, graph: ImportedGraph, shapes: Sequence[tuple[int, ...]], record: Record) -> VectorFunction:
    """The function that computes all variables of a point, which come first."""
    results: list[VectorPart] = parts_of(shapes, 0, parts.point.size)
    count = parts.point.size + sum(each.size for each in results)
    names, failures = parts.names(graph), parts.failures
    return VectorFunction(
        graph, parts.point.shapes, results, [count], record, names, with_point=True, failures=failures
    )


def dimensions(model: Any) -> dict[str, tuple[str, ...]]:
    """The dimensions of variables; one that has no name gets the one that ArviZ gives it."""
    return {
        name: tuple(f"{name}_dim_{axis}" if dim is None else dim for axis, dim in enumerate(dims))
        for name, dims in model.named_vars_to_dims.items()
    }


def as_nutpie_takes_it(values: Any) -> pd.Index:
    """Convert coordinates to the kinds that nutpie supports: other integers to int64, and anything that is neither
    number nor time to text.

    `sample` puts the model's own in their place.
    """
    index = pd.Index(list(values), tupleize_cols=False)
    if index.dtype.kind in "iu":
        return index.astype(np.int64)
    return index if index.dtype.kind in "fbmM" else pd.Index([str(each) for each in index], dtype=object)


def coordinates(parts: Parts, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, pd.Index]:
    """The model's coordinates, those of dimensions without any, and the names of a point's elements."""
    model, names = parts.model, parts.point.names
    found = {name: as_nutpie_takes_it(values) for name, values in model.coords.items() if values is not None}
    for name, dims in dimensions(model).items():
        for dim, length in zip(dims, shapes.get(name, ()), strict=False):
            found.setdefault(dim, pd.RangeIndex(length))
    if "unconstrained_parameter" in found:
        raise ValueError("'unconstrained_parameter' is a name that nutpie needs: the model's dimension needs another")
    elements = [
        f"{name}_{'.'.join(map(str, index))}" if index else name
        for name, shape in zip(names, parts.point.shapes, strict=True)
        for index in product(*map(range, shape))
    ]
    return {**found, "unconstrained_parameter": pd.Index(elements)}

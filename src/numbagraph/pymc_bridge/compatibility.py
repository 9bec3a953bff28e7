"""What differs between the versions of PyTensor and PyMC, so that no other file asks for a version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nutpie
import pymc
from arviz.data.base import dict_to_dataset, make_attrs
from pymc.backends.arviz import coords_and_dims_for_inferencedata, find_constants, find_observations
from pytensor.tensor import subtensor


def index_of(op: Any, indices: Sequence[Any]) -> tuple[Any, ...]:
    """The key of ``x[key]``, of the run-time inputs of a `Subtensor` or one of its kin."""
    pattern = getattr(op, "idx_list", None)
    if pattern is None:
        return tuple(indices)
    if any(isinstance(each, int) for each in _entries(pattern)):  # PyTensor 3: an entry is the place of its input
        return tuple(_filled(each, indices) for each in pattern)
    return tuple(subtensor.indices_from_subtensor(list(indices), pattern))


def _entries(pattern: Sequence[Any]) -> list[Any]:
    found = []
    for each in pattern:
        found += [each.start, each.stop, each.step] if isinstance(each, slice) else [each]
    return found


def _filled(entry: Any, indices: Sequence[Any]) -> Any:
    if isinstance(entry, slice):
        return slice(*(_filled(each, indices) for each in (entry.start, entry.stop, entry.step)))
    return indices[entry] if isinstance(entry, int) else entry


STATISTICS = {
    "depth": "tree_depth",
    "logp": "lp",
    "maxdepth_reached": "reached_max_treedepth",
    "mean_tree_accept": "acceptance_rate",
}
"""What PyMC calls the statistics of nutpie's sampler."""


def with_pymc_names(trace: Any) -> Any:
    """A trace whose statistics have the names that PyMC's own sampler gives them."""
    for group in ("sample_stats", "warmup_sample_stats"):
        if group in trace.groups():
            setattr(trace, group, trace[group].rename(STATISTICS))
    return trace


def without_variables(trace: Any, names: Sequence[str]) -> Any:
    """A trace without some variables."""
    for group in ("posterior", "warmup_posterior"):
        if group in trace.groups():
            setattr(trace, group, trace[group].drop_vars(names, errors="ignore"))
    return trace


def add_data_groups(trace: Any, model: Any, attributes: dict[str, Any]) -> Any:
    """A trace with the groups that PyMC adds: observed and constant data, and what is known of the sampling."""
    coordinates, dims = coords_and_dims_for_inferencedata(model)
    groups = {
        name: dict_to_dataset(find(model), library=pymc, coords=coordinates, dims=dims, default_dims=[])
        for name, find in (("constant_data", find_constants), ("observed_data", find_observations))
    }
    trace.posterior.attrs.update(make_attrs(attributes, library=nutpie))
    found = {name: group for name, group in groups.items() if group}
    if found:
        trace.add_groups(found)
    return trace

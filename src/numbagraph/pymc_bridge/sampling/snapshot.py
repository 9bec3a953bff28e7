"""A PyMC model as it is when it is compiled, which may be pickled and compiled again."""

from __future__ import annotations

from collections.abc import Mapping
from pickle import PicklingError
from typing import Any

import cloudpickle
import pymc as pm
import pytensor
from pymc.model.transform.optimization import freeze_dims_and_data
from pytensor.compile.sharedvalue import SharedVariable

from numbagraph.pymc_bridge.origin import copy_lines


def frozen(model: pm.Model) -> pm.Model:
    """The model with data and dimensions as constants, so that lengths are known.

    PyMC cannot freeze every model. What is not frozen is read once, when the model is compiled.
    """
    changing = (*model.dim_lengths.values(), *model.data_vars)
    if not any(isinstance(each, SharedVariable) for each in changing):
        return model
    try:
        with pytensor.config.change_flags(traceback__limit=0):  # the lines that copies are made on are not the user's
            found = freeze_dims_and_data(model)
    except (NotImplementedError, AssertionError):  # the latter for dimensions without a name
        return model
    copy_lines((each, found[name]) for name, each in model.named_vars.items())
    return found


class Snapshot:
    """A model, and data about it that freezing it would lose."""

    def __init__(self, original: pm.Model, *, freeze: bool) -> None:
        self.model: Any = frozen(original) if freeze else original
        self.freeze = freeze
        self.names = [original.rvs_to_values[variable].name for variable in original.free_RVs]
        """The names of the variables of a point, in their order."""
        self.order = {each.name: number for number, each in enumerate(original.unobserved_RVs)}
        """The variables that a trace has: freezing changes their order."""
        self.check_parameters = original.check_bounds
        self.contents = contents_of(self.model)
        self.read: dict[Any, Any] = {}
        """The contents of the shared variables that are constants in compiled code."""
        self.shapes: list[tuple[int, ...]] | None = None
        """The shapes of the variables of a point, once they are known."""
        self.density: Any = None
        """The log-density as PyTensor's graph, once it is known. PyMC finds that of a `pm.CustomDist` by its class,
        which is known in one process alone."""
        self.warned: set[str] = set()
        """The ops for which a warning that they are Python has been given."""

    def pickled(self, options: Mapping[str, Any], data: Mapping[Any, Any] | None = None) -> bytes:
        """The model with the options that it was compiled with, and with ``data`` in shared variables.

        Models have functions that `pickle` does not take; `cloudpickle` does.
        """
        if contents_of(self.model) != self.contents:
            raise PicklingError(
                "the model has other variables than when it was compiled, and it is the model that is pickled: "
                "compile it again"
            )
        try:
            return cloudpickle.dumps((self, dict(options), list({**self.read, **(data or {})}.items())))
        except Exception as error:
            raise PicklingError(
                f"the model has something that cannot be pickled: {error}. Build it where it is needed, and compile it "
                "there"
            ) from error


def contents_of(model: Any) -> list[str]:
    """The names of the parts of a model."""
    return [each.name for each in (*model.basic_RVs, *model.potentials, *model.deterministics)]


def unpickled(content: bytes) -> tuple[Snapshot, dict[str, Any]]:
    """Restore a model, which is then compiled, and its options."""
    snapshot, options, data = cloudpickle.loads(content)
    for variable, value in data:
        variable.set_value(value)
    return snapshot, options

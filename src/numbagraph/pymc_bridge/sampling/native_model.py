"""The class of compiled models: nutpie's own, with checks that nutpie lacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import ref

import numpy as np
from nutpie.compile_pymc import CompiledPyMCModel

from numbagraph.pymc_bridge.sampling.failures import Failures, WatchedSampler


@dataclass(frozen=True)
class NativeModel(CompiledPyMCModel):
    """nutpie's model, which reports an error in new data before a sampler runs."""

    shapes_with: Callable[[Mapping[str, np.ndarray]], Mapping[str, tuple[int, ...]]] = lambda _: {}
    """Computes the shapes of the variables that follow from a point, for given data."""

    failures: Failures = field(default_factory=Failures)
    """The record of failing calls of native code."""

    recipe: Any = None
    """The recipe by which a copy of the model is made when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        """The model and its data, compiled again where it is unpickled: the code is found on disk."""
        return self.recipe.make, (self.recipe.pickled(self.shared_data, self._transform_adapt_args),)

    def __copy__(self) -> NativeModel:
        return self

    def __deepcopy__(self, memo: object) -> NativeModel:
        return self

    def _make_sampler(self, *arguments: Any, **options: Any) -> WatchedSampler:
        run, failures, initial_point = self.failures.new_run(), self.failures, self.initial_point_func

        def beginning(seed: Any) -> np.ndarray:
            failures.require_going_on()
            return initial_point(seed)

        model = replace(self, initial_point_func=beginning)
        return WatchedSampler(super(NativeModel, model)._make_sampler(*arguments, **options), failures, run, ref(model))

    def with_data(self, **updates: Any) -> NativeModel:
        """The model with other data in the place of those with these names. Its variables keep their shapes.

        Raises
        ------
        KeyError
            For a name that is not among the data; of a model that was compiled with ``freeze=True`` none is.
        ValueError
            For data that would change the shape of a variable, or that the dtype of the data cannot hold.
        """
        if not self.shared_data:
            raise KeyError(f"{', '.join(updates)}: the data of this model are constants; compile it with freeze=False")
        for name, value in updates.items():
            if name in self.shared_data:
                require_kept(name, np.asarray(value), self.shared_data[name].dtype)
        changed = super().with_data(**updates)
        for name, shape in self.shapes_with(changed.shared_data).items():
            if shape != self._shapes[name]:
                raise ValueError(
                    f"with these data, {name!r} would have the shape {shape} instead of {self._shapes[name]}: "
                    "call pm.set_data, and compile the model anew"
                )
        return changed


def require_kept(name: str, value: np.ndarray, dtype: np.dtype) -> None:
    """Refuse numbers that a dtype would change by more than rounding; nutpie would convert them."""
    lost = value.dtype.kind == "c" and dtype.kind != "c"
    if dtype.kind in "biu" and not lost:
        with np.errstate(invalid="ignore"):
            lost = not np.array_equal(value.astype(dtype), value)
    if lost:
        raise ValueError(f"{name!r} holds {dtype}, which cannot hold these data ({value.dtype})")

"""`pm.sample` in one mode, and by way of `numbagraph.pymc_bridge.sample`.

Step methods get the mode that `pm.sample` is given. The function that computes all variables of each draw does not: it
is compiled in PyTensor's default mode, which takes longer than all the rest.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import pymc as pm
import pytensor
from pytensor.compile.mode import get_mode

from numbagraph.pymc_bridge.foreign import FallbackWarning
from numbagraph.pymc_bridge.importer import UnsupportedOp
from numbagraph.pymc_bridge.sampling.options import check_compiler, of_pymc
from numbagraph.pymc_bridge.sampling.sample import sample as sample_natively

SAMPLER = "numbagraph"

AT_ODDS = ("step", "trace", "callback", "nuts_sampler_kwargs")
"""Options with which `pm.sample` is PyMC's own sampler, where it is free to choose one."""


def in_one_mode(sample: Callable[..., Any], is_ours: Callable[[Any], bool]) -> Callable[..., Any]:
    """Wrap ``sample``, PyMC's own function. With ``nuts_sampler="numbagraph"``, or with numbagraph's backend and a
    model that it can take, numbagraph draws. Otherwise a mode of numbagraph becomes the default mode as well."""
    signature = inspect.signature(sample)

    @wraps(sample)
    def sample_in_one_mode(*arguments: Any, **options: Any) -> Any:
        given = signature.bind_partial(*arguments, **options).arguments
        if given.get("nuts_sampler") == SAMPLER:
            check_compiler(given, is_ours)
            return sample_natively(**of_pymc(given))
        mode = given.get("backend") or (given.get("compile_kwargs") or {}).get("mode")
        if mode is None or not is_ours(mode):
            return sample(*arguments, **options)
        if given.get("backend") and is_free(given):
            try:
                return sample_natively(**of_pymc(given))
            except UnsupportedOp as error:
                text = f"PyMC's own sampler draws, since the model's log-density is not one native function: {error}"
                warnings.warn(text, FallbackWarning, stacklevel=2)
        with pytensor.config.change_flags(mode=get_mode(mode)):
            return sample(*arguments, **options)

    return sample_in_one_mode


def is_free(given: Mapping[str, Any]) -> bool:
    """Whether `pm.sample` may choose a sampler for a model whose variables are continuous."""
    model = pm.modelcontext(given.get("model"))
    return (
        given.get("nuts_sampler") in (None, "nutpie")
        and bool(model.free_RVs)
        and not model.discrete_value_vars
        and all(given.get(name) is None for name in AT_ODDS)
        and given.get("init", "auto") == "auto"
        and given.get("return_inferencedata", True)
        and isinstance(given.get("initvals") or {}, Mapping)
    )


def install(is_ours: Callable[[Any], bool]) -> None:
    """Replace `pm.sample` by the wrapped function, once."""
    if not hasattr(pm.sample, "__wrapped__"):
        pm.sample = pm.sampling.sample = pm.sampling.mcmc.sample = in_one_mode(pm.sample, is_ours)

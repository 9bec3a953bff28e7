"""`pm.sample` in one mode: what PyMC compiles on the way without saying in which.

Step methods get the mode that `pm.sample` is given. The function that computes all variables of each draw does not: it
is compiled in PyTensor's default mode, which takes longer than all the rest.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import pymc as pm
import pytensor
from pytensor.compile.mode import get_mode


def in_one_mode(sample: Callable[..., Any], is_ours: Callable[[Any], bool]) -> Callable[..., Any]:
    """``sample``, for which the mode that it is given is the default one as well, if it is one of ours."""
    signature = inspect.signature(sample)

    @wraps(sample)
    def sample_in_one_mode(*arguments: Any, **options: Any) -> Any:
        given = signature.bind_partial(*arguments, **options).arguments
        mode = given.get("backend") or (given.get("compile_kwargs") or {}).get("mode")
        if mode is None or not is_ours(mode):
            return sample(*arguments, **options)
        with pytensor.config.change_flags(mode=get_mode(mode)):
            return sample(*arguments, **options)

    return sample_in_one_mode


def install(is_ours: Callable[[Any], bool]) -> None:
    """Put it in the place of `pm.sample`, once."""
    if not hasattr(pm.sample, "__wrapped__"):
        pm.sample = pm.sampling.sample = pm.sampling.mcmc.sample = in_one_mode(pm.sample, is_ours)

"""The options of `pymc.sample`, as `numbagraph.pymc_bridge.sample` and nutpie's sampler take them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

IN_MODE = 'use pm.sample(compile_kwargs={"mode": "NUMBAGRAPH"}), PyMC\'s own sampler on native code'

NOT_HERE = {
    "step": f"all variables are sampled by NUTS here; {IN_MODE}",
    "trace": f"draws are kept in memory here; {IN_MODE}",
    "callback": f"chains do not return to Python between draws here; {IN_MODE}",
    "save_warmup": "give discard_tuned_samples",
    "progress_bar": "give progressbar",
    "blocking": "nutpie.sample of compile_model takes it",
    "return_raw_trace": "nutpie.sample of compile_model takes it",
}
"""Options of PyMC and of nutpie's sampler that have another name here, or none, with what to use instead."""

NAMES = {"max_treedepth": "maxdepth"}
"""What nutpie calls options of PyMC's sampler."""

WITHOUT_EFFECT = frozenset({"mp_ctx", "progressbar_theme", "n_init", "jitter_max_retries", "keep_warning_stat"})
"""Options of PyMC about processes that there are none of, about its progress bar, and about its own ways to begin."""

STARTS = {"auto": True, "jitter+adapt_diag": True, "adapt_diag": False}
"""The values of ``init``, and whether initial points are moved at random."""

IDATA_KWARGS = ("log_likelihood", "log_prior", "include_transformed")


def understood(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options beside those that `sample` names itself, as nutpie takes them; refuses those that it cannot honour."""
    found = dict(options)
    for nested in ("nuts", "nuts_sampler_kwargs"):
        for name, value in (found.pop(nested, None) or {}).items():
            if name in found:
                raise ValueError(f"{name} was given twice: in {nested}, and on its own")
            found[name] = value
    if found.pop("return_inferencedata", True) is False:
        raise TypeError(f"sample returns what arviz takes: without return_inferencedata, {IN_MODE}")
    for name, advice in NOT_HERE.items():
        if found.get(name) is None:
            found.pop(name, None)
        if name in found:
            raise TypeError(f"sample has no {name}: {advice}")
    return {NAMES.get(name, name): value for name, value in found.items() if name not in WITHOUT_EFFECT}


def moves_at_random(init: str) -> bool:
    """Whether initial points are moved, by PyMC's name of a way to begin."""
    if init not in STARTS:
        raise ValueError(f"init is one of {', '.join(STARTS)}: nutpie adapts to the posterior itself, not {init!r}")
    return STARTS[init]


def kept_besides(idata_kwargs: Mapping[str, Any] | None) -> dict[str, Any]:
    """What a trace is to have beside draws, of ``idata_kwargs``."""
    found = dict(idata_kwargs or {})
    unknown = [name for name in found if name not in IDATA_KWARGS]
    if unknown:
        raise TypeError(f"idata_kwargs has no {', '.join(unknown)} here, but {', '.join(IDATA_KWARGS)}")
    return {name: value for name, value in found.items() if value not in (None, False)}


def seed_of(random_seed: Any, seed: Any) -> int | None:
    """One seed for all chains, of what NumPy and PyMC take as one."""
    if random_seed is not None and seed is not None:
        raise TypeError("seed is nutpie's name of random_seed: give one of them")
    given = seed if random_seed is None else random_seed
    if given is None or isinstance(given, Integral):
        if given is not None and int(given) < 0:
            raise ValueError(f"random_seed is not negative: {given}")
        return None if given is None else int(given)
    if isinstance(given, np.random.Generator):
        return int(given.integers(2**30))
    if isinstance(given, np.random.RandomState):
        return int(given.randint(2**30))
    if isinstance(given, (Sequence, np.ndarray)) and not isinstance(given, str) and len(given):
        numbers = [int(each) for each in given]
        return numbers[0] if len(numbers) == 1 else int(np.random.default_rng(numbers).integers(2**30))
    raise TypeError(f"random_seed is a number, several numbers, or a generator, not {given!r}")


def of_pymc(given: Mapping[str, Any]) -> dict[str, Any]:
    """What `pymc.sample` was given, for `numbagraph.pymc_bridge.sample`: with PyMC's own defaults."""
    found = {name: value for name, value in given.items() if name not in ("kwargs", "nuts_sampler", "backend")}
    found |= given.get("kwargs", {})
    found.pop("compile_kwargs", None)
    cores = found.get("cores") or min(4, os.cpu_count() or 1)
    found["chains"] = found.get("chains") or max(2, cores)
    for name in ("tune", "cores"):
        if found.get(name) is None:
            found.pop(name, None)
    return found

"""The options of `pymc.sample`, as `numbagraph.pymc_bridge.sample` and nutpie's sampler take them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

IN_MODE = 'use pm.sample(compile_kwargs={"mode": "NUMBAGRAPH"}), PyMC\'s own sampler on native code'

MASS = 'nutpie has another mass matrix with adaptation="low_rank" (low_rank_modified_mass_matrix=True before 0.16.9)'

NOT_HERE = {
    "step": f"all variables are sampled by NUTS here; {IN_MODE}",
    "trace": f"draws are kept in memory here; {IN_MODE}",
    "callback": f"chains do not return to Python between draws here; {IN_MODE}",
    "save_warmup": "give discard_tuned_samples",
    "progress_bar": "give progressbar",
    "start": "give initvals",
    "init_mean": "give initvals",
    "backend": "native code is made by numbagraph alone here, so that it is left out",
    "gradient_backend": "native code is made by numbagraph alone here, so that it is left out",
    "early_max_treedepth": "nutpie's trees have one limit, max_treedepth",
    "step_scale": f"nutpie adapts its step size itself; {IN_MODE}",
    "transform_adapt": f"flows need the densities that nutpie compiles with JAX; {MASS}",
}
for _name in ("blocking", "return_raw_trace", "zarr_store"):
    NOT_HERE[_name] = "nutpie.sample of compile_model takes it"
for _name in ("scaling", "is_cov", "potential"):
    NOT_HERE[_name] = f"nutpie adapts its mass matrix itself; {MASS}, or {IN_MODE}"
for _name in ("gamma", "k", "t0", "adapt_step_size", "step_rand"):
    NOT_HERE[_name] = f"nutpie adapts its step size itself; {IN_MODE}"
for _name in ("vars", "blocked", "dtype", "rng", "initial_point"):
    NOT_HERE[_name] = f"it is a parameter of PyMC's step method; {IN_MODE}"
"""Options of PyMC and of nutpie's sampler that have another name here, or none, with the advice for each."""

NAMES = {"max_treedepth": "maxdepth", "Emax": "max_energy_error"}
"""nutpie's names for options of PyMC's sampler."""

WITHOUT_EFFECT = frozenset({"mp_ctx", "progressbar_theme", "n_init", "jitter_max_retries", "keep_warning_stat"})
"""Options of PyMC that have no effect here: they concern its processes, its progress bar, and its own ways to begin."""

STARTS = {"auto": True, "jitter+adapt_diag": True, "jitter+adapt_diag_grad": True, "adapt_diag": False}
"""The values of ``init``, and whether initial points are moved at random."""

IDATA_KWARGS = ("log_likelihood", "log_prior", "include_transformed")


DEFAULT_ACCEPTANCE = 0.8


def understood(options: Mapping[str, Any]) -> dict[str, Any]:
    """Convert options that `sample` does not name itself to nutpie's; refuse those that it cannot honour."""
    found = dict(options)
    for nested in ("nuts", "nuts_sampler_kwargs"):
        options_inside = found.pop(nested, None) or {}
        if not isinstance(options_inside, Mapping):
            raise TypeError(f"{nested} is a mapping of options of the sampler, not {options_inside!r}")
        for name, value in options_inside.items():
            if found.get(name) is not None:
                raise ValueError(f"{name} was given twice: in {nested}, and on its own")
            found[name] = value
    if found.pop("return_inferencedata", True) is False:
        raise TypeError(f"sample returns what arviz takes: without return_inferencedata, {IN_MODE}")
    for name, advice in NOT_HERE.items():
        if found.get(name) is None:
            found.pop(name, None)
        if name in found:
            raise TypeError(f"sample has no {name}: {advice}")
    if found.get("adaptation") == "flow":
        raise TypeError(f"sample has no adaptation='flow': {NOT_HERE['transform_adapt']}")
    return {NAMES.get(name, name): value for name, value in found.items() if name not in WITHOUT_EFFECT}


def acceptance(target_accept: Any) -> float:
    """The rate at which steps should be accepted: PyMC's default, unless there is a number."""
    if target_accept is None:
        return DEFAULT_ACCEPTANCE
    if not isinstance(target_accept, Real) or not 0 < float(target_accept) < 1:
        raise ValueError(f"target_accept is a number between 0 and 1, not {target_accept!r}")
    return float(target_accept)


def moves_at_random(init: str) -> bool:
    """Whether initial points are moved, by PyMC's name of a way to begin."""
    if init not in STARTS:
        raise ValueError(
            f"init is one of {', '.join(STARTS)}, not {init!r}: nutpie adapts to the posterior itself. {MASS}"
        )
    return STARTS[init]


def kept_besides(idata_kwargs: Mapping[str, Any] | None) -> dict[str, Any]:
    """The groups that a trace has beside draws, from ``idata_kwargs``."""
    found = dict(idata_kwargs or {})
    unknown = [name for name in found if name not in IDATA_KWARGS]
    if unknown:
        raise TypeError(f"idata_kwargs has no {', '.join(unknown)} here, but {', '.join(IDATA_KWARGS)}")
    return {name: value for name, value in found.items() if value not in (None, False)}


def seed_of(random_seed: Any, seed: Any) -> int | None:
    """One seed for all chains, from anything that NumPy and PyMC take as a seed."""
    if random_seed is not None and seed is not None:
        raise TypeError("seed is nutpie's name of random_seed: give one of them")
    given = seed if random_seed is None else random_seed
    if isinstance(given, np.ndarray) and not given.ndim:
        given = given.item()
    if given is None or isinstance(given, Integral):
        return None if given is None else seed_of_number(int(given))
    if isinstance(given, (np.random.BitGenerator, np.random.SeedSequence)):
        given = np.random.default_rng(given)
    if isinstance(given, np.random.Generator):
        return int(given.integers(2**30))
    if isinstance(given, np.random.RandomState):
        return int(given.randint(2**30))
    if isinstance(given, (Sequence, np.ndarray)) and not isinstance(given, str) and len(given):
        numbers = [int(each) for each in given]
        first, *others = map(seed_of_number, numbers)
        return int(np.random.default_rng(numbers).integers(2**30)) if others else first
    raise TypeError(f"random_seed is a number, several numbers, or a generator, not {given!r}")


def seed_of_number(number: int) -> int:
    """A seed that nutpie takes, which is of 64 bits; larger ones are hashed, as NumPy does it."""
    if number < 0:
        raise ValueError(f"random_seed is not negative: {number}")
    return number if number < 2**64 else int(np.random.SeedSequence(number).generate_state(1, np.uint64)[0])


def of_pymc(given: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the arguments of `pymc.sample` to those of `numbagraph.pymc_bridge.sample`, with PyMC's own defaults."""
    found = {name: value for name, value in given.items() if name not in ("kwargs", "nuts_sampler", "backend")}
    found |= given.get("kwargs", {})
    found.pop("compile_kwargs", None)
    cores = found.get("cores") or min(4, os.cpu_count() or 1)
    found["chains"] = found.get("chains") or max(2, cores)
    for name in ("tune", "cores"):
        if found.get(name) is None:
            found.pop(name, None)
    return found


def check_compiler(given: Mapping[str, Any], is_ours: Callable[[Any], bool]) -> None:
    """Refuse arguments of `pymc.sample` for another compiler."""
    compile_kwargs = given.get("compile_kwargs") or {}
    mode = compile_kwargs.get("mode") or given.get("backend")
    if mode is not None and not is_ours(mode):
        raise TypeError(f"sample compiles with numbagraph, and not with {mode!r}: leave out backend and mode")
    others = ", ".join(name for name in compile_kwargs if name != "mode")
    if others:
        raise TypeError(f"sample has no {others} in compile_kwargs: initvals, var_names and freeze are its own options")

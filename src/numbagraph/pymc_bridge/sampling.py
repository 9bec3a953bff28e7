"""Sampling: nutpie's NUTS on natively compiled models, with the results that `pymc.sample` gives."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any, Literal

import numpy as np
import pymc as pm
from pymc.exceptions import SamplingError
from pymc.stats.convergence import SamplerWarning, log_warnings, run_convergence_checks, warn_divergences
from threadpoolctl import threadpool_limits

from numbagraph.pymc_bridge.compatibility import finished
from numbagraph.pymc_bridge.diagnosis import explain_failure
from numbagraph.pymc_bridge.model import compile_model, known_names


def sample(
    model: Any = None,
    *,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    cores: int | None = None,
    blas_cores: int | Literal["auto"] | None = "auto",
    seed: int | np.random.Generator | None = None,
    progressbar: bool = True,
    target_accept: float = 0.8,
    var_names: Iterable[str] | None = None,
    initvals: Mapping[Any, Any] | None = None,
    discard_tuned_samples: bool = True,
    compute_convergence_checks: bool = True,
    freeze: bool = True,
    **options: Any,
) -> Any:
    """Draw samples from the posterior of a model.

    Parameters
    ----------
    model : pymc.Model, optional
        By default that of the context. All of its free variables are continuous.
    draws, tune
        How many samples each chain draws, and how many it draws before to adapt itself.
    chains, cores
        How many chains there are, and how many of them run at a time: by default as many as the machine can.
    blas_cores
        Threads for large matrices while chains run, of all chains together: by default as many as ``cores``. Each
        chain has one at least. With None they are as many as the BLAS likes.
    seed : int or numpy.random.Generator, optional
        Equal seeds give equal samples.
    progressbar
        Whether to show how far the chains are.
    target_accept
        Between 0 and 1: larger values give smaller steps.
    var_names : iterable of str, optional
        The variables to keep; all by default.
    initvals : mapping, optional
        Where chains begin, for variables or their names.
    discard_tuned_samples
        Whether to forget what was drawn for the adaptation.
    compute_convergence_checks
        Whether to warn, as `pymc.sample` does, of divergences, of R-hat, and of small effective sample sizes.
    freeze
        Whether data and dimensions become constants before the model is compiled.
    **options
        Anything else that `nutpie.sample` takes, but ``blocking`` and ``return_raw_trace``.

    Returns
    -------
    arviz.InferenceData or xarray.DataTree
        What `pymc.sample` returns: posterior, sample statistics, observed and constant data.

    Raises
    ------
    UnsupportedOp
        Where the model uses an op of PyTensor that has no translation.
    ValueError
        Where a free variable is discrete, for a name that is not among the variables, or where draws, chains or cores
        are no such number.
    pymc.exceptions.SamplingError
        Where there are no free variables, or where the log-density is not finite where chains begin. If it cannot be
        evaluated there, the error is that of `CompiledLogp`, such as an IndexError that names a variable.

    Examples
    --------
    >>> import pymc as pm
    >>> with pm.Model() as model:
    ...     x = pm.Normal("x")
    >>> trace = sample(model, draws=50, tune=50, chains=2, seed=1, progressbar=False)
    >>> trace.posterior["x"].shape
    (2, 50)
    """
    model = pm.modelcontext(model)
    require_counts(draws=(draws, 1), tune=(tune, 0), chains=(chains, 1), cores=(cores, None if cores is None else 1))
    require_free(options)
    if not model.free_RVs:
        raise SamplingError("the model has no free variables, so there is nothing to sample")
    kept = None if var_names is None else known_names({each.name for each in model.unobserved_RVs}, var_names)
    compiled = compile_model(model, freeze=freeze, var_names=kept, initial_points=initvals)
    for each in (compiled.compiled_logp_func, compiled.compiled_expand_func):
        each.address  # noqa: B018  compiled when it is asked for, which is no time of sampling
    begin = time.time()
    with threadpool_limits(blas_threads(blas_cores, cores, chains), user_api="blas"):
        result = drawn(
            compiled,
            model,
            draws=draws,
            tune=max(tune, 1),  # nutpie's adaptation needs a sample
            chains=chains,
            cores=cores if cores is None else min(int(cores), chains),
            seed=seed_of(seed),
            progress_bar=progressbar,
            target_accept=target_accept,
            save_warmup=not discard_tuned_samples,
            **options,
        )
    attributes = {"sampling_time": time.time() - begin, "tuning_steps": tune}
    hidden = [name for name in compiled.shapes if name not in names_kept(model, kept)]
    trace = finished(result, model, hidden, attributes)
    if compute_convergence_checks:
        log_warnings(warnings_of(trace, model))
    return trace


def warnings_of(trace: Any, model: pm.Model) -> list[SamplerWarning]:
    """What PyMC's own checks say of a trace; where it has no free variable, there are only statistics to look at."""
    if any(each.name in trace.posterior for each in model.free_RVs):
        return run_convergence_checks(trace, model)
    return warn_divergences(trace)


def drawn(compiled: Any, model: pm.Model, **options: Any) -> Any:
    """What nutpie's sampler draws. Where it cannot begin, the error is one about the model."""
    import nutpie  # noqa: PLC0415  it takes a second where it brings Numba along

    try:
        return nutpie.sample(compiled, **options)
    except RuntimeError as error:
        failure = error
    except AttributeError as error:
        if set(options) <= set(inspect.signature(nutpie.sample).parameters):
            raise
        raise TypeError(f"{error}. sample has nutpie's options; seed is what pm.sample calls random_seed") from error
    explain_failure(compiled, model)
    raise failure


def blas_threads(blas_cores: int | str | None, cores: int | None, chains: int) -> int | None:
    """How many threads the BLAS has for a chain, where they are limited."""
    if blas_cores is None:
        return None
    at_a_time = os.cpu_count() or 1 if cores is None else cores
    total = at_a_time if blas_cores == "auto" else blas_cores
    if isinstance(total, str) or not isinstance(total, Integral) or total < 1:
        raise ValueError(f"blas_cores is a number of threads, 'auto' or None, not {blas_cores!r}")
    return max(1, int(total) // max(1, min(at_a_time, int(chains))))


def require_counts(**counts: tuple[Any, int | None]) -> None:
    """Each is a number, of at least so much; where that is None, it is left to nutpie."""
    for name, (found, least) in counts.items():
        if least is not None and (not isinstance(found, Integral) or found < least):
            raise ValueError(f"{name} is a whole number of at least {least}, not {found!r}")


OWN = {
    "save_warmup": "give discard_tuned_samples",
    "progress_bar": "give progressbar",
    "blocking": "nutpie.sample of compile_model takes it",
    "return_raw_trace": "nutpie.sample of compile_model takes it",
}
"""Options of nutpie's sampler that have another name here, or whose results are no finished samples."""


def require_free(options: Mapping[str, Any]) -> None:
    for name in options:
        if name in OWN:
            raise TypeError(f"sample has no {name}: {OWN[name]}")


def seed_of(seed: int | np.random.Generator | None) -> int | None:
    return int(seed.integers(2**30)) if isinstance(seed, np.random.Generator) else seed


def names_kept(model: pm.Model, var_names: list[str] | None) -> list[str]:
    """The variables that a trace has: transformed ones are not among them."""
    names = [each.name for each in model.unobserved_RVs]
    return names if var_names is None else [name for name in names if name in var_names]

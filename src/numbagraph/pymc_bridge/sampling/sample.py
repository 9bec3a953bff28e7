"""Sampling: nutpie's NUTS on natively compiled models, with the results that `pymc.sample` gives."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, Literal

import numpy as np
import pymc as pm
from pymc.exceptions import SamplingError
from pymc.stats.convergence import SamplerWarning, log_warnings, run_convergence_checks, warn_divergences
from pymc.stats.log_density import compute_log_likelihood, compute_log_prior
from threadpoolctl import threadpool_limits

from numbagraph.forking import importing
from numbagraph.pymc_bridge.compatibility import finished
from numbagraph.pymc_bridge.model import compile_model, known_names
from numbagraph.pymc_bridge.sampling.diagnosis import explain_failure
from numbagraph.pymc_bridge.sampling.interrupted import is_whole, uninterrupted
from numbagraph.pymc_bridge.sampling.options import acceptance, kept_besides, moves_at_random, seed_of, understood

Seed = int | Sequence[int] | np.ndarray | np.random.Generator | np.random.RandomState | None


def sample(
    model: Any = None,
    *,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    cores: int | None = None,
    blas_cores: int | Literal["auto"] | None = "auto",
    random_seed: Seed = None,
    seed: Seed = None,
    progressbar: bool | str = True,
    quiet: bool = False,
    target_accept: float | None = None,
    init: str = "auto",
    var_names: Iterable[str] | None = None,
    initvals: Mapping[Any, Any] | None = None,
    discard_tuned_samples: bool = True,
    compute_convergence_checks: bool = True,
    idata_kwargs: Mapping[str, Any] | None = None,
    freeze: bool = True,
    **options: Any,
) -> Any:
    """Draw samples from the posterior of a model.

    Ctrl-C ends the chains, and the draws so far are returned: as many of each chain, of those chains for which there
    are most in all.

    Where a Python op of the model raises ValueError, ArithmeticError, or an exception whose attribute
    ``is_recoverable`` is True, the point is rejected, as one of density zero is. A `RejectionWarning` says how often,
    and so does the attribute ``rejected_points`` of the posterior. Any other exception ends the chains.

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
    random_seed : int, sequence of int, numpy.random.Generator or numpy.random.RandomState, optional
        Equal seeds give equal samples.
    seed : int or others, optional
        nutpie's name of ``random_seed``.
    progressbar
        Whether to show how far the chains are.
    quiet
        Whether to say nothing: no progress, and no warnings of convergence.
    target_accept
        Between 0 and 1: larger values give smaller steps. By default 0.8.
    init : {"auto", "jitter+adapt_diag", "adapt_diag"}
        With the last one, chains begin where PyMC would, and not at points that are moved at random: but where a
        derivative is 0 there, of which nutpie could not begin to adapt, that variable is moved by about 0.01.
    var_names : iterable of str, optional
        The variables to keep; all by default.
    initvals : mapping, optional
        Where chains begin, for variables or their names.
    discard_tuned_samples
        Whether to forget what was drawn for the adaptation.
    compute_convergence_checks
        Whether to warn, as `pymc.sample` does, of divergences, of R-hat, and of small effective sample sizes.
    idata_kwargs : mapping, optional
        What the result has beside draws: ``log_likelihood`` and ``log_prior`` (True, or names of variables),
        ``include_transformed`` (True).
    freeze
        Whether data and dimensions become constants before the model is compiled.
    **options
        ``nuts``, a mapping of options of the sampler, or these themselves (``max_treedepth``), and anything else that
        `nutpie.sample` takes, but ``blocking`` and ``return_raw_trace``. Of what `pymc.sample` takes, ``step``,
        ``trace`` and ``callback`` are refused, and what is about its processes has no effect.

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
    TypeError
        For an option that there is not, with what to use instead.
    pymc.exceptions.SamplingError
        Where there are no free variables, or where the log-density is not finite where chains begin. If it cannot be
        evaluated there, the error is that of `CompiledLogp`, such as an IndexError that names a variable. If a Python
        op of the model raised an exception, or a variable of a draw cannot be computed, the exception is the cause.

    Examples
    --------
    >>> import pymc as pm
    >>> with pm.Model() as model:
    ...     x = pm.Normal("x")
    >>> trace = sample(model, draws=50, tune=50, chains=2, random_seed=1, progressbar=False)
    >>> trace.posterior["x"].shape
    (2, 50)
    """
    if isinstance(model, Integral):
        raise TypeError(f"the model comes first here; write draws={model}")
    model, given = pm.modelcontext(model), understood({**options, "target_accept": target_accept})
    accepted = acceptance(given.pop("target_accept"))
    besides, one_seed = kept_besides(idata_kwargs), seed_of(random_seed, seed)
    require_counts(draws=(draws, 1), tune=(tune, 0), chains=(chains, 1), cores=(cores, None if cores is None else 1))
    if not model.free_RVs:
        raise SamplingError("the model has no free variables, so there is nothing to sample")
    kept = None if var_names is None else known_names({each.name for each in model.unobserved_RVs}, var_names)
    compiled = compile_model(
        model, freeze=freeze, var_names=kept, initial_points=initvals, jitter=moves_at_random(init)
    )
    for each in (compiled.compiled_logp_func, compiled.compiled_expand_func):
        each.address  # noqa: B018  compiled when it is asked for, which is no time of sampling
    begin = time.time()
    compiled.failures.is_quiet = quiet
    with threadpool_limits(blas_threads(blas_cores, cores, chains), user_api="blas"):
        result = drawn(
            compiled,
            model,
            draws=draws,
            tune=max(tune, 1),  # nutpie's adaptation needs a sample
            chains=chains,
            cores=cores if cores is None else min(int(cores), chains),
            seed=one_seed,
            progress_bar=bool(progressbar) and not quiet,
            target_accept=accepted,
            save_warmup=not discard_tuned_samples,
            **unconstrained(bool(besides.get("include_transformed"))),
            **given,
        )
    if not is_whole(result):
        uninterrupted(result, draws)
    attributes = {"sampling_time": time.time() - begin, "tuning_steps": tune, **rejections(compiled)}
    shown = compiled.shapes if "include_transformed" in besides else names_kept(model, kept)
    trace = finished(result, model, [name for name in compiled.shapes if name not in shown], attributes)
    add_densities(trace, model, besides)
    if compute_convergence_checks and not quiet:
        log_warnings(warnings_of(trace, model))
    return trace


def rejections(compiled: Any) -> dict[str, int]:
    """The number of points that were rejected because an exception was raised there, as an attribute of a trace."""
    return {"rejected_points": compiled.failures.count} if compiled.failures.count else {}


def add_densities(trace: Any, model: pm.Model, wanted: Mapping[str, Any]) -> None:
    """Add the log-densities of observations and of free variables to a trace, computed in the mode ``NUMBAGRAPH``."""
    options = {"model": model, "progressbar": False, "compile_kwargs": {"mode": "NUMBAGRAPH"}}
    for name, compute in (("log_likelihood", compute_log_likelihood), ("log_prior", compute_log_prior)):
        if name in wanted:
            compute(trace, var_names=None if wanted[name] is True else list(wanted[name]), **options)


def warnings_of(trace: Any, model: pm.Model) -> list[SamplerWarning]:
    """The warnings of PyMC's own checks of a trace; without free variables, only statistics are checked."""
    if any(each.name in trace.posterior for each in model.free_RVs):
        return run_convergence_checks(trace, model)
    return warn_divergences(trace)


def drawn(compiled: Any, model: pm.Model, **options: Any) -> Any:
    """Draw by nutpie's sampler. If it cannot begin, raise an error about the model."""
    with importing:
        import nutpie  # noqa: PLC0415  it takes a second where it brings Numba along

    try:
        return nutpie.sample(compiled, **options)
    except SamplingError:
        raise
    except RuntimeError as error:
        failure = error
    except AttributeError as error:
        if set(options) <= set(inspect.signature(nutpie.sample).parameters):
            raise
        raise TypeError(f"{error}: sample has the options of pm.sample and of nutpie's sampler") from error
    explain_failure(compiled, model)
    raise failure


def unconstrained(are_kept: bool) -> dict[str, Any]:
    """The option of those versions of nutpie that have transformed variables in a group of their own."""
    with importing:
        import nutpie  # noqa: PLC0415

    name = "store_unconstrained"
    return {name: True} if are_kept and name in inspect.signature(nutpie.sample).parameters else {}


def blas_threads(blas_cores: int | str | None, cores: int | None, chains: int) -> int | None:
    """The number of BLAS threads for a chain; None if they are not limited."""
    if blas_cores is None:
        return None
    at_a_time = os.cpu_count() or 1 if cores is None else cores
    total = at_a_time if blas_cores == "auto" else blas_cores
    if isinstance(total, str) or not isinstance(total, Integral) or total < 1:
        raise ValueError(f"blas_cores is a number of threads, 'auto' or None, not {blas_cores!r}")
    return max(1, int(total) // max(1, min(at_a_time, int(chains))))


def require_counts(**counts: tuple[Any, int | None]) -> None:
    """Require each to be a number, and at least a minimum; without a minimum the check is left to nutpie."""
    for name, (found, least) in counts.items():
        if least is not None and (not isinstance(found, Integral) or found < least):
            raise ValueError(f"{name} is a whole number of at least {least}, not {found!r}")


def names_kept(model: pm.Model, var_names: list[str] | None) -> list[str]:
    """The variables that a trace has: transformed ones are not among them."""
    names = [each.name for each in model.unobserved_RVs]
    return names if var_names is None else [name for name in names if name in var_names]

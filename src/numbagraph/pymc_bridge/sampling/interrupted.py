"""Traces whose sampling was interrupted: chains of which some are shorter than others."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from numbagraph.pymc_bridge.compatibility import change_group

LOG_DENSITY = "logp"
"""The statistic of nutpie's that is NaN where a chain had no draw any more, and only there."""


def lengths_of(trace: Any) -> np.ndarray:
    """The number of draws of each chain."""
    return np.isfinite(trace.sample_stats[LOG_DENSITY].transpose("chain", "draw").values).sum(axis=1)


def is_whole(trace: Any) -> bool:
    """Whether all chains have all draws that there is memory for, and there are some."""
    lengths = lengths_of(trace)
    return bool(lengths.size) and lengths.min() == trace.posterior.sizes["draw"] > 0


def uninterrupted(trace: Any, draws: int) -> None:
    """Leave as many draws of each chain in a trace; KeyboardInterrupt where there are none.

    As in PyMC, those chains stay with which there are most draws in all.
    """
    lengths = lengths_of(trace)
    longest = np.argsort(-lengths, kind="stable")
    totals = lengths[longest] * np.arange(1, lengths.size + 1)
    if not lengths.size or not totals.max():
        raise KeyboardInterrupt
    chosen = np.sort(longest[: int(totals.argmax()) + 1])
    kept = int(lengths[chosen].min())
    for name in ("posterior", "sample_stats"):
        change_group(trace, name, lambda group: group.isel(chain=chosen, draw=slice(kept)))
    for name in ("warmup_posterior", "warmup_sample_stats"):
        change_group(trace, name, lambda group: group.isel(chain=chosen))
    text = f"Sampling was interrupted: {kept} of {draws} draws of {chosen.size} of {lengths.size} chains are there."
    logging.getLogger("pymc").warning(text)

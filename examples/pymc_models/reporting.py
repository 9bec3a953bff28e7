"""What the demonstrations have in common: sampling, a table of convergence, and plots."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import arviz
import numpy as np
import pymc as pm
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from numbagraph.pymc_bridge import sample

MANY = 30
"""Above so many intervals, a forest stands on its side, along the coordinate."""


@dataclass(frozen=True)
class Forest:
    """A plot of the intervals of all elements of a variable, beside what they are to be compared with."""

    variable: str
    label: str
    marks: Callable[[], np.ndarray] | None = None
    mark_label: str = ""


@dataclass(frozen=True)
class Demonstration:
    """A model, and which of its variables are shown."""

    title: str
    build: Callable[[], pm.Model]
    parameters: tuple[str, ...]
    forests: tuple[Forest, ...]
    target_accept: float = 0.9


def run(name: str, shown: Demonstration, folder: Path, options: dict[str, Any]) -> None:
    """Sample a model, print how long it took and how well chains agree, and save plots."""
    console = Console()
    console.rule(shown.title)
    begin = time.perf_counter()
    model = shown.build()
    built = time.perf_counter()
    trace = sample(model, target_accept=shown.target_accept, **options)
    done = time.perf_counter()
    sampling = trace.posterior.attrs["sampling_time"]
    console.print(convergence(trace, shown.parameters))
    console.print(f"model built in {built - begin:.2f} s, compiled in {done - built - sampling:.2f} s, ", end="")
    console.print(f"sampled in {sampling:.2f} s; {divergences(trace)} divergences")
    for kind, figure in (("trace", trace_plot(trace, shown)), ("forest", forest_plot(trace, shown))):
        path = folder / f"{name}-{kind}.png"
        figure.savefig(path, dpi=90)
        console.print(f"saved {path}", soft_wrap=True)


def divergences(trace: Any) -> int:
    return int(trace.sample_stats["diverging"].sum())


def elements(trace: Any, name: str) -> list[tuple[str, np.ndarray]]:
    """Each element of a variable by its name, with its draws (chain, draw)."""
    variable = trace.posterior[name]
    inner = [dim for dim in variable.dims if dim not in ("chain", "draw")]
    if not inner:
        return [(name, variable.to_numpy())]
    stacked = variable.stack(element=inner).transpose("chain", "draw", "element")
    labels = [" ".join(map(str, key)) if isinstance(key, tuple) else str(key) for key in stacked["element"].to_numpy()]
    return [(f"{name}: {label}", stacked.to_numpy()[..., number]) for number, label in enumerate(labels)]


def convergence(trace: Any, parameters: Sequence[str]) -> Table:
    """Means, intervals, R-hat and effective sample sizes."""
    table = Table(box=None)
    for heading in ("", "mean", "sd", "5 %", "95 %", "R-hat", "bulk ESS", "tail ESS"):
        table.add_column(heading, justify="right" if heading else "left")
    for name in parameters:
        for label, draws in elements(trace, name):
            low, high = np.quantile(draws, (0.05, 0.95))
            sizes = [float(arviz.ess(draws)), float(arviz.ess(draws, method="tail", prob=(0.05, 0.95)))]
            numbers = (f"{each:.2f}" for each in (draws.mean(), draws.std(), low, high))
            table.add_row(label, *numbers, f"{float(arviz.rhat(draws)):.3f}", *(f"{each:.0f}" for each in sizes))
    return table


def trace_plot(trace: Any, shown: Demonstration) -> Figure:
    """For each parameter its density and its draws, a colour a chain for a number, one an element for an array."""
    count = len(shown.parameters)
    figure = Figure(figsize=(10, 1.6 * count + 0.8), layout="constrained")
    figure.suptitle(shown.title)
    rows = figure.subplots(count, 2, squeeze=False)
    for (density, draws), name in zip(rows, shown.parameters, strict=True):
        parts = elements(trace, name)
        for number, (label, values) in enumerate(parts):
            element = label.partition(": ")[2]
            for chain, series in enumerate(values):
                colour = f"C{number if len(parts) > 1 else chain}"
                density.plot(*kernel_density(series), color=colour, linewidth=1, label=None if chain else element)
                draws.plot(series, color=colour, linewidth=0.3, alpha=0.6)
        density.set_title(name, loc="left", fontsize=10)
        density.set_yticks([])
        density.set_ylim(bottom=0)
        if len(parts) > 1:
            density.legend(fontsize=8, frameon=False)
    rows[-1][0].set_xlabel("value")
    rows[-1][1].set_xlabel("draw")
    return figure


def kernel_density(values: np.ndarray, points: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Silverman's estimate of a density."""
    spread = min(values.std(), np.subtract(*np.quantile(values, (0.75, 0.25))) / 1.34)
    width = 0.9 * spread * values.size**-0.2
    x = np.linspace(values.min(), values.max(), points)
    return x, np.exp(-0.5 * ((x[:, None] - values) / width) ** 2).mean(axis=1) / (width * np.sqrt(2 * np.pi))


def forest_plot(trace: Any, shown: Demonstration) -> Figure:
    """Medians with intervals that hold 50 and 90 percent of the draws."""
    names = [[label.partition(": ")[2] for label, _ in elements(trace, each.variable)] for each in shown.forests]
    along = any(len(each) > MANY for each in names)
    figure = Figure(figsize=(10, 4.5 if along else 1.5 + 0.3 * max(map(len, names))), layout="constrained")
    figure.suptitle(shown.title)
    axes = figure.subplots(1, len(shown.forests), squeeze=False)[0]
    for axis, forest, labels in zip(axes, shown.forests, names, strict=True):
        draws = np.array([values.ravel() for _, values in elements(trace, forest.variable)])
        marks = None if forest.marks is None else forest.marks()
        (intervals_along if along else intervals)(axis, draws, labels, marks, forest)
        if marks is not None:
            axis.legend(fontsize=8, frameon=False)
    return figure


def intervals(axis: Any, draws: np.ndarray, labels: list[str], marks: np.ndarray | None, forest: Forest) -> None:
    """One below the other."""
    places = np.arange(len(labels))
    axis.hlines(places, *np.quantile(draws, (0.05, 0.95), axis=1), color="C0", linewidth=1)
    axis.hlines(places, *np.quantile(draws, (0.25, 0.75), axis=1), color="C0", linewidth=4)
    axis.plot(np.median(draws, axis=1), places, "o", color="white", markeredgecolor="C0", markersize=6)
    if marks is not None:
        axis.plot(marks, places, "x", color="C3", markersize=8, label=forest.mark_label)
    axis.set_yticks(places, labels)
    axis.set_ylim(len(labels) - 0.4, -0.6)
    axis.set_xlabel(forest.label)
    axis.grid(axis="x", alpha=0.3)


def intervals_along(axis: Any, draws: np.ndarray, labels: list[str], marks: np.ndarray | None, forest: Forest) -> None:
    """Side by side, in the order of the coordinate."""
    places = np.arange(len(labels))
    axis.vlines(places, *np.quantile(draws, (0.05, 0.95), axis=1), color="C0", linewidth=1, alpha=0.6)
    axis.vlines(places, *np.quantile(draws, (0.25, 0.75), axis=1), color="C0", linewidth=3)
    axis.plot(places, np.median(draws, axis=1), ".", color="white", markersize=4)
    if marks is not None:
        axis.plot(places, marks, "x", color="C3", markersize=4, label=forest.mark_label)
    ticks = places[:: max(1, len(labels) // 10)]
    axis.set_xticks(ticks, [labels[each] for each in ticks])
    axis.set_ylabel(forest.label)
    axis.set_xlim(-1, len(labels))
    axis.grid(axis="y", alpha=0.3)

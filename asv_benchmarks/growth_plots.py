"""The plots of `growth`: one panel for each group of families, time or memory by size."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .growth_fits import Growth

PANELS = {
    "trips of a loop": ("trips", "trips, gradient"),
    "operations in a row": ("chain", "chain, gradient", "chain of numbers", "second derivative"),
    "random graphs": ("random graph",),
    "arguments and results": ("arguments", "results", "lengths"),
    "choices": ("where", "where, gradient"),
    "depth of loops": ("nested loops", "nested loops, gradient"),
    "depth of regions": ("regions", "regions, gradient"),
    "variables of PyMC models": ("model",),
}
LABELS = {"seconds": "seconds", "bytes": "MiB"}
SCALES = {"seconds": 1.0, "bytes": 2.0**-20}
COLUMNS = 4


def draw(found: Mapping[str, Growth], quantity: str) -> Figure:
    mpl.use("Agg")
    titles = {title: names for title, names in PANELS.items() if any(name in found for name in names)}
    columns = min(COLUMNS, len(titles))
    lines = -(-len(titles) // columns)
    figure = Figure(figsize=(3.1 * columns, 2.9 * lines))
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    for axes, (title, names) in zip(panels, titles.items(), strict=False):
        for number, name in enumerate(names):
            if name in found:
                plot(axes, found[name], name, SCALES[quantity], "os^D"[number])
        axes.set(xscale="log", yscale="log")
        axes.set_title(title, fontsize=10)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=7)
    for axes in panels[len(titles) :]:
        axes.set_axis_off()
    for row in range(lines):
        panels[row * columns].set_ylabel(LABELS[quantity])
    figure.tight_layout()
    return figure


def plot(axes: Axes, growth: Growth, name: str, scale: float, marker: str) -> None:
    """The points, and behind them a line for what grows in proportion to the size."""
    sizes = np.array(sorted(growth.points))
    values = scale * np.array([growth.points[size] for size in sizes.tolist()])
    (drawn,) = axes.plot(sizes, np.maximum(values, scale * 2.0**-10), label=name, marker=marker, markersize=4)
    if growth.exponent:
        linear = scale * (growth.first + growth.per_unit * (sizes - sizes[0]))
        axes.plot(sizes, linear, color=drawn.get_color(), alpha=0.4, linestyle=":")

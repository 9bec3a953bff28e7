"""The plots of the page of benchmarks."""

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

if TYPE_CHECKING:
    from .page import Row

OURS = "numbagraph"
COLOURS = {name: f"C{number}" for number, name in enumerate((OURS, "numpy", "numba", "numexpr", "jax", "pytensor"))}
MARKERS = dict(zip(COLOURS, "o^sDvP", strict=True))


def draw(sections: dict[str, list["Row"]], folder: Path) -> dict[str, str]:
    """Draw what has a plot; the names of the files by section."""
    mpl.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    made = {}
    for what, plot in PLOTS.items():
        if what in sections:
            made[what] = f"benchmarks-{what.replace(' ', '-')}.png"
            plot(sections[what]).savefig(folder / made[what], dpi=100, bbox_inches="tight")
    return made


def style(name: str) -> dict[str, str]:
    return {"color": COLOURS.get(name, "0.5"), "marker": MARKERS.get(name, "x")}


def systems(rows: list["Row"]) -> list[str]:
    """In the order of the colours."""
    found = {name for row in rows for name in row.times}
    return [name for name in COLOURS if name in found] + sorted(found - set(COLOURS))


def ratios(rows: list["Row"]) -> Figure:
    """One line of dots a workload: each peer's time over ours."""
    figure = Figure(figsize=(7, 1.2 + 0.28 * len(rows)))
    axes = figure.subplots()
    places = np.arange(len(rows))[::-1]
    for name in systems(rows):
        found = [(row.ratios()[name], place) for row, place in zip(rows, places, strict=True) if name in row.ratios()]
        if found:
            axes.scatter(*zip(*found, strict=True), label=name, s=28, **style(name))
    axes.axvline(1.0, color="0.5", linewidth=1)
    axes.set_xscale("log")
    axes.set_yticks(places, [row.label for row in rows])
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel(f"time over {OURS}'s")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def by_size(rows: list["Row"]) -> Figure:
    """Time by size, a panel for each workload."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.workload, []).append(row)
    columns = min(3, len(groups))
    lines = -(-len(groups) // columns)
    figure = Figure(figsize=(3.2 * columns, 2.7 * lines))
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    for axes, (workload, own) in zip(panels, groups.items(), strict=False):
        for name in systems(rows):
            points = [(row.size, row.times[name]) for row in own if name in row.times]
            if points:
                axes.plot(*zip(*points, strict=True), label=name, markersize=4, **style(name))
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(workload, fontsize=10)
        if own[-1].size < 100 * own[0].size:  # powers of ten would be few
            axes.xaxis.set_minor_locator(NullLocator())
            axes.set_xticks([row.size for row in own], [f"{row.size:,}" for row in own])
        axes.grid(alpha=0.3)
    for axes in panels[len(groups) :]:
        axes.set_axis_off()
    panels[0].set_ylabel("seconds")
    figure.tight_layout()
    shown: dict[str, Line2D] = {}
    for axes in panels[: len(groups)]:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            shown.setdefault(label, handle)
    figure.legend(shown.values(), shown.keys(), loc="upper center", ncols=6, bbox_to_anchor=(0.5, 0.0))
    return figure


PLOTS = {
    "run": ratios,
    "scaling": by_size,
    "compile": ratios,
    "growth": by_size,
    "kernels medium": ratios,
    "kernels first call": ratios,
}

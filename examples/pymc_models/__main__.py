"""Sample models of several kinds with numbagraph, and plot what comes out: `make demo-pymc`."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

from reporting import run

NAMES = (
    "hierarchical_regression",
    "gaussian_process",
    "mixture",
    "stochastic_volatility",
    "predator_prey",
    "pharmacokinetics",
)
FOLDER = Path(__file__).parents[2] / "build" / "demo-pymc"


def main() -> None:
    parser = argparse.ArgumentParser(prog="make demo-pymc", description=__doc__)
    parser.add_argument("--models", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where plots go (default: build/demo-pymc)")
    parser.add_argument("--draws", type=int, default=1000, help="how many each chain keeps (default: 1000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--progressbar", action="store_true", help="show how far the chains are")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    settings = {"draws": options.draws, "tune": 1000, "seed": options.seed, "progressbar": options.progressbar}
    for name in options.models:
        run(name.replace("_", "-"), import_module(name).DEMONSTRATION, options.folder, settings)


if __name__ == "__main__":
    main()

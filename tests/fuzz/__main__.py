"""``python -m tests.fuzz NAME [--minutes M] [--seed N] [--case K] [--limit S]``: run a fuzzer, say what it found."""

import argparse
import importlib
import itertools
import secrets
import sys

from tests.fuzz.watch import run_watched

FUZZERS = (
    "statements",
    "gradients",
    "loops",
    "nests",
    "late_loops",
    "compositions",
    "captured",
    "sequences",
    "storage",
    "choices",
    "surface",
    "pytensor_graphs",
    "models",
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("name", choices=FUZZERS)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=None, help="a new one by default, which is printed")
    parser.add_argument("--case", type=int, default=None, help="run this case alone")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds after which a case is taken to hang")
    options = parser.parse_args()
    fuzzer = importlib.import_module(f"tests.fuzz.{options.name}")
    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    print(f"{options.name}, seed {seed}", flush=True)
    numbers = itertools.count() if options.case is None else [options.case]

    def found(number: int, difference: str) -> None:
        print(f"--- case {number}\n{difference}", flush=True)

    limits = {"limit": options.limit, "seconds": 60 * options.minutes}
    report = run_watched(fuzzer.case, seed, numbers, **limits, found=found)
    print(report.text(fuzzer.names()))
    return bool(report.differences)


if __name__ == "__main__":
    sys.exit(main())

"""numbagraph and its peers side by side: `python -m asv_benchmarks.compare --help`."""

import argparse
import sys
from pathlib import Path

from . import threads

PYMC = "pymc"
"""The workloads that have a module of their own, with options of its own."""
KINDS = ("run", "scaling", "compile", "second", "overhead", "functions", "kernels", "programs", "import", "growth")


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m asv_benchmarks.compare", description=__doc__)
    parser.add_argument("--what", nargs="+", choices=[*KINDS, "all"], default=["run"])
    parser.add_argument("--systems", nargs="+", metavar="NAME", help="default: all")
    parser.add_argument(
        "--workloads", nargs="+", metavar="PATTERN", default=[], help=f"globs, or parts of names; {PYMC}: models"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample there")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write a page of Markdown there, plots beside it")
    parser.add_argument("--threads", type=int, default=1, help="threads and cores for each system; 0: all (default: 1)")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds for each cell of `run` (default: 1)")
    parser.add_argument("--repeats", type=int, default=3, help="new processes for each cold cell (default: 3)")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds one new process may take (default: 300)")
    parser.add_argument("--every-size", action="store_true", help="also what takes a peer minutes to compile")
    options = parser.parse_args(arguments)
    if "all" in options.what:
        options.what = [kind for kind in KINDS if kind != "overhead"]  # `run` has those workloads too
    return options


def main(arguments: list[str]) -> int:
    if PYMC in arguments:
        from .pymc import main as compare_models  # PyMC is in few environments

        return compare_models(arguments)
    options = parse(arguments)
    threads.restart_with(options.threads, "asv_benchmarks.compare", arguments)
    from .session import hold  # not above: the libraries read the settings as they are imported

    return hold(options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""How compile time and memory grow with the size of a program: `python -m asv_benchmarks.growth --help`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from . import threads

MODULE = "asv_benchmarks.growth"


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"python -m {MODULE}", description=__doc__)
    parser.add_argument("--families", nargs="+", metavar="PATTERN", default=[], help="globs, or parts of names")
    parser.add_argument("--quick", action="store_true", help="the smaller half of the sizes, each once")
    parser.add_argument("--most", type=int, metavar="SIZE", help="no larger sizes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample there, and keep those of others")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write a section there, with plots beside the page")
    parser.add_argument("--repeats", type=int, default=3, help="new processes for each size (default: 3)")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds one process may take (default: 300)")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    threads.restart_with(1, MODULE, arguments)
    from . import growth_report, growth_samples  # not above: the libraries read the settings as they are imported

    known = json.loads(options.json.read_text()) if options.json and options.json.exists() else None
    document = growth_samples.joined(known, growth_samples.document(growth_samples.collected(options)))
    growth_report.print_document(document)
    if options.json:
        options.json.write_text(json.dumps(document, indent=1) + "\n")
    if options.page:
        growth_report.write(document, options.page)
    return 1 if any("failed" in each for each in document["samples"]) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

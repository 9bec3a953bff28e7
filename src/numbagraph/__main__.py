"""``python -m numbagraph``: what there is to know of an installation."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from numbagraph import doctor


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m numbagraph", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("doctor", help="versions, processor, cache, BLAS, and a test that all works together")
    cache = commands.add_parser("cache", help="where compiled code is kept, and how much of it")
    cache.add_argument("action", nargs="?", choices=("info", "clear"), default="info")
    given = parser.parse_args(arguments)
    if given.command == "doctor":
        return doctor.examine()
    return doctor.clear_cache() if given.action == "clear" else doctor.show_cache()


if __name__ == "__main__":
    sys.exit(main())

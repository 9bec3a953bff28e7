"""Trace the walk of a first call: ``python tools/walk.py [FOLDER ...]``.

A stay is a stretch of the call in one file. The walk is the row of stays of the code that handles a call, `jit` and
`api` by default, from the call to the result; what it calls in other folders belongs to the stay that calls it.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import numbagraph
from numbagraph import graph_jit

ROOT = Path(numbagraph.__file__).parent


def function(x: np.ndarray) -> Any:
    return np.sum(np.log1p(x))


def walk(folders: tuple[str, ...]) -> list[str]:
    """Return the files of the folders that a first call stays in, one after the other."""
    compiled, stays = graph_jit(function), []
    prefixes = tuple(f"{ROOT / folder}/" for folder in folders)

    def note(frame: FrameType, event: str, _: Any) -> None:
        place = frame.f_back if event == "return" else frame
        if event not in ("call", "return") or place is None or not place.f_code.co_filename.startswith(prefixes):
            return
        file = str(Path(place.f_code.co_filename).relative_to(ROOT))
        if not stays or stays[-1] != file:
            stays.append(file)

    compiled(np.arange(5.0))  # modules that are imported by their first use are there
    compiled = graph_jit(lambda x: function(x))
    sys.setprofile(note)
    try:
        compiled(np.arange(5.0))
    finally:
        sys.setprofile(None)
    return stays


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", default=["jit", "api"])
    stays = walk(tuple(parser.parse_args().folders))
    visits = Counter(stays)
    most, count = visits.most_common(1)[0]
    print(" -> ".join(stays))
    print(f"{len(stays)} stays in {len(visits)} files, {len(stays) - len(visits)} returns, {count} visits to {most}")


if __name__ == "__main__":
    main()

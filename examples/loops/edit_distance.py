"""The number of insertions, deletions and replacements between two sequences of numbers (Levenshtein's distance)."""

from typing import Any

import numpy as np

from numbagraph import graph_jit, scan
from numbagraph import numpy as xp


@graph_jit
def edit_distance(a: Any, b: Any) -> Any:
    def row(above: Any, x: Any) -> Any:
        """The distances of one more element of ``a`` from all beginnings of ``b``."""
        first = above[0] + 1

        def cell(left: Any, each: Any) -> Any:
            y, up, diagonal = each
            here = np.minimum(np.minimum(left, up) + 1, diagonal + np.where(x != y, 1, 0))
            return here, here

        _, others = scan(cell, first, (b, above[1:], above[:-1]))
        return np.concatenate([first[None], others]), None

    last, _ = scan(row, xp.arange(b.shape[0] + 1), a)
    return last[-1]

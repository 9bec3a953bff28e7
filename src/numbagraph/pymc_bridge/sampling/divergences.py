"""The vectors that nutpie stores of divergent draws: it cannot join them where some draws have none."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.forking import importing


class WithoutGaps:
    """nutpie's trace in memory, in which missing vectors are NaN; all else is nutpie's.

    Where as many numbers are stored of a chain as it has draws, nutpie takes them for one number of each draw.
    """

    def __init__(self, trace: Any) -> None:
        self._trace = trace

    def __getattr__(self, name: str) -> Any:
        return getattr(self._trace, name)

    def get_arrow_trace(self) -> tuple[Any, Any]:
        """The draws and the statistics of each chain."""
        draws, statistics = self._trace.get_arrow_trace()
        return draws, [without_gaps(each) for each in statistics]


def without_gaps(batch: Any) -> Any:
    """A table with NaN in place of missing vectors."""
    with importing:
        import pyarrow  # noqa: PLC0415  nutpie has imported it

    for number, name in enumerate(batch.column_names):
        column = pyarrow.array(batch.column(name))
        if isinstance(column, pyarrow.LargeListArray) and 0 < column.null_count < len(column):
            there = np.asarray(column.is_valid())
            values = np.asarray(column.flatten())
            rows = np.full((len(column), values.size // there.sum()), np.nan)
            rows[there] = values.reshape(-1, rows.shape[1])
            offsets = np.arange(0, rows.size + 1, rows.shape[1])
            filled = pyarrow.LargeListArray.from_arrays(offsets, rows.ravel(), type=column.type)
            batch = batch.set_column(number, batch.field(number), filled)
    return batch

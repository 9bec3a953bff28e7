"""The first import of ArviZ on a day, before workers begin.

It writes a file then; processes that do so at once trip over each other (`findings/arviz-first-import-of-a-day.sh`).
"""

import contextlib
import os
import warnings

if "PYTEST_XDIST_WORKER" not in os.environ:
    with contextlib.suppress(ImportError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import arviz  # noqa: F401

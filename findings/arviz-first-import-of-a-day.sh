#!/usr/bin/env bash
# ArviZ 0.23.4: of several processes that import it at once for the first time on a day, one may raise FileNotFoundError.
#
# The import warns once a day, and keeps the day in a file of the user's cache: it is written beside under one fixed name
# and moved into place. Two processes write the same file, the first moves it, and the second finds nothing to move; so
# `import arviz`, and with it `import pymc`, fails where workers begin together: tests on several cores, a pool, a cluster
# with one home. Importing it once before they begin is enough for that day. Seen on 2026-11-30:
#
#     FileNotFoundError
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder"
"$folder/bin/pip" install --quiet 'arviz==0.23.4'
seen=$(XDG_CACHE_HOME="$folder/cache" "$folder/bin/python" -W ignore - <<'END'
import multiprocessing
import shutil

import matplotlib.pyplot  # noqa: F401  so that the processes are at the same place
import platformdirs
import scipy.stats  # noqa: F401
import xarray  # noqa: F401

context = multiprocessing.get_context("fork")


def imports(barrier, faults):
    barrier.wait()
    try:
        import arviz  # noqa: F401
    except FileNotFoundError as error:
        faults.put(type(error).__name__)


for _ in range(100):
    shutil.rmtree(platformdirs.user_cache_dir("arviz", "arviz"), ignore_errors=True)
    barrier, faults = context.Barrier(8), context.Queue()
    processes = [context.Process(target=imports, args=(barrier, faults)) for _ in range(8)]
    for each in processes:
        each.start()
    for each in processes:
        each.join()
    if not faults.empty():
        print(faults.get())
        break
END
)
echo "$seen"
[ "$seen" = FileNotFoundError ]

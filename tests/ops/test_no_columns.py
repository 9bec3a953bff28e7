"""Systems without right-hand sides: no function of LAPACK may write to a first one. The C library's allocator looks."""

import os
import subprocess
import sys

import pytest

from tests.fuzz.allocator import allocator_checks, checks_available

SYSTEMS = {
    "any": "linalg.solve(a, b)",
    "symmetric": "linalg.solve(a, b, assume_a='sym')",
    "positive definite": "linalg.solve(a, b, assume_a='pos')",
    "three diagonals": "apply(registry['solve_tridiagonal'], a[0], np.diag(a), a[0], b)",
    "banded": "linalg.solve_banded((1, 1), a[:3], b)",
    "positive definite bands": "linalg.solveh_banded(np.stack([np.zeros(a.shape[0]), np.diag(a)]), b)",
    "triangular": "linalg.solve_triangular(a, b)",
    "factored": "linalg.lu_solve(linalg.lu_factor(a), b)",
    "by Cholesky": "linalg.cho_solve((linalg.cholesky(a, lower=True), True), b)",
    "least squares": "np.linalg.lstsq(a, b)[0]",
}
PROGRAM = """
import numpy as np
from scipy import linalg
from tests.fuzz.allocator import check_compiled_code
check_compiled_code()
from numbagraph import graph_jit
from numbagraph.tracing.tracer import apply
from numbagraph.ir.op import registry
for dtype in ("f8", "f4", "c16"):
    solve = graph_jit(lambda a, b: {expression})
    for length in (3, 4, 5, 6, 30):  # few, since what is written just behind a block of memory is found alone
        a = (4 * np.eye(length) + 1 / (1 + np.arange(length) + np.arange(length)[:, None])).astype(dtype)
        for columns in (0, 0, 0, 2):
            b = np.ones((length, columns), dtype)
            assert solve(a, b).shape == b.shape
"""


@pytest.mark.skipif(not checks_available(), reason="the C library has no checks of its allocator")
@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=pytest.mark.repeats) if each != "three diagonals" else each for each in SYSTEMS]
)
def test_nothing_is_written_where_there_is_no_column(name, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(expression=SYSTEMS[name]))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "NUMBAGRAPH_CACHE_DIR": str(tmp_path)}
    with allocator_checks():
        environment |= {name: os.environ[name] for name in ("LD_PRELOAD", "GLIBC_TUNABLES")}
        command = [sys.executable, str(program)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert run.returncode == 0, run.stderr[-2000:]

#!/usr/bin/env bash
# SciPy 1.17.1: where a root lies at an end of the bracket, `brentq`, `brenth`, `ridder` and `bisect` report a number of
# iterations that is not theirs: it changes with what was solved before.
#
# Such a root takes two evaluations and no iteration. `function_calls` of the `RootResults` is 2, but nothing sets
# `iterations`: it may be that of an earlier solve, or any other number. So the sum of iterations over many solves, as a
# measure of work, is wrong where some roots lie at an end. `toms748`, written in Python, reports 0. Seen on 2026-11-30,
# and other numbers in another environment:
#
#     brentq 1823960824 after a solve of 15 iterations, with 2 calls
#     toms748 0 after a solve of 6 iterations, with 1 calls
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder"
"$folder/bin/pip" install --quiet 'scipy==1.17.1' 'numpy==2.4.1'
"$folder/bin/python" - <<'END'
from scipy.optimize import bisect, brenth, brentq, ridder, toms748

for method in (brentq, brenth, ridder, bisect, toms748):
    found = []
    for _ in range(5):
        before = method(lambda x: x**3 - 5, 0.0, 20.0, full_output=True)[1]
        at_end = method(lambda x: x, 0.0, 1.0, full_output=True)[1]
        found.append(at_end.iterations)
        assert at_end.root == 0.0
    print(f"{method.__name__} {found[-1]} after a solve of {before.iterations} iterations, with "
          f"{at_end.function_calls} calls")
    assert any(found) == (method is not toms748), found
END

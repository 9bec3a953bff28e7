#!/usr/bin/env bash
# PyTensor 3.3.8: `1 / n` of an integer variable has the accuracy of single precision, though its dtype is float64.
#
# The quotient of the constant 1 and integers is rewritten to `reciprocal`, which the default mode runs by Numba; its step
# of elements computes in single precision whatever the width of the integers, and the result is stored as float64. The
# same numbers divided by another constant, or as floats, are right, and so is the mode that runs NumPy. What a model
# divides by (counts, numbers of trials) shifts its log-density in the eighth digit. Seen on 2026-11-29:
#
#     1 / n float64 0.3333333432674408, 2 / n 0.6666666666666666, 1 / float 0.3333333333333333, by NumPy 0.3333333333333333
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 "$(pyenv root 2>/dev/null)"/versions/3.1[2-4]*/bin/python3; do
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break # PyTensor 3.3 asks for it
done
"$python" -m venv "$folder"
"$folder/bin/pip" install --quiet 'pytensor==3.3.8'
seen=$(HOME="$folder" "$folder/bin/python" - <<'END'
import numpy as np
import pytensor
import pytensor.tensor as pt

n = pt.vector("n", dtype="int64")
data = np.array([3])


def run(result, mode=None):
    return pytensor.function([n], result, mode=mode)(data)[0]


wanted = run(1 / n)
print(
    f"1 / n {wanted.dtype} {wanted}, 2 / n {run(2 / n)}, 1 / float {run(1 / pt.cast(n, 'float64'))}, "
    f"by NumPy {run(1 / n, 'FAST_COMPILE')}"
)
END
)
echo "$seen"
[ "$seen" = "1 / n float64 0.3333333432674408, 2 / n 0.6666666666666666, 1 / float 0.3333333333333333, by NumPy 0.3333333333333333" ]
